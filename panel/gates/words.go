// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// amount writes a bound for people, with its unit; shares have at least two digits.
func amount(unit panel.Unit, x float64) string {
	if unit == panel.UnitRate || unit == panel.UnitUSD || unit == "" && x <= 1 {
		return number(unit, x, max(2, decimals(x)))
	}
	return number(unit, x, decimals(x))
}

// number writes a number with exactly these digits after the point, and its unit.
func number(unit panel.Unit, x float64, digits int) string {
	s := trimmed(x, shareDigits(unit, x, digits))
	switch {
	case math.IsInf(x, 0):
		return "none"
	case unit == panel.UnitUSD:
		return "$" + s
	case unit == panel.UnitRate || unit == panel.UnitCount || unit == "":
		return s
	}
	return s + " " + string(unit)
}

// decimals is the number of decimals of a number as written by a user, at most 4: 0.985 has 3.
func decimals(x float64) int {
	_, after, _ := strings.Cut(strings.TrimRight(trimmed(x, 4), "0"), ".")
	return len(after)
}

// trimmed rounds a number to these digits after the point. A number that rounds to 0 has no sign:
// otherwise -0.001 would read as below 0.00.
func trimmed(x float64, digits int) string {
	s := strconv.FormatFloat(x, 'f', digits, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}

func short(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func unitName(u panel.Unit) string {
	switch u {
	case panel.UnitRate:
		return "a share"
	case panel.UnitMS:
		return "milliseconds"
	case panel.UnitUSD:
		return "US dollars"
	case panel.UnitCount:
		return "a count"
	}
	return string(u)
}

// shareDigits is how many digits a share needs so that it is not shown as 0 or 1 unless it is; at
// most for one in a million.
func shareDigits(unit panel.Unit, x float64, digits int) int {
	if unit != panel.UnitRate {
		return digits
	}
	for d := digits; d <= 6; d++ {
		if s := trimmed(x, d); s != trimmed(0, d) && s != trimmed(1, d) {
			return d
		}
	}
	return digits
}

// digitsFor is how many digits distinguish an end of an interval from a bound that it does not
// equal, so that no sentence reads "0.90 is below 0.90".
func digitsFor(unit panel.Unit, end, bound float64) int {
	digits := max(2, decimals(bound))
	switch {
	case unit == panel.UnitUSD:
		digits = max(4, digits)
	case unit != panel.UnitRate && bound >= 100:
		digits = decimals(bound)
	}
	return distinctDigits(end, bound, digits)
}

// distinctDigits is the least number of digits, from digits on, that distinguishes two numbers.
func distinctDigits(end, bound float64, digits int) int {
	if end == bound || math.IsInf(end, 0) {
		return digits
	}
	for digits < 9 && trimmed(end, digits) == trimmed(bound, digits) {
		digits++
	}
	return digits
}

// head is a metric with its interval and its counts: "arg_em 0.80 [0.77, 0.83], by 512 calls of 200
// tasks (n_eff 240)".
func (c *claim) head(iv stats.Interval, digits int) string {
	n := c.subject()
	if !iv.Defined() {
		return n
	}
	s := n + " " + number(c.unit, iv.Point, digits)
	if iv.Usable() || iv.Status == stats.StatusCensored {
		s += " [" + c.bare(iv.Lower, digits) + ", " + c.bare(iv.Upper, digits) + "]"
	}
	return s + ", by " + c.counted(iv) + worth(iv, c.v.N, c.v.Correlation)
}

func (c *claim) bare(x float64, digits int) string {
	if math.IsInf(x, 0) {
		return "none"
	}
	return trimmed(x, shareDigits(c.unit, x, digits))
}

func (c *claim) subject() string {
	if c.v.Key != "" {
		return c.g.Metric + " of " + c.v.Slice()
	}
	return c.g.Metric
}

// counted is the counts of a metric: "512 calls of 200 tasks".
func (c *claim) counted(iv stats.Interval) string {
	if l := c.v.Labelled; l != nil {
		return l.Count(iv.N, c.task)
	}
	tasks := c.tasks(iv.Clusters)
	of := c.v.Of
	if of == "" || of == c.task+"s" || of == "cases" || of == "tasks" {
		return tasks
	}
	return count(max(iv.N, c.v.N), strings.TrimSuffix(of, "s")) + " of " + tasks
}

// tooFew names the count that is below the gate's least number: labels, or tasks.
func (c *claim) tooFew(iv stats.Interval) string {
	switch l := c.v.Labelled; {
	case l == nil, l.Elsewhere && iv.N > iv.Clusters: // the run has fewer tasks than there are labels
		return c.tasks(iv.Clusters)
	case iv.N > iv.Clusters: // calls or turns of one task are correlated
		return "labels of " + c.tasks(iv.Clusters)
	}
	return count(iv.N, "label")
}

// worth is the text for the effective number of observations, where it differs from n, with the
// correlation where it was measured.
func worth(iv stats.Interval, n int, alike *stats.Correlation) string {
	var parts []string
	if iv.NEff > 0 && math.Round(iv.NEff) != float64(max(n, iv.N)) {
		parts = append(parts, fmt.Sprintf("n_eff %.0f", iv.NEff))
	}
	if alike != nil {
		parts = append(parts, panel.CorrelationText(*alike))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func (c *claim) tasks(n int) string { return count(n, c.task) }

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// statusWords is why a number has no usable interval, and what would fix it.
func statusWords(status stats.Status, task string) (sentence, cure string) {
	switch string(status) {
	case string(stats.StatusNoData):
		return "nothing was measured", whatItNeeds("")
	case string(stats.StatusNoGold):
		return "nothing says what would have been right",
			"add gold calls or labels: without them this cannot be measured"
	case string(stats.StatusSingleCluster):
		return "a single " + task + " has no interval", "more " + task + "s"
	case string(stats.StatusNoSpread):
		return "every " + task + " has the same, so that nothing shows how far another may be from it", "measure " +
			task + "s that differ; a limit that each attempt must keep belongs to the cases"
	case string(stats.StatusZeroDenominator):
		return "it is a ratio over nothing", "nothing it is divided by happened: check that this is recorded at all"
	case string(stats.StatusFewAttempts):
		return "a gate about this suite needs two attempts at each " + task +
			" on both sides", "callvet run --repeat 2, on both sides"
	case string(stats.StatusNotByAttempt):
		return "it has not one yes or no for each attempt, so that nothing shows how attempts vary within a " +
			task, "population: tasks like these"
	case "lost_labels":
		return "too many of the outputs that were drawn for labelling have no usable label",
			"label what is missing, and settle labels that disagree: callvet label next"
	case "not_drawn_at_random":
		return "there is no judge, and the labels are no random sample of these " + task + "s", "label " + task +
			"s drawn at random: callvet label next"
	case string(stats.StatusTooFew):
		return "there are too few " + task + "s for an interval", "more " + task + "s"
	case string(stats.StatusCensored):
		return "it lies among the values cut off at their limit, so that the truth is only known to be above",
			"raise the time limit, or mend what times out"
	case string(stats.StatusInvalid):
		return "the counts are impossible", "the input is damaged: make the panels again"
	case "judge_not_informative":
		return "the judge is no better than chance (sensitivity + specificity is not above 1), so that its verdicts say nothing about the truth", "another judge, or human labels on these " + task + "s"
	case "no_labelled_pass":
		return "no " + task + " that people passed is labelled, so that the judge's sensitivity is unknown", "label " +
			task + "s that are right"
	case "no_labelled_fail":
		return "no " + task + " that people failed is labelled, so that the judge's specificity is unknown", "label " +
			task + "s that are wrong"
	case "calibration_mismatch":
		return "the calibration does not fit the judged results", "label a random sample of these very " + task +
			"s: --labels uses it directly"
	case "judge_drift":
		return "the judge said something else of outputs that are the same",
			"judge them again, then label a random sample of these very " + task + "s"
	case "missing_stratum":
		return "a stratum has no labels", "label " + task + "s of every stratum"
	case "too_few_units":
		return "there are too few labels", "label more " + task + "s"
	}
	return "its interval cannot be used (" + string(status) + ")", "more " + task + "s"
}

func verdictWord(v gate.Verdict) string {
	switch v {
	case gate.Pass:
		return "passed"
	case gate.Fail:
		return "failed"
	}
	return "inconclusive"
}

// conclude is the sentence about the whole report.
func conclude(r *Report) string {
	passed, failed, open, soft := 0, 0, 0, 0
	var first string
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		switch {
		case v.Verdict == gate.Pass:
			passed++
			continue
		case !v.Gate.hard():
			soft++
			continue
		case v.Verdict == gate.Fail:
			failed++
		default:
			open++
		}
		if first == "" && v.Verdict == r.Verdict {
			first = v.Sentence
			if several(r.Verdicts) && v.Target != "" {
				first = v.Target + ": " + first
			}
		}
	}
	total := len(r.Verdicts)
	var s string
	switch {
	case total == 0:
		return "inconclusive: no gate was checked"
	case r.Verdict == gate.Pass:
		s = fmt.Sprintf("passed: %d of %s passed", passed, count(total, "check"))
	case r.Verdict == gate.Fail:
		s = fmt.Sprintf("failed: %d of %s failed; %s", failed, count(total, "check"), first)
	case open == 0:
		s = "inconclusive: no gate is hard, so that nothing can pass or fail"
	default:
		s = fmt.Sprintf("inconclusive: %d of %s cannot be decided; %s", open, count(total, "check"), first)
	}
	if soft > 0 {
		s += fmt.Sprintf(" (%s not passed)", count(soft, "soft check"))
	}
	return s
}

// several reports whether the verdicts are about more than one target.
func several(vs []Verdict) bool {
	return slices.ContainsFunc(vs, func(v Verdict) bool { return v.Target != vs[0].Target })
}
