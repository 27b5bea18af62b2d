// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

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
	all []labels.Judgement
	at  map[partKey]int
	// newest is the judge of each name that spoke last. Of one that the run itself has, own is true.
	newest map[partJudge]string
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
	unit labels.Unit
	name string
}

// addParts adds verdicts on calls and turns of the very outputs of the run; own: the run itself has
// them, and then no labels file changes them. Of two verdicts of one judge the later counts.
func (r *judgedRun) addParts(lines []labels.Label, own bool) {
	p, of := &r.parts, map[string][]int{}
	for i := range lines {
		o := &lines[i]
		if !o.Unit.Part() || o.Fingerprint == "" {
			continue
		}
		if len(of) == 0 {
			for at := range r.items {
				of[r.items[at].Fingerprint] = append(of[r.items[at].Fingerprint], at)
			}
		}
		for _, at := range of[o.Fingerprint] {
			key := r.items[at].Key
			key.Unit, key.CallID, key.Turn = o.Unit, o.CallID, o.Turn
			for _, v := range o.Judged {
				p.add(labels.Judgement{Key: key, Fingerprint: o.Fingerprint, Verdict: v}, own)
			}
		}
	}
}

func (p *parts) add(v labels.Judgement, own bool) {
	if p.at == nil {
		p.at, p.newest, p.own = map[partKey]int{}, map[partJudge]string{}, map[partJudge]bool{}
	}
	by, key := partJudge{v.Unit, v.Name}, partKey{v.Key, v.ID()}
	switch i, again := p.at[key]; {
	case p.own[by] && !own:
		return
	case again:
		p.all[i] = v
	default:
		p.at[key], p.all = len(p.all), append(p.all, v)
	}
	p.newest[by], p.own[by] = v.ID(), own
}

// on is what the judges of verdicts on a thing said of it.
func (p *parts) on(key labels.Key, of []labels.Verdict) (out []labels.Verdict) {
	for i := range of {
		if at, said := p.at[partKey{key, of[i].ID()}]; said {
			out = append(out, p.all[at].Verdict)
		}
	}
	return out
}

// judges are those of calls and those of turns, the newest of each name. A verdict on a turn is of
// its calls, too, and that makes its judge no judge of calls: it was asked something else than
// people are who label calls.
func (p *parts) judges() []partJudge {
	out := slices.SortedFunc(maps.Keys(p.newest), func(a, b partJudge) int {
		return cmp.Or(cmp.Compare(a.unit, b.unit), cmp.Compare(a.name, b.name))
	})
	return slices.DeleteFunc(out, func(j partJudge) bool {
		return j.unit == labels.Call && p.newest[partJudge{labels.Turn, j.name}] == p.newest[j]
	})
}

// judgedParts adds to panels of the run what its judges of calls and turns said.
func (r *Run) judgedParts(ctx context.Context, p *panel.Panels) error {
	of := r.tasks(ctx)
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
func (r *judgedRun) correctParts(p *panel.Panels, of *tasks, in labels.CalibrationInput) error {
	judges := r.parts.judges()
	if len(judges) == 0 {
		return nil
	}
	if err := r.readTools(of); err != nil {
		return err
	}
	r.agree(r.parts.right).fill(p)
	in.Run, in.Outputs, in.RunID, in.Confidence = r.judgements(), r.outputs(), r.id, p.Confidence
	for _, j := range judges {
		in.Judge, in.Unit = r.parts.newest[j], j.unit
		names := judgedNames{
			judged: panel.MetricJudgedCalls + j.name, corrected: panel.MetricTrueCalls + j.name,
			unit: j.unit,
		}
		if j.unit == labels.Turn {
			names.judged, names.corrected = panel.MetricJudgedTurns+j.name, panel.MetricTrueTurns+j.name
		}
		names.judgedTitle, names.correctedTitle = "judged "+string(j.unit)+"s, "+j.name,
			"truly right "+string(j.unit)+"s, "+j.name
		if err := r.correct(p, in, names); err != nil {
			return err
		}
	}
	return nil
}

// readTools notes which tools the judged calls name, for slices.
func (r *judgedRun) readTools(of *tasks) error {
	p := &r.parts
	p.tools, p.right = map[labels.Key]string{}, map[labels.Key]bool{}
	wanted := map[labels.Key]bool{}
	for i := range p.all {
		if p.all[i].Unit == labels.Call {
			wanted[p.all[i].Key] = true
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
