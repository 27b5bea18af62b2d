// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// shardRounds is how many cells a shard has at least for each request that it may have in flight. At the
// end of a shard its share of the limits is not used up; with so many rounds that costs about a hundredth
// of the time (BenchmarkPieces).
const shardRounds = 125

// Shard is a part of a run for one worker: some cases with some targets of one provider.
type Shard struct {
	// Targets are positions in Config.Targets; Cases are ranges of positions in the suite, each from its
	// first to before its second.
	Targets []int    `json:"targets"`
	Cases   [][2]int `json:"cases"`
	// Share is the shard's part of the limits of the provider, Budget its part of the remaining
	// budget.
	Share  Share  `json:"share"`
	Budget Budget `json:"budget"`
	// DearestUSD is Config.DearestUSD.
	DearestUSD float64 `json:"dearest_usd,omitempty"`
	// KeepErrors is Config.KeepErrors, for cells that were asked since the run was split.
	KeepErrors bool `json:"keep_errors,omitempty"`
}

// Span is the range of positions from the lowest case of the shard to before the highest.
func (s *Shard) Span() (from, to int) {
	for i, r := range s.Cases {
		if i == 0 || r[0] < from {
			from = r[0]
		}
		to = max(to, r[1])
	}
	return from, to
}

// Within returns the Config of a shard of the run; c is the Config of the whole run.
func (c Config) Within(s *Shard) Config {
	c.Only, c.Share, c.Budget, c.DearestUSD = s.Targets, s.Share, s.Budget, s.DearestUSD
	c.Spent, c.Last, c.Hold, c.KeepErrors = callvet.Spent{}, nil, nil, c.KeepErrors || s.KeepErrors
	c.Cases = []int{}
	for _, r := range s.Cases {
		for ix := r[0]; ix < r[1]; ix++ {
			c.Cases = append(c.Cases, ix)
		}
	}
	return c
}

// ShardSummary is the result of a shard.
type ShardSummary struct {
	Status     Status        `json:"status"`
	Spent      callvet.Spent `json:"spent"`
	DearestUSD float64       `json:"dearest_usd,omitempty"`
	// Stopped is Summary.Stopped.
	Stopped []string `json:"stopped,omitempty"`
}

// Shard is the summary of the run of a shard.
func (s *Summary) Shard() ShardSummary {
	return ShardSummary{Status: s.Status, Spent: s.Spent, DearestUSD: s.DearestUSD, Stopped: s.Stopped}
}

// Splitting has the settings of a split. Do is required.
type Splitting struct {
	// Do lets a worker carry out a shard: Run with the Config that Within returns. It returns when
	// the shard is over, soon after ctx ends, or when the cells in flight are over after yield has
	// closed. It is called from many goroutines.
	Do func(ctx context.Context, s Shard, yield <-chan struct{}) (ShardSummary, error)
	// Workers is the largest number of workers that share the limits of a provider.
	Workers int
	// Rounds is shardRounds where it is 0.
	Rounds int
	// Failed gets the error of a shard that failed, if not nil. It is called from many goroutines.
	Failed func(error)
}

// Split lets workers carry out the cells of a run that are not done yet, shard by shard, and
// returns when all shards are over. The workers share the limits of each provider and the budget:
// each shard has its share of them. The rest is for Run: the cells of Config.Last, and others if
// complete is false. That is so if the run is too small to be split, a shard ended early, a target
// was given up, the budget was used up, or the run had to yield. If complete is true, all other
// cells were asked.
//
// Split returns the error of the lease if another process has the run. When ctx ends it returns
// none.
func Split(ctx context.Context, cfg Config, how Splitting) (complete bool, err error) {
	cfg, err = cfg.withDefaults()
	if err != nil {
		return false, err
	}
	if how.Rounds == 0 {
		how.Rounds = shardRounds
	}
	sp := &splitter{cfg: cfg, how: how, erred: map[int]bool{}, dearest: cfg.DearestUSD, left: cfg.Budget}
	sp.left.MaxCalls -= cfg.Spent.Requests
	sp.left.MaxCostUSD -= cfg.Spent.USD + cfg.Spent.AssumedUSD
	if !severalWorkers(sp.plan(nil)) { // not even for all cells: the done cells need not be read
		return false, nil
	}
	done, err := sp.read()
	if err != nil {
		return false, err
	}
	lanes := sp.plan(done)
	if !severalWorkers(lanes) {
		return false, nil
	}
	for i := range lanes {
		sp.places += lanes[i].places
	}
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sp.yield, sp.end = context.WithCancel(work)
	defer sp.end()
	keep := &leaseRenewer{lease: cfg.Lease, now: cfg.Now, fail: cancel}
	keep.last = keep.wall()
	helpers, over := sys.Group{Stop: sp.end}, make(chan struct{})
	helpers.Go(func() { keep.beat(work, over) })
	helpers.Go(func() {
		select {
		case <-cfg.Yield:
			sp.end()
		case <-over:
		}
	})
	func() {
		defer helpers.Wait()
		defer close(over)
		complete = sp.carryOut(work, lanes)
	}()
	if cause := context.Cause(work); cause != nil && !errors.Is(cause, context.Canceled) &&
		!errors.Is(cause, context.DeadlineExceeded) && ctx.Err() == nil {
		return false, cause
	}
	return complete, nil
}

// splitter is one call of Split.
type splitter struct {
	cfg Config
	how Splitting
	// erred are the cases with cells that ended in an error before and run again.
	erred map[int]bool
	// yield ends when no further cell is to start in any shard; end ends it.
	yield context.Context
	end   func()

	mu      sync.Mutex
	places  int     // of all lanes
	busy    int     // shards that have their part of the budget
	left    Budget  // what is neither spent nor given to a shard, where Config.Budget has it
	dearest float64 // cost of the dearest cell that is known
}

// lane is one provider: the turns of its targets, one after the other.
type lane struct {
	provider string
	turns    []turn
	places   int // workers at once, of the turn with the most
}

// turn is some targets that are asked together.
type turn struct {
	targets []int
	cases   []int // those with cells that are not done
	cells   int   // that are not done
	places  int   // workers at once
}

func severalWorkers(lanes []lane) bool {
	return slices.ContainsFunc(lanes, func(l lane) bool { return l.places > 1 })
}

// plan lays out the cells that are not done.
func (sp *splitter) plan(done bitmap) []lane {
	c := &sp.cfg
	cases := c.phases()[0]
	var out []lane
	for _, provider := range c.providers() {
		l := lane{provider: provider.name}
		turns := [][]int{provider.targets}
		if !c.Interleave {
			turns = slices.Collect(slices.Chunk(provider.targets, 1))
		}
		for _, targets := range turns {
			t := sp.rest(done, cases, targets)
			if t.cells == 0 {
				continue
			}
			t.places = 1
			if most := c.limits(provider.name).Concurrency; t.cells >= 2*sp.how.Rounds*most {
				t.places = max(min(sp.how.Workers, most), 1)
			}
			l.turns, l.places = append(l.turns, t), max(l.places, t.places)
		}
		if len(l.turns) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// read reads which cells are done.
func (sp *splitter) read() (done bitmap, err error) {
	c := &sp.cfg
	done = newBitmap(c.Source.Len() * len(c.Targets) * c.most)
	if c.Done == nil {
		return done, nil
	}
	for cell, err := range c.Done {
		if err != nil {
			return nil, fmt.Errorf("read what is done: %w", err)
		}
		if cell.Target >= len(c.Targets) || cell.Case >= c.Source.Len() || cell.Repeat >= c.repeats(cell.Case) {
			continue
		}
		if usd := cell.Trace.Usage.CostUSD; usd != nil && !cell.Trace.Cached {
			sp.dearest = max(sp.dearest, *usd)
		}
		if c.stays(cell) {
			done.set(c.index(cell.Case, cell.Target, cell.Repeat))
		} else {
			sp.erred[cell.Case] = true
		}
	}
	return done, nil
}

// rest returns the cells that are not done, of cases with targets that run together.
func (sp *splitter) rest(done bitmap, cases, targets []int) turn {
	t := turn{targets: targets}
	for _, ix := range cases {
		n := t.cells
		for _, target := range targets {
			for repeat := range sp.cfg.repeats(ix) {
				if !done.has(sp.cfg.index(ix, target, repeat)) {
					t.cells++
				}
			}
		}
		if t.cells > n {
			t.cases = append(t.cases, ix)
		}
	}
	return t
}

// carryOut runs all lanes at the same time, and reports whether all their cells are done.
func (sp *splitter) carryOut(ctx context.Context, lanes []lane) bool {
	first := &lanes[0].turns[0]
	if sp.cfg.Budget.MaxCostUSD > 0 && sp.dearest == 0 { // one case goes alone: it shows the cost of a cell
		one := *first
		one.cases = first.cases[:1:1]
		left := sp.spread(ctx, &lanes[0], &one, 1, false)
		first.cases = append(left, first.cases[1:]...)
	}
	left := make([]int, len(lanes)) // cases
	all := sys.Group{Stop: sp.end}
	for i := range lanes {
		all.Go(func() {
			l := &lanes[i]
			for j := range l.turns {
				t := &l.turns[j]
				t.cases = sp.spread(ctx, l, t, t.places, false)
				if len(t.cases) > 0 && t.places > 1 { // cells that workers returned when the others had none
					again, fresh := *t, *t
					again.cases = slices.DeleteFunc(slices.Clone(t.cases), func(ix int) bool { return !sp.erred[ix] })
					fresh.cases = slices.DeleteFunc(slices.Clone(t.cases), func(ix int) bool { return sp.erred[ix] })
					t.cases = append(sp.spread(ctx, l, &again, 1, false), sp.spread(ctx, l, &fresh, 1, true)...)
				}
				left[i] += len(t.cases)
			}
		})
	}
	all.Wait()
	return !slices.ContainsFunc(left, func(n int) bool { return n > 0 })
}

// ended is a shard that is over.
type ended struct {
	cases []int
	part  int
	sum   ShardSummary
}

// spread lets workers carry out the cases of a turn, sharing the limits of its provider, and
// returns the cases that are left. When a worker has no more work, the others return the cases that
// they have not begun, so that the limits do not stay unused. keepErrors is Shard.KeepErrors.
func (sp *splitter) spread(ctx context.Context, l *lane, t *turn, workers int, keepErrors bool) (left []int) {
	yield, giveBack := context.WithCancel(sp.yield)
	defer giveBack()
	most := sp.cfg.limits(l.provider).Concurrency
	share := Share{Of: workers}
	size := max(sp.how.Rounds*share.of(Limits{Concurrency: most}).Concurrency/(sp.cfg.Repeats*len(t.targets)), 1)
	queue := slices.Collect(slices.Chunk(t.cases, size))
	var idle []int
	for part := range workers {
		idle = append(idle, part)
	}
	over := make(chan ended, workers)
	working := sys.Group{Stop: giveBack}
	defer working.Wait()
	for running := 0; ; {
		for len(idle) > 0 && len(queue) > 0 && yield.Err() == nil {
			share.Part = idle[0]
			shard, ok := sp.shard(t.targets, queue[0], share)
			if !ok {
				sp.end()
				break
			}
			shard.KeepErrors = keepErrors
			e := ended{cases: queue[0], part: idle[0]}
			idle, queue, running = idle[1:], queue[1:], running+1
			working.Go(func() {
				defer func() { over <- e }() // after a panic too, because spread waits for it
				e.sum = sp.do(ctx, shard, yield.Done())
			})
		}
		if len(queue) == 0 && len(idle) > 0 {
			giveBack()
		}
		if running == 0 {
			break
		}
		e := <-over
		running--
		idle = append(idle, e.part)
		if e.sum.Status != StatusDone {
			left = append(left, e.cases...)
		}
		if len(e.sum.Stopped) > 0 || e.sum.Status != StatusDone && yield.Err() == nil {
			sp.end()
		}
	}
	for _, cases := range queue {
		left = append(left, cases...)
	}
	return left
}

// shard returns a shard with its part of the budget: the rest, divided by the workers that have no
// part yet. It returns false if nothing is left.
func (sp *splitter) shard(targets, cases []int, share Share) (s Shard, ok bool) {
	s = Shard{Targets: targets, Share: share}
	for _, ix := range cases {
		if n := len(s.Cases); n > 0 && s.Cases[n-1][1] == ix {
			s.Cases[n-1][1]++
		} else {
			s.Cases = append(s.Cases, [2]int{ix, ix + 1})
		}
	}
	sp.mu.Lock()
	defer sp.mu.Unlock()
	s.DearestUSD = sp.dearest
	of, over := max(sp.places-sp.busy, 1), false
	if sp.cfg.Budget.MaxCalls > 0 {
		s.Budget.MaxCalls = sp.left.MaxCalls / of
		over = s.Budget.MaxCalls <= 0
	}
	if sp.cfg.Budget.MaxCostUSD > 0 {
		s.Budget.MaxCostUSD = sp.left.MaxCostUSD / float64(of)
		over = over || !(s.Budget.MaxCostUSD > 0)
	}
	if over {
		return s, false
	}
	sp.busy++
	sp.left.MaxCalls -= s.Budget.MaxCalls
	sp.left.MaxCostUSD -= s.Budget.MaxCostUSD
	return s, true
}

// do lets a worker carry out a shard, and adds what it did not spend to the budget again.
func (sp *splitter) do(ctx context.Context, s Shard, yield <-chan struct{}) ShardSummary {
	sum, err := sp.how.Do(ctx, s, yield)
	if broken := sum.Status == "" || sum.Status == StatusFailed; err != nil && broken && ctx.Err() == nil &&
		sp.how.Failed != nil {
		sp.how.Failed(err)
	}
	sp.mu.Lock()
	defer sp.mu.Unlock()
	sp.busy--
	if err != nil && sum.Status == "" { // its cost is unknown
		return ShardSummary{Status: StatusFailed}
	}
	sp.dearest = max(sp.dearest, sum.DearestUSD)
	sp.left.MaxCalls += s.Budget.MaxCalls - sum.Spent.Requests
	sp.left.MaxCostUSD += s.Budget.MaxCostUSD - sum.Spent.USD - sum.Spent.AssumedUSD
	return sum
}
