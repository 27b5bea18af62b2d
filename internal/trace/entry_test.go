// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

func TestEntryVerdict(t *testing.T) {
	t.Parallel()
	judged := []Judged{
		{Judge: "a", Pass: ptr(false)},
		{Judge: "b", Score: ptr(0.7), Threshold: ptr(0.7)},
		{Judge: "c", Score: ptr(0.7)},
	}
	for name, c := range map[string]struct {
		task  Task
		judge string
		want  callvet.Verdict
	}{
		"pass":               {Task{Pass: ptr(true)}, "", callvet.VerdictPass},
		"fail":               {Task{Pass: ptr(false)}, "", callvet.VerdictFail},
		"no verdict":         {Task{Judged: judged}, "", callvet.VerdictNotRun},
		"reward":             {Task{Reward: ptr(1.0)}, "", callvet.VerdictPass},
		"reward of half":     {Task{Reward: ptr(0.5)}, "", callvet.VerdictNotRun},
		"pass before reward": {Task{Pass: ptr(false), Reward: ptr(1.0)}, "", callvet.VerdictFail},
		"fault":              {Task{Pass: ptr(false), Fault: &callvet.Fault{}}, "", callvet.VerdictError},
		"error":              {Task{Outcome: callvet.OutcomeError}, "", callvet.VerdictError},
		"not run":            {Task{Pass: ptr(true), Outcome: callvet.OutcomeNotRun}, "", callvet.VerdictNotRun},
		"judge":              {Task{Pass: ptr(true), Judged: judged}, "a", callvet.VerdictFail},
		"judge by score":     {Task{Judged: judged}, "b", callvet.VerdictPass},
		"no threshold":       {Task{Pass: ptr(true), Judged: judged}, "c", callvet.VerdictNotRun},
		"another judge":      {Task{Pass: ptr(true), Judged: judged}, "d", callvet.VerdictNotRun},
		"the last one rules": {
			Task{Judged: append(judged, Judged{Judge: "a", Pass: ptr(true)})},
			"a",
			callvet.VerdictPass,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, cell := c.task.Entry(c.judge); cell.Result.Verdict != c.want {
				t.Errorf("%s, want %s", cell.Result.Verdict, c.want)
			}
		})
	}
}

func TestEntryCase(t *testing.T) {
	t.Parallel()
	gold := func(args string) *TaskGold {
		return &TaskGold{Steps: []GoldStep{{Tool: "f", Args: json.RawMessage(args)}}}
	}
	a := Task{
		TaskID: "t", Attempt: 2, Target: "m", Goal: "one way to say it",
		Gold: gold(`{"a":1,"b":12345678901234567890}`), Tags: []string{"x"}, Fields: map[string]string{"k": "v"},
	}
	b := a
	b.Goal, b.Gold = "another", gold(`{ "b":12345678901234567890, "a":1 }`)
	ca, cell := a.Entry("")
	cb, _ := b.Entry("")
	if diff := cmp.Diff(ca, cb); diff != "" || ca.Context == "" || ca.ID != "t" || cell.Repeat != 2 ||
		cell.Trace.Target != "m" {
		t.Errorf("%s\n%+v %+v", diff, ca, cell)
	}
	b.Gold = gold(`{"b":12345678901234567891,"a":1}`)
	if cb, _ = b.Entry(""); cb.Context == ca.Context {
		t.Error("other gold, same case")
	}
	b.Gold = &TaskGold{}
	if cb, _ = b.Entry(""); cb.Context != "{}" {
		t.Errorf("nothing needed: %q", cb.Context)
	}
	b.Gold = nil
	if cb, _ = b.Entry(""); cb.Context != "" {
		t.Errorf("no gold: %q", cb.Context)
	}
}
