// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Keep records a call that was already answered, in the same way as World.
func (t *Tape) Keep(ctx context.Context, rec *Recording, of Conversation) error {
	own := *rec
	own.Target, own.Repeat = "", 0
	return t.keep(ctx, &own, &of)
}

// MocksOf converts recordings of one attempt to mocks: for each tool with its arguments the answers
// in their order; the last one repeats.
func MocksOf(list []*Recording) []callvet.Mock {
	var out []callvet.Mock
	for _, rec := range list {
		if rec.Env == callvet.EnvGuard {
			continue
		}
		reply := callvet.MockReply{Result: rec.Result, Error: rec.Error, LatencyMS: rec.LatencyMS}
		if rec.Status != callvet.StatusOK && rec.Status != callvet.StatusExecErr {
			reply.Status = rec.Status
		}
		at := slices.IndexFunc(out,
			func(m callvet.Mock) bool { return m.Tool == rec.Tool && bytes.Equal(m.Args, rec.Args) })
		if at < 0 {
			out = append(out, callvet.Mock{Tool: rec.Tool, Args: rec.Args})
			at = len(out) - 1
		}
		out[at].Replies = append(out[at].Replies, reply)
	}
	return out
}

// MocksOfGold are mocks for expected calls without a mock. If the call's result_check consists of
// equalities, the result satisfies it; otherwise it is {"status":"ok"}. made counts the mocks
// from a check, other the rest.
func MocksOfGold(s *callvet.Suite, c *callvet.Case) (mocks []callvet.Mock, made, other int) {
	if len(c.Expect.Plans) == 0 {
		return nil, 0, 0
	}
	world := &mocksOf{suite: s, c: c}
	for _, want := range c.Expect.Plans[0].Calls {
		if len(want.Tools) == 0 || strings.Contains(want.Tools[0], "*") || world.has(want.Tools[0]) {
			continue
		}
		args := want.Args
		if len(want.Matchers) > 0 { // arguments with matchers are not compared literally
			args = exactly(args, want.Matchers)
		}
		result, of := want.Result, want.Result != nil
		if !of {
			result, of = resultOf(want.ResultCheck)
		}
		if of {
			made++
		} else {
			other++
		}
		if !slices.ContainsFunc(mocks,
			func(m callvet.Mock) bool { return m.Tool == want.Tools[0] && bytes.Equal(m.Args, args) }) {
			mocks = append(mocks,
				callvet.Mock{Tool: want.Tools[0], Args: args, Replies: []callvet.MockReply{{Result: result}}})
		}
	}
	return mocks, made, other
}

// mocksOf knows which tools of a case have mocks.
type mocksOf struct {
	suite *callvet.Suite
	c     *callvet.Case
}

func (m *mocksOf) has(tool string) bool {
	return hasMock(m.c.Mocks, tool) || hasMock(m.suite.Mocks, tool)
}

// exactly are the arguments that no matcher compares.
func exactly(args json.RawMessage, matchers map[string]callvet.Matcher) json.RawMessage {
	v, err := value.Parse(args)
	if err != nil || v.Kind() != value.Object {
		return nil
	}
	out := []byte{'{'}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if slices.ContainsFunc(matcherNames(matchers), func(name string) bool {
			return name == e.Key() || strings.HasPrefix(name, e.Key()+".") || strings.Contains(name, "*")
		}) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, value.Quote(e.Key())...), ':'), e.Raw()...)
	}
	return append(out, '}')
}

func matcherNames(matchers map[string]callvet.Matcher) []string {
	out := make([]string, 0, len(matchers))
	for name := range matchers {
		out = append(out, name)
	}
	return out
}

// equality is a condition such as window_days == 30.
var equality = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*) *== *('[^']*'|"[^"]*"|-?[0-9.]+|true|false|nil|null)$`)

// resultOf is a result for which a check of equalities holds.
func resultOf(check string) (result json.RawMessage, ok bool) {
	out := []byte{'{'}
	for part := range strings.SplitSeq(strings.ReplaceAll(check, " and ", " && "), "&&") {
		m := equality.FindStringSubmatch(strings.TrimSpace(part))
		if m == nil {
			return json.RawMessage(unmocked), false
		}
		text := json.RawMessage(m[2])
		switch {
		case strings.HasPrefix(m[2], "'"):
			text = value.Quote(strings.Trim(m[2], "'"))
		case m[2] == "nil":
			text = json.RawMessage("null")
		}
		if !json.Valid(text) {
			return json.RawMessage(unmocked), false
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, value.Quote(m[1])...), ':'), text...)
	}
	return append(out, '}'), true
}
