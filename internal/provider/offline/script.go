// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/sys"
)

// OpenScript reads a script file. sleep waits for the delays and returns early
// with the context's error; nil means real time. The error lists every mistake
// as a callvet.Problem and is ErrInvalid or ErrNotFound.
func OpenScript(file string, sleep func(context.Context, time.Duration) error) (callvet.Model, callvet.Target, error) {
	s, err := readScript(file)
	if err != nil {
		return nil, callvet.Target{}, err
	}
	if sleep == nil {
		sleep = sys.Sleep
	}
	name := s.Model
	if name == "" {
		name = strings.TrimSuffix(path.Base(file), path.Ext(file))
	}
	m := &scripted{script: s, sleep: sleep, served: map[round]int{}}
	return m, callvet.Target{Name: "script:" + file, Provider: "script", Model: name, Free: true}, nil
}

type scripted struct {
	script *script
	sleep  func(context.Context, time.Duration) error
	mu     sync.Mutex
	served map[round]int // requests so far of the rounds that begin with counted errors
}

// round is one request of one attempt, retries of it included.
type round struct {
	caseID       string
	repeat, turn int
}

// Generate returns the step for the request's round.
func (m *scripted) Generate(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, endOf(err)
	}
	turn := roundOf(req.Turns)
	st, err := m.step(req, turn)
	if err != nil {
		return nil, err
	}
	if st.DelayMS > 0 {
		if err := m.sleep(ctx, time.Duration(st.DelayMS*float64(time.Millisecond))); err != nil {
			return nil, endOf(err)
		}
	}
	if st.Error != nil {
		return nil, st.Error.fault()
	}
	return st.response(req, turn, m.script.Model), nil
}

func endOf(err error) *callvet.Fault {
	if errors.Is(err, context.DeadlineExceeded) {
		return &callvet.Fault{Kind: callvet.FaultTimeout, Message: "no answer in time", Retryable: true}
	}
	return &callvet.Fault{Kind: callvet.FaultCanceled, Message: "interrupted"}
}

// roundOf counts the assistant turns since the last user turn.
func roundOf(turns []callvet.Turn) int {
	n := 0
	for i := len(turns) - 1; i >= 0 && turns[i].Role != callvet.RoleUser; i-- {
		if turns[i].Role == callvet.RoleAssistant {
			n++
		}
	}
	return n
}

// step finds the step that answers.
func (m *scripted) step(req *callvet.Request, turn int) (*step, error) {
	user := strings.ToLower(callvet.Question(req.Turns))
	for i := range m.script.Rules {
		if r := &m.script.Rules[i]; r.matches(req, user) {
			if surface := m.script.Surface; surface != nil && !surface.Right(req) {
				if surface.Else != nil {
					return surface.Else, nil
				}
				return abstains(), nil
			}
			return m.pick(r, round{req.CaseID, req.Repeat, turn}), nil
		}
	}
	if m.script.Otherwise == "error" {
		return nil, &callvet.Fault{
			Kind:    callvet.FaultMissing,
			Message: fmt.Sprintf("no rule of the script matches case %q", req.CaseID),
		}
	}
	return abstains(), nil
}

func abstains() *step { return &step{Text: "I have no call to make here."} }

func (r *rule) matches(req *callvet.Request, user string) bool {
	if r.Case != "" && r.Case != req.CaseID {
		if ok, err := path.Match(r.Case, req.CaseID); err != nil || !ok {
			return false
		}
	}
	if r.Contains != "" && !strings.Contains(user, strings.ToLower(r.Contains)) {
		return false
	}
	return len(r.Repeat) == 0 || slices.Contains(r.Repeat, req.Repeat)
}

// pick returns the step of a round: first the counted errors before it, each as often as its count,
// then the step itself.
func (m *scripted) pick(r *rule, at round) *step {
	before, own := r.round(at.turn)
	if own == nil {
		own = &step{Text: "Done."}
	}
	if len(before) == 0 {
		return own
	}
	m.mu.Lock()
	n := m.served[at]
	m.served[at]++
	m.mu.Unlock()
	for _, s := range before {
		if n < s.Times {
			return s
		}
		n -= s.Times
	}
	return own
}

// round splits the steps into rounds and returns round number turn; nil when the script is over
// and answers.
func (r *rule) round(turn int) (before []*step, own *step) {
	n := 0
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Error != nil && s.Times > 0 {
			if n == turn {
				before = append(before, s)
			}
			continue
		}
		if n == turn {
			return before, s
		}
		n++
	}
	if r.Then == "answer" || n == 0 {
		return before, nil
	}
	for i := len(r.Steps) - 1; i >= 0; i-- {
		if s := &r.Steps[i]; s.Error == nil || s.Times == 0 {
			return before, s
		}
	}
	return before, nil
}

func (s *step) response(req *callvet.Request, turn int, model string) *callvet.Response {
	t := callvet.Turn{Role: callvet.RoleAssistant, Content: s.Text, Reasoning: s.Reasoning}
	resp := &callvet.Response{Model: model, FinishReason: s.FinishReason, ToolChoice: req.ToolChoice}
	if s.Raw != "" {
		t.Content = s.Raw
		found := message.CallsFromText(s.Raw, req.Tools)
		t.Calls, resp.Unreadable, resp.CallsUnknown = found.Calls, found.Unreadable, found.Unknown
	}
	message.Thoughts(&t)
	for i := range s.Calls {
		t.Calls = append(t.Calls, s.Calls[i].call(turn, i))
	}
	for _, c := range t.Calls {
		for _, r := range c.Repairs {
			if !slices.Contains(resp.Repairs, r) {
				resp.Repairs = append(resp.Repairs, r)
			}
		}
	}
	if s.Model != "" {
		resp.Model = s.Model
	}
	if resp.FinishReason == "" {
		resp.FinishReason = "stop"
		if len(t.Calls) > 0 {
			resp.FinishReason = "tool_calls"
		}
	}
	if u := s.Usage; u != nil {
		resp.Usage = callvet.Usage{
			InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CostUSD: u.CostUSD,
			Known: true,
		}
	}
	resp.FirstToken = time.Duration(s.FirstTokenMS * float64(time.Millisecond))
	resp.Turns = []callvet.Turn{t}
	return resp
}

func (c *scriptCall) call(turn, i int) callvet.Call {
	id := c.ID
	if id == "" {
		id = fmt.Sprintf("call_%d_%d", turn, i)
	}
	if c.ArgsRaw != nil {
		return message.NewCall(id, c.Tool, *c.ArgsRaw)
	}
	return callvet.Call{ID: id, Tool: c.Tool, Args: c.Args}
}

func (e *scriptError) fault() *callvet.Fault {
	f := &callvet.Fault{
		Kind: e.Kind, HTTP: e.HTTP, Message: e.Message, Param: e.Param,
		RetryAfter: time.Duration(e.RetryAfterMS * float64(time.Millisecond)),
	}
	switch e.Kind {
	case callvet.FaultRateLimit, callvet.FaultServer, callvet.FaultTimeout, callvet.FaultNetwork:
		f.Retryable = true
	}
	if f.Message == "" {
		f.Message = "an error of the script"
	}
	return f
}
