// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"cmp"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

// Entries gathers the entries of a log: the entries of one session make one attempt. The zero
// value has no form; the first entry sets it.
type Entries struct {
	form     *entryForm
	sessions []*session
	by       map[string]*session
	entries  int64
}

// entryForm is a form of a log with several entries per attempt.
type entryForm struct {
	name string
	// is reports whether an entry can begin such a log.
	is func(v value.Value) bool
	// key names the session of an entry; "" means the session of the entry before it.
	key func(v value.Value) string
	// read adds an entry to its session; end completes the session after all entries; nil: nothing
	// to do.
	read func(v value.Value, x *session, s *trace.Sink)
	end  func(x *session)
}

// session is the attempt of a session's entries.
type session struct {
	trace.Attempt
	// messages are not yet turns: pieces of one message are joined at the end.
	messages []value.Value
	// ended: the log records the end of this session. streamed: logs of this form record it.
	ended, streamed bool
	failed          map[string]string // why calls failed, by their ids
}

func entryForms() []entryForm {
	return []entryForm{
		{"claude-code", isClaude, claudeKey, readClaude, endClaude},
		{"codex", isCodex, nil, readCodex, nil},
		{"gemini-stream", isGeminiStream, sessionKey("session_id"), readGeminiStream, nil},
		{
			"opencode", func(v value.Value) bool { return has(v, "sessionID") && has(v, "part") }, sessionKey("sessionID"),
			readOpenCode, nil,
		},
		{"autogen", isAutoGen, nil, readAutoGen, nil},
		{"smolagents", isSmolagents, nil, readSmolagents, nil},
		{
			"openai-run-steps", func(v value.Value) bool { return message.Str(v, "object") == "thread.run.step" },
			sessionKey("run_id"), readRunStep, endRun,
		},
		{"pydantic-ai", func(v value.Value) bool {
			return has(v, "parts") && slices.Contains([]string{"request", "response"}, message.Str(v, "kind"))
		}, nil, readPydantic, nil},
	}
}

func sessionKey(name string) func(value.Value) string {
	return func(v value.Value) string { return message.Str(v, name) }
}

// EntryNames are the names of the forms.
func EntryNames() []string {
	var names []string
	for _, f := range entryForms() {
		names = append(names, f.name)
	}
	return names
}

// EntryForm is the name of the form that an entry, or a list of entries, begins; "" for none.
func EntryForm(v value.Value) string {
	if f := formOf(v); f != nil {
		return f.name
	}
	return ""
}

func formOf(v value.Value) *entryForm {
	e := v
	if list := message.First(v, "data"); list.Kind() == value.Array {
		e = list
	}
	if e.Kind() == value.Array {
		e, _ = e.First()
	}
	if e.Kind() != value.Object {
		return nil
	}
	for _, f := range entryForms() {
		if f.is(e) {
			return &f
		}
	}
	return nil
}

// Begun reports whether there are entries: the rest of the file then belongs to them.
func (l *Entries) Begun() bool { return l.form != nil }

// Add adds an entry or a list of entries.
func (l *Entries) Add(v value.Value, s *trace.Sink) {
	if l.form == nil {
		if l.form = formOf(v); l.form == nil {
			return
		}
		l.by = map[string]*session{}
	}
	if list := message.First(v, "data"); list.Kind() == value.Array {
		v = list
	}
	if v.Kind() != value.Array {
		l.entry(v, s)
		return
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		l.entry(e, s)
	}
}

func (l *Entries) entry(v value.Value, s *trace.Sink) {
	key := ""
	if l.form.key != nil {
		key = l.form.key(v)
	}
	l.entries++
	x := l.by[key]
	switch n := len(l.sessions); {
	case key == "" && n > 0:
		x = l.sessions[n-1]
	case x == nil && n == 1 && l.sessions[0].Trace.CaseID == "": // it began with entries without a session
		x = l.sessions[0]
		x.Trace.CaseID, l.by[key] = key, x
	}
	if x == nil {
		x = &session{failed: map[string]string{}}
		x.Trace.CaseID = key
		l.by[key], l.sessions = x, append(l.sessions, x)
	}
	l.form.read(v, x, s)
}

// Size is the memory of the gathered data, without its values.
func (l *Entries) Size() int64 { return 512 * l.entries }

// Flush returns the sessions.
func (l *Entries) Flush(s *trace.Sink) {
	for _, x := range l.sessions {
		t := &x.Trace
		t.Turns = append(t.Turns, messages(x.messages)...)
		if l.form.end != nil {
			l.form.end(x)
		}
		for i := range t.Turns {
			if why, failed := x.failed[t.Turns[i].CallID]; failed && t.Turns[i].Role == callvet.RoleTool {
				t.Turns[i].Raw, t.Turns[i].Content = message.FailedResult(), cmp.Or(t.Turns[i].Content, why)
			}
		}
		t.Turns = message.Attach(mergeTurns(t.Turns))
		if x.streamed && !x.ended && t.Fault == nil && len(t.Calls()) == 0 {
			t.Fault = trace.Unknown("the stream ends before its result")
		}
		s.Give(x.Attempt)
	}
	l.sessions = nil
}

// messages converts messages to turns; it joins the pieces of one message.
func messages(list []value.Value) []callvet.Turn {
	last := map[string]int{}
	for i, m := range list {
		last[message.Str(m, "id")] = i
	}
	var out []callvet.Turn
	for i, m := range list {
		if id := message.Str(m, "id"); id != "" && last[id] > i {
			out = append(out, message.PieceTurns(m)...)
		} else {
			out = append(out, message.Turns(m)...)
		}
	}
	return out
}

func (x *session) say(t ...callvet.Turn) { x.Trace.Turns = append(x.Trace.Turns, t...) }

// call adds a call that the model made, with its text before it.
func (x *session) call(id, tool string, args value.Value) {
	c := callvet.Call{ID: id, Tool: tool}
	c.Args, c.ArgsRaw = message.ArgsOf(args)
	x.say(callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{c}})
}

// result adds the result of a call; failed: the log records a failure.
func (x *session) result(id, text string, failed bool) {
	t := callvet.Turn{Role: callvet.RoleTool, CallID: id, Content: text, Raw: message.PassedResult()}
	if failed {
		t.Raw = message.FailedResult()
	}
	x.say(t)
}

// text is a value as a tool's result.
func text(v value.Value) string {
	if v.Kind() == value.Invalid || v.Kind() == value.Null {
		return ""
	}
	if t := message.Text(v); t != "" || v.Kind() == value.String {
		return t
	}
	return string(v.Raw())
}
