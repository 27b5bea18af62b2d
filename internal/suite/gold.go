// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/source"
	"github.com/callvet/callvet/score"
)

// gold compiles the suite's expectations and scores every case's own gold
// answer: a gold that fails means that nothing can pass, or that the case does
// not say what its author meant.
func (l *linter) gold() {
	scorer, problems := score.New(l.s, l.opt.Scoring)
	said := map[string][]string{} // keys that lint has spoken of, by case
	for _, p := range l.problems {
		if !p.Warning {
			said[p.Case] = append(said[p.Case], p.Key)
		}
	}
	at := make(map[string]*callvet.Case)
	for i := range l.s.Cases {
		at[l.s.Cases[i].ID] = &l.s.Cases[i]
	}
	for _, p := range problems {
		if p.Code == "bad-schema" { // said with the tool
			continue
		}
		p.Key = suiteKey(p.Key)
		if strings.HasSuffix(p.Code, "-mode") && p.Key == "scoring" {
			p.Key = "scoring.mode"
		}
		if c := at[p.Case]; c != nil && c.Scoring == nil && strings.HasPrefix(p.Key, "scoring") {
			said[c.ID] = append(said[c.ID], p.Key) // the suite's own mistake, once for all cases
			p.Case, p.Key, p.Position = "", "defaults."+p.Key, callvet.Position{File: c.Position.File}
		}
		if !slices.ContainsFunc(said[p.Case], func(key string) bool { return within(key, p.Key) }) {
			l.keep(p)
		}
		said[p.Case] = append(said[p.Case], p.Key)
	}
	for i := range l.s.Cases {
		l.c = &l.s.Cases[i]
		if len(said[l.c.ID]) == 0 && l.c.Skip == "" {
			l.goldOf(scorer)
		}
	}
	l.c = nil
}

// suiteKey translates a scorer's path to the suite's: the scorer knows plans,
// and names arguments without saying whether a matcher stands for them.
func suiteKey(key string) string {
	for _, s := range [][2]string{{"response_", "expect.response."}, {"tool_", "expect.tool_"}, {"tools_", "expect.tools_"}, {"argument_source", "multi_turn.argument_source"}, {"scoring.tool_weight", "scoring.weights"}} {
		if strings.HasPrefix(key, s[0]) {
			return s[1] + key[len(s[0]):]
		}
	}
	rest, ok := strings.CutPrefix(key, "plans[")
	if !ok {
		return key
	}
	plan, rest, _ := strings.Cut(rest, "]")
	out := "expect.any_of[" + plan + "]"
	if plan == "0" {
		out = "expect"
	}
	call, arg, ok := strings.Cut(strings.TrimPrefix(rest, ".calls["), "].")
	if !ok || !strings.HasPrefix(rest, ".calls[") {
		return out + rest
	}
	out += ".calls[" + call + "]."
	switch arg {
	case "tools":
		return out + "tool"
	case "id", "after", "result_check":
		return out + arg
	}
	return out + "params." + arg
}

// goldOf scores the first plan of a case; the rest of its routing assertions
// must agree with it. Cases whose gold cannot be written down (a pattern, data
// that flows from a result) are left out.
func (l *linter) goldOf(scorer *score.Scorer) {
	if len(l.c.Expect.Plans) == 0 || (l.c.MultiTurn != nil && (len(l.c.MultiTurn.RequiredPrerequisites) > 0 || len(l.c.MultiTurn.ArgumentSource) > 0)) {
		return
	}
	t := callvet.Trace{CaseID: l.c.ID, Target: "gold", End: callvet.EndCalled, Format: callvet.FormatPass}
	for _, i := range inOrder(l.c.Expect.Plans[0].Calls) {
		call, ok := l.goldCall(&l.c.Expect.Plans[0].Calls[i])
		if !ok {
			return
		}
		t.Turns = append(t.Turns, callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{call}})
	}
	if l.c.MultiTurn != nil {
		t.End = callvet.EndReached
	}
	t.Classify(false)
	// The scorer knows the case it compiled; only its answer-side assertions
	// cannot be met by a gold call.
	result := scorer.Score(l.c, &t)
	if result.Verdict == callvet.VerdictPass || result.Class == callvet.ClassAnswer || result.Class == callvet.ClassBudget {
		return
	}
	reason := result.Reason
	if reason == "" {
		reason = string(result.Class)
	}
	l.problem("gold-fails", "expect", "mend the expectation; `callvet run` would fail this case for every model", "the case's own gold answer does not pass it: %s", reason)
}

// inOrder lists the calls so that each stands after those it waits for.
func inOrder(calls []callvet.ExpectedCall) []int {
	var out []int
	done := make([]bool, len(calls))
	for range calls {
		for i := range calls {
			if done[i] || slices.ContainsFunc(calls[i].After, func(id string) bool {
				return slices.ContainsFunc(calls, func(c callvet.ExpectedCall) bool { return c.ID == id && !done[indexOf(calls, id)] })
			}) {
				continue
			}
			out, done[i] = append(out, i), true
		}
	}
	return out
}

func indexOf(calls []callvet.ExpectedCall, id string) int {
	return slices.IndexFunc(calls, func(c callvet.ExpectedCall) bool { return c.ID == id })
}

// goldCall writes the call that the expectation describes; ok is false when it
// describes no single one.
func (l *linter) goldCall(c *callvet.ExpectedCall) (call callvet.Call, ok bool) {
	if len(c.Tools) == 0 || l.looseMode() {
		return call, false
	}
	args := source.Node{Kind: source.Map}
	if c.Args != nil {
		d, bad := source.ReadJSON("", c.Args)
		if bad != nil {
			return call, false
		}
		args = d.Root
	} else if len(c.Matchers) == 0 {
		return call, false // arguments are not scored, so the gold does not know them
	}
	for _, name := range slices.Sorted(maps.Keys(c.Matchers)) {
		m := c.Matchers[name]
		v, drop, ok := goldValue(&m)
		if !ok || strings.ContainsAny(name, ".[/") {
			return call, false
		}
		args.Set(name, v, drop)
	}
	call = callvet.Call{ID: c.ID, Tool: c.Tools[0], Args: args.JSON(), Status: callvet.StatusOK}
	if c.ResultCheck != "" && (l.opt.World == nil || !l.mocked(call.Tool)) {
		return call, false
	}
	call.Result = l.reply(call)
	return call, true
}

// reply is what the case's world answers to the call, as in a run.
func (l *linter) reply(call callvet.Call) json.RawMessage {
	if l.opt.World != nil {
		if w := l.opt.World(l.s, l.c); w != nil {
			if r, err := w.Answer(context.Background(), call); err == nil && r.Result != nil {
				return r.Result
			}
		}
	}
	return json.RawMessage(`{}`)
}

// goldValue gives a value that the matcher accepts, or tells that the argument
// must be left out.
func goldValue(m *callvet.Matcher) (v json.RawMessage, drop, ok bool) {
	switch m.Mode {
	case "absent":
		return nil, true, true
	case "present", "type", "regex", "semantic":
		return nil, false, false
	case "any_of":
		var list []json.RawMessage
		if json.Unmarshal(m.Value, &list) != nil || len(list) == 0 {
			return nil, false, false
		}
		return list[0], false, true
	}
	return m.Value, false, m.Value != nil
}
