// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/value"
)

// Watch judges the attempts of one reading, one after the other.
type Watch struct {
	// safety is nil if no rule applies; whole is true if it needs whole attempts.
	safety *safety.Checker
	whole  bool
	// unknown counts calls without evidence whether the user confirmed.
	unknown int
	// breaches count incidents that happened and blocked ones, by rule.
	breaches map[safety.Rule]*breach

	suite  *callvet.Suite // nil: none
	scorer *score.Scorer
	cases  map[string]*callvet.Case
	met    map[string]bool
	// compiled are the first cases of the reading, ready to judge further attempts.
	compiled map[string]*score.Compiled
	// attempts at cases: given is how many took the suite's verdict, silent how many the suite
	// could not judge, differ how many have a different verdict of their own.
	attempts, given, silent, differ int
	// inPart is how many passed with assertions that were not evaluated; open counts these
	// assertions by name and reason, over all attempts.
	inPart int
	open   map[string]int
	rules  map[int]int // attempts with verdicts by other rules, which stay, by version of the rules
	stray  int
	naming *callvet.Naming
}

// breach is how often a rule was broken, and where first.
type breach struct {
	executed, blocked int
	first             string
}

// OpenWatch makes a Watch. With rules of nil, tools are checked against their own constraints, if
// any; whole attempts are then only checked if a tool requires confirmation. A suite of nil judges
// nothing. custom runs its scorers that are programs (score.Config); nil leaves these not
// evaluated. The error wraps callvet.ErrInvalid for rules that cannot be compiled.
func OpenWatch(tools []callvet.Tool, rules *safety.Rules, suite *callvet.Suite,
	custom func(*callvet.Scorer) (score.Custom, error),
) (*Watch, error) {
	w := &Watch{suite: suite, breaches: map[safety.Rule]*breach{}}
	if suite != nil {
		w.cases, w.met = map[string]*callvet.Case{}, map[string]bool{}
		w.compiled = map[string]*score.Compiled{}
		// the reader of the suite has printed its problems
		w.scorer, _ = score.New(suite, score.Config{Safety: safety.Watch, Custom: custom})
		for i := range suite.Cases {
			c := &suite.Cases[i]
			w.cases[c.ID] = c
		}
	}
	own := slices.ContainsFunc(tools, func(t callvet.Tool) bool { return t.Safety != nil })
	if rules == nil && !own {
		return w, nil
	}
	given := rules != nil
	if !given {
		rules = &safety.Rules{}
	}
	c, err := safety.New(tools, *rules)
	if err != nil {
		return nil, err
	}
	w.safety, w.whole = c, given || c.Whole()
	return w, nil
}

// Name sets the naming that the rules of safety use for the calls of attempts. It is called
// before the reading starts.
func (w *Watch) Name(n *callvet.Naming) { w.naming = n }

// ToolNames returns the suite's own setting; nil without a suite or a setting.
func (w *Watch) ToolNames() *callvet.ToolNames {
	if w.suite == nil {
		return nil
	}
	return w.suite.Defaults.Scoring.ToolNames
}

// Safe returns the rule about single calls; nil if there is none.
func (w *Watch) Safe() func(tool string, args value.Value) (safe, known bool) {
	if w.safety == nil {
		return nil
	}
	return w.safety.Step
}

// Judge returns the hook for whole attempts (measure.Config); nil if nothing needs it. It is not
// safe for concurrent use. When ctx ends, the suite's scorers are stopped; the reader of the
// attempts ends with the same ctx.
func (w *Watch) Judge(ctx context.Context) func(*trace.Attempt) bool {
	if !w.Whole() {
		return nil
	}
	return func(at *trace.Attempt) bool {
		safe := w.whole && w.check(at)
		return w.suite != nil && w.score(ctx, at) || safe
	}
}

// Whole reports whether whole attempts are needed.
func (w *Watch) Whole() bool { return w.whole || w.suite != nil }

// check adds the breaches of safety to the attempt's own incidents. An attempt without a recorded
// call or text is not checked.
func (w *Watch) check(at *trace.Attempt) bool {
	if len(at.Trace.Turns) == 0 {
		return false
	}
	naming := w.naming
	if c := w.cases[at.Trace.CaseID]; c != nil && c.Scoring != nil && c.Scoring.ToolNames != nil {
		naming = w.compile(c).Naming()
	}
	r := w.safety.Check(naming.Turns(at.Input), naming.Trace(&at.Trace))
	w.unknown += r.Unknown
	calls := at.Trace.Calls()
	list := append([]trace.Incident{}, at.Safety...)
	for _, i := range r.Incidents {
		w.count(at, i)
		in := trace.Incident{Rule: string(i.Rule), Note: i.Note, Blocked: !i.Executed}
		if i.Call >= 0 {
			in.CallID = calls[i.Call].ID
		}
		if !slices.ContainsFunc(at.Safety,
			func(o trace.Incident) bool { return o.Rule == in.Rule && o.CallID == in.CallID }) {
			list = append(list, in)
		}
	}
	at.Safety = list
	return true
}

func (w *Watch) count(at *trace.Attempt, i safety.Incident) {
	b := w.breaches[i.Rule]
	if b == nil {
		b = &breach{first: "task " + at.Name() + ": " + i.Note}
		w.breaches[i.Rule] = b
	}
	if i.Executed {
		b.executed++
	} else {
		b.blocked++
	}
}

// keptCompiled bounds the memory of compiled cases; later cases are compiled for each attempt.
const keptCompiled = 4096

func (w *Watch) compile(c *callvet.Case) *score.Compiled {
	k := w.compiled[c.ID]
	if k == nil {
		k, _ = w.scorer.Compile(c)
		if len(w.compiled) < keptCompiled {
			w.compiled[c.ID] = k
		}
	}
	return k
}

// score judges an attempt at a case. Its verdict becomes the attempt's if the source has none;
// slices, needed calls and labels of calls become the attempt's too.
func (w *Watch) score(ctx context.Context, at *trace.Attempt) bool {
	c := w.cases[at.Trace.CaseID]
	if c == nil {
		w.stray++
		return false
	}
	r, err := w.compile(c).Judge(ctx, &at.Trace)
	if err != nil { // that of ctx
		return false
	}
	w.met[c.ID] = true
	w.attempts++
	pass := false
	for _, as := range r.Unevaluated() {
		if w.open == nil {
			w.open = map[string]int{}
		}
		w.open[as.Name+": "+as.Reason]++
	}
	switch r.Verdict {
	case callvet.VerdictPass, callvet.VerdictFail:
		pass = r.Verdict == callvet.VerdictPass
		if pass && r.NotEvaluated > 0 {
			w.inPart++
		}
		own := at.Pass
		if own == nil && at.Reward != nil && (*at.Reward == 0 || *at.Reward == 1) {
			yes := *at.Reward == 1
			own = &yes
		}
		if own != nil && at.Scored != nil && at.Scored.Rules != callvet.RulesVersion {
			if w.rules == nil {
				w.rules = map[int]int{}
			}
			w.rules[at.Scored.Rules]++
		}
		switch {
		case own == nil:
			at.Pass = &pass
			w.given++
		case *own != pass:
			w.differ++
		}
	default:
		w.silent++
	}
	at.Annotate(c, &callvet.Target{}, &r, &w.suite.Defaults.Scoring)
	return true
}

// Warnings returns, after the reading, what was found and what was not evaluated, one sentence
// each.
func (w *Watch) Warnings() []string {
	var out []string
	for _, rule := range safety.RuleNames() {
		if b := w.breaches[rule]; b != nil {
			out = append(out,
				fmt.Sprintf("%s: %d happened, %d blocked; first in %s", rule, b.executed, b.blocked, b.first))
		}
	}
	if w.unknown > 0 {
		out = append(out,
			fmt.Sprintf(
				"%s need the user's confirmation, and no turn of a user was recorded: whether there was one is not known", plain.Count(w.unknown, "call", "calls")))
	}
	if w.suite == nil {
		return out
	}
	out = append(out,
		fmt.Sprintf("suite %s: %s at %d of %d cases; its verdict counts as pass for %d of them, the traces' own for %d",
			w.suite.Name, plain.Count(w.attempts, "attempt", "attempts"), len(w.met), len(w.cases), w.given,
			w.attempts-w.given-w.silent))
	if w.differ > 0 {
		out = append(out,
			fmt.Sprintf("%s whose own verdict is not the suite's", plain.Count(w.differ, "attempt", "attempts")))
	}
	for _, version := range slices.Sorted(maps.Keys(w.rules)) {
		by := fmt.Sprintf("version %d of the rules", version)
		if version == 0 {
			by = "a version of the rules that the file does not state"
		}
		out = append(out, fmt.Sprintf("%s by %s, which stays; the suite judges by version %d",
			plain.Count(w.rules[version], "attempt has a verdict", "attempts have verdicts"), by, callvet.RulesVersion))
	}
	if w.inPart > 0 {
		out = append(out,
			fmt.Sprintf("%s the suite's cases with assertions that were not evaluated: of the others only",
				plain.Count(w.inPart, "attempt passed", "attempts passed")))
	}
	for _, kind := range slices.Sorted(maps.Keys(w.open)) {
		out = append(out, fmt.Sprintf("not evaluated: %s (%s)", kind, plain.Count(w.open[kind], "time", "times")))
	}
	if w.silent > 0 {
		out = append(out,
			fmt.Sprintf(
				"%s that the suite cannot judge: the case asserts nothing that could be evaluated, or the attempt ended in an error or did not run", plain.Count(w.silent, "attempt", "attempts")))
	}
	var without []string
	for i := range w.suite.Cases {
		if id := w.suite.Cases[i].ID; !w.met[id] {
			without = append(without, id)
		}
	}
	if len(without) > 0 {
		const shown = 5
		list := strings.Join(without[:min(shown, len(without))], ", ")
		if len(without) > shown {
			list += ", …"
		}
		out = append(out, fmt.Sprintf("%s without a trace: %s", plain.Count(len(without), "case", "cases"), list))
	}
	if w.stray > 0 {
		out = append(out, fmt.Sprintf("%s at no case of the suite", plain.Count(w.stray, "attempt", "attempts")))
	}
	return out
}
