// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"
	"slices"

	"github.com/callvet/callvet"
)

// risesWithQuality reports whether a name is that of a score of which more is better.
func risesWithQuality(name string) bool {
	return slices.Contains([]string{
		CallF1, ToolSetF1, SequenceF1, SequenceRecall, Position, ToolSelection, ToolPrecision, ToolRecall, ToolF1, OrderKept,
		ArgAccuracy, ArgEM, ArgEMKeys, ArgPrecision, ArgRecall, ArgF1, HallucinationFree, RequiredPresent, TypeCorrect, SchemaValid,
		GroundedArgs, FormatScore, Abstention, Assertions, Overall, Completion, Efficiency, Prerequisites, DataFlow,
	}, name)
}

// gradedScores are those that the case asks for and no other does.
func (w *scratch) gradedScores(l *scoreList) {
	ask := w.k.src.Expect.MinScores
	if len(ask) == 0 {
		return
	}
	f := &w.fit
	wanted, called := f.paired+f.missing, len(w.calls)
	f1 := func(name string, right, expected, made int) {
		if _, ok := ask[name]; ok {
			l.add(name, share(2*right, expected+made, 1))
		}
	}
	of := func(name string, right int) {
		if _, ok := ask[name]; ok {
			l.add(name, share(right, wanted, 1))
		}
	}
	kept := w.longestKept(f.plan)
	f1(CallF1, f.full, wanted, called)
	f1(SequenceF1, kept, wanted, called)
	of(SequenceRecall, kept)
	at := 0
	for i := range min(len(f.plan.calls), called) {
		at += truth(w.k.accepts(&f.plan.calls[i], w.calls[i].src.Tool))
	}
	of(Position, at)
	met, expected, made := w.nameSets(f.plan)
	f1(ToolSetF1, met, expected, made)
}

// longestKept is the length of the longest common subsequence of expected and made calls.
func (w *scratch) longestKept(p *plan) int {
	row := make([]int, len(w.calls)+1)
	for i := range p.calls {
		diagonal := 0
		for j := range w.calls {
			above := row[j+1]
			if w.k.accepts(&p.calls[i], w.calls[j].src.Tool) {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(w.calls)]
}

// nameSets counts the expected names that were called, those that were expected and those
// that were called, each once.
func (w *scratch) nameSets(p *plan) (met, asked, made int) {
	for i := range p.calls {
		e := &p.calls[i]
		if slices.ContainsFunc(p.calls[:i], func(x expected) bool { return slices.Equal(x.src.Tools, e.src.Tools) }) {
			continue
		}
		asked++
		met += truth(slices.ContainsFunc(w.calls, func(a actual) bool { return w.k.accepts(e, a.src.Tool) }))
	}
	for j := range w.calls {
		if !slices.ContainsFunc(w.calls[:j], func(a actual) bool { return w.k.sameName(a.src.Tool, w.calls[j].src.Tool) }) {
			made++
		}
	}
	return met, asked, made
}

// assertScores holds scores against the least values that the case asks for.
func (w *scratch) assertScores(scores []callvet.Score) {
	least := w.k.src.Expect.MinScores
	for _, name := range sortedKeys(least) {
		if least[name] == 0 { // asks for the score, and no more
			continue
		}
		want := fmt.Sprintf("%s of at least %g", name, least[name])
		i := slices.IndexFunc(scores, func(s callvet.Score) bool { return s.Name == name && s.Scored })
		if i < 0 {
			w.skip("min_scores", callvet.LayerRouting, "the attempt has no such score", want)
			w.skipped++
			continue
		}
		w.record("min_scores", callvet.LayerRouting, scores[i].Value >= least[name], want, fmt.Sprintf("%.6g", scores[i].Value))
		w.facts.evaluated++
		w.facts.failed += truth(scores[i].Value < least[name])
	}
}
