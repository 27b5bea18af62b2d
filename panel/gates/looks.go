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
	// Tasks has the attempts of this look and of all earlier ones, Base those of the baseline; nil
	// without one.
	Tasks, Base *panel.Ledger
	// Order are the ids of the tasks in the order that was fixed before they were asked.
	Order []string
	// Planned is how many tasks could have been asked of a target.
	Planned int
	// Looks are the looks at each target, gate by gate.
	Looks map[LookAt]Look
	// Early are the targets that were asked until their gates were decided, and not to the end.
	Early map[string]bool
	// Stricter is what gates without a sequence decide on at later looks, by the number of the look.
	Stricter map[int]Stricter
}

// Stricter are panels and, with a baseline, a comparison whose intervals have the confidence of a later
// look: 1 - 2·gate.LookAlpha.
type Stricter struct {
	Panels     *panel.Panels
	Comparison *panel.Comparison
}

// LookAt is what is looked at.
type LookAt struct{ Target, Metric, Key, Value string }

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
	// After is the number of tasks that decided the gate, 0 where it is undecided; Tasks is how many it
	// looked at, Planned how many could have been asked.
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
	g *Gate
	// flip: less is better. pair: the tasks are differences of a baseline.
	flip, pair bool
	required   int // exposure that lets a gate on incidents pass; 0: no number does
	incident   bool
	lost       bool
	curve      [][3]float64
	stride     int
}

// Sequence starts to decide the gate task by task, with an error rate of alpha for each side. why is
// not empty where the gate has no early decision.
func (g *Gate) Sequence(alpha float64) (s *Sequence, why string) {
	s = &Sequence{g: g, stride: 1}
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
	if p, unpaired := panel.PairingOf(g.Metric); unpaired != "" {
		return nil, "it has no mean of each task in [0,1]"
	} else if p.Unit != panel.UnitRate && g.Kind != Zero {
		return nil, "it is an amount"
	}
	rule.Alpha, rule.MinUnits, rule.MaxLost = alpha, g.LeastUnits(), maxLost
	var ok bool
	if s.Sequence, ok = gate.NewSequence(rule); !ok {
		return nil, "its bound is not between 0 and 1"
	}
	return s, ""
}

// Add takes the mean of the next task: of the metric, or of the change of it in [-1,1].
func (s *Sequence) Add(m panel.TaskMean) {
	if s.Decided() {
		return
	}
	t := gate.Task{Low: m.Low, High: m.High}
	if s.g.Lost == LostIgnore && m.Values > 0 && m.High > m.Low {
		known := 1 - (m.High - m.Low)
		if s.pair {
			known = 1
			t.Low, t.High = (m.Low+m.High)/2, (m.Low+m.High)/2
		} else {
			t.Low = m.Low / known
			t.High = t.Low
		}
	} else if s.g.Lost == LostIgnore && m.Values == 0 {
		return
	}
	if s.pair {
		t.Low, t.High = (1+t.Low)/2, (1+t.High)/2
	}
	if s.flip {
		t = t.Flipped()
	}
	s.incident = s.incident || s.g.Kind == Zero && m.Low > 0
	s.lost = s.lost || m.High > m.Low
	s.Sequence.Add(t)
	s.point()
}

// point keeps the evidence for the curve: every task, and with more than 200 points every second one,
// every fourth one, and so on.
func (s *Sequence) point() {
	n := s.N()
	if n%s.stride != 0 && !s.Decided() {
		return
	}
	above, below := s.Evidence()
	s.curve = append(s.curve, [3]float64{float64(n), min(above, mostEvidence), min(below, mostEvidence)})
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

// Decided reports whether the gate passed or failed.
func (s *Sequence) Decided() bool {
	return s.Sequence.Decided() || s.required > 0 && s.N() >= s.required && !s.incident && !s.lost
}

// Hopeless reports whether no outcome of so many further tasks decides the gate.
func (s *Sequence) Hopeless(left int) bool {
	if s.g.Kind == Zero { // each further task may have an incident
		return !s.Decided() && left == 0
	}
	return s.Sequence.Hopeless(left)
}

// look is the number of the present look at the gate of a claim, and the error rate of its sides.
func (c *claim) look(in *Input) (l Look, alpha float64) {
	l = Look{Number: 1, Declared: c.g.Looks == LooksAny}
	if in.Evidence == nil {
		return l, gate.Alpha
	}
	at := LookAt{c.v.Target, c.g.Metric, c.v.Key, c.v.Value}
	if known, ok := in.Evidence.Looks[at]; ok {
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
	l, alpha := c.look(in)
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
	if !ok {
		return in, false
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
	var means []panel.TaskMean
	slice := panel.SliceID{Key: c.v.Key, Value: c.v.Value}
	e := in.Evidence
	if s.pair {
		if e.Base == nil {
			return nil, "there is no baseline to compare with"
		}
		means, why = panel.MeanChanges(e.Base, e.Tasks, baseOf(in, c.v.Target), c.v.Target, c.g.Metric, slice, e.Order)
	} else {
		means, why = e.Tasks.Means(c.v.Target, c.g.Metric, slice, e.Order)
	}
	if why != "" {
		return nil, why
	}
	for _, m := range means {
		s.Add(m)
	}
	above, below := s.Evidence()
	planned := e.Planned
	if c.v.Key != "" {
		planned = len(means)
	}
	c.v.Notes = append(c.v.Notes,
		"the interval is descriptive: the evidence decides, and it may be looked at after each "+c.task)
	c.v.Looked = &Looked{
		Look: l, Alpha: alpha, After: s.After(), Tasks: s.N(), Planned: max(planned, s.N()),
		Above: min(above, mostEvidence), Below: min(below, mostEvidence), Needed: s.Needed(), Curve: s.curve,
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
	return fmt.Sprintf("%s the evidence is %s for %s and %s for %s, and %s decides", after, odds(l.Above), above,
		odds(l.Below), below, enough)
}

// cureSequence says how an undecided sequence goes on.
func (c *claim) cureSequence() {
	c.v.Needed, c.v.NeededHalf, c.v.NeededAttempts = 0, 0, 0
	if l := c.v.Looked; l.Tasks < l.Planned {
		c.v.Cure = "ask the other " + c.task + "s: a further look keeps the promise of the gate"
		return
	}
	c.v.Cure = "add " + c.task + "s and look again, which keeps the promise of the gate (callvet plan --looks any)"
}
