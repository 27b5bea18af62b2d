// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// A schedule that is due becomes a run:
//
//	due ─► fire: submitRun, one entry in the history ─► the job ends ─► settle: gates, change, webhook
//
// The store has the due times and the progress of each. A job has a key made of the schedule
// and the due time, so that a process that dies between two steps repeats neither.

const (
	// lookEvery is how often the server looks for due schedules.
	lookEvery = time.Second
	// quiet is the time without edits before an edit causes a run; longest bounds how long further
	// edits may delay it.
	quiet   = 30 * time.Second
	longest = 10 * time.Minute
	// keepRuns is how many entries a history has.
	keepRuns = 1000
)

// States of an entry in addition to those of its job.
const (
	runRunning = "running"
	runSkipped = "skipped"
	runFailed  = string(job.Failed)
)

// RunSchedules starts the runs of schedules until ctx ends. Serve calls it together with
// RunWebhooks.
func RunSchedules(ctx context.Context, s *api.Server) {
	often(ctx, s, "schedules were not looked after", look)
}

// often repeats do until ctx ends, with a pause of lookEvery; failed is the log message of an
// error.
func often(ctx context.Context, s *api.Server, failed string, do func(context.Context, *api.Server) error) {
	if s.Config.Accounts == nil {
		return
	}
	for ctx.Err() == nil {
		if err := do(ctx, s); err != nil && ctx.Err() == nil {
			s.Log.ErrorContext(ctx, failed, "error", s.Config.App.Secrets().Hide(err.Error()))
		}
		if s.Config.Wait(ctx, lookEvery) != nil {
			return
		}
	}
}

// look settles runs that have ended, and starts those that are due.
func look(ctx context.Context, s *api.Server) error {
	ended, err := s.Config.Store.Rows().EndedRuns(ctx)
	if err != nil {
		return err
	}
	var failed error // of one schedule: the others go on
	for i := range ended {
		if err := settle(ctx, s, &ended[i]); err != nil {
			failed = errors.Join(failed, fmt.Errorf("settle run %s: %w", ended[i].CheckedScheduleRun.RunID, err))
		}
	}
	now := s.Config.Now()
	if s.Looked.IsZero() || now.Before(s.Looked) {
		failed = errors.Join(failed, setBack(ctx, s, now))
	}
	s.Looked = now
	due, err := s.Config.Store.Rows().DueSchedules(ctx, now.UnixMilli())
	if err != nil {
		return errors.Join(failed, err)
	}
	for i := range due {
		if err := fireDue(ctx, s, &due[i], now); err != nil {
			failed = errors.Join(failed, fmt.Errorf("schedule %s: %w", due[i].CheckedSchedule.ID, err))
		}
	}
	return failed
}

// setBack corrects the next time of schedules that were planned while the clock was ahead.
func setBack(ctx context.Context, s *api.Server, now time.Time) error {
	s.Firing.Lock()
	defer s.Firing.Unlock()
	page := rows.SchedulesParams{Everything: true, Before: math.MaxInt64, AtMost: 1000}
	for {
		list, err := s.Config.Store.Rows().Schedules(ctx, page)
		if err != nil || len(list) == 0 {
			return err
		}
		for i := range list {
			sc := &list[i]
			at, err := next(sc, now)
			if err != nil || !sc.Enabled || at == 0 || sc.NextAt <= at {
				continue // the mistake is reported when the schedule runs
			}
			if err := onward(ctx, s, sc); err != nil {
				return err
			}
		}
		last := &list[len(list)-1]
		page.Before, page.BeforeID = last.Created, last.ID
	}
}

// onward sets the next time of a schedule after now.
func onward(ctx context.Context, s *api.Server, sc *rows.CheckedSchedule) error {
	at, err := next(sc, s.Config.Now())
	if err != nil {
		return err
	}
	move := rows.MoveScheduleParams{ID: sc.ID, NextAt: at, SuiteSeen: sc.SuiteSeen, CatalogueSeen: sc.CatalogueSeen}
	return s.Config.Store.Change(ctx, "move schedule", func(q *rows.Queries) error { return q.MoveSchedule(ctx, move) })
}

// since is the time from at to now, in milliseconds; a future time counts as long ago: the clock
// was set back.
func since(at, now int64) int64 {
	if at > now {
		return math.MaxInt64
	}
	return now - at
}

// firing is the cause of one run of a schedule.
type firing struct {
	cause string
	due   int64
	key   string // the same key creates no second run
}

// fireDue starts the run of a schedule that is due by time or by an edit.
func fireDue(ctx context.Context, s *api.Server, d *rows.DueSchedulesRow, now time.Time) error {
	s.Firing.Lock()
	defer s.Firing.Unlock()
	sc, err := schedule(ctx, s, d.CheckedSchedule.ID) // read again: a user may have changed it
	if api.IsMissing(err) || err == nil && !sc.Enabled {
		return nil
	}
	if err != nil {
		return err
	}
	at := now.UnixMilli()
	f := &firing{cause: causeTime, due: sc.NextAt, key: fmt.Sprintf("at %d", sc.NextAt)}
	if sc.NextAt == 0 || sc.NextAt > at {
		if f, err = edited(ctx, s, sc, d, at); err != nil || f == nil {
			return err
		}
		// it waits for the end of the current one
		if _, err := s.Config.Store.Rows().GoingRun(ctx, sc.ID); !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	_, err = fire(ctx, s, sc, f)
	if errors.Is(err, store.ErrDamaged) || errors.Is(err, callvet.ErrDenied) || errors.Is(err, callvet.ErrNotFound) {
		return stop(ctx, s, sc, f, err)
	}
	return err
}

// edited returns the edit for which a schedule must run; nil if there is none, or if more edits may
// follow.
func edited(ctx context.Context, s *api.Server, sc *rows.CheckedSchedule, d *rows.DueSchedulesRow,
	now int64,
) (*firing, error) {
	if sc.OnSuite && d.SuiteVersion != 0 && d.SuiteVersion != sc.SuiteSeen {
		first, err := s.Config.Store.Rows().FirstChangeAfter(ctx,
			rows.FirstChangeAfterParams{SuiteID: sc.SuiteID, Version: sc.SuiteSeen})
		if err != nil {
			return nil, err
		}
		if since(d.SuiteUpdated, now) >= quiet.Milliseconds() || since(first, now) >= longest.Milliseconds() {
			return &firing{
				cause: causeSuite, due: d.SuiteUpdated,
				key: fmt.Sprintf("suite %s %d", sc.SuiteID, d.SuiteVersion),
			}, nil
		}
	}
	if sc.OnCatalogue && d.CatalogueVersion != 0 && d.CatalogueVersion != sc.CatalogueSeen &&
		since(d.CatalogueUpdated, now) >= quiet.Milliseconds() {
		return &firing{
			cause: causeCatalogue, due: d.CatalogueUpdated,
			key: fmt.Sprintf("catalogue %s %d", sc.CatalogueID, d.CatalogueVersion),
		}, nil
	}
	return nil, nil
}

// fire starts a run of a schedule, with an entry in the history. If no run can be made, the entry
// holds the reason. The caller holds s.firing. The error wraps callvet.ErrDenied or
// callvet.ErrNotFound if the owner may not make the run, and store.ErrDamaged if the schedule is
// damaged. It wraps callvet.ErrConflict if another run is running. With any other error nothing
// could be stored, and there is no entry.
func fire(ctx context.Context, s *api.Server, sc *rows.CheckedSchedule, f *firing) (*rows.CheckedScheduleRun, error) {
	known, err := s.Config.Store.Rows().ScheduleRunByKey(ctx,
		rows.ScheduleRunByKeyParams{ScheduleID: sc.ID, DueKey: f.key})
	if err == nil {
		if f.cause == causeTime { // the clock was set back, and this time is due again
			err = onward(ctx, s, sc)
		}
		return &known, err
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	if err := store.Intact(sc.Whole, "schedule"); err != nil {
		return nil, err
	}
	r := &rows.CheckedScheduleRun{
		Whole: true, ScheduleID: sc.ID, DueKey: f.key, Cause: f.cause, Due: f.due,
		State: runRunning, Error: []byte{}, Created: s.Config.Now().UnixMilli(),
	}
	going, err := s.Config.Store.Rows().GoingRun(ctx, sc.ID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return nil, err
	case f.cause == causeManual:
		return nil, fmt.Errorf("run schedule: %w: run %s goes on", callvet.ErrConflict, going.RunID)
	default:
		r.State, r.Finished, r.Error = runSkipped, r.Created, fmt.Appendf(nil, "run %s was still going on", going.RunID)
		return r, enter(ctx, s, sc, r, ScheduleOutcome{})
	}
	owner, err := owns(ctx, s, sc)
	if err != nil {
		return nil, err
	}
	var out ScheduleOutcome
	if r.Baseline, err = baselineNow(ctx, s, owner, sc); err != nil {
		return nil, err
	}
	if r.Baseline == "" && sc.Baseline != "" {
		out.Warnings = append(out.Warnings, "the baseline "+sc.Baseline+" is not there any more")
	}
	if err := submitScheduled(ctx, s, owner, sc, r); err != nil {
		if passing(ctx, err) || f.cause == causeManual || errors.Is(err, callvet.ErrDenied) ||
			errors.Is(err, callvet.ErrNotFound) {
			return nil, err
		}
		r.State, r.Finished, r.Error = runFailed, r.Created, []byte(inWords(ctx, s, err))
	}
	return r, enter(ctx, s, sc, r, out)
}

// owns returns the owner of a schedule, if he may still make runs.
func owns(ctx context.Context, s *api.Server, sc *rows.CheckedSchedule) (*account.Principal, error) {
	owner, err := s.Principal(ctx, sc.UserID)
	if errors.Is(err, callvet.ErrNotFound) {
		return nil, fmt.Errorf("%w: its owner was removed", callvet.ErrDenied)
	}
	if err == nil && !owner.Role.AtLeast(account.Member) {
		err = fmt.Errorf("%w: its owner is %s, who makes no runs", callvet.ErrDenied, owner.Role)
	}
	return owner, err
}

// submitScheduled submits the run of an entry.
func submitScheduled(ctx context.Context, s *api.Server, owner *account.Principal, sc *rows.CheckedSchedule,
	r *rows.CheckedScheduleRun,
) error {
	var req EvalRequest
	if err := json.Unmarshal(sc.Request, &req); err != nil {
		return fmt.Errorf("read schedule: %w", err)
	}
	req = req.within(string(sc.Gates), r.Baseline)
	made, err := submitEval(ctx, s, owner, &req, "schedule "+sc.ID+" "+r.DueKey)
	if err != nil {
		return err
	}
	r.JobID, r.RunID = made.Body.JobID, made.Body.ResultRef
	return nil
}

// enter adds an entry to the history of a schedule and clears the cause, so that the schedule is
// not due again.
func enter(ctx context.Context, s *api.Server, sc *rows.CheckedSchedule, r *rows.CheckedScheduleRun,
	out ScheduleOutcome,
) (err error) {
	if r.ID, err = store.NewID(nil, "fired"); err != nil {
		return err
	}
	if r.Outcome, err = json.Marshal(&out); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	if r.State == runFailed {
		if err := message(s, sc, r); err != nil {
			return err
		}
	}
	move := rows.MoveScheduleParams{
		ID: sc.ID, NextAt: sc.NextAt, SuiteSeen: sc.SuiteSeen,
		CatalogueSeen: sc.CatalogueSeen,
	}
	if r.Cause == causeTime { // one run is made for all missed times
		if move.NextAt, err = next(sc, s.Config.Now()); err != nil {
			return err
		}
	}
	return s.Config.Store.Change(context.WithoutCancel(ctx), "keep what a schedule did", func(q *rows.Queries) error {
		if r.State != runSkipped {
			if err := seen(ctx, q, sc, r, &move); err != nil {
				return err
			}
		}
		_, err := q.AddScheduleRun(ctx, rows.AddScheduleRunParams{
			ID: r.ID, ScheduleID: r.ScheduleID, DueKey: r.DueKey, Cause: r.Cause, Due: r.Due, State: r.State,
			JobID: r.JobID, RunID: r.RunID, Baseline: r.Baseline, Outcome: r.Outcome, Error: r.Error,
			Created:  r.Created,
			Finished: r.Finished, HookState: r.HookState, HookAt: r.Created, HookError: []byte{},
			HookBody: append([]byte{}, r.HookBody...),
		})
		return errors.Join(err, q.MoveSchedule(ctx, move),
			q.TrimScheduleRuns(ctx, rows.TrimScheduleRunsParams{ScheduleID: sc.ID, Keep: keepRuns}))
	})
}

// seen records the versions for which a run was made, so that they do not count as new edits.
func seen(ctx context.Context, q *rows.Queries, sc *rows.CheckedSchedule, r *rows.CheckedScheduleRun,
	move *rows.MoveScheduleParams,
) error {
	version, err := q.SuiteVersionNow(ctx, sc.SuiteID)
	if err == nil {
		move.SuiteSeen = version
	} else if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if r.RunID != "" { // it may have been edited since
		e, err := q.RunEntry(ctx, r.RunID)
		if err == nil {
			move.SuiteSeen = e.SuiteVersion
		} else if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	version, err = q.CatalogueVersionNow(ctx, sc.CatalogueID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	move.CatalogueSeen = version
	return err
}

// stop disables a schedule because its owner may not make its run any more.
func stop(ctx context.Context, s *api.Server, sc *rows.CheckedSchedule, f *firing, why error) error {
	text := []byte(inWords(ctx, s, why))
	r := &rows.CheckedScheduleRun{
		Whole: true, ScheduleID: sc.ID, DueKey: f.key, Cause: f.cause, Due: f.due,
		State: runFailed, Error: text, Created: s.Config.Now().UnixMilli(),
	}
	r.Finished = r.Created
	if err := enter(ctx, s, sc, r, ScheduleOutcome{}); err != nil {
		return err
	}
	return s.Config.Store.Change(ctx, "stop schedule", func(q *rows.Queries) error {
		return q.StopSchedule(ctx, rows.StopScheduleParams{ID: sc.ID, Stopped: text})
	})
}

// passing reports whether an error is temporary, so that the step is tried again.
func passing(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, callvet.ErrUnavailable) || store.Fault(err)
}

// inWords returns the text of an error for the owner of a schedule, the same as in a response.
func inWords(ctx context.Context, s *api.Server, err error) string {
	p := s.Problem(ctx, err)
	text := p.Error()
	var model *huma.ErrorModel
	if errors.As(p, &model) {
		for _, d := range model.Errors {
			if !strings.Contains(text, d.Message) {
				text += "; " + d.Message
			}
		}
	}
	return plain.Clean(text)
}

// baselineNow is the run for the next comparison; "" if there is none.
func baselineNow(ctx context.Context, s *api.Server, owner *account.Principal,
	sc *rows.CheckedSchedule,
) (string, error) {
	run := sc.Baseline
	if sc.LastGood {
		damaged, err := s.Config.Store.Rows().DamagedScheduleRuns(ctx, sc.ID)
		if err == nil {
			err = store.Intact(damaged == 0, "history of schedule "+sc.ID) // the last good run may be damaged
		}
		if err != nil {
			return "", err
		}
		run, err = s.Config.Store.Rows().LastGoodRun(ctx,
			rows.LastGoodRunParams{ScheduleID: sc.ID, SuiteID: sc.SuiteID})
		if errors.Is(err, sql.ErrNoRows) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
	}
	if run == "" {
		return "", nil
	}
	err := s.May(ctx, owner, api.KindRun, run, false)
	if errors.Is(err, callvet.ErrNotFound) {
		return "", nil
	}
	return run, err
}

// settle records the outcome of a run after its job has ended.
func settle(ctx context.Context, s *api.Server, e *rows.EndedRunsRow) error {
	r := &e.CheckedScheduleRun
	sc, err := schedule(ctx, s, r.ScheduleID)
	if api.IsMissing(err) { // the schedule was deleted with its entries
		return nil
	}
	if err != nil {
		return err
	}
	var out ScheduleOutcome
	reason := string(e.JobError)
	if r.State = e.JobState; r.State == "" {
		r.State, reason = runFailed, "the job is not there any more"
	}
	// The gates also check the results of a job that failed: its missing attempts are lost.
	if err := sumUp(ctx, s, sc, r, &out); err != nil {
		if passing(ctx, err) {
			return err
		}
		reason = cmp.Or(reason, inWords(ctx, s, err))
	}
	r.Error, r.Finished = []byte(reason), s.Config.Now().UnixMilli()
	if r.Outcome, err = json.Marshal(&out); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	if err := message(s, sc, r); err != nil {
		return err
	}
	return s.Config.Store.Change(ctx, "settle run", func(q *rows.Queries) error {
		_, err := q.EndScheduleRun(ctx,
			rows.EndScheduleRunParams{
				ID: r.ID, State: r.State, Verdict: r.Verdict, Outcome: r.Outcome, Error: r.Error,
				Finished: r.Finished, HookState: r.HookState, HookAt: r.Finished,
				HookBody: append([]byte{}, r.HookBody...),
			})
		return err
	})
}

// sumUp sums up a run, checks it against the gates and compares it with its baseline. A damaged
// schedule or entry gets no verdict: it may name other gates, or another run.
func sumUp(ctx context.Context, s *api.Server, sc *rows.CheckedSchedule, r *rows.CheckedScheduleRun,
	out *ScheduleOutcome,
) error {
	if err := errors.Join(store.Intact(sc.Whole, "schedule"), store.Intact(r.Whole, "entry")); err != nil {
		return err
	}
	if err := json.Unmarshal(r.Outcome, out); err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	e, err := s.Config.Store.Rows().RunEntry(ctx, r.RunID)
	if err != nil {
		return fmt.Errorf("run %s: %w", r.RunID, missing(err))
	}
	line, err := line(ctx, s, (*rows.RunEntry)(&e))
	if err != nil {
		return err
	}
	out.Totals = &RunTotals{
		Attempts: line.Total, LeftOut: line.LeftOut, Verdicts: line.Verdicts, AvgScore: line.AvgScore,
		AvgInterval: line.AvgInterval, CostUSD: line.CostUSD,
	}
	if r.Baseline != "" {
		c, err := compared(ctx, s, r.RunID, traces.DiffRequest{Base: app.Side{Run: r.Baseline}})
		if err != nil {
			return err
		}
		out.Warnings = append(out.Warnings, c.Warnings...)
		var claims families
		targets := make([]TimelineTarget, len(c.Targets))
		for i := range targets {
			targets[i].Name = c.Targets[i].Candidate
			claims.add(&targets[i], c)
		}
		claims.settle()
		for i := range targets {
			if t := &targets[i]; t.Change != nil {
				out.Changes = append(out.Changes, ScheduleChange{
					Target: t.Name, Against: t.Against, Change: t.Change,
					P: t.P, Verdict: t.Verdict,
				})
			}
		}
	}
	text, baseline := string(sc.Gates), r.Baseline
	if line.UntilDecided { // its own gates ended it
		text, baseline = "", ""
	}
	v, err := hold(ctx, s, r.RunID, text, baseline, "")
	var field *callvet.FieldError
	if text == "" && errors.As(err, &field) && field.Field == "gates" { // the suite has none
		return nil
	}
	if err != nil {
		return err
	}
	r.Verdict, out.Sentence, out.Blocks = string(v.Report.Verdict), v.Report.Sentence, v.Report.Blocks
	out.Failed = notPassed(v.Report)
	return nil
}

// notPassed are the gates that did not pass.
func notPassed(rep *gates.Report) []FailedGate {
	var out []FailedGate
	for i := range rep.Verdicts {
		g := &rep.Verdicts[i]
		if g.Verdict == gate.Pass {
			continue
		}
		f := FailedGate{
			Metric: g.Gate.Metric, Target: g.Target, Verdict: g.Verdict, Reason: g.Reason,
			Sentence: g.Sentence,
		}
		if g.Key != "" {
			f.Slice = g.Key + "=" + g.Value
		}
		out = append(out, f)
	}
	return out
}

// missing converts sql.ErrNoRows to callvet.ErrNotFound.
func missing(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return callvet.ErrNotFound
	}
	return err
}
