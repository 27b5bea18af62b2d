// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// change is a paired difference with its metric.
type change struct {
	*panel.Difference
	panel.Pairing
	// oneSided is how many cases have the metric in only one of the runs.
	oneSided int
}

// regression compares the paired change of a metric with the margin.
func (c *claim) regression(in *Input, t *panel.TargetPanel) {
	d, why := difference(in, t, c.slice, c.g.Metric, c.g.About())
	switch {
	case d == nil && c.tooManyLost():
		why, c.v.Cure = c.lostWords()
		c.leaveOpen(ReasonErrors, c.subject()+": "+why, c.v.Cure)
		return
	case d == nil:
		c.leaveOpen(ReasonNoBaseline, c.subject()+": "+why, "a baseline with the same "+c.task+"s: --baseline")
		return
	case d.Cases == 0 && c.g.Metric != panel.MetricPass:
		c.leaveOpen(ReasonNoMetric, fmt.Sprintf("%s: no %s has it in both runs", c.subject(), c.task), c.unmeasured(d))
		return
	}
	m := c.slice.Metric(c.g.Metric)
	if m != nil && m.Interval.Status == stats.StatusNoGold { // the cases known in both runs are no sample of the rest
		sentence, cure := statusWords(m.Interval.Status, c.task)
		c.v.Notes = notes(m, c.slice)
		c.leaveOpen(string(stats.StatusNoGold), c.subject()+": "+sentence, cure)
		return
	}
	margin, effect := c.g.allowed()
	iv := d.Change
	c.unit = panel.UnitRate
	c.v.Interval, c.v.N, c.v.Units, c.v.Unit, c.v.Of, c.v.P = &iv, d.Cases, d.Cases, panel.UnitRate, c.task+"s", &d.P
	dec := c.holdChange(d)
	c.v.End = c.endOf(dec.Reason, d)
	have, want := 1.0, 0.0
	if m != nil && d.Metric != panel.MetricPass {
		have, want = c.coverage(m)
	}
	var cure string
	switch open, sentence, mend := c.changeOpen(in, &dec, d); {
	case open:
		why, cure = sentence, mend
	case dec.Reason == gate.ReasonTooFewUnits:
		why = fmt.Sprintf("only %s %s in both runs, the gate wants %d", c.tasks(d.Cases), d.known(), c.g.LeastUnits())
	case have < want:
		dec = gate.Decision{Verdict: gate.Inconclusive, Reason: gate.ReasonCoverage}
		why, cure = c.because(dec.Reason, m, 2, have, want), "say what would have been right for more of them"
	case c.sequence != nil:
		c.v.Verdict = dec.Verdict
		why = c.evidenceWords("a loss of less than "+points(margin), "a loss")
	default:
		why, cure = c.regressionWords(dec, d, margin, effect)
	}
	c.v.Verdict, c.v.Reason, c.v.Cure = dec.Verdict, dec.Reason, cure
	if dec.Verdict == gate.Inconclusive {
		c.v.End = ""
		if undecided(dec.Reason) {
			c.cureSequence()
		}
		unmended := []string{ // more tasks do not help
			ReasonErrors, ReasonLost, ReasonRemoved, gate.ReasonCoverage, gate.ReasonUndecided, ReasonChanged,
		}
		if !slices.Contains(unmended, dec.Reason) && iv.Usable() {
			c.cureChange(d, cure)
		}
	}
	c.changeSentence(d, margin, why)
}

// holdChange is the decision on a change: by the evidence of a sequence, where there is one.
func (c *claim) holdChange(d *change) gate.Decision {
	if c.sequence == nil {
		return c.g.HoldChange(d.Difference, &d.Pairing)
	}
	p := min(1, 2*c.sequence.P()) // as the two-sided one of an interval
	c.v.P = &p
	return c.sequence.Decision()
}

// removed is how many tasks of a baseline trace file are missing now, where these are more than 5
// %. A trace file has no plan that permits it. Source: Statistics specification, section 16.4.
func (c *claim) removed(in *Input, d *change) int {
	n := len(in.Comparison.OnlyBaseline)
	if c.g.RemovedOK || in.Task != "task" || float64(n) <= maxLost*float64(n+max(d.Planned, d.Cases)) {
		return 0
	}
	return n
}

// changeOpen leaves a decision on a change open where too much is missing or lost, with the reason.
func (c *claim) changeOpen(in *Input, dec *gate.Decision, d *change) (open bool, why, cure string) {
	switch n := c.removed(in, d); {
	case dec.Verdict != gate.Inconclusive && n > 0:
		*dec = gate.Decision{Verdict: gate.Inconclusive, Reason: ReasonRemoved}
		why = fmt.Sprintf("%d of %s of the baseline are missing now, more than 5 %%", n, c.tasks(n+d.Planned))
		return true, why, "removed: ok on the gate, where that is on purpose"
	case dec.Verdict == gate.Pass && c.tooManyLost():
		*dec = gate.Decision{Verdict: gate.Inconclusive, Reason: c.lostReason()}
		why, cure = c.lostWords()
		return true, why, cure
	case c.changeLost(in, dec, d):
		why, cure = c.changeLostWords(d)
		return true, why, cure
	}
	return false, "", ""
}

// changeSentence writes the sentence about the decision on a change.
func (c *claim) changeSentence(d *change, margin float64, why string) {
	if d.oneSided > 0 {
		c.v.Notes = append(c.v.Notes,
			fmt.Sprintf("%s without %s on one side and not compared", c.tasks(d.oneSided), d.Metric))
	}
	head := c.subject() + " against the baseline"
	if d.Change.Defined() {
		head = c.changed(d, margin)
	}
	c.v.Sentence = head + ": " + why + ": " + verdictWord(c.v.Verdict)
}

// against reports how a metric with a bound changed from the baseline, if there is one.
func (c *claim) against(in *Input, t *panel.TargetPanel) {
	d, _ := difference(in, t, c.slice, c.g.Metric, panel.TasksLikeThese)
	if d == nil || !d.Change.Defined() {
		return
	}
	iv := d.Change
	c.v.Change, c.v.Against = &iv, c.changed(d, gate.Margin)
	if d.oneSided > 0 {
		c.v.Against += ", " + c.tasks(d.oneSided) + " without it on one side"
	}
	c.v.Against += "; no gate is about the change"
}

// gain is a change with the sign such that more is better.
func gain(iv stats.Interval, lowerIsBetter bool) stats.Interval {
	if lowerIsBetter {
		iv.Point, iv.Lower, iv.Upper = -iv.Point, -iv.Upper, -iv.Lower
	}
	return iv
}

// endOf names the end of the change that decided.
func (c *claim) endOf(reason string, d *change) string {
	switch end := endOf(reason); {
	case !d.LowerIsBetter || end == "":
		return end
	case end == "lower":
		return "upper"
	}
	return "lower"
}

// unmeasured is what a comparison without a number lacks.
func (c *claim) unmeasured(d *change) string {
	if d.oneSided > 0 {
		return fmt.Sprintf("%s have it on one side only: record it in both, with the same gold", c.tasks(d.oneSided))
	}
	if m := c.slice.Metric(c.g.Metric); m != nil {
		_, cure := statusWords(m.Interval.Status, c.task)
		return cure
	}
	return missing(c.g.Metric, c.slice)
}

// known is what a case needs for this comparison.
func (d *change) known() string {
	if d.Metric == panel.MetricPass {
		return "judged"
	}
	return "measured"
}

// changed writes a change: "arg_em changed by -0.12 [-0.20, -0.04], by 60 tasks measured in both
// runs"; for amounts in per cent of the baseline.
func (c *claim) changed(d *change, margin float64) string {
	iv := d.Change
	write := d.digits(margin)
	s := fmt.Sprintf("%s changed by %s [%s, %s], ", c.subject(), write(iv.Point), write(iv.Lower), write(iv.Upper)) +
		c.over(d)
	if d.Relative && d.Baseline.Defined() && d.Candidate.Defined() {
		changeSentence := func(x float64) string { return number(d.Unit, x, digitsFor(d.Unit, x, d.Baseline.Point)) }
		s += fmt.Sprintf(" (from %s to %s)", changeSentence(d.Baseline.Point), changeSentence(d.Candidate.Point))
	}
	return s
}

// over is the number of tasks that a change was measured on.
func (c *claim) over(d *change) string {
	if d.Unpaired != nil {
		return fmt.Sprintf("by %s before and %d now, which are not paired", c.tasks(d.Unpaired[0]), d.Unpaired[1])
	}
	about := ""
	if c.v.Population == panel.ThisSuite {
		about = " of this suite"
	}
	return fmt.Sprintf("by %s%s %s in both runs", c.tasks(d.Cases), about, d.known())
}

// digits returns a writer of changes with enough digits to distinguish the deciding ends from 0 and
// from the margin.
func (d *change) digits(margin float64) func(float64) string {
	iv := gain(d.Change, d.LowerIsBetter)
	if !d.Relative {
		n := max(digitsFor(panel.UnitRate, iv.Upper, 0), digitsFor(panel.UnitRate, iv.Lower, -margin))
		return func(x float64) string { return fmt.Sprintf("%+.*f", n, x) }
	}
	n := max(distinctDigits(100*iv.Upper, 0, 1), distinctDigits(100*iv.Lower, -100*margin, 1))
	return func(x float64) string {
		if math.IsInf(x, 0) {
			return "none"
		}
		return fmt.Sprintf("%+.*f %%", n, 100*x)
	}
}

func (c *claim) regressionWords(d gate.Decision, ch *change, margin, effect float64) (why, cure string) {
	iv, write := ch.Change, ch.digits(margin)
	share := func(x float64) string {
		switch {
		case ch.Relative:
			return percent(x) + " of the baseline"
		case ch.Unit == panel.UnitRate:
			return points(x)
		}
		return amount(ch.Unit, x)
	}
	switch {
	case d.Verdict == gate.Fail && ch.LowerIsBetter:
		return fmt.Sprintf("the lower end %s is above 0 and the rise is more than %s", write(iv.Lower),
			share(effect)), ""
	case d.Verdict == gate.Fail:
		return fmt.Sprintf("the upper end %s is below 0 and the drop is more than %s", write(iv.Upper),
			share(effect)), ""
	case d.Verdict == gate.Pass && ch.LowerIsBetter:
		return fmt.Sprintf("the upper end %s is below the allowed rise +%s", write(iv.Upper), share(margin)), ""
	case d.Verdict == gate.Pass:
		return fmt.Sprintf("the lower end %s is above the allowed loss -%s", write(iv.Lower), share(margin)), ""
	case d.Reason == ReasonNoBase:
		return "the baseline may have none of it, so a change in percent has no meaning", "give " + ch.Metric +
			" a bound, or more " + c.task + "s"
	case iv.Status == stats.StatusZeroDenominator && !ch.Relative:
		return "one of the runs makes no call, so that it has no rate",
			"compare unneeded_calls_per_attempt with the baseline"
	case iv.Status == stats.StatusZeroDenominator:
		return "the baseline has none of it, so that a relative change is undefined", "give " + ch.Metric + " a bound"
	case !iv.Usable():
		return statusWords(iv.Status, c.task)
	case d.Reason == gate.ReasonInvalid:
		return "the gate's margin is no number", ""
	case ch.LowerIsBetter:
		return fmt.Sprintf("a rise of %s is not ruled out, and no rise is not either", share(margin)), "more " +
			c.task + "s narrow the interval"
	}
	return fmt.Sprintf("a loss of %s is not ruled out, and no loss is not either", share(margin)), "more " + c.task +
		"s narrow the interval"
}

// points writes a difference of two rates.
func points(x float64) string {
	n := strings.TrimSuffix(percent(x), " %")
	if n == "1" {
		return n + " point"
	}
	return n + " points"
}

// difference finds the comparison of a table; for the pass rate of a slice with all cases it is the
// overall comparison.
func difference(in *Input, t *panel.TargetPanel, s *panel.Slice, metric string,
	about panel.Population,
) (*change, string) {
	d := in.Comparison
	if d != nil && about == panel.ThisSuite {
		d = d.Suite
	}
	if d == nil {
		return nil, "there is no baseline to compare with"
	}
	for i := range d.Targets {
		tc := &d.Targets[i]
		if !sameTarget(in, tc, t) {
			continue
		}
		if metric == panel.MetricPass {
			return passed(tc, t, s)
		}
		return measured(tc, s, metric)
	}
	return nil, "the baseline does not have this target"
}

func passed(tc *panel.TargetComparison, t *panel.TargetPanel, s *panel.Slice) (*change, string) {
	p, _ := panel.PairingOf(panel.MetricPass)
	if s.Key == "" || s.Cases == t.Overall.Cases {
		return &change{&tc.Overall, p, 0}, ""
	}
	for j := range tc.Slices {
		if d := &tc.Slices[j]; d.Key == s.Key && d.Value == s.Value {
			return &change{d, p, 0}, ""
		}
	}
	return nil, "too few cases of " + sliceName(s.Key, s.Value) + " are in both runs, or all that are in both have it"
}

func measured(tc *panel.TargetComparison, s *panel.Slice, metric string) (*change, string) {
	for j := range tc.Measured {
		m := &tc.Measured[j]
		if m.Metric != metric {
			continue
		}
		if s.Key == "" {
			return &change{&m.Overall, m.Pairing, m.OneSided}, ""
		}
		for k := range m.Slices {
			if d := &m.Slices[k]; d.Key == s.Key && d.Value == s.Value {
				return &change{d, m.Pairing, 0}, ""
			}
		}
		return nil, "no case of " + sliceName(s.Key, s.Value) + " has it in both runs"
	}
	return nil, "the baseline does not measure it"
}

// sameTarget reports whether a comparison is about a target; one without a name is
// the only one of its file.
func sameTarget(in *Input, tc *panel.TargetComparison, t *panel.TargetPanel) bool {
	return tc.Candidate == t.Name || t.Name == "" && len(in.Panels.Targets) == 1 && len(in.Comparison.Targets) == 1
}

// cureChange writes how many more shared tasks settle a change, one way or the other, or how many
// attempts at each of them.
func (c *claim) cureChange(d *change, otherwise string) {
	if c.g.About() == panel.ThisSuite {
		c.v.Cure = "more attempts at each " + c.task + " on both sides narrow the interval: callvet run --repeat"
		return
	}
	patient := *c.g
	patient.MinUnits = new(int) // only the distance of the interval from deciding counts
	margin, _ := c.g.allowed()
	least := c.g.LeastUnits() - d.Cases
	if d.Fell+d.Rose == 0 && !d.Relative && margin > 0 && margin < 1 {
		if c.settle(gate.Needed{}, max(least, gate.CasesUnchanged(margin, 1-d.Change.Confidence)-d.Cases), 0,
			otherwise); c.v.Needed > 0 {
			c.v.Cure += ", if none of those changes either"
		}
		return
	}
	// The decision is about the gain; the interval is the change.
	after := panel.Difference{Cases: d.Cases}
	n := gate.NeededForMean(d.Change, func(iv stats.Interval) gate.Verdict {
		after.Change = iv
		return patient.HoldChange(&after, &d.Pairing).Verdict
	})
	c.settle(n, least, attemptsForChange(d, n.Growth), otherwise)
}

// correct withdraws claims of a regression that do not hold after the correction for the number of
// possible claims. within: these are the values of one key.
func correct(out []Verdict, how Correction, within bool) {
	if how == "" {
		return
	}
	var p []float64
	var at []int
	for i := range out {
		if v := &out[i]; v.P != nil && v.Interval.Usable() {
			p, at = append(p, *v.P), append(at, i)
		}
	}
	if len(p) == 0 {
		return
	}
	adjusted, name, reason := stats.Holm(p), "Holm", ReasonHolm
	if how == BH {
		adjusted, name, reason = stats.BH(p), "Benjamini-Hochberg", ReasonBH
	}
	for k, q := range adjusted {
		v := &out[at[k]]
		among := "comparisons"
		if v.PAdjusted = &q; within {
			among, v.PHolm, v.PAdjusted = "values", &q, nil
		}
		level := 1 - v.Interval.Confidence
		if v.Looked != nil {
			level = 2 * v.Looked.Alpha
		}
		if v.Verdict != gate.Fail || q < level || q == level && v.Looked != nil {
			continue
		}
		v.Verdict, v.Reason, v.End = gate.Inconclusive, reason, ""
		v.Sentence = v.Sentence[:len(v.Sentence)-len("failed")] +
			fmt.Sprintf("but one of %d %s changes that far by chance too often (p %.2f after %s): inconclusive", len(p),
				among, q, name)
		v.Cure = "compare this one alone with the baseline, on fresh attempts"
	}
}
