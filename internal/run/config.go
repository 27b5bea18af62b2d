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

// Target is a target with the model that answers for it.
type Target struct {
	callvet.Target
	Model callvet.Model
}

// Identifier is a Model with answers that depend only on the request that it sends, so that a
// stored answer may be used again for the same request.
type Identifier interface {
	// Identity is the same for two requests exactly when the same is sent to the same
	// deployment. It holds no secret. It is called from many goroutines.
	Identity(req *callvet.Request) [sha256.Size]byte
}

// Journal makes cells durable.
type Journal interface {
	// Encode appends the durable form of a cell to dst. Called from many goroutines.
	Encode(dst []byte, c *callvet.Cell, key []byte) ([]byte, error)
	// Append makes encoded cells durable, with the spending since its last call, which includes
	// cells that are not in encoded. If it returns an error, none of it may count. encoded may be
	// empty. It is called from one goroutine and must be idempotent per cell. When another process
	// carries out the run, the error wraps ErrConflict.
	Append(ctx context.Context, runID string, encoded [][]byte, spent callvet.Spent) error
}

// Lease is the right to carry out a run. Another process may take it when it was not renewed for
// its TTL. Both methods are called from many goroutines.
type Lease interface {
	// Renew makes the lease last for its TTL from now. The error wraps ErrConflict when another
	// process has the run; any other error may be temporary.
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
	// "" when one could. No request is sent for such a case, and its cell is not run. selects: the
	// target selects tools and does not call them.
	Idle(selects bool) string
	// Check returns every violation of a tool's contract in a call, before a world gets it.
	Check(call *callvet.Call) []callvet.Violation
	// Naming maps the names of tools to the names that count; nil: each name counts as it is.
	Naming() *callvet.Naming
	// Reached reports whether a multi-turn attempt has made the last calls that are expected.
	Reached(calls []callvet.Call) bool
	// Judge judges an attempt. It blocks only if the suite's own scorers block: by then the attempt
	// holds no slot of its provider and nothing of the budget. The error is that of ctx, if it
	// ended meanwhile.
	Judge(ctx context.Context, t *callvet.Trace) (callvet.Result, error)
}

// Guard decides about the calls of one attempt, one after the other. It is not shared between
// attempts. It sees only calls that their contract allows. Its decisions are in the trace.
type Guard interface {
	// Before is called before a tool call is executed. talk is the conversation so far, the case's
	// input first; its last assistant turn has the call. It returns the call for the world (the
	// trace keeps the call that the target emitted), or in deny the reply to the target instead.
	// Then nothing is executed, and After is not called. Waiting ends with ctx.
	Before(ctx context.Context, talk []callvet.Turn, call callvet.Call) (pass callvet.Call, deny *callvet.Reply,
		rulings []callvet.Ruling)
	// Timeout bounds the call that Before let pass; 0: no bound.
	Timeout() time.Duration
	// After gets the world's answer to the call that Before returned. It returns the reply for the
	// target and the trace.
	After(ctx context.Context, call callvet.Call, r callvet.Reply) (callvet.Reply, []callvet.Ruling)
}

// Limits of one provider group. Zero values mean the defaults.
type Limits struct {
	// Concurrency is how many requests may be in flight; default 8.
	Concurrency int
	// PerSecond is how many requests may start in a second; zero: any number.
	PerSecond float64
}

// Share is part Part (from 0) of Of equal parts of the limits of a provider. The zero value is the
// whole. Every part has at least one request in flight: Of is at most the concurrency that is
// shared.
type Share struct {
	Part int `json:"part,omitempty"`
	Of   int `json:"of,omitempty"`
}

// of returns the part of the limits. All parts together have the concurrency and the rate of l.
func (s Share) of(l Limits) Limits {
	if s.Of > 1 {
		l.Concurrency = max((l.Concurrency+s.Of-1-s.Part)/s.Of, 1)
		l.PerSecond /= float64(s.Of)
	}
	return l
}

// Retry sets how often a request is repeated. Zero values mean the defaults.
type Retry struct {
	// Attempts bounds the requests for one turn when the fault may pass; default 4,
	// 1 never retries. A malformed body is asked for once more at most.
	Attempts int
	// RateLimited is the bound when the provider answered "too many requests", which passes with
	// time; default 10 (never fewer than Attempts unless Attempts is 1).
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

// Source returns the cases of a suite one by one, so that a big suite need not be in memory. Case
// is called from several goroutines, mostly with rising i; what it returns must stay valid and
// unchanged.
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
	// Source, when set, replaces Suite.Cases.
	Source  Source
	Targets []Target
	// Rules is stored with each result: the version of the rules, if it is not that of the run.
	Rules int
	// Compile makes a case ready to be judged: once for all its cells that are in flight at the
	// same time or follow each other closely.
	Compile func(c *callvet.Case) Compiled
	// Worlds makes the world that answers the calls of one attempt, by its target and repeat (from
	// 0). If it or the World is nil, calls are not answered and an attempt ends with its first
	// turn. A World that is an io.Closer is closed with its attempt.
	Worlds func(c *callvet.Case, target string, repeat int) callvet.World
	// Through reports whether the calls of a case are answered, with further requests until the
	// target answers, although the case itself checks only its calls; nil: for no case.
	Through func(c *callvet.Case) bool
	// WorldKey is equal for worlds that answer alike for the same cases and suite. Answers are
	// reused only between those.
	WorldKey string
	// Guards makes the guard of one attempt, which stands before its world; nil, or a nil
	// Guard, lets everything pass.
	Guards func(c *callvet.Case) Guard
	// Owner is the user of the answers that are reused; the answers of other users are not found.
	// "": the store has only one user.
	Owner string
	// GuardKey is equal for guards that decide alike. Answers are reused only between those.
	GuardKey string

	// Faults returns the tool faults that a case injects, and Faulty adds them to the world of one
	// attempt; both or neither are set.
	Faults func(c *callvet.Case) []callvet.ToolFault
	Faulty func(w callvet.World, faults []callvet.ToolFault, c *callvet.Case, repeat int) callvet.World

	// Cases are positions in the suite, in the order of the run; nil means all. Select makes such a
	// list.
	Cases []int
	// Last are the Cases that run when all others are over. For each target, Hold gets the number
	// of its other attempts that failed or ended in an error, and returns why the last cases do not
	// run; "" runs them. Nil: they run.
	Last []int
	Hold func(unmet int) string
	// Only are the positions in Targets of the targets that run; nil: all. The others have no
	// cells.
	Only []int
	// Enough, when set, reports that no further cell of a target is to start: its remaining cells
	// are left out on purpose. It is called from many goroutines. Once true for a target, it stays
	// true.
	Enough func(target int) bool
	// Repeats of every case by every target; zero means 1. Own has the repeats of the cases with another
	// number, by position.
	Repeats int
	Own     map[int]int
	// Interleave asks the targets of a provider group in turn for each case. By default the targets
	// run one after the other, so that models of one provider do not use up each other's rate
	// limits. Groups always run at the same time. Source: Tool Calling Evaluation, "Execution
	// Flow".
	Interleave bool
	// Limits by provider group (Target.Provider); "" is the default for groups not named.
	Limits map[string]Limits
	// Share is the part of Limits for this call, if other calls carry out other cells of the run at
	// the same time.
	Share Share
	// Timeout bounds one request; default 120 s.
	Timeout time.Duration
	Retry   Retry
	Budget  Budget
	// BreakAfter is the number of cells in a row that must fail for the same fatal reason (not
	// authorized, connection refused, no such model). The remaining cells of the target then become
	// faults without a request; default 5, -1: never.
	BreakAfter int

	// RunID identifies the run in the journal.
	RunID   string
	Journal Journal
	// Lease, when set, is renewed during the run. When it is lost, the run stops at once with the
	// lease's error and stores nothing more.
	Lease Lease
	// Full, when set, is called before the first cell, and at most once a second after cells became
	// durable. An error that wraps callvet.ErrBudget ends the run as an exhausted budget does; any
	// other error fails the run.
	Full func(ctx context.Context) error
	// Spent is what earlier sessions of the run consumed; it counts for the budget.
	Spent callvet.Spent
	// DearestUSD is the cost of the dearest cell of the run so far, if cells are known that Done
	// does not yield; 0: none are.
	DearestUSD float64
	// Done yields the cells that the journal has already (their coordinates,
	// verdict, usage): they are counted and not run again. Nil for a new run.
	Done iter.Seq2[*callvet.Cell, error]
	// KeepErrors leaves stored cells that ended in an error or did not run as they
	// are. By default they run again, and the new cell replaces the old one.
	KeepErrors bool
	// Cache, when set, answers cells from stored answers to the same request, if the Model of the
	// target is an Identifier.
	Cache Cache

	// Redact, when set, removes from a scored cell what must not be kept, before it is stored and
	// observed. It reports whether the conversation changed: such a cell is stored without its key,
	// so that its redacted text never answers another cell. It is called from many goroutines.
	Redact func(of *callvet.Case, cell *callvet.Cell) (changed bool)

	// Observe is called after every batch became durable, from the goroutine that stores cells: it
	// should return soon.
	Observe func(Event)
	// Yield, when it closes, lets no further cell start; the cells in flight end normally. The
	// status is then "interrupted", if cells are left.
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

// withDefaults fills in defaults for zero values. It returns an error for a Config that cannot run.
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

// orAll returns the positions in the list, or all n if the list is nil.
func orAll(list []int, n int) []int {
	if list == nil {
		list = make([]int, n)
		for i := range list {
			list[i] = i
		}
	}
	return list
}

// positions returns an error for positions outside 0 to n-1.
func positions(what string, list []int, n int) error {
	for _, ix := range list {
		if ix < 0 || ix >= n {
			return fmt.Errorf("start run: %s %d of %d: %w", what, ix, n, callvet.ErrInvalid)
		}
	}
	return nil
}

// inFlight is the largest number of requests at the same time.
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
