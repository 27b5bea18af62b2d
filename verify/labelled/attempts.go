// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labelled

import (
	"context"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/value"
)

// attempt is the work of a target at a task, in messages, each with calls or the answer.
type attempt struct {
	task *callvet.Case
	// kind and what describe the change of a right attempt; "" for right attempts.
	kind, what string
	steps      [][]callvet.Call
	answer     string
}

func (a *attempt) id() string {
	return fmt.Sprintf("%s: %s %s", a.task.ID, a.kind, a.what)
}

// calls returns all calls in order.
func (a *attempt) calls() []callvet.Call { return slices.Concat(a.steps...) }

// with returns the attempt with other calls, each in a separate message.
func (a *attempt) with(kind, what string, calls []callvet.Call) attempt {
	out := attempt{task: a.task, kind: kind, what: what, answer: a.answer}
	for _, c := range calls {
		out.steps = append(out.steps, []callvet.Call{c})
	}
	return out
}

// right returns the right attempts at a task: one for each plan. Independent calls are in one message.
// Optional calls are left out.
func right(c *callvet.Case) (out []attempt) {
	for i := range c.Expect.Plans {
		p := &c.Expect.Plans[i]
		a := attempt{task: c, what: p.Name, answer: answer(c)}
		for j := range p.Calls {
			e := &p.Calls[j]
			if e.Optional {
				continue
			}
			call := callvet.Call{Tool: e.Tools[0], Args: e.Args}
			if n := len(a.steps); n > 0 && len(e.After) == 0 && p.Order == "" {
				a.steps[n-1] = append(a.steps[n-1], call)
				continue
			}
			a.steps = append(a.steps, []callvet.Call{call})
		}
		out = append(out, a)
	}
	return out
}

// same reports whether two attempts make the same calls, in any order.
func same(a, b *attempt) bool {
	x, y := a.calls(), b.calls()
	for _, c := range x {
		i := slices.IndexFunc(y, func(o callvet.Call) bool { return equal(c, o) })
		if i < 0 {
			return false
		}
		y = slices.Delete(y, i, i+1)
	}
	return len(y) == 0
}

func equal(a, b callvet.Call) bool {
	x, errX := value.Parse(a.Args)
	y, errY := value.Parse(b.Args)
	return a.Tool == b.Tool && errX == nil && errY == nil && value.Equal(x, y)
}

// player plays attempts, by the ids of their cases.
type player map[string]*attempt

// Generate returns the message of the round.
func (p player) Generate(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
	a := p[req.CaseID]
	if a == nil {
		return nil, &callvet.Fault{Kind: callvet.FaultMissing, Message: "no attempt for " + req.CaseID}
	}
	round := 0
	for i := len(req.Turns) - 1; i >= 0 && req.Turns[i].Role != callvet.RoleUser; i-- {
		if req.Turns[i].Role == callvet.RoleAssistant {
			round++
		}
	}
	turn := callvet.Turn{Role: callvet.RoleAssistant}
	if round < len(a.steps) {
		for i, c := range a.steps[round] {
			c.ID = fmt.Sprintf("call_%d_%d", round, i)
			turn.Calls = append(turn.Calls, c)
		}
	} else {
		turn.Content = a.answer
	}
	return &callvet.Response{Turns: []callvet.Turn{turn}, Model: "player"}, nil
}

// journal stores nothing: the cells are observed during the run.
type journal struct{}

// Encode implements run.Journal.
func (journal) Encode(dst []byte, _ *callvet.Cell, _ []byte) ([]byte, error) { return dst, nil }

// Append implements run.Journal.
func (journal) Append(context.Context, string, [][]byte, callvet.Spent) error { return nil }

// replayed runs attempts through the evaluation loop with the fixtures of their tasks, and returns
// the cell of each.
func (s *set) replayed(ctx context.Context, list []attempt) ([]*callvet.Cell, error) {
	of, play := *s.suite, player{}
	of.Cases = make([]callvet.Case, len(list))
	for i := range list {
		of.Cases[i] = *list[i].task
		of.Cases[i].ID = fmt.Sprintf("%s#%d", list[i].task.ID, i)
		play[of.Cases[i].ID] = &list[i]
	}
	return played(ctx, &of,
		run.Target{Target: callvet.Target{Name: "player", Provider: "player", Free: true}, Model: play})
}

// played runs a suite with a target and returns the cells in the order of the cases.
func played(ctx context.Context, s *callvet.Suite, target run.Target) ([]*callvet.Cell, error) {
	scorer, problems := score.New(s, score.Config{})
	if len(problems) > 0 {
		return nil, fmt.Errorf("replay: %w: %w", callvet.ErrInvalid, problems[0])
	}
	cells := make([]*callvet.Cell, len(s.Cases))
	_, err := run.Run(ctx, run.Config{
		Suite: s, Targets: []run.Target{target}, Journal: journal{},
		Compile: func(c *callvet.Case) run.Compiled {
			k, _ := scorer.Compile(c)
			return k
		},
		Worlds: func(c *callvet.Case, _ string, _ int) callvet.World { return mocks(s, c) },
		Observe: func(e run.Event) {
			for _, c := range e.Cells {
				cells[c.Case] = c
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if i := slices.Index(cells, nil); i >= 0 {
		return nil, fmt.Errorf("replay: %w: the case %s did not run", callvet.ErrInvalid, s.Cases[i].ID)
	}
	return cells, nil
}
