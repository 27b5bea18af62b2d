// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/cases"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/server/assets"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// metricOverall is the metric that Tool Calling Evaluation calls the score of a run.
const metricOverall = "overall"

// EvalRun is a line of the list of runs.
type EvalRun struct {
	ID        string    `json:"id"`
	Name      string    `json:"name,omitempty" doc:"the name that its owner gave it"`
	Notes     string    `json:"notes,omitempty"`
	Tags      []string  `json:"run_tags,omitempty"`
	Created   time.Time `json:"timestamp"`
	Finished  time.Time `json:"finished,omitzero"`
	Status    string    `json:"status" enum:"queued,running,done,interrupted,cancelled,failed,budget"`
	SuiteID   string    `json:"suite_id" doc:"empty for a suite that the server does not keep by name"`
	SuiteName string    `json:"suite_name"`
	Version   int64     `json:"suite_version"`
	Models    []string  `json:"models"`
	// AvgScore is the mean of the overall scores of all targets, from 0 to 1; null until the run is
	// over, and if nothing was judged. Each target has its own score, with an interval.
	AvgScore *float64 `json:"avg_score" doc:"mean of the overall scores of the targets, from 0 to 1; null until the run is over"`
	// AvgInterval is AvgScore with its interval and n.
	AvgInterval  *stats.Interval `json:"avg_interval" doc:"avg_score with its interval and n"`
	Targets      []TargetScore   `json:"targets,omitempty"`
	Verdicts     panel.Verdicts  `json:"verdicts"`
	Planned      int             `json:"planned" doc:"attempts that were to be made, less those that were left out on purpose"`
	Judged       int             `json:"judged" doc:"attempts that passed or failed"`
	Lost         int             `json:"lost" doc:"planned attempts without an outcome; while the run goes on, those that ended in an error"`
	UntilDecided bool            `json:"until_decided,omitempty" doc:"the run ends when its gates are decided"`
	LeftOut      int             `json:"left_out,omitempty" doc:"attempts that were not made, because the gates were decided; total_cases does not count them"`
	Cases        int             `json:"cases" doc:"cases of the run"`
	Total        int             `json:"total_cases" doc:"attempts: of each target at each case, with repeats; floors are left out if there are models"`
	Passed       int             `json:"cases_passed" doc:"of total_cases"`
	Requests     int             `json:"requests" doc:"sent to the targets, including repeated and stopped attempts"`
	CostUSD      *float64        `json:"cost_usd" doc:"null where it is not known"`
	Experiment   string          `json:"experiment_id,omitempty"`
	Job          string          `json:"job_id,omitempty"`
	Shared       bool            `json:"shared"`
	User         string          `json:"user_id" doc:"empty for a run of the command line"`
	UserName     string          `json:"user_name,omitempty" doc:"of a single run: the name of that user; left out where he is gone"`
	Problem      string          `json:"problem,omitempty" doc:"the parts of the run that cannot be read"`
}

// TargetScore is the overall score and the pass rate of one target, each with its interval.
type TargetScore struct {
	Name  string        `json:"name"`
	Score *panel.Metric `json:"score,omitempty"`
	Pass  *panel.Metric `json:"pass_rate,omitempty"`
	Floor bool          `json:"floor,omitempty" doc:"an offline target that every model should beat; it counts in no mean"`
}

type historyIn struct {
	api.PageIn
	Suite      string `query:"suite_id" maxLength:"100"`
	SuiteName  string `query:"suite" maxLength:"500" doc:"the name of a suite, as runs of the command line have it"`
	Experiment string `query:"experiment_id" maxLength:"100"`
}

// AddRuns adds the routes of runs.
func AddRuns(s *api.Server) {
	run := map[string]api.Kind{"id": api.KindRun}
	op := api.Operations("runs", "/api")
	api.Answer(s, op("list-history", http.MethodGet, "/tool-eval/history", "List eval runs"),
		api.Access{}, api.With(s, history))
	api.Answer(s, op("get-history", http.MethodGet, "/tool-eval/history/{id}", "Get eval run details"),
		api.Access{Objects: run}, api.With(s, historyRun))
	api.Add(s, api.Returning(http.StatusNoContent, op("delete-history", http.MethodDelete, "/tool-eval/history/{id}",
		"Delete an eval run")), api.Access{Objects: run}, api.With(s, deleteRun))
	api.Answer(s, op("get-run", http.MethodGet, "/runs/{id}", "What a report contains of a run"),
		api.Access{Objects: run},
		func(ctx context.Context, _ *account.Principal, in *api.RunIn) (*report.Document, error) {
			return document(ctx, s, in.ID)
		})
	api.Add(s, api.Returning(http.StatusNoContent, op("patch-run", http.MethodPatch, "/runs/{id}",
		"Name a run, share it with all users, or link it to an experiment")),
		api.Access{Objects: run}, api.With(s, patchRun))
	api.Answer(s, op("get-run-change", http.MethodGet, "/runs/{id}/change",
		"How pass rates changed: against the baseline of the experiment, or the run before of the same suite and "+
			"model"),
		api.Access{Objects: run}, api.With(s, runChange))
	api.Answer(s, op("list-cells", http.MethodGet, "/runs/{id}/cells", "Attempts of a run, filtered and sorted"),
		api.Access{Objects: run}, api.With(s, cells))
	api.Answer(s, op("get-grid", http.MethodGet, "/runs/{id}/grid",
		"Cases of a run against its targets, in the order of the suite"), api.Access{Objects: run}, api.With(s, grid))
	api.Answer(s, op("get-case", http.MethodGet, "/runs/{id}/case",
		"All attempts at one case, with conversations and raw requests"),
		api.Access{Objects: run}, api.With(s, caseOf))
	api.Answer(s, op("get-case-text", http.MethodGet, "/runs/{id}/case/text", "One case as a suite of its own, in YAML"),
		api.Access{Objects: run}, api.With(s, caseText))
	api.Answer(s, op("add-run-case", http.MethodPost, "/runs/{id}/case/suite",
		"Add a case of a run to a suite, as it was asked"),
		api.Access{Objects: run, Reads: true, Role: account.Member}, api.With(s, addRunCase))
	api.Add(s, api.Downloads("the report as a file", op("export-run", http.MethodGet, "/runs/{id}/export",
		"Download a report")), api.Access{Objects: run}, api.With(s, exportRun))
	api.Answer(s, op("diff-runs", http.MethodGet, "/diff", "Compare two runs, or targets of one, case by case"),
		api.Access{}, api.With(s, diffRuns))
	addRerun(s)
	addBadge(s)
	addGates(s)
	addDrills(s)
}

func history(ctx context.Context, s *api.Server, by *account.Principal, in *historyIn) (*api.Page[EvalRun], error) {
	m, err := in.Mark()
	if err != nil {
		return nil, err
	}
	list, err := s.Config.Store.Rows().RunEntriesOf(ctx, rows.RunEntriesOfParams{
		UserID: by.User, Everything: by.Role == account.Admin, SuiteID: in.Suite, SuiteName: in.SuiteName,
		ExperimentID: in.Experiment, Before: m.At, AtMost: int64(in.Limit) + 1,
	})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return api.Listed(list, in.Limit, func(e *rows.RunEntriesOfRow) api.PageMark { return api.PageMark{At: e.Num} },
		func(e *rows.RunEntriesOfRow) (*EvalRun, error) {
			line, err := line(ctx, s, runEntryOf(e))
			if errors.Is(err, callvet.ErrNotFound) { // the command line deleted it
				return nil, nil
			}
			return line, err
		})
}

// runEntryOf is a line of the list as an entry.
func runEntryOf(r *rows.RunEntriesOfRow) *rows.RunEntry {
	return &rows.RunEntry{
		RunID: r.RunID, UserID: r.UserID, SuiteID: r.SuiteID, SuiteVersion: r.SuiteVersion,
		ExperimentID: r.ExperimentID, JobID: r.JobID, Shared: r.Shared, Created: r.Created,
	}
}

// line is a run in the list.
func line(ctx context.Context, s *api.Server, e *rows.RunEntry) (*EvalRun, error) {
	r, sum, err := results.Line(ctx, s.Config.App, e.RunID)
	if err != nil {
		return nil, err
	}
	out := &EvalRun{
		ID: r.ID, Name: r.Name, Notes: r.Notes, Tags: r.Tags, Created: r.Created.UTC(), Status: sum.Status,
		SuiteID: e.SuiteID, SuiteName: r.SuiteName, Version: e.SuiteVersion, Models: sum.Targets,
		Verdicts: sum.Cells, Total: sum.Cells.Pass + sum.Cells.Fail + sum.Cells.Error + sum.Cells.NotRun,
		Passed: sum.Cells.Pass,
		Cases:  sum.Cases, Requests: r.Spent.Requests, CostUSD: sum.CostUSD,
		Experiment: e.ExperimentID, Job: e.JobID, Shared: e.Shared, User: e.UserID,
	}
	out.UntilDecided, out.LeftOut = sum.UntilDecided, sum.LeftOut
	out.Planned, out.Judged, out.Lost = sum.Cells.Planned(), sum.Cells.Pass+sum.Cells.Fail, sum.Cells.Lost()
	if !ended(sum.Status) { // the other targets are not over
		out.Lost = sum.Cells.Error
	}
	if out.Problem = sum.Problem; r.Finished.IsZero() {
		return out, nil
	}
	out.Finished = r.Finished.UTC()
	// A document contains every failure: reading that of a large run takes a second.
	of, err := api.Stored(ctx, s, e.RunID, "line", func() (*runLine, error) {
		d, err := document(ctx, s, e.RunID)
		if err != nil {
			return nil, err
		}
		return &runLine{scores(d.Panels), d.Problem}, nil
	})
	if api.Broken(ctx, err) { // the other runs may be readable
		out.Problem = cmp.Or(out.Problem, err.Error())
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	out.Targets, out.AvgInterval, out.Problem = of.Targets, meanScore(of.Targets), cmp.Or(of.Problem, out.Problem)
	if out.AvgInterval != nil {
		out.AvgScore = &out.AvgInterval.Point
	}
	if len(out.Models) == 0 { // the manifest cannot be read
		for i := range of.Targets {
			out.Models = append(out.Models, of.Targets[i].Name)
		}
	}
	return out, nil
}

// ended reports whether a state is final.
func ended(state string) bool {
	return store.Status(state) != store.StatusRunning && store.Status(state) != store.StatusQueued
}

// runLine are the fields of a run's document that the list shows.
type runLine struct {
	Targets []TargetScore `json:"targets"`
	Problem string        `json:"problem,omitempty"`
}

// scores returns the scores of the targets in panels.
func scores(p *panel.Panels) (list []TargetScore) {
	for i := range p.Targets {
		t := &p.Targets[i]
		list = append(list, TargetScore{
			Name: t.Name, Floor: t.Floor, Score: metric(&t.Overall, metricOverall),
			Pass: metric(&t.Overall, panel.MetricPass),
		})
	}
	return list
}

// meanScore is the mean of the scores of the targets that are not floors; nil if none has a score.
func meanScore(list []TargetScore) *stats.Interval {
	var parts []stats.Interval
	floors := !slices.ContainsFunc(list, func(t TargetScore) bool { return !t.Floor }) // if all are floors, they count
	for i := range list {
		if t := &list[i]; t.Score != nil && t.Score.Interval.Defined() && (floors || !t.Floor) {
			parts = append(parts, t.Score.Interval)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	mean := stats.Average(parts...)
	return &mean
}

func metric(s *panel.Slice, name string) *panel.Metric {
	i := slices.IndexFunc(s.Metrics, func(m panel.Metric) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Metrics[i]
}

// document is the report document of a run.
func document(ctx context.Context, s *api.Server, id string) (*report.Document, error) {
	return api.Stored(ctx, s, id, "", func() (*report.Document, error) {
		v, err := runs.View(ctx, s.Config.App, results.ViewRequest{Run: id}, nil)
		if err != nil {
			return nil, err
		}
		d := v.View.Document()
		return &d, nil
	})
}

// EvalDetails is a run with its attempts.
type EvalDetails struct {
	EvalRun
	SuiteGates bool            `json:"suite_gates" doc:"the suite of the run has gates, which decide about the run where none are named"`
	Resume     *app.Action     `json:"resume,omitempty" doc:"goes on with a run that lost attempts; absent where it lost none"`
	Results    []report.Record `json:"results"`
	// Next gets more results from /api/runs/{id}/cells.
	Next string `json:"results_next,omitempty"`
}

func historyRun(ctx context.Context, s *api.Server, _ *account.Principal, in *struct {
	api.RunIn
	Limit int `query:"limit" minimum:"0" maximum:"1000" default:"1000" doc:"how many attempts are returned; 0: none, as in the list"`
},
) (*EvalDetails, error) {
	e, err := s.Config.Store.Rows().RunEntry(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	line, err := line(ctx, s, (*rows.RunEntry)(&e))
	if err != nil {
		return nil, err
	}
	out := EvalDetails{EvalRun: *line, Results: []report.Record{}}
	who := api.Owners{S: s}
	if out.UserName, err = who.Of(ctx, line.User); err != nil {
		return nil, err
	}
	if out.SuiteGates, err = traces.SuiteGates(ctx, s.Config.App, in.ID); err != nil {
		return nil, err
	}
	if line.Lost > 0 && line.Problem == "" && ended(line.Status) {
		r, err := results.Open(ctx, s.Config.App, in.ID)
		if err != nil {
			return nil, err
		}
		again := r.Again()
		out.Resume = &again
	}
	if in.Limit > 0 {
		page, err := results.Attempts(ctx, s.Config.App, results.AttemptsRequest{Run: in.ID, Limit: in.Limit})
		if err != nil {
			return nil, err
		}
		out.Results, out.Next = page.Items, page.Next
	}
	return &out, nil
}

func deleteRun(ctx context.Context, s *api.Server, by *account.Principal, in *api.RunIn) (*struct{}, error) {
	_, err := results.Delete(ctx, s.Config.App, in.ID, s.Deletes(ctx, by, api.KindRun, in.ID))
	return nil, err
}

func patchRun(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	api.RunIn
	Body struct {
		Name       *string   `json:"name,omitempty" doc:"for people; other runs may have it too"`
		Notes      *string   `json:"notes,omitempty" doc:"for people"`
		Tags       *[]string `json:"run_tags,omitempty" doc:"for people; all tags of the run"`
		Shared     *bool     `json:"shared,omitempty" doc:"every user of the server may read it"`
		Experiment *string   `json:"experiment_id,omitempty" maxLength:"100" doc:"the experiment that it belongs to; empty: none"`
	}
},
) (*struct{}, error) {
	e, err := s.Config.Store.Rows().RunEntry(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	if id := in.Body.Experiment; id != nil && *id != "" {
		if err := assets.Linkable(ctx, s, by, *id, e.SuiteID); err != nil {
			return nil, err
		}
	}
	if b := &in.Body; b.Name != nil || b.Notes != nil || b.Tags != nil {
		a, err := s.AppOf(ctx, by.User) // it masks the user's keys in texts
		if err != nil {
			return nil, err
		}
		if _, err := results.Describe(ctx, a,
			results.DescribeRequest{Run: in.ID, Name: b.Name, Notes: b.Notes, Tags: b.Tags}); err != nil {
			return nil, err
		}
	}
	return nil, s.Config.Store.Change(ctx, "change run", func(q *rows.Queries) error {
		if err := q.AdoptRun(ctx, rows.AdoptRunParams{RunID: in.ID, Created: e.Created}); err != nil {
			return err
		}
		if in.Body.Shared != nil {
			if err := q.ShareRun(ctx, rows.ShareRunParams{RunID: in.ID, Shared: *in.Body.Shared}); err != nil {
				return err
			}
		}
		if in.Body.Experiment != nil {
			return q.LinkRun(ctx, rows.LinkRunParams{RunID: in.ID, ExperimentID: *in.Body.Experiment})
		}
		return nil
	})
}

type cellsIn struct {
	api.RunIn
	Verdict    []string `query:"verdict" doc:"pass, fail, error, not_run; several with commas"`
	Outcome    []string `query:"outcome" doc:"called, abstained, unparseable, error, not_run"`
	Class      []string `query:"class" doc:"classes of errors, such as wrong_tool; their earlier names are read too"`
	Reason     []string `query:"reason" doc:"why attempts are unparseable, such as token_limit, or the kinds of their errors, such as content_filter"`
	Target     []string `query:"target"`
	Tag        []string `query:"tag"`
	Case       string   `query:"case" maxLength:"500" doc:"a part of the id of a case"`
	Search     string   `query:"search" maxLength:"500" doc:"a part of the id or of the prompt (of long ones, of its first 4,000 bytes)"`
	Disagree   bool     `query:"disagree" doc:"cases with different pass shares of the targets; floors are left out"`
	Expected   string   `query:"expected" maxLength:"500" doc:"a row of the confusion matrix, with called"`
	Called     string   `query:"called" maxLength:"500" doc:"a column of the confusion matrix, with expected"`
	Sort       string   `query:"sort" enum:"case,score,cost,class" default:"case"`
	Descending bool     `query:"descending"`
	Cursor     string   `query:"cursor" maxLength:"1000"`
	Limit      int      `query:"limit" minimum:"1" maximum:"1000" default:"50"`
}

func cells(ctx context.Context, s *api.Server, _ *account.Principal, in *cellsIn) (*results.AttemptsPage, error) {
	return results.Attempts(ctx, s.Config.App, results.AttemptsRequest{
		Run: in.ID, Verdicts: as[callvet.Verdict](in.Verdict), Outcomes: as[callvet.Outcome](in.Outcome),
		Classes: as[callvet.Class](in.Class), Reasons: in.Reason,
		Targets: in.Target, Tags: in.Tag, Case: in.Case, Search: in.Search, Disagree: in.Disagree,
		Expected: in.Expected, Called: in.Called, Sort: in.Sort, Descending: in.Descending, After: in.Cursor,
		Limit: in.Limit,
	})
}

type gridIn struct {
	api.RunIn
	Verdict  []string `query:"verdict" doc:"pass, fail, error, not_run: any target has it; several with commas"`
	Disagree bool     `query:"disagree" doc:"cases with different pass shares of the targets; floors are left out"`
	Target   []string `query:"target" doc:"the columns; none: all targets"`
	Tag      []string `query:"tag"`
	Search   string   `query:"search" maxLength:"500" doc:"a part of the id or of the prompt (of long ones, of its first 4,000 bytes)"`
	Cursor   string   `query:"cursor" maxLength:"200" doc:"next_cursor of the page before"`
	Limit    int      `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

func grid(ctx context.Context, s *api.Server, _ *account.Principal, in *gridIn) (*results.Grid, error) {
	return results.NewGrid(ctx, s.Config.App, results.GridRequest{
		Run: in.ID, Verdicts: as[callvet.Verdict](in.Verdict), Disagree: in.Disagree, Targets: in.Target, Tags: in.Tag,
		Search: in.Search, After: in.Cursor, Limit: in.Limit,
	})
}

func as[T ~string](list []string) []T {
	out := make([]T, len(list))
	for i, v := range list {
		out[i] = T(v)
	}
	return out
}

// CaseAttempts are all attempts at one case.
type CaseAttempts struct {
	Case     json.RawMessage `json:"case" doc:"the case as the suite has it"`
	Tools    []OfferedTool   `json:"tools" nullable:"false" doc:"the tools that the case offers"`
	Attempts []AttemptDetail `json:"attempts"`
}

// OfferedTool is a tool that a case offers.
type OfferedTool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// AttemptDetail is an attempt with its conversation.
type AttemptDetail struct {
	Result report.Record `json:"result"`
	// System is the text before the conversation.
	System string          `json:"system,omitempty" doc:"the system prompt of the attempt: the target's, the suite's and the context of the case"`
	Trace  json.RawMessage `json:"trace" doc:"the conversation, calls and usage; callvet schema trace"`
	// Exchanges are the raw requests and responses, without keys; empty if none are stored.
	Exchanges json.RawMessage `json:"exchanges"`
}

func caseOf(ctx context.Context, s *api.Server, _ *account.Principal, in *struct {
	api.RunIn
	Case   string `query:"case" required:"true" maxLength:"500"`
	Target string `query:"target" maxLength:"500"`
},
) (*CaseAttempts, error) {
	v, err := results.ShowCase(ctx, s.Config.App, results.CaseRequest{Run: in.ID, Case: in.Case, Target: in.Target})
	if err != nil {
		return nil, err
	}
	out := CaseAttempts{Attempts: []AttemptDetail{}, Tools: make([]OfferedTool, len(v.Tools))}
	for i := range v.Tools {
		out.Tools[i] = OfferedTool{v.Tools[i].Name, v.Tools[i].Description}
	}
	for i, row := range v.Rows {
		if i == 0 {
			if out.Case, err = json.Marshal(row.Case); err != nil {
				return nil, fmt.Errorf("describe case %s: %w", in.Case, err)
			}
		}
		d := AttemptDetail{Result: v.View.Record(row), System: v.Systems[row.Cell.Target]}
		trace, err := json.Marshal(row.Cell.Trace)
		if err != nil {
			return nil, fmt.Errorf("describe the attempt at %s: %w", in.Case, err)
		}
		exchanges := row.Cell.Trace.Exchanges
		if exchanges == nil {
			exchanges = []callvet.Exchange{}
		}
		if d.Exchanges, err = json.Marshal(exchanges); err != nil {
			return nil, fmt.Errorf("describe the attempt at %s: %w", in.Case, err)
		}
		d.Trace = trace
		out.Attempts = append(out.Attempts, d)
	}
	return &out, nil
}

// CaseText is a case as a file.
type CaseText struct {
	YAML string `json:"yaml" doc:"a suite of only this case, with its tools; it can be imported unchanged"`
	JSON string `json:"json" doc:"the same as JSON"`
}

// CaseChoice names a case of a run, and its new name.
type CaseChoice struct {
	Case   string `query:"case" required:"true" maxLength:"500"`
	Target string `query:"target" maxLength:"500" doc:"the case is kept with the system prompt of this target; none: that of the suite"`
	Tier   string `query:"tier" enum:",golden,labeled,regression" doc:"none: the case stays of its tier"`
	Bug    string `query:"bug" maxLength:"500" doc:"the issue, or the commit of the fix; a regression case has one"`
}

// keptCase returns a case of a run as a suite, for a user.
func keptCase(ctx context.Context, s *api.Server, by *account.Principal, run string,
	k *CaseChoice,
) (*callvet.Suite, error) {
	o, err := s.Owner(ctx, api.KindRun, run)
	if err != nil {
		return nil, fmt.Errorf("look up run: %w", err)
	}
	return cases.KeptCase(ctx, s.Config.App, cases.KeptCaseRequest{
		Run: run, Case: k.Case, Target: k.Target, Tier: callvet.Tier(k.Tier), Bug: k.Bug,
		Owner: o.User == by.User || o.User == "" && by.Role == account.Admin,
	})
}

func caseText(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	api.RunIn
	CaseChoice
},
) (*CaseText, error) {
	one, err := keptCase(ctx, s, by, in.ID, &in.CaseChoice)
	if err != nil {
		return nil, err
	}
	yaml, err := cases.Written(one, "yaml")
	if err != nil {
		return nil, err
	}
	text, err := cases.Written(one, "json")
	return &CaseText{string(yaml), string(text)}, err
}

// CaseAdded is a case of a run that was added to a suite.
type CaseAdded struct {
	ID      string   `json:"id" doc:"of the case in the suite"`
	SuiteID string   `json:"suite_id"`
	Version int64    `json:"version" doc:"of the suite"`
	Differ  []string `json:"differ,omitempty" doc:"settings that differ in the suite and that a case cannot have: system_prompt"`
	// Warnings are about the added case.
	Warnings []assets.Remark `json:"warnings,omitempty"`
}

func addRunCase(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	api.RunIn
	Body struct {
		Case    string `json:"case" maxLength:"500"`
		Target  string `json:"target,omitempty" maxLength:"500" doc:"the target with the system prompt that is compared with that of the suite; none: that of the run's suite"`
		SuiteID string `json:"suite_id" maxLength:"100"`
		Tier    string `json:"tier,omitempty" enum:",golden,labeled,regression" doc:"none: the case stays of its tier"`
		Bug     string `json:"bug,omitempty" maxLength:"500" doc:"the issue, or the commit of the fix; a regression case has one"`
	}
},
) (*CaseAdded, error) {
	b := &in.Body
	if err := s.May(ctx, by, api.KindSuite, b.SuiteID, true); err != nil {
		return nil, err
	}
	one, err := keptCase(ctx, s, by, in.ID, &CaseChoice{Case: b.Case, Target: b.Target, Tier: b.Tier, Bug: b.Bug})
	if err != nil {
		return nil, err
	}
	out := CaseAdded{SuiteID: b.SuiteID}
	w, err := s.Library.Edit(ctx, by.User, b.SuiteID, "", nil, func(d *library.Document) (err error) {
		out.ID, out.Differ, err = d.Adopt(one, &one.Cases[0], cases.AboutTool(&one.Cases[0]))
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Version = w.Version
	for _, r := range assets.Remarks(w.Warnings) {
		if r.Case == out.ID {
			out.Warnings = append(out.Warnings, r)
		}
	}
	return &out, nil
}

func exportRun(ctx context.Context, s *api.Server, _ *account.Principal, in *struct {
	api.RunIn
	Format string `query:"format" enum:"html,pdf,md,xml,json,jsonl,csv,txt" default:"html" doc:"xml is JUnit, jsonl are traces; pdf needs Chromium on the server"`
},
) (*huma.StreamResponse, error) {
	name := "report." + in.Format
	if err := s.Config.App.Reports(name); err != nil {
		return nil, err
	}
	v, err := runs.View(ctx, s.Config.App, results.ViewRequest{Run: in.ID}, nil)
	if err != nil {
		return nil, err
	}
	write := func(w io.Writer) error { return s.Config.App.Report(ctx, v.View, name, w) }
	if in.Format == "pdf" { // it may fail before it writes
		var printed bytes.Buffer
		if err := write(&printed); err != nil {
			return nil, err
		}
		write = func(w io.Writer) error { _, err := printed.WriteTo(w); return err }
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", api.MediaTypes()[in.Format])
		hc.SetHeader("Content-Disposition", `attachment; filename="callvet-`+in.ID+"."+in.Format+`"`)
		if err := write(hc.BodyWriter()); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			s.Log.WarnContext(ctx, "report broken off", "run", in.ID, "error", s.Config.App.Secrets().Hide(err.Error()))
		}
	}}, nil
}

func diffRuns(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	Base       string   `query:"base" required:"true" maxLength:"100"`
	Candidate  string   `query:"candidate" maxLength:"100" doc:"left out, with base_target: the run itself"`
	Slices     []string `query:"slices"`
	Metrics    []string `query:"metrics" doc:"compared in addition to the pass rate, such as overall"`
	Target     string   `query:"target" maxLength:"500" doc:"target of the base for those of the candidate that have no namesake there"`
	Unpaired   bool     `query:"unpaired" doc:"compares all cases of both, as where they have none in common"`
	Population string   `query:"population" enum:"tasks,suite" doc:"what the differences are about: tasks like these, or the cases of the suite alone"`
	api.Compared
},
) (*api.Comparison, error) {
	for _, id := range []string{in.Base, in.Candidate} {
		if id == "" {
			continue
		}
		if err := s.May(ctx, by, api.KindRun, id, false); err != nil {
			return nil, err
		}
	}
	req := traces.DiffRequest{
		Base: app.Side{Run: in.Base}, Candidate: app.Side{Run: in.Candidate}, Slices: in.Slices,
		Metrics: in.Metrics, Target: in.Target, Unpaired: in.Unpaired, Population: panel.Population(in.Population),
	}
	in.Compared.Of(&req)
	c, err := traces.Diff(ctx, s.Config.App, req, nil)
	if err != nil {
		return nil, err
	}
	return api.ComparisonOf(c), nil
}
