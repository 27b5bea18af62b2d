// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider/answer"
	"github.com/callvet/callvet/value"
)

// event is one server-sent event.
type event struct {
	name string
	data string
}

// events reads server-sent events (HTML Living Standard, "Server-sent events")
// and hands each to take until it says stop. Lines may end in LF, CRLF or CR. An
// event that the end of the stream cuts off counts when it has data.
func events(r io.Reader, take func(event) (stop bool, err error)) error {
	br := bufio.NewReaderSize(r, 1<<15)
	var e event
	var data []string
	for first := true; ; first = false {
		line, err := readLine(br)
		if first {
			line = strings.TrimPrefix(line, "\uFEFF")
		}
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return err
		}
		field, val, _ := strings.Cut(line, ":")
		val = strings.TrimPrefix(val, " ")
		switch field {
		case "event":
			e.name = val
		case "data":
			data = append(data, val)
		}
		if (line == "" || end) && data != nil {
			e.data = strings.Join(data, "\n")
			if stop, err := take(e); stop || err != nil {
				return err
			}
		}
		if line == "" {
			e, data = event{}, nil
		}
		if end {
			return nil
		}
	}
}

// readLine reads up to LF, CRLF or CR, which it drops.
func readLine(br *bufio.Reader) (string, error) {
	var line []byte
	for {
		c, err := br.ReadByte()
		if err != nil {
			return string(line), err
		}
		if c == '\n' {
			return string(line), nil
		}
		if c == '\r' {
			if n, err := br.Peek(1); err == nil && n[0] == '\n' {
				_, _ = br.ReadByte()
			}
			return string(line), nil
		}
		line = append(line, c)
	}
}

// Stream reads a stream of server-sent events up to its done, hitl or error
// event, or its end. start is when the request went out, for the time to the
// first token. An error event gives a *callvet.Fault.
func Stream(r io.Reader, opts answer.Options, start time.Time, now func() time.Time) (*callvet.Response, error) {
	s := newStream(opts, start, now)
	if err := events(r, s.take); err != nil {
		return nil, err
	}
	return s.finish()
}

// Lines reads the same events as JSON Lines.
func Lines(r io.Reader, opts answer.Options, start time.Time, now func() time.Time) (*callvet.Response, error) {
	s := newStream(opts, start, now)
	br := bufio.NewReaderSize(r, 1<<15)
	for {
		line, err := readLine(br)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if strings.TrimSpace(line) != "" {
			if stop, terr := s.take(event{data: line}); stop || terr != nil {
				if terr != nil {
					return nil, terr
				}
				return s.finish()
			}
		}
		if err != nil {
			return s.finish()
		}
	}
}

// stream builds the turns of an attempt out of its events.
type stream struct {
	opts  answer.Options
	start time.Time
	now   func() time.Time
	resp  callvet.Response
	turn  callvet.Turn // the assistant's turn that is being built
	chunk chunks
	// pieced are the calls of the turn whose arguments come in pieces.
	pieced []int
	seen   int // events that meant something
	// chunked: some event was a chat completion chunk, a form that says when it ends.
	chunked bool
	ended   bool // an event said that the answer is complete
	unread  bool // an event told of a call and was not understood
}

func newStream(opts answer.Options, start time.Time, now func() time.Time) *stream {
	return &stream{opts: opts, start: start, now: now, resp: callvet.Response{Complete: true}}
}

func (s *stream) token() {
	s.seen++
	if s.resp.FirstToken == 0 {
		s.resp.FirstToken = max(s.now().Sub(s.start), 1)
	}
}

// take reads one event; stop is true after the last that counts.
func (s *stream) take(e event) (stop bool, err error) {
	if strings.TrimSpace(e.data) == "[DONE]" {
		s.seen++
		s.ended = true
		return true, nil
	}
	v, perr := value.Parse([]byte(e.data))
	kind := kindOf(e.name, v)
	if perr != nil {
		if kind == "text" && !strings.HasPrefix(strings.TrimSpace(e.data), "{") {
			s.text(e.data)
			return false, nil
		}
		return true, unread("an event", perr)
	}
	if d, ok := v.Get("data"); ok && d.Kind() == value.Object {
		s.meta(v)
		v = d
	}
	switch kind {
	case "text":
		s.text(deltaOf(v))
	case "chunk":
		s.chunk.add(v, s)
	case "call":
		s.call(v)
	case "arguments":
		s.arguments(v)
	case "result":
		s.result(v)
	case "hitl":
		s.pause(v)
		s.ended = true
		return true, nil
	case "error":
		return true, s.fail(v)
	case "whole":
		return false, s.whole(v)
	case "done":
		s.ended = true
		return true, s.done(v)
	default:
		s.strange(v)
		s.meta(v)
	}
	return false, nil
}

// kindOf sorts events by the type in their data, else by their name.
func kindOf(name string, v value.Value) string {
	if v.Kind() == value.Object {
		if t, ok := v.Get("type"); ok && t.Kind() == value.String {
			name = t.Str()
		} else if t, ok := v.Get("event"); ok && t.Kind() == value.String {
			name = t.Str()
		}
		if _, ok := v.Get("choices"); ok {
			return "chunk"
		}
	}
	n := strings.NewReplacer("-", "_", ".", "_", " ", "_").Replace(strings.ToLower(name))
	switch n {
	case "text_delta", "delta", "token", "content_delta", "message_delta", "text_chunk", "chunk", "text", "content":
		return "text"
	case "tool_call", "tool_use", "tool_call_start", "tool_start", "function_call", "toolcall":
		return "call"
	case "tool_call_delta", "tool_call_args", "tool_call_arguments", "tool_call_args_delta", "tool_call_arguments_delta", "tool_input_delta", "tool_use_delta", "input_json_delta",
		"function_call_delta", "function_call_arguments_delta":
		return "arguments"
	case "tool_result", "tool_output", "tool_end", "tool_call_result", "function_result", "function_call_output", "toolresult":
		return "result"
	case "hitl", "interrupt", "pause", "paused", "confirmation", "confirmation_required", "requires_action", "approval", "approval_required":
		return "hitl"
	case "error", "fatal":
		return "error"
	case "done", "complete", "completed", "end", "final", "finish", "result", "response":
		return "done"
	case "", "message":
		if v.Kind() == value.Object && answer.Detect(v) != answer.FormUnreadable {
			return "whole"
		}
		return "text"
	}
	return ""
}

// deltaOf is the text of a delta event in its spellings.
func deltaOf(v value.Value) string {
	if v.Kind() == value.String {
		return v.Str()
	}
	for _, k := range []string{"delta", "text", "content", "token", "value", "message"} {
		if m, ok := v.Get(k); ok {
			if m.Kind() == value.Object {
				return deltaOf(m)
			}
			return m.Str()
		}
	}
	return ""
}

func (s *stream) text(t string) {
	if t == "" {
		return
	}
	s.token()
	s.turn.Content += t
}

func (s *stream) call(v value.Value) {
	c, ok := answer.FindCall(v, s.opts)
	if !ok {
		s.unread = true
		return
	}
	s.token()
	ended := c.Result != nil || c.Error != ""
	s.turn.Calls = append(s.turn.Calls, c)
	if ended {
		s.flush()
		s.resp.Turns = append(s.resp.Turns, answer.ToolTurns([]callvet.Call{c})...)
	}
}

// arguments adds a piece to the arguments of a call that has begun: the one of that id, else
// the last. What the call began with, such as {}, only stands for them.
func (s *stream) arguments(v value.Value) {
	s.token()
	piece := ""
	for _, k := range []string{"delta", "args", "arguments", "partial_json", "input", "text", "content"} {
		if m, ok := v.Get(k); ok && m.Kind() == value.String {
			piece = m.Str()
			break
		}
	}
	at, id := len(s.turn.Calls)-1, answer.IDOf(v)
	for i := range s.turn.Calls {
		if id != "" && s.turn.Calls[i].ID == id {
			at = i
		}
	}
	if at < 0 {
		return
	}
	c := &s.turn.Calls[at]
	if !slices.Contains(s.pieced, at) {
		s.pieced, c.Args, c.ArgsRaw = append(s.pieced, at), nil, ""
	}
	c.ArgsRaw += piece
}

// join reads the arguments that came in pieces.
func (s *stream) join() {
	for _, i := range s.pieced {
		c := &s.turn.Calls[i]
		whole := answer.Native(c.ID, c.Tool, c.ArgsRaw)
		c.Args, c.ArgsRaw, c.Repairs = whole.Args, whole.ArgsRaw, whole.Repairs
	}
	s.pieced = nil
}

// result gives a call its answer: the one of that id, else the first without an
// answer of that name, else the first without an answer.
func (s *stream) result(v value.Value) {
	s.seen++
	s.flush()
	got, _ := answer.FindCall(v, s.opts)
	if got.Result == nil && got.Error == "" {
		got.Result, got.Error = answer.ResultOf(v), answer.ProblemOf(v)
	}
	c := s.pending(answer.IDOf(v), got.Tool)
	if c == nil {
		return
	}
	c.Result, c.Error, c.Status = got.Result, got.Error, callvet.StatusOK
	if got.Error != "" {
		c.Status = callvet.StatusExecErr
	}
	s.resp.Turns = append(s.resp.Turns, answer.ToolTurns([]callvet.Call{*c})...)
}

func (s *stream) pending(id, tool string) *callvet.Call {
	var best *callvet.Call
	rank := 0
	for i := range s.resp.Turns {
		for j := range s.resp.Turns[i].Calls {
			c := &s.resp.Turns[i].Calls[j]
			if c.Result != nil || c.Error != "" {
				continue
			}
			r := 1
			switch {
			case id != "" && c.ID == id:
				return c
			case id != "" && c.ID != "":
				continue
			case tool != "" && c.Tool == tool:
				r = 3
			case tool == "":
				r = 2
			}
			if r > rank {
				best, rank = c, r
			}
		}
	}
	return best
}

// flush closes the assistant's turn.
func (s *stream) flush() {
	s.join()
	s.chunk.flush(s)
	if s.turn.Content == "" && len(s.turn.Calls) == 0 {
		return
	}
	s.turn.Role = callvet.RoleAssistant
	s.resp.Turns = append(s.resp.Turns, s.turn)
	s.turn = callvet.Turn{}
}

func (s *stream) pause(v value.Value) {
	s.seen++
	if c, ok := answer.FindCall(v, s.opts); ok && !s.announced(c) {
		s.turn.Calls = append(s.turn.Calls, c)
	}
	if s.turn.Content == "" {
		s.turn.Content = deltaOf(v)
	}
	s.resp.FinishReason = FinishHITL
	s.meta(v)
}

// announced tells a call that came before its pause from a new one.
func (s *stream) announced(c callvet.Call) bool {
	s.chunk.flush(s)
	list := s.turn.Calls
	if n := len(s.resp.Turns); n > 0 && len(list) == 0 {
		list = s.resp.Turns[n-1].Calls
	}
	for _, o := range list {
		if o.Tool == c.Tool && o.Result == nil && (c.ID == "" || o.ID == "" || o.ID == c.ID) {
			return true
		}
	}
	return false
}

func (s *stream) fail(v value.Value) error {
	msg := deltaOf(v)
	if m, ok := v.Get("error"); ok && msg == "" {
		if msg = m.Str(); msg == "" {
			msg = deltaOf(m)
		}
	}
	if msg == "" {
		msg = string(v.Raw())
	}
	return &callvet.Fault{Kind: callvet.FaultServer, Message: "the agent reports an error: " + clip(msg)}
}

// done reads the closing event: its text and calls count where no event brought them.
func (s *stream) done(v value.Value) error {
	s.seen++
	s.meta(v)
	said, called := s.turn.Content != "", s.called()
	if said && called || v.Kind() != value.Object && v.Kind() != value.String {
		return nil
	}
	r, err := answer.Decode(v, s.opts)
	if err != nil {
		s.strange(v)
		return nil // a closing event need not hold an answer
	}
	s.merge(r, said, called)
	return nil
}

func (s *stream) called() bool {
	s.chunk.flush(s)
	n := len(s.turn.Calls)
	for _, t := range s.resp.Turns {
		n += len(t.Calls)
	}
	return n > 0
}

func (s *stream) merge(r *callvet.Response, said, called bool) {
	for _, t := range r.Turns {
		if called {
			t.Calls = nil
		}
		if said {
			t.Content = ""
		}
		if t.Role == callvet.RoleAssistant && (t.Content != "" || len(t.Calls) > 0) {
			s.turn.Content += t.Content
			s.turn.Calls = append(s.turn.Calls, t.Calls...)
		} else if t.Role == callvet.RoleTool && !called {
			s.flush()
			s.resp.Turns = append(s.resp.Turns, t)
		}
	}
	s.resp.Repairs = append(s.resp.Repairs, r.Repairs...)
}

// whole reads an event without a type: an answer of its own.
func (s *stream) whole(v value.Value) error {
	r, err := answer.Decode(v, s.opts)
	if err != nil {
		var f *callvet.Fault
		if errors.As(err, &f) && f.Kind != callvet.FaultMalformed {
			return f
		}
		s.strange(v)
		s.meta(v)
		return nil
	}
	s.token()
	s.meta(v)
	// A message event may only repeat what the deltas said.
	s.merge(r, s.turn.Content != "" && s.turn.Content == r.Turns[len(r.Turns)-1].Content, false)
	return nil
}

// meta takes usage, model and finish reason from any event.
func (s *stream) meta(v value.Value) {
	m := answer.MetaOf(v)
	if u := m.Usage; u.Known || u.Note != "" { // the last one counts
		u.CostUSD = cmp.Or(u.CostUSD, s.resp.Usage.CostUSD)
		s.resp.Usage = u
	} else if u.CostUSD != nil {
		s.resp.Usage.CostUSD = u.CostUSD
	}
	if m.Model != "" {
		s.resp.Model = m.Model
	}
	if m.FinishReason != "" && s.resp.FinishReason == "" {
		s.resp.FinishReason = m.FinishReason
	}
}

// strange notes an event of an unknown kind that a call stands in.
func (s *stream) strange(v value.Value) { s.unread = s.unread || answer.HoldsCall(v) }

func (s *stream) finish() (*callvet.Response, error) {
	s.flush()
	if s.seen == 0 {
		return nil, &callvet.Fault{Kind: callvet.FaultMalformed, Message: "the stream ended without an event that is known"}
	}
	if len(s.resp.Turns) == 0 {
		s.resp.Turns = []callvet.Turn{{Role: callvet.RoleAssistant}}
	}
	if !s.called() {
		last := &s.resp.Turns[len(s.resp.Turns)-1]
		r := answer.FromText(last.Content, s.opts.Tools)
		last.Calls, s.resp.Unreadable = r.Turns[0].Calls, r.Unreadable
	}
	if !s.called() && !s.resp.Unreadable && s.unread {
		return nil, &callvet.Fault{Kind: callvet.FaultMalformed, Message: "the stream tells of a call, in events that are not known"}
	}
	if s.cutOff() {
		return nil, &callvet.Fault{Kind: callvet.FaultMalformed, Message: "the stream ended before the answer did"}
	}
	s.resp.Repairs = answer.Repairs(s.resp.Turns)
	return &s.resp, nil
}

// cutOff reports whether the stream broke off: it never said that the answer is
// complete, and either its form would have, or a call stops in the middle. Other
// agents may end an answer by closing the stream.
func (s *stream) cutOff() bool {
	if s.ended || s.resp.FinishReason != "" {
		return false
	}
	for i := range s.resp.Turns {
		for j := range s.resp.Turns[i].Calls {
			if s.resp.Turns[i].Calls[j].Malformed() {
				return true
			}
		}
	}
	return s.chunked || s.resp.Unreadable
}

// chunks joins the fragments of chat completion chunks.
type chunks struct {
	calls []fragment
}

type fragment struct {
	id, name string
	args     bytes.Buffer
}

func (c *chunks) add(v value.Value, s *stream) {
	s.seen++
	s.chunked = true
	s.meta(v)
	choice, ok := answer.At(v, "choices.0")
	if !ok {
		return
	}
	s.meta(choice)
	d, ok := choice.Get("delta")
	if !ok {
		d, _ = choice.Get("message")
	}
	if m, ok := d.Get("content"); ok {
		s.text(m.Str())
	}
	if m, ok := d.Get("reasoning_content"); ok {
		s.turn.Reasoning += m.Str()
	}
	list, _ := d.Get("tool_calls")
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		s.token()
		c.fragment(e)
	}
}

func (c *chunks) fragment(e value.Value) {
	at := len(c.calls)
	if i, ok := e.Get("index"); ok {
		if f, ok := i.Float(); ok && f >= 0 && f < 1000 {
			at = int(f)
		}
	}
	for len(c.calls) <= at {
		c.calls = append(c.calls, fragment{})
	}
	f := &c.calls[at]
	if id, ok := e.Get("id"); ok && id.Str() != "" {
		f.id = id.Str()
	}
	if n, ok := answer.At(e, "function.name"); ok {
		f.name += n.Str()
	}
	if a, ok := answer.At(e, "function.arguments"); ok {
		f.args.WriteString(a.Str())
	}
}

func (c *chunks) flush(s *stream) {
	for i := range c.calls {
		f := &c.calls[i]
		if f.name != "" || f.args.Len() > 0 {
			s.turn.Calls = append(s.turn.Calls, answer.Native(f.id, f.name, f.args.String()))
		}
	}
	c.calls = nil
}
