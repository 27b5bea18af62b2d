// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/judge"
)

// MinDrawn is how many labels, drawn at random, a stratum needs where there is no judge.
// Source: Statistics specification, section 16.3.
const MinDrawn = 10

// PeopleAlone estimates true success from people's labels alone. Without a judge the labelled
// outputs are a simple random sample, of the run or of the outputs that changed, and labels made
// elsewhere are not used.
type PeopleAlone struct {
	join       *join
	outputs    []Judgement // of the run, all with the same verdict
	confidence float64
}

// NewPeopleAlone reads the labels for the outputs of a run; Judge and Run of the Input do not count.
func NewPeopleAlone(in CalibrationInput) *PeopleAlone {
	in.Unit = cmp.Or(in.Unit, Task)
	a := &PeopleAlone{confidence: cmp.Or(in.Confidence, 0.95)}
	// One verdict for all outputs makes a single stratum, so that the estimator with a judge
	// works here, too.
	pass := true
	in.Run = []Judgement{}
	for _, o := range in.Outputs {
		in.Run = append(in.Run, Judgement{Key: o.Key, Fingerprint: o.Fingerprint, Verdict: Verdict{Pass: &pass}})
	}
	a.outputs, a.join = in.Run, joinOf(in, Judge{})
	maps.DeleteFunc(a.join.drawn, func(_ string, d *draw) bool { return d.cells[Random] == nil })
	return a
}

// Success is the true success of each target.
func (a *PeopleAlone) Success() []Success { return a.each(a.outputs, a.join.fit) }

// BySlice is the true success of the outputs of each value of a slice key; of returns the values of
// an output.
func (a *PeopleAlone) BySlice(of func(Key) []string) map[string][]Success {
	outputs, fit := map[string][]Judgement{}, map[string][]pair{}
	for _, o := range a.outputs {
		for _, v := range valuesOf(of, o.Key) {
			outputs[v] = append(outputs[v], o)
		}
	}
	for _, p := range a.join.fit {
		for _, v := range valuesOf(of, p.Key) {
			fit[v] = append(fit[v], p)
		}
	}
	out := map[string][]Success{}
	for v := range outputs {
		out[v] = a.each(outputs[v], fit[v])
	}
	return out
}

func (a *PeopleAlone) each(outputs []Judgement, ps []pair) (out []Success) {
	targets := map[string][]Judgement{}
	for _, o := range outputs {
		targets[o.Target] = append(targets[o.Target], o)
	}
	for name, of := range targets {
		out = append(out, a.one(name, of, ps))
	}
	slices.SortFunc(out, func(x, y Success) int { return cmp.Compare(x.Target, y.Target) })
	return out
}

func (a *PeopleAlone) one(target string, of []Judgement, ps []pair) Success {
	inside := insideRun(ps, target)
	drawn := slices.DeleteFunc(slices.Clone(inside), func(p pair) bool { return !p.atRandom })
	own := a.join.inside(drawn, of, a)
	out := Success{Target: target, Design: Internal, Labels: len(drawn), True: own.iv, verdicts: of}
	_, out.Tasks, out.Judged, _ = JudgedRate(of, a.confidence)
	out.Lost = a.join.lost(true)
	chosen := len(inside) - len(drawn)
	refuse := func(why stats.Status, text string) {
		if out.True.Status = why; !out.True.Defined() {
			out.True.Point, out.True.Lower, out.True.Upper = 0, 0, 1
		}
		out.Refused = text
		out.Advice = fmt.Sprintf("label %d tasks of this run, drawn at random: callvet label next --n %d", wantStratum,
			wantStratum)
	}
	switch why := out.Lost.fault(); {
	case why != "":
		refuse(judge.LostLabels, why)
		out.Advice = lostAdvice
	case float64(chosen) > maxLostLabels*float64(out.Tasks):
		refuse(judge.NotDrawn, fmt.Sprintf(
			"there is no judge, and %d of %d labelled tasks were not drawn at random, so that no draw had them: at most 5 %% of the tasks may be such",
			chosen, len(inside)))
		out.Advice = "label tasks drawn at random, once these labels are out of the file: callvet label next"
	case !own.iv.Usable():
		text := own.refused
		if n := a.join.Elsewhere; n > 0 && len(inside) == 0 {
			text = fmt.Sprintf(
				"%d labelled tasks are of other outputs than those of this run, or have no fingerprint: %s", n, text)
		}
		refuse(own.iv.Status, text)
	}
	return out.carried(drawn)
}

func (a *PeopleAlone) level() float64 { return a.confidence }

func (*PeopleAlone) needs() string {
	return fmt.Sprintf("at least %d, drawn at random, are needed", MinDrawn)
}

// stratum is the exact interval of the labels: one attempt of each task is labelled. It is about tasks
// like these, even where all tasks of the run are labelled.
func (a *PeopleAlone) stratum(ps []pair, vs []Judgement) ownEstimate {
	_, tasks, _, _ := JudgedRate(vs, a.confidence)
	out := ownEstimate{iv: rateOf(ps, a.confidence, func(pair) bool { return true }, truly)}
	if len(ps) < min(MinDrawn, tasks) || len(ps) == 0 {
		if out.iv.Status = judge.TooFewUnits; len(ps) == 0 {
			out.iv.Status = judge.MissingStratum
		}
		out.refused = fmt.Sprintf(
			"there is no judge, and %d of %d tasks have a label that was drawn at random: at least %d are needed",
			len(ps), tasks, MinDrawn)
	}
	return out
}
