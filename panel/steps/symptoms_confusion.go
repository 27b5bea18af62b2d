// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"cmp"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// Confusion counts calls by the right tool and the called tool. The zero value is empty.
type Confusion struct {
	pairs  map[ConfusedPair]int64
	agreed []int64 // of target 0, by the tool that was right and called
	idle   []int64 // of target 0, by the called tool where none was needed
}

// ConfusedPair has the numbers of a target, an expected tool and a called tool.
type ConfusedPair struct{ Target, Expected, Called uint32 }

// UnknownTool stands for names that are in no catalogue, UnreadableCall for a call that could not be
// read, NoTool for none.
const (
	UnknownTool    = 1<<32 - 1
	UnreadableCall = 1<<32 - 2
	NoTool         = 0
)

// Agree counts a call of the most frequent kind quickly: of target 0, with a score that shows
// whether it was needed and went to the right tool. It is not for calls with a labelled tool.
func (c *Confusion) Agree(target, tool uint32, score callvet.StepScore) (counted bool) {
	const sure = bitNeeded | bitSelected
	if score.Known&score.True&sure != sure || score.Known&^score.True&bitKnown != 0 || target != 0 ||
		int(tool) >= len(c.agreed) {
		return false
	}
	c.agreed[tool]++
	return true
}

// Look counts a call. gold is the number of the right tool, NoTool where none is labelled.
func (c *Confusion) Look(target, tool uint32, score callvet.StepScore, gold uint32) {
	p, known := pairOf(target, tool, score, gold)
	switch {
	case !known:
		return
	case p.Expected == p.Called: // nearly all, and dense
		for int(p.Called) >= len(c.agreed) {
			c.agreed = append(c.agreed, 0)
		}
	case p.Expected == 0 && p.Target == 0 && p.Called != UnknownTool:
		for int(p.Called) >= len(c.idle) {
			c.idle = append(c.idle, 0)
		}
		c.idle[p.Called]++
		return
	}
	c.Add(p, 1)
}

// pairOf is the pair of a call; known is false where the right tool is not known.
func pairOf(target, tool uint32, score callvet.StepScore, gold uint32) (p ConfusedPair, known bool) {
	p = ConfusedPair{target, tool, tool}
	needed, known := score.Get(callvet.StepNeeded)
	right, labelled := score.Get(callvet.StepSelection)
	switch {
	case known && !needed:
		p.Expected = NoTool
	case gold != NoTool:
		p.Expected = gold
	case !known || !labelled || !right:
		return p, false
	}
	if yes, present := score.Get(callvet.StepKnownTool); present && !yes {
		p.Called = UnknownTool
	}
	return p, true
}

// Add adds n calls.
func (c *Confusion) Add(p ConfusedPair, n int64) {
	if c.pairs == nil {
		c.pairs = map[ConfusedPair]int64{}
	}
	c.pairs[p] += n
}

// Pairs are all pairs that occur. The caller must not change them.
func (c *Confusion) Pairs() map[ConfusedPair]int64 {
	for tool, n := range c.agreed {
		if n > 0 {
			c.Add(ConfusedPair{0, uint32(tool), uint32(tool)}, n)
			c.agreed[tool] = 0
		}
	}
	for tool, n := range c.idle {
		if n > 0 {
			c.Add(ConfusedPair{0, 0, uint32(tool)}, n)
			c.idle[tool] = 0
		}
	}
	return c.pairs
}

// maxConfused bounds the pairs of a table.
const maxConfused = 2000

// Table is the pairs of a target, by the name of the expected tool and then the most frequent
// first; name maps a tool's number to its name.
func (c *Confusion) Table(target uint32, name func(uint32) string) []panel.Confused {
	var out []panel.Confused
	for k, n := range c.Pairs() {
		if k.Target == target && n > 0 {
			out = append(out, panel.Confused{Expected: name(k.Expected), Called: name(k.Called), N: int(n)})
		}
	}
	slices.SortFunc(out, func(a, b panel.Confused) int {
		return cmp.Or(cmp.Compare(a.Expected, b.Expected), cmp.Compare(b.N, a.N), cmp.Compare(a.Called, b.Called))
	})
	return out[:min(len(out), maxConfused)]
}

// Merge adds the counts of other calls.
func (c *Confusion) Merge(o *Confusion) {
	for p, n := range o.Pairs() {
		c.Add(p, n)
	}
}
