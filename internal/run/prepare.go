// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/callvet/callvet"
)

const defaultRounds = 5

// prepared is what all cells of a case share. It belongs to those in flight, and to
// cases while it is among the recent ones.
type prepared struct {
	ix    int
	c     *callvet.Case
	batch *batch

	compiled Compiled
	tools    *callvet.Toolset
	loop     bool // calls are answered
	through  bool // because of Config.Through
	// answer: the case asserts on the text after the calls, or on the whole conversation,
	// so reaching the last expected call is not the end.
	answer bool
	// single: the case checks results and nothing after them, so the calls of the first turn are
	// answered and no second request is sent.
	single bool
	rounds int
	faults []callvet.ToolFault
	sum    [sha256.Size]byte // of the inputs of a trace other than the first request
}

// preparedAhead is how many cases are prepared at once. One by one they take twice the time
// (measured), because other code runs in between and displaces this code from the processor's
// caches.
const preparedAhead = 16

// batch is the cases that are prepared at once, by the first attempt at one of them.
type batch struct {
	once sync.Once
	list []*prepared
}

// keptCases bounds the cases that are kept ready in addition to those in flight.
const keptCases = 512

// cases hands out prepared cases. The recent ones are kept by their position. So the targets of a
// small suite share them all, and those of a big one share the ones that are close to each other. A
// dropped case is prepared again.
type cases struct {
	source Source
	mu     sync.Mutex
	recent [keptCases]*prepared // by position modulo their number
}

// at returns the first of the cases in next, prepared.
func (k *cases) at(next []int) (*prepared, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.recent[next[0]%keptCases]; p != nil && p.ix == next[0] {
		return p, nil
	}
	b := &batch{}
	for i, ix := range next[:min(len(next), preparedAhead)] {
		slot := &k.recent[ix%keptCases]
		if *slot != nil && (*slot).ix == ix {
			break
		}
		c, err := k.source.Case(ix)
		if err != nil && i == 0 {
			return nil, err
		}
		if err != nil {
			break
		}
		*slot = &prepared{ix: ix, c: c, batch: b}
		b.list = append(b.list, *slot)
	}
	return b.list[0], nil
}

// toolsetCache returns one Toolset for equal sets of tools, so that each set is encoded once.
type toolsetCache struct {
	suite *callvet.Suite
	all   *callvet.Toolset
	mu    sync.Mutex
	some  map[string]*callvet.Toolset
}

// maxSubsets bounds the toolsets kept; further different subsets of a suite are made each time.
const maxSubsets = 4096

func newToolsetCache(s *callvet.Suite) *toolsetCache {
	return &toolsetCache{suite: s, all: callvet.NewToolset(s.Tools), some: map[string]*callvet.Toolset{}}
}

func (w *toolsetCache) of(c *callvet.Case) *callvet.Toolset {
	switch {
	case c.Tools != nil && c.ToolNames == nil:
		return callvet.NewToolset(c.Tools)
	case c.ToolNames == nil:
		return w.all
	case c.Tools != nil:
		return callvet.NewToolset(choose(c.Tools, c.ToolNames))
	}
	key := strings.Join(c.ToolNames, "\x00")
	w.mu.Lock()
	defer w.mu.Unlock()
	ts, ok := w.some[key]
	if !ok {
		ts = callvet.NewToolset(choose(w.suite.Tools, c.ToolNames))
		if len(w.some) < maxSubsets {
			w.some[key] = ts
		}
	}
	return ts
}

// Offered returns the tools that a case offers: its own or the suite's, restricted to the names
// that it lists.
func Offered(s *callvet.Suite, c *callvet.Case) []callvet.Tool { return newToolsetCache(s).of(c).Tools }

// choose keeps the tools' own order: names restrict, they do not sort.
func choose(tools []callvet.Tool, names []string) []callvet.Tool {
	want := make(map[string]bool, len(names))
	for _, n := range names {
		want[n] = true
	}
	out := []callvet.Tool{}
	for _, t := range tools {
		if want[t.Name] {
			out = append(out, t)
		}
	}
	return out
}

func assertsResponse(e *callvet.Expect) bool {
	return e.ResponseNonEmpty || len(e.ResponseContains) > 0 || len(e.ResponseContainsAny) > 0 ||
		len(e.ResponseNotContains) > 0 || len(e.ResponseMatches) > 0 || e.NoUngroundedNumbers || len(e.Scorers) > 0
}

// tiered reports whether something answers the calls of a case of a tier that goes through the whole
// loop of an agent. If so, calls, tokens and time are those of all turns. Source: Eval Case
// Interfaces, "GoldenEvalCase".
func tiered(s *callvet.Suite, c *callvet.Case) bool {
	return c.Tier != "" && len(c.Mocks)+len(s.Mocks) > 0
}

// goesOn reports, where something answers calls, whether attempts at a case go on to an answer, and
// whether their calls are answered at all.
func goesOn(s *callvet.Suite, c *callvet.Case, faults []callvet.ToolFault) (answer, calls bool) {
	answer = assertsResponse(&c.Expect) || tiered(s, c) || c.Safety != nil || len(faults) > 0
	return answer, answer || c.MultiTurn != nil || readsResults(&c.Expect)
}

// Answered reports whether the calls of attempts at a case are answered where something can answer
// them. For other cases only the first calls are compared, and no tool is called.
func Answered(s *callvet.Suite, c *callvet.Case, faults []callvet.ToolFault) bool {
	_, calls := goesOn(s, c, faults)
	return calls
}

// readsResults reports whether a case asserts on what tools answer.
func readsResults(e *callvet.Expect) bool {
	for i := range e.Plans {
		if slices.ContainsFunc(e.Plans[i].Calls,
			func(c callvet.ExpectedCall) bool { return c.Result != nil || c.ResultCheck != "" }) {
			return true
		}
	}
	return e.NoToolErrors
}

// ready fills p once.
func (e *engine) ready(p *prepared) {
	p.batch.once.Do(func() {
		for _, one := range p.batch.list {
			e.prepare(one)
		}
		p.batch.list = nil
	})
}

func (e *engine) prepare(p *prepared) {
	p.compiled = e.cfg.Compile(p.c)
	p.tools = e.toolsets.of(p.c)
	if e.cfg.Faults != nil {
		p.faults = e.cfg.Faults(p.c)
	}
	p.answer, p.loop = assertsResponse(&p.c.Expect), p.c.MultiTurn != nil
	if e.cfg.Worlds != nil {
		p.answer, p.loop = goesOn(e.cfg.Suite, p.c, p.faults)
	}
	if !p.loop && e.cfg.Through != nil && e.cfg.Through(p.c) {
		p.loop, p.answer, p.through = true, true, true
	}
	p.single = p.c.MultiTurn == nil && !p.answer
	p.rounds = 1
	if p.loop {
		p.rounds = Rounds(e.cfg.Suite, p.c)
	}
	if e.keys {
		p.sum = e.sum(p)
	}
}

// Rounds is how many requests an attempt of a model at a case makes at most, where something answers its calls.
func Rounds(s *callvet.Suite, c *callvet.Case) int {
	if c.MultiTurn != nil && c.MultiTurn.MaxRounds > 0 {
		return c.MultiTurn.MaxRounds
	}
	if s.Defaults.MaxRounds > 0 {
		return s.Defaults.MaxRounds
	}
	return defaultRounds
}

// sum is a hash of everything that a trace depends on after the first request: what checks and
// answers calls, and when the attempt ends. The request itself is a separate part of the key. How a
// trace is scored is not in the key, because a stored trace is scored again.
func (e *engine) sum(p *prepared) (out [sha256.Size]byte) {
	if !p.loop {
		return out
	}
	expect := p.c.Expect
	if len(expect.Scorers) > 0 { // only that there are some: a stored trace is scored again
		expect.Scorers = make([]callvet.Scorer, 1)
	}
	h := sha256.New()
	enc := json.NewEncoder(h)
	enc.SetEscapeHTML(false)
	for _, v := range []any{
		p.rounds, expect, p.c.MultiTurn, p.tools.Hash, e.toolsets.all.Hash, p.c.ToolNames, p.c.Tools == nil,
		p.c.Mocks, e.cfg.Suite.Mocks, p.c.Scoring, e.cfg.Suite.Defaults.Scoring,
		e.cfg.GuardKey, e.cfg.Worlds != nil, true, true, // the last two: contracts are checked, goals are known
	} {
		if enc.Encode(v) != nil { // invalid raw JSON: such a case is never shared
			h.Write([]byte(p.c.ID))
		}
	}
	if (e.cfg.WorldKey != "" || p.through) && enc.Encode([]any{e.cfg.WorldKey, p.through}) != nil {
		h.Write([]byte(p.c.ID))
	}
	if len(p.faults) > 0 && enc.Encode([]any{p.faults, p.c.ID, e.cfg.Seed}) != nil {
		h.Write([]byte(p.c.ID))
	}
	// such a case continues to the answer, and drills are guarded by it
	if p.c.Safety != nil && enc.Encode(p.c.Safety) != nil {
		h.Write([]byte(p.c.ID))
	}
	h.Sum(out[:0])
	return out
}

// System is the text before the conversation: the target's prompt, the suite's prompt unless the
// target's replaces it, and the case's context.
func System(suite string, t *callvet.Target, context string) string {
	if t.SystemPrompt != "" && t.ReplaceSystem {
		suite = ""
	}
	var parts []string
	for _, s := range []string{t.SystemPrompt, suite, context} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n\n")
}

// toolChoice: the case decides, then the target, then the suite.
func toolChoice(s *callvet.Suite, t *callvet.Target, c *callvet.Case) string {
	for _, v := range []string{c.ToolChoice, t.ToolChoice, s.Defaults.ToolChoice} {
		if v != "" {
			return v
		}
	}
	return "auto"
}
