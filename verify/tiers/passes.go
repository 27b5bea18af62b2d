// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tiers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// passes tests settings that the document has but its own runner ignores: a dry run, several passes, a random
// sample, several models, and a database that cannot be written.
func passes(ctx context.Context, l *lab, is comparing) error {
	var cases []json.RawMessage
	var rules []object
	for i := range 6 {
		id := fmt.Sprintf("gs-a-%03d", i+1)
		t := trial{
			row: id, expect: `{"toolsCalled":["a"]}`, calls: call("a"), text: "x",
			more: fmt.Sprintf(`"input":{"message":"Do %d."}`, i),
		}
		cases, rules = append(cases, t.caseOf(id)), append(rules, t.rule(id))
	}
	agent := object{"model": "m", "rules": rules, "otherwise": "error"}
	if err := errors.Join(l.write("passes.json", cases), l.write("tools.json", tools("a", "b")),
		l.write("one.yaml", agent), l.write("two.yaml", agent)); err != nil {
		return err
	}
	var failed error
	run := func(args ...string) output {
		t, err := l.run(ctx,
			append([]string{"run", "passes.json", "--tools", "tools.json", "-m", "script:one.yaml"}, args...)...)
		failed = errors.Join(failed, err)
		return t
	}
	shown := func(name string) (ids []string) {
		var r evalSuite
		failed = errors.Join(failed, l.decoded(ctx, &r, "report", name, "--format", "evalsuite"))
		for i := range r.Cases {
			ids = append(ids, r.Cases[i].ID)
		}
		return ids
	}
	var before, after struct{ Runs []struct{ ID string } }
	failed = errors.Join(failed, l.decoded(ctx, &before, "runs", "--json"))
	dry := run("--repeat", "3", "--dry-run", "--name", "dry")
	failed = errors.Join(failed, l.decoded(ctx, &after, "runs", "--json"))
	is("a dry run asks and keeps nothing", dry.code == 0 &&
		strings.Contains(dry.out, "18 attempts would be made: 6 cases") && len(before.Runs) == len(after.Runs), dry)

	thrice := run("--repeat", "3", "--name", "thrice", "--json")
	var report struct {
		Panels struct {
			Repeats int
			Targets []struct {
				Overall struct{ Verdicts struct{ Pass int } }
			}
		}
	}
	failed = errors.Join(failed, json.Unmarshal([]byte(thrice.out), &report))
	is("three passes are three attempts at each case", thrice.code == 0 && report.Panels.Repeats == 3 &&
		len(shown("thrice")) == 6 && report.Panels.Targets[0].Overall.Verdicts.Pass == 18, report)

	for _, name := range []string{"first", "again"} {
		run("--sample", "2", "--seed", "7", "--name", name, "-q")
	}
	run("--sample", "2", "--seed", "11", "--name", "other", "-q")
	first, again, other := shown("first"), shown("again"), shown("other")
	is("a sample is drawn by its seed", len(first) == 2 && fmt.Sprint(first) == fmt.Sprint(again) && len(other) == 2 &&
		fmt.Sprint(first) != fmt.Sprint(other), []any{first, again, other})

	without := run("-m", "openai/gpt-5-mini", "--name", "without", "-q")
	is("a model without a key is reported before any is asked",
		without.code != 0 && strings.Contains(without.errs, "OPENAI_API_KEY"), without)
	both := run("-m", "script:two.yaml", "--name", "both", "--json")
	failed = errors.Join(failed, json.Unmarshal([]byte(both.out), &report))
	is("several models are each reported separately", both.code == 0 && len(report.Panels.Targets) == 2 &&
		report.Panels.Targets[1].Overall.Verdicts.Pass == 6, report)
	broken := run("--db", "passes.json/runs.db", "-q")
	is("what cannot be stored is no success", broken.code != 0 && strings.Contains(broken.errs, "open store"), broken)
	return failed
}

// snapshot resolves a token by the state captured before the run.
func snapshot(ctx context.Context, l *lab, is comparing) error {
	t := trial{
		row: "r", expect: `{"toolsCalled":["a"],"responseContains":["{{snapshot:a.count}}"]}`, calls: call("a"),
		text: "There are 12.",
	}
	if err := errors.Join(
		l.write("snap.json", []json.RawMessage{t.caseOf("gs-a-001")}),
		l.write("snapshots.json", object{"a": object{"count": 12}}),
		l.write("snap.yaml", object{"model": "m", "rules": []object{t.rule("gs-a-001")}, "otherwise": "error"}),
	); err != nil {
		return err
	}
	ran, err := l.run(ctx, "run", "snap.json", "--tools", "tools.json", "--snapshots", "snapshots.json", "-m",
		"script:snap.yaml", "-q", "--require-pass")
	if err != nil {
		return err
	}
	is("a snapshot is resolved", ran.code == 0, ran)
	return nil
}
