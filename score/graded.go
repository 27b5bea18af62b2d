// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"
	"slices"

	"github.com/callvet/callvet"
)

// risesWithQuality reports whether more is better for the score of this name.
func risesWithQuality(name string) bool {
	return slices.Contains([]string{
		CallF1, ToolSetF1, SequenceF1, SequenceRecall, Position, ToolSelection, ToolPrecision, ToolRecall,
		ToolF1, OrderKept,
		ArgAccuracy, ArgEM, ArgEMKeys, ArgPrecision, ArgRecall, ArgF1, HallucinationFree, RequiredPresent, TypeCorrect,
		SchemaValid,
		GroundedArgs, FormatScore, Abstention, Assertions, Overall, Completion, Efficiency, Prerequisites, DataFlow,
	}, name)
}

// gradedNames are the scores of a list of calls that are computed only where a case names them.
func gradedNames() []string { return []string{CallF1, ToolSetF1, SequenceF1, SequenceRecall, Position} }

func gradedScore(name string) bool { return slices.Contains(gradedNames(), name) }

// gradedScores are the scores that only cases which name them have.
func (w *scratch) gradedScores(l *scoreList) {
	for _, name := range gradedNames() {
		if _, ok := w.k.src.Expect.MinScores[name]; ok {
			v, _ := w.graded(&w.fit, name)
			l.add(name, v)
		}
	}
}

// graded computes one of the scores of gradedNames; false for other names.
func (w *scratch) graded(f *fit, name string) (float64, bool) {
	wanted, called := f.paired+f.missing, len(w.calls)
	switch name {
	case CallF1:
		return share(2*f.full, wanted+called, 1), true
	case SequenceF1:
		return share(2*w.longestKept(f.plan), wanted+called, 1), true
	case SequenceRecall:
		return share(w.longestKept(f.plan), wanted, 1), true
	case Position:
		at := 0
		for i := range min(len(f.plan.calls), called) {
			at += truth(w.k.accepts(&f.plan.calls[i], w.calls[i].src.Tool))
		}
		return share(at, wanted, 1), true
	case ToolSetF1:
		met, expected, made := w.nameSets(f.plan)
		return share(2*met, expected+made, 1), true
	}
	return 0, false
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

// nameSets counts the expected names that were called, the expected names and the called names,
// each name once.
func (w *scratch) nameSets(p *plan) (met, asked, made int) {
	called := map[string]string{}
	for j := range w.calls {
		name := w.calls[j].src.Tool
		called[w.k.nameKey(name)] = name
	}
	for i := range p.calls {
		e := &p.calls[i]
		if slices.ContainsFunc(p.calls[:i], func(x expected) bool { return slices.Equal(x.src.Tools, e.src.Tools) }) {
			continue
		}
		asked++
		for _, name := range called {
			if w.k.accepts(e, name) {
				met++
				break
			}
		}
	}
	return met, asked, len(called)
}

// assertScores compares scores with the case's minimum values.
func (w *scratch) assertScores(scores []callvet.Score) {
	least := w.k.src.Expect.MinScores
	for _, name := range sortedKeys(least) {
		if least[name] == 0 { // requests the score without a condition
			continue
		}
		want := fmt.Sprintf("%s of at least %g", name, least[name])
		i := slices.IndexFunc(scores, func(s callvet.Score) bool { return s.Name == name && s.Scored })
		if i < 0 {
			w.skip("min_scores", callvet.LayerRouting, "the attempt has no such score", want)
			w.skipped++
			continue
		}
		w.record("min_scores", callvet.LayerRouting, scores[i].Value >= least[name], want,
			fmt.Sprintf("%.6g", scores[i].Value))
		w.facts.evaluated++
		w.facts.failed += truth(scores[i].Value < least[name])
	}
}
