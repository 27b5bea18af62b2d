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
	// Newest is the judge with the latest verdict, for each name. own is true for a judge of the
	// run itself.
	Newest map[partJudge]string
	own    map[partJudge]bool
	tools  map[labels.Key]string // the tools of the calls
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

// addParts adds verdicts on calls and turns of the run's outputs. own: they are the run's own,
// which no labels file changes. The later of two verdicts of one judge counts.
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

// On returns the verdicts of judges on a call or turn.
func (p *parts) On(key labels.Key, of []labels.Verdict) (out []labels.Verdict) {
	for i := range of {
		if at, ok := p.at[partKey{key, of[i].ID()}]; ok {
			out = append(out, p.All[at].Verdict)
		}
	}
	return out
}

// Judges returns the judges of calls and of turns, the newest of each name. A verdict on a turn
// also applies to its calls, but its judge does not count as a judge of calls, because its question
// differs from that of people who label calls.
func (p *parts) Judges() []partJudge {
	out := slices.SortedFunc(maps.Keys(p.Newest), func(a, b partJudge) int {
		return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.name, b.name))
	})
	return slices.DeleteFunc(out, func(j partJudge) bool {
		return j.Unit == labels.Call && p.Newest[partJudge{labels.Turn, j.name}] == p.Newest[j]
	})
}

// judgedParts adds the verdicts of judges of calls and turns to panels of the run.
func (r *Run) judgedParts(ctx context.Context, p *panel.Panels) error {
	of := r.Tasks(ctx)
	if parts, err := of.parts(); err != nil || len(parts) == 0 {
		return err
	}
	run, _, err := judgedOf(&of)
	if err != nil {
		return err
	}
	return run.correctParts(p, &of, labels.CalibrationInput{})
}

// correctParts adds the rate of each judge of calls or turns to panels, and the corrected rate if
// people labelled some of them. in has the labels.
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

// readTools records the tools of the judged calls, for slices.
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
