// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
)

// object writes the members of a JSON object in the same form as encoding/json, without empty ones.
// A run writes a record for each attempt when it is summed up; encoding/json would double the time
// of that (measured).
type object struct {
	b   []byte
	err error
}

// task writes the members of a task record in their order, except its id and its messages.
func (m *object) task(t *Task) {
	m.whole("attempt", t.Attempt)
	m.text("target", t.Target)
	m.text("model", t.Model)
	m.text("goal", t.Goal)
	m.text("as_of", t.AsOf)
	m.text("outcome", string(t.Outcome))
	m.text("termination", string(t.End))
	m.text("finish_reason", t.FinishReason)
	m.text("reason", string(t.Reason))
	m.texts("notes", t.Notes)
	m.texts("tags", t.Tags)
	m.fields(t.Fields)
	if t.Answer != nil {
		m.quoted("final_answer", *t.Answer)
	}
	m.usage(t.Usage)
	m.number("cost_usd", t.CostUSD)
	m.number("wall_ms", t.WallMS)
	if !t.Started.IsZero() {
		m.other("started", t.Started)
	}
	if t.Steps != nil {
		m.integer("steps", *t.Steps)
	}
	if t.Fault != nil {
		m.other("fault", t.Fault)
	}
	if t.Pass != nil {
		m.name("pass")
		m.b = strconv.AppendBool(m.b, *t.Pass)
	}
	m.number("reward", t.Reward)
	m.text("asks", t.Asks)
	m.texts("expected_tools", t.Expects)
	m.scored(t.Scored)
	m.text("format", string(t.Format))
	m.whole("requests", t.Requests)
	m.text("tool_choice", t.ToolChoice)
	m.texts("omitted", t.Omitted)
	m.number("first_token_ms", t.FirstTokenMS)
	m.yes("cached", t.Cached)
	m.yes("unbilled", t.Unbilled)
	m.yes("floor", t.Floor)
	m.yes("repeatable", t.Repeatable)
	m.yes("skipped", t.Skipped)
	m.yes("corrects", t.Corrects)
	if t.Decision != nil {
		m.other("decision", t.Decision)
	}
	if len(t.Judged) > 0 {
		m.other("judged", t.Judged)
	}
	if len(t.Labels) > 0 {
		m.other("labels", t.Labels)
	}
	m.gold(t.Gold)
	if t.Safety != nil {
		m.other("safety", t.Safety)
	}
	if len(t.UserCalls) > 0 {
		m.other("user_calls", t.UserCalls)
	}
	if len(t.Foreign) > 0 {
		m.other("foreign", t.Foreign)
	}
}

// AppendSlices appends an object with the tags and the fields of the task, as its record has them.
func (t *Task) AppendSlices(b []byte) []byte {
	m := object{b: append(b, '{')}
	m.texts("tags", t.Tags)
	m.fields(t.Fields)
	m.close()
	return m.b
}

func (m *object) scored(s *Scored) {
	if s == nil {
		return
	}
	m.open("scored")
	m.text("class", string(s.Class))
	m.text("reason", s.Reason)
	m.text("plan", s.Plan)
	m.whole("rules", s.Rules)
	if len(s.Scores) > 0 {
		m.open("scores")
		for _, name := range slices.Sorted(maps.Keys(s.Scores)) {
			v := s.Scores[name]
			m.number(name, &v)
		}
		m.close()
	}
	m.texts("unknown", s.Unknown)
	if len(s.NotEvaluated) > 0 {
		m.other("not_evaluated", s.NotEvaluated)
	}
	if len(s.Signs) > 0 {
		m.name("signs")
		m.b = append(m.b, '[')
		for i := range s.Signs {
			m.item('{')
			m.quoted("code", s.Signs[i].Code)
			m.yes("shown", s.Signs[i].Shown)
			m.texts("why", s.Signs[i].Why)
			m.close()
		}
		m.b = append(m.b, ']')
	}
	m.texts("layers", s.Layers)
	if len(s.Routes) > 0 {
		m.other("routes", s.Routes)
	}
	if len(s.Tools) > 0 {
		m.other("tools", s.Tools)
	}
	m.close()
}

// gold writes the needed calls of a task.
func (m *object) gold(g *TaskGold) {
	if g == nil {
		return
	}
	if g.Steps == nil || len(g.Facts) > 0 || slices.ContainsFunc(g.Steps,
		func(s GoldStep) bool { return s.By != "" || s.Compare != nil }) {
		m.other("gold", g)
		return
	}
	m.open("gold")
	m.name("steps")
	m.b = append(m.b, '[')
	for i := range g.Steps {
		m.item('{')
		m.quoted("tool", g.Steps[i].Tool)
		if g.Steps[i].Args != nil {
			m.other("args", g.Steps[i].Args)
		}
		m.close()
	}
	m.b = append(m.b, ']')
	m.texts("postconditions", g.Checks)
	m.close()
}

func (m *object) usage(u *Usage) {
	if u == nil {
		return
	}
	m.open("usage")
	if u.Input != nil {
		m.integer("input_tokens", *u.Input)
	}
	if u.Output != nil {
		m.integer("output_tokens", *u.Output)
	}
	m.whole("reasoning_tokens", u.Reasoning)
	m.whole("cached_tokens", u.Cached)
	m.whole("cache_write_tokens", u.Written)
	m.close()
}

// name begins a member.
func (m *object) name(name string) {
	m.comma()
	m.b = append(m.string(name), ':')
}

// comma writes a comma before the next value, if needed.
func (m *object) comma() {
	if n := len(m.b); n > 0 && m.b[n-1] != '{' && m.b[n-1] != '[' {
		m.b = append(m.b, ',')
	}
}

func (m *object) open(name string) {
	m.name(name)
	m.b = append(m.b, '{')
}

func (m *object) close() { m.b = append(m.b, '}') }

// item begins an item of a list with a byte.
func (m *object) item(with byte) {
	m.comma()
	m.b = append(m.b, with)
}

func (m *object) quoted(name, s string) {
	m.name(name)
	m.b = m.string(s)
}

func (m *object) text(name, s string) {
	if s != "" {
		m.quoted(name, s)
	}
}

func (m *object) texts(name string, list []string) {
	if len(list) == 0 {
		return
	}
	m.name(name)
	m.b = append(m.b, '[')
	for _, s := range list {
		m.comma()
		m.b = m.string(s)
	}
	m.b = append(m.b, ']')
}

func (m *object) fields(f map[string]string) {
	if len(f) == 0 {
		return
	}
	m.open("fields")
	for _, name := range slices.Sorted(maps.Keys(f)) {
		m.quoted(name, f[name])
	}
	m.close()
}

func (m *object) integer(name string, n int) {
	m.name(name)
	m.b = strconv.AppendInt(m.b, int64(n), 10)
}

func (m *object) whole(name string, n int) {
	if n != 0 {
		m.integer(name, n)
	}
}

func (m *object) yes(name string, v bool) {
	if v {
		m.name(name)
		m.b = append(m.b, "true"...)
	}
}

func (m *object) number(name string, f *float64) {
	if f == nil {
		return
	}
	if x := math.Abs(*f); x != 0 && (x < 1e-6 || !(x < 1e21)) { // with an exponent, or none at all
		m.other(name, *f)
		return
	}
	m.name(name)
	m.b = strconv.AppendFloat(m.b, *f, 'f', -1, 64)
}

// string appends a string. Almost no string has a byte that must be escaped.
func (m *object) string(s string) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0x20, c >= 0x7F, c == '"', c == '\\', c == '<', c == '>', c == '&':
			return append(m.b, m.encoded(s)...)
		}
	}
	return append(append(append(m.b, '"'), s...), '"')
}

// other writes a value of any type.
func (m *object) other(name string, v any) {
	m.name(name)
	m.b = append(m.b, m.encoded(v)...)
}

func (m *object) encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil && m.err == nil {
		m.err = err
	}
	return b
}
