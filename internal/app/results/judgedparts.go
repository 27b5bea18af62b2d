// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
)

// parts are verdicts of judges on the calls and turns of a run.
type parts struct {
	All []labels.Judgement
	at  map[partKey]int
	// newest is the judge of each name that spoke last. Of one that the run itself has, own is true.
	Newest map[partJudge]string
	own    map[partJudge]bool
	tools  map[labels.Key]string // that the calls name
	right  map[labels.Key]bool   // labelled calls: needed, and of the right tool
}

// partKey identifies the verdict of one judge on one call or turn.
type partKey struct {
	labels.Key
	judge string
}

// partJudge names a judge of calls or of turns.
type partJudge struct {
	Unit labels.Unit
	name string
}

// addParts adds verdicts on calls and turns of the very outputs of the run; own: the run itself has
// them, and then no labels file changes them. Of two verdicts of one judge the later counts.
func (r *JudgedRun) addParts(lines []labels.Label, own bool) {
	p, of := &r.Parts, map[string][]int{}
	for i := range lines {
		o := &lines[i]
		if !o.Unit.Part() || o.Fingerprint == "" {
			continue
		}
		if len(of) == 0 {
			for at := range r.Items {
				of[r.Items[at].Fingerprint] = append(of[r.Items[at].Fingerprint], at)
			}
		}
		for _, at := range of[o.Fingerprint] {
			key := r.Items[at].Key
			key.Unit, key.CallID, key.Turn = o.Unit, o.CallID, o.Turn
			for _, v := range o.Judged {
				p.add(labels.Judgement{Key: key, Fingerprint: o.Fingerprint, Verdict: v}, own)
			}
		}
	}
}

func (p *parts) add(v labels.Judgement, own bool) {
	if p.at == nil {
		p.at, p.Newest, p.own = map[partKey]int{}, map[partJudge]string{}, map[partJudge]bool{}
	}
	by, key := partJudge{v.Unit, v.Name}, partKey{v.Key, v.ID()}
	switch i, again := p.at[key]; {
	case p.own[by] && !own:
		return
	case again:
		p.All[i] = v
	default:
		p.at[key], p.All = len(p.All), append(p.All, v)
	}
	p.Newest[by], p.own[by] = v.ID(), own
}

// On is what the judges of verdicts on a thing said of it.
func (p *parts) On(key labels.Key, of []labels.Verdict) (out []labels.Verdict) {
	for i := range of {
		if at, said := p.at[partKey{key, of[i].ID()}]; said {
			out = append(out, p.All[at].Verdict)
		}
	}
	return out
}

// Judges are those of calls and those of turns, the newest of each name. A verdict on a turn is of
// its calls, too, and that makes its judge no judge of calls: it was asked something else than
// people are who label calls.
func (p *parts) Judges() []partJudge {
	out := slices.SortedFunc(maps.Keys(p.Newest), func(a, b partJudge) int {
		return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.name, b.name))
	})
	return slices.DeleteFunc(out, func(j partJudge) bool {
		return j.Unit == labels.Call && p.Newest[partJudge{labels.Turn, j.name}] == p.Newest[j]
	})
}

// judgedParts adds to panels of the run what its judges of calls and turns said.
func (r *Run) judgedParts(ctx context.Context, p *panel.Panels) error {
	of := r.Tasks(ctx)
	if said, err := of.parts(); err != nil || len(said) == 0 {
		return err
	}
	run, _, err := judgedOf(&of)
	if err != nil {
		return err
	}
	return run.correctParts(p, &of, labels.CalibrationInput{})
}

// correctParts adds the rate of each judge of calls or turns to panels, and where people labelled
// some of these, that rate corrected. in has the labels.
func (r *JudgedRun) correctParts(p *panel.Panels, of *Tasks, in labels.CalibrationInput) error {
	judges := r.Parts.Judges()
	if len(judges) == 0 {
		return nil
	}
	if err := r.readTools(of); err != nil {
		return err
	}
	r.agree(r.Parts.right).fill(p)
	in.Run, in.Outputs, in.RunID, in.Confidence = r.judgements(), r.outputs(), r.ID, p.Confidence
	for _, j := range judges {
		in.Judge, in.Unit = r.Parts.Newest[j], j.Unit
		names := judgedNames{
			judged: panel.MetricJudgedCalls + j.name, corrected: panel.MetricTrueCalls + j.name,
			unit: j.Unit,
		}
		if j.Unit == labels.Turn {
			names.judged, names.corrected = panel.MetricJudgedTurns+j.name, panel.MetricTrueTurns+j.name
		}
		names.judgedTitle, names.correctedTitle = "judged "+string(j.Unit)+"s, "+j.name,
			"truly right "+string(j.Unit)+"s, "+j.name
		if err := r.correct(p, in, names); err != nil {
			return err
		}
	}
	return nil
}

// readTools notes which tools the judged calls name, for slices.
func (r *JudgedRun) readTools(of *Tasks) error {
	p := &r.Parts
	p.tools, p.right = map[labels.Key]string{}, map[labels.Key]bool{}
	wanted := map[labels.Key]bool{}
	for i := range p.All {
		if p.All[i].Unit == labels.Call {
			wanted[p.All[i].Key] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	return of.attempts(func(at *trace.Attempt) error {
		for c, id := range judge.Calls(at) {
			if key := callKey(at, id); wanted[key] {
				p.tools[key] = c.Tool
			}
		}
		rightCalls(at, wanted, p.right)
		return nil
	})
}
