// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
)

// partQueue draws calls or turns for people to label. People see the same as the judge: the text of
// a stored judging, or the text for a judge of the same kind.
type partQueue struct {
	judge   *judge.Judge
	stored  *results.JudgingRun // nil: no judging of these is stored
	subject *results.Subject
	run     *results.JudgedRun
}

// nextParts draws the next calls or turns to label.
func nextParts(ctx context.Context, a *app.App, req *LabelNextRequest, q *labels.Queue, run *results.JudgedRun,
	done []labels.Label, events app.Events,
) ([]Todo, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	p := &partQueue{run: run}
	if err := p.choose(ctx, db, req); err != nil {
		return nil, err
	}
	if p.subject, err = results.SideOf(ctx, a, req.Side, &app.JudgeRequest{Tools: req.Tools}, events); err != nil {
		return nil, err
	}
	items, err := p.items()
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("draw %ss of %s: %w: there is none", req.Unit, req.Side.Name(), callvet.ErrInvalid)
	}
	drawn, err := q.Next(items, done)
	if err != nil || len(drawn) == 0 {
		return nil, err
	}
	return p.show(ctx, db, drawn)
}

// choose finds the judge that defines the shown texts: the judge of the newest judging of the unit
// with the requested name, or else the built-in one.
func (p *partQueue) choose(ctx context.Context, db *store.DB, req *LabelNextRequest) error {
	unit := judge.Unit(req.Unit)
	list, _, err := results.ReadJudgings(ctx, db, p.run.ID, func(j *results.Judging) bool {
		return j.Judge.Unit == unit && results.HasVerdicts(j) && (req.Judge == "" || j.Identity.Is(req.Judge))
	})
	if err != nil {
		return err
	}
	if len(list) > 0 {
		p.stored = &list[len(list)-1]
		p.judge = &p.stored.What.Judge
		return nil
	}
	name := "arguments"
	if unit == judge.Turn {
		name = "necessity"
	}
	p.judge, err = judge.Builtin(name)
	return err
}

// keyOfPart returns the label key of a question's subject.
func keyOfPart(k *judge.Key, unit labels.Unit) labels.Key {
	return labels.Key{Target: k.Target, TaskID: k.Task, Attempt: k.Attempt, Unit: unit, CallID: k.CallID, Turn: k.Turn}
}

// items returns all calls or turns, with the verdicts of judges on them.
func (p *partQueue) items() ([]labels.CalibrationItem, error) {
	unit := labels.Unit(p.judge.Unit)
	verdicts := map[labels.Key][]labels.Verdict{}
	for _, by := range p.run.Parts.Judges() {
		for i := range p.run.Parts.All {
			if v := &p.run.Parts.All[i]; by.Unit == unit && v.Unit == unit && v.ID() == p.run.Parts.Newest[by] {
				verdicts[v.Key] = append(verdicts[v.Key], v.Verdict)
			}
		}
	}
	listing := *p.judge
	listing.MaxEvidence = judge.MinEvidence
	listing.Own = true // turns are drawn whether or not the catalogue of tools is known
	var out []labels.CalibrationItem
	err := p.subject.Each(func(s judge.Subject, _ *float64) error {
		if _, known := p.run.At[ofAttempt(&s)]; !known {
			return nil
		}
		qs, _ := listing.Questions(s)
		for i := range qs {
			key := keyOfPart(&qs[i].Key, unit)
			out = append(out, labels.CalibrationItem{Key: key, Fingerprint: s.Output, Judged: verdicts[key]})
		}
		return nil
	})
	return out, err
}

func ofAttempt(s *judge.Subject) labels.Key {
	t := &s.Attempt.Trace
	return labels.Key{Target: t.Target, TaskID: t.CaseID, Attempt: t.Repeat, Unit: labels.Task}
}

// show returns the drawn units with the texts that people see.
func (p *partQueue) show(ctx context.Context, db *store.DB, drawn []labels.Label) ([]Todo, error) {
	out, want := make([]Todo, len(drawn)), map[labels.Key]int{}
	for i := range drawn {
		out[i].Label, want[drawn[i].Key] = drawn[i], i
	}
	shown, err := p.storedEvidence(ctx, db, want)
	if err != nil {
		return nil, err
	}
	rendering := *p.judge
	err = p.subject.Each(func(s judge.Subject, _ *float64) error {
		// The shown text is stored: the catalogue is not needed again.
		rendering.Own = p.judge.Own || p.judge.Unit == judge.Turn && p.stored != nil && len(s.Tools) == 0
		qs, _ := rendering.Questions(s)
		for i := range qs {
			key := keyOfPart(&qs[i].Key, labels.Unit(p.judge.Unit))
			at, wanted := want[key]
			if !wanted {
				continue
			}
			if text := shown[key]; text != "" {
				qs[i].Evidence = text
			} else if rendering.Own && !p.judge.Own {
				continue
			}
			out[at].Shown = showPart(p.judge, &s, &qs[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range out {
		if out[i].Shown.Evidence == "" {
			return nil, &callvet.FieldError{
				Field: "tools",
				Text:  "people are to see the tools that the target had, and the catalogue of tools is not known",
				Fix:   "{tools} tools.json",
			}
		}
	}
	return out, nil
}

// storedEvidence returns the evidence of the stored judging for the wanted units.
func (p *partQueue) storedEvidence(ctx context.Context, db *store.DB,
	want map[labels.Key]int,
) (map[labels.Key]string, error) {
	if p.stored == nil {
		return nil, nil
	}
	_, cases, err := db.OpenSuite(ctx, p.stored.Run.SuiteHash)
	if err != nil {
		return nil, err
	}
	out := map[labels.Key]string{}
	for i := range cases.Len() {
		c, err := cases.Case(i)
		if err != nil {
			return nil, err
		}
		var q results.QuestionData
		if err := json.Unmarshal(c.Foreign, &q); err != nil || len(c.Input) == 0 {
			return nil, fmt.Errorf("read judging %s: question %s: %w", p.stored.Run.ID, c.ID, callvet.ErrInvalid)
		}
		key := keyOfPart(&q.Key, labels.Unit(p.judge.Unit))
		if _, wanted := want[key]; wanted {
			out[key] = c.Input[0].Content
		}
	}
	return out, nil
}

// showPart returns the texts that a person sees of a call or a turn. A built-in judge of turns does
// not see the turn itself, because its answer is compared with the turn. A person sees it and
// compares.
func showPart(j *judge.Judge, s *judge.Subject, q *judge.Question) ShownTask {
	out := ShownTask{Evidence: q.Evidence, Question: "are the arguments of this call right for what was asked?"}
	switch {
	case j.Own:
		out.Question = "does it pass? The judge " + j.Name + " was asked: " + j.Prompt
	case j.Unit == judge.Turn:
		turn := q.Acted(*s)
		out.Question = "was that right: the best tool, or no tool where none was needed?"
		calls := make([]callvet.Call, len(turn.Calls))
		for i := range turn.Calls {
			c := &turn.Calls[i]
			calls[i] = callvet.Call{Tool: c.Tool, Args: c.Args, ArgsRaw: c.ArgsRaw} // results came later
		}
		out.Steps, out.Answer = ShownCalls(calls), plain.Limited(turn.Content, MaxShown)
	}
	return out
}
