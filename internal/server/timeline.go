// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// TimelineEntry is a run, a report of a judge, or a search, in its place in time.
type TimelineEntry struct {
	Type      string           `json:"type" enum:"eval,judge,param_tune,prompt_tune,weights_tune"`
	ID        string           `json:"id"`
	Run       string           `json:"eval_id" doc:"of a search: the run that its confirmed winner was promoted to; empty: none"`
	Name      string           `json:"name,omitempty" doc:"the name that the owner gave the run"`
	Timestamp time.Time        `json:"timestamp"`
	Status    string           `json:"status"`
	Version   int64            `json:"suite_version,omitempty"`
	Score     *float64         `json:"score" doc:"avg_score of a run, mean score of a judge; null if there is none"`
	Interval  *stats.Interval  `json:"score_interval,omitempty" doc:"score of a run, or of a judge of tasks, with its interval and n"`
	Delta     *float64         `json:"delta" doc:"mean change of the targets that are compared with the baseline, over the tasks of both runs; null if there are none"`
	Gain      *stats.Interval  `json:"gain,omitempty" doc:"of a search: improvement of the best candidate over what it began with, on the held-out cases. score is that of the candidate there, delta the gain itself"`
	Baseline  bool             `json:"baseline,omitempty"`
	Asked     int              `json:"asked,omitempty" doc:"attempts, where the run ended when its gates were decided"`
	LeftOut   int              `json:"left_out,omitempty" doc:"attempts that were then not made"`
	Targets   []TimelineTarget `json:"targets,omitempty"`
	Judge     string           `json:"judge,omitempty"`
	Reports   []JudgeReport    `json:"reports,omitempty" doc:"the report of a judge on each target: grade, strengths, weaknesses, recommendations, tools and arguments"`
	Catalogue string           `json:"catalogue_id,omitempty" doc:"of a search for weights: score and delta are of its goal on the questions held out"`
	Summary   string           `json:"config_summary"`
	Warnings  []string         `json:"warnings,omitempty" doc:"also lists other differences from the baseline: suite, tasks, prompts, tools, parameters, rules"`
}

// TimelineTarget is a target of a run in the timeline.
type TimelineTarget struct {
	Name    string          `json:"name"`
	Config  app.TargetSpec  `json:"config"`
	Hash    string          `json:"config_hash"`
	Pass    *stats.Interval `json:"pass_rate"`
	Score   *stats.Interval `json:"score" doc:"of the overall score"`
	Against string          `json:"against,omitempty" doc:"target of the other run that it is compared with"`
	// Claim is about the overall score, PassChange about the pass rate.
	Claim
	PassChange *Claim `json:"pass_change,omitempty" doc:"how the pass rate changed; the fields change, p, p_holm and verdict outside of it are about the score"`
}

// Claim is a change with its interval, and whether it is more than chance.
type Claim struct {
	Change  *stats.Interval `json:"change,omitempty" doc:"against the run that it is compared with, paired by case"`
	P       *float64        `json:"p,omitempty"`
	PHolm   *float64        `json:"p_holm,omitempty" doc:"p over all comparisons of the metric here (Holm): it decides the verdict"`
	Verdict panel.Change    `json:"verdict,omitempty"`
}

// JudgeReport is the report of a judge on a target.
type JudgeReport = report.JudgeReport

// Timeline is an experiment in the order of time.
type Timeline struct {
	Experiment string `json:"experiment_id"`
	Baseline   string `json:"baseline_eval_id"`
	BaselineLine
	Entries []TimelineEntry `json:"entries"`
}

func timeline(ctx context.Context, s *api.Server, by *account.Principal, in *ExperimentIn) (*Timeline, error) {
	e, err := readExperiment(ctx, s, by, in.ID)
	if err != nil {
		return nil, err
	}
	runs, err := runsOf(ctx, s, by, &e)
	if err != nil {
		return nil, err
	}
	out := Timeline{Experiment: e.ID, Baseline: e.Baseline, Entries: []TimelineEntry{}}
	var base *EvalRun
	if e.Baseline != "" {
		if base, err = lineOf(ctx, s, e.Baseline); err != nil {
			return nil, err
		}
	}
	out.BaselineLine = baselineLine(base)
	var claims families
	for i := range runs {
		entry, err := entry(ctx, s, &e, &runs[i], base, &claims)
		if err != nil {
			return nil, err
		}
		out.Entries = append(out.Entries, *entry)
		judged, err := judged(ctx, s, &runs[i])
		if err != nil {
			return nil, err
		}
		out.Entries = append(out.Entries, judged...)
	}
	searches, err := tuned(ctx, s, by, e.ID)
	if err != nil {
		return nil, err
	}
	out.Entries = append(out.Entries, searches...)
	claims.settle()
	slices.SortStableFunc(out.Entries, func(a, b TimelineEntry) int { return a.Timestamp.Compare(b.Timestamp) })
	return &out, nil
}

// entry is a run in the timeline; base is the baseline, nil without one.
func entry(ctx context.Context, s *api.Server, e *rows.Experiment, r *trial, base *EvalRun,
	claims *families,
) (*TimelineEntry, error) {
	out := &TimelineEntry{
		Type: "eval", ID: r.line.ID, Run: r.line.ID, Name: r.line.Name, Timestamp: r.line.Created,
		Status: r.line.Status, Version: r.line.Version, Score: r.line.AvgScore, Interval: r.line.AvgInterval,
		Baseline: r.line.ID == e.Baseline,
		Summary:  summarize(r.config), Targets: make([]TimelineTarget, len(r.line.Targets)),
	}
	if out.LeftOut = r.line.LeftOut; out.LeftOut > 0 {
		out.Asked = r.line.Total
	}
	var against *panel.Comparison
	switch {
	case base == nil || base.AvgScore == nil || out.Score == nil:
	case out.Baseline:
		out.Delta = new(float64)
	default:
		var err error
		if against, err = comparedWithBaseline(ctx, s, e, r.line.ID); err != nil {
			return nil, err
		}
		out.Delta, out.Warnings = deltaOf(against), differs(against, r.line, base)
	}
	for i := range r.line.Targets {
		t := &out.Targets[i]
		t.measured(&r.line.Targets[i])
		if i < len(r.config.Targets) {
			t.Config, t.Hash = r.config.Targets[i].Spec, r.config.Targets[i].Hash
		}
		if against != nil {
			claims.add(t, against)
		}
	}
	return out, nil
}

// comparedWithBaseline compares a run with the baseline of its experiment.
func comparedWithBaseline(ctx context.Context, s *api.Server, e *rows.Experiment,
	run string,
) (*panel.Comparison, error) {
	return compared(ctx, s, run, traces.DiffRequest{Base: app.Side{Run: e.Baseline}, Target: e.BaselineTarget})
}

// compared compares the overall scores of two runs; with selects the targets.
func compared(ctx context.Context, s *api.Server, run string, with traces.DiffRequest) (*panel.Comparison, error) {
	state, err := results.State(ctx, s.Config.App, with.Base.Run)
	if err != nil {
		return nil, err
	}
	with.Candidate, with.Slices, with.Metrics = app.Side{Run: run}, []string{}, []string{metricOverall}
	about := fmt.Sprintf("against %s %s %q %s", with.Base.Run, with.Target, with.Pairs, state)
	return api.Stored(ctx, s, run, about,
		func() (*panel.Comparison, error) { return traces.Diff(ctx, s.Config.App, with, nil) })
}

// overall is the difference of the overall scores of a pair; nil if there is none.
func overall(c *panel.TargetComparison) *panel.Difference {
	for i := range c.Measured {
		if c.Measured[i].Metric == metricOverall {
			return &c.Measured[i].Overall
		}
	}
	return nil
}

// deltaOf is the mean change of the compared targets, over the tasks of both runs; nil if there are
// none.
func deltaOf(c *panel.Comparison) *float64 {
	sum, n := 0.0, 0
	for i := range c.Targets {
		if d := overall(&c.Targets[i]); d != nil && d.Change.Defined() {
			sum, n = sum+d.Change.Point, n+1
		}
	}
	if n == 0 {
		return nil
	}
	sum /= float64(n)
	return &sum
}

// differs lists the differences between two compared runs other than targets and time.
func differs(c *panel.Comparison, now, was *EvalRun) (out []string) {
	if a, b := was.Version, now.Version; a != b && a > 0 && b > 0 {
		out = append(out,
			fmt.Sprintf(
				"the suite is version %d here, and version %d in %s: only tasks that are the same in both are compared",
				b, a, was.ID))
	}
	if n := len(c.OnlyCandidate); n > 0 {
		out = append(out, plain.Count(n, "task is", "tasks are")+" in this run only, and not compared")
	}
	if n := len(c.OnlyBaseline); n > 0 {
		out = append(out, plain.Count(n, "task is", "tasks are")+" in "+was.ID+" only, and not compared")
	}
	return append(out, c.Warnings...)
}

// measured copies the scores of the target.
func (t *TimelineTarget) measured(m *TargetScore) {
	t.Name = m.Name
	if m.Score != nil {
		t.Score = &m.Score.Interval
	}
	if m.Pass != nil {
		t.Pass = &m.Pass.Interval
	}
}

// families are the comparisons of a timeline, by metric.
type families struct{ scores, passes family }

// add takes the comparison of a target.
func (f *families) add(t *TimelineTarget, c *panel.Comparison) {
	for i := range c.Targets {
		of := &c.Targets[i]
		if of.Candidate != t.Name {
			continue
		}
		t.Against, t.PassChange = of.Baseline, new(Claim)
		f.passes.add(t.PassChange, &of.Overall)
		if d := overall(of); d != nil {
			f.scores.add(&t.Claim, d)
		}
	}
}

func (f *families) settle() {
	f.scores.settle()
	f.passes.settle()
}

// family are comparisons of one metric. Among many some differ by chance: the verdicts are
// corrected for all of them together.
type family struct {
	claims      []*Claim
	differences []*panel.Difference
}

// add makes a claim of a difference.
func (f *family) add(c *Claim, d *panel.Difference) {
	c.Change = &d.Change
	if !math.IsNaN(d.P) {
		c.P = &d.P
	}
	f.claims, f.differences = append(f.claims, c), append(f.differences, d)
}

// settle sets the verdicts of the claims, after all were added.
func (f *family) settle() {
	panel.Family(f.differences)
	for i, d := range f.differences {
		f.claims[i].Verdict, f.claims[i].PHolm = d.Verdict, d.PHolm
	}
}

// judged returns the reports of judges about a run.
func judged(ctx context.Context, s *api.Server, r *trial) ([]TimelineEntry, error) {
	list, err := runs.List(ctx, s.Config.App, runs.JudgeListRequest{Side: app.Side{Run: r.line.ID}})
	if err != nil {
		return nil, err
	}
	var out []TimelineEntry
	for i := range list {
		j := &list[i]
		if j.Problem != "" {
			out = append(out, TimelineEntry{
				Type: "judge", ID: j.ID, Run: r.line.ID, Timestamp: j.Created.UTC(), Status: string(j.Status),
				Warnings: []string{"the judging is lost: " + j.Problem},
			})
			continue
		}
		shown, err := api.Stored(ctx, s, r.line.ID, fmt.Sprintf("judging %s %s", j.ID, j.Status),
			func() (*results.Judged, error) {
				return runs.Show(ctx, s.Config.App, runs.JudgeShowRequest{Judging: j.ID}, nil)
			})
		if err != nil {
			return nil, err
		}
		entry := TimelineEntry{
			Type: "judge", ID: j.ID, Run: r.line.ID, Timestamp: j.Created.UTC(),
			Status: string(j.Status), Judge: j.JudgeID, Summary: j.JudgeID,
		}
		for i := range shown.Judgings {
			v := &shown.Judgings[i]
			entry.Score, entry.Interval, entry.Reports = v.Score, v.Interval, runs.Reports(v)
			if silent := v.Questions - v.Answered; silent > 0 || v.Unscored > 0 {
				entry.Warnings = append(entry.Warnings,
					fmt.Sprintf("the judge left %d of %s without an answer, and %s unscored",
						silent, plain.Count(v.Questions, "question", "questions"),
						plain.Count(v.Unscored, "verdict", "verdicts")))
			}
		}
		out = append(out, entry)
	}
	return out, nil
}

// summarize describes the request of a run in a few words.
func summarize(c *runs.RunConfiguration) string {
	text := ""
	for i := range c.Targets {
		if i > 0 {
			text += ", "
		}
		text += c.Targets[i].Name
		if brief := runs.BriefOf(&c.Targets[i].Spec); brief != "" {
			text += " (" + brief + ")"
		}
	}
	if c.Repeats > 1 {
		text += fmt.Sprintf(" × %d", c.Repeats)
	}
	return text
}
