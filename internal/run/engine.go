// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// engine is one call of Run.
type engine struct {
	cfg      Config
	toolsets *toolsetCache
	cases    *cases
	states   []*targetState
	keys     bool // some target is cached
	budget   *budget
	asked    time.Time // when Config.Full was called last
	renewer  *leaseRenewer
	commit   *committer
	done     bitmap
	now      []int   // the cases of this phase: those of Config.Cases that are not in Last, and then these
	last     bool    // the phase of Last
	dearest  float64 // cost of the dearest cell that is done; 0 where none is known

	// stopping closes when no further cell may start and no retry may be waited for.
	stopping chan struct{}
	stopOnce sync.Once
	cancel   context.CancelCauseFunc // ends the cells in flight

	jitter struct {
		sync.Mutex
		*rand.Rand
	}
}

// group is one provider with its limits and its share of the cells.
type group struct {
	states   []*targetState
	governor *governor
	pace     *rate.Limiter // nil: any pace

	mu       sync.Mutex
	turn     []*targetState // those that are asked now
	at       int            // position in engine.now
	targetAt int            // in turn
	repeat   int
	prep     *prepared
}

type job struct {
	state  *targetState
	prep   *prepared
	repeat int
}

// Run carries out the cells of a run that are not done yet and returns when all
// that were started have ended and are stored.
//
// When ctx is canceled no further cell starts, those in flight get Config.Grace
// to finish, and the status is "interrupted" without an error. When the budget is
// exhausted it returns ErrBudget with everything that was done counted. When the
// journal fails, the run stops at once with the journal's error: nothing counts
// that is not durable.
func Run(ctx context.Context, cfg Config) (Summary, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Summary{Status: StatusFailed}, err
	}
	// Canceling ctx is a request to finish, so the work has a context of its own.
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	e := &engine{
		cfg: cfg, toolsets: newToolsetCache(cfg.Suite), cases: &cases{source: cfg.Source},
		stopping: make(chan struct{}), cancel: cancel,
	}
	e.jitter.Rand = rand.New(rand.NewPCG(cfg.Seed, 0x63616c6c766574))
	fail := func(err error) { e.cancel(err); e.stop() }
	e.commit = newCommitter(&e.cfg, fail)
	e.renewer = &leaseRenewer{lease: cfg.Lease, now: cfg.Now, fail: fail}
	e.renewer.last = e.renewer.wall()
	if err := e.load(context.WithoutCancel(ctx)); err != nil { // a run that is to end has counts, too
		return Summary{Status: StatusFailed}, err
	}
	return e.run(ctx, work)
}

// load reads the cells that are done already and opens the cache.
func (e *engine) load(ctx context.Context) error {
	e.dearest = e.cfg.DearestUSD
	for i := range e.cfg.Targets {
		s := &targetState{Target: &e.cfg.Targets[i], ix: i, breaker: newBreaker(e.cfg.BreakAfter)}
		if slices.Contains(e.cfg.Only, i) {
			if err := e.openCache(ctx, s); err != nil {
				return err
			}
		}
		e.states = append(e.states, s)
	}
	if e.cfg.Done != nil {
		if err := e.loadDone(); err != nil {
			return err
		}
	}
	e.budget = newBudget(e.cfg.Budget, e.cfg.Spent, e.dearest)
	e.commit.unbooked, e.commit.full = e.budget.unbooked, e.room
	return e.room(ctx)
}

// room ends the run, as an exhausted budget does, if Config.Full refuses further cells.
func (e *engine) room(ctx context.Context) error {
	if e.cfg.Full == nil || e.cfg.Now().Sub(e.asked) < time.Second {
		return nil
	}
	e.asked = e.cfg.Now()
	err := e.cfg.Full(ctx)
	if errors.Is(err, callvet.ErrBudget) {
		e.budget.end(err)
		return nil
	}
	return err
}

func (e *engine) loadDone() error {
	chosen := make(map[int]bool, len(e.cfg.Cases))
	for _, ix := range e.cfg.Cases {
		chosen[ix] = true
	}
	late := make(map[int]bool, len(e.cfg.Last))
	for _, ix := range e.cfg.Last {
		late[ix] = true
	}
	e.done = newBitmap(e.cfg.Source.Len() * len(e.states) * e.cfg.most)
	for c, err := range e.cfg.Done {
		if err != nil {
			return fmt.Errorf("read what is done: %w", err)
		}
		if !chosen[c.Case] || !slices.Contains(e.cfg.Only, c.Target) || c.Repeat >= e.cfg.repeats(c.Case) ||
			!e.cfg.stays(c) {
			continue
		}
		e.done.set(e.cfg.index(c.Case, c.Target, c.Repeat))
		if !late[c.Case] {
			e.states[c.Target].judge(c.Result.Verdict)
		}
		e.commit.count(c)
		if usd := c.Trace.Usage.CostUSD; usd != nil && !c.Trace.Cached {
			e.dearest = max(e.dearest, *usd)
		}
	}
	e.commit.before = e.commit.totals.Done
	return nil
}

// stays reports whether a stored cell is not run again.
func (c *Config) stays(cell *callvet.Cell) bool {
	again := cell.Result.Verdict == callvet.VerdictError || cell.Result.Verdict == callvet.VerdictNotRun
	return !again || c.KeepErrors
}

// index numbers the cells of a run.
func (c *Config) index(ix, target, repeat int) int {
	return (ix*len(c.Targets)+target)*c.most + repeat
}

func (e *engine) run(ctx, work context.Context) (Summary, error) {
	if e.commit.before > 0 {
		e.commit.announce(nil, nil)
	}
	committing, watching := sys.Group{Stop: e.broken}, sys.Group{Stop: e.broken}
	over := make(chan struct{})
	// Finished cells are stored even when the others are being stopped.
	committing.Go(func() { e.commit.run(context.WithoutCancel(work)) })
	watching.Go(func() { e.watch(ctx, over) })
	watching.Go(func() { e.renewer.beat(work, over) })
	groups := e.groups()
	if ctx.Err() != nil { // before the watch sees it, cells would start
		e.stop()
	}
	func() { // deferred, so that after a panic what is finished is stored too
		defer watching.Wait()
		defer close(over)
		defer committing.Wait()
		defer close(e.commit.queue)
		for i, phase := range e.cfg.phases() {
			e.now, e.last = phase, i > 0
			workers := sys.Group{Stop: e.broken}
			for _, g := range groups {
				workers.Go(func() { e.serve(work, g) })
			}
			workers.Wait()
		}
	}()
	return e.summary(ctx, work)
}

// broken ends the run after a panic; Wait panics with its value.
func (e *engine) broken() {
	e.stop()
	e.cancel(context.Canceled)
}

// groups are the providers with their limits.
func (e *engine) groups() []*group {
	var out []*group
	for _, p := range e.cfg.providers() {
		l := e.cfg.Share.of(e.cfg.limits(p.name))
		g := &group{governor: newGovernor(l.Concurrency, e.cfg.Now)}
		if l.PerSecond > 0 {
			g.pace = rate.NewLimiter(rate.Limit(l.PerSecond), 1)
			if e.cfg.Share.Of > 0 { // another one may have had a request just now
				g.pace.AllowN(e.cfg.Now(), 1)
			}
		}
		for _, ix := range p.targets {
			g.states = append(g.states, e.states[ix])
		}
		out = append(out, g)
	}
	return out
}

// serve carries out the cells of a group: of one target after the other, or of all.
func (e *engine) serve(ctx context.Context, g *group) {
	turns := [][]*targetState{g.states}
	if !e.cfg.Interleave {
		turns = slices.Collect(slices.Chunk(g.states, 1))
	}
	for _, turn := range turns {
		g.turn, g.at, g.targetAt, g.repeat, g.prep = turn, 0, 0, 0, nil
		workers := sys.Group{Stop: e.broken}
		for range min(int(g.governor.max), len(turn)*len(e.now)*e.cfg.most) {
			workers.Go(func() { e.work(ctx, g) })
		}
		workers.Wait()
	}
}

// next returns the next cell of the group's turn that is not done, case by case, so that each case
// is prepared once and stays in the processor's caches.
func (e *engine) next(g *group) (job, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.at < len(e.now) {
		ix := e.now[g.at]
		if g.prep == nil {
			var err error
			if g.prep, err = e.cases.at(e.now[g.at:]); err != nil {
				e.commit.fail(err)
				return job{}, false
			}
		}
		j := job{g.turn[g.targetAt], g.prep, g.repeat}
		if g.repeat++; g.repeat == e.cfg.repeats(ix) {
			g.repeat = 0
			if g.targetAt++; g.targetAt == len(g.turn) {
				g.targetAt = 0
				g.at++
				g.prep = nil
			}
		}
		if !e.done.has(e.cfg.index(ix, j.state.ix, j.repeat)) && !e.enough(j.state.ix) {
			return j, true
		}
	}
	return job{}, false
}

// enough reports whether no further cell of a target is to start.
func (e *engine) enough(target int) bool { return e.cfg.Enough != nil && e.cfg.Enough(target) }

// leaveOut counts the cells that are left out because their target needs no more.
func (e *engine) leaveOut(s *Summary) {
	for i := range s.Targets {
		if t := &s.Targets[i]; e.enough(i) {
			t.LeftOut = t.Total - t.Done
			s.LeftOut += t.LeftOut
		}
	}
}

// watch ends the run when the user stops it.
func (e *engine) watch(ctx context.Context, over <-chan struct{}) {
	select {
	case <-over:
		return
	case <-e.cfg.Abort:
	case <-ctx.Done():
		e.stop()
		if e.cfg.Grace > 0 {
			g, cancel := context.WithTimeout(context.Background(), e.cfg.Grace)
			defer cancel()
			select {
			case <-over:
				return
			case <-e.cfg.Abort:
			case <-g.Done():
			}
		}
	}
	e.stop()
	e.cancel(context.Canceled)
}

func (e *engine) stop() { e.stopOnce.Do(func() { close(e.stopping) }) }

func (e *engine) stopped() bool {
	select {
	case <-e.stopping:
		return true
	default:
		return false
	}
}

// yields reports whether the cells that are left are for a later session.
func (e *engine) yields() bool {
	select {
	case <-e.cfg.Yield:
		return true
	default:
		return false
	}
}

// work carries out cells of a group until none is left.
func (e *engine) work(ctx context.Context, g *group) {
	for !e.stopped() && !e.yields() {
		j, ok := e.next(g)
		if !ok {
			return
		}
		if !e.cell(ctx, g, j) {
			return
		}
	}
}

// cell carries out one cell and reports whether to go on.
func (e *engine) cell(ctx context.Context, g *group, j job) bool {
	e.ready(j.prep)
	if why := e.holdReason(j); why != "" {
		return e.hold(ctx, j, why)
	}
	h, ok := e.budget.reserve(ctx, j.prep.rounds)
	if !ok || e.stopped() {
		return false
	}
	var key []byte
	var t *callvet.Trace
	if j.state.find != nil && j.prep.c.Skip == "" {
		key = e.key(j.state, j.prep, j.repeat)
		var err error
		if t, err = e.reuse(ctx, j.state, j.prep, j.repeat, key); err != nil {
			e.commit.fail(err)
			return false
		}
	}
	if t != nil {
		key = nil // its first cell has the key
		e.budget.settle(&h, bill{}, j.state.Name)
	} else {
		a := attempt{e: e, g: g, state: j.state, p: j.prep, hold: &h}
		t = a.play(ctx, j.repeat)
		e.budget.settle(&h, a.bill, j.state.Name)
	}
	if t == nil {
		return true // nothing to keep; the next cell decides whether to go on
	}
	cell := &callvet.Cell{Case: j.prep.ix, Target: j.state.ix, Repeat: j.repeat, Trace: *t}
	var err error
	if cell.Result, err = j.prep.compiled.Judge(ctx, &cell.Trace); err != nil {
		return true // broken off: nothing to keep, as above
	}
	cell.Result.Rules = e.cfg.Rules
	if !e.last {
		j.state.judge(cell.Result.Verdict)
	}
	if t.Outcome == callvet.OutcomeError || t.Outcome == callvet.OutcomeNotRun {
		key = nil
	}
	if e.cfg.Redact != nil && e.cfg.Redact(j.prep.c, cell) {
		key = nil
	}
	return e.commit.put(ctx, j.prep.c, cell, key)
}

// judge counts attempts of the first phase that did not pass. Cells that did not run are not
// counted.
func (s *targetState) judge(v callvet.Verdict) {
	if v == callvet.VerdictFail || v == callvet.VerdictError {
		s.unmet.Add(1)
	}
}

// held returns why a cell of the last phase must not run; "" if it may run.
func (e *engine) holdReason(j job) string {
	if !e.last || e.cfg.Hold == nil || j.prep.c.Skip != "" {
		return ""
	}
	return e.cfg.Hold(int(j.state.unmet.Load()))
}

// hold stores a cell that does not run. It costs nothing and is not reused.
func (e *engine) hold(ctx context.Context, j job, why string) bool {
	cell := &callvet.Cell{Case: j.prep.ix, Target: j.state.ix, Repeat: j.repeat, Trace: callvet.Trace{
		CaseID: j.prep.c.ID, Target: j.state.Name, Repeat: j.repeat, Started: e.cfg.Now(), End: callvet.EndSkipped,
	}}
	cell.Trace.Classify("")
	var err error
	if cell.Result, err = j.prep.compiled.Judge(ctx, &cell.Trace); err != nil {
		return true
	}
	cell.Result.Reason, cell.Result.Rules = why, e.cfg.Rules
	if e.cfg.Redact != nil {
		e.cfg.Redact(j.prep.c, cell)
	}
	return e.commit.put(ctx, j.prep.c, cell, nil)
}

func (e *engine) summary(ctx, work context.Context) (Summary, error) {
	s := Summary{
		Status: StatusDone, Totals: e.commit.totals, Targets: e.commit.targets,
		Elapsed: e.cfg.Now().Sub(e.commit.began), Spent: e.budget.total(), DearestUSD: e.budget.dearest(),
		Unbooked: e.budget.unbooked(),
	}
	s.Unbooked.Add(e.commit.lost)
	for _, st := range e.states {
		if f := st.breaker.open(); f != nil {
			s.Stopped = append(s.Stopped, st.Name+": "+f.Error())
		}
	}
	e.leaveOut(&s)
	cause := context.Cause(work)
	switch {
	case cause != nil && !errors.Is(cause, context.Canceled):
		s.Status = StatusFailed
		return s, cause
	case s.Done+s.LeftOut == s.Total:
		return s, nil
	case ctx.Err() != nil || cause != nil || e.yields():
		s.Status = StatusInterrupted
		return s, nil
	}
	if err := e.budget.exhausted(); err != nil {
		s.Status = StatusBudget
		return s, err
	}
	s.Status = StatusFailed
	return s, fmt.Errorf("run attempts: %d of %d were not done", s.Total-s.Done-s.LeftOut, s.Total)
}

// bitmap has one bit per cell; the nil bitmap has none set.
type bitmap []uint64

func newBitmap(n int) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitmap) has(i int) bool { return b != nil && b[i/64]&(1<<(i%64)) != 0 }
