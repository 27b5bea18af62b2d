// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// Kind is what a gate compares its metric with.
type Kind string

// The kinds. The zero value is Bound.
const (
	// Bound is a number that an end of the interval must reach.
	Bound Kind = "bound"
	// Zero allows no incident at all.
	Zero Kind = "zero"
	// Regression allows the loss of a margin against a baseline.
	Regression Kind = "regression"
	// Ratchet limits how many cases that passed in the baseline may fail now: NewlyFailing.
	Ratchet Kind = "ratchet"
)

// Severity is whether a gate may stop a build.
type Severity string

// The severities. The zero value is Hard.
const (
	Hard Severity = "hard"
	Soft Severity = "soft"
)

// Lost is the effect of lost attempts on a gate.
type Lost string

// LostIgnore makes a gate decide on the attempts with an outcome, even if others are lost.
const LostIgnore Lost = "ignore"

// Correlation is what a gate assumes about the correlation of the attempts at a task.
type Correlation string

// CorrelationMeasured uses the correlation measured in earlier runs of the suite instead of 1.
const CorrelationMeasured Correlation = "measured"

// Correction is how regressions that several gates claim are corrected for their
// number. A pass needs none.
type Correction string

// The corrections.
const (
	// Holm limits the probability that any claim is false to the error rate of one gate.
	Holm Correction = "holm"
	// BH limits the expected share of false claims to the error rate of one gate.
	BH Correction = "bh"
)

// Every is the value of a slice that means each value of the key.
const Every = "*"

// Gate is one condition on one metric.
type Gate struct {
	// Name is the gate's name in reports; empty: its condition.
	Name   string `json:"name,omitempty"`
	Metric string `json:"metric"`
	// Key and Value name a slice; both are empty for everything, Value is Every
	// for each value of the key.
	Key   string `json:"key,omitempty"`
	Value string `json:"value,omitempty"`
	// Target is a name of the run; empty for all that are not a mere floor.
	Target    string         `json:"target,omitempty"`
	Kind      Kind           `json:"kind"`
	Direction gate.Direction `json:"direction,omitempty"`
	// Bound is in Unit; empty: the unit of the metric.
	Bound    float64    `json:"bound"`
	Unit     panel.Unit `json:"unit,omitempty"`
	Severity Severity   `json:"severity"`
	// MinUnits is the least number of tasks; nil means gate.MinUnits, for zero gates 1. MinCoverage
	// is the least share of values with a known right answer (panel.Metric.Coverage). Nil means
	// gate.MinCoverage for metrics with a coverage, and no limit for others.
	MinUnits    *int     `json:"min_n,omitempty"`
	MinCoverage *float64 `json:"min_coverage,omitempty"`
	// Margin and MinEffect belong to Regression; nil means the defaults of stats/gate.
	Margin    *float64 `json:"margin,omitempty"`
	MinEffect *float64 `json:"min_effect,omitempty"`
	// MaxRate, for Zero, is the rate that the exposure must exclude; 0 for none.
	MaxRate float64 `json:"max_rate,omitempty"`
	// Attempts, for Ratchet, is how many attempts at a case each side needs; 0 means 2.
	Attempts int `json:"attempts,omitempty"`
	// RemovedOK, for Regression, permits that tasks of the baseline are missing now.
	RemovedOK bool `json:"removed_ok,omitempty"`
	// Population, for Regression, is the population of the change; "" is panel.TasksLikeThese.
	Population panel.Population `json:"population,omitempty"`
	// Lost is LostIgnore where lost attempts do not prevent a verdict.
	Lost Lost `json:"lost,omitempty"`
	// Correlation, for Bound, is CorrelationMeasured where the correlation of earlier runs replaces
	// 1.
	Correlation Correlation `json:"correlation,omitempty"`
	// Looks is LooksAny where the gate may be looked at any number of times.
	Looks Looks `json:"looks,omitempty"`
	// Position is the place of the gate in its file.
	Position callvet.Position `json:"position"`
}

// Input is the data that gates are compared with.
type Input struct {
	Panels *panel.Panels
	// Comparison is the paired difference from a baseline; nil without one.
	Comparison *panel.Comparison
	Policy     gate.Policy
	// Correction corrects for the number of possible claims of regressions; "" corrects only among
	// the values of one key.
	Correction Correction
	// Cases has the attempts at each case, for gates of KeyCase; nil where no gate has that key.
	// Facts are the targets with fixed answers: recorded and scripted ones.
	Cases *panel.Ledger
	Facts []string
	// Alike are the correlations of attempts in earlier runs, for gates with CorrelationMeasured. A
	// missing one was not measured.
	Alike []panel.Alike
	// Keys are the slice keys that exist, whether or not they have a table here.
	Keys []string
	// Evidence belongs to gates that are looked at more than once; nil: each is looked at once.
	Evidence *Evidence
	// Task is the name of a unit of the panels: "case" or "task".
	Task string
}

// Report is the verdict on a build.
type Report struct {
	// Subject and Baseline name what was compared with the gates.
	Subject  string       `json:"subject,omitempty"`
	Baseline string       `json:"baseline,omitempty"`
	Policy   gate.Policy  `json:"policy"`
	Verdict  gate.Verdict `json:"verdict"`
	// Blocks: the build must stop, because it failed, or is inconclusive under the strict policy.
	Blocks   bool      `json:"blocks"`
	Sentence string    `json:"sentence"`
	Verdicts []Verdict `json:"verdicts"`
	Warnings []string  `json:"warnings,omitempty"`
	// Notes are the assumptions and the meaning of the numbers of all gates.
	Notes []string `json:"notes,omitempty"`
	// Lost are records that could not be read; nil where there are none.
	Lost *panel.Lost `json:"lost,omitempty"`
}

// Verdict is the decision of one gate on one target and one slice.
type Verdict struct {
	Gate   Gate   `json:"gate"`
	Target string `json:"target,omitempty"`
	// Key and Value name the slice, with Every resolved.
	Key     string       `json:"key,omitempty"`
	Value   string       `json:"value,omitempty"`
	Verdict gate.Verdict `json:"verdict"`
	// Population is the population of the verdict.
	Population panel.Population `json:"population"`
	// Reason is a stable word: one of stats/gate, a status of the interval, or
	// one of this package.
	Reason string `json:"reason"`
	// Interval is the interval of the metric or, for Regression, of the change; nil where there is
	// none.
	Interval *stats.Interval `json:"interval,omitempty"`
	Unit     panel.Unit      `json:"unit,omitempty"`
	Of       string          `json:"of,omitempty"`
	N        int             `json:"n"`
	Units    int             `json:"units"`
	// Labelled is the population of people's labels, where N and Units count labels and their
	// tasks; else nil.
	Labelled *panel.Labelled `json:"labelled,omitempty"`
	// End is the end of the interval that decided: lower, upper or none.
	End string `json:"end,omitempty"`
	// UpperLimit, for Zero without an incident, is the largest rate that the exposure does not
	// exclude with one-sided 95 % confidence. Interval is two-sided and therefore reaches farther.
	// RuleOfThree is an approximation of UpperLimit.
	UpperLimit  *float64 `json:"upper_limit,omitempty"`
	RuleOfThree *float64 `json:"rule_of_three,omitempty"`
	// Lost is the possible effect of lost attempts on Interval; nil where nothing is lost, and
	// where it has no bound. LostAttempts of Planned attempts have no outcome.
	Lost         *panel.LostRange `json:"lost,omitempty"`
	LostAttempts int              `json:"lost_attempts,omitempty"`
	Planned      int              `json:"planned,omitempty"`
	// ByTask is the decision by the metric by task, where the gate decides by both; else nil.
	ByTask *ByTask `json:"by_task,omitempty"`
	// Correlation is the correlation between the attempts at a task in earlier runs of the suite;
	// nil where 1 is assumed.
	Correlation *stats.Correlation `json:"correlation,omitempty"`
	// Looked is the evidence of a gate that is looked at more than once; nil: it has one look.
	Looked *Looked `json:"looked,omitempty"`
	// Coverage is the share of known values, in [0,1]; nil where the metric needs none.
	Coverage *float64 `json:"coverage,omitempty"`
	// P, for Regression, is the two-sided p value of no change. PHolm is adjusted over all values
	// of a key, PAdjusted over all gates with a Correction. Exploratory is the p value of a
	// difference between the slice and the rest, after Holm over the values of the key; it decides
	// nothing.
	P           *float64 `json:"p,omitempty"`
	PHolm       *float64 `json:"p_holm,omitempty"`
	PAdjusted   *float64 `json:"p_adjusted,omitempty"`
	Exploratory *float64 `json:"p_exploratory,omitempty"`
	// Needed is about how many more tasks settle an open gate with probability 0.8, NeededHalf with
	// 0.5. 0: unknown; NeededHalf is also 0 where a rule fixes Needed.
	Needed     int `json:"needed,omitempty"`
	NeededHalf int `json:"needed_half,omitempty"`
	// NeededAttempts is how many attempts at each of the same tasks give as much information as
	// Needed more tasks; 0 if none do, or unknown.
	NeededAttempts int    `json:"needed_attempts,omitempty"`
	Sentence       string `json:"sentence"`
	// Against is, for kinds other than Regression, a sentence on how the metric changed from the
	// baseline, and Change is that change. Both are empty where it was not compared. They decide
	// nothing.
	Against string          `json:"against,omitempty"`
	Change  *stats.Interval `json:"change,omitempty"`
	Cure    string          `json:"cure,omitempty"`
	Open    []Place         `json:"open,omitempty"`
	// Notes are doubts about the number.
	Notes []string `json:"notes,omitempty"`
}

// Place is a case of a run or a task of a trace file to look at.
type Place struct {
	Task string `json:"task,omitempty"`
	File string `json:"file,omitempty"`
	Line int64  `json:"line,omitempty"`
	// Command opens it; empty where there is none.
	Command string `json:"command,omitempty"`
	Why     string `json:"why,omitempty"`
}

// The reasons of this package.
const (
	ReasonNoSlice    = "no_such_slice"
	ReasonNoTarget   = "no_target"
	ReasonNoMetric   = "no_such_measurement"
	ReasonErrors     = "too_many_errors"
	ReasonLost       = "lost_records"
	ReasonNoBaseline = "no_baseline"
	ReasonHolm       = "not_after_holm"
	ReasonBH         = "not_after_bh"
	ReasonNoUpperEnd = "no_upper_end"
	ReasonNoBase     = "baseline_may_be_none"
	ReasonRemoved    = "removed_tasks"
	ReasonNotEarly   = "no_early_decision"
	ReasonLater      = "no_later_interval"
	ReasonChanged    = "target_changed" // this look has evidence for the opposite of all looks
	// Of Ratchet.
	ReasonFell        = "newly_failing"
	ReasonNoneFell    = "none_newly_failing"
	ReasonFewAttempts = "too_few_attempts"
)

func (g *Gate) hard() bool { return g.Severity != Soft }

// Label is the name of a gate, or its condition: "arg_em >= 0.9".
func (g *Gate) Label() string {
	if g.Name != "" {
		return g.Name
	}
	switch g.Kind {
	case Zero:
		return g.Metric + " = 0"
	case Regression:
		return g.Metric + " against the baseline"
	case Ratchet:
		return g.Metric + " <= " + short(g.Bound)
	}
	return g.Metric + " " + string(g.Direction) + " " + amount(g.Unit, g.Bound)
}

// Slice is the slice in words, language=es-AR; empty for everything.
func (v *Verdict) Slice() string { return sliceName(v.Key, v.Value) }

func sliceName(key, value string) string {
	if key == "" {
		return ""
	}
	return key + "=" + value
}
