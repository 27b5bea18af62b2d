// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tiers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/verify/proof"
)

const moreDue = 22

// more compares features that need further files: tokens, stubs by arguments, prices, faults,
// folders, gates, rubrics.
func more(ctx context.Context, c *proof.Check, l *lab, _ string) error {
	const subject = "tokens, stubs, faults and rubrics"
	is := func(what string, holds bool, detail any) { c.Compare(subject, what, holds, "%v", detail) }
	var cases []json.RawMessage
	var rules []object
	add := func(id string, t trial, rule object) {
		t.row = id
		cases = append(cases, t.caseOf(id))
		if rule == nil {
			rule = t.rule(id)
		}
		rules = append(rules, rule)
	}
	seeded := trial{
		expect: `{"toolsCalled":["a"],"responseContains":["{{seed:totals.usd}}"]}`, calls: call("a"),
		text: "It is 1200.5 USD.",
	}
	add("gs-a-001", seeded, nil)
	seeded.text = "It is 1200 USD."
	add("gs-a-002", seeded, nil)
	priced := trial{expect: `{"toolsCalled":["a"],"maxCost":0.01}`}
	for id, usd := range map[string]float64{"gs-a-003": 0.002, "gs-a-004": 0.02} {
		add(id, priced,
			object{
				"case": id,
				"steps": []object{
					{
						"calls": []object{{"tool": "a", "args": object{}}},
						"usage": object{"input_tokens": 1, "output_tokens": 1, "cost_usd": 0},
					},
					{"text": "x", "usage": object{"input_tokens": 1, "output_tokens": 1, "cost_usd": usd}},
				},
			})
	}
	limited := trial{expect: `{"toolsCalled":["a"]}`}
	add("gs-a-005", limited, object{
		"case":  "gs-a-005",
		"steps": []object{{"error": object{"kind": "rate_limit", "http": 429, "message": "slow down"}}},
	})
	for id, n := range map[string]int{"gs-a-006": 1, "gs-a-007": 2} { // the stub of 2 fails
		add(id, trial{stubs: "none", expect: `{"toolsCalled":["a"],"noToolErrors":true,"responseNonEmpty":true}`},
			object{
				"case":  id,
				"steps": []object{{"calls": []object{{"tool": "a", "args": object{"n": n}}}}, {"text": "x"}},
			})
	}
	mocks := []object{
		{"tool": "a", "args": object{"n": 1}, "result": object{"v": 1}},
		{"tool": "a", "args": object{"n": 2}, "error": "no such n", "latency_ms": 3},
		{"tool": "a", "result": object{"v": 0}},
	}
	if err := errors.Join(
		l.write("tools.json", tools("a", "b")), l.write("evals.json", cases), l.write("mocks.json", mocks),
		l.write("seeds.json", object{"totals": object{"usd": 1200.50}}),
		l.write("agent.yaml", object{"model": "m", "rules": rules, "otherwise": "error"}),
	); err != nil {
		return err
	}
	t, err := l.run(ctx, "run", "evals.json", "--tools", "tools.json", "--mocks", "mocks.json", "--seeds", "seeds.json",
		"-m", "script:agent.yaml", "-q", "--retries", "0", "--name", "more")
	if err != nil {
		return err
	}
	if t.code != 0 {
		return fmt.Errorf("run: exit %d: %s", t.code, t.errs)
	}
	for _, way := range []struct {
		name, id string
		want     callvet.Verdict
	}{
		{"a token is resolved", "gs-a-001", callvet.VerdictPass},
		{"a resolved token fails", "gs-a-002", callvet.VerdictFail},
		{"maxCost holds", "gs-a-003", callvet.VerdictPass},
		{"maxCost fails", "gs-a-004", callvet.VerdictFail},
		{"a rate limit is no failed case", "gs-a-005", callvet.VerdictError},
		{"a stub answers by arguments", "gs-a-006", callvet.VerdictPass},
		{"a stub may fail", "gs-a-007", callvet.VerdictFail},
	} {
		a, err := l.attempt(ctx, "more", way.id)
		if err != nil {
			return err
		}
		is(way.name, a.Result.Verdict == way.want, a.Result)
	}
	return errors.Join(folders(ctx, l, is), rubrics(ctx, l, is), passes(ctx, l, is), snapshot(ctx, l, is))
}

// folders compares the results of a folder of eval files, and the report of a misspelt gate.
func folders(ctx context.Context, l *lab, is comparing) error {
	evals, err := newLab(l.binary, l.dir+"/evals")
	if err != nil {
		return err
	}
	plain := trial{expect: `{"toolsCalled":["a"]}`, calls: call("a"), text: "x"}
	golden := object{
		"metadata": object{"toolName": "a", "tier": "golden"},
		"cases":    []json.RawMessage{plain.caseOf("gs-a-001")},
	}
	plain.more = `"difficulty":"edge"`
	labeled := []json.RawMessage{plain.caseOf("ls-a-001")}
	if err := errors.Join(evals.write("a.golden.json", golden), evals.write("a.labeled.json", labeled),
		evals.write("a.regression.json", regressions)); err != nil {
		return err
	}
	var rules []object
	for _, id := range []string{"gs-a-001", "ls-a-001", "rg-a-001"} {
		rules = append(rules, (&trial{calls: call("a"), text: "done"}).rule(id))
	}
	if err := errors.Join(l.write("all.yaml", object{"model": "m", "rules": rules, "otherwise": "error"}),
		l.write("bad.yaml", "gates: [{metrik: pass_rate, at_least: 0.1}]\n"),
		l.write("bad2.yaml", "gates: [pas_rate >= 0.1]\n")); err != nil {
		return err
	}
	t, err := l.run(ctx, "run", "evals", "--tools", "tools.json", "-m", "script:all.yaml", "-q", "--require-pass",
		"--name", "all")
	if err != nil {
		return err
	}
	is("a folder has all tiers, envelopes too", t.code == 0, t)
	var list []evalSuite
	if err := l.decoded(ctx, &list, "report", "all", "--format", "evalsuite"); err != nil {
		return err
	}
	var got []string
	for i := range list {
		got = append(got, fmt.Sprint(list[i].Tier, " ", list[i].ToolName, " ", list[i].Summary.Passed))
	}
	is("results are reported by tier and not mixed",
		strings.Join(got, ", ") == "golden a 1, labeled a 1, regression a 1", got)
	for name, want := range map[string]string{"bad.yaml": "metric", "bad2.yaml": "pass_rate"} {
		if t, err = l.run(ctx, "gate", "all", "--gates", name); err != nil {
			return err
		}
		is("a misspelt gate is refused: "+name, t.code == 2 && strings.Contains(t.errs, want), t)
	}
	return nil
}

// rubrics checks when rubric cases run.
func rubrics(ctx context.Context, l *lab, is comparing) error {
	judged := trial{
		expect: `{"responseNonEmpty":true}`,
		more:   `"referenceData":{"v":1},"rubric":[{"dimension":"tone","maxScore":1,"criteria":"kind"}]`,
		calls:  call("a"), text: "x",
	}
	plain := trial{expect: `{"toolsCalled":["a"]}`, calls: call("a"), text: "x"}
	wrong := trial{calls: call("b"), text: "x"}
	cases := []json.RawMessage{judged.caseOf("rubric-1"), plain.caseOf("gs-a-001")}
	agent := func(t *trial) object {
		return object{
			"model": "m", "rules": []object{judged.rule("rubric-1"), t.rule("gs-a-001")},
			"otherwise": "error",
		}
	}
	if err := errors.Join(l.write("rubric.json", cases), l.write("good.yaml", agent(&plain)),
		l.write("bad.yaml", agent(&wrong))); err != nil {
		return err
	}
	for _, way := range []struct {
		name, agent string
		flags       []string
		want        callvet.Verdict
		contains    string
	}{
		{"a rubric runs after the others passed", "good.yaml", nil, callvet.VerdictPass, ""},
		{
			"a rubric does not run when another failed", "bad.yaml", nil, callvet.VerdictNotRun,
			"rubric cases run when all others pass",
		},
		{"forced, a rubric runs all the same", "bad.yaml", []string{"--force-rubric"}, callvet.VerdictPass, ""},
	} {
		t, err := l.run(ctx,
			append([]string{
				"run", "rubric.json", "--tools", "tools.json", "-m", "script:" + way.agent, "-q", "--name",
				way.name,
			}, way.flags...)...)
		if err != nil {
			return err
		}
		a, err := l.attempt(ctx, way.name, "rubric-1")
		if err != nil {
			return errors.Join(err, errors.New(t.errs))
		}
		is(way.name, a.Result.Verdict == way.want && a.Result.NotEvaluated == 1 &&
			strings.Contains(a.Result.Reason, way.contains), a.Result)
	}
	t, err := l.run(ctx, "run", "rubric.json", "--tools", "tools.json", "-m", "script:good.yaml", "-q",
		"--require-pass")
	if err != nil {
		return err
	}
	is("a rubric without a judgement is no pass of all", t.code == 3 && strings.Contains(t.errs, "not evaluated"), t)
	return nil
}
