// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/run"
)

// QuestionSuite converts questions to the cases of a suite.
func QuestionSuite(j *judge.Judge, name string, qs []judge.Question) (*callvet.Suite, error) {
	s := &callvet.Suite{Name: name, SystemPrompt: j.System(), Dialect: "callvet", Cases: make([]callvet.Case, len(qs))}
	for i := range qs {
		b, err := json.Marshal(results.QuestionData{Key: qs[i].Key, Did: qs[i].Did})
		if err != nil {
			return nil, fmt.Errorf("write question: %w", err)
		}
		s.Cases[i] = callvet.Case{
			ID:    qs[i].Key.String(),
			Input: []callvet.Turn{{Role: callvet.RoleUser, Content: qs[i].Evidence}}, ToolChoice: "none", Foreign: b,
		}
	}
	return s, nil
}

// formed is a model with one required form of answers.
type formed struct {
	callvet.Model
	form *callvet.AnswerForm
}

// Generate requires the form.
func (m formed) Generate(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
	with := *req
	with.Form = m.form
	return m.Model.Generate(ctx, &with)
}

// identified is formed with answers that may be reused.
type identified struct {
	formed
	run.Identifier
}

// Identity is the identity of the request with the form.
func (m identified) Identity(req *callvet.Request) [sha256.Size]byte {
	with := *req
	with.Form = m.form
	return m.Identifier.Identity(&with)
}

// inForm makes targets answer in a form.
func inForm(ts []run.Target, form *callvet.AnswerForm) []run.Target {
	out := slices.Clone(ts)
	for i := range out {
		f := formed{out[i].Model, form}
		out[i].Model = f
		if id, ok := f.Model.(run.Identifier); ok {
			out[i].Model = identified{f, id}
		}
	}
	return out
}

// opinion reads the answers to one question.
type opinion struct {
	judge *judge.Judge
	did   judge.Did
}

// opinionOf prepares a question for its answers.
func opinionOf(j *judge.Judge, c *callvet.Case) opinion {
	var q results.QuestionData
	if err := json.Unmarshal(c.Foreign, &q); err != nil {
		q = results.QuestionData{} // written by questionSuite
	}
	return opinion{j, q.Did}
}

// Idle implements run.Compiled: every question is asked.
func (o opinion) Idle(bool) string { return "" }

// Check implements run.Compiled: a judge has no tools.
func (o opinion) Check(*callvet.Call) []callvet.Violation { return nil }

// Naming implements run.Compiled.
func (o opinion) Naming() *callvet.Naming { return nil }

// Reached implements run.Compiled.
func (o opinion) Reached([]callvet.Call) bool { return false }

// Judge implements run.Compiled: it stores the verdict of the answer. An answer without a verdict
// is a failure to answer, and the question is not asked again.
func (o opinion) Judge(_ context.Context, t *callvet.Trace) (callvet.Result, error) {
	return o.score(t), nil
}

func (o opinion) score(t *callvet.Trace) callvet.Result {
	switch t.Outcome {
	case callvet.OutcomeError:
		r := callvet.Result{Verdict: callvet.VerdictError, Class: callvet.ClassProvider}
		if t.Fault != nil {
			r.Reason = t.Fault.Error()
		}
		return r
	case callvet.OutcomeNotRun:
		return callvet.Result{Verdict: callvet.VerdictNotRun}
	case callvet.OutcomeCalled, callvet.OutcomeAbstained, callvet.OutcomeUnparseable:
	}
	return keep(o.judge.Read(t.Answer, o.did))
}

// keep writes a verdict as a result; results.KeptVerdict reads it.
func keep(v judge.Verdict) callvet.Result {
	r := callvet.Result{Verdict: callvet.VerdictPass, Plan: v.Word, Reason: v.Reason}
	score := func(name string, x *float64) {
		s := callvet.Score{Name: name, Reason: v.Unscored}
		if x != nil {
			s = callvet.Score{Name: name, Value: *x, Scored: true}
		}
		r.Scores = append(r.Scores, s)
	}
	var pass *float64
	if v.Pass != nil {
		pass = results.VerdictValue(*v.Pass, true)
	}
	score(results.KeptPass, pass)
	score(results.KeptScore, v.Score)
	score(results.KeptAsked, results.VerdictValue(!v.Mended, true))
	switch {
	case !v.Scored():
		r.Verdict, r.Class = callvet.VerdictFail, callvet.ClassUnparseable
	case v.Pass != nil && !*v.Pass:
		r.Verdict, r.Class = callvet.VerdictFail, callvet.ClassAnswer
	}
	return r
}
