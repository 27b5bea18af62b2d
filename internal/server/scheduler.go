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
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// A schedule that is due becomes a run:
//
//	due ─► fire: submitRun, one entry in the history ─► the job ends ─► settle: gates, change, webhook
//
// What is due stands in the store, and so does what was done for it: a job has the key of the schedule
// and of the due time, so that a process that dies between two steps does neither twice.

const (
	// lookEvery is how often the server looks for what is due.
	lookEvery = time.Second
	// quiet is how long nothing is edited before an edit makes a run; longest is how long edits
	// that never end may put it off.
	quiet   = 30 * time.Second
	longest = 10 * time.Minute
	// keepRuns is how many entries a history has.
	keepRuns = 1000
)

// States of an entry that its job does not have.
const (
	runRunning = "running"
	runSkipped = "skipped"
	runFailed  = string(job.Failed)
)

// RunSchedules makes the runs of schedules until ctx ends. Serve calls it, and beside it RunWebhooks.
func (s *Server) RunSchedules(ctx context.Context) {
	s.often(ctx, "schedules were not looked after", s.look)
}

// often does something until ctx ends, with a pause of lookEvery; failed is what the log says of an error.
func (s *Server) often(ctx context.Context, failed string, do func(context.Context) error) {
	if s.cfg.Accounts == nil {
		return
	}
	for ctx.Err() == nil {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			s.log.ErrorContext(ctx, failed, "error", s.cfg.App.Secrets().Hide(err.Error()))
		}
		if s.cfg.Wait(ctx, lookEvery) != nil {
			return
		}
	}
}

// look settles runs that have ended, and makes those that are due.
func (s *Server) look(ctx context.Context) error {
	ended, err := s.cfg.Store.Rows().EndedRuns(ctx)
	if err != nil {
		return err
	}
	var failed error // of one schedule: the others go on
	for i := range ended {
		if err := s.settle(ctx, &ended[i]); err != nil {
			failed = errors.Join(failed, fmt.Errorf("settle run %s: %w", ended[i].CheckedScheduleRun.RunID, err))
		}
	}
	now := s.cfg.Now()
	if s.looked.IsZero() || now.Before(s.looked) {
		failed = errors.Join(failed, s.setBack(ctx, now))
	}
	s.looked = now
	due, err := s.cfg.Store.Rows().DueSchedules(ctx, now.UnixMilli())
	if err != nil {
		return errors.Join(failed, err)
	}
	for i := range due {
		if err := s.fireDue(ctx, &due[i], now); err != nil {
			failed = errors.Join(failed, fmt.Errorf("schedule %s: %w", due[i].CheckedSchedule.ID, err))
		}
	}
	return failed
}

// setBack gives schedules their next time after now, where a clock that ran ahead had given them a later one.
func (s *Server) setBack(ctx context.Context, now time.Time) error {
	s.firing.Lock()
	defer s.firing.Unlock()
	page := rows.SchedulesParams{Everything: true, Before: math.MaxInt64, AtMost: 1000}
	for {
		list, err := s.cfg.Store.Rows().Schedules(ctx, page)
		if err != nil || len(list) == 0 {
			return err
		}
		for i := range list {
			sc := &list[i]
			at, err := next(sc, now)
			if err != nil || !sc.Enabled || at == 0 || sc.NextAt <= at {
				continue // what a spec lacks is reported where it runs
			}
			if err := s.onward(ctx, sc); err != nil {
				return err
			}
		}
		last := &list[len(list)-1]
		page.Before, page.BeforeID = last.Created, last.ID
	}
}

// onward gives a schedule its next time after now.
func (s *Server) onward(ctx context.Context, sc *rows.CheckedSchedule) error {
	at, err := next(sc, s.cfg.Now())
	if err != nil {
		return err
	}
	move := rows.MoveScheduleParams{ID: sc.ID, NextAt: at, SuiteSeen: sc.SuiteSeen, CatalogueSeen: sc.CatalogueSeen}
	return s.cfg.Store.Change(ctx, "move schedule", func(q *rows.Queries) error { return q.MoveSchedule(ctx, move) })
}

// since is how long ago a time was, in milliseconds; a time after now is long ago: the clock went back since.
func since(at, now int64) int64 {
	if at > now {
		return math.MaxInt64
	}
	return now - at
}

// firing is for what a schedule runs once.
type firing struct {
	cause string
	due   int64
	key   string // the same one makes no second run
}

// fireDue makes the run of a schedule whose time has come, or which saw an edit.
func (s *Server) fireDue(ctx context.Context, d *rows.DueSchedulesRow, now time.Time) error {
	s.firing.Lock()
	defer s.firing.Unlock()
	sc, err := s.schedule(ctx, d.CheckedSchedule.ID) // as it is now: somebody may have changed it
	if isMissing(err) || err == nil && !sc.Enabled {
		return nil
	}
	if err != nil {
		return err
	}
	at := now.UnixMilli()
	f := &firing{cause: causeTime, due: sc.NextAt, key: fmt.Sprintf("at %d", sc.NextAt)}
	if sc.NextAt == 0 || sc.NextAt > at {
		if f, err = s.edited(ctx, sc, d, at); err != nil || f == nil {
			return err
		}
		// it waits for the end of the one that goes on
		if _, err := s.cfg.Store.Rows().GoingRun(ctx, sc.ID); !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	_, err = s.fire(ctx, sc, f)
	if errors.Is(err, store.ErrDamaged) || errors.Is(err, callvet.ErrDenied) || errors.Is(err, callvet.ErrNotFound) {
		return s.stop(ctx, sc, f, err)
	}
	return err
}

// edited is for which edit a schedule is to run; nil where there is none, or where more may come.
func (s *Server) edited(ctx context.Context, sc *rows.CheckedSchedule, d *rows.DueSchedulesRow,
	now int64,
) (*firing, error) {
	if sc.OnSuite && d.SuiteVersion != 0 && d.SuiteVersion != sc.SuiteSeen {
		first, err := s.cfg.Store.Rows().FirstChangeAfter(ctx,
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

// fire makes a run of a schedule, with its entry in the history. Where none can be made, the entry
// tells why. The caller has s.firing. The error wraps callvet.ErrDenied or callvet.ErrNotFound where the
// owner may not make the run, store.ErrDamaged where the schedule is damaged, callvet.ErrConflict where
// another run is asked for while one goes on, and is another one where nothing can be stored now; then
// there is no entry.
func (s *Server) fire(ctx context.Context, sc *rows.CheckedSchedule, f *firing) (*rows.CheckedScheduleRun, error) {
	known, err := s.cfg.Store.Rows().ScheduleRunByKey(ctx,
		rows.ScheduleRunByKeyParams{ScheduleID: sc.ID, DueKey: f.key})
	if err == nil {
		if f.cause == causeTime { // the clock went back, and this time comes again
			err = s.onward(ctx, sc)
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
		State: runRunning, Error: []byte{}, Created: s.cfg.Now().UnixMilli(),
	}
	going, err := s.cfg.Store.Rows().GoingRun(ctx, sc.ID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return nil, err
	case f.cause == causeManual:
		return nil, fmt.Errorf("run schedule: %w: run %s goes on", callvet.ErrConflict, going.RunID)
	default:
		r.State, r.Finished, r.Error = runSkipped, r.Created, fmt.Appendf(nil, "run %s was still going on", going.RunID)
		return r, s.enter(ctx, sc, r, ScheduleOutcome{})
	}
	owner, err := s.owns(ctx, sc)
	if err != nil {
		return nil, err
	}
	var out ScheduleOutcome
	if r.Baseline, err = s.baselineNow(ctx, owner, sc); err != nil {
		return nil, err
	}
	if r.Baseline == "" && sc.Baseline != "" {
		out.Warnings = append(out.Warnings, "the baseline "+sc.Baseline+" is not there any more")
	}
	if err := s.submitScheduled(ctx, owner, sc, r); err != nil {
		if passing(ctx, err) || f.cause == causeManual || errors.Is(err, callvet.ErrDenied) ||
			errors.Is(err, callvet.ErrNotFound) {
			return nil, err
		}
		r.State, r.Finished, r.Error = runFailed, r.Created, []byte(s.inWords(ctx, err))
	}
	return r, s.enter(ctx, sc, r, out)
}

// owns is the owner of a schedule, who may still make runs.
func (s *Server) owns(ctx context.Context, sc *rows.CheckedSchedule) (*account.Principal, error) {
	owner, err := s.principal(ctx, sc.UserID)
	if errors.Is(err, callvet.ErrNotFound) {
		return nil, fmt.Errorf("%w: its owner was removed", callvet.ErrDenied)
	}
	if err == nil && !owner.Role.AtLeast(account.Member) {
		err = fmt.Errorf("%w: its owner is %s, who makes no runs", callvet.ErrDenied, owner.Role)
	}
	return owner, err
}

// submitScheduled submits the run of an entry.
func (s *Server) submitScheduled(ctx context.Context, owner *account.Principal, sc *rows.CheckedSchedule,
	r *rows.CheckedScheduleRun,
) error {
	var req EvalRequest
	if err := json.Unmarshal(sc.Request, &req); err != nil {
		return fmt.Errorf("read schedule: %w", err)
	}
	made, err := s.submitEval(ctx, owner, &req, "schedule "+sc.ID+" "+r.DueKey)
	if err != nil {
		return err
	}
	r.JobID, r.RunID = made.Body.JobID, made.Body.ResultRef
	return nil
}

// enter puts an entry into the history of a schedule, which is then not due for that any more.
func (s *Server) enter(ctx context.Context, sc *rows.CheckedSchedule, r *rows.CheckedScheduleRun,
	out ScheduleOutcome,
) (err error) {
	if r.ID, err = store.NewID(nil, "fired"); err != nil {
		return err
	}
	if r.Outcome, err = json.Marshal(&out); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	if r.State == runFailed {
		if err := s.message(sc, r); err != nil {
			return err
		}
	}
	move := rows.MoveScheduleParams{
		ID: sc.ID, NextAt: sc.NextAt, SuiteSeen: sc.SuiteSeen,
		CatalogueSeen: sc.CatalogueSeen,
	}
	if r.Cause == causeTime { // of all times that were missed, one run is made
		if move.NextAt, err = next(sc, s.cfg.Now()); err != nil {
			return err
		}
	}
	return s.cfg.Store.Change(context.WithoutCancel(ctx), "keep what a schedule did", func(q *rows.Queries) error {
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

// seen notes the versions that a run was made for: those are not new any more.
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

// stop disables a schedule whose owner may not make its run any more.
func (s *Server) stop(ctx context.Context, sc *rows.CheckedSchedule, f *firing, why error) error {
	text := []byte(s.inWords(ctx, why))
	r := &rows.CheckedScheduleRun{
		Whole: true, ScheduleID: sc.ID, DueKey: f.key, Cause: f.cause, Due: f.due,
		State: runFailed, Error: text, Created: s.cfg.Now().UnixMilli(),
	}
	r.Finished = r.Created
	if err := s.enter(ctx, sc, r, ScheduleOutcome{}); err != nil {
		return err
	}
	return s.cfg.Store.Change(ctx, "stop schedule", func(q *rows.Queries) error {
		return q.StopSchedule(ctx, rows.StopScheduleParams{ID: sc.ID, Stopped: text})
	})
}

// passing tells whether an error is of this moment, so that the same thing is tried again.
func passing(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, callvet.ErrUnavailable) || store.Fault(err)
}

// inWords is an error as the owner of a schedule reads it: what a request would be told.
func (s *Server) inWords(ctx context.Context, err error) string {
	p := s.problem(ctx, err)
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

// baselineNow is the run that the next one is compared with; "" where there is none.
func (s *Server) baselineNow(ctx context.Context, owner *account.Principal, sc *rows.CheckedSchedule) (string, error) {
	run := sc.Baseline
	if sc.LastGood {
		damaged, err := s.cfg.Store.Rows().DamagedScheduleRuns(ctx, sc.ID)
		if err == nil {
			err = store.Intact(damaged == 0, "history of schedule "+sc.ID) // the last good run may be among them
		}
		if err != nil {
			return "", err
		}
		run, err = s.cfg.Store.Rows().LastGoodRun(ctx, rows.LastGoodRunParams{ScheduleID: sc.ID, SuiteID: sc.SuiteID})
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
	err := s.May(ctx, owner, KindRun, run, false)
	if errors.Is(err, callvet.ErrNotFound) {
		return "", nil
	}
	return run, err
}

// settle tells what came out of a run whose job has ended.
func (s *Server) settle(ctx context.Context, e *rows.EndedRunsRow) error {
	r := &e.CheckedScheduleRun
	sc, err := s.schedule(ctx, r.ScheduleID)
	if isMissing(err) { // it was deleted, and the entry with it
		return nil
	}
	if err != nil {
		return err
	}
	var out ScheduleOutcome
	said := string(e.JobError)
	if r.State = e.JobState; r.State == "" {
		r.State, said = runFailed, "the job is not there any more"
	}
	// What a job that did not end well has left is held against the gates, too: the rest is lost.
	if err := s.sumUp(ctx, sc, r, &out); err != nil {
		if passing(ctx, err) {
			return err
		}
		said = cmp.Or(said, s.inWords(ctx, err))
	}
	r.Error, r.Finished = []byte(said), s.cfg.Now().UnixMilli()
	if r.Outcome, err = json.Marshal(&out); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	if err := s.message(sc, r); err != nil {
		return err
	}
	return s.cfg.Store.Change(ctx, "settle run", func(q *rows.Queries) error {
		_, err := q.EndScheduleRun(ctx,
			rows.EndScheduleRunParams{
				ID: r.ID, State: r.State, Verdict: r.Verdict, Outcome: r.Outcome, Error: r.Error,
				Finished: r.Finished, HookState: r.HookState, HookAt: r.Finished,
				HookBody: append([]byte{}, r.HookBody...),
			})
		return err
	})
}

// sumUp sums a run up, holds it against the gates and compares it with its baseline. Of a damaged schedule or entry
// nothing is held: it may name other gates, or another run.
func (s *Server) sumUp(ctx context.Context, sc *rows.CheckedSchedule, r *rows.CheckedScheduleRun,
	out *ScheduleOutcome,
) error {
	if err := errors.Join(store.Intact(sc.Whole, "schedule"), store.Intact(r.Whole, "entry")); err != nil {
		return err
	}
	if err := json.Unmarshal(r.Outcome, out); err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	e, err := s.cfg.Store.Rows().RunEntry(ctx, r.RunID)
	if err != nil {
		return fmt.Errorf("run %s: %w", r.RunID, missing(err))
	}
	line, err := s.line(ctx, (*rows.RunEntry)(&e))
	if err != nil {
		return err
	}
	out.Totals = &RunTotals{
		Attempts: line.Total, Verdicts: line.Verdicts, AvgScore: line.AvgScore,
		AvgInterval: line.AvgInterval, CostUSD: line.CostUSD,
	}
	if r.Baseline != "" {
		c, err := s.compared(ctx, r.RunID, app.DiffRequest{Base: app.Side{Run: r.Baseline}})
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
	v, err := s.hold(ctx, r.RunID, string(sc.Gates), r.Baseline, "")
	var field *callvet.FieldError
	if len(sc.Gates) == 0 && errors.As(err, &field) && field.Field == "gates" { // the suite has none
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

// missing is a row that is not there in the words of the program.
func missing(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return callvet.ErrNotFound
	}
	return err
}
