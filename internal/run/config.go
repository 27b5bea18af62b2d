// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/callvet/callvet"
)

// Target is a target with the model that speaks for it.
type Target struct {
	callvet.Target
	Model callvet.Model
}

// Identifier is a Model whose answers depend on nothing but what it sends, so that
// a stored answer may be given again to the same question.
type Identifier interface {
	// Identity is the same for two requests exactly when the same is sent to the same
	// deployment. It holds no secret. It is called from many goroutines.
	Identity(req *callvet.Request) [sha256.Size]byte
}

// Journal makes cells durable.
type Journal interface {
	// Encode appends the durable form of a cell to dst. Called from many goroutines.
	Encode(dst []byte, c *callvet.Cell, key []byte) ([]byte, error)
	// Append makes encoded cells durable, with what was spent since it was called
	// last, by cells that are not among them too; on an error none of it may count.
	// There may be no cell. It is called from one goroutine and must be idempotent
	// per cell. Once another process carries the run out the error wraps ErrConflict.
	Append(ctx context.Context, runID string, encoded [][]byte, spent callvet.Spent) error
}

// Lease is the right to carry a run out, which another process may take once it was
// not renewed for its TTL. Both methods are called from many goroutines.
type Lease interface {
	// Renew makes the lease last for its TTL from now. The error wraps ErrConflict
	// once another process has the run; any other may pass.
	Renew(ctx context.Context) error
	TTL() time.Duration
}

// Cache finds stored traces. A key is 24 bytes: 8 of scope, 16 of the request.
type Cache interface {
	// Cached opens a scope; the function it returns is called from many goroutines.
	Cached(ctx context.Context,
		scope []byte) (func(ctx context.Context, key []byte) (*callvet.Trace, bool, error), error)
}

// Compiled is a case made ready to judge the attempts at it. Its methods are called
// from many goroutines.
type Compiled interface {
	// Idle returns the reason why no attempt at the case could be judged, whatever a target does;
	// "" when one could. Such a case is not asked, and its cell is not run. selects: the target
	// selects tools and does not call them.
	Idle(selects bool) string
	// Check returns every violation of a tool's contract in a call, before a world gets it.
	Check(call *callvet.Call) []callvet.Violation
	// Naming is what the names of tools count as; nil: each is a name by itself.
	Naming() *callvet.Naming
	// Reached reports whether a multi-turn attempt has made the last calls that are expected.
	Reached(calls []callvet.Call) bool
	// Judge judges an attempt. It blocks only where scorers of the suite's own do: the attempt
	// holds no slot of its provider and nothing of the budget by then. The error is that of
	// ctx, where it ended meanwhile.
	Judge(ctx context.Context, t *callvet.Trace) (callvet.Result, error)
}

// Guard decides about the calls of one attempt, one after the other. It is not shared between
// attempts. It sees what its contract allows only, and what it decides is in the trace.
type Guard interface {
	// Before is asked before a call is executed. talk is the conversation so far, the case's input
	// first; its last assistant turn has the call. It returns the call for the world (the trace
	// keeps the call that the target emitted), or in deny the reply to the target instead. Then
	// nothing is executed, and After is not asked. Waiting ends with ctx.
	Before(ctx context.Context, talk []callvet.Turn, call callvet.Call) (pass callvet.Call, deny *callvet.Reply,
		rulings []callvet.Ruling)
	// Timeout bounds the call that Before let pass; 0: nothing does.
	Timeout() time.Duration
	// After is asked with what the world answered to the call that Before gave, and gives
	// what the target and the trace get.
	After(ctx context.Context, call callvet.Call, r callvet.Reply) (callvet.Reply, []callvet.Ruling)
}

// Limits of one provider group. Zero values mean the defaults.
type Limits struct {
	// Concurrency is how many requests may be in flight; default 8.
	Concurrency int
	// PerSecond is how many requests may start in a second; zero: any number.
	PerSecond float64
}

// Share is part Part (from 0) of Of equal parts of the limits of a provider. The zero value is all of them.
// No part has less than one request in flight: Of is at most the concurrency that is shared.
type Share struct {
	Part int `json:"part,omitempty"`
	Of   int `json:"of,omitempty"`
}

// of gives the part of the limits. All parts together have the concurrency and the rate of l.
func (s Share) of(l Limits) Limits {
	if s.Of > 1 {
		l.Concurrency = max((l.Concurrency+s.Of-1-s.Part)/s.Of, 1)
		l.PerSecond /= float64(s.Of)
	}
	return l
}

// Retry says how often a request is repeated. Zero values mean the defaults.
type Retry struct {
	// Attempts bounds the requests for one turn when the fault may pass; default 4,
	// 1 never retries. A malformed body is asked for once more at most.
	Attempts int
	// RateLimited is the bound when the provider said "too many requests", which
	// is a matter of waiting; default 10 (never fewer than Attempts unless Attempts is 1).
	RateLimited int
	// Base is the first wait, doubled each time up to Max; default 500 ms and 30 s.
	Base, Max time.Duration
	// MaxWait is the longest Retry-After that is waited for; default 5 min.
	MaxWait time.Duration
}

// Budget bounds a run over all its sessions. Zero values mean no bound.
type Budget struct {
	MaxCostUSD float64
	// MaxCalls bounds the requests to targets, retries included.
	MaxCalls int
}

// Source gives the cases of a suite one by one, so that a big one need not be in
// memory. Case is called from several goroutines, mostly with rising i; what it
// returns must stay valid and unchanged.
type Source interface {
	Len() int
	Case(i int) (*callvet.Case, error)
}

// Cases is the Source of a suite that is in memory.
func Cases(s *callvet.Suite) Source { return inMemory{s} }

type inMemory struct{ s *callvet.Suite }

func (m inMemory) Len() int                          { return len(m.s.Cases) }
func (m inMemory) Case(i int) (*callvet.Case, error) { return &m.s.Cases[i], nil }

// Config is everything Run needs. Suite, Targets, Compile and Journal are required.
type Config struct {
	Suite *callvet.Suite
	// Source, when set, gives the cases in place of Suite.Cases.
	Source  Source
	Targets []Target
	// Rules is kept with each result: the version of the rules, where it is not that of the run.
	Rules int
	// Compile makes a case ready to be judged: once for all of its cells that are in
	// flight together or follow one another closely.
	Compile func(c *callvet.Case) Compiled
	// Worlds makes the world that answers the calls of one attempt, by its target and repeat (from
	// 0). If it or the World is nil, calls are not answered and an attempt ends with its first
	// turn. A World that is an io.Closer is closed with its attempt.
	Worlds func(c *callvet.Case, target string, repeat int) callvet.World
	// Through reports whether the calls of a case are answered, and the target asked on until
	// it answers, although the case itself looks at its calls only; nil: of none.
	Through func(c *callvet.Case) bool
	// WorldKey is equal for worlds that answer alike for the same cases and suite. Answers are
	// reused only between those.
	WorldKey string
	// Guards makes the guard of one attempt, which stands before its world; nil, or a nil
	// Guard, lets everything pass.
	Guards func(c *callvet.Case) Guard
	// Owner is the user of the answers that are reused: those of another user are not found. "" is
	// one person's own store.
	Owner string
	// GuardKey is the same for guards that decide alike: answers are not reused between others.
	GuardKey string

	// Faults are those that the calls of a case meet, and Faulty lays them over the world of
	// one attempt; both or neither are set.
	Faults func(c *callvet.Case) []callvet.ToolFault
	Faulty func(w callvet.World, faults []callvet.ToolFault, c *callvet.Case, repeat int) callvet.World

	// Cases are positions in the suite, in the order of the run; nil means all. Select makes such a
	// list.
	Cases []int
	// Last are those of Cases that run when all others are over. Hold then says of each target
	// of whose other attempts so many failed or ended in an error why they do not run; "" runs
	// them. Nil: they run.
	Last []int
	Hold func(unmet int) string
	// Only are the targets that are asked, by their positions in Targets; nil: all. The others have no cells.
	Only []int
	// Enough, when set, reports that no further cell of a target is to start: what is left of it is left out
	// on purpose. It is called from many goroutines. What it reports once stays so.
	Enough func(target int) bool
	// Repeats of every case by every target; zero means 1. Own has the repeats of the cases with another
	// number, by position.
	Repeats int
	Own     map[int]int
	// Interleave asks the targets of a provider group in turn for each case. By default
	// one target comes after the other, so that models of one provider do not take each
	// other's rate limits; groups go on at once in either case.
	// Source: Tool Calling Evaluation, "Execution Flow".
	Interleave bool
	// Limits by provider group (Target.Provider); "" is the default for groups not named.
	Limits map[string]Limits
	// Share is the part of Limits that is this call's, where others carry out other cells of the run
	// at the same time.
	Share Share
	// Timeout bounds one request; default 120 s.
	Timeout time.Duration
	Retry   Retry
	Budget  Budget
	// BreakAfter is the number of cells in a row that must fail for the same fatal reason (not
	// authorized, connection refused, no such model). The remaining cells of the target then become
	// faults without a request; default 5, -1: never.
	BreakAfter int

	// RunID is what the journal knows the run by.
	RunID   string
	Journal Journal
	// Lease, when set, is renewed while the run goes on. When it is lost the run stops
	// at once with the lease's error, and nothing more is stored.
	Lease Lease
	// Full, when set, is asked before the first cell, and at most once a second after cells became durable. An error
	// that wraps callvet.ErrBudget ends the run as a budget does, another one fails it.
	Full func(ctx context.Context) error
	// Spent is what earlier sessions of the run consumed; it counts for the budget.
	Spent callvet.Spent
	// DearestUSD is what the dearest cell of the run cost so far, where others than those of Done are
	// known; 0: none is.
	DearestUSD float64
	// Done yields the cells that the journal has already (their coordinates,
	// verdict, usage): they are counted and not run again. Nil for a new run.
	Done iter.Seq2[*callvet.Cell, error]
	// KeepErrors leaves stored cells that ended in an error or did not run as they
	// are. By default they run again, and the new cell replaces the old one.
	KeepErrors bool
	// Cache, when set, answers cells of targets whose Model is an Identifier and
	// that were asked the same before.
	Cache Cache

	// Redact, when set, takes out of a scored cell what must not be kept, before it is stored
	// and observed. It reports whether what was said changed: such a cell is stored without
	// its key, because it would answer another one with what is left. It is called from many
	// goroutines.
	Redact func(of *callvet.Case, cell *callvet.Cell) (said bool)

	// Observe is called after every batch became durable, from one goroutine, which
	// stores nothing meanwhile: it should return soon.
	Observe func(Event)
	// Yield, when it closes, lets no further cell start; those in flight end normally. The status
	// is "interrupted" then, where cells are left.
	Yield <-chan struct{}
	// Grace is how long cells in flight may take to finish after the context was
	// canceled; default 10 s, -1: none. Abort, when it closes, ends the grace.
	Grace time.Duration
	Abort <-chan struct{}

	// Now is the clock; nil means time.Now. Seed makes the jitter of waits repeatable.
	Now  func() time.Time
	Seed uint64

	most int // repeats that a case has
}

// withDefaults fills in what is zero and refuses what cannot run.
func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Suite == nil || c.Compile == nil || c.Journal == nil:
		return c, fmt.Errorf("start run: suite, compile and journal are required: %w", callvet.ErrInvalid)
	case len(c.Targets) == 0:
		return c, fmt.Errorf("start run: no target: %w", callvet.ErrInvalid)
	case c.Repeats < 0 || c.Budget.MaxCalls < 0 || c.Budget.MaxCostUSD < 0:
		return c, fmt.Errorf("start run: repeats and budgets cannot be negative: %w", callvet.ErrInvalid)
	}
	for i := range c.Targets {
		if c.Targets[i].Model == nil {
			return c, fmt.Errorf("start run: target %s has no model: %w", c.Targets[i].Name, callvet.ErrInvalid)
		}
	}
	if c.Source == nil {
		c.Source = Cases(c.Suite)
	}
	c.Cases, c.Only = orAll(c.Cases, c.Source.Len()), orAll(c.Only, len(c.Targets))
	if err := errors.Join(positions("target", c.Only, len(c.Targets)),
		positions("case", c.Cases, c.Source.Len())); err != nil {
		return c, err
	}
	c.Repeats = max(c.Repeats, 1)
	c.most = c.Repeats
	for _, n := range c.Own {
		c.most = max(c.most, n)
	}
	c.Timeout = orDefault(c.Timeout, 120*time.Second)
	c.Grace = orDefault(c.Grace, 10*time.Second)
	c.BreakAfter = orDefault(c.BreakAfter, 5)
	c.Retry = c.Retry.withDefaults()
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Observe == nil {
		c.Observe = func(Event) {}
	}
	return c, nil
}

// repeats is how many attempts each target makes at a case.
func (c *Config) repeats(ix int) int { return cmp.Or(c.Own[ix], c.Repeats) }

// phases are the cases to run, one list after the other.
func (c *Config) phases() [][]int {
	if len(c.Last) == 0 {
		return [][]int{c.Cases}
	}
	late := make(map[int]bool, len(c.Last))
	for _, ix := range c.Last {
		late[ix] = true
	}
	var first, last []int
	for _, ix := range c.Cases {
		if late[ix] {
			last = append(last, ix)
		} else {
			first = append(first, ix)
		}
	}
	return [][]int{first, last}
}

// orAll are the positions, all n where there are none.
func orAll(list []int, n int) []int {
	if list == nil {
		list = make([]int, n)
		for i := range list {
			list[i] = i
		}
	}
	return list
}

// positions refuses positions that are not those of n things.
func positions(what string, list []int, n int) error {
	for _, ix := range list {
		if ix < 0 || ix >= n {
			return fmt.Errorf("start run: %s %d of %d: %w", what, ix, n, callvet.ErrInvalid)
		}
	}
	return nil
}

// inFlight is how many requests there are at once at most.
func (c *Config) inFlight() int {
	n := 0
	for _, p := range c.providers() {
		n += c.Share.of(c.limits(p.name)).Concurrency
	}
	return max(n, 1)
}

// provider is a group of targets that share limits, by their positions.
type provider struct {
	name    string
	targets []int
}

// providers puts the targets of one provider together, in the order of their first.
func (c *Config) providers() []provider {
	var out []provider
	for _, ix := range c.Only {
		name := c.Targets[ix].Provider
		i := slices.IndexFunc(out, func(p provider) bool { return p.name == name })
		if i < 0 {
			i = len(out)
			out = append(out, provider{name: name})
		}
		out[i].targets = append(out[i].targets, ix)
	}
	return out
}

func (r Retry) withDefaults() Retry {
	r.Attempts = orDefault(r.Attempts, 4)
	if r.RateLimited == 0 && r.Attempts > 1 {
		r.RateLimited = 10
	}
	r.RateLimited = max(r.RateLimited, r.Attempts)
	r.Base = orDefault(r.Base, 500*time.Millisecond)
	r.Max = orDefault(r.Max, 30*time.Second)
	r.MaxWait = orDefault(r.MaxWait, 5*time.Minute)
	return r
}

func orDefault[T int | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// limits of a provider group.
func (c *Config) limits(group string) Limits {
	l, ok := c.Limits[group]
	if !ok {
		l = c.Limits[""]
	}
	l.Concurrency = max(orDefault(l.Concurrency, 8), 1)
	return l
}
