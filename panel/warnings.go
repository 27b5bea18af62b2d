// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/callvet/callvet/stats"
)

// Limits of the ground rules for statistics: more than this share left out
// makes a mean doubtful, fewer cases than this make its interval wide.
const (
	maxExcluded = 0.05
	minCases    = 30
)

// RateWarnings lists the doubts about one rate. judged is how many attempts could have had a value;
// 0: not checked.
func RateWarnings(m *Metric, judged int) []string { return rateWarnings(m, judged) }

// percent writes a share with one decimal; with more where it would be rounded to 0 or 100 %.
func percent(share float64) string {
	for digits := 1; ; digits++ {
		s := strconv.FormatFloat(100*share, 'f', digits, 64)
		if v, _ := strconv.ParseFloat(s, 64); digits == 6 || share == 0 || share == 1 || v != 0 && v != 100 {
			return s
		}
	}
}

// rateWarnings lists the doubts about one rate.
func rateWarnings(m *Metric, judged int) []string {
	w := budgetWarnings(m)
	iv := m.Interval
	if judged > 0 && float64(m.Excluded) > maxExcluded*float64(judged) && iv.N > 0 {
		w = append(w, fmt.Sprintf("%d of %d judged attempts have no value and are left out", m.Excluded, judged))
	}
	switch {
	case iv.Status == stats.StatusNoData:
		return append(w, "no data")
	case iv.Status == stats.StatusSingleCluster:
		return append(w, "one case only: no interval")
	case iv.Status == stats.StatusBoundary && iv.Point == 1:
		w = append(w,
			fmt.Sprintf("none of %d is below 100 %%, but a rate of %s %% is possible", iv.N, percent(iv.Lower)))
	case iv.Status == stats.StatusBoundary:
		w = append(w, fmt.Sprintf("none of %d, but a rate of %s %% is possible", iv.N, percent(iv.Upper)))
	case iv.Status == stats.StatusCapped:
		w = append(w, "fewer than 5 cases carry information: interval widened")
	}
	if iv.Clusters < minCases {
		w = append(w, fmt.Sprintf("only %s", plural(iv.Clusters, "case", "cases")))
	}
	return w
}

// AmountWarnings lists the doubts about a mean amount or count; unit is the name of a cluster,
// "case" or "task".
func AmountWarnings(m *Metric, unit string) []string {
	switch iv := m.Interval; iv.Status {
	case stats.StatusSingleCluster:
		return []string{"one " + unit + " only: no interval"}
	case stats.StatusNoSpread:
		return []string{"every " + unit + " has the same: no interval"}
	case stats.StatusBoundary:
		return []string{fmt.Sprintf("none in %s, but a mean of %.3g is possible",
			plural(iv.N, "attempt", "attempts"), iv.Upper)}
	case stats.StatusCapped:
		return []string{fmt.Sprintf("fewer than 5 %ss have any: interval widened", unit)}
	}
	return nil
}

// fewCases and routine match warnings that report no problem.
var (
	fewCases = regexp.MustCompile(`^(only \d+ cases?|one (case|task) only: no interval|` +
		`fewer than 5 (cases carry information|(case|task)s have any): interval widened)$`)
	routine = regexp.MustCompile(`^(no data$|none (of|in) |every (case|task) has the same: |budget kept: |` +
		`from \d+ labels |\d+ of \d+ judged attempts have no value |\d+ tasks have fewer than \d+ attempts )`)
)

// FewCases reports whether a warning of a metric states only that few cases carry it.
func FewCases(warning string) bool { return fewCases.MatchString(warning) }

// Routine reports whether a warning of a metric states only how many values it has and what its interval
// shows, and nothing that went wrong.
func Routine(warning string) bool { return FewCases(warning) || routine.MatchString(warning) }

// SliceWarnings lists what was left out of the whole table. usage: the attempts could report their
// usage.
func SliceWarnings(out *Slice, usage bool) []string {
	var w []string
	v := out.Verdicts
	planned := max(v.Planned(), out.Cells-v.Skipped)
	ran := max(v.Pass+v.Fail+v.Error, out.Cells-v.NotRun) // also without a verdict
	share := func(n, of int) string {
		return fmt.Sprintf("%d of %d attempts (%.1f %%)", n, of, 100*float64(n)/float64(of))
	}
	if float64(v.Error) > maxExcluded*float64(ran) {
		w = append(w, share(v.Error, ran)+
			" ended in an error and are in no mean: above 5 %, the result is inconclusive")
	} else if v.Error > 0 {
		w = append(w, share(v.Error, ran)+" ended in an error and are in no mean")
	}
	if out.Torn > 0 {
		w = append(w, share(out.Torn, out.Cells)+" have fewer step lines than their records count: their calls are lost")
	}
	open := out.NotEvaluated
	if n := v.NotRun - v.Skipped - open.Unjudged; n > 0 {
		w = append(w, share(n, planned)+" did not run")
	}
	if open.Unjudged > 0 {
		w = append(w, share(open.Unjudged, planned)+" ran and could not be judged")
	}
	if open.Passed > 0 {
		w = append(w, share(open.Passed, ran)+
			" passed with assertions that were not evaluated: they passed the others only")
	}
	switch u := out.Usage; {
	case !usage:
	case u.UsageUnknown > 0 && u.UsageUnknown == u.CostUnknown:
		w = append(w, share(u.UsageUnknown, ran)+" have no plausible usage: they are in neither tokens nor cost")
	default:
		if u.UsageUnknown > 0 {
			w = append(w, share(u.UsageUnknown, ran)+" have no plausible usage: they are not in the tokens")
		}
		if u.CostUnknown > 0 {
			w = append(w, share(u.CostUnknown, ran)+" have no known cost: they are not in the cost")
		}
	}
	return w
}

// Plural is a count with its noun.
func Plural(n int, one, many string) string { return plural(n, one, many) }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
