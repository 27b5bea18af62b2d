// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
)

// Judges returns the built-in judges.
func Judges() []judge.Judge { return judge.All() }

// JudgeUnit is the unit of a judge: task, call or turn for a user's judge.
type JudgeUnit = judge.Unit

// ComparedPairs is the unit of a judge that compares.
const ComparedPairs = judge.Pair

// The bounds of JudgeSpec.MaxEvidence, in bytes.
const (
	DefaultEvidence = judge.DefaultEvidence
	MinEvidence     = judge.MinEvidence
)

// judgesOf makes the judges of a spec.
func judgesOf(a *app.App, s *app.JudgeSpec) ([]*judge.Judge, error) {
	own := ""
	if s.Prompt != "" {
		own = s.Judges[0]
		if i := slices.IndexFunc(s.Judges,
			func(name string) bool { return !slices.Contains(judge.Names(), name) }); i >= 0 {
			own = s.Judges[i]
		}
	}
	var out []*judge.Judge
	for i, name := range s.Judges {
		if slices.Contains(s.Judges[:i], name) {
			return nil, app.Wrong("judge", name, "it is named twice")
		}
		j, err := judgeOf(a, s, name, name == own)
		if err != nil {
			return nil, err
		}
		out = append(out, j)
	}
	return out, nil
}

// judgeOf makes one judge of a spec: the user's judge or a built-in one.
func judgeOf(a *app.App, s *app.JudgeSpec, name string, own bool) (j *judge.Judge, err error) {
	if !own {
		j, err = judge.Builtin(name)
	} else {
		var prompt, schema []byte
		if prompt, err = a.Read(s.Prompt, app.MaxSettings); err != nil {
			return nil, fmt.Errorf("read prompt: %w", err)
		}
		if schema, err = a.Read(s.Schema, app.MaxSettings); err != nil {
			return nil, fmt.Errorf("read schema: %w", err)
		}
		j, err = judge.New(name, s.Unit, string(prompt), schema)
	}
	if err != nil {
		return nil, err
	}
	j.ShowGold = s.ShowGold
	if s.MaxEvidence != 0 {
		j.MaxEvidence = s.MaxEvidence
	}
	if s.Threshold != nil {
		j.Threshold = s.Threshold
	}
	return j, j.Check()
}

// Judge lets judges judge a run or a trace file and stores their verdicts. Each model has its own
// judging; an unfinished judging is resumed. Together with the result it may return an error that
// wraps callvet.ErrBudget, or the error that there was no question.
func Judge(ctx context.Context, a *app.App, req app.JudgeRequest, events app.Events) (*results.Judged, error) {
	js, s, err := PreparedJudges(ctx, a, &req, events)
	if err != nil {
		return nil, err
	}
	var todo []toJudge // before any request: a judge may have no question
	for _, j := range js {
		qs, skipped, err := results.Questions(j, s, req.Under)
		if err != nil {
			return nil, err
		}
		made, err := QuestionSuite(j, "judge "+j.Name, qs)
		if err != nil {
			return nil, err
		}
		todo = append(todo,
			toJudge{
				results.Judging{Judge: *j, About: s.Name, Against: s.Against, Under: req.Under, Skipped: skipped},
				made,
			})
	}
	out := &results.Judged{Subject: s.Name, About: s.About}
	for i := range todo {
		for _, model := range req.Models {
			what := todo[i].what
			o, err := CarryOutJudging(ctx, a, &req, &what, s.About, todo[i].made, model, events)
			if o != nil {
				out.Judgings = append(out.Judgings, *o)
			}
			if err != nil {
				return out, err
			}
			if o.Interrupted() {
				return out, nil
			}
		}
	}
	CompareJudgings(out)
	if req.Output != "" {
		if err := AddLabels(a, req.Output, out, events); err != nil {
			return out, err
		}
	}
	return out, nil
}

// toJudge is a judge with its questions.
type toJudge struct {
	what results.Judging
	made *callvet.Suite
}

// PreparedJudges checks a request and opens its subject.
func PreparedJudges(ctx context.Context, a *app.App, req *app.JudgeRequest,
	events app.Events,
) ([]*judge.Judge, *results.Subject, error) {
	if err := req.Check(); err != nil {
		return nil, nil, err
	}
	js, err := judgesOf(a, &req.JudgeSpec)
	if err != nil {
		return nil, nil, err
	}
	for _, j := range js {
		if j.Lines() > judge.MaxPromptLines {
			events.Note("long-prompt", "the prompt of judge %s has %d lines: judges keep to %d better",
				j.Name, j.Lines(),
				judge.MaxPromptLines)
		}
		if req.Against != (app.Side{}) && j.Unit != judge.Pair {
			return nil, nil, app.Wrong("against", req.Against.Name(),
				"the judge %s does not compare: {judge} compare does", j.Name)
		}
	}
	if err := errors.Join(a.Permitted(req.Models), a.CheckSecrets(req.Models),
		a.Secrets().Spelled(redactSettings(runRequestOf(req)))); err != nil {
		return nil, nil, err
	}
	s, err := results.SubjectOf(ctx, a, req, events)
	return js, s, err
}

// CheckJudge returns the error that Judge would return before its first request: an unknown judge,
// a model that cannot be opened, a missing run.
func CheckJudge(ctx context.Context, a *app.App, req app.JudgeRequest, events app.Events) error {
	if _, _, err := PreparedJudges(ctx, a, &req, events); err != nil {
		return err
	}
	for _, model := range req.Models {
		what := &results.Judging{}
		s, err := openJudging(ctx, a, &req, what, "", model, events)
		if err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// OpenLabels opens a file of labels to add to.
func OpenLabels(a *app.App, name string, events app.Events) (*labels.Appender, error) {
	path, _, err := a.Config.Files.Path(name)
	if err != nil {
		return nil, err
	}
	to, err := labels.OpenAppender(path)
	if err == nil && to.Mended {
		events.Warn("label", name+" ended in the middle of a line, which was kept as it is")
	}
	return to, err
}

// Lines returns all verdicts as lines of a labels file.
func Lines(d *results.Judged) []labels.Label {
	var all []labels.Label
	for i := range d.Judgings {
		all = append(all, d.Judgings[i].Lines()...)
	}
	for i := range d.Majorities {
		all = append(all, d.Majorities[i].Lines()...)
	}
	for i := range all {
		all[i].Run = d.About
	}
	return all
}

// AddLabels adds all verdicts to a labels file.
func AddLabels(a *app.App, name string, d *results.Judged, events app.Events) (err error) {
	to, err := OpenLabels(a, name, events)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	return to.Append(Lines(d)...)
}

// CompareJudgings compares judgings with each other, and computes their majority.
func CompareJudgings(d *results.Judged) {
	for i := range d.Judgings {
		for k := i + 1; k < len(d.Judgings); k++ {
			if b := between(&d.Judgings[i], &d.Judgings[k]); b.N > 0 {
				d.Agreement = append(d.Agreement, results.JudgeAgreement{A: i, B: k, JudgesBetween: b})
			}
		}
	}
	d.MajorityVerdicts()
}

// between compares two judgings on the units with readable verdicts of both.
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
