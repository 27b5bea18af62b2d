// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"slices"

	"github.com/callvet/callvet/stats"
)

// The verdicts on the attempts at one case.
const (
	CaseWorse     = "worse"     // its attempts show that it passes less often
	CaseBetter    = "better"    // its attempts show that it passes more often
	CaseFlaky     = "flaky"     // it both passes and fails, and the difference may be chance
	CaseUnproven  = "unproven"  // all attempts changed, but they are too few to exclude chance
	CaseUnchanged = "unchanged" // as before
)

// CaseVerdict is the result of comparing the attempts at one case, before and now.
type CaseVerdict struct {
	Verdict string `json:"verdict"`
	// Flaky: a side both passed and failed, whatever the verdict.
	Flaky           bool `json:"flaky,omitempty"`
	BaselinePasses  int  `json:"baselinePasses"`
	BaselineN       int  `json:"baselineAttempts"`
	CandidatePasses int  `json:"candidatePasses"`
	CandidateN      int  `json:"candidateAttempts"`
	// P is the two-sided p value of Fisher's exact test; a verdict is worse or better below 0.05.
	P float64 `json:"p"`
}

// CompareAttempts compares the passes among the judged attempts at one case, of a baseline and
// of a candidate. Neither side may be empty.
func CompareAttempts(basePasses, baseN, passes, n int) CaseVerdict {
	v := CaseVerdict{
		BaselinePasses: basePasses, BaselineN: baseN, CandidatePasses: passes, CandidateN: n,
		P:     stats.Fisher(basePasses, baseN, passes, n),
		Flaky: basePasses > 0 && basePasses < baseN || passes > 0 && passes < n,
	}
	before, after := basePasses*n, passes*baseN // the shares, times both numbers
	switch {
	case v.P < 0.05 && after < before:
		v.Verdict = CaseWorse
	case v.P < 0.05 && after > before:
		v.Verdict = CaseBetter
	case v.Flaky:
		v.Verdict = CaseFlaky
	case before != after:
		v.Verdict = CaseUnproven
	default:
		v.Verdict = CaseUnchanged
	}
	return v
}

// Attempts returns how many of the judged attempts of the named target at a case passed; zeros
// without attempts.
func (l *Ledger) Attempts(target, id string) (passes, judged int) {
	ix, ok := l.index[id]
	for t := range l.targets {
		if ok && l.targets[t] == target {
			a := l.at(t, ix)
			return int(a.passes), int(a.judged)
		}
	}
	return 0, 0
}

// CaseAttempts counts the attempts of a target at a case by result.
type CaseAttempts struct {
	Case                 string
	Passed, Judged, Lost int
	// Facts reports that every judged attempt used an earlier answer.
	Facts bool
}

// Cases returns the results of the attempts of a target for each case that was planned for it.
func (l *Ledger) Cases(target string) (out []CaseAttempts) {
	t := slices.Index(l.targets, target)
	if t < 0 {
		return nil
	}
	for i := range l.cases {
		a := l.at(t, i)
		if lost := a.lost + a.errors; a.judged+lost > 0 {
			passed, judged := a.distinct()
			out = append(out, CaseAttempts{
				Case: l.cases[i].id, Passed: passed, Judged: judged, Lost: int(lost),
				Facts: a.judged > 0 && a.cached == a.judged,
			})
		}
	}
	return out
}
