// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/parallel"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/trace/redact"
)

// Split has workers carry out a run that is large enough for them, shard by shard, under the lease of the
// session that splits it. What they make is told as ever, and what they leave the session makes itself.
type Split struct {
	// Shard has a worker carry out what DoShard takes, and gives what that gave, as run.Splitting says of Do.
	Shard func(ctx context.Context, task ShardTask, yield <-chan struct{}) (ShardResult, error)
	// Workers is how many share the limits of a provider at most.
	Workers int
	// Rounds is run.Splitting's.
	Rounds int
}

// ShardTask is a shard of a run, as it reaches a worker.
type ShardTask struct {
	Run string `json:"run"`
	// Lease is the one of the session that splits the run.
	Lease string    `json:"lease"`
	Shard run.Shard `json:"shard"`
}

// ShardResult is what a worker tells of a shard. What it made is in the store.
type ShardResult struct {
	run.ShardSummary
	// Learned is what models refused while they were asked.
	Learned []string `json:"learned,omitempty"`
	Hidden  hidden   `json:"hidden,omitzero"`
}

// hidden counts what was taken out of attempts, and the attempts in which that changed what was said.
type hidden struct {
	Count map[redact.Kind]int64 `json:"count,omitempty"`
	Said  int64                 `json:"said,omitempty"`
}

// DoShard carries out a shard. The error wraps callvet.ErrConflict once the session that splits the run has it
// no more. A summary with a status comes with every error that ended a shard that had begun.
func (a *App) DoShard(ctx context.Context, task ShardTask, yield <-chan struct{}) (out ShardResult, err error) {
	s := &Session{app: a, resume: &ResumeRequest{Run: task.Run}, yield: make(chan struct{}), shard: &task.Shard}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.Run, err = a.Run(context.WithoutCancel(ctx), task.Run); err != nil { // cells in flight need their cases after ctx
		return out, err
	}
	c, err := a.cfg.Claim()
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.Canceled = cancel
	lease, err := s.db.Join(ctx, s.Stored.ID, task.Lease, c)
	if err != nil {
		return out, err
	}
	if err := s.open(ctx); err != nil {
		return out, err
	}
	from, to := task.Shard.Span()
	s.done = s.db.DoneCellsIn(context.WithoutCancel(ctx), s.Stored.ID, from, to)
	over := make(chan struct{})
	var beside parallel.Group
	beside.Go(func() {
		select {
		case <-yield:
			s.Yield()
		case <-over:
		}
	})
	var sum run.Summary
	func() {
		defer beside.Wait()
		defer close(over)
		sum, err = s.cells(ctx, lease)
	}()
	if sum.Unbooked != (callvet.Spent{}) {
		err = errors.Join(err, lease.Book(context.WithoutCancel(ctx), sum.Unbooked))
	}
	return ShardResult{ShardSummary: sum.Shard(), Learned: s.op.learned, Hidden: s.hidden}, err
}

// splits reports whether workers may have shards of the run. Others need what one session has in memory: the
// judges of a live run, tools that are called, recordings, and what catalogues count of the models they ask.
func (s *Session) splits() bool {
	if s.resume == nil || s.resume.Split == nil {
		return false
	}
	man, how := s.Manifest, s.resume.Split
	return how.Workers > 1 && s.live == nil && man.Live == nil && man.Replay == nil && man.Judging == nil && len(s.op.models) == 0 &&
		(s.world == nil || s.world.recordings == nil && s.world.tape == nil)
}

// split has workers make what they can of the run, and tells how far they are.
func (s *Session) split(ctx context.Context, lease *store.Lease) error {
	if !s.splits() {
		return nil
	}
	hide, err := s.app.hiding(s.Run)
	if err != nil {
		return err
	}
	cfg, end, err := s.config(ctx, lease, hide)
	if err != nil {
		return err
	}
	defer end()
	var errs map[place]bool
	cfg.Done, errs = withErrors(cfg.Done)
	begun := s.app.cfg.Now()
	how := s.resume.Split
	var told parallel.Group
	over := make(chan struct{})
	complete := false
	func() {
		defer told.Wait()
		defer close(over)
		told.Go(func() { s.tellShards(context.WithoutCancel(ctx), over) })
		complete, err = run.Split(ctx, cfg, run.Splitting{
			Workers: how.Workers, Rounds: how.Rounds,
			Failed: func(err error) {
				s.tell.warn("shard", hide.text("a part of the run failed, and is made again: "+err.Error()))
			},
			Do: func(ctx context.Context, shard run.Shard, yield <-chan struct{}) (run.ShardSummary, error) {
				out, err := how.Shard(ctx, ShardTask{Run: s.Stored.ID, Lease: lease.ID(), Shard: shard}, yield)
				s.gather(&out)
				return out.ShardSummary, err
			},
		})
	}()
	if err != nil {
		return err
	}
	s.kept, s.took = true, s.app.cfg.Now().Sub(begun)
	if !complete { // errors of before this session may not have been asked again yet
		s.done = without(s.done, errs)
		if err := lease.Renew(context.WithoutCancel(ctx)); err != nil { // which also tells whether the run is to be canceled
			return err
		}
	}
	s.Stored, err = s.db.Run(context.WithoutCancel(ctx), s.Stored.ID) // with what the shards have spent
	return err
}

// withErrors gives the cells, and the places of those that ended in an error or did not run: these are known
// when all cells were read.
func withErrors(cells iter.Seq2[*callvet.Cell, error]) (iter.Seq2[*callvet.Cell, error], map[place]bool) {
	errs := map[place]bool{}
	return func(yield func(*callvet.Cell, error) bool) {
		for c, err := range cells {
			if err == nil && unjudged(c) {
				errs[placeOf(c)] = true
			}
			if !yield(c, err) {
				return
			}
		}
	}, errs
}

// without gives the cells but those at the places that still have no verdict.
func without(cells iter.Seq2[*callvet.Cell, error], places map[place]bool) iter.Seq2[*callvet.Cell, error] {
	return func(yield func(*callvet.Cell, error) bool) {
		for c, err := range cells {
			if err == nil && unjudged(c) && places[placeOf(c)] {
				continue
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func unjudged(c *callvet.Cell) bool {
	return c.Result.Verdict == callvet.VerdictError || c.Result.Verdict == callvet.VerdictNotRun
}

// gather adds what a shard tells beside its attempts.
func (s *Session) gather(out *ShardResult) {
	for _, what := range out.Learned {
		s.op.learnsOnce(what)
	}
	s.sharing.Lock()
	defer s.sharing.Unlock()
	s.hidden.add(out.Hidden)
}

func (h *hidden) add(more hidden) {
	h.Said += more.Said
	for k, n := range more.Count {
		if h.Count == nil {
			h.Count = map[redact.Kind]int64{}
		}
		h.Count[k] += n
	}
}

// learnsOnce is learns for what several workers may have learned.
func (o *opener) learnsOnce(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Contains(o.learned, what) {
		o.learned = append(o.learned, what)
	}
}

// tellShards tells how far the workers are, by what is stored.
func (s *Session) tellShards(ctx context.Context, over <-chan struct{}) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	told, begun := ProgressEvent{Total: s.size()}, s.app.cfg.Now()
	for last, before := int64(0), -1; ; {
		p, err := s.db.Progress(ctx, s.Stored.ID, last)
		if r, rerr := s.db.Run(ctx, s.Stored.ID); err == nil && rerr == nil { // else it is told later
			last = p.Last
			told.Done, told.Failed, told.Errors, told.CostUSD = told.Done+p.Done, told.Failed+p.Fail, told.Errors+p.Error, r.Spent.USD
			if before < 0 {
				before = told.Done
			}
			if n := told.Done - before; n > 0 {
				told.ETA = time.Duration(float64(s.app.cfg.Now().Sub(begun)) / float64(n) * float64(told.Total-told.Done))
			}
			now := told
			s.tell.emit(Event{Progress: &now})
		}
		select {
		case <-tick.C:
		case <-over:
			return
		}
	}
}
