// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/value"
)

// MockOptions of Mocks.
type MockOptions struct {
	// RealLatency makes an answer take as long as its mock defines. By default the latency is only
	// recorded.
	RealLatency bool
}

// unmocked is the answer of a known tool without a mock. Source: Tool Calling Evaluation,
// "Multi-Turn Evaluation".
const unmocked = `{"status":"ok"}`

// Mocks makes the world of one attempt at c. It returns nil if it cannot answer: the case has one
// turn, and neither it nor the suite has mocks.
//
// A mock answers calls of its tool (names compare case-insensitively, as in scoring) if the
// arguments contain all of its own and the attempt's state fits. If several match, the mock with
// the most conditions wins, at equal count the first. The suite's mocks answer only tools for
// which the case has none.
//
// A tool without any mock answers {"status":"ok"}, with a note. If no mock of a tool fits the
// arguments and the state, the tool answers exec_error, and so does a tool that the case does not
// offer.
func Mocks(s *callvet.Suite, c *callvet.Case, o MockOptions) callvet.World {
	if len(c.Mocks) == 0 && len(s.Mocks) == 0 && c.MultiTurn == nil {
		return nil
	}
	return &mocks{suite: s, c: c, options: o, given: map[*callvet.Mock]int{}, state: state{}, calls: map[string]int{}}
}

type mocks struct {
	suite   *callvet.Suite
	c       *callvet.Case
	options MockOptions
	given   map[*callvet.Mock]int // number of replies so far
	state   state
	// calls of each tool so far, by its name in small letters, and of all
	calls    map[string]int
	position int
}

// Answer returns the next reply of the mock that fits best.
func (m *mocks) Answer(ctx context.Context, call callvet.Call) (callvet.Reply, error) {
	reply, err := m.reply(call)
	reply.Env = callvet.EnvMock
	if err == nil && m.options.RealLatency && reply.Latency > 0 {
		err = sys.Sleep(ctx, reply.Latency)
	}
	return reply, err
}

func (m *mocks) reply(call callvet.Call) (callvet.Reply, error) {
	m.position++
	m.calls[strings.ToLower(call.Tool)]++
	m.state.pass()
	if !m.offers(call.Tool) {
		return callvet.Reply{Status: callvet.StatusExecErr, Error: fmt.Sprintf("unknown tool %q", call.Tool)}, nil
	}
	list := m.list(call.Tool)
	if list == nil {
		return callvet.Reply{
			Status: callvet.StatusOK, Result: json.RawMessage(unmocked),
			Note: callvet.NoteUnmocked,
		}, nil
	}
	var args value.Value // stays absent when the call has no arguments
	if len(call.Args) > 0 {
		var err error
		if args, err = call.ArgsValue(); err != nil {
			return callvet.Reply{Status: callvet.StatusExecErr, Error: "unreadable arguments: " + err.Error()}, nil
		}
	}
	mock, out, err := choose(list, args, m.state)
	switch {
	case err != nil:
		return callvet.Reply{}, err
	case mock == nil && out:
		return callvet.Reply{
			Status: callvet.StatusExecErr, Error: "this cannot be done now",
			Note: "no mock fits the state",
		}, nil
	case mock == nil:
		return callvet.Reply{
			Status: callvet.StatusExecErr, Error: "no result for these arguments",
			Note: "no mock fits the arguments",
		}, nil
	}
	r := mock.Replies[min(m.given[mock], len(mock.Replies)-1)]
	m.given[mock]++
	result := r.Result
	if r.Template != nil {
		if result, err = m.filled(r.Template, &call, args); err != nil {
			return callvet.Reply{}, err
		}
	}
	m.state.set(r.Set)
	reply := callvet.Reply{
		Result: result, Error: r.Error, Status: r.Status,
		Latency: time.Duration(r.LatencyMS * float64(time.Millisecond)),
	}
	if reply.Status == "" {
		reply.Status = callvet.StatusOK
		if r.Error != "" {
			reply.Status = callvet.StatusExecErr
		}
	}
	if reply.Status == callvet.StatusOK && reply.Result == nil {
		reply.Result = json.RawMessage("null")
	}
	return reply, nil
}

// offers reports whether the case has the tool. A suite without declared tools offers the tools
// of its mocks.
func (m *mocks) offers(name string) bool {
	tools := m.suite.Tools
	if m.c.Tools != nil {
		tools = m.c.Tools
	}
	if len(tools) == 0 && m.c.ToolNames == nil {
		return len(m.c.Mocks) == 0 && len(m.suite.Mocks) == 0 || hasMock(m.c.Mocks, name) ||
			hasMock(m.suite.Mocks, name)
	}
	if m.c.ToolNames != nil && !hasName(m.c.ToolNames, name) {
		return false
	}
	for i := range tools {
		if callvet.SameName(tools[i].Name, name) {
			return true
		}
	}
	return false
}

func hasName(names []string, name string) bool {
	for _, n := range names {
		if callvet.SameName(n, name) {
			return true
		}
	}
	return false
}

func hasMock(ms []callvet.Mock, name string) bool {
	for i := range ms {
		if callvet.SameName(ms[i].Tool, name) {
			return true
		}
	}
	return false
}

// list is the case's mocks of a tool, or the suite's when the case has none.
func (m *mocks) list(tool string) []*callvet.Mock {
	for _, ms := range [][]callvet.Mock{m.c.Mocks, m.suite.Mocks} {
		var out []*callvet.Mock
		for i := range ms {
			if callvet.SameName(ms[i].Tool, tool) && len(ms[i].Replies) > 0 {
				out = append(out, &ms[i])
			}
		}
		if out != nil {
			return out
		}
	}
	return nil
}

// choose finds the mock that fits a call's arguments and the state best; nil when none does; out:
// a mock fits except for the state. An error is about the suite: a mock's own arguments cannot be
// read.
func choose(list []*callvet.Mock, args value.Value, s state) (best *callvet.Mock, out bool, err error) {
	most := -1
	for _, m := range list {
		keys, err := fits(m.Args, args)
		if err != nil {
			return nil, false, fmt.Errorf("read arguments of a mock of %s: %w: %w", m.Tool, callvet.ErrInvalid, err)
		}
		words := s.holds(m.When)
		switch {
		case keys < 0:
		case words < 0:
			out = true
		case keys+words > most:
			best, most = m, keys+words
		}
	}
	return best, out, nil
}

// fits returns the number of values that the mock requires if the call has all of them, or -1.
// Objects are subsets at every depth; anything else is compared exactly, type included.
func fits(want json.RawMessage, actual value.Value) (int, error) {
	if len(want) == 0 {
		return 0, nil
	}
	w, err := value.Parse(want)
	if err != nil {
		return -1, err
	}
	if w.Kind() == value.Null || (w.Kind() == value.Object && w.Len() == 0) {
		return 0, nil
	}
	return subset(w, actual), nil
}

func subset(want, actual value.Value) int {
	if want.Kind() != value.Object || actual.Kind() != value.Object {
		if value.Equal(want, actual) {
			return 1
		}
		return -1
	}
	n := 0
	for e, ok := want.First(); ok; e, ok = want.Next(e) {
		a, has := actual.Get(e.Key())
		if !has {
			return -1
		}
		k := subset(e, a)
		if k < 0 {
			return -1
		}
		n += k
	}
	return max(n, 1)
}
