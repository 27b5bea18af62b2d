// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/experiment"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// Experiment is a named sequence of runs of a suite.
type Experiment struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	SuiteID     string    `json:"suite_id"`
	State       string    `json:"state" enum:"active,archived"`
	Baseline    string    `json:"baseline_eval_id" doc:"empty: none is pinned"`
	BaseTarget  string    `json:"baseline_target,omitempty" doc:"target of the baseline for targets that have no namesake there"`
	Shared      bool      `json:"shared"`
	User        string    `json:"user_id"`
	Created     time.Time `json:"created"`
	Updated     time.Time `json:"updated"`
}

// ExperimentDetails is an experiment with what it has come to.
type ExperimentDetails struct {
	Experiment
	BaselineScore *float64    `json:"baseline_score" doc:"avg_score of the baseline; null without one"`
	Runs          int         `json:"runs"`
	Best          *BestConfig `json:"best_config" doc:"null until a run has a score"`
}

// BestConfig is the configuration that an experiment would go on with.
type BestConfig struct {
	Run       string         `json:"eval_id" doc:"the run that its score is of"`
	Target    string         `json:"target"`
	Config    app.TargetSpec `json:"config"`
	Hash      string         `json:"config_hash"`
	Suite     string         `json:"suite_hash" doc:"the suite that the score is of"`
	Score     stats.Interval `json:"score"`
	Confirmed bool           `json:"confirmed" doc:"the score is of a fresh run that was made after the configuration had been chosen"`
	Of        int            `json:"of" doc:"how many configurations were compared, by the lower bound of their score"`
	Note      string         `json:"note"`
}

// TimelineEntry is a run, or a report of a judge, in its place in time.
type TimelineEntry struct {
	Type      string    `json:"type" enum:"eval,judge"`
	ID        string    `json:"id"`
	Run       string    `json:"eval_id"`
	Timestamp time.Time `json:"timestamp"`
	Status    string    `json:"status"`
	Version   int64     `json:"suite_version,omitempty"`
	Score     *float64  `json:"score" doc:"avg_score of a run, mean score of a judge; null where there is none"`
	// Delta is avg_score less that of the baseline: of targets, see their own.
	Delta    *float64         `json:"delta" doc:"avg_score - baseline_score; null without a baseline"`
	Baseline bool             `json:"baseline,omitempty"`
	Targets  []TimelineTarget `json:"targets,omitempty"`
	Judge    string           `json:"judge,omitempty"`
	Summary  string           `json:"config_summary"`
	Warnings []string         `json:"warnings,omitempty"`
}

// TimelineTarget is a target of a run in the timeline.
type TimelineTarget struct {
	Name    string          `json:"name"`
	Config  app.TargetSpec  `json:"config"`
	Hash    string          `json:"config_hash"`
	Score   *stats.Interval `json:"score" doc:"of the overall score"`
	Against string          `json:"against,omitempty" doc:"target of the baseline that it is compared with"`
	// Change is paired by case, with its interval.
	Change  *stats.Interval `json:"change,omitempty" doc:"of the overall score against the baseline, paired by case"`
	P       *float64        `json:"p,omitempty"`
	Verdict panel.Change    `json:"verdict,omitempty"`
}

// Timeline is an experiment in the order of time.
type Timeline struct {
	Experiment    string          `json:"experiment_id"`
	Baseline      string          `json:"baseline_eval_id"`
	BaselineScore *float64        `json:"baseline_score"`
	Entries       []TimelineEntry `json:"entries"`
}

// ExperimentIn names an experiment in a path.
type ExperimentIn struct {
	ID string `path:"id" maxLength:"100"`
}

func (s *Server) addExperiments() {
	one := map[string]Kind{"id": KindExperiment}
	tags := []string{"experiments"}
	add(s, huma.Operation{OperationID: "list-experiments", Method: http.MethodGet, Path: "/api/experiments", Summary: "List experiments", Tags: tags}, Access{}, s.experiments)
	add(s, huma.Operation{
		OperationID: "create-experiment", Method: http.MethodPost, Path: "/api/experiments", Summary: "Create an experiment", Tags: tags, DefaultStatus: http.StatusCreated,
	}, Access{Role: account.Member}, s.createExperiment)
	add(s, huma.Operation{OperationID: "get-experiment", Method: http.MethodGet, Path: "/api/experiments/{id}", Summary: "Get an experiment with its best configuration", Tags: tags}, Access{Objects: one}, s.experimentDetails)
	add(s, huma.Operation{OperationID: "update-experiment", Method: http.MethodPut, Path: "/api/experiments/{id}", Summary: "Update an experiment", Tags: tags}, Access{Objects: one}, s.updateExperiment)
	add(s, huma.Operation{
		OperationID: "delete-experiment", Method: http.MethodDelete, Path: "/api/experiments/{id}", Summary: "Delete an experiment; its runs stay", Tags: tags, DefaultStatus: http.StatusNoContent,
	}, Access{Objects: one}, func(ctx context.Context, by *account.Principal, in *ExperimentIn) (*struct{}, error) {
		return nil, s.cfg.Store.Change(ctx, "delete experiment", func(q *rows.Queries) error {
			_, err := q.DeleteExperiment(ctx, rows.DeleteExperimentParams{ID: in.ID, Deleted: s.cfg.Now().UnixMilli()})
			return errors.Join(err, s.deletes(ctx, by, KindExperiment, in.ID).Do(q))
		})
	})
	add(s, huma.Operation{
		OperationID: "pin-baseline", Method: http.MethodPut, Path: "/api/experiments/{id}/baseline", Summary: "Pin a run as the baseline", Tags: tags,
	}, Access{Objects: one}, s.pinBaseline)
	add(s, huma.Operation{
		OperationID: "get-timeline", Method: http.MethodGet, Path: "/api/experiments/{id}/timeline", Summary: "Runs in the order of time, with differences from the baseline", Tags: tags,
	}, Access{Objects: one}, s.timeline)
	add(s, huma.Operation{
		OperationID: "run-best", Method: http.MethodPost, Path: "/api/experiments/{id}/run-best", Summary: "Run the best configuration anew, as a job: no stored answer is used", Tags: tags, DefaultStatus: http.StatusAccepted,
	}, Access{Role: account.Member, Scope: account.ScopeRun, Objects: one}, s.runBest)
}

func tellExperiment(e *rows.Experiment) Experiment {
	return Experiment{
		ID: e.ID, Name: e.Name, Description: string(e.Description), SuiteID: e.SuiteID, State: e.State, Baseline: e.Baseline, BaseTarget: e.BaselineTarget, Shared: e.Shared, User: e.UserID,
		Created: milli(e.Created), Updated: milli(e.Updated),
	}
}

func (s *Server) experiments(ctx context.Context, by *account.Principal, in *PageIn) (*struct{ Body Page[Experiment] }, error) {
	m, err := in.mark()
	if err != nil {
		return nil, err
	}
	list, err := s.cfg.Store.Rows().Experiments(ctx, rows.ExperimentsParams{UserID: by.User, Everything: by.Role == account.Admin, Before: m.At, BeforeID: m.ID, AtMost: int64(in.Limit) + 1})
	if err != nil {
		return nil, fmt.Errorf("list experiments: %w", err)
	}
	out := Page[Experiment]{Items: []Experiment{}}
	list, out.Next = cut(list, in.Limit, func(e *rows.Experiment) pageMark { return pageMark{e.Created, e.ID} })
	for i := range list {
		out.Items = append(out.Items, tellExperiment(&list[i]))
	}
	return &struct{ Body Page[Experiment] }{out}, nil
}

// ExperimentFields are what a user says of an experiment.
type ExperimentFields struct {
	Name        string `json:"name" minLength:"1" maxLength:"256"`
	Description string `json:"description,omitempty" maxLength:"5000"`
	Shared      bool   `json:"shared,omitempty" doc:"every user of the server may read it"`
}

func (s *Server) createExperiment(ctx context.Context, by *account.Principal, in *struct {
	Body struct {
		ExperimentFields
		SuiteID  string `json:"suite_id" minLength:"1" maxLength:"100"`
		Baseline string `json:"baseline_eval_id,omitempty" maxLength:"100" doc:"a run of the suite"`
	}
},
) (*struct{ Body ExperimentDetails }, error) {
	if err := s.May(ctx, by, KindSuite, in.Body.SuiteID, false); err != nil {
		return nil, err
	}
	if in.Body.Baseline != "" {
		if err := s.baselineFits(ctx, by, in.Body.Baseline, in.Body.SuiteID, ""); err != nil {
			return nil, err
		}
	}
	id, err := store.NewID(nil, "exp")
	if err != nil {
		return nil, err
	}
	err = s.cfg.Store.Change(ctx, "create experiment", func(q *rows.Queries) error {
		return q.AddExperiment(ctx, rows.AddExperimentParams{
			ID: id, UserID: by.User, Name: in.Body.Name, Description: []byte(in.Body.Description), SuiteID: in.Body.SuiteID, Baseline: in.Body.Baseline,
			State: "active", Shared: in.Body.Shared, Created: s.cfg.Now().UnixMilli(),
		})
	})
	if err != nil {
		return nil, err
	}
	return s.experimentDetails(ctx, by, &ExperimentIn{ID: id})
}

func (s *Server) updateExperiment(ctx context.Context, by *account.Principal, in *struct {
	ExperimentIn
	Body struct {
		ExperimentFields
		State string `json:"state,omitempty" enum:"active,archived" default:"active"`
	}
},
) (*struct{ Body ExperimentDetails }, error) {
	err := s.cfg.Store.Change(ctx, "update experiment", func(q *rows.Queries) error {
		_, err := q.ChangeExperiment(ctx, rows.ChangeExperimentParams{
			ID: in.ID, Name: in.Body.Name, Description: []byte(in.Body.Description), State: in.Body.State, Shared: in.Body.Shared, Updated: s.cfg.Now().UnixMilli(),
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.experimentDetails(ctx, by, &in.ExperimentIn)
}

func (s *Server) pinBaseline(ctx context.Context, by *account.Principal, in *struct {
	ExperimentIn
	Body struct {
		Run    string `json:"eval_id" maxLength:"100" doc:"empty: no baseline any more"`
		Target string `json:"target,omitempty" maxLength:"500" doc:"with which targets are compared that have no namesake in the run"`
	}
},
) (*struct{ Body ExperimentDetails }, error) {
	e, err := s.cfg.Store.Rows().Experiment(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read experiment: %w", err)
	}
	if in.Body.Run != "" {
		if err := s.baselineFits(ctx, by, in.Body.Run, e.SuiteID, in.Body.Target); err != nil {
			return nil, err
		}
	}
	err = s.cfg.Store.Change(ctx, "pin baseline", func(q *rows.Queries) error {
		_, err := q.PinBaseline(ctx, rows.PinBaselineParams{ID: in.ID, Baseline: in.Body.Run, BaselineTarget: in.Body.Target, Updated: s.cfg.Now().UnixMilli()})
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.experimentDetails(ctx, by, &in.ExperimentIn)
}

// baselineFits refuses a baseline that by may not read, or of another suite.
func (s *Server) baselineFits(ctx context.Context, by *account.Principal, run, suite, target string) error {
	if err := s.May(ctx, by, KindRun, run, false); err != nil {
		return err
	}
	e, err := s.cfg.Store.Rows().RunEntry(ctx, run)
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	if e.SuiteID != suite {
		return &callvet.FieldError{Field: "eval_id", Text: fmt.Sprintf("{eval_id} %s is a run of another suite", run)}
	}
	if target == "" {
		return nil
	}
	c, err := s.cfg.App.Configuration(ctx, run)
	if err != nil {
		return err
	}
	for i := range c.Targets {
		if c.Targets[i].Name == target {
			return nil
		}
	}
	return &callvet.FieldError{Field: "target", Text: fmt.Sprintf("{target} %s: the run has no such target", target)}
}

// linkable refuses to link runs of a suite to an experiment that by may not change, or of another
// suite.
func (s *Server) linkable(ctx context.Context, by *account.Principal, id, suite string) error {
	if err := s.May(ctx, by, KindExperiment, id, true); err != nil {
		return err
	}
	e, err := s.cfg.Store.Rows().Experiment(ctx, id)
	if err != nil {
		return fmt.Errorf("read experiment: %w", err)
	}
	if e.SuiteID != suite {
		return &callvet.FieldError{Field: "experiment_id", Text: fmt.Sprintf("{experiment_id} %s is about another suite", id)}
	}
	return nil
}

func (s *Server) experimentDetails(ctx context.Context, _ *account.Principal, in *ExperimentIn) (*struct{ Body ExperimentDetails }, error) {
	e, err := s.experiment(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	runs, err := s.runsOf(ctx, &e)
	if err != nil {
		return nil, err
	}
	out := ExperimentDetails{Experiment: tellExperiment(&e), Runs: len(runs)}
	if e.Baseline != "" {
		if out.BaselineScore, err = s.avgScore(ctx, e.Baseline); err != nil {
			return nil, err
		}
	}
	out.Best = bestOf(runs)
	return &struct{ Body ExperimentDetails }{out}, nil
}

// experiment is one without a baseline that its owner may not read any more, such as a run that another user
// shares no longer.
func (s *Server) experiment(ctx context.Context, id string) (rows.Experiment, error) {
	e, err := s.cfg.Store.Rows().Experiment(ctx, id)
	if err != nil {
		return e, fmt.Errorf("read experiment: %w", err)
	}
	if e.Baseline == "" || s.cfg.Accounts == nil {
		return e, nil
	}
	owner, err := s.principal(ctx, e.UserID)
	if errors.Is(err, callvet.ErrNotFound) { // he was removed: what he had is there as it was
		owner, err = &account.Principal{User: e.UserID, Role: account.Member}, nil
	}
	if err == nil {
		err = s.May(ctx, owner, KindRun, e.Baseline, false)
	}
	if errors.Is(err, callvet.ErrNotFound) {
		e.Baseline, e.BaselineTarget, err = "", "", nil
	}
	return e, err
}

// avgScore is that of a run; nil where it has none, or was deleted.
func (s *Server) avgScore(ctx context.Context, run string) (*float64, error) {
	e, err := s.cfg.Store.Rows().RunEntry(ctx, run)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	line, err := s.line(ctx, (*rows.RunEntry)(&e))
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return line.AvgScore, nil
}

// trial is a run of an experiment with what it asked.
type trial struct {
	line   *EvalRun
	config *app.RunConfiguration
}

// runsOf are the runs of an experiment, the oldest first.
func (s *Server) runsOf(ctx context.Context, e *rows.Experiment) ([]trial, error) {
	list, err := s.cfg.Store.Rows().RunsOfExperiment(ctx, e.ID)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return s.trials(ctx, list)
}

// trials are the runs of a list that are still there, in its order.
func (s *Server) trials(ctx context.Context, list []rows.RunEntry) ([]trial, error) {
	var out []trial
	for i := range list {
		line, err := s.line(ctx, &list[i])
		if isMissing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		config, err := s.cfg.App.Configuration(ctx, line.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, trial{line, config})
	}
	return out, nil
}

// result is the score of a configuration in a run.
type result struct {
	experiment.Result
	spec    app.TargetSpec
	pass    *stats.Interval // nil: none
	created time.Time
}

// results are the scores of runs that are done, in their order.
func results(runs []trial) []result {
	var out []result
	for _, r := range runs {
		for i := range r.line.Targets {
			t := &r.line.Targets[i]
			if t.Score == nil || i >= len(r.config.Targets) || r.line.Status != "done" {
				continue
			}
			c := &r.config.Targets[i]
			one := result{spec: c.Spec, created: r.line.Created, Result: experiment.Result{
				Run: r.line.ID, Target: t.Name, Config: c.Hash, Suite: r.config.SuiteHash, Score: t.Score.Interval, Fresh: r.config.Fresh, Whole: r.config.Whole, Floor: c.Floor,
			}}
			if t.Pass != nil {
				one.pass = &t.Pass.Interval
			}
			out = append(out, one)
		}
	}
	return out
}

func bestOf(runs []trial) *BestConfig {
	var of []experiment.Result
	specs := map[string]app.TargetSpec{}
	for _, r := range results(runs) {
		specs[r.Config] = r.spec
		of = append(of, r.Result)
	}
	b := experiment.Choose(of)
	if b == nil {
		return nil
	}
	out := &BestConfig{Run: b.Run, Target: b.Target, Config: specs[b.Config], Hash: b.Config, Suite: b.Suite, Score: b.Score, Confirmed: b.Confirmed, Of: b.Of}
	switch {
	case b.Confirmed:
		out.Note = "a fresh run confirmed it"
	case b.Of == 1:
		out.Note = "the only configuration so far; not confirmed by a fresh run"
	default:
		out.Note = "the highest lower bound so far; not confirmed by a fresh run: what was chosen as the best of several looks better than it is"
	}
	return out
}

// runBest runs the best configuration of an experiment once more, on the suite as it is now. Nothing
// that was answered before is used, so that the run can confirm what was chosen.
func (s *Server) runBest(ctx context.Context, by *account.Principal, in *struct {
	ExperimentIn
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"a second request with the same one gives the first job"`
	Body *struct {
		Repeats    int     `json:"repeats,omitempty" minimum:"0" maximum:"100" doc:"0: as many as the run that was the best"`
		MaxCostUSD float64 `json:"max_cost_usd,omitempty" minimum:"0"`
		Name       string  `json:"name,omitempty" doc:"finds the run later"`
	}
},
) (*submittedOutput, error) {
	e, err := s.cfg.Store.Rows().Experiment(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read experiment: %w", err)
	}
	runs, err := s.runsOf(ctx, &e)
	if err != nil {
		return nil, err
	}
	best := bestOf(runs)
	if best == nil {
		return nil, &callvet.Hinted{Err: fmt.Errorf("run the best configuration: %w: no run of the experiment has a score of all cases yet", callvet.ErrConflict), Hint: `POST /api/tool-eval with "experiment_id"`}
	}
	ask := &app.RunRequest{Targets: []app.TargetSpec{best.Config}, NoCache: true}
	for _, r := range runs {
		if r.line.ID == best.Run {
			ask.Repeats = r.config.Repeats
		}
	}
	if in.Body != nil {
		ask.Name, ask.Settings.MaxCostUSD = in.Body.Name, in.Body.MaxCostUSD
		ask.Repeats = cmp.Or(in.Body.Repeats, ask.Repeats)
	}
	out, err := s.submitRun(ctx, by, &submission{suite: e.SuiteID, experiment: e.ID, ask: ask, key: in.Key})
	if err != nil {
		return nil, err
	}
	now, err := s.cfg.App.Configuration(ctx, out.Body.ResultRef)
	if err != nil {
		return nil, err
	}
	if now.SuiteHash != best.Suite {
		out.Body.Warnings = append(out.Body.Warnings, callvet.Notice{Code: "suite-changed", Text: "the suite has changed since the best configuration was chosen: this run cannot confirm it, and begins anew on the suite as it is"})
	}
	return out, nil
}

func (s *Server) timeline(ctx context.Context, _ *account.Principal, in *ExperimentIn) (*struct{ Body Timeline }, error) {
	e, err := s.experiment(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	runs, err := s.runsOf(ctx, &e)
	if err != nil {
		return nil, err
	}
	out := Timeline{Experiment: e.ID, Baseline: e.Baseline, Entries: []TimelineEntry{}}
	if e.Baseline != "" {
		if out.BaselineScore, err = s.avgScore(ctx, e.Baseline); err != nil {
			return nil, err
		}
	}
	for i := range runs {
		entry, err := s.entry(ctx, &e, &runs[i], out.BaselineScore)
		if err != nil {
			return nil, err
		}
		out.Entries = append(out.Entries, *entry)
		judged, err := s.judged(ctx, &runs[i])
		if err != nil {
			return nil, err
		}
		out.Entries = append(out.Entries, judged...)
	}
	return &struct{ Body Timeline }{out}, nil
}

// entry is a run in the timeline.
func (s *Server) entry(ctx context.Context, e *rows.Experiment, r *trial, baseline *float64) (*TimelineEntry, error) {
	out := &TimelineEntry{
		Type: "eval", ID: r.line.ID, Run: r.line.ID, Timestamp: r.line.Created, Status: r.line.Status, Version: r.line.Version, Score: r.line.AvgScore, Baseline: r.line.ID == e.Baseline,
		Summary: summarize(r.config),
	}
	if out.Score != nil && baseline != nil {
		d := *out.Score - *baseline
		out.Delta = &d
	}
	var against *panel.Comparison
	if baseline != nil && !out.Baseline && out.Score != nil {
		var err error
		if against, err = s.against(ctx, e, r.line.ID); err != nil {
			return nil, err
		}
		out.Warnings = against.Warnings
	}
	for i := range r.line.Targets {
		t := TimelineTarget{Name: r.line.Targets[i].Name}
		if m := r.line.Targets[i].Score; m != nil {
			t.Score = &m.Interval
		}
		if i < len(r.config.Targets) {
			t.Config, t.Hash = r.config.Targets[i].Spec, r.config.Targets[i].Hash
		}
		if against != nil {
			t.change(against)
		}
		out.Targets = append(out.Targets, t)
	}
	return out, nil
}

// against compares a run with the baseline of its experiment.
func (s *Server) against(ctx context.Context, e *rows.Experiment, run string) (*panel.Comparison, error) {
	return s.compared(ctx, run, e.Baseline, e.BaselineTarget)
}

// compared compares the overall scores of a run with those of another one; target is that of the
// baseline for targets that have no namesake there.
func (s *Server) compared(ctx context.Context, run, baseline, target string) (*panel.Comparison, error) {
	state, err := s.cfg.App.RunState(ctx, baseline)
	if err != nil {
		return nil, err
	}
	return told(ctx, s, run, "against "+baseline+" "+target+" "+state, func() (*panel.Comparison, error) {
		return s.cfg.App.Diff(ctx, app.DiffRequest{Base: app.Side{Run: baseline}, Candidate: app.Side{Run: run}, Slices: []string{}, Metrics: []string{metricOverall}, Target: target}, nil)
	})
}

// change takes what the comparison says of the target.
func (t *TimelineTarget) change(c *panel.Comparison) {
	for i := range c.Targets {
		if c.Targets[i].Candidate != t.Name {
			continue
		}
		for j := range c.Targets[i].Measured {
			m := &c.Targets[i].Measured[j]
			if m.Metric != metricOverall {
				continue
			}
			t.Against, t.Change, t.Verdict = c.Targets[i].Baseline, &m.Overall.Change, m.Overall.Verdict
			if p := m.Overall.P; !math.IsNaN(p) {
				t.P = &p
			}
		}
	}
}

// judged are the reports of judges about a run.
func (s *Server) judged(ctx context.Context, r *trial) ([]TimelineEntry, error) {
	list, err := s.cfg.App.JudgeList(ctx, app.JudgeListRequest{Side: app.Side{Run: r.line.ID}})
	if err != nil {
		return nil, err
	}
	var out []TimelineEntry
	for i := range list {
		j := &list[i]
		if j.About != r.line.ID { // one that is built in, and was not asked
			continue
		}
		out = append(out, TimelineEntry{Type: "judge", ID: j.ID, Run: r.line.ID, Timestamp: j.Created.UTC(), Status: string(j.Status), Score: j.Score, Judge: j.JudgeID, Summary: j.JudgeID})
	}
	return out, nil
}

// summarize tells in a few words what a run asked.
func summarize(c *app.RunConfiguration) string {
	text := ""
	for i := range c.Targets {
		if i > 0 {
			text += ", "
		}
		text += c.Targets[i].Name
		if choice := c.Targets[i].Spec.ToolChoice; choice != "" {
			text += " (tool_choice " + choice + ")"
		}
	}
	if c.Repeats > 1 {
		text += fmt.Sprintf(" × %d", c.Repeats)
	}
	return text
}
