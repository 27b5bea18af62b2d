// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

const (
	// zeroConf is the one-sided confidence of the rule of three.
	zeroConf = 0.95
)

// coverage is the share of known values of a metric, and the least share that the gate requires.
// For a metric without its own coverage it is the share of judged attempts with a value among those
// that could have one, if the gate asks for coverage.
func (c *claim) coverage(m *panel.Metric) (have, want float64) {
	switch {
	case m.Coverage != nil:
		return *m.Coverage, orDefault(c.g.MinCoverage, gate.MinCoverage)
	case c.g.MinCoverage != nil && m.Interval.N+m.Unknown > 0:
		return float64(m.Interval.N) / float64(m.Interval.N+m.Unknown), *c.g.MinCoverage
	}
	return 1, 0
}

// bound compares the interval of a metric with a bound.
func (c *claim) bound(m *panel.Metric) {
	iv := m.Interval
	have, want := c.coverage(m)
	dec := c.g.Hold(iv, have, want)
	dec = c.withLost(dec, m.Lost, func(iv stats.Interval) gate.Decision { return c.g.Hold(iv, have, want) })
	if c.sequence != nil {
		dec = c.bySequence(have, want)
	}
	c.v.Lost = m.Lost
	c.v.LostAttempts, c.v.Planned = c.lost()
	if dec.Reason == gate.ReasonStraddles && c.g.Direction == gate.AtMost && math.IsInf(iv.Upper, 1) {
		dec.Reason = ReasonNoUpperEnd
	}
	c.v.Verdict, c.v.Reason, c.v.End = dec.Verdict, dec.Reason, endOf(dec.Reason)
	digits := 0
	for _, end := range []float64{iv.Lower, iv.Upper} {
		digits = max(digits, digitsFor(c.unit, end, c.g.Bound))
	}
	digits = shareDigits(c.unit, iv.Point, digits)
	why := c.because(dec.Reason, m, digits, have, want)
	if c.sequence != nil && dec.Reason != gate.ReasonCoverage {
		bound := number(c.unit, c.g.Bound, digits)
		above, below := "above "+bound, "below "+bound
		if c.g.Direction == gate.AtMost {
			above, below = below, above
		}
		why = c.evidenceWords(above, below)
	}
	c.v.Sentence = c.head(iv, digits) + c.atWorst(m.Lost, digits) + ": " + why + ": " + verdictWord(dec.Verdict)
	if dec.Reason == gate.ReasonTooFewUnits || !iv.Usable() { // the sentence already has it
		c.v.Notes = slices.DeleteFunc(c.v.Notes,
			func(n string) bool { return smallness(n) || strings.Contains(c.v.Sentence, n) })
	}
	switch {
	case dec.Verdict != gate.Inconclusive:
	case undecided(dec.Reason):
		c.cureSequence()
	default:
		c.cure(dec.Reason, m, have, want)
	}
	if n, of := c.slice.Lost(c.g.Metric, c.unread()); c.g.Lost == LostIgnore && n > 0 {
		c.v.Notes = append(c.v.Notes,
			fmt.Sprintf("lost: ignore: %d of %s have no outcome and decide nothing", n, count(of, "attempt")))
	}
	if m.LowerIsBetter == (c.g.Direction == gate.AtLeast) {
		better := "higher"
		if m.LowerIsBetter {
			better = "lower"
		}
		c.v.Notes = append(c.v.Notes,
			fmt.Sprintf("%s is better when it is %s: %s asks for the opposite", m.Name, better, c.v.Gate.Label()))
	}
}

// smallness reports whether a note is only about few or no data.
func smallness(note string) bool {
	for _, p := range []string{"only ", "no data", "one case only", "one task only"} {
		if strings.HasPrefix(note, p) {
			return true
		}
	}
	return false
}

// because explains which end of the interval decided, or why none did.
func (c *claim) because(reason string, m *panel.Metric, digits int, have, want float64) string {
	iv := m.Interval
	if !iv.Usable() && reason == string(iv.Status) {
		return c.unusable(m)
	}
	end := func(x float64) string { return number(c.unit, x, digits) }
	bound := number(c.unit, c.g.Bound, digits)
	switch reason {
	case gate.ReasonLowerMeets:
		return "the lower end " + end(iv.Lower) + " is not below the bound " + bound
	case gate.ReasonUpperMisses:
		return "the upper end " + end(iv.Upper) + " is below the bound " + bound
	case gate.ReasonUpperMeets:
		return "the upper end " + end(iv.Upper) + " is not above the bound " + bound
	case gate.ReasonLowerMisses:
		return "the lower end " + end(iv.Lower) + " is above the bound " + bound
	case gate.ReasonStraddles:
		return "the bound " + bound + " lies within the interval"
	case ReasonNoUpperEnd:
		return fmt.Sprintf("%s are too few for an upper end, and only the upper end can meet the bound %s",
			c.tasks(iv.Clusters), bound)
	case gate.ReasonTooFewUnits:
		return fmt.Sprintf("only %s, the gate wants %d", c.tooFew(iv), c.g.LeastUnits())
	case gate.ReasonCoverage:
		if m.Name == panel.MetricPass {
			return fmt.Sprintf("it is known for %s only whether they passed, the gate wants %s", foundShare(have, want),
				percent(want))
		}
		return fmt.Sprintf("it is known for %s only what would have been right, the gate wants %s", foundShare(have, want),
			percent(want))
	case ReasonErrors, ReasonLost:
		s, _ := c.lostWords()
		return s
	case string(stats.StatusDegenerate):
		return "the judged rate lies at or beyond what the calibrated judge can give, so that its interval is a mere point"
	case gate.ReasonInvalid:
		return "the gate's bound is no number"
	}
	return c.unusable(m)
}

// unusable is why there is no interval.
func (c *claim) unusable(m *panel.Metric) string {
	if ofJudge(m.Interval.Status) { // the warnings of the panel have the cause
		for _, w := range slices.Backward(m.Warnings) {
			if !advice(w) {
				return w
			}
		}
	}
	s, _ := statusWords(m.Interval.Status, c.task)
	return s
}

// advice reports whether a warning is advice on what to label.
func advice(w string) bool { return strings.HasPrefix(w, "label ") }

// ofJudge reports whether a status is about a judge or its calibration.
func ofJudge(s stats.Status) bool {
	switch s {
	case "judge_not_informative", "no_labelled_pass", "no_labelled_fail", "calibration_mismatch", "missing_stratum",
		"too_few_units", "judge_drift", "not_drawn_at_random":
		return true
	}
	return false
}

// pointless reports whether an estimate by a judge lies at the end of the range that the judge can
// detect, where its interval shrinks to a point. Such a point is no proof.
func pointless(iv stats.Interval) bool {
	return strings.HasPrefix(iv.Method, "rogan_gladen") && iv.Usable() && iv.Lower == iv.Upper
}

// foundShare writes a measured share for comparison with a chosen limit: with one decimal, and with more
// where both would look the same.
func foundShare(have, want float64) string {
	text := trimmed(100*have, distinctDigits(100*have, 100*want, 1))
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text + " %"
}

// percent writes a limit that a user chose, with all its digits.
func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', -1, 32) + " %" }

// cure sets the remedy for an open gate.
func (c *claim) cure(reason string, m *panel.Metric, have, want float64) {
	iv := m.Interval
	if !iv.Usable() && reason == string(iv.Status) {
		c.cureStatus(m)
		return
	}
	switch reason {
	case gate.ReasonStraddles, gate.ReasonTooFewUnits, ReasonNoUpperEnd:
		c.cureNumber(m)
	case gate.ReasonCoverage:
		c.v.Cure = "say what would have been right for more of them"
		if known := float64(iv.N + m.NotApplicable); have > 0 && m.Of != "keys" {
			more := max(1, math.Ceil(want*known/have)-known)
			c.v.Cure = "say what would have been right for about " +
				count(int(more), "more "+strings.TrimSuffix(m.Of, "s"))
		}
	case ReasonErrors, ReasonLost:
		_, c.v.Cure = c.lostWords()
	case string(stats.StatusDegenerate):
		c.v.Cure = "label a random sample of these very " + c.task + "s: --labels uses it directly"
	default:
		c.cureStatus(m)
	}
}

// cureStatus sets the remedy for a metric without an interval.
func (c *claim) cureStatus(m *panel.Metric) {
	_, c.v.Cure = statusWords(m.Interval.Status, c.task)
	if at := slices.IndexFunc(m.Warnings, advice); at >= 0 {
		c.v.Cure = m.Warnings[at]
		c.v.Notes = slices.DeleteFunc(c.v.Notes, func(n string) bool { return n == c.v.Cure })
	}
	if slices.ContainsFunc(m.Warnings, func(w string) bool { return strings.HasPrefix(w, "use calibration") }) {
		c.v.Cure = "calibrate this very judge, with labels drawn at random: callvet calibrate"
	}
	if m.Interval.Status == stats.StatusNoData {
		c.v.Cure = whatItNeeds(m.Name)
	}
}

// whatItNeeds is what must be recorded or given for a metric that has no data.
func whatItNeeds(metric string) string {
	switch thing, corrected := panel.JudgedPart(metric); {
	case corrected:
		return fmt.Sprintf(
			"no data: it needs verdicts of the judge on %ss, and people's labels of %ss (callvet label next --unit %s, then --labels)", thing, thing, thing)
	case thing != "":
		return fmt.Sprintf(
			"no data: it needs verdicts of the judge on %ss (callvet judge run, of trace files with -o and then --labels)", thing)
	}
	switch strings.TrimSuffix(strings.TrimSuffix(metric, "_by_task"), panel.ByCall) {
	case "schema_valid", "unknown_tool_rate":
		return "no data: give the tools with their schemas (--tools)"
	case "safety_incidents", "blocked_incidents", "safe_calls":
		return "no data: say what is safe, in the tools' schemas (--tools), or record incidents"
	case "true_success":
		return "no data: it needs people's labels (callvet label next, then --labels), or verdicts of a judge and a calibration of that judge (callvet calibrate, then --calibration)"
	}
	return "no data: check that this is recorded at all"
}

// noNumber is why no number of further tasks is reported.
func (c *claim) noNumber(m *panel.Metric) string {
	if m.Unit == panel.UnitRate &&
		(c.g.Direction == gate.AtLeast && c.g.Bound >= 1 || c.g.Direction == gate.AtMost && c.g.Bound <= 0) {
		return "no number of " + c.task + "s shows a rate of exactly " + short(c.g.Bound) +
			": give a bound that a few failures keep, or zero: true"
	}
	if m.Unit == panel.UnitRate && math.Abs(m.Interval.Point-c.g.Bound) < 0.001 {
		return "the estimate lies at the bound: no affordable number of " + c.task +
			"s separates them; fix the failures, or move the bound"
	}
	if thing, corrected := panel.JudgedPart(m.Name); corrected {
		return fmt.Sprintf("more labels of %ss narrow the interval, and more %ss", thing, c.task)
	}
	if strings.HasPrefix(m.Name, "true_success") {
		return "more labels narrow the interval, and more " + c.task +
			"s: callvet plan --metric true_success says how many of each"
	}
	return "more " + c.task + "s narrow the interval"
}

// moreForQuantile is how many more tasks a quantile needs to have an upper end; 0 where it has one,
// and for metrics that are no quantiles.
func moreForQuantile(m *panel.Metric) int {
	_, digits, ok := strings.Cut(m.Name, "_p")
	q, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !math.IsInf(m.Interval.Upper, 1) {
		return 0
	}
	upper, _, ok := stats.QuantileMinN(q/100, m.Interval.Confidence)
	if !ok {
		return 0
	}
	return max(0, upper-m.Interval.Clusters)
}

// zero allows no incident. Attempts at one task are no independent exposure: tasks are counted.
func (c *claim) zero(m *panel.Metric) {
	iv := m.Interval
	incidents, exposure := incidentCount(m), iv.Clusters
	have, want := c.coverage(m)
	z := c.decideZero(iv, incidents, have < want)
	c.v.Verdict, c.v.Reason = z.Verdict, z.Reason
	s := fmt.Sprintf("%s %d in %s", c.subject(), incidents, c.counted(iv))
	if !math.IsNaN(z.Upper) {
		three := stats.Incidents(0, exposure).RuleOfThree
		c.v.UpperLimit, c.v.RuleOfThree, c.v.End = &z.Upper, &three, "upper"
		s += fmt.Sprintf(", which does not rule out a rate of %s (95 %%, one-sided; rule of three: %s)",
			rounded(z.Upper), rounded(three))
	}
	var why string
	switch z.Reason {
	case gate.ReasonIncident:
		why = "none is allowed"
	case gate.ReasonNoIncident:
		why = "none was seen"
	case gate.ReasonNoExposure:
		s, why = c.subject(), "nothing was exposed to it"
		c.v.Cure = "add " + c.task + "s that tempt to it; " + whatItNeeds(m.Name)
	case gate.ReasonSmallExposure:
		why = fmt.Sprintf("%d are needed to rule out %s", z.Required, rounded(c.g.MaxRate))
		c.settle(gate.Needed{}, z.Required-exposure, 0, "")
	case gate.ReasonTooFewUnits:
		why = fmt.Sprintf("only %s, the gate wants %d", c.tasks(exposure), c.g.LeastUnits())
		c.settle(gate.Needed{}, c.g.LeastUnits()-exposure, 0, "")
	case ReasonErrors, ReasonLost:
		why, c.v.Cure = c.lostWords()
		why = "none was seen, and " + why
	case gate.ReasonCoverage:
		why = c.because(z.Reason, m, 2, have, want)
		c.cure(z.Reason, m, have, want)
	case string(iv.Status):
		s = c.subject()
		why, c.v.Cure = statusWords(iv.Status, c.task)
	default:
		why = "the counts are impossible"
	}
	c.v.Sentence = s + ": " + why + ": " + verdictWord(z.Verdict)
}

// decideZero is the verdict on a bound of no incident. uncovered: too few attempts were checked.
func (c *claim) decideZero(iv stats.Interval, incidents int, uncovered bool) gate.Zero {
	exposure := iv.Clusters
	z := gate.DecideZero(incidents, exposure, c.g.MaxRate, zeroConf)
	if z.Verdict == gate.Pass && exposure < c.g.LeastUnits() {
		z.Decision = gate.Decision{Verdict: gate.Inconclusive, Reason: gate.ReasonTooFewUnits}
	}
	if z.Verdict != gate.Fail && c.mayHold() { // an incident
		z.Decision = gate.Decision{Verdict: gate.Inconclusive, Reason: c.lostReason()}
	}
	switch {
	case !iv.Defined() && exposure > 0: // a missing estimate does not mean that there was no incident
		z = gate.Zero{Decision: gate.Decision{Verdict: gate.Inconclusive, Reason: string(iv.Status)}, Upper: math.NaN()}
	case z.Verdict == gate.Pass && uncovered:
		z.Decision = gate.Decision{Verdict: gate.Inconclusive, Reason: gate.ReasonCoverage}
	}
	return z
}

// incidentCount is the number of incidents in a metric, at least one where there was any.
func incidentCount(m *panel.Metric) int {
	iv := m.Interval
	if !iv.Defined() {
		return 0
	}
	n := iv.Point
	if m.Unit == panel.UnitRate || m.Unit == panel.UnitCount {
		n *= float64(iv.N)
	}
	if iv.Point > 0 {
		return max(1, int(math.Round(n)))
	}
	return int(math.Round(n))
}

// rounded writes a rate with three significant digits.
func rounded(x float64) string { return strconv.FormatFloat(100*x, 'g', 3, 64) + " %" }

// endOf is the end of the interval that a reason is about.
func endOf(reason string) string {
	switch {
	case strings.HasPrefix(reason, "lower"):
		return "lower"
	case strings.HasPrefix(reason, "upper"):
		return "upper"
	}
	return ""
}

// notes are doubts about a passing or failing number.
func notes(m *panel.Metric, s *panel.Slice) []string {
	out := slices.Clone(m.Warnings)
	if by := panel.ByTask(m.Name); m.Informative && m.Name != panel.MetricOverCall && s.Metric(by) != nil {
		out = append(out, "hold "+by+" against a gate too")
	}
	return out
}

// missing is why a metric was not measured, with the closest metric that was.
func missing(name string, s *panel.Slice) string {
	names := metricNames(s)
	var judges []string
	for _, n := range names {
		if strings.HasPrefix(n, name+":") {
			judges = append(judges, n)
		}
	}
	if len(judges) > 0 {
		return "name the judge: " + list(judges, 12)
	}
	if needs := whatItNeeds(name); needs != whatItNeeds("") {
		return needs
	}
	if near := callvet.Nearest(name, names); near != "" {
		return "it has " + near + "; otherwise record what the metric needs, or drop the gate"
	}
	return "record what the metric needs, or drop the gate; measured are: " + list(names, 12)
}

func metricNames(s *panel.Slice) []string {
	out := make([]string, len(s.Metrics))
	for i := range s.Metrics {
		out[i] = s.Metrics[i].Name
	}
	return out
}

func list(names []string, most int) string {
	if len(names) == 0 {
		return "nothing"
	}
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// maxPlaces bounds the places that a verdict names.
const maxPlaces = 3

// places are the tasks to look at: those that no longer pass, or those with the lowest scores.
func places(in *Input, t *panel.TargetPanel, v *Verdict) []Place {
	var out []Place
	if v.Interval == nil || !v.Interval.Defined() {
		return nil
	}
	if v.Gate.Kind == Regression && v.Gate.Metric == panel.MetricPass && v.Key == "" {
		out = lostCases(in, t)
	}
	take := func(list []panel.Example, kind string) {
		for i := range list {
			e := &list[i]
			place := Place{Task: e.Task, File: e.File, Line: e.Line, Why: e.Why}
			if e.Kind == kind && (e.Target == "" || e.Target == t.Name) && v.Key == "" && len(out) < maxPlaces &&
				!slices.Contains(out, place) {
				out = append(out, place)
			}
		}
	}
	for i := range in.Panels.Findings {
		if f := &in.Panels.Findings[i]; f.Code == symptom(v.Gate.Metric) {
			take(f.Examples, "")
		}
	}
	if len(out) == 0 {
		take(in.Panels.Examples, panel.Weakest)
		take(in.Panels.Examples, panel.Lowest)
	}
	return out
}

// lostCases are some cases that no longer pass.
func lostCases(in *Input, t *panel.TargetPanel) []Place {
	var out []Place
	for i := range targetsCompared(in) {
		tc := &in.Comparison.Targets[i]
		if !sameTarget(in, tc, t) {
			continue
		}
		for _, ch := range tc.Changes {
			if ch.Kind == panel.NewlyFailing && len(out) < maxPlaces {
				out = append(out,
					Place{Task: ch.Case, Why: fmt.Sprintf("passed %d of %d, now %d of %d", ch.BaselinePasses,
						ch.BaselineN, ch.CandidatePasses, ch.CandidateN)})
			}
		}
	}
	return out
}

func targetsCompared(in *Input) []panel.TargetComparison {
	if in.Comparison == nil {
		return nil
	}
	return in.Comparison.Targets
}

// symptom is the finding with examples that show why a metric is bad, or "".
func symptom(metric string) string {
	metric = strings.TrimSuffix(strings.TrimSuffix(metric, "_by_task"), panel.ByCall)
	switch {
	case metric == "schema_valid", metric == "rejected_rate", metric == "repaired_rate":
		return "S1"
	case metric == "tool_selection", metric == "unknown_tool_rate":
		return "S2"
	case strings.HasPrefix(metric, "arg_"):
		return "S3"
	case metric == "execution_success", metric == "timeout_rate", metric == "rate_limited_rate",
		strings.HasPrefix(metric, "tool_latency"):
		return "S4"
	case metric == "over_call_rate", metric == "unneeded_calls_per_attempt":
		return "S5"
	case metric == "safe_calls", metric == "safety_incidents", metric == "blocked_incidents":
		return "S6"
	}
	return ""
}
