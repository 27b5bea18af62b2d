// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/panel"
)

const (
	// newsEvery is the least time between two batches of events of a run, and newsMost the size of
	// a batch. A transaction for each event would block the store for the run.
	newsEvery = 100 * time.Millisecond
	newsMost  = 250
	// maxEventArgs bounds the arguments of a call in an event, in bytes.
	maxEventArgs = 8 << 10
)

// evalNote is the record of the events that a job has stored. It changes in the same transaction as
// the events, so that after a crash each result has one event.
type evalNote struct {
	Begun     bool  `json:"begun,omitempty"`
	LastEvent int64 `json:"told,omitempty"` // the position in Feed of the last attempt with an event
	// Counts counts the attempts with events, by target.
	Counts []targetCount `json:"counts,omitempty"`
	// Again are attempts that run again, after events with errors.
	Again []results.Place `json:"again,omitempty"`
}

// targetCount counts the attempts of a target that have events, by verdict.
type targetCount struct {
	Model  string `json:"model"`
	Done   int64  `json:"done"`
	Total  int64  `json:"total"`
	Passed int64  `json:"passed"`
	Failed int64  `json:"failed"`
	Errors int64  `json:"errors"` // errors and attempts that were not made
}

// add counts an attempt (by 1), or removes it from the count (by -1).
func (c *targetCount) add(v callvet.Verdict, by int64) {
	c.Done += by
	switch v {
	case callvet.VerdictPass:
		c.Passed += by
	case callvet.VerdictFail:
		c.Failed += by
	case callvet.VerdictError, callvet.VerdictNotRun:
		c.Errors += by
	}
}

// evalRun stores the events of a run while it runs.
type evalRun struct {
	feed   *results.Feed
	report *job.Report
	note   evalNote
	total  int64
	more   chan struct{}
	mu     sync.Mutex
	// session is nil until the run has begun.
	session *runs.Session
	notices []callvet.Notice // warnings without stored events
	// evidence is the evidence of gates without a stored event, by target.
	evidence map[string]*app.EvidenceEvent
}

// ToolEval carries out the run of a job; it resumes a run that has begun.
func ToolEval(ctx context.Context, s *api.Server, j job.Job, r *job.Report) (json.RawMessage, error) {
	a, err := s.AppOf(ctx, j.User)
	if err != nil {
		return nil, err
	}
	stored := context.WithoutCancel(ctx) // every durable attempt gets its event, even after a cancellation
	feed, err := results.NewFeed(stored, a, j.ResultRef)
	if err != nil {
		return nil, err
	}
	var of evalJob
	if err := json.Unmarshal(j.Request, &of); err != nil {
		return nil, fmt.Errorf("read job: %w", err)
	}
	if a, err = s.WithCatalogues(stored, j.User, feed.Manifest.Specs); err != nil {
		return nil, err
	}
	e := &evalRun{feed: feed, report: r, total: j.Total, more: make(chan struct{}, 1)}
	if len(j.Note) > 0 {
		if err := json.Unmarshal(j.Note, &e.note); err != nil {
			return nil, fmt.Errorf("read sent events: %w", err)
		}
	}
	if err := e.begin(stored, of.Suite); err != nil {
		return nil, err
	}
	out, err := e.carryOut(ctx, a, runs.ResumeRequest{Run: j.ResultRef, Changes: of.Changes, Split: split(s, r)})
	if cause := context.Cause(ctx); cause != nil && (err != nil || out == nil || out.Interrupted()) {
		return nil, cause
	}
	if out != nil && out.Yielded {
		return nil, job.ErrGaveWay
	}
	if out == nil {
		return nil, cmp.Or(err, errors.New("the run gave nothing"))
	}
	if out.Interrupted() { // and the job was not cancelled
		return nil, job.ErrCancelled
	}
	complete, cerr := complete(stored, s, j.User, out, of.Experiment, j.ResultRef)
	if cerr != nil {
		return nil, cerr
	}
	if terr := e.end(out, complete); terr != nil {
		return nil, terr
	}
	if err != nil {
		return nil, err
	}
	done := map[string]any{
		"eval_id": j.ResultRef, "status": out.Summary.Status,
		"totals": out.Summary.Totals, "requests": out.Summary.Spent.Requests,
	}
	if out.Gates != nil {
		done["verdict"], done["saved"] = out.Gates.Report.Verdict, out.Saved()
	}
	return json.Marshal(done)
}

// split shares the run of a job among the workers of the server.
func split(s *api.Server, r *job.Report) *runs.Split {
	return &runs.Split{
		Workers: cmp.Or(s.Config.RunWorkers, api.DefaultRunWorkers), Rounds: s.Config.ShardRounds,
		Shard: func(ctx context.Context, task runs.ShardTask, yield <-chan struct{}) (out runs.ShardResult, err error) {
			b, err := json.Marshal(&task)
			if err != nil {
				return out, fmt.Errorf("write shard: %w", err)
			}
			b, err = r.Part(ctx, b, yield)
			if len(b) > 0 {
				err = errors.Join(err, json.Unmarshal(b, &out))
			}
			return out, err
		},
	}
}

// ToolEvalShard carries out a shard of the run of a job.
func ToolEvalShard(ctx context.Context, s *api.Server, j job.Job, task json.RawMessage,
	yield <-chan struct{},
) (json.RawMessage, error) {
	a, err := s.AppOf(ctx, j.User)
	if err != nil {
		return nil, err
	}
	var of runs.ShardTask
	if err := json.Unmarshal(task, &of); err != nil {
		return nil, fmt.Errorf("read shard: %w", err)
	}
	out, err := runs.DoShard(ctx, a, of, yield)
	if out.Status == "" {
		return nil, err
	}
	b, werr := json.Marshal(&out)
	return b, errors.Join(err, werr)
}

// carryOut carries out the run, and stores an event for each attempt that becomes durable.
func (e *evalRun) carryOut(ctx context.Context, a *app.App, req runs.ResumeRequest) (out *runs.Outcome, err error) {
	over := make(chan struct{})
	var followErr error
	var followers sys.Group
	followers.Go(func() { followErr = e.follow(context.WithoutCancel(ctx), over) })
	func() {
		defer followers.Wait()
		defer close(over)
		var session *runs.Session
		if session, err = runs.Resume(ctx, a, req, e.collect); err != nil {
			return
		}
		e.mu.Lock()
		e.session = session
		e.mu.Unlock()
		out, err = session.Do(ctx)
		err = errors.Join(err, session.Close())
	}()
	if followErr != nil {
		return nil, errors.Join(followErr, err)
	}
	return out, err
}

// collect receives the events of the session and never blocks.
func (e *evalRun) collect(ev app.Event) {
	switch {
	case ev.Progress != nil && ev.Progress.Of == "":
		p := ev.Progress
		e.report.Progress(int64(p.Done), int64(p.Total), p.ETA)
	case ev.Evidence != nil:
		e.mu.Lock()
		if e.evidence == nil {
			e.evidence = map[string]*app.EvidenceEvent{}
		}
		e.evidence[ev.Evidence.Target] = ev.Evidence
		e.mu.Unlock()
	case ev.Warning != nil:
		e.warn(*ev.Warning)
	case ev.Note != nil:
		e.warn(*ev.Note)
	}
	select {
	case e.more <- struct{}{}:
	default:
	}
}

func (e *evalRun) warn(n callvet.Notice) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.notices) < 100 {
		e.notices = append(e.notices, n)
	}
}

// begin stores the first event, once, and the events that an earlier try of the job did not store.
func (e *evalRun) begin(ctx context.Context, suite string) error {
	if !e.note.Begun {
		e.note.Begun = true
		var targets []map[string]string
		for _, t := range e.feed.Manifest.Targets {
			e.note.Counts = append(e.note.Counts,
				targetCount{Model: t.Name, Total: e.total / int64(len(e.feed.Manifest.Targets))})
			targets = append(targets,
				map[string]string{"provider_key": t.Provider, "model_id": t.Model, "display_name": t.Name})
		}
		each := int(e.total) / len(targets)
		err := e.store(job.News{Kind: "tool_eval_init", Data: map[string]any{
			"eval_id": e.feed.Stored.ID, "targets": targets, "cases": e.feed.Cases(),
			"total_cases": each * len(e.feed.Manifest.Counted(len(targets))), "total": e.total, "suite_name": suite,
		}})
		if err != nil {
			return err
		}
	}
	if err := e.catchUp(ctx); err != nil {
		return err
	}
	if err := e.updateAgain(ctx); err != nil {
		return err
	}
	again, err := e.feed.Unjudged(ctx)
	if err != nil {
		return err
	}
	e.note.Again = again
	return e.store()
}

// store stores news with the note.
func (e *evalRun) store(news ...job.News) error {
	b, err := json.Marshal(&e.note)
	if err != nil {
		return err
	}
	return e.report.Publish(b, news...)
}

// follow stores the events of attempts as they become durable, until over closes, and then the
// rest.
func (e *evalRun) follow(ctx context.Context, over <-chan struct{}) error {
	for {
		select {
		case <-over:
			return errors.Join(e.catchUp(ctx), e.updateAgain(ctx))
		case <-e.more:
		}
		if err := e.catchUp(ctx); err != nil {
			return err
		}
		e.mu.Lock()
		session := e.session
		e.mu.Unlock()
		if session != nil && e.report.GiveWay() {
			session.Yield()
		}
		pause := time.NewTimer(newsEvery)
		select {
		case <-over:
		case <-pause.C:
		}
		pause.Stop()
	}
}

// catchUp stores the events of all durable attempts that have none.
func (e *evalRun) catchUp(ctx context.Context) error {
	for {
		list, last, err := e.feed.Next(ctx, e.note.LastEvent, newsMost)
		if err != nil {
			return err
		}
		e.mu.Lock()
		notices, evidence := e.notices, e.evidence
		e.notices, e.evidence = nil, nil
		e.mu.Unlock()
		if len(list)+len(notices)+len(evidence) == 0 {
			return nil
		}
		var news []job.News
		for _, n := range notices {
			news = append(news, warningNews(n))
		}
		for _, target := range slices.Sorted(maps.Keys(evidence)) {
			news = append(news, job.News{Kind: "gate_evidence", Data: evidence[target]})
		}
		for i := range list {
			news = append(news, e.resultNews(&list[i]))
			if c := e.countOf(&list[i]); c != nil {
				c.add(list[i].Cell.Result.Verdict, 1)
			}
		}
		e.note.LastEvent = last
		if len(list) > 0 {
			news = append(news, e.progressNews(&list[len(list)-1]))
		}
		if err := e.store(news...); err != nil {
			return err
		}
		if len(list) < newsMost {
			return nil
		}
	}
}

// updateAgain stores new events of attempts that ended in errors and ran again.
func (e *evalRun) updateAgain(ctx context.Context) error {
	for len(e.note.Again) > 0 {
		some := e.note.Again[:min(newsMost, len(e.note.Again))]
		list, err := e.feed.At(ctx, some)
		if err != nil {
			return err
		}
		var news []job.News
		for i := range list {
			if v := list[i].Cell.Result.Verdict; v != callvet.VerdictError && v != callvet.VerdictNotRun {
				news = append(news, e.resultNews(&list[i]))
				if c := e.countOf(&list[i]); c != nil {
					c.add(callvet.VerdictError, -1)
					c.add(v, 1)
				}
			}
		}
		if len(news) > 0 {
			news = append(news, e.progressNews(&list[len(list)-1]))
		}
		e.note.Again = slices.Clone(e.note.Again[len(some):])
		if err := e.store(news...); err != nil {
			return err
		}
	}
	return nil
}

// countOf is the count of an attempt's target; nil for a job that began in a version without
// counts.
func (e *evalRun) countOf(row *report.Row) *targetCount {
	if row.Cell.Target < len(e.note.Counts) {
		return &e.note.Counts[row.Cell.Target]
	}
	return nil
}

// progressNews is the progress of the run, with its last attempt.
func (e *evalRun) progressNews(last *report.Row) job.News {
	done := int64(0)
	for i := range e.note.Counts {
		done += e.note.Counts[i].Done
	}
	return job.News{Kind: "tool_eval_progress", Data: map[string]any{
		"current": done, "total": e.total, "model": e.target(last.Cell.Target), "test_case": last.Case.ID,
		"targets": slices.Clone(e.note.Counts),
	}}
}

func (e *evalRun) target(i int) string {
	if i < len(e.feed.Manifest.Targets) {
		return e.feed.Manifest.Targets[i].Name
	}
	return ""
}

// eventCall is an expected or actual call in an event.
type eventCall struct {
	Tools     []string        `json:"tools"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Raw       string          `json:"arguments_raw,omitempty"`
	Cut       bool            `json:"cut,omitempty"`
}

func callOf(tools []string, args json.RawMessage, raw string) eventCall {
	c := eventCall{Tools: tools, Arguments: args, Raw: raw}
	if len(args) > maxEventArgs {
		c.Arguments, c.Cut = nil, true
	}
	if len(raw) > maxEventArgs {
		c.Raw, c.Cut = "", true
	}
	return c
}

// resultNews is the event of one attempt.
func (e *evalRun) resultNews(row *report.Row) job.News {
	c, t, r := row.Case, &row.Cell.Trace, &row.Cell.Result
	data := map[string]any{
		"eval_id": e.feed.Stored.ID, "model": e.target(row.Cell.Target), "test_case": c.ID, "case_index": row.Cell.Case,
		"target_index": row.Cell.Target, "repeat": row.Cell.Repeat,
		"verdict": r.Verdict, "outcome": t.Outcome, "latency_ms": t.WallMS,
	}
	scores := map[string]*float64{}
	for i := range r.Scores {
		if scores[r.Scores[i].Name] = nil; r.Scores[i].Scored {
			scores[r.Scores[i].Name] = &r.Scores[i].Value
		}
	}
	data["scores"] = scores
	for _, text := range []struct{ name, value string }{{"class", string(r.Class)}, {"reason", r.Reason}} {
		if text.value != "" {
			data[text.name] = text.value
		}
	}
	if t.Usage.CostUSD != nil {
		data["cost_usd"] = *t.Usage.CostUSD
	}
	if t.Fault != nil {
		data["error"] = t.Fault.Message
	}
	expected, actual := []eventCall{}, []eventCall{}
	if p := planOf(c, r.Plan); p != nil {
		for i := range p.Calls {
			expected = append(expected, callOf(p.Calls[i].Tools, p.Calls[i].Args, ""))
		}
	} else {
		for _, tool := range c.Expect.ToolsCalled {
			expected = append(expected, callOf([]string{tool}, nil, ""))
		}
	}
	for _, call := range t.Calls() {
		actual = append(actual, callOf([]string{call.Tool}, call.Args, call.ArgsRaw))
	}
	data["expected"], data["actual"] = expected, actual
	return job.News{Kind: "tool_eval_result", Data: data}
}

// planOf is the plan of the comparison; nil if the case has none.
func planOf(c *callvet.Case, name string) *callvet.Plan {
	for i := range c.Expect.Plans {
		if c.Expect.Plans[i].Name == name || i == len(c.Expect.Plans)-1 {
			return &c.Expect.Plans[i]
		}
	}
	return nil
}

func warningNews(n callvet.Notice) job.News {
	return job.News{Kind: "eval_warning", Data: map[string]string{"code": n.Code, "detail": n.Text}}
}

// complete is the content of the last event of a run, with the same scores as in the list of runs.
func complete(ctx context.Context, s *api.Server, user string, out *runs.Outcome, experiment,
	run string,
) (map[string]any, error) {
	data := map[string]any{"eval_id": run, "status": out.Summary.Status}
	line, err := lineOf(ctx, s, run)
	if err != nil || line == nil || line.AvgScore == nil {
		return data, err
	}
	data["avg_score"], data["avg_interval"] = *line.AvgScore, line.AvgInterval
	if experiment == "" {
		return data, nil
	}
	by, err := s.Principal(ctx, user)
	if err != nil {
		return data, err
	}
	e, err := readExperiment(ctx, s, by, experiment)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (e.Baseline == "" || e.Baseline == run) {
		return data, nil
	}
	if err != nil {
		return data, err
	}
	base, err := lineOf(ctx, s, e.Baseline)
	if err != nil || base == nil || base.AvgScore == nil {
		return data, err
	}
	data["baseline_score"], data["baseline_interval"] = *base.AvgScore, base.AvgInterval
	with, err := comparedWithBaseline(ctx, s, &e, run)
	if err != nil {
		return data, err
	}
	if delta := deltaOf(with); delta != nil {
		data["delta"] = *delta
	}
	return data, nil
}

// end stores the last event.
func (e *evalRun) end(out *runs.Outcome, complete map[string]any) error {
	var news []job.News
	p := out.View.Panels
	for i := range p.Targets {
		t := &p.Targets[i]
		data := map[string]any{
			"eval_id": complete["eval_id"], "model": t.Name, "cases_run": t.Overall.Cells,
			"cases_passed": t.Overall.Verdicts.Pass, "verdicts": t.Overall.Verdicts,
		}
		for name, metric := range map[string]string{
			"pass_rate": panel.MetricPass, "overall": "overall", "tool_selection": "tool_selection",
			"param_accuracy": "arg_accuracy", "abstention": panel.MetricAbstention,
		} {
			if m := t.Overall.Metric(metric); m != nil && m.Interval.Defined() {
				data[name] = map[string]any{
					"value": m.Interval.Point, "lower": m.Interval.Lower,
					"upper": m.Interval.Upper, "n": m.Seen(),
				}
			}
		}
		news = append(news, job.News{Kind: "tool_eval_summary", Data: data})
	}
	return e.store(append(news, job.News{Kind: "tool_eval_complete", Data: complete})...)
}
