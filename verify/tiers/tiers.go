// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tiers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/verify/proof"
)

// The number of comparisons of each kind.
const (
	trialsDue  = 85
	weatherDue = 46
	locksDue   = 77
)

// Verify runs all comparisons with the binary, in separate folders; data is the folder of the shared data.
func Verify(ctx context.Context, c *proof.Check, binary, data string) (err error) {
	if binary, err = filepath.Abs(binary); err != nil {
		return fmt.Errorf("verify tiers: %w", err)
	}
	dir, err := os.MkdirTemp("", "tiers")
	if err != nil {
		return fmt.Errorf("verify tiers: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, part := range []struct {
		name string
		due  int
		run  func(context.Context, *proof.Check, *lab, string) error
	}{
		{"assertions and traps", trialsDue, tryAll},
		{"weather cases", weatherDue, weather},
		{"locked cases", locksDue, locks},
		{"results", resultsDue, results},
		{"staleness", stalenessDue, staleness},
		{"tokens, stubs, faults and rubrics", moreDue, more},
	} {
		c.Due(part.name, part.due, "this command")
		l, lerr := newLab(binary, filepath.Join(dir, strings.Trim(strings.Fields(part.name)[0], ",")))
		if lerr != nil {
			return lerr
		}
		err = errors.Join(err, part.run(ctx, c, l, data))
	}
	if err == nil {
		c.Due("rows of the document", rowsDue, "this command")
		rowsHeld(c)
	}
	return err
}

type object = map[string]any

// tools are the tools of the trials; each accepts any arguments.
func tools(names ...string) []object {
	var out []object
	for _, name := range names {
		out = append(out, object{
			"name": name, "version": "1.0.0", "description": "Does " + name,
			"parameters": object{"type": "object"},
		})
	}
	return out
}

// caseOf is the eval case of a trial.
func (t *trial) caseOf(id string) json.RawMessage {
	c := fmt.Sprintf(`{"id":%q,"description":%q,`, id, t.row)
	if !strings.Contains(t.more, `"input"`) {
		c += `"input":{"message":"Do it."},`
	}
	switch t.stubs {
	case "":
		c += `"stubs":{"a":{"v":1},"b":{"v":2}},`
	case "none":
	default:
		c += `"stubs":` + t.stubs + ","
	}
	if t.expect != "" {
		c += `"expect":` + t.expect + ","
	}
	if t.more != "" {
		c += t.more + ","
	}
	return json.RawMessage(strings.TrimSuffix(c, ",") + "}")
}

// rule returns the behaviour of the scripted agent at the case of a trial.
func (t *trial) rule(id string) object {
	args := json.RawMessage(`{}`)
	if t.args != "" {
		args = json.RawMessage(t.args)
	}
	var steps []object
	for _, names := range t.calls {
		var calls []object
		for _, name := range names {
			calls = append(calls, object{"tool": name, "args": args})
		}
		steps = append(steps, object{"calls": calls})
	}
	if t.tokens > 0 {
		for _, s := range steps {
			s["usage"] = object{"input_tokens": 1, "output_tokens": 0}
		}
		return object{
			"case": id,
			"steps": append(steps,
				object{"text": t.text, "usage": object{"input_tokens": 1, "output_tokens": t.tokens}}),
		}
	}
	if t.stubs == "none" && len(steps) > 0 { // text together with the calls
		steps[len(steps)-1]["text"] = t.text
		return object{"case": id, "steps": steps}
	}
	return object{"case": id, "steps": append(steps, object{"text": t.text})}
}

func tryAll(ctx context.Context, c *proof.Check, l *lab, _ string) error {
	all := trials()
	var cases []json.RawMessage
	var rules []object
	id := func(i int) string { return fmt.Sprintf("gs-a-%03d", i+1) }
	for i := range all {
		if all[i].want != refused && all[i].want != warned {
			cases, rules = append(cases, all[i].caseOf(id(i))), append(rules, all[i].rule(id(i)))
		}
	}
	if err := errors.Join(l.write("tools.json", tools("a", "b", "c")), l.write("evals.json", cases),
		l.write("script.yaml", object{"model": "m", "rules": rules, "otherwise": "error"})); err != nil {
		return err
	}
	ran, err := l.run(ctx, "run", "evals.json", "--tools", "tools.json", "-m", "script:script.yaml", "-q", "--no-cache")
	if err != nil {
		return err
	}
	if ran.code != 0 {
		return fmt.Errorf("run the trials: exit %d: %s", ran.code, ran.errs)
	}
	for i := range all {
		t := &all[i]
		if t.want == refused || t.want == warned {
			err = l.linted(ctx, c, t, i)
		} else {
			err = l.attempted(ctx, c, t, id(i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// linted compares the report of lint on the case of a trial.
func (l *lab) linted(ctx context.Context, c *proof.Check, t *trial, i int) error {
	name := fmt.Sprintf("lint%d.json", i)
	if err := l.write(name, []json.RawMessage{t.caseOf("gs-a-001")}); err != nil {
		return err
	}
	var result struct{ Problems []callvet.Problem }
	if err := l.decoded(ctx, &result, "lint", name, "--tools", "tools.json", "--json"); err != nil {
		return err
	}
	errs := slices.ContainsFunc(result.Problems, func(p callvet.Problem) bool { return !p.Warning })
	coded := slices.ContainsFunc(result.Problems,
		func(p callvet.Problem) bool { return p.Code == t.code && p.Warning == (t.want == warned) })
	c.Compare("assertions and traps", t.row, coded && errs == (t.want == refused), "lint reports %v, want %s %s",
		result.Problems, t.want, t.code)
	return nil
}

// attempted compares the result of the attempt of a trial.
func (l *lab) attempted(ctx context.Context, c *proof.Check, t *trial, id string) error {
	var shown struct{ Result callvet.Result }
	if err := l.decoded(ctx, &shown, "show", "last", id, "--json"); err != nil {
		return err
	}
	r := &shown.Result
	c.Compare("assertions and traps", t.row, string(r.Verdict) == t.want && r.NotEvaluated == t.open,
		"%s (%s), %d not evaluated; want %s, %d", r.Verdict, r.Reason, r.NotEvaluated, t.want, t.open)
	return nil
}
