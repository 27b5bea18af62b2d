// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/sys"
)

// Attempts may be judged while others run. The questions of a judging are known only when the run
// is over; a live judging begins before that. It stores each answer under the name of its question,
// in the order of arrival. When the run is over, judging makes the questions as usual, place moves
// the answers to their questions, and missing ones are asked. Therefore no verdict, cost or
// question depends on the progress of the live judging.

// liveJudges are the live judges of a run. The nil pointer has none.
type liveJudges struct {
	all   []*liveJudge
	over  chan struct{} // closes when no further attempt will come
	group sys.Group
}

// liveJudge is one judging that is live.
type liveJudge struct {
	session *Session // of the judging
	lease   *store.Lease
	run     *results.Run // its attempts are judged
	red     *redact.Redactor
	next    int // the position of the next question
	queue   chan report.Row
	work    func(over <-chan struct{})
}

const (
	// liveQueue bounds the attempts that wait to be judged. When it is full, further attempts are
	// judged when the run is over.
	liveQueue = 1024
	// liveBatch bounds the attempts that are judged together: a finished run waits for at most so
	// many.
	liveBatch = 64
)

// judgeLive starts the live judges. A judge that cannot be opened judges when the run is over, and
// reports the reason then.
func (s *Session) judgeLive(ctx context.Context) *liveJudges {
	j := s.Manifest.Judges
	if j == nil || !j.Live {
		return nil
	}
	out := &liveJudges{over: make(chan struct{})}
	for _, q := range judgeRequests(j, s.Manifest, &s.settings, s.Stored.ID) {
		for _, model := range q.Models {
			one, err := s.openLive(ctx, &q, model)
			if err != nil || one == nil {
				continue
			}
			out.all = append(out.all, one)
			out.group.Go(func() { one.work(out.over) })
		}
	}
	return out
}

// openLive opens one judging; nil for a judge of several attempts together.
func (s *Session) openLive(ctx context.Context, q *app.JudgeRequest, model app.TargetSpec) (*liveJudge, error) {
	j, err := judge.Builtin(q.Judges[0])
	if err != nil || j.Unit == judge.Pair || j.Unit == judge.Target {
		return nil, err
	}
	made, err := QuestionSuite(j, "judge "+j.Name, nil)
	if err != nil {
		return nil, err
	}
	what := &results.Judging{Judge: *j, About: "run " + s.Stored.ID, Under: q.Under, Live: true}
	of, err := openJudging(ctx, s.app, q, what, s.Stored.ID, model, nil)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*liveJudge, error) { return nil, errors.Join(err, of.Close()) }
	before, _, err := results.ReadJudgings(ctx, s.DB, s.Stored.ID,
		func(j *results.Judging) bool { return j.Audit == nil })
	if err != nil {
		return fail(err)
	}
	b, err := of.begin(ctx, q, made, model, before, func(b *results.JudgingRun) bool { return b.What.Live })
	if err == nil && b != nil {
		err = of.resumeJudging(ctx, b.Run.ID, q)
	}
	if err != nil {
		return fail(err)
	}
	out := &liveJudge{session: of, run: s.Run, queue: make(chan report.Row, liveQueue)}
	for c, err := range s.DB.DoneCells(ctx, of.Stored.ID) {
		if err != nil {
			return fail(err)
		}
		out.next = max(out.next, c.Case+1)
	}
	if out.red, err = results.RedactorOf(s.app, s.Manifest, q.Keep); err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	if out.lease, err = of.acquire(ctx, cancel); err != nil {
		cancel()
		return fail(err)
	}
	end := app.Cached[running](s.app).add(of.Stored.ID, cancel)
	out.work = func(over <-chan struct{}) {
		defer end()
		out.asks(ctx, over)
	}
	return out, nil
}

// observe passes attempts that became durable to the judges. It does not wait.
func (l *liveJudges) observe(ev run.Event) {
	if l == nil {
		return
	}
	for i := range ev.Cells {
		for _, j := range l.all {
			select {
			case j.queue <- report.Row{Case: ev.Cases[i], Cell: ev.Cells[i]}:
			default:
			}
		}
	}
}

// end waits until all questions that were asked are answered and stored.
func (l *liveJudges) end() {
	if l == nil {
		return
	}
	close(l.over)
	l.group.Wait()
}

// asks judges attempts as they come, until there are no more, or the judge cannot go on.
func (l *liveJudge) asks(ctx context.Context, over <-chan struct{}) {
	defer func() { _ = l.session.Close() }()
	defer func() { // a later resume reports a lease that was not released
		_ = l.lease.Finish(context.WithoutCancel(ctx), store.StatusInterrupted, l.session.Stored.Totals)
	}()
	for {
		select {
		case <-over:
			return
		default:
		}
		select {
		case <-over:
			return
		case row := <-l.queue:
			qs := l.questions(row)
			for n := 1; n < liveBatch && len(l.queue) > 0; n++ {
				qs = append(qs, l.questions(<-l.queue)...)
			}
			if len(qs) > 0 && l.ask(ctx, qs) != nil {
				return
			}
		}
	}
}

// questions returns the questions about one attempt.
func (l *liveJudge) questions(row report.Row) []judge.Question {
	what := l.session.Manifest.Judging
	if results.WhyNotJudged(results.AutomaticScore(&row.Cell.Result), what.Under) != "" {
		return nil
	}
	qs, _ := what.Judge.Questions(l.run.Subject(row, l.red))
	return qs
}

// ask asks questions and stores the answers. An error means that the judge cannot continue now; it
// is reported when the run is over.
func (l *liveJudge) ask(ctx context.Context, qs []judge.Question) error {
	s := l.session
	made, err := QuestionSuite(&s.Manifest.Judging.Judge, s.Suite.Name, qs)
	if err != nil {
		return err
	}
	hide, err := results.HidingOf(s.app, s.Run)
	if err != nil {
		return err
	}
	cfg, end, err := s.config(ctx, l.lease, hide)
	if err != nil {
		return err
	}
	defer end()
	cfg.Source, cfg.Journal, cfg.Done = run.Cases(made), &behind{Lease: l.lease, first: l.next}, nil
	cfg.Observe = nil
	sum, err := run.Run(ctx, cfg)
	l.next += len(qs)
	s.Stored.Spent = sum.Spent
	if sum.Unbooked != (callvet.Spent{}) {
		err = errors.Join(err, l.lease.Book(context.WithoutCancel(ctx), sum.Unbooked))
	}
	if err == nil && (sum.Status != run.StatusDone || len(sum.Stopped) > 0) {
		err = fmt.Errorf("judging %s ended early: %s", s.Stored.ID, sum.Status)
	}
	return err
}

// behind is a journal that stores cells after the existing ones.
type behind struct {
	*store.Lease
	first int
}

// Encode implements run.Journal.
func (b *behind) Encode(dst []byte, c *callvet.Cell, key []byte) ([]byte, error) {
	at := *c
	at.Case += b.first
	return b.Lease.Encode(dst, &at, key)
}

// placeAnswers stores the questions of a live judging, and moves its answers to their questions.
func placeAnswers(ctx context.Context, a *app.App, db *store.DB, b *results.JudgingRun, made *callvet.Suite,
	what *results.Judging,
) error {
	m, err := results.ReadManifest(&b.Run)
	if err != nil {
		return err
	}
	m.Judging.Live, m.Judging.Skipped = false, what.Skipped
	manifest, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	hash, err := db.PutSuite(ctx, made)
	if err != nil {
		return err
	}
	at := make(map[string]int, len(made.Cases))
	for i := range made.Cases {
		at[made.Cases[i].ID] = i
	}
	places := map[int]int{}
	for c, err := range db.DoneCells(ctx, b.Run.ID) {
		if err != nil {
			return err
		}
		if to, asked := at[c.Trace.CaseID]; asked {
			places[c.Case] = to
		}
	}
	c, err := a.Config.Claim()
	if err != nil {
		return err
	}
	lease, err := db.Acquire(ctx, b.Run.ID, c)
	if err != nil {
		return err
	}
	if err := lease.Rearrange(ctx, hash, manifest, places); err != nil {
		return err
	}
	return errors.Join(lease.Finish(ctx, store.StatusInterrupted, b.Run.Totals), db.DropSuite(ctx, b.Run.SuiteHash))
}
