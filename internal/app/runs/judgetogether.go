// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/labels"
)

// Together compares judgings with one another, and takes a majority of them.
func Together(d *results.Judged) {
	for i := range d.Judgings {
		for k := i + 1; k < len(d.Judgings); k++ {
			if b := between(&d.Judgings[i], &d.Judgings[k]); b.N > 0 {
				d.Agreement = append(d.Agreement, results.JudgeAgreement{A: i, B: k, JudgesBetween: b})
			}
		}
	}
	d.MajorityVerdicts()
}

// between compares two judgings on what both can be read of.
func between(a, b *results.JudgingView) labels.JudgesBetween {
	words := map[string]int{}
	word := func(t *results.ThingVerdict) int {
		w := t.Word
		if t.Pass != nil {
			w = map[bool]string{true: "pass", false: "fail"}[*t.Pass]
		}
		if _, known := words[w]; !known {
			words[w] = len(words)
		}
		return words[w]
	}
	by := map[string]*results.ThingVerdict{}
	for i := range a.Verdicts {
		by[a.Verdicts[i].Key.String()] = &a.Verdicts[i]
	}
	var both []labels.Twice
	for i := range b.Verdicts {
		t := &b.Verdicts[i]
		if o := by[t.Key.String()]; o != nil && o.Scored() && t.Scored() {
			both = append(both, labels.Twice{Task: t.Task, A: word(o), B: word(t)})
		}
	}
	return labels.BetweenJudges(both, max(2, len(words)), results.JudgedLevel)
}
