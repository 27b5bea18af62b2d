// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"cmp"

	"github.com/callvet/callvet"
)

// fit is how well an attempt answers one plan.
type fit struct {
	plan  *plan
	match []int  // per expected call the actual call, -1: none
	pairs []pair // per expected call
	// paired counts expected calls with an actual call of the right name. full counts those with
	// arguments that pass, too. missing counts the required calls without an actual call.
	paired, full, missing int
	// extra counts actual calls outside the plan that the case does not tolerate, excess the
	// extra calls beyond max_extra_calls.
	extra, excess int
	inOrder       bool
	selection     float64
	args          float64
	scored        int // expected calls with arguments that count
	pass          bool
}

// bestFit tries every plan and keeps the best: one that passes, else the
// highest selection, then arguments, then the first written.
func (w *scratch) bestFit() {
	k := w.k
	for i := range k.plans {
		p := &k.plans[i]
		w.assign(p)
		f := &w.fit
		if i > 0 {
			f = &w.other
		}
		w.judgePlan(p, f)
		if better(f, &w.fit) { // the first is not better than itself
			w.fit, w.other = w.other, w.fit
		}
		if w.fit.pass {
			return
		}
	}
}

func better(a, b *fit) bool {
	return cmp.Or(cmp.Compare(truth(a.pass), truth(b.pass)), cmp.Compare(a.selection, b.selection),
		cmp.Compare(a.args, b.args), cmp.Compare(truth(a.inOrder), truth(b.inOrder))) > 0
}

func (w *scratch) judgePlan(p *plan, f *fit) {
	*f = fit{plan: p, match: append(f.match[:0], w.sol.Of...), pairs: resize(f.pairs, len(p.calls)), inOrder: true}
	sum := 0.0
	for i := range p.calls {
		e := &p.calls[i]
		j := w.sol.Of[i]
		if j < 0 {
			f.pairs[i] = pair{}
			if !e.src.Optional {
				f.missing++
			}
			if e.args != nil && w.countsMissing(p, e) {
				f.scored++
			}
			continue
		}
		f.pairs[i] = w.pairs[i*len(w.calls)+j]
		f.paired++
		if f.pairs[i].pass {
			f.full++
		}
		if e.args != nil && !w.calls[j].unknown {
			f.scored++
			sum += e.accuracy(&f.pairs[i])
		}
	}
	f.args = sum / float64(max(f.scored, 1))
	if p.src.Order == callvet.OrderSingle {
		w.bestSingle(f)
	}
	w.countExtra(f)
	f.inOrder = p.sequence.Kept(f.match)
	f.selection = f.selectionScore(len(w.calls))
	f.pass = f.selection == 1 && f.inOrder && w.fullEnough(f)
}

// countsMissing reports whether a missing call lowers the argument scores.
func (w *scratch) countsMissing(p *plan, e *expected) bool {
	switch p.src.Order {
	case callvet.OrderSubset, callvet.OrderPrecision, callvet.OrderSingle:
		return false
	}
	return !e.src.Optional
}

// bestSingle narrows the argument score of single_tool_use to the best call.
func (w *scratch) bestSingle(f *fit) {
	f.args, f.scored = 0, 0
	for i, j := range f.match {
		if e := &f.plan.calls[i]; j >= 0 && e.args != nil && !w.calls[j].unknown {
			f.scored = 1
			f.args = max(f.args, e.accuracy(&f.pairs[i]))
		}
	}
}

func (w *scratch) countExtra(f *fit) {
	f.extra = len(w.calls) - f.paired
	if m := w.k.multi; m != nil {
		for j := range w.calls {
			if !answers(f.match, j) && m.tolerates(w.k, f.plan, &w.calls[j]) {
				f.extra--
			}
		}
	}
	if f.plan.maxExtra >= 0 {
		f.excess = max(0, f.extra-f.plan.maxExtra)
	}
}

func answers(match []int, j int) bool {
	for _, m := range match {
		if m == j {
			return true
		}
	}
	return false
}

// selectionScore is the tool selection score of a fit with a number of calls.
func (f *fit) selectionScore(called int) float64 {
	switch f.plan.src.Order {
	case callvet.OrderSubset:
		return share(f.paired, f.paired+f.excess, 1)
	case callvet.OrderPrecision:
		return share(f.paired, called, emptyPlan(f.plan))
	case callvet.OrderRecall, callvet.OrderSuperset:
		return share(f.paired, f.paired+f.missing, 1)
	case callvet.OrderSingle:
		return float64(min(f.paired, 1))
	}
	return share(f.paired, f.paired+f.missing+f.excess, 1)
}

func emptyPlan(p *plan) float64 {
	if len(p.calls) == 0 {
		return 1
	}
	return 0
}

func share(a, n int, empty float64) float64 {
	if n == 0 {
		return empty
	}
	return float64(a) / float64(n)
}

func (w *scratch) fullEnough(f *fit) bool {
	if f.plan.src.Order == callvet.OrderSingle {
		return f.full > 0
	}
	return f.full == f.paired
}
