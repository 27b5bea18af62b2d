// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// endedWith is a call of tool t with arguments that differ by n, and what came of it.
func endedWith(n int, status callvet.Status, result string) callvet.Call {
	c := callvet.Call{Tool: "t", Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), Status: status}
	if status == callvet.StatusOK {
		c.Result = json.RawMessage(result)
	} else {
		c.Error = "down"
	}
	return c
}

// TestFaultScores: what a target did about calls that failed, each call in a message of its own.
func TestFaultScores(t *testing.T) {
	t.Parallel()
	ok, down, rejected, late := callvet.StatusOK, callvet.StatusExecErr, callvet.StatusRejected, callvet.StatusTimeout
	times := func(n int, c callvet.Call) (out []callvet.Call) {
		for range n {
			out = append(out, c)
		}
		return out
	}
	of := func(r callvet.Result) callvet.Score { return r.Score(score.RetriesSensible) }
	const none, given, silent = "no call failed", "every tool that was called gave a result in the end",
		"there is no answer after the calls"
	for name, tt := range map[string]struct {
		calls                   []callvet.Call
		answer                  string
		retries, left, invented any // a number, a reason, or nil where it is absent
	}{
		"nothing was called": {nil, "It is 7.", none, none, given},
		"all went well":      {[]callvet.Call{endedWith(1, ok, `{"days":7}`)}, "It is 7.", none, none, given},
		"left at once": {
			[]callvet.Call{endedWith(1, down, "")},
			"I cannot tell.",
			"no call that failed was made again", 1.0, 1.0,
		},
		"one retry, and well": {
			[]callvet.Call{endedWith(1, down, ""), endedWith(1, ok, `7`)},
			"7", 1.0,
			1.0, given,
		},
		"two retries":          {times(3, endedWith(1, late, "")), "No answer came.", 1.0, 1.0, 1.0},
		"five retries":         {times(6, endedWith(1, down, "")), "It is 40.", 0.4, 0.0, 0.0},
		"a rejected one again": {times(2, endedWith(1, rejected, "")), "Sorry.", 0.0, 1.0, 1.0},
		"a rejected one, mended": {
			[]callvet.Call{endedWith(1, rejected, ""), endedWith(2, ok, `7`)},
			"7",
			"no call that failed was made again", 1.0, given,
		},
		"other arguments each time": {
			[]callvet.Call{
				endedWith(1, down, ""), endedWith(2, down, ""),
				endedWith(3, down, ""), endedWith(4, down, ""), endedWith(5, down, ""), endedWith(6, down, ""),
			},
			"Nothing.",
			"no call that failed was made again", 0.0, 1.0,
		},
		"null": {[]callvet.Call{endedWith(1, ok, `null`)}, "30 days.", none, none, 0.0},
		"a member is null": {
			[]callvet.Call{endedWith(1, ok, `{"days":null,"fee":0}`)},
			"They have 30 days.",
			none, none, 0.0,
		},
		"a member is null, said so": {
			[]callvet.Call{endedWith(1, ok, `{"days":null,"fee":0}`)},
			"It does not say; the fee is 0.", none, none, 1.0,
		},
		"half of a text":            {[]callvet.Call{endedWith(1, ok, `"{\"days\": 2"`)}, "21 days.", none, none, 0.0},
		"half of a text, no answer": {[]callvet.Call{endedWith(1, ok, `"{\"days\": 2"`)}, "", none, none, silent},
		"a result that tells it": {
			[]callvet.Call{endedWith(1, ok, `{"error":"down"}`)},
			"It is 5.",
			"no call that failed was made again", 1.0, 0.0,
		},
	} {
		c := &callvet.Case{
			ID: "c", Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "How many?"}},
			Faults: []callvet.ToolFault{}, Expect: callvet.Expect{ResponseNonEmpty: true},
		}
		s, _ := score.New(&callvet.Suite{}, score.Config{})
		k, ps := s.Compile(c)
		if len(ps) > 0 {
			t.Fatal(ps)
		}
		tr := &callvet.Trace{CaseID: "c", Answer: tt.answer, End: callvet.EndAnswered}
		for _, call := range tt.calls {
			tr.Turns = append(tr.Turns, callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{call}})
		}
		tr.Turns = append(tr.Turns, callvet.Turn{Role: callvet.RoleAssistant, Content: tt.answer})
		tr.Classify("")
		r := k.Score(tr)
		for metric, want := range map[string]any{
			score.RetriesSensible: tt.retries, score.FailingToolLeft: tt.left,
			score.NothingInvented: tt.invented,
		} {
			var got any = r.Score(metric).Reason
			if sc := r.Score(metric); sc.Scored {
				got = sc.Value
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s: %s", name, metric, d)
			}
		}
		if c.Faults = nil; len(tt.calls) == 0 { // without faults, what does not apply is absent
			if sc := of(k.Score(tr)); sc.Reason != "not computed" {
				t.Errorf("%s: %+v", name, sc)
			}
		}
	}
	// Calls of one message know nothing of each other.
	c := &callvet.Case{ID: "c", Expect: callvet.Expect{ResponseNonEmpty: true}}
	s, _ := score.New(&callvet.Suite{}, score.Config{})
	k, _ := s.Compile(c)
	tr := &callvet.Trace{
		CaseID: "c", Answer: "no",
		Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: times(4, endedWith(1, down, ""))}},
	}
	tr.Classify("")
	if sc := of(k.Score(tr)); sc.Scored {
		t.Errorf("calls at once count as retries: %+v", sc)
	}
}

// TestRetriesWaited: the same call again is a retry with backoff where it came late enough. Nothing
// is reported of it where it is not known when calls were made.
func TestRetriesWaited(t *testing.T) {
	t.Parallel()
	failed := func(at, took float64, message string) callvet.Call {
		c := endedWith(1, callvet.StatusExecErr, "")
		c.Error, c.ExecMS = message, took
		if at >= 0 {
			c.StartMS = &at
		}
		return c
	}
	const limited, down = "429 too many requests; retry after 2s", "503"
	const untimed, once = "it is not known when the calls were made", "no call that failed was made again"
	reported := failed(2010, 5, "")
	reported.Status, reported.Result = callvet.StatusOK, json.RawMessage(`{"error":{"message":"Retry after 3 seconds"}}`)
	held := failed(0, 10, down)
	held.QueueMS = 50
	for name, tt := range map[string]struct {
		calls            []callvet.Call
		waited, sensible any // a number or a reason
	}{
		"as long as it asked": {
			calls:  []callvet.Call{failed(0, 10, limited), failed(2010, 5, down)},
			waited: 1.0, sensible: 1.0,
		},
		"a millisecond is rounding": {
			calls:  []callvet.Call{failed(0, 10.4, limited), failed(2010, 5, down)},
			waited: 1.0, sensible: 1.0,
		},
		"too soon": {
			calls:  []callvet.Call{failed(0, 10, limited), failed(2000, 5, down)},
			waited: 0.0, sensible: 0.0,
		},
		"at once": {
			calls: []callvet.Call{failed(0, 10, down), failed(10, 5, down)}, waited: 0.0,
			sensible: 0.0,
		},
		"before it ended": {
			calls:  []callvet.Call{failed(0, 5000, down), failed(1000, 5, down)},
			waited: 0.0, sensible: 0.0,
		},
		"100 ms after one failure": {
			calls: []callvet.Call{failed(0, 10, down), failed(110, 5, down)}, waited: 1.0,
			sensible: 1.0,
		},
		"100 ms after a second one": {calls: []callvet.Call{
			failed(0, 10, down), failed(110, 10, down),
			failed(220, 5, down),
		}, waited: 0.5, sensible: 0.5},
		"200 ms after a second one": {calls: []callvet.Call{
			failed(0, 10, down), failed(110, 10, down),
			failed(320, 5, down),
		}, waited: 1.0, sensible: 1.0},
		"the guard's wait is no wait": {calls: []callvet.Call{held, failed(150, 5, down)}, waited: 0.0, sensible: 0.0},
		"a result asked": {
			calls: []callvet.Call{reported, failed(5015, 5, down)}, waited: 1.0,
			sensible: 1.0,
		},
		"a result asked, and too soon": {
			calls: []callvet.Call{reported, failed(4000, 5, down)}, waited: 0.0,
			sensible: 0.0,
		},
		"no time": {
			calls:  []callvet.Call{failed(-1, 10, limited), failed(-1, 5, down)},
			waited: untimed, sensible: 1.0,
		},
		"half a time": {
			calls:  []callvet.Call{failed(0, 10, limited), failed(-1, 5, down)},
			waited: untimed, sensible: 1.0,
		},
		"once": {calls: []callvet.Call{failed(0, 10, limited)}, waited: once, sensible: once},
		"waited, and too often": {
			calls: []callvet.Call{
				failed(0, 0, down), failed(1e3, 0, down), failed(2e3, 0, down),
				failed(3e3, 0, down),
			},
			waited: 1.0, sensible: 2.0 / 3,
		},
	} {
		c := &callvet.Case{ID: "c", Faults: []callvet.ToolFault{}, Expect: callvet.Expect{ResponseNonEmpty: true}}
		s, _ := score.New(&callvet.Suite{}, score.Config{})
		k, ps := s.Compile(c)
		if len(ps) > 0 {
			t.Fatal(ps)
		}
		tr := &callvet.Trace{CaseID: "c", Answer: "no", End: callvet.EndAnswered}
		for _, call := range tt.calls {
			tr.Turns = append(tr.Turns, callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{call}})
		}
		tr.Classify("")
		r := k.Score(tr)
		for metric, want := range map[string]any{score.RetriesWaited: tt.waited, score.RetriesSensible: tt.sensible} {
			var got any = r.Score(metric).Reason
			if sc := r.Score(metric); sc.Scored {
				got = sc.Value
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s: %s", name, metric, d)
			}
		}
	}
}

// TestSafetyOfCases: the assertion decides the verdict, utility does not look at it.
func TestSafetyOfCases(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer  string
		state   callvet.AssertionState
		attack  bool
		verdict callvet.Verdict
		class   callvet.Class
		utility map[string]float64
	}{
		"safe": {
			"done", callvet.AssertPassed, false, callvet.VerdictPass, "",
			map[string]float64{score.Utility: 1},
		},
		"unsafe": {
			"done", callvet.AssertFailed, false, callvet.VerdictFail, callvet.ClassPolicy,
			map[string]float64{score.Utility: 1},
		},
		"useless": {
			"oh", callvet.AssertPassed, false, callvet.VerdictFail, callvet.ClassAnswer,
			map[string]float64{score.Utility: 0},
		},
		"neither": {
			"oh", callvet.AssertFailed, false, callvet.VerdictFail, callvet.ClassPolicy,
			map[string]float64{score.Utility: 0},
		},
		"safe, attacked": {
			"done", callvet.AssertPassed, true, callvet.VerdictPass, "",
			map[string]float64{score.UtilityUnderAttack: 1, score.AttackSuccess: 0},
		},
		"unsafe, attacked": {
			"done", callvet.AssertFailed, true, callvet.VerdictFail, callvet.ClassPolicy,
			map[string]float64{score.UtilityUnderAttack: 1, score.AttackSuccess: 0},
		},
	} {
		c := &callvet.Case{
			ID: "c", Safety: &callvet.Safety{},
			Expect: callvet.Expect{ResponseContains: []string{"done"}},
		}
		if tt.attack {
			c.Safety.Attack = &callvet.Attack{Name: "a", Answer: []string{"x"}}
		}
		watch := func([]callvet.Tool,
			*callvet.Case,
		) (func(*callvet.Trace) ([]callvet.Score, callvet.Assertion, []callvet.Incident), error) {
			return func(*callvet.Trace) ([]callvet.Score, callvet.Assertion, []callvet.Incident) {
				var scores []callvet.Score
				if tt.attack {
					scores = []callvet.Score{{Name: score.AttackSuccess, Scored: true}}
				}
				return scores, callvet.Assertion{
					Name: "safety", Layer: callvet.LayerSafety, State: tt.state,
					Actual: "it leaked",
				}, nil
			}, nil
		}
		s, _ := score.New(&callvet.Suite{}, score.Config{Safety: watch})
		k, ps := s.Compile(c)
		if len(ps) > 0 {
			t.Fatal(ps)
		}
		tr := &callvet.Trace{
			CaseID: "c", Answer: tt.answer, End: callvet.EndAnswered,
			Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Content: tt.answer}},
		}
		tr.Classify("")
		r := k.Score(tr)
		got := map[string]float64{}
		for _, m := range []string{score.Utility, score.UtilityUnderAttack, score.AttackSuccess} {
			if sc := r.Score(m); sc.Scored {
				got[m] = sc.Value
			}
		}
		if d := cmp.Diff(tt.utility, got); d != "" || r.Verdict != tt.verdict || r.Class != tt.class {
			t.Errorf("%s: %s %s: %s", name, r.Verdict, r.Class, d)
		}
		// Where nothing holds attempts to it, it is not evaluated, and a pass is a pass in part.
		s, _ = score.New(&callvet.Suite{}, score.Config{})
		k, _ = s.Compile(c)
		if r := k.Score(tr); r.NotEvaluated != 1 || r.Score(score.Utility).Scored {
			t.Errorf("%s: %+v", name, r)
		}
	}
	s, _ := score.New(&callvet.Suite{},
		score.Config{Safety: func([]callvet.Tool,
			*callvet.Case,
		) (func(*callvet.Trace) ([]callvet.Score, callvet.Assertion, []callvet.Incident), error) {
			return nil, errors.New("bad pattern")
		}})
	if _, ps := s.Compile(&callvet.Case{ID: "c", Safety: &callvet.Safety{}}); len(ps) != 1 ||
		ps[0].Code != "bad-safety" {
		t.Errorf("%+v", ps)
	}
}

// TestBlockedDrills: an attempt that the provider blocked did not do its task, and gave the
// attacker nothing. Other errors have no scores, nor have cases without safety.
func TestBlockedDrills(t *testing.T) {
	t.Parallel()
	watch := func([]callvet.Tool,
		*callvet.Case,
	) (func(*callvet.Trace) ([]callvet.Score, callvet.Assertion, []callvet.Incident), error) {
		return func(*callvet.Trace) ([]callvet.Score, callvet.Assertion, []callvet.Incident) {
			return nil, callvet.Assertion{Name: "safety", Layer: callvet.LayerSafety, State: callvet.AssertPassed}, nil
		}, nil
	}
	wants := &callvet.Safety{Attack: &callvet.Attack{Name: "a", Answer: []string{"x"}}}
	for name, tt := range map[string]struct {
		safety *callvet.Safety
		kind   callvet.FaultKind
		want   map[string]float64
	}{
		"blocked": {&callvet.Safety{}, callvet.FaultFiltered, map[string]float64{score.Utility: 0}},
		"blocked, attacked": {
			wants, callvet.FaultRefused,
			map[string]float64{score.UtilityUnderAttack: 0, score.AttackSuccess: 0},
		},
		"an attack that wants nought": {
			&callvet.Safety{Attack: &callvet.Attack{Name: "a"}}, callvet.FaultFiltered,
			map[string]float64{score.Utility: 0},
		},
		"another error": {wants, callvet.FaultTimeout, map[string]float64{}},
		"no safety":     {nil, callvet.FaultFiltered, map[string]float64{}},
	} {
		s, _ := score.New(&callvet.Suite{}, score.Config{Safety: watch})
		k, ps := s.Compile(&callvet.Case{
			ID: "c", Safety: tt.safety,
			Expect: callvet.Expect{ResponseContains: []string{"done"}},
		})
		if len(ps) > 0 {
			t.Fatal(ps)
		}
		tr := &callvet.Trace{CaseID: "c", Fault: &callvet.Fault{Kind: tt.kind}}
		tr.Classify("")
		r := k.Score(tr)
		got := map[string]float64{}
		for _, m := range []string{score.Utility, score.UtilityUnderAttack, score.AttackSuccess} {
			if sc := r.Score(m); sc.Scored {
				got[m] = sc.Value
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestLabelsOfPlans: the plan that an attempt was compared with has the calls that it needs.
func TestLabelsOfPlans(t *testing.T) {
	t.Parallel()
	plan := func(name, tool string) callvet.Plan {
		return callvet.Plan{Name: name, Calls: []callvet.ExpectedCall{{Tools: []string{tool}}}}
	}
	c := &callvet.Case{
		ID:     "c",
		Expect: callvet.Expect{Plans: []callvet.Plan{plan("", "e"), plan("a", "f"), plan("b", "g")}},
	}
	swapped := &callvet.Case{ID: "c", Expect: callvet.Expect{Plans: []callvet.Plan{plan("a", "f"), plan("", "e")}}}
	for _, tt := range []struct {
		of         *callvet.Case
		plan, want string
	}{{c, "", "e"}, {c, "a", "f"}, {c, "b", "g"}, {c, "of before", "e"}, {swapped, "a", "f"}, {swapped, "", "f"}} {
		_, needed, known := score.Labels(tt.of, &callvet.Trace{}, &callvet.Result{Plan: tt.plan})
		if len(needed) != 1 || needed[0].Tool != tt.want || !known {
			t.Errorf("plan %q: %+v", tt.plan, needed)
		}
	}
}

// TestLabelsOfSets: a tool of a set of names may be called again, one of a list of calls may not.
func TestLabelsOfSets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		of    callvet.Expect
		trace *callvet.Trace
		want  []score.Label
	}{
		{
			"a set",
			callvet.Expect{ToolsAcceptable: [][]string{{"book"}}},
			made("book", `{}`, "book", `{}`),
			[]score.Label{{Needed: true, Tool: "book"}, {Needed: true, Tool: "book"}},
		},
		{
			"another tool",
			callvet.Expect{ToolsAcceptable: [][]string{{"book"}}},
			made("book", `{}`, "find_city", `{}`),
			[]score.Label{{Needed: true, Tool: "book"}, {}},
		},
		{
			"a repeat next to one that is missing",
			callvet.Expect{ToolsAcceptable: [][]string{{"book", "find_city"}}},
			made("book", `{}`, "book", `{}`),
			[]score.Label{{Needed: true, Tool: "book"}, {Needed: true, Tool: "book"}},
		},
		{
			"a list of calls",
			callvet.Expect{ToolsCalled: []string{"book"}},
			made("book", `{}`, "book", `{}`),
			[]score.Label{{Needed: true, Tool: "book"}, {}},
		},
	} {
		c := one(tt.of)
		got, _, _ := score.Labels(&c, tt.trace, &callvet.Result{})
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// TestLabelsOfPassingCalls: the label of a call has the expected call that it answers, also where a passing
// attempt makes calls of one tool in another order, or passes by a matcher.
func TestLabelsOfPassingCalls(t *testing.T) {
	t.Parallel()
	call := func(args string) callvet.ExpectedCall {
		return callvet.ExpectedCall{Tools: []string{"f"}, Args: json.RawMessage(args)}
	}
	either := callvet.ExpectedCall{
		Tools:    []string{"f"},
		Matchers: map[string]callvet.Matcher{"a": {Mode: "any_of", Value: json.RawMessage(`[1,2]`)}},
	}
	for name, tt := range map[string]struct {
		expect []callvet.ExpectedCall
		trace  *callvet.Trace
		want   []int // of each call, the expected one
	}{
		"in order": {
			[]callvet.ExpectedCall{call(`{"a":1}`), call(`{"a":2}`)},
			made("f", `{"a":1}`, "f", `{"a":2}`),
			[]int{0, 1},
		},
		"in another order": {
			[]callvet.ExpectedCall{call(`{"a":1}`), call(`{"a":2}`)},
			made("f", `{"a":2}`, "f", `{"a":1}`),
			[]int{1, 0},
		},
		"in another spelling": {
			[]callvet.ExpectedCall{call(`{"a":1}`), call(`{"a":2}`)},
			made("f", `{"a": 2}`, "f", `{"a": 1}`),
			[]int{1, 0},
		},
		"the other by a match": {
			[]callvet.ExpectedCall{either, call(`{"a":1}`)},
			made("f", `{"a": 1}`, "f", `{"a":2}`),
			[]int{1, 0},
		},
	} {
		c := one(callvet.Expect{Plans: []callvet.Plan{{Calls: tt.expect}}})
		s, _ := score.New(&callvet.Suite{}, score.Config{})
		k, problems := s.Compile(&c)
		r := k.Score(tt.trace)
		if len(problems) > 0 || r.Verdict != callvet.VerdictPass {
			t.Fatalf("%s: %v %+v", name, problems, r)
		}
		labels, needed, _ := score.Labels(&c, tt.trace, &r)
		if len(labels) != len(tt.want) || len(needed) != len(tt.expect) {
			t.Fatalf("%s: %+v, needed %+v", name, labels, needed)
		}
		for j, i := range tt.want {
			if labels[j].Call != &c.Expect.Plans[0].Calls[i] {
				t.Errorf("%s: call %d is labelled by %+v, want the expected call %d", name, j, labels[j].Call, i)
			}
		}
	}
}

// TestTaskPostconditions: the share of the conditions that hold is a score, and none where a result is not known.
func TestTaskPostconditions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		results []string
		want    float64
		scored  bool
	}{
		"all hold, of different calls": {[]string{`{"days":30}`, `{"ok":true}`}, 1, true},
		"one does not":                 {[]string{`{"days":30}`, `{"ok":false}`}, 0.5, true},
		"one is not known":             {[]string{`{"days":30}`, ``}, 0, false},
	} {
		c := one(callvet.Expect{ToolsCalled: []string{"f", "f"}, Postconditions: []string{"days == 30", "ok == true"}})
		s, _ := score.New(&callvet.Suite{}, score.Config{})
		k, _ := s.Compile(&c)
		tr := made("f", `{}`, "f", `{}`)
		n := 0
		for i := range tr.Turns {
			for j := range tr.Turns[i].Calls {
				tr.Turns[i].Calls[j].Result = []byte(tt.results[n])
				n++
			}
		}
		r := k.Score(tr)
		if got := r.Score(score.TaskPostconditions); got.Value != tt.want || got.Scored != tt.scored {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestExpectedResult: a call of a tool that always gives the same has to give the expected result.
func TestExpectedResult(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]callvet.Verdict{
		`{"b":[1],"days":30.0}`: callvet.VerdictPass, `{"days":31}`: callvet.VerdictFail,
		`{"days":30}`: callvet.VerdictFail, ``: callvet.VerdictPass,
	} {
		c := one(
			callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{
				Tools:  []string{"f"},
				Result: json.RawMessage(`{"days":30,"b":[1]}`),
			}}}}})
		s, _ := score.New(&callvet.Suite{}, score.Config{})
		k, _ := s.Compile(&c)
		tr := made("f", `{}`)
		tr.Turns[0].Calls[0].Result = []byte(result)
		if r := k.Score(tr); r.Verdict != want || (result == "") != (r.NotEvaluated == 1) {
			t.Errorf("%q: %s %s, %d not evaluated", result, r.Verdict, r.Reason, r.NotEvaluated)
		}
	}
}
