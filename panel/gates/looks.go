// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"fmt"
	"math"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// Looks is how often a gate may be looked at.
type Looks string

// LooksAny makes a gate decide task by task, so that it may be looked at any number of times.
const LooksAny Looks = "any"

// Evidence is what gates need that are looked at more than once.
type Evidence struct {
	// Tasks has the attempts of this look, Base those of the baseline; nil without one.
	Tasks, Base *panel.Ledger
	// Earlier are the tasks of earlier looks, in the order of the looks. A slice has those of its cases, where
	// these are known.
	Earlier map[LookAt][]panel.TaskSum
	// Order are the ids of the tasks in the order that was fixed before they were asked.
	Order []string
	// Asked is how many of these tasks are over, for targets that are not finished.
	Asked map[string]int
	// Planned is the number of tasks planned for a target.
	Planned int
	// Looks are the looks at each target, gate by gate.
	Looks map[LookAt]Look
	// Early are the targets that stopped early because their gates were decided.
	Early map[string]bool
	// Stricter has the data for gates without a sequence at later looks, by the number of the
	// look.
	Stricter map[int]Stricter
}

// Stricter are panels and, with a baseline, a comparison. Their intervals have the confidence of a later
// look: 1 - 2·gate.LookAlpha.
type Stricter struct {
	Panels     *panel.Panels
	Comparison *panel.Comparison
}

// LookAt identifies a gate, a target and a slice.
type LookAt struct {
	Target string `json:"-"`
	Metric string `json:"metric"`
	Key    string `json:"key,omitempty"`
	Value  string `json:"value,omitempty"`
}

// Look is one of the looks at a gate.
type Look struct {
	// Number is that of the look, from 1; a gate without a Look is at its first one.
	Number int `json:"number"`
	// Declared reports that the gate had LooksAny at each look so far.
	Declared bool `json:"declared"`
}

// Looked is the evidence of a gate that is looked at more than once.
type Looked struct {
	Look
	// Alpha is the error rate of each side.
	Alpha float64 `json:"alpha"`
	// After is the number of tasks that decided the gate, 0 where it is undecided; Tasks is how
	// many it looked at, Planned how many were planned.
	After   int `json:"after,omitempty"`
	Tasks   int `json:"tasks"`
	Planned int `json:"planned"`
	// Above and Below are natural logarithms of the evidence for a pass and for a failure; Needed
	// decides. They are 700 at most; all are 0 of a metric without a sequence.
	Above  float64 `json:"log_evidence_pass"`
	Below  float64 `json:"log_evidence_fail"`
	Needed float64 `json:"log_evidence_needed"`
	// Curve are Tasks, Above and Below from task to task, 200 points at most.
	Curve [][3]float64 `json:"curve,omitempty"`
}

// mostEvidence bounds a logarithm: a certain failure has infinite evidence, which JSON cannot have.
const mostEvidence = 700

// Sequence decides a gate task by task.
type Sequence struct {
	*gate.Sequence
	g    *Gate
	rule gate.SequenceRule
	// flip: less is better. pair: the tasks are differences of a baseline.
	flip, pair bool
	required   int // exposure that lets a gate on incidents pass; 0: no number does
	incident   bool
	lost       bool
	lower      bool                     // less is better, of pairs
	known      map[string]panel.TaskSum // by task
	before     map[string]panel.TaskSum // of the baseline
	curve      [][3]float64
	stride     int
	// own has the tasks of this look alone, where there were earlier ones; else nil.
	own *gate.Sequence
}

// Sequence starts to decide the gate task by task, with an error rate of alpha for each side. why is
// not empty where the gate has no early decision.
func (g *Gate) Sequence(alpha float64) (s *Sequence, why string) {
	s = &Sequence{g: g, stride: 1, known: map[string]panel.TaskSum{}, before: map[string]panel.TaskSum{}}
	var rule gate.SequenceRule
	switch {
	case g.Key == KeyCase:
		return nil, "it is decided case by case"
	case g.Kind == Ratchet:
		return nil, "it counts cases that fail now"
	case g.Kind == Regression && g.About() == panel.ThisSuite:
		return nil, "it is about the attempts at each case of this suite"
	case g.Kind == Regression:
		margin, effect := g.allowed()
		rule, s.pair = gate.Paired(margin, effect), true
	case g.Kind == Zero:
		rule, s.flip = gate.Bounded(gate.AtMost, 0)
		if g.MaxRate > 0 {
			exposure, _, _ := stats.ExposureFor(g.MaxRate, zeroConf)
			s.required = max(exposure, g.LeastUnits())
		}
	default:
		rule, s.flip = gate.Bounded(g.Direction, g.Bound)
	}
	p, why := panel.TaskMeans(g.Metric)
	if s.lower = p.LowerIsBetter; why != "" {
		return nil, why
	}
	rule.Alpha, rule.MinUnits, rule.MaxLost = alpha, g.LeastUnits(), maxLost
	s.rule = rule
	var ok bool
	if s.Sequence, ok = gate.NewSequence(rule); !ok {
		return nil, "its bound is not between 0 and 1"
	}
	return s, ""
}

// task is the mean of a task as the sequence sees it; ok is false for one that the baseline does not have.
func (s *Sequence) task(t *panel.TaskSum) (_ gate.Task, ok bool) {
	m := t.Mean()
	if s.pair {
		before, known := s.before[t.Task]
		if !known {
			return gate.Task{}, false
		}
		if m, ok = panel.MeanChange(&before, t, s.lower); !ok {
			return gate.Task{}, false
		}
		m.Low, m.High = (1+m.Low)/2, (1+m.High)/2
	}
	s.incident = s.incident || s.g.Kind == Zero && m.Low > 0
	s.lost = s.lost || m.High > m.Low
	if s.flip {
		return gate.Task(m).Flipped(), true
	}
	return gate.Task(m), true
}

// Begin adds the tasks of the baseline, for a comparison, and the tasks of earlier looks to the
// sequence. Each mean may cover several attempts, so that the evidence is only checked after all
// of them.
func (s *Sequence) Begin(base, earlier []panel.TaskSum) {
	if s.g.Lost == LostIgnore {
		base, earlier = withoutLost(base), withoutLost(earlier)
	}
	for _, t := range base {
		s.before[t.Task] = t
	}
	for i := range earlier {
		if mean, ok := s.task(&earlier[i]); ok {
			s.Take(mean)
			s.known[earlier[i].Task] = earlier[i]
		}
	}
	if s.Look(); s.N() > 0 {
		s.point()
	}
	if s.N() > 0 && s.g.Kind != Zero {
		rule := s.rule
		rule.Alpha = gate.Alpha
		s.own, _ = gate.NewSequence(rule)
	}
}

// Feed adds tasks to the sequence, one after the other. A known task has further attempts: they
// count together with the earlier ones, unless the task was changed since. Reused answers add
// nothing.
func (s *Sequence) Feed(tasks []panel.TaskSum) {
	if s.g.Lost == LostIgnore {
		tasks = withoutLost(tasks)
	}
	for _, t := range tasks {
		if s.own != nil {
			if alone, ok := s.task(&t); ok {
				s.own.Add(alone)
			}
		}
		old, known := s.known[t.Task]
		if s.Decided() || s.Sequence.Decided() || known && t.Cached && old.Asks == t.Asks {
			continue
		}
		if known {
			t = panel.Pool([]panel.TaskSum{old, t})[0]
		}
		with, ok := s.task(&t)
		switch {
		case !ok:
			continue
		case known:
			was, _ := s.task(&old) // known tasks have a mean
			s.Replace(was, with)
		default:
			s.Add(with)
		}
		s.known[t.Task] = t
		s.point()
	}
}

// withoutLost leaves lost attempts out, and the tasks that have no others.
func withoutLost(tasks []panel.TaskSum) (out []panel.TaskSum) {
	for _, t := range tasks {
		if t.Lost = 0; t.Values > 0 {
			out = append(out, t)
		}
	}
	return out
}

// Logs are the natural logarithms of the evidence for a pass and for a failure, 700 at most.
func (s *Sequence) Logs() (pass, fail float64) {
	pass, fail = s.Evidence()
	return min(pass, mostEvidence), min(fail, mostEvidence)
}

// point keeps the evidence for the curve: every task, and with more than 200 points every second one,
// every fourth one, and so on.
func (s *Sequence) point() {
	n := s.N()
	if n%s.stride != 0 && !s.Decided() {
		return
	}
	above, below := s.Logs()
	s.curve = append(s.curve, [3]float64{float64(n), above, below})
	if len(s.curve) < 200 {
		return
	}
	half := s.curve[:0]
	for i, p := range s.curve {
		if i%2 == 1 || i == len(s.curve)-1 {
			half = append(half, p)
		}
	}
	s.curve, s.stride = half, 2*s.stride
}

// Decision is the decision so far. It is open where the tasks of this look alone have evidence
// for the opposite: then the target has changed since the earlier looks, and their evidence does
// not apply to it.
func (s *Sequence) Decision() gate.Decision {
	d := s.Sequence.Decision()
	if s.own != nil && s.own.Decided() && s.Sequence.Decided() && s.own.Decision().Verdict != d.Verdict {
		return gate.Decision{Verdict: gate.Inconclusive, Reason: ReasonChanged}
	}
	return d
}

// Decided reports whether no further task is needed.
func (s *Sequence) Decided() bool {
	return s.Sequence.Decided() && s.confirmed() ||
		s.required > 0 && s.N() >= s.required && !s.incident && !s.lost
}

// confirmed reports whether this look has the least number of tasks and agrees with the decision, or has evidence of
// its own. Earlier looks alone do not decide: a target may change without notice.
func (s *Sequence) confirmed() bool {
	if s.own == nil || s.own.Decided() {
		return true
	}
	pass, fail := s.own.Evidence()
	return s.own.N() >= s.g.LeastUnits() && (pass >= fail) == (s.Sequence.Decision().Verdict == gate.Pass)
}

// Hopeless reports whether no outcome of so many further tasks decides the gate.
func (s *Sequence) Hopeless(left int) bool {
	if s.g.Kind == Zero { // each further task may have an incident
		return !s.Decided() && left == 0
	}
	// After earlier looks a task may change its mean by more than a new one adds, and the tasks of this look are to
	// show that the target is the same.
	if s.own != nil {
		return !s.Decided() && left == 0
	}
	return s.Sequence.Hopeless(left)
}

// OrderOf are the ids of the tasks of a target in their order, to the first one that is not over.
func (e *Evidence) OrderOf(target string) []string {
	if n, ongoing := e.Asked[target]; ongoing {
		return e.Order[:n]
	}
	return e.Order
}

// Now is the look at a gate of a target and a slice, and the error rate of each of its sides.
func (e *Evidence) Now(g *Gate, at LookAt) (l Look, alpha float64) {
	l = Look{Number: 1, Declared: g.Looks == LooksAny}
	if e == nil {
		return l, gate.Alpha
	}
	if known, ok := e.Looks[at]; ok {
		l = Look{Number: known.Number, Declared: known.Declared && l.Declared}
	}
	if l.Number > 1 && !l.Declared {
		return l, gate.LaterAlpha
	}
	return l, gate.Alpha
}

// looked prepares a claim for its look: a sequence where the gate has one, else intervals that are
// stricter at later looks. done: the claim is left open.
func (c *claim) looked(in *Input, t *panel.TargetPanel) (_ *Input, done bool) {
	l, alpha := in.Evidence.Now(c.g, LookAt{c.v.Target, c.g.Metric, c.v.Key, c.v.Value})
	var why string
	if c.sequence, why = c.sequenced(in, l, alpha); c.sequence != nil || why == "" {
		return in, false
	}
	if in.Evidence != nil && in.Evidence.Early[t.Name] {
		c.leaveOpen(ReasonNotEarly, fmt.Sprintf("%s: it has no early decision (%s), and the run ended when other gates were decided",
			c.subject(), why), "run without --until-decided, or make the gate hard: the run then goes on for it")
		return in, true
	}
	if l.Number == 1 {
		c.v.Notes = append(c.v.Notes, "looks: any has no effect at the first look: "+why)
		return in, false
	}
	strict, ok := in.Evidence.Stricter[l.Number]
	if !ok { // an interval for one look would promise too much
		c.leaveOpen(ReasonLater, fmt.Sprintf("%s: this is look %d, and it has no interval for later looks (%s)", c.subject(),
			l.Number, why), "give what is asked now a version (--target-version), which begins anew")
		return in, true
	}
	other := *in
	other.Panels, other.Comparison = strict.Panels, strict.Comparison
	for i := range strict.Panels.Targets {
		if strict.Panels.Targets[i].Name != t.Name {
			continue
		}
		for _, s := range tablesOf(c.g, &strict.Panels.Targets[i]) {
			if s.Key == c.slice.Key && s.Value == c.slice.Value {
				c.slice, c.conf = s, strict.Panels.Confidence
			}
		}
	}
	c.v.Looked = &Looked{Look: l, Alpha: gate.LookAlpha(l.Number), Tasks: c.slice.Cases, Planned: c.slice.Cases}
	c.v.Notes = append(c.v.Notes, fmt.Sprintf("look %d: the interval has a confidence of %s", l.Number,
		percent(1-2*gate.LookAlpha(l.Number))))
	return &other, false
}

// sequenced decides a gate task by task where it may be looked at more than once; nil where it is a
// gate of one look, or has no early decision. why is the reason of the latter.
func (c *claim) sequenced(in *Input, l Look, alpha float64) (s *Sequence, why string) {
	if l.Number == 1 && !l.Declared || c.g.Kind == Zero {
		return nil, ""
	}
	if in.Evidence == nil || in.Evidence.Tasks == nil {
		return nil, "the tasks are not known one by one"
	}
	if s, why = c.g.Sequence(alpha); why != "" {
		return nil, why
	}
	slice, e := panel.SliceID{Key: c.v.Key, Value: c.v.Value}, in.Evidence
	tasks, why := e.Tasks.Sums(c.v.Target, c.g.Metric, slice, e.OrderOf(c.v.Target))
	var base []panel.TaskSum
	if why == "" && s.pair {
		if e.Base == nil {
			return nil, "there is no baseline to compare with"
		}
		base, why = e.Base.Sums(baseOf(in, c.v.Target), c.g.Metric, panel.SliceID{}, e.Order)
	}
	if why != "" {
		return nil, why
	}
	earlier, known := e.Earlier[LookAt{c.v.Target, c.g.Metric, c.v.Key, c.v.Value}]
	if l.Number > 1 && !known && c.v.Key != "" {
		return nil, "the cases of the slice at earlier looks are not known"
	}
	s.Begin(base, earlier)
	s.Feed(tasks)
	above, below := s.Logs()
	planned := e.Planned
	if c.v.Key != "" {
		planned = s.N() // the number of cases in the slice is known only for tasks that were run
	}
	c.v.Notes = append(c.v.Notes,
		"the interval is descriptive: the evidence decides, and it may be looked at after each "+c.task)
	c.v.Looked = &Looked{
		Look: l, Alpha: alpha, After: s.After(), Tasks: s.N(), Planned: max(planned, s.N()),
		Above: above, Below: below, Needed: s.Needed(), Curve: s.curve,
	}
	return s, ""
}

// baseOf is the target of the baseline that a target is compared with.
func baseOf(in *Input, target string) string {
	for i := range targetsCompared(in) {
		if tc := &in.Comparison.Targets[i]; tc.Candidate == target {
			return tc.Baseline
		}
	}
	return target
}

// bySequence is the decision of a sequence, with the coverage of the metric.
func (c *claim) bySequence(have, want float64) gate.Decision {
	if have < want {
		return gate.Decision{Verdict: gate.Inconclusive, Reason: gate.ReasonCoverage}
	}
	return c.sequence.Decision()
}

// odds writes evidence as "41 to 1".
func odds(log float64) string {
	switch x := math.Exp(log); {
	case log >= math.Log(1e6):
		return "over a million to 1"
	case x >= 10:
		return fmt.Sprintf("%.0f to 1", x)
	default:
		return fmt.Sprintf("%.2g to 1", x)
	}
}

// evidenceWords is why a sequence decided or did not. above and below are the two claims, "above the
// bound 0.85".
func (c *claim) evidenceWords(above, below string) string {
	l := c.v.Looked
	after := fmt.Sprintf("after %s", c.tasks(l.Tasks))
	if l.Planned > l.Tasks {
		after = fmt.Sprintf("after %d of %s", l.Tasks, c.tasks(l.Planned))
	}
	enough := odds(l.Needed)
	switch c.v.Verdict {
	case gate.Pass:
		return fmt.Sprintf("%s the evidence is %s for %s, and %s is enough", after, odds(l.Above), above, enough)
	case gate.Fail:
		return fmt.Sprintf("%s the evidence is %s for %s, and %s is enough", after, odds(l.Below), below, enough)
	}
	if own := c.sequence.own; c.sequence.Decision().Reason == ReasonChanged {
		pass, fail := own.Evidence()
		all, alone, evidence := above, below, fail
		if own.Decision().Verdict == gate.Pass {
			all, alone, evidence = below, above, pass
		}
		return fmt.Sprintf("all looks together have enough evidence for %s, but the %s of this one have evidence of %s for %s",
			all, c.tasks(own.N()), odds(evidence), alone)
	}
	return fmt.Sprintf("%s the evidence is %s for %s and %s for %s, and %s decides", after, odds(l.Above), above,
		odds(l.Below), below, enough)
}

// undecided reports whether a reason means a sequence without a decision.
func undecided(reason string) bool { return reason == gate.ReasonUndecided || reason == ReasonChanged }

// cureSequence explains how an undecided sequence continues.
func (c *claim) cureSequence() {
	c.v.Needed, c.v.NeededHalf, c.v.NeededAttempts = 0, 0, 0
	l := c.v.Looked
	n, of := c.lost()
	switch {
	case c.v.Reason == ReasonChanged:
		c.v.Cure = "the target has changed: give what is asked now a version (--target-version), which begins anew"
	case float64(n) > maxLost*float64(of):
		_, c.v.Cure = c.lostWords()
	case l.Tasks < l.Planned && !c.sequence.Hopeless(l.Planned-l.Tasks):
		c.v.Cure = "ask the other " + c.task + "s: a further look keeps the promise of the gate"
	default:
		c.v.Cure = "add " + c.task + "s and look again, which keeps the promise of the gate (callvet plan --looks any)"
	}
}
