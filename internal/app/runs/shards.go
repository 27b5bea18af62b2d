// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/sys"
)

// Split lets workers carry out a large run, shard by shard, under the lease of the session that
// splits it. Their attempts are reported as usual, and the session makes the remaining attempts.
type Split struct {
	// Shard lets a worker carry out a task with DoShard, and returns its result; see
	// run.Splitting.Do.
	Shard func(ctx context.Context, task ShardTask, yield <-chan struct{}) (ShardResult, error)
	// Workers is the largest number of workers that share the limits of a provider.
	Workers int
	// Rounds is Rounds of run.Splitting.
	Rounds int
}

// ShardTask is a shard of a run, as it is sent to a worker.
type ShardTask struct {
	Run string `json:"run"`
	// Lease is the lease of the session that splits the run.
	Lease string `json:"lease"`
	// CacheAt is the time when the run was split: later answers are not reused, as in a run without
	// shards.
	CacheAt int64     `json:"cache_at"`
	Shard   run.Shard `json:"shard"`
}

// ShardResult is a worker's result of a shard. Its attempts are in the store.
type ShardResult struct {
	run.ShardSummary
	// Learned lists the parameters that models refused, redacted.
	Learned []string       `json:"learned,omitempty"`
	Hidden  results.Hidden `json:"hidden,omitzero"`
}

// shard is the part of a run for a Session of a worker.
type shard struct {
	task  *ShardTask
	yield <-chan struct{}
}

// narrow restricts the configuration of a run to the shard.
func (p *shard) narrow(db *store.DB, cfg *run.Config) {
	*cfg = cfg.Within(&p.task.Shard)
	cfg.Yield = p.yield
	if cfg.Cache != nil {
		cfg.Cache = db.CacheAt(p.task.CacheAt)
	}
}

// DoShard carries out a shard. The error wraps callvet.ErrConflict when the session that splits the
// run has lost its lease. With an error that ended a started shard it also returns a summary with a
// status.
func DoShard(ctx context.Context, a *app.App, task ShardTask, yield <-chan struct{}) (out ShardResult, err error) {
	s := &Session{app: a, resume: &ResumeRequest{Run: task.Run}, shard: &shard{&task, yield}}
	defer func() { err = errors.Join(err, s.Close()) }()
	// cells in flight need their cases after ctx
	if s.Run, err = results.Open(context.WithoutCancel(ctx), a, task.Run); err != nil {
		return out, err
	}
	red, err := results.RedactorOf(a, s.Manifest, nil)
	if err != nil {
		return out, err
	}
	c, err := a.Config.Claim()
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.Canceled = cancel
	lease, err := s.DB.Join(ctx, s.Stored.ID, task.Lease, c)
	if err != nil {
		return out, err
	}
	if err := s.open(ctx); err != nil {
		return out, err
	}
	from, to := task.Shard.Span()
	s.done = s.DB.DoneCellsIn(context.WithoutCancel(ctx), s.Stored.ID, from, to)
	sum, err := s.cells(ctx, lease)
	if sum.Unbooked != (callvet.Spent{}) {
		err = errors.Join(err, lease.Book(context.WithoutCancel(ctx), sum.Unbooked))
	}
	out = ShardResult{ShardSummary: sum.Shard(), Hidden: s.hidden}
	for _, what := range s.op.Learned {
		out.Learned = append(out.Learned, red.Text(what))
	}
	return out, err
}

// splits reports whether workers may have shards of the run. Some runs need the memory of one
// session: live judges, really called tools, recordings, and the usage of models in catalogues. A
// run with a cost limit that may end it at the first answer is not split.
func (s *Session) splits() bool {
	if s.resume == nil || s.resume.Split == nil {
		return false
	}
	man, how := s.Manifest, s.resume.Split
	return how.Workers > 1 && s.live == nil && man.Live == nil && man.Replay == nil && man.Judging == nil && man.Until == nil &&
		len(s.op.Models) == 0 &&
		!slices.ContainsFunc(s.targets, func(t run.Target) bool {
			return t.Recorded || s.settings.MaxCostUSD > 0 && s.op.Unpriced(&t.Target)
		}) &&
		(s.world == nil || s.world.recordings == nil && s.world.tape == nil)
}

// split lets workers make attempts of the run, reports their progress, and leaves the rest in cfg.
func (s *Session) split(ctx context.Context, lease *store.Lease, hide *results.Hiding, cfg *run.Config) error {
	at, err := s.DB.CacheNow(ctx)
	if err != nil {
		return err
	}
	all, how := cfg.Done, s.resume.Split
	var errs map[results.Spot]bool
	cfg.Done, errs = withErrors(all)
	var reporting sys.Group
	over := make(chan struct{})
	complete := false
	var once sync.Once
	func() {
		defer reporting.Wait()
		defer close(over)
		complete, err = run.Split(ctx, *cfg, run.Splitting{
			Workers: how.Workers, Rounds: how.Rounds,
			Failed: func(err error) {
				s.events.Warn("shard", hide.Text("a part of the run failed, and is made again: "+err.Error()))
			},
			Do: func(ctx context.Context, part run.Shard, yield <-chan struct{}) (run.ShardSummary, error) {
				once.Do(func() { // the earlier errors are known by now
					reporting.Go(func() { s.reportShards(context.WithoutCancel(ctx), len(errs), over) })
				})
				out, err := how.Shard(ctx,
					ShardTask{Run: s.Stored.ID, Lease: lease.ID(), CacheAt: at, Shard: part}, yield)
				s.gather(&out)
				return out.ShardSummary, err
			},
		})
	}()
	cfg.Done = all
	small := false
	once.Do(func() { small = true }) // no worker had a shard
	if err != nil || small {
		return err
	}
	if complete { // except the last cases, which the session runs
		maps.DeleteFunc(errs,
			func(p results.Spot, _ bool) bool { return !slices.Contains(s.Manifest.Rubrics, int(p.Case)) })
		// a lost worker can write nothing more; this also reads whether the run must be canceled
	} else if err := lease.Alone(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	// The attempts of the shards stay, errors too. Earlier errors may not have run again yet.
	cfg.Done, cfg.KeepErrors = without(all, errs), true
	if cfg.Cache != nil {
		cfg.Cache = s.DB.CacheAt(at)
	}
	s.Stored, err = s.DB.Run(context.WithoutCancel(ctx), s.Stored.ID)
	cfg.Spent = s.Stored.Spent
	return err
}

// withErrors yields the cells, and returns the places of those that ended in an error or did not
// run; they are complete when all cells were read.
func withErrors(cells iter.Seq2[*callvet.Cell, error]) (iter.Seq2[*callvet.Cell, error], map[results.Spot]bool) {
	errs := map[results.Spot]bool{}
	return func(yield func(*callvet.Cell, error) bool) {
		for c, err := range cells {
			if err == nil && unjudged(c) {
				errs[results.SpotOf(c)] = true
			}
			if !yield(c, err) {
				return
			}
		}
	}, errs
}

// without yields the cells except those at places that still have no verdict.
func without(cells iter.Seq2[*callvet.Cell, error], places map[results.Spot]bool) iter.Seq2[*callvet.Cell, error] {
	return func(yield func(*callvet.Cell, error) bool) {
		for c, err := range cells {
			if err == nil && unjudged(c) && places[results.SpotOf(c)] {
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

// gather adds a shard's results other than attempts.
func (s *Session) gather(out *ShardResult) {
	for _, what := range out.Learned {
		learnsOnce(s.op, what)
	}
	s.sharing.Lock()
	defer s.sharing.Unlock()
	addHidden(&s.hidden, out.Hidden)
	for _, why := range out.Stopped {
		if !slices.Contains(s.stopped, why) {
			s.stopped = append(s.stopped, why)
		}
	}
}

// alsoStopped adds the targets that were given up in shards and are not listed already: the wording
// of the reason may differ.
func (s *Session) alsoStopped(stopped []string) []string {
	for _, why := range s.stopped {
		name, _, _ := strings.Cut(why, ": ")
		if !slices.ContainsFunc(stopped, func(listed string) bool { return strings.HasPrefix(listed, name+": ") }) {
			stopped = append(stopped, why)
		}
	}
	return stopped
}

func addHidden(h *results.Hidden, more results.Hidden) {
	h.Changed += more.Changed
	for k, n := range more.Count {
		if h.Count == nil {
			h.Count = map[redact.Kind]int64{}
		}
		h.Count[k] += n
	}
}

// learnsOnce is learns without duplicates from several workers.
func learnsOnce(o *app.Opener, what string) {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	if !slices.Contains(o.Learned, what) {
		o.Learned = append(o.Learned, what)
	}
}

// reportShards reports the workers' progress from the store. errs is how many repeated attempts had
// no verdict at the start: that many attempts without a verdict count as not done.
func (s *Session) reportShards(ctx context.Context, errs int, over <-chan struct{}) {
	tick := time.NewTicker(app.FollowInterval)
	defer tick.Stop()
	var sum store.Progress
	begun := s.app.Config.Now()
	for before := -1; ; {
		if errs > 0 { // repeated attempts are not new: all are counted again
			sum = store.Progress{}
		}
		p, err := s.DB.Progress(ctx, s.Stored.ID, sum.Last)
		if r, rerr := s.DB.Run(ctx, s.Stored.ID); err == nil && rerr == nil { // otherwise it is reported later
			sum = store.Progress{
				Last: p.Last, Done: sum.Done + p.Done, Fail: sum.Fail + p.Fail,
				Error: sum.Error + p.Error, NotRun: sum.NotRun + p.NotRun,
			}
			again := min(errs, sum.Error+sum.NotRun)
			progress := app.ProgressEvent{
				Total: s.Size(), Done: sum.Done - again, Failed: sum.Fail,
				Errors: max(sum.Error-again, 0), CostUSD: r.Spent.USD,
			}
			if before < 0 {
				before = progress.Done
			}
			if n := progress.Done - before; n > 0 {
				progress.ETA = time.Duration(
					float64(s.app.Config.Now().Sub(begun)) / float64(n) * float64(progress.Total-progress.Done))
			}
			s.events.Emit(app.Event{Progress: &progress})
		}
		select {
		case <-tick.C:
		case <-over:
			return
		}
	}
}
