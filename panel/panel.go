// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
)

// Panels are the tables of one run.
type Panels struct {
	Confidence float64 `json:"confidence"`
	Repeats    int     `json:"repeats"`
	// Uneven reports that cases have different numbers of repeats. Repeats is the largest.
	Uneven bool `json:"uneven_repeats,omitempty"`
	// Assumed is the assumption of the intervals about several attempts at a task; "" with one
	// attempt.
	Assumed string        `json:"assumed,omitempty"`
	Targets []TargetPanel `json:"targets"`
	// RankedBy is the metric that ranks the targets of a run; "" without a ranking.
	RankedBy string `json:"ranked_by,omitempty"`
	// Duplicates counts attempts that were given twice; they are counted once.
	Duplicates int `json:"duplicates,omitempty"`
	// Findings are symptoms with their evidence, those that most failing attempts show first;
	// Examples the strongest and weakest tasks.
	Findings []Finding `json:"findings,omitempty"`
	Examples []Example `json:"examples,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
	// Lost are records of trace files that count in no number; nil where there are none.
	Lost *Lost `json:"lost,omitempty"`
}

// Lost are records of trace files that could not be read, or contradict each other. Their content
// is not known: each may be a failed attempt of any target.
type Lost struct {
	Count int64 `json:"count"`
	// First are the first of them.
	First []LostRecord `json:"first"`
}

// LostRecord is the place of a lost record, and why it is lost.
type LostRecord struct {
	File   string `json:"file,omitempty"`
	Line   int64  `json:"line"`
	Reason string `json:"reason"`
}

// Records is how many records are lost; l may be nil.
func (l *Lost) Records() int64 {
	if l == nil {
		return 0
	}
	return l.Count
}

// Sentence is how many records are lost, and where the first ones are; "" where none are.
func (l *Lost) Sentence() string {
	if l.Records() == 0 {
		return ""
	}
	s := Plural(int(l.Count), "record is lost", "records are lost")
	for i, r := range l.First[:min(len(l.First), 3)] {
		s += [...]string{": ", ", ", ", "}[i] + r.place()
	}
	if int64(len(l.First)) < l.Count || len(l.First) > 3 {
		s += ", …"
	}
	return s
}

// place is where the record is, or why it is lost where it has no line.
func (r *LostRecord) place() string {
	line := strconv.FormatInt(r.Line, 10)
	switch {
	case r.Line <= 0:
		return r.Reason
	case r.File != "":
		return r.File + ":" + line
	}
	return "line " + line
}

// LostRange is what an interval would be if each of N lost attempts of Of planned ones had the lowest
// value, or the highest one.
type LostRange struct {
	N    int            `json:"n"`
	Of   int            `json:"of"`
	Low  stats.Interval `json:"low"`
	High stats.Interval `json:"high"`
}

// Finding is one symptom of the debugging playbook.
// Source: Evaluating Tool Calling, §7; Tool Calling Evaluation, "Common Issues".
type Finding struct {
	// Code is S1 to S7 for calls, L1 for loops, T1 to T9 for runs, A1 to A6 for attempts, B1 and B2
	// for contracts.
	Code  string `json:"code"`
	Title string `json:"title"`
	// Count of Of things of Unit show the symptom, as "calls that were checked against a label".
	Count int    `json:"count"`
	Of    int    `json:"of"`
	Unit  string `json:"unit"`
	// Failed of Failing failing attempts show it. Attempts of baselines are left out where there
	// are other targets. Failing is 0 where no failing attempt shows it.
	Failed  int `json:"failed,omitempty"`
	Failing int `json:"failing,omitempty"`
	// Share is Failed ÷ Failing, in [0,1].
	Share    float64   `json:"share"`
	Evidence []string  `json:"evidence"`
	Examples []Example `json:"examples,omitempty"`
	Test     string    `json:"test"` // the quick test that confirms it
	Fix      string    `json:"fix"`  // the remedy, with the command of callvet for it
}

// Example points at a task or a call in a trace file.
type Example struct {
	// Kind is one of the four below; empty for the example of a finding.
	Kind    string `json:"kind,omitempty"`
	Target  string `json:"target,omitempty"`
	Task    string `json:"task"`
	Attempt int    `json:"attempt,omitempty"`
	Call    string `json:"call,omitempty"`
	// File and Line say where it starts; Line is 0 when unknown.
	File string `json:"file,omitempty"`
	Line int64  `json:"line,omitempty"`
	// Score is the share of its measurements that are good, in [0,1].
	Score float64 `json:"score"`
	Why   string  `json:"why,omitempty"`
}

// The kinds of tasks among the examples. Highest and Lowest have the highest and lowest scores.
// They are named Strongest and Weakest where the interval of the task's pass rate excludes the mean
// of all other tasks.
const (
	Strongest = "strongest"
	Highest   = "highest"
	Weakest   = "weakest"
	Lowest    = "lowest"
)

// TargetPanel holds the tables of one target.
type TargetPanel struct {
	Target int    `json:"target"` // position in the run
	Name   string `json:"name"`
	// Floor marks a baseline that any model must beat.
	Floor bool `json:"floor,omitempty"`
	// Rank is the place of the target among those of its run; nil where they are not ranked.
	Rank      *Rank      `json:"rank,omitempty"`
	Overall   Slice      `json:"overall"`
	Slices    []Slice    `json:"slices,omitempty"`
	Confusion []Confused `json:"confusion,omitempty"`
	// Routes is the confusion table of the routes, for targets that select tools, by their own
	// names.
	Routes []Confused `json:"routes,omitempty"`
	// NotEvaluated are the assertions that were not evaluated, by name and reason, the
	// most frequent first.
	NotEvaluated []UnevaluatedKind `json:"not_evaluated,omitempty"`
}

// UnevaluatedKind counts assertions of one name that were not evaluated for one reason.
type UnevaluatedKind struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
	N      int    `json:"n"`
}

// Unevaluated counts assertions that were not evaluated. Attempts that ended in an error are left
// out: none of their assertions was.
type Unevaluated struct {
	Assertions int `json:"assertions,omitempty"`
	// Passed are attempts that passed with such assertions: they passed only the others.
	Passed int `json:"passed,omitempty"`
	// Unjudged are attempts that ran but had no assertion that could be judged. Verdicts counts
	// them as not run.
	Unjudged int `json:"unjudged,omitempty"`
}

// Slice is the table for the cases that share Key=Value; both are empty for all
// cases of the target.
type Slice struct {
	Key      string   `json:"key,omitempty"`
	Value    string   `json:"value,omitempty"`
	Cases    int      `json:"cases"`
	Cells    int      `json:"cells"` // attempts, whatever their end
	Verdicts Verdicts `json:"verdicts"`
	Outcomes []Count  `json:"outcomes,omitempty"`
	Classes  []Count  `json:"classes,omitempty"` // error classes, in order of precedence
	// Reasons counts the reasons of unparseable attempts, and then the kinds of errors. Their sum
	// is smaller where records have no reason.
	Reasons []Reasoned `json:"reasons,omitempty"`
	Usage   Usage      `json:"usage"`
	// Torn are attempts with fewer step lines than their records count: lost where calls are counted.
	Torn int `json:"torn,omitempty"`
	// NotEvaluated counts the assertions that the verdicts do not cover.
	NotEvaluated Unevaluated `json:"not_evaluated,omitzero"`
	Metrics      []Metric    `json:"metrics"`
	Warnings     []string    `json:"warnings,omitempty"`
}

// Lost is how many of the planned attempts of a table are lost for a metric, and how many are
// planned. Both numbers include the given unreadable records. Source: Statistics specification,
// section 16.2.
func (s *Slice) Lost(metric string, records int64) (n, of int) {
	v := &s.Verdicts
	if n = v.Lost(); CountsErrors(metric) {
		n -= v.Error
	}
	if m := s.Metric(metric); OfCalls(metric) || m != nil && OfCalls(m.Name) {
		n += s.Torn
	}
	return n + int(records), max(v.Planned(), s.Cells-v.Skipped) + int(records)
}

// OfCalls reports whether a metric counts calls: where the lines of some calls of an attempt are
// missing, the attempt is lost for it.
func OfCalls(metric string) bool {
	switch metric {
	case "calls_per_attempt", "unneeded_calls_per_attempt", MetricOverCall, MetricMiss, "safety_incidents",
		"blocked_incidents", "execution_success", "safe_calls", MetricRateLimited, "timeout_rate", "rejected_rate",
		"unknown_tool_rate", "result_consistency", "postconditions", "latency_budget_kept", "latency_budget_p50_kept",
		"arg_f1_micro":
		return true
	}
	for _, prefix := range [...]string{"tool_latency_", "tool_queue_", "tool_time_", "accept_"} {
		if strings.HasPrefix(metric, prefix) {
			return true
		}
	}
	return strings.HasSuffix(metric, ByCall) || strings.HasSuffix(metric, byTask)
}

// CountsErrors reports whether an attempt that ended in an error is an outcome of a metric.
func CountsErrors(metric string) bool {
	switch metric {
	case MetricError, MetricUnparseable, MetricRateLimited, "timeout_rate":
		return true
	}
	return false
}

// ByCall is the suffix of a measurement of calls with the name of a score of attempts: schema_valid
// is the mean over attempts, schema_valid_by_call the share of all calls.
const ByCall = "_by_call"

const byTask = "_by_task"

// ByTask is the name of the metric by task for a measurement of calls: the share of tasks with only
// right calls. For MetricOverCall it is the share of tasks with an unneeded call.
func ByTask(name string) string { return strings.TrimSuffix(name, ByCall) + byTask }

// Metric finds a metric by its name; nil when the slice has none. Where no attempt was scored, the
// name of a score means the same measurement of calls.
func (s *Slice) Metric(name string) *Metric {
	for _, n := range [...]string{name, name + ByCall} {
		for i := range s.Metrics {
			if s.Metrics[i].Name == n {
				return &s.Metrics[i]
			}
		}
	}
	return nil
}

// Verdicts counts attempts by verdict.
type Verdicts struct {
	Pass   int `json:"pass"`
	Fail   int `json:"fail"`
	Error  int `json:"error"`
	NotRun int `json:"not_run"`
	// Skipped of NotRun were left out on purpose.
	Skipped int `json:"skipped,omitempty"`
}

// Planned is how many attempts were planned: all but those that were left out on purpose.
func (v *Verdicts) Planned() int { return v.Pass + v.Fail + v.Error + v.NotRun - v.Skipped }

// Lost is how many of the planned attempts have no outcome.
func (v *Verdicts) Lost() int { return v.Error + v.NotRun - v.Skipped }

// Add adds the counts of others.
func (v *Verdicts) Add(o Verdicts) {
	v.Pass, v.Fail, v.Error = v.Pass+o.Pass, v.Fail+o.Fail, v.Error+o.Error
	v.NotRun, v.Skipped = v.NotRun+o.NotRun, v.Skipped+o.Skipped
}

// Counted are the verdicts of all targets together. Floors count only where there is no other
// target.
func (p *Panels) Counted() (sum Verdicts) {
	floors := !slices.ContainsFunc(p.Targets, func(t TargetPanel) bool { return !t.Floor })
	for i := range p.Targets {
		if t := &p.Targets[i]; t.Floor == floors {
			sum.Add(t.Overall.Verdicts)
		}
	}
	return sum
}

// Count is a name with how often it occurred.
type Count struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// Reasoned counts the attempts of an outcome for one reason: a callvet.Reason where they are
// unparseable, a callvet.FaultKind where they ended in an error.
type Reasoned struct {
	Outcome callvet.Outcome `json:"outcome"`
	Reason  string          `json:"reason"`
	N       int             `json:"n"`
}

// Blocked reports whether the provider blocked the attempts: callvet.Fault.Blocked.
func (r *Reasoned) Blocked() bool {
	f := callvet.Fault{Kind: callvet.FaultKind(r.Reason)}
	return r.Outcome == callvet.OutcomeError && f.Blocked()
}

// Blocked counts the attempts of the slice that the provider blocked.
func (s *Slice) Blocked() int {
	n := 0
	for i := range s.Reasons {
		if s.Reasons[i].Blocked() {
			n += s.Reasons[i].N
		}
	}
	return n
}

// Confused counts calls that should have gone to Expected and went to Called.
// The special names are None, Unknown and Unreadable.
type Confused struct {
	Expected string `json:"expected"`
	Called   string `json:"called"`
	N        int    `json:"n"`
}

// The special names of a confusion table: no call, a name that is in no
// catalogue, and an attempt with a call that could not be read.
const (
	None       = "(none)"
	Unknown    = "(unknown tool)"
	Unreadable = "(unparseable)"
)

// Usage is the consumption of the attempts of a slice, errors included.
type Usage struct {
	InputTokens     int     `json:"input_tokens"`
	OutputTokens    int     `json:"output_tokens"`
	ReasoningTokens int     `json:"reasoning_tokens,omitempty"`
	CostUSD         float64 `json:"cost_usd"` // of the attempts with a known cost
	CostKnown       int     `json:"cost_known"`
	// CostUnknown and UsageUnknown count attempts that consumed an unknown amount. Attempts of free
	// targets and refused requests consumed nothing.
	CostUnknown  int `json:"cost_unknown"`
	UsageUnknown int `json:"usage_unknown"`
	// Requests counts requests sent, retries included; Cached the attempts
	// answered from the cache.
	Requests int `json:"requests"`
	Cached   int `json:"cached,omitempty"`
}

// Unit of a metric's values.
type Unit string

// The units. UnitRate is a share in [0,1].
const (
	UnitRate   Unit = "rate"
	UnitMS     Unit = "ms"
	UnitTokens Unit = "tokens"
	UnitUSD    Unit = "usd"
	UnitCount  Unit = "count"
)

// Metric is one number with its interval. Of is what its n counts.
type Metric struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Unit  Unit   `json:"unit"`
	Of    string `json:"of"` // attempts, calls, cases
	// LowerIsBetter: less is better.
	LowerIsBetter bool `json:"lower_is_better,omitempty"`
	// Fractional reports that a value may be between 0 and 1.
	Fractional bool           `json:"-"`
	Interval   stats.Interval `json:"interval"`
	// Values is the number of values where the attempts at each task agree, so that Interval counts
	// one attempt a task; 0 elsewhere.
	Values int `json:"values,omitempty"`
	// Excluded counts judged attempts without a value of this metric.
	Excluded int `json:"excluded,omitempty"`
	// Unknown of the excluded attempts have an unknown value; the metric does not apply to the
	// others.
	Unknown int `json:"unknown,omitempty"`
	// Coverage is the share, in [0,1], of the things that the metric is about with a known right
	// answer; nil where the metric needs none. Things that a label marks as not applicable
	// (NotApplicable) are known.
	Coverage      *float64 `json:"coverage,omitempty"`
	NotApplicable int      `json:"not_applicable,omitempty"`
	// Labelled is the population of people's labels, where the estimate rests on them: Interval
	// then counts the labels. It is nil elsewhere.
	Labelled *Labelled `json:"labelled,omitempty"`
	// Informative reports that tasks that fail more often make more calls (correlation above 0.3),
	// so that the rate by call and the rate by task differ.
	Informative bool `json:"informative,omitempty"`
	// Lost bounds the effect of lost attempts and, in the table of all tasks, of unreadable
	// records. It is nil where nothing is lost, and for amounts, which have no bounds.
	Lost *LostRange `json:"lost,omitempty"`
	// Versus compares a slice with everything outside of it; nil where it was not compared.
	Versus   *Versus  `json:"versus,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Seen is how many values the metric has.
func (m *Metric) Seen() int { return max(m.Values, m.Interval.N) }

// Agree records n values. The interval may count fewer because attempts agree.
func (m *Metric) Agree(n int) {
	if n > m.Interval.N {
		m.Values = n
	}
}

// OfLabels is Metric.Of where the estimate rests on people's labels.
const OfLabels = "labels"

// Labelled is the population of an estimate that rests on people's labels.
type Labelled struct {
	// Of is attempts, calls or turns. N of them, of Tasks, could have a label.
	Of    string `json:"of"`
	N     int    `json:"n"`
	Tasks int    `json:"tasks"`
	// Elsewhere reports that the labels are of other outputs.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// Count names a number of labels and their population: "12 labels of 400 tasks".
func (l *Labelled) Count(n int, task string) string {
	link := " of "
	if l.Elsewhere {
		link = " made elsewhere, for "
	}
	things := ""
	if l.Of != "attempts" { // of a task one attempt is labelled
		things = plural(l.N, strings.TrimSuffix(l.Of, "s"), l.Of) + " of "
	}
	return plural(n, "label", OfLabels) + link + things + plural(l.Tasks, task, task+"s")
}

// Versus compares a slice with the rest for one metric.
type Versus struct {
	Rest float64 `json:"rest"` // the estimate outside of the slice
	// P is the two-sided p value of no difference, Adjusted is P adjusted over all slices of the
	// same key (Holm), both in [0,1].
	P        float64 `json:"p"`
	Adjusted float64 `json:"p_adjusted"`
	// Worst and Best mark the slice of its key that is worse or better than all others together.
	// Shrunken is its estimate shrunk towards the others, since the extreme of several values looks
	// more extreme than it is; nil where neither is set.
	Worst    bool            `json:"worst,omitempty"`
	Best     bool            `json:"best,omitempty"`
	Shrunken *stats.Interval `json:"shrunken,omitempty"`
}

// Differs reports whether the slice differs from the rest.
func (v *Versus) Differs() bool { return v != nil && v.Adjusted < differsBelow }

// differsBelow is the adjusted p value below which a slice differs from the rest.
const differsBelow = 0.05

// DefaultSlices are the default slice keys of runs and trace files: the usual names, called tools,
// tags, and all fields.
func DefaultSlices() []string {
	return []string{
		"tier", "category", "difficulty", "language", "intent", "stateful", callvet.SliceExpectedTool,
		callvet.SliceCalledTool, "api_version", keyFamily, "tag", "*",
	}
}

// keyFamily slices by the families of the tools that a case expects.
const keyFamily = "tool_family"
