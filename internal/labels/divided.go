// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"fmt"
	"math"
	"slices"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/judge"
)

// ownEstimate is true success by labels on outputs of the run itself.
type ownEstimate struct {
	iv stats.Interval
	// divided: outputs that did not change since they were labelled and the others were estimated
	// separately. refused and advice explain a missing estimate.
	divided         bool
	refused, advice string
}

// inside makes an estimate from labels on outputs of the run. Labels carried over from a
// different run are on unchanged outputs, and these are not a random sample of the run. They
// count only for such outputs, and the others need their own labels. Source: Statistics
// specification, section 16.3.
func (j *join) inside(ps []pair, vs []Judgement, by estimator) ownEstimate {
	if !j.divides(ps) {
		return by.stratum(ps, vs)
	}
	same := func(fingerprint string) bool { return j.run.known[fingerprint] }
	var part [2]ownEstimate
	var weight, judged [2]float64
	counts := [2]int{}
	for i := range part {
		in := slices.DeleteFunc(slices.Clone(vs), func(v Judgement) bool { return same(v.Fingerprint) != (i == 0) })
		of := slices.DeleteFunc(slices.Clone(ps), func(p pair) bool { return same(p.run[0].Fingerprint) != (i == 0) })
		raw, _, n, _ := JudgedRate(in, by.level())
		judged[i], counts[i] = float64(n), len(of)
		part[i] = by.stratum(of, in)
		weight[i] = raw.NEff
	}
	total := judged[0] + judged[1]
	switch {
	case judged[1] == 0:
		return part[0]
	case !part[1].iv.Usable():
		return part[1].refuse(fmt.Sprintf(
			"%.0f of %.0f outputs are not known to be those that were labelled, and have %d labels of their own: %s",
			judged[1], total, counts[1], by.needs()))
	case judged[0] == 0:
		return part[1]
	case !part[0].iv.Usable():
		return part[0].refuse(
			fmt.Sprintf("of the outputs that are known from other runs %.0f are here, and %d of them are labelled: %s",
				judged[0], counts[0], by.needs()))
	}
	share := judged[0] / total
	// The number of changed outputs is random, too.
	worth := max(1, weight[0]+weight[1])
	split := stats.EffectiveRate(share, int(total), int(math.Ceil(worth)), worth, by.level())
	split.Point, split.Lower, split.Upper = 0, split.Lower-share, split.Upper-share
	gap := part[0].iv.Point - part[1].iv.Point
	out := ownEstimate{
		divided: true,
		iv:      stats.Combine([]float64{share, 1 - share, gap}, []stats.Interval{part[0].iv, part[1].iv, split}),
	}
	iv := &out.iv
	iv.Lower, iv.Upper = max(0, iv.Lower), min(1, iv.Upper)
	iv.Method, iv.Confidence = part[1].iv.Method, by.level()
	return out
}

// estimator is how labels on outputs of the run estimate what truly passed.
type estimator interface {
	// stratum makes an estimate from labels on things of one stratum; vs are all things of the
	// stratum.
	stratum(ps []pair, vs []Judgement) ownEstimate
	// needs is how many labels a stratum needs; level is the confidence.
	needs() string
	level() float64
}

// refuse makes the whole estimate missing because a part is missing.
func (e ownEstimate) refuse(why string) ownEstimate {
	e.divided, e.refused = true, why
	e.iv.Point, e.iv.Lower, e.iv.Upper, e.iv.Status = 0, 0, 1, judge.MissingStratum
	return e
}

// withJudge divides the labels by the verdict of the judge.
type withJudge struct{ r *CalibrationReport }

func (by withJudge) level() float64 { return by.r.Confidence }

func (withJudge) needs() string {
	return fmt.Sprintf("at least %d for each verdict of the judge are needed", judge.MinStratum)
}

func (by withJudge) stratum(ps []pair, vs []Judgement) ownEstimate {
	r := by.r
	raw, _, _, _ := JudgedRate(vs, r.Confidence)
	s := strataFor(ps, raw)
	out := ownEstimate{iv: judge.Stratified(s, r.Confidence)}
	if !out.iv.Usable() {
		out.refused, out.advice = Reason(out.iv.Status, r.calibration(), r.Unit), r.moreLabels(raw, s)
	}
	return out
}

// divides reports whether labels were carried over from a run with other, different outputs: then
// labelled outputs are missing in the run, or the frame has fewer outputs.
func (j *join) divides(ps []pair) bool {
	carried := false
	for i := range ps {
		p := &ps[i]
		carried = carried || p.carried
		if f := p.frame; p.carried && f != nil && f.N() < j.run.whole {
			return true
		}
	}
	return carried && j.changed > 0
}

// knownElsewhere are the outputs that a labels file has from other runs.
func knownElsewhere(in CalibrationInput) map[string]bool {
	out := map[string]bool{}
	for _, ls := range [][]Label{in.Labels, in.Opinions} {
		for i := range ls {
			if l := &ls[i]; l.Fingerprint != "" && (in.RunID == "" || l.Run != in.RunID) {
				out[l.Fingerprint] = true
			}
		}
	}
	return out
}
