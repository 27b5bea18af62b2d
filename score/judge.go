// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
)

// facts are the inputs of the verdict and the class.
type facts struct {
	broken      bool // a call could not be read, or the text meant one
	repaired    bool // and the case requires native calls
	unknownTool int  // position + 1 of the first call of a tool not offered
	invalid     int  // position + 1 of the first call that fails for its contract
	unrecorded  bool // asserted arguments were not recorded
	unverified  int  // position + 1 of the first call for which it is unknown whether it keeps its contract
	redundant   int
	detours     int
	prereqs     prereqs
	flow        flow
	failed      int // failed assertions
	evaluated   int
	unsafe      bool // the assertion on safety failed
	watched     []callvet.Score
	incidents   []callvet.Incident
}

// good reports that only the plan can prevent a pass.
func (f *facts) good(enforce bool) bool {
	return !f.broken && !f.repaired && f.invalid == 0 && f.failed == 0 && (f.unknownTool == 0 || !enforce) &&
		f.prereqs.missing == "" && !f.prereqs.disorder && f.flow.failed == ""
}

// anything reports that something in addition to the plan was judged.
func (f *facts) anything() bool { return f.evaluated > 0 || f.prereqs.required > 0 || f.flow.total > 0 }

// judge computes the result of the attempt that begin read.
func (w *scratch) judge() callvet.Result {
	k, t := w.k, w.t
	f := &w.facts
	f.broken = t.Outcome == callvet.OutcomeUnparseable
	for i := range w.calls {
		f.broken = f.broken || w.calls[i].broken
	}
	f.repaired = k.scoring.RequireNative && w.repaired()
	planned := len(k.plans) > 0
	if f.broken && k.foreign && w.wantsNone() {
		// For the leaderboard, an output without a readable call has no calls.
		f.broken, w.calls = false, w.calls[:0]
	}
	if planned {
		w.bestFit()
		if f.broken && len(w.calls) == 0 {
			w.fit.selection, w.fit.pass = 0, false // meant a call: neither abstained nor called
		}
	}
	w.checkContracts(planned)
	if k.multi != nil {
		w.measureMulti(planned)
	}
	w.assert(planned)
	return w.result(planned)
}

func (w *scratch) repaired() bool {
	if len(w.t.Repairs) > 0 || w.t.Format == callvet.FormatNormalized {
		return true
	}
	for i := range w.calls {
		if len(w.calls[i].src.Repairs) > 0 {
			return true
		}
	}
	return false
}

// checkContracts finds the calls that fail the attempt by name or contract. In a multi-turn case
// only calls that answer an expectation can fail it: a refused call that the target corrected
// costs hops, not the pass.
func (w *scratch) checkContracts(planned bool) {
	k := w.k
	for j := range w.calls {
		a := &w.calls[j]
		if k.tools != nil && a.tool == nil && w.facts.unknownTool == 0 && !answers(w.fit.match, j) {
			w.facts.unknownTool = j + 1
		}
		if !k.enforce || a.valid || k.multi != nil && planned && !answers(w.fit.match, j) {
			continue
		}
		switch {
		case a.checked && w.facts.invalid == 0:
			w.facts.invalid = j + 1
		case !a.checked && !a.unknown && a.tool != nil && w.facts.unverified == 0:
			w.facts.unverified = j + 1
		}
	}
	for i := range w.calls {
		w.facts.unrecorded = w.facts.unrecorded || w.calls[i].unknown && w.asserted(i)
	}
}

// asserted reports whether the plan asserts arguments of that actual call.
func (w *scratch) asserted(j int) bool {
	for i, m := range w.fit.match {
		if m == j && w.fit.plan.calls[i].args != nil {
			return true
		}
	}
	return false
}

func (w *scratch) result(planned bool) callvet.Result {
	f, k := &w.facts, w.k
	var r callvet.Result
	if planned && len(k.plans) > 1 {
		r.Plan = w.fit.plan.src.Name
	}
	r.Scores = w.scores(planned)
	w.assertScores(r.Scores)
	if k.watch != nil {
		r.Scores = append(r.Scores, w.utility(planned))
	}
	r.Assertions, r.NotEvaluated, r.Incidents = w.assertion, w.skipped, f.incidents
	good := f.good(k.enforce) && (w.fit.pass || !planned || k.graded)
	if !good || f.unrecorded || f.unverified > 0 || k.explain || w.notable() {
		r.Calls = w.explain(planned)
	}
	switch {
	case !good:
		r.Verdict = callvet.VerdictFail
		r.Class, r.Reason = w.classify(planned, r.Calls)
	case f.unrecorded:
		r.Verdict, r.Reason = callvet.VerdictNotRun,
			"the call's arguments were not recorded, so the expected ones cannot be judged"
	case f.unverified > 0:
		a := &w.calls[f.unverified-1]
		r.Verdict, r.Reason = callvet.VerdictNotRun, violationSentence(a.src.Tool, a.violations(k))
	case !planned && !f.anything():
		r.Verdict, r.Reason = callvet.VerdictNotRun, w.undecided(&r)
	default:
		r.Verdict = callvet.VerdictPass
	}
	for i := range r.Calls { // of the attempt, also where some of its calls were left out
		if j := r.Calls[i].Actual; j >= 0 {
			r.Calls[i].Actual = w.calls[j].at
		}
	}
	return r
}

// undecided returns why an attempt without assertions has no verdict.
func (w *scratch) undecided(r *callvet.Result) string {
	if len(w.opinions) > 0 && r.NotEvaluated == 0 {
		return "its scorers measured the attempt, and none gave a verdict: give a scorer a threshold"
	}
	return "nothing could be evaluated: " + why(r.Unevaluated())
}

// notable reports whether a pass has something to show. That is a default left out, a soft match, a
// repaired call, another spelling of a tool's name, a contract violation that was only recorded, or
// a pairing that the calls alone do not show.
func (w *scratch) notable() bool {
	if w.reordered() {
		return true
	}
	for i := range w.fit.pairs {
		if w.fit.pairs[i].tally.Notable {
			return true
		}
	}
	for j := range w.calls {
		a := &w.calls[j]
		renamed := a.tool != nil && a.tool.src.Name != a.src.Tool || w.countsAs(j) != ""
		if renamed || len(a.src.Repairs) > 0 || a.checked && !a.valid {
			return true
		}
	}
	for i, j := range w.fit.match {
		if j >= 0 && w.calls[j].tool == nil && w.misnamed(&w.calls[j], w.fit.plan.calls[i].src.Tools) != "" {
			return true
		}
	}
	return false
}

// reordered reports whether the pairing of calls and expected calls differs from the pairing of
// inOrder.
func (w *scratch) reordered() bool {
	n, m := len(w.fit.match), len(w.calls)
	switch {
	case n == 0 || n == 1 && len(w.called) == 1:
		return false
	case m < len(w.called): // only the comparison contains the places of the calls that count
		return true
	}
	alone := inOrder(n, m, func(i, j int) bool { return w.k.accepts(&w.fit.plan.calls[i], w.calls[j].src.Tool) },
		func(i, j int) bool {
			return gives(w.fit.plan.calls[i].src, w.calls[j].src)
		})
	return !slices.Equal(alone, w.fit.match)
}

// scoreList gathers scores.
type scoreList struct{ s []callvet.Score }

// next appends one more entry, which the caller fills in place.
func (l *scoreList) next() *callvet.Score {
	n := len(l.s)
	if n == cap(l.s) {
		l.s = append(l.s, callvet.Score{})
	}
	l.s = l.s[:n+1]
	return &l.s[n]
}

func (l *scoreList) add(name string, v float64) {
	s := l.next()
	s.Name, s.Value, s.Scored = name, clamp(v), true
}

func (l *scoreList) unscored(name, reason string) {
	s := l.next()
	s.Name, s.Reason = name, reason
}

// fewScores is the usual maximum of scores for an attempt without calls.
const fewScores = 8

// clamp keeps a rounding error from leaving [0,1].
func clamp(v float64) float64 { return min(max(v, 0), 1) }

func (w *scratch) scores(planned bool) []callvet.Score {
	// Attempts with calls mostly have as many scores as those before.
	n := fewScores
	if len(w.calls) > 0 {
		n = max(n, w.usual)
	}
	l := scoreList{make([]callvet.Score, 0, n)}
	if planned {
		w.planScores(&l)
	} else if w.k.routing {
		w.routingScores(&l)
	}
	w.contractScores(&l)
	w.grounding(&l)
	l.add(FormatScore, w.formatScore())
	w.postconditionScore(&l)
	if w.facts.evaluated > 0 {
		l.add(Assertions, share(w.facts.evaluated-w.facts.failed, w.facts.evaluated, 1))
	}
	if planned {
		w.overall(&l)
	}
	w.customScores(&l)
	w.safetyScores(&l)
	w.faultScores(&l)
	if len(w.calls) > 0 {
		w.usual = max(w.usual, len(l.s))
	}
	return l.s
}

func (w *scratch) formatScore() float64 {
	switch {
	case w.facts.broken || w.t.Format == callvet.FormatFail:
		return 0
	case w.repaired():
		return 0.5
	}
	return 1
}

func (w *scratch) planScores(l *scoreList) {
	f := &w.fit
	called, wanted := len(w.calls), f.paired+f.missing
	l.add(ToolSelection, f.selection)
	empty := 0.0
	if called == 0 && wanted == 0 {
		empty = 1
	}
	l.add(ToolPrecision, share(f.paired, called, empty))
	l.add(ToolRecall, share(f.paired, wanted, empty))
	l.add(ToolF1, share(2*f.paired, called+wanted, empty))
	if !f.plan.sequence.Free() {
		l.add(OrderKept, share(truth(f.inOrder), 1, 0))
	}
	w.gradedScores(l)
	w.argScores(l)
	if called > 0 {
		l.add(OverCall, share(min(f.extra, called), called, 0))
	}
	if wanted > 0 {
		l.add(Miss, share(f.missing, wanted, 0))
	} else if len(f.plan.calls) == 0 {
		l.add(Abstention, f.selection)
	}
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (w *scratch) argScores(l *scoreList) {
	f := &w.fit
	if f.scored == 0 {
		if w.facts.unrecorded {
			l.unscored(ArgAccuracy, "the call's arguments were not recorded")
		}
		return
	}
	var em, keys, prec, rec, f1 float64
	compared := 0
	for i, j := range f.match {
		if j < 0 || f.plan.calls[i].args == nil || w.calls[j].unknown {
			continue
		}
		compared++
		t := &f.pairs[i].tally
		if t.Exact() && !w.calls[j].broken {
			em++
		}
		keys, prec, rec, f1 = keys+t.KeyShare(), prec+t.Precision(), rec+t.Recall(), f1+t.F1()
	}
	n := float64(max(f.scored, compared)) // of single_tool_use only the best call is scored
	l.add(ArgAccuracy, f.args)
	l.add(ArgEM, em/n)
	l.add(ArgEMKeys, keys/n)
	l.add(ArgPrecision, prec/n)
	l.add(ArgRecall, rec/n)
	l.add(ArgF1, f1/n)
}

// contractScores are over the calls with a known tool and known arguments.
func (w *scratch) contractScores(l *scoreList) {
	if w.k.tools == nil || len(w.calls) == 0 || w.k.foreign {
		return
	}
	valid, judged := 0, 0
	var c census
	for j := range w.calls {
		a := &w.calls[j]
		switch {
		case a.tool == nil:
			judged++
			continue
		case a.checked:
			judged++
			valid += truth(a.valid)
		}
		if !a.unknown && !a.broken && a.tool.schema != nil {
			c.take(a, w.tallyOf(j))
		}
	}
	if judged > 0 && w.k.contract {
		l.add(SchemaValid, share(valid, judged, 1))
	}
	if !c.any {
		return
	}
	l.add(RequiredPresent, share(c.present, c.required, 1))
	l.add(MissingRequired, share(c.required-c.present, c.required, 0))
	l.add(TypeCorrect, share(c.typed, c.declared, 1))
	l.add(HallucinatedArgs, share(c.keys-c.declared, c.keys, 0))
	l.add(HallucinationFree, share(c.declared, c.keys, 1))
}

// tallyOf returns the comparison of an actual call if its keys are all expected and declared, which
// spares counting them.
func (w *scratch) tallyOf(j int) *match.Tally {
	for i, m := range w.fit.match {
		if m == j && w.fit.plan.calls[i].known && w.fit.plan.calls[i].tool == w.calls[j].tool {
			return &w.fit.pairs[i].tally
		}
	}
	return nil
}

// census compares the keys of calls with the schema and counts them.
type census struct {
	any                   bool
	required, present     int
	keys, declared, typed int
}

func (c *census) take(a *actual, t *match.Tally) {
	c.any = true
	if a.checked && a.valid && t != nil && t.Extra == 0 {
		// The contract holds, so required keys and types are right, and every key is expected and
		// declared.
		n := a.args.Len()
		c.required, c.present = c.required+a.tool.need, c.present+a.tool.need
		c.keys, c.declared, c.typed = c.keys+n, c.declared+n, c.typed+n
		return
	}
	c.keys += a.args.Len()
	for i := range a.tool.props {
		p := &a.tool.props[i]
		v, has := a.args.Get(p.name)
		if p.required {
			c.required++
			c.present += truth(has)
		}
		if has {
			c.declared++
			c.typed += truth(p.fits(v))
		}
	}
}

func (w *scratch) overall(l *scoreList) {
	f, k := &w.fit, w.k
	if k.multi != nil {
		w.multiScores(l)
		return
	}
	if f.scored == 0 {
		l.add(Overall, f.selection)
		return
	}
	l.add(Overall, k.toolW*f.selection+k.argsW*f.args)
}
