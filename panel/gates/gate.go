// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// Kind is what a gate holds its metric against.
type Kind string

// The kinds. The zero value is Bound.
const (
	// Bound is a number that an end of the interval must reach.
	Bound Kind = "bound"
	// Zero allows no incident at all.
	Zero Kind = "zero"
	// Regression allows the loss of a margin against a baseline.
	Regression Kind = "regression"
	// Ratchet allows so many cases to fall that passed in the baseline: NewlyFailing.
	Ratchet Kind = "ratchet"
)

// Severity says whether a gate may stop a build.
type Severity string

// The severities. The zero value is Hard.
const (
	Hard Severity = "hard"
	Soft Severity = "soft"
)

// Lost says what lost attempts do to a gate.
type Lost string

// LostIgnore makes a gate decide on the attempts that have an outcome, whatever is lost.
const LostIgnore Lost = "ignore"

// Correlation is what a gate takes the attempts at a task to have in common.
type Correlation string

// CorrelationMeasured puts the correlation that earlier runs of the suite show in place of 1.
const CorrelationMeasured Correlation = "measured"

// Correction is how regressions that several gates claim are corrected for their
// number. A pass needs none.
type Correction string

// The corrections.
const (
	// Holm keeps the chance that any claim is false at that of one gate.
	Holm Correction = "holm"
	// BH keeps the expected share of false claims among all at that of one gate.
	BH Correction = "bh"
)

// Every stands, as the value of a slice, for each value of the key.
const Every = "*"

// Gate is one condition on one metric.
type Gate struct {
	// Name is what reports call the gate; empty for its own words.
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
	// Bound is in Unit; an empty unit is that of the metric.
	Bound    float64    `json:"bound"`
	Unit     panel.Unit `json:"unit,omitempty"`
	Severity Severity   `json:"severity"`
	// MinUnits is the least number of tasks; nil means gate.MinUnits, for zero
	// gates 1. MinCoverage is the least share of what the metric is about for which
	// it is known what would have been right; nil means gate.MinCoverage where the
	// metric tells its coverage, and nothing where it does not.
	MinUnits    *int     `json:"min_n,omitempty"`
	MinCoverage *float64 `json:"min_coverage,omitempty"`
	// Margin and MinEffect belong to Regression; nil means the defaults of stats/gate.
	Margin    *float64 `json:"margin,omitempty"`
	MinEffect *float64 `json:"min_effect,omitempty"`
	// MaxRate, of Zero, is the rate that the exposure must rule out; 0 for none.
	MaxRate float64 `json:"max_rate,omitempty"`
	// Attempts, of Ratchet, is how many attempts at a case each side needs; 0 means 2.
	Attempts int `json:"attempts,omitempty"`
	// RemovedOK, of Regression, lets tasks of the baseline be missing now.
	RemovedOK bool `json:"removed_ok,omitempty"`
	// Population, of Regression, is what the change is about; "" is panel.TasksLikeThese.
	Population panel.Population `json:"population,omitempty"`
	// Lost is LostIgnore where lost attempts do not keep the gate from a verdict.
	Lost Lost `json:"lost,omitempty"`
	// Correlation, of Bound, is CorrelationMeasured where that of earlier runs replaces 1.
	Correlation Correlation `json:"correlation,omitempty"`
	// Position is where the gate stands in its file.
	Position callvet.Position `json:"position"`
}

// Input is what gates are held against.
type Input struct {
	Panels *panel.Panels
	// Comparison is the paired difference to a baseline; nil without one.
	Comparison *panel.Comparison
	Policy     gate.Policy
	// Correction is for the number of regressions that may be claimed; "" corrects
	// only among the values of one key.
	Correction Correction
	// Cases has the attempts at each case, for gates of KeyCase; nil where no gate has that key. Facts
	// are the targets of which every answer was given before: recorded and scripted ones.
	Cases *panel.Ledger
	Facts []string
	// Alike is how much attempts are alike in earlier runs, for gates of CorrelationMeasured. What is
	// not there was not measured.
	Alike []panel.Alike
	// Keys are the slice keys that exist, whether or not they have a table here.
	Keys []string
	// Task is what the units of the panels are called: "case" or "task".
	Task string
}

// Report is the verdict on a build.
type Report struct {
	// Subject and Baseline say what was held against the gates.
	Subject  string       `json:"subject,omitempty"`
	Baseline string       `json:"baseline,omitempty"`
	Policy   gate.Policy  `json:"policy"`
	Verdict  gate.Verdict `json:"verdict"`
	// Blocks tells that the build must stop: failed, or inconclusive under the
	// strict policy.
	Blocks   bool      `json:"blocks"`
	Sentence string    `json:"sentence"`
	Verdicts []Verdict `json:"verdicts"`
	Warnings []string  `json:"warnings,omitempty"`
	// Notes are what the numbers of all gates assume, and what they mean.
	Notes []string `json:"notes,omitempty"`
	// Lost are records that could not be read; nil where there are none.
	Lost *panel.Lost `json:"lost,omitempty"`
}

// Verdict is what one gate says of one target and one slice.
type Verdict struct {
	Gate   Gate   `json:"gate"`
	Target string `json:"target,omitempty"`
	// Key and Value are those of the slice, with Every resolved.
	Key     string       `json:"key,omitempty"`
	Value   string       `json:"value,omitempty"`
	Verdict gate.Verdict `json:"verdict"`
	// Population is what the verdict is about.
	Population panel.Population `json:"population"`
	// Reason is a stable word: one of stats/gate, a status of the interval, or
	// one of this package.
	Reason string `json:"reason"`
	// Interval is that of the metric or, for Regression, of the change; nil where
	// there is none.
	Interval *stats.Interval `json:"interval,omitempty"`
	Unit     panel.Unit      `json:"unit,omitempty"`
	Of       string          `json:"of,omitempty"`
	N        int             `json:"n"`
	Units    int             `json:"units"`
	// Labelled is what people's labels speak for, where N and Units count labels and their tasks; else nil.
	Labelled *panel.Labelled `json:"labelled,omitempty"`
	// End is the end of the interval that decided: lower, upper or none.
	End string `json:"end,omitempty"`
	// UpperLimit, of Zero without incident, is the rate that the exposure does not
	// rule out with 95 % confidence, one-sided: Interval, which is two-sided, reaches
	// farther. RuleOfThree is its approximation.
	UpperLimit  *float64 `json:"upper_limit,omitempty"`
	RuleOfThree *float64 `json:"rule_of_three,omitempty"`
	// Lost is what lost attempts may change of Interval; nil where nothing is lost, and where nothing
	// bounds it. LostAttempts of Planned ones have no outcome.
	Lost         *panel.LostRange `json:"lost,omitempty"`
	LostAttempts int              `json:"lost_attempts,omitempty"`
	Planned      int              `json:"planned,omitempty"`
	// ByTask is the companion by task of the metric, where the gate decides by both; else nil.
	ByTask *ByTask `json:"by_task,omitempty"`
	// Correlation between the attempts at a task is what earlier runs of the suite show; nil where it is
	// taken as 1.
	Correlation *stats.Correlation `json:"correlation,omitempty"`
	// Coverage is the share known, in [0,1]; nil where that is no question.
	Coverage *float64 `json:"coverage,omitempty"`
	// P, of Regression, is the two-sided p value of no change. PHolm, over all values
	// of a key, and PAdjusted, over all gates with a Correction, are adjusted for
	// their number. Exploratory is the p value, after Holm
	// over the values of the key, of the slice differing from the rest; it decides nothing.
	P           *float64 `json:"p,omitempty"`
	PHolm       *float64 `json:"p_holm,omitempty"`
	PAdjusted   *float64 `json:"p_adjusted,omitempty"`
	Exploratory *float64 `json:"p_exploratory,omitempty"`
	// Needed is about how many more tasks settle an open gate with a chance of 0.8,
	// NeededHalf with one of 0.5; 0 if unknown, and where a rule asks for Needed alone.
	Needed     int `json:"needed,omitempty"`
	NeededHalf int `json:"needed_half,omitempty"`
	// NeededAttempts is how many attempts at each of the same tasks tell as much as
	// Needed more tasks; 0 if none, or unknown.
	NeededAttempts int    `json:"needed_attempts,omitempty"`
	Sentence       string `json:"sentence"`
	// Against tells, of other kinds than Regression, how the metric changed against the
	// baseline, and Change is that change; both are empty where it was not compared.
	// They decide nothing.
	Against string          `json:"against,omitempty"`
	Change  *stats.Interval `json:"change,omitempty"`
	Cure    string          `json:"cure,omitempty"`
	Open    []Place         `json:"open,omitempty"`
	// Notes are what to keep in mind about the number.
	Notes []string `json:"notes,omitempty"`
}

// Place is something to look at: a case of a run or a task of a trace file.
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
	// Of Ratchet.
	ReasonFell        = "newly_failing"
	ReasonNoneFell    = "none_newly_failing"
	ReasonFewAttempts = "too_few_attempts"
)

func (g *Gate) hard() bool { return g.Severity != Soft }

// Label is the name of a gate, or its own words: "arg_em >= 0.9".
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
