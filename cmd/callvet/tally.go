// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/panel"
)

// maxAhead is how many attempts a tally holds back while an earlier one is still
// under way.
const maxAhead = 4096

// tally sums a run up while it goes, so that its attempts need not be read back.
// It adds them in the order in which they would be read, because the order
// decides about the last digit of a sum. Where one lags too far behind, or does
// not come at all, the tally is given up and the store is read.
type tally struct {
	of       *loaded
	acc      *panel.Accumulator // nil: given up
	next     int                // position of the attempt that is to be added next
	ahead    map[int]waiting
	attempts int
}

type waiting struct {
	c    *callvet.Case
	cell *callvet.Cell
}

// newTally prepares the sums of a run that begins.
func (l *loaded) newTally(sliceBy []string) (*tally, error) {
	acc, err := l.accumulator(sliceBy)
	return &tally{of: l, acc: acc, ahead: map[int]waiting{}, attempts: l.caseCount() * len(l.man.Targets) * l.man.Repeats}, err
}

// take adds what became durable. A nil tally ignores it.
func (t *tally) take(ev run.Event) {
	if t == nil || t.acc == nil {
		return
	}
	for i, cell := range ev.Cells {
		at := (t.of.rank(cell.Case)*len(t.of.man.Targets)+cell.Target)*t.of.man.Repeats + cell.Repeat
		if at != t.next {
			t.ahead[at] = waiting{ev.Cases[i], cell}
			continue
		}
		t.add(ev.Cases[i], cell)
		for w, ok := t.ahead[t.next]; ok; w, ok = t.ahead[t.next] {
			delete(t.ahead, t.next)
			t.add(w.c, w.cell)
		}
	}
	if len(t.ahead) > maxAhead {
		t.acc, t.ahead = nil, nil
	}
}

func (t *tally) add(c *callvet.Case, cell *callvet.Cell) {
	t.of.add(t.acc, c, cell)
	t.next++
}

// panels are the tables of the whole run; nil when the tally does not have it all.
func (t *tally) panels() *panel.Panels {
	if t == nil || t.acc == nil || t.next < t.attempts {
		return nil
	}
	return t.acc.Panels()
}
