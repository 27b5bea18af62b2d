// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/steps"
)

// ofStep are the yes-or-no measurements behind the metrics of calls; inverse ones count the share
// of "no". The definitions are those of the panels of trace files: a test compares both.
var ofStep = map[string]struct {
	step    callvet.StepMetric
	inverse bool
}{
	"schema_valid":       {callvet.StepSchemaValid, false},
	"unknown_tool_rate":  {callvet.StepKnownTool, true},
	"tool_selection":     {callvet.StepSelection, false},
	panel.MetricOverCall: {callvet.StepNeeded, true},
	"arg_em":             {callvet.StepArgEM, false},
	"execution_success":  {callvet.StepExecuted, false},
	"rate_limited_rate":  {callvet.StepRateLimited, false},
	"timeout_rate":       {callvet.StepTimeout, false},
	"rejected_rate":      {callvet.StepRejected, false},
	"result_consistency": {callvet.StepEqual, false},
	"postconditions":     {callvet.StepHolds, false},
	"safe_calls":         {callvet.StepSafe, false},
	panel.MetricRepaired: {callvet.StepRepaired, false},
	panel.MetricInBudget: {callvet.StepInBudget, false},
	panel.MetricInP50:    {callvet.StepInP50, false},
}

// ofRecords reports whether task records alone suffice for a metric.
func ofRecords(name string) bool {
	return !ofRuns(name) && !ofCalls(name)
}

// ofCalls reports whether a metric is computed from calls: always, or if no attempt was scored.
func ofCalls(name string) bool {
	if ofRuns(name) {
		return false
	}
	name = baseName(name)
	switch name {
	case panel.MetricToolLatencyMean, "arg_em_keys", "arg_precision", "arg_recall", "arg_f1":
		return true
	}
	_, ok := ofStep[name]
	return ok
}

// baseName is a name without the suffix for how its values are counted.
func baseName(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, "_by_task"), panel.ByCall)
}

// scoreOfAttempt reports whether a metric of calls is a score of the attempt if attempts were
// scored.
func scoreOfAttempt(name string) bool {
	switch name {
	case "schema_valid", "tool_selection", "arg_em", "arg_em_keys", "arg_precision", "arg_recall", "arg_f1",
		panel.MetricRepaired:
		return true
	}
	return false
}

// work contains the measurements of the steps of a task.
type work struct {
	parts []part
	runs  []sideRun // by attempt; empty where no metric needs them
	lines []uint64  // Content of the steps
	// answers are the first results of calls.
	answers map[panel.Asked]uint64
	// expects are the tools of labels, each once.
	expects []string
}

// maxAnswers bounds the calls of a task with results that are compared with those of another side.
const maxAnswers = 64

// answer keeps what a tool answered to a call, the first time that it is made.
func (w *work) answer(row *Scored) {
	if row.Args == 0 || row.Result == 0 || len(w.answers) >= maxAnswers {
		return
	}
	if w.answers == nil {
		w.answers = map[panel.Asked]uint64{}
	}
	call := panel.Asked{Tool: row.Step.Tool, Args: row.Args}
	if _, known := w.answers[call]; !known {
		w.answers[call] = row.Result
	}
}

// part are the steps of an attempt that are in the same slices.
type part struct {
	attempt int
	in      [][2]string
	values  []panel.Observation // by metric
}

// sideRun contains the measurements of the steps of one attempt together.
type sideRun struct {
	attempt            int
	calls, unneeded    int
	labelled           bool
	toolTime           float64
	timed              bool
	exposed            bool
	incidents, blocked int
	tools              []string // by base name, if needed calls are compared
}

// ofRuns reports whether a metric needs the sums of the calls of an attempt.
func ofRuns(name string) bool {
	switch name {
	case "calls_per_attempt", "unneeded_calls_per_attempt", panel.MetricOverCallByTask, panel.MetricToolTimeMean,
		panel.MetricMiss, "safety_incidents", "blocked_incidents":
		return true
	}
	return false
}

// Steps takes scored steps, in the order of the file.
func (s *Side) Steps(rows []Scored) error {
	for i := range rows {
		s.step(&rows[i])
	}
	return nil
}

func (s *Side) step(row *Scored) {
	st := &row.Step
	id := task{s.target(st.Target), st.TaskID}
	w := s.tasks[id]
	if w == nil {
		w = &work{}
		s.tasks[id] = w
		s.order = append(s.order, id)
	}
	if row.Content != 0 {
		if slices.Contains(w.lines, row.Content) { // a copy
			return
		}
		w.lines = append(w.lines, row.Content)
	}
	for _, name := range expectedBy(st.Gold) {
		if !slices.Contains(w.expects, name) {
			w.expects = append(w.expects, name)
		}
	}
	if s.cfg.Results {
		w.answer(row)
	}
	p := s.part(w, st)
	for k, name := range s.cfg.Metrics {
		if !ofCalls(name) {
			continue
		}
		sum, n, fractional := valueOf(name, row)
		p.values[k].Sum, p.values[k].N, p.values[k].Fractional = p.values[k].Sum+sum, p.values[k].N+n,
			p.values[k].Fractional || fractional
	}
	if !s.runs {
		return
	}
	i := slices.IndexFunc(w.runs, func(r sideRun) bool { return r.attempt == st.Attempt })
	if i < 0 {
		i, w.runs = len(w.runs), append(w.runs, sideRun{attempt: st.Attempt})
	}
	w.runs[i].step(row, slices.Contains(s.cfg.Metrics, panel.MetricMiss))
	s.labelled = s.labelled || w.runs[i].labelled
}

// expectedBy returns the tools that the label of a call expects instead, by base name; nil: the
// label names none.
func expectedBy(g *trace.Gold) []string {
	if g == nil || g.Tool == "" || g.Needed != nil && !*g.Needed {
		return nil
	}
	name, _ := callvet.SplitTool(g.Tool)
	return []string{name}
}

// part finds the part of a task that a step belongs to.
func (s *Side) part(w *work, st *trace.Step) *part {
	in := s.raw(steps.SliceLine{
		Tool: trace.JoinTool(st.Tool, st.ToolVersion), Families: s.families[st.Tool],
		Tags: st.Tags, Fields: st.Fields,
	})
	for i := range w.parts {
		if p := &w.parts[i]; p.attempt == st.Attempt && slices.Equal(p.in, in) {
			return p
		}
	}
	key := fmt.Sprintf("%q", in)
	if known, ok := s.sets[key]; ok {
		in = known
	} else {
		s.sets[key] = in
	}
	w.parts = append(w.parts, part{attempt: st.Attempt, in: in, values: make([]panel.Observation, len(s.cfg.Metrics))})
	return &w.parts[len(w.parts)-1]
}

// valueOf returns what a step contributes to a metric of calls: n values of this sum.
func valueOf(name string, row *Scored) (sum float64, n int, fractional bool) {
	score := &row.Score
	name = baseName(name)
	if d, ok := ofStep[name]; ok {
		yes, known := score.Get(d.step)
		if !known {
			return 0, 0, false
		}
		return oneIf(yes != d.inverse), 1, false
	}
	_, args := score.Get(callvet.StepArgEM)
	hits, want, got, either := float64(score.Matched), float64(score.Expected), float64(score.Emitted),
		float64(score.Union)
	switch {
	case name == panel.MetricToolLatencyMean && row.Step.ExecMS != nil:
		return *row.Step.ExecMS, 1, true
	case !args:
		return 0, 0, false
	case name == "arg_em_keys":
		return share(hits, either, 0), 1, true
	case name == "arg_precision":
		return share(hits, got, want), 1, true
	case name == "arg_recall":
		return share(hits, want, got), 1, true
	case name == "arg_f1":
		return share(2*hits, got+want, 0), 1, true
	}
	return 0, 0, false
}

// share returns hits/of. If of is 0, it returns 1 if other is 0 too.
func share(hits, of, other float64) float64 {
	switch {
	case of > 0:
		return hits / of
	case other == 0:
		return 1
	}
	return 0
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (r *sideRun) step(row *Scored, tools bool) {
	st, score := &row.Step, &row.Score
	r.calls++
	if needed, known := score.Get(callvet.StepNeeded); known {
		r.labelled = true
		if !needed {
			r.unneeded++
		}
	}
	if st.ExecMS != nil {
		r.toolTime += *st.ExecMS
		r.timed = true
	}
	if tools {
		r.tools = append(r.tools, st.Tool)
	}
	safe, known := score.Get(callvet.StepSafe)
	if !known {
		return
	}
	r.exposed = true
	rejected, checked := score.Get(callvet.StepRejected)
	switch {
	case safe:
	case checked && rejected, !checked && len(st.Result) == 0:
		r.blocked++
	default:
		r.incidents++
	}
}

// record is what a task record contains in addition to its verdict.
type record struct {
	fault, ran         bool
	judged             map[string]bool
	cost, tokens, wall *float64
	gold               []string // needed calls by base name; nil: not recorded
	exposed            bool
	incidents, blocked int
	in                 [][2]string
	// The scorer's result; judgedPass is true if it has a verdict.
	scores           map[string]float64
	judgedPass       bool
	outcome          callvet.Outcome
	format           callvet.Format
	cached, timedOut bool
	steps            int // step lines of the attempt, at least
}

func recordOf(t *trace.Task) *record {
	r := &record{
		wall: t.WallMS, exposed: t.Safety != nil, outcome: t.Outcome, format: t.Format, cached: t.Cached,
		judgedPass: t.Pass != nil,
	}
	announced := 0
	if t.Steps != nil {
		announced = *t.Steps
	}
	r.steps = leastSteps(announced, t.Outcome, t.Decision != nil)
	if t.Scored != nil {
		r.scores = t.Scored.Scores
	}
	r.timedOut = t.Fault != nil && t.Fault.Kind == callvet.FaultTimeout
	r.ran = t.Outcome != callvet.OutcomeNotRun
	r.fault = r.ran && t.Failed()
	if usd, known := t.Cost(); known {
		r.cost = &usd
	}
	if n, known := t.Usage.Tokens(); known {
		x := float64(n)
		r.tokens = &x
	}
	for i := range t.Judged {
		j := &t.Judged[i]
		if pass, ok := j.Verdict(); ok && r.ran && !r.fault {
			if r.judged == nil {
				r.judged = map[string]bool{}
			}
			r.judged[j.Judge] = pass
		}
	}
	for _, in := range t.Safety {
		if in.Blocked {
			r.blocked++
		} else {
			r.incidents++
		}
	}
	if t.Gold != nil && t.Gold.Steps != nil {
		r.gold = []string{}
		for _, g := range t.Gold.Steps {
			if name, _ := callvet.SplitTool(g.Tool); g.By != "user" {
				r.gold = append(r.gold, name)
			}
		}
	}
	return r
}
