// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tiers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet/verify/proof"
)

const regressions = `[
  // Found by a user.
  {
    "id": "rg-a-001",
    "description": "regression — the wrong tool",
    "difficulty": "regression",
    "createdAt": "2026-03-01",
    "bugRef": "abc1234",
    "input": { "message": "Do it." },
    "stubs": { "a": { "v": 1 } },
    "expect": { "toolsCalled": ["a"], "responseContains": ["done"] }
  }
]
`

const another = `[{"id": "rg-a-002", "description": "d", "difficulty": "regression", "createdAt": "2026-04-01T10:00:00Z", "bugRef": "#12",
  "input": {"message": "Do it too."}, "expect": {"toolsCalled": ["b"]}}]`

// locks compares the reports on changed regression cases.
func locks(ctx context.Context, c *proof.Check, l *lab, _ string) error {
	const subject = "locked cases"
	const file = "a.regression.json"
	if err := errors.Join(l.write("tools.json", tools("a", "b")), l.write(file, regressions),
		l.write("new.json", another)); err != nil {
		return err
	}
	var last error
	step := func(name string, code int, want string, args ...string) {
		t, err := l.run(ctx, args...)
		last = errors.Join(last, err)
		c.Compare(subject, name, err == nil && t.code == code && strings.Contains(t.out+t.errs, want),
			"exit %d, want %d and %q: %s%s", t.code, code, want, t.out, t.errs)
	}
	lint := []string{"lint", file, "--tools", "tools.json"}
	step("an unlocked case is a warning", 0, "not-locked", lint...)
	step("lock", 0, "locked 1 case of 1", "case", "lock", file, "--tools", "tools.json")
	step("lock again", 0, "nothing is new", "case", "lock", file, "--tools", "tools.json")
	step("a locked case is fine", 0, "0 warnings", lint...)
	from, to := strings.Index(regressions, "{"), strings.LastIndex(regressions, "}")+1
	const flips = 45
	for i := range flips { // spread over the case, its last byte among them
		at := from + i*(to-1-from)/(flips-1)
		changed := []byte(regressions)
		if changed[at]++; changed[at] == '"' || changed[at] == '\\' {
			changed[at]++
		}
		if err := l.write(file, changed); err != nil {
			return err
		}
		t, err := l.run(ctx, lint...)
		if err != nil {
			return err
		}
		c.Compare(subject, fmt.Sprintf("byte %d of %d", at-from, to-from), t.code == 2, "%q for %q: exit %d: %s%s",
			changed[at], regressions[at], t.code, t.out, t.errs)
	}
	change := func(old, new string) error {
		return l.write(file, strings.Replace(regressions, old, new, 1))
	}
	if err := change(`"done"`, `"Done"`); err != nil {
		return err
	}
	step("a changed value is reported by name", 2, "regression-changed", lint...)
	if err := l.write("s.yaml",
		object{"model": "m", "rules": []object{
			(&trial{calls: call("a"), text: "done"}).rule("rg-a-001"),
			(&trial{calls: call("b"), text: "done"}).rule("rg-a-002"),
		}, "otherwise": "error"}); err != nil {
		return err
	}
	run := []string{"run", file, "--tools", "tools.json", "-m", "script:s.yaml", "-q", "--require-pass"}
	step("a changed case does not run", 2, "regression-changed", run...)
	step("a changed case is not locked anew", 2, "regression-changed", "case", "lock", file, "--tools", "tools.json")
	if err := l.write(file,
		strings.NewReplacer("rg-a-001", "rg-a-009", "Do it.", "Do that.").Replace(regressions)); err != nil {
		return err
	}
	step("a removed case is an error", 2, "regression-gone", lint...)
	if err := change("// Found by a user.", "// Another comment."); err != nil {
		return err
	}
	step("what is outside of it may change", 0, "0 warnings", lint...)
	if err := l.write(file, strings.ReplaceAll(regressions, "\n", "\r\n")); err != nil {
		return err
	}
	step("line ends of another system", 0, "0 warnings", lint...)
	if err := l.write(file, regressions); err != nil {
		return err
	}
	step("add makes the case and its entry", 0, "rg-a-002", "case", "add", file, "new.json", "--tools", "tools.json")
	if now, err := l.read(file); err != nil || !bytes.Contains(now, []byte(regressions[from:to])) ||
		slices.Equal(now, []byte(regressions)) {
		return fmt.Errorf("add changed what was there: %s: %w", now, err)
	}
	step("both run", 0, "", run...)
	step("an id is taken once", 1, "taken", "case", "add", file, "new.json", "--tools", "tools.json")
	last = errors.Join(last, together(ctx, c, l))
	step("archive asks for a reason", 2, "--reason", "case", "archive", file, "rg-a-001")
	step("archive", 0, "archived rg-a-001", "case", "archive", file, "rg-a-001", "--reason", "tool a is gone")
	return last
}

// together adds cases by many processes at once and kills some: no case is lost, and the remains of
// a killed process are never reported as a changed or missing case.
func together(ctx context.Context, c *proof.Check, l *lab) error {
	const subject, file, n = "locked cases", "many.regression.json", 8
	add := func(i int) *exec.Cmd {
		return l.command(ctx, "case", "new", "--tier", "regression", "--bug", "#1", "--prompt",
			fmt.Sprintf("Do the thing %d.", i), "--expect", "a", "-o", file, "--tools", "tools.json")
	}
	lint := func(name string, cases int, locked bool) error {
		t, err := l.run(ctx, "lint", file, "--tools", "tools.json")
		good := err == nil && t.code == 0 && strings.Contains(t.out, fmt.Sprintf("%d cases, no errors", cases)) &&
			!(locked && strings.Contains(t.errs, "not-locked"))
		c.Compare(subject, name, good, "exit %d, %d cases: %s%s", t.code, cases, t.out, t.errs)
		return err
	}
	var all []*exec.Cmd
	var failed error
	for i := range n {
		cmd := add(i)
		failed = errors.Join(failed, cmd.Start())
		all = append(all, cmd)
	}
	for _, cmd := range all {
		failed = errors.Join(failed, cmd.Wait())
	}
	c.Compare(subject, "at once, each process adds its case", failed == nil, "%v", failed)
	if err := lint("all are there and locked", n, true); err != nil {
		return err
	}
	had := n
	for i := range 12 {
		cmd := add(n + i)
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("start callvet: %w", err)
		}
		kill := time.AfterFunc(time.Duration(8*i)*time.Millisecond, func() { _ = cmd.Process.Kill() }) // it may be over
		_ = cmd.Wait()                                                                                 // killed or not
		kill.Stop()
		text, err := l.read(file)
		if err != nil {
			return err
		}
		have := bytes.Count(text, []byte(`"id": "rg-`))
		c.Compare(subject, fmt.Sprintf("killed after %d ms", 8*i), have == had || have == had+1,
			"%d cases, where there were %d", have, had)
		had = have
	}
	if err := lint("what was killed left no error", had, false); err != nil {
		return err
	}
	t, err := l.run(ctx, "case", "lock", file, "--tools", "tools.json")
	c.Compare(subject, "and can be locked", err == nil && t.code == 0, "%s%s", t.out, t.errs)
	return errors.Join(err, lint("all is locked then", had, true))
}
