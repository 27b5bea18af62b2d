// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// Ask is the request for a plan. Zero values are absent unless Given names them; JSON sets Given to
// its keys.
type Ask struct {
	Metric string `json:"metric"`
	// Bound and Truth are in the unit of the metric; Power is in (0,1), 0.8 unless given.
	Bound float64 `json:"bound,omitempty"`
	Truth float64 `json:"truth,omitempty"`
	Power float64 `json:"power,omitempty"`
	// SD is the standard deviation of the metric from task to task, in its unit; with
	// Diff that of the tasks' differences, as a share of the baseline's mean.
	SD float64 `json:"sd,omitempty"`
	// From is the run or the trace file of a pilot; "" for none. Pilot are its figures of the
	// metric: the caller reads the file and sets them.
	From  string `json:"from,omitempty"`
	Pilot *Pilot `json:"-"`
	// Sens and Spec are a judge's sensitivity and specificity, Labels the planned number of labels,
	// Tasks the number of tasks that it judges: 1,000 unless given.
	Sens   float64 `json:"judge_sens,omitempty"`
	Spec   float64 `json:"judge_spec,omitempty"`
	Labels int     `json:"labels,omitempty"`
	Tasks  int     `json:"tasks,omitempty"`
	// Diff is a difference to a baseline. Discordant is the share of tasks with different results
	// in two single attempts without a change. Margin is the loss that the gate allows, gate.Margin
	// unless given.
	Diff       float64 `json:"baseline_diff,omitempty"`
	Discordant float64 `json:"discordant,omitempty"`
	Margin     float64 `json:"margin,omitempty"`
	MaxRate    float64 `json:"max_rate,omitempty"`
	// MinEffect is the least loss that fails a gate of File; nil means gate.MinEffect.
	MinEffect *float64 `json:"-"`
	// Attempts are the numbers of attempts at each task to plan with, and Correlation is the
	// correlation of the attempts at a task, in [0,1).
	Attempts    []int   `json:"attempts,omitempty"`
	Correlation float64 `json:"correlation,omitempty"`
	// Measured lets the gate use a measured correlation, Before: that of the runs of From's suite
	// that were started before From.
	Measured bool               `json:"measured,omitempty"`
	Before   *stats.Correlation `json:"-"`
	// MinUnits is the least number of tasks of the gate; gate.MinUnits unless given.
	MinUnits int `json:"min_n,omitempty"`
	// Looks is how often the gate is looked at: LooksOnce, or LooksAny, which adds the number of tasks of a
	// gate that is looked at after each one.
	Looks string `json:"looks,omitempty"`
	// Gates is a gate file. Its gates are planned with Truth, Power and the other figures. File are its
	// gates: the caller reads the file and sets them.
	Gates string       `json:"gates,omitempty"`
	File  []gates.Gate `json:"-"`
	// Given are the names of the fields that were set, as JSON spells them.
	Given []string `json:"-"`
}

// UnmarshalJSON sets Given to the keys that are present.
func (q *Ask) UnmarshalJSON(b []byte) error {
	type plain Ask
	var keys map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(b, (*plain)(q)), json.Unmarshal(b, &keys)); err != nil {
		return fmt.Errorf("read request: %w: %w", callvet.ErrInvalid, err)
	}
	q.Given = slices.Sorted(maps.Keys(keys))
	return nil
}

// Usual is the default request.
func Usual() Ask {
	q := Ask{Metric: "true_success"}
	q.usual()
	return q
}

// usual fills in the usual values of fields that are not given.
func (q *Ask) usual() {
	if !q.given("power") {
		q.Power = 0.8
	}
	if !q.given("tasks") {
		q.Tasks = 1000
	}
	if !q.given("margin") {
		q.Margin = gate.Margin
	}
	if !q.given("min_n") {
		q.MinUnits = gate.MinUnits
	}
}

// wrong returns the error of a request that cannot be planned because of a field.
func wrong(field, fix, format string, args ...any) error {
	return &callvet.FieldError{Field: field, Text: fmt.Sprintf(format, args...), Fix: fix}
}

// Pilot is a metric of a run or a trace file: its mean over Tasks tasks, and its standard deviation
// between tasks (of a ratio, that of its linearized form). For a rate with several attempts at a
// task it has their correlation.
type Pilot struct {
	File        string   `json:"file"`
	Mean        float64  `json:"mean"`
	SD          float64  `json:"sd"`
	Tasks       int      `json:"tasks"`
	Correlation *float64 `json:"correlation,omitempty"`
}

// kind is the kind of a metric for a plan.
type kind int

const (
	rates kind = iota
	means
	quantiles
	incidents
	changes // mean times, which are planned only against a baseline
)

func (k kind) String() string {
	return [...]string{
		"a rate", "a mean amount", "a quantile", "a count of incidents",
		"a mean that is known only against a baseline",
	}[k]
}

// uses are the fields that apply to each kind of metric.
var uses = [...][]string{
	rates: {
		"bound", "truth", "power", "from", "attempts", "correlation", "measured", "min_n", "judge_sens", "judge_spec",
		"labels", "tasks",
		"baseline_diff", "discordant", "margin",
	},
	means:     {"bound", "truth", "power", "sd", "from", "min_n", "baseline_diff", "margin"},
	changes:   {"power", "sd", "min_n", "baseline_diff", "margin"},
	quantiles: {},
	incidents: {"max_rate"},
}

// kindOf is the kind of a metric, by its name.
func kindOf(metric string) kind {
	switch {
	case strings.HasSuffix(metric, "_p50"), strings.HasSuffix(metric, "_p90"):
		return quantiles
	case strings.HasSuffix(metric, "_incidents"):
		return incidents
	case strings.HasSuffix(metric, "_per_attempt"), metric == panel.MetricCostPerPass:
		return means
	case strings.HasSuffix(metric, "_mean"):
		return changes
	}
	return rates
}

// FromPilot reports whether a plan can use a pilot's figures of a metric.
func FromPilot(metric string) bool { return slices.Contains(uses[kindOf(metric)], "from") }

// Unit is the unit of a mean.
func Unit(metric string) panel.Unit {
	switch {
	case strings.HasPrefix(metric, "cost_"):
		return panel.UnitUSD
	case strings.HasPrefix(metric, "tokens_"):
		return panel.UnitTokens
	}
	return panel.UnitCount
}

// toBeLow reports whether a gate on the metric is an upper bound.
func toBeLow(metric string) bool {
	switch metric {
	case panel.MetricPass, panel.MetricNative:
		return false
	}
	return kindOf(metric) != rates || panel.Describe(metric).LowerIsBetter || strings.HasSuffix(metric, "_rate")
}

// check checks the request itself.
func (q *Ask) check() error {
	known := gates.Metrics()
	if !slices.Contains(known, q.Metric) {
		fix := ""
		if near := callvet.Nearest(q.Metric, known); near != "" {
			fix = "{metric} " + near
		}
		return wrong("metric", fix, "no metric is called %q", q.Metric)
	}
	for _, name := range q.Given {
		if err := q.useless(name); err != nil {
			return err
		}
	}
	return q.checkNumbers()
}

// checkNumbers checks the fields that all metrics have.
func (q *Ask) checkNumbers() error {
	switch {
	case !(q.Power >= 0.05 && q.Power <= 0.99):
		return wrong("power", "", "{power} is a chance between 0.05 and 0.99")
	case !slices.Contains([]string{"", LooksOnce, LooksAny}, q.Looks):
		return wrong("looks", "{looks} any", "{looks} is once or any, and not %q", q.Looks)
	case q.given("min_n") && q.MinUnits < 1:
		return wrong("min_n", "", "{min_n} is the least number of tasks, 1 or more")
	case q.given("correlation") && !(q.Correlation >= 0 && q.Correlation < 1):
		return wrong("correlation", "", "{correlation} is at least 0 and below 1")
	case q.given("margin") && !(q.Margin >= 0):
		return wrong("margin", "", "{margin} is the loss that the gate allows, 0 or more")
	case slices.ContainsFunc(q.Attempts, func(k int) bool { return k < 1 || k > maxAttempts }):
		return wrong("attempts", "", "{attempts} are 1 to %d at each task", maxAttempts)
	}
	return nil
}

// maxAttempts is the largest number of attempts at a task in a plan.
const maxAttempts = 100

// useless returns the error of a field that does not apply to the metric, with a hint which fields
// do; nil if it applies.
func (q *Ask) useless(field string) error {
	k := kindOf(q.Metric)
	if q.Metric == "" || field == "metric" || field == "looks" {
		return nil
	}
	var hint string
	switch {
	case !slices.Contains(uses[k], field):
		hint = q.instead(k, field)
	case slices.Contains([]string{"labels", "tasks"}, field) && !q.given("judge_sens") && !q.given("judge_spec"):
		hint = "{judge_sens} and {judge_spec} say that there is a judge"
	case slices.Contains([]string{"discordant", "margin"}, field) && !q.given("baseline_diff"):
		hint = "{baseline_diff} says what should be found"
	case field == "measured" && (!q.given("bound") || q.given("judge_sens")):
		hint = "{bound} without a judge: the rule is about the interval of one rate"
	case field == "truth" && !q.given("bound") && !q.given("baseline_diff"):
		hint = "{bound} or {baseline_diff} says what it is compared with"
	case slices.Contains([]string{"judge_sens", "judge_spec"}, field) && !q.given("bound"):
		hint = "{bound} says what the corrected rate is compared with"
	default:
		return nil
	}
	return wrong(field, hint, "{%s} is of no use for %s, which is %s", field, q.Metric, k)
}

func (q *Ask) given(field string) bool { return slices.Contains(q.Given, field) }

// instead names the replacement for a field that a kind of metric does not use.
func (q *Ask) instead(k kind, field string) string {
	switch {
	case k == incidents && field == "bound":
		return "{max_rate}: the rate of incidents that should be ruled out"
	case k == incidents:
		return "{max_rate} alone: how much exposure without an incident rules it out"
	case k == changes && slices.Contains([]string{"bound", "truth", "max_rate"}, field):
		return "{baseline_diff} and {sd}; a bound belongs to " + strings.TrimSuffix(q.Metric, "mean") + "p50 or _p90"
	case k == quantiles && slices.Contains([]string{"bound", "truth", "power"}, field):
		return fmt.Sprintf(
			"plan the share of tasks within the bound as a rate: {metric} pass_rate {bound} 0.%s {truth} the share that really is", q.Metric[len(q.Metric)-2:])
	case k == quantiles:
		return "{metric} alone: from how many tasks on its interval has ends"
	case field == "max_rate" && k == rates && toBeLow(q.Metric):
		return "{bound}: the most that the rate may be"
	case field == "max_rate":
		return "{bound}; {max_rate} belongs to safety_incidents and blocked_incidents"
	case k == rates && field == "sd":
		return "{bound} and {truth} are enough: the spread of a rate follows from it"
	case slices.Contains([]string{"attempts", "correlation", "measured"}, field):
		return "{sd}: attempts at a task make its mean vary less"
	case field == "from":
		return "{sd}: the standard deviation of the tasks' differences, which one file does not contain"
	case field == "discordant":
		return "{sd}: the standard deviation of the tasks' differences"
	}
	return "judges and labels belong to rates such as true_success"
}
