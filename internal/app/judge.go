// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/judge"
)

// A judge is a target like others: its questions are the cases of a suite made from attempts. One
// judging is a run of that suite, with the same limits, retries, budget, cache, lease and
// resumption. Such a run is in no list of runs; it belongs to its subject.

// JudgeSpec says which judges, and what they are shown.
type JudgeSpec struct {
	// Judges are built-in judges, and at most one of the user, with its prompt and schema in the
	// files Prompt and Schema.
	Judges []string `json:"judge"`
	Prompt string   `json:"prompt,omitempty"`
	Schema string   `json:"schema,omitempty"`
	// Unit is the unit of the user's judge: task (the default), call or turn.
	Unit judge.Unit `json:"unit,omitempty"`
	// ShowGold shows what the case expects.
	ShowGold bool `json:"show_gold,omitempty"`
	// MaxEvidence bounds what is shown of one thing, in bytes; 0 means judge.DefaultEvidence.
	MaxEvidence int `json:"max_evidence,omitempty"`
	// Threshold is the least score in [0,1] that passes, where the score decides.
	Threshold *float64 `json:"threshold,omitempty"`
}

// JudgeRequest asks judges for their verdicts on a run or a trace file.
type JudgeRequest struct {
	Side
	JudgeSpec
	// Against is the baseline run or trace file for a comparing judge: it sees its attempts of the
	// same targets and tasks. None: it compares the targets of one run.
	Against Side `json:"against,omitzero"`
	// Models are asked, each as a judge of its own.
	Models []TargetSpec `json:"models"`
	// Samples is how often each is asked the same; 0 means once.
	Samples int `json:"samples,omitempty"`
	// Under limits the judging to attempts whose automatic score is less, or not known.
	Under *float64 `json:"under,omitempty"`
	// Tools are files with the catalogue, for trace files that have none.
	Tools []string `json:"tools,omitempty"`
	// Again makes a new version although the last one did not end.
	Again bool `json:"again,omitempty"`
	// Output is a labels file that the verdicts are added to; "": none.
	Output string `json:"output,omitempty"`
	// Prices is a file that goes before the shipped prices.
	Prices string `json:"prices,omitempty"`
	// NoCache asks again what any judging asked before. Keep are kinds of personal data that
	// the judge is shown.
	NoCache bool     `json:"no_cache,omitempty"`
	Keep    []string `json:"keep,omitempty"`
	Settings
}

func (q *JudgeRequest) check() error {
	switch {
	case len(q.Judges) == 0:
		return wrong("judge", "", "which judge?")
	case len(q.Models) == 0:
		return &callvet.FieldError{Field: "models", Text: "no model to ask", Fix: "{models} openai/gpt-5-mini"}
	case q.Samples < 0:
		return wrong("samples", strconv.Itoa(q.Samples), "write 1 or more")
	case q.Under != nil && !(*q.Under > 0 && *q.Under <= 1):
		return wrong("under", fmt.Sprint(*q.Under), "write a score above 0, up to 1")
	case (q.Prompt == "") != (q.Schema == ""):
		return wrong("prompt", "", "a judge of your own has a prompt and a schema: give both")
	case q.Unit != "" && q.Prompt == "":
		return wrong("unit", string(q.Unit), "it is for a judge of your own; one that is built in has its own")
	}
	_, err := Kinds(q.Keep)
	if q.Against != (Side{}) {
		err = errors.Join(err, q.Against.one("against"))
	}
	return errors.Join(err, q.Side.one("subject"), q.Settings.check())
}

// Judges are those that are built in.
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
func (a *App) judgesOf(s *JudgeSpec) ([]*judge.Judge, error) {
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
			return nil, wrong("judge", name, "it is named twice")
		}
		j, err := a.judgeOf(s, name, name == own)
		if err != nil {
			return nil, err
		}
		out = append(out, j)
	}
	return out, nil
}

// judgeOf makes one judge of a spec: the user's judge or a built-in one.
func (a *App) judgeOf(s *JudgeSpec, name string, own bool) (j *judge.Judge, err error) {
	if !own {
		j, err = judge.Builtin(name)
	} else {
		var prompt, schema []byte
		if prompt, err = a.read(s.Prompt, MaxSettings); err != nil {
			return nil, fmt.Errorf("read prompt: %w", err)
		}
		if schema, err = a.read(s.Schema, MaxSettings); err != nil {
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

// JudgeRun asks judges about a run or a trace file and keeps what they say. Each model is a
// judging of its own; one that did not end goes on where it was. With what came out may come
// an error that wraps callvet.ErrBudget, or says that nothing could be asked.
func (a *App) JudgeRun(ctx context.Context, req JudgeRequest, events Events) (*Judged, error) {
	js, s, err := a.preparedJudges(ctx, &req, events)
	if err != nil {
		return nil, err
	}
	var todo []toJudge // before anything is asked: one judge may have no question
	for _, j := range js {
		qs, skipped, err := questions(j, s, req.Under)
		if err != nil {
			return nil, err
		}
		made, err := questionSuite(j, "judge "+j.Name, qs)
		if err != nil {
			return nil, err
		}
		todo = append(todo,
			toJudge{Judging{Judge: *j, About: s.name, Against: s.against, Under: req.Under, Skipped: skipped}, made})
	}
	out := &Judged{Subject: s.name, about: s.about}
	for i := range todo {
		for _, model := range req.Models {
			what := todo[i].what
			o, err := a.judging(ctx, &req, &what, s.about, todo[i].made, model, events)
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
	out.together()
	if req.Output != "" {
		if err := a.addLabels(req.Output, out, events); err != nil {
			return out, err
		}
	}
	return out, nil
}

// toJudge is what a judge is to be asked.
type toJudge struct {
	what Judging
	made *callvet.Suite
}

// preparedJudges checks a request and opens what it is about.
func (a *App) preparedJudges(ctx context.Context, req *JudgeRequest, events Events) ([]*judge.Judge, *subject, error) {
	if err := req.check(); err != nil {
		return nil, nil, err
	}
	js, err := a.judgesOf(&req.JudgeSpec)
	if err != nil {
		return nil, nil, err
	}
	for _, j := range js {
		if j.Lines() > judge.MaxPromptLines {
			events.note("long-prompt", "the prompt of judge %s has %d lines: judges keep to %d better",
				j.Name, j.Lines(),
				judge.MaxPromptLines)
		}
		if req.Against != (Side{}) && j.Unit != judge.Pair {
			return nil, nil, wrong("against", req.Against.name(),
				"the judge %s does not compare: {judge} compare does", j.Name)
		}
	}
	if err := errors.Join(a.permitted(req.Models), a.unspelled(req.Models),
		a.secrets.Spelled(req.RunRequest().settings())); err != nil {
		return nil, nil, err
	}
	s, err := a.subjectOf(ctx, req, events)
	return js, s, err
}

// CheckJudge refuses a request that JudgeRun would refuse before it asks anybody: a judge that there
// is not, a model that cannot be opened, a run that is not there.
func (a *App) CheckJudge(ctx context.Context, req JudgeRequest, events Events) error {
	if _, _, err := a.preparedJudges(ctx, &req, events); err != nil {
		return err
	}
	for _, model := range req.Models {
		what := &Judging{}
		s, err := a.openJudging(ctx, &req, what, "", model, events)
		if err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}
