// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
)

// Ask is what a plan is asked for. Zero values are not given, but for what Given
// names.
type Ask struct {
	Metric string
	// Bound and Truth are in the unit of the metric; Power is in (0,1).
	Bound, Truth, Power float64
	// SD is the standard deviation of the metric from task to task, in its unit; with
	// Diff that of the tasks' differences, as a share of the baseline's mean.
	SD float64
	// Pilot is what a run or a trace file tells of the metric; nil without one.
	Pilot *Pilot
	// Sens and Spec are those of a judge, Labels how many there will be, Tasks how
	// many tasks it looks at.
	Sens, Spec    float64
	Labels, Tasks int
	// Diff is a difference to a baseline, Discordant the share of tasks that change
	// between two single attempts at each where nothing changed, Margin the loss that the
	// gate allows.
	Diff, Discordant, Margin float64
	MaxRate                  float64
	// Attempts are the numbers of attempts at each task to plan with, and Correlation how
	// much those of a task are alike, in [0,1).
	Attempts    []int
	Correlation float64
	// MinUnits is the least number of tasks of the gate.
	MinUnits int
	// Given are the names of the flags that were set.
	Given []string
}

// Pilot is a metric as a run or a trace file has it: its mean over Tasks tasks, its
// standard deviation from task to task (of a ratio, that of its linearized form) and, of a
// rate with several attempts at a task, how much those are alike.
type Pilot struct {
	File        string
	Mean, SD    float64
	Tasks       int
	Correlation *float64
}

// kind is what a metric is to a plan.
type kind int

const (
	rates kind = iota
	means
	quantiles
	incidents
	changes // mean times, which are known against a baseline only
)

func (k kind) String() string {
	return [...]string{"a rate", "a mean amount", "a quantile", "a count of incidents", "a mean that is known only against a baseline"}[k]
}

// uses are the flags that a plan for each kind of metric has a use for.
var uses = [...][]string{
	rates: {
		"bound", "truth", "power", "from", "attempts", "correlation", "min-n", "judge-sens", "judge-spec", "labels", "tasks",
		"baseline-diff", "discordant", "margin",
	},
	means:     {"bound", "truth", "power", "sd", "from", "min-n", "baseline-diff", "margin"},
	changes:   {"power", "sd", "min-n", "baseline-diff", "margin"},
	quantiles: {},
	incidents: {"max-rate"},
}

// KindOf tells the kind of a metric by its name alone.
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

// FromPilot reports whether a pilot tells something about a metric that a plan has a use
// for.
func FromPilot(metric string) bool { return slices.Contains(uses[kindOf(metric)], "from") }

// unit is how the numbers of a mean are told.
func unit(metric string) panel.Unit {
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

// check says what is wrong with the question itself.
func (q *Ask) check() error {
	known := gates.Metrics()
	if !slices.Contains(known, q.Metric) {
		err := fmt.Errorf("no metric is called %q", q.Metric)
		if near := callvet.Nearest(q.Metric, known); near != "" {
			return &callvet.Hinted{Err: err, Hint: "--metric " + near}
		}
		return err
	}
	for _, name := range q.Given {
		if err := q.useless(name); err != nil {
			return err
		}
	}
	switch {
	case !(q.Power >= 0.05 && q.Power <= 0.99):
		return fmt.Errorf("--power is a chance between 0.05 and 0.99")
	case q.given("min-n") && q.MinUnits < 1:
		return fmt.Errorf("--min-n is the least number of tasks, 1 or more")
	case q.given("correlation") && !(q.Correlation >= 0 && q.Correlation < 1):
		return fmt.Errorf("--correlation is at least 0 and below 1")
	case q.given("margin") && !(q.Margin >= 0):
		return fmt.Errorf("--margin is the loss that the gate allows, 0 or more")
	case slices.ContainsFunc(q.Attempts, func(k int) bool { return k < 1 || k > maxAttempts }):
		return fmt.Errorf("--attempts are 1 to %d at each task", maxAttempts)
	}
	return nil
}

// maxAttempts is the largest number of attempts at a task that is planned with.
const maxAttempts = 100

// useless says why a flag has no use for the metric, and which one has; nil where
// it has one.
func (q *Ask) useless(flag string) error {
	k := kindOf(q.Metric)
	if q.Metric == "" || flag == "metric" {
		return nil
	}
	var hint string
	switch {
	case !slices.Contains(uses[k], flag):
		hint = q.instead(k, flag)
	case slices.Contains([]string{"labels", "tasks"}, flag) && !q.given("judge-sens") && !q.given("judge-spec"):
		hint = "--judge-sens and --judge-spec say that there is a judge"
	case slices.Contains([]string{"discordant", "margin"}, flag) && !q.given("baseline-diff"):
		hint = "--baseline-diff says what should be found"
	case flag == "truth" && !q.given("bound") && !q.given("baseline-diff"):
		hint = "--bound or --baseline-diff says what it is compared with"
	case slices.Contains([]string{"judge-sens", "judge-spec"}, flag) && !q.given("bound"):
		hint = "--bound says what the corrected rate is compared with"
	default:
		return nil
	}
	return &callvet.Hinted{Err: fmt.Errorf("--%s is of no use for %s, which is %s", flag, q.Metric, k), Hint: hint}
}

func (q *Ask) given(flag string) bool { return slices.Contains(q.Given, flag) }

// instead names what to write in place of a flag that a kind of metric has no use for.
func (q *Ask) instead(k kind, flag string) string {
	switch {
	case k == incidents && flag == "bound":
		return "--max-rate: the rate of incidents that should be ruled out"
	case k == incidents:
		return "--max-rate alone: how much exposure without an incident rules it out"
	case k == changes && slices.Contains([]string{"bound", "truth", "max-rate"}, flag):
		return "--baseline-diff and --sd; a bound belongs to " + strings.TrimSuffix(q.Metric, "mean") + "p50 or _p90"
	case k == quantiles && slices.Contains([]string{"bound", "truth", "power"}, flag):
		return fmt.Sprintf("plan the share of tasks within the bound as a rate: callvet plan --metric pass_rate --bound 0.%s --truth the share that really is", q.Metric[len(q.Metric)-2:])
	case k == quantiles:
		return "--metric alone: from how many tasks on its interval has ends"
	case flag == "max-rate" && k == rates && toBeLow(q.Metric):
		return "--bound: the most that the rate may be"
	case flag == "max-rate":
		return "--bound; --max-rate belongs to safety_incidents and blocked_incidents"
	case k == rates && flag == "sd":
		return "--bound and --truth are enough: the spread of a rate follows from it"
	case slices.Contains([]string{"attempts", "correlation"}, flag):
		return "--sd: attempts at a task make its mean vary less"
	case flag == "from":
		return "--sd: the standard deviation of the tasks' differences, which one file does not tell"
	case flag == "discordant":
		return "--sd: the standard deviation of the tasks' differences"
	}
	return "judges and labels belong to rates such as true_success"
}
