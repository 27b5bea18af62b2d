// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/callvet/callvet"
)

// Writer writes records as lines, unchanged: redact them before (Attempt.Redacted). Not safe for
// concurrent use.
type Writer struct {
	w   *bufio.Writer
	buf []byte
}

// NewWriter writes to w. Flush ends it.
func NewWriter(w io.Writer) *Writer { return &Writer{w: bufio.NewWriterSize(w, 64<<10)} }

// appendRaw appends the arguments as they were emitted.
func (s *Step) appendRaw(b []byte) []byte {
	switch {
	case s.ArgsRaw != "":
		return AppendQuoted(b, s.ArgsRaw)
	case s.Args != nil:
		return AppendQuoted(b, string(oneLine(s.Args)))
	}
	return append(b, `null`...)
}

// Step writes a step with every member of the contract in its order. The error
// wraps callvet.ErrInvalid when the step has no task, no tool, or a value that
// is not JSON; nothing is written then.
func (w *Writer) Step(s *Step) error {
	b, err := s.append(w.buf[:0])
	if err != nil {
		return err
	}
	return w.line(b)
}

// append appends the step as its line, without a line end.
func (s *Step) append(b []byte) ([]byte, error) {
	if s.TaskID == "" || s.Tool == "" {
		return nil, fmt.Errorf("write step %q: a step needs a task id and a tool: %w", s.CallID, callvet.ErrInvalid)
	}
	for _, v := range []json.RawMessage{s.Args, s.Result, s.Error} {
		if v != nil && !s.Parsed.IsOf(v) && !json.Valid(v) {
			return nil, fmt.Errorf("write step %q of task %q: a value is not JSON: %w", s.CallID, s.TaskID,
				callvet.ErrInvalid)
		}
	}
	b = AppendQuoted(append(b, `{"task_id":`...), s.TaskID)
	if s.Attempt > 0 {
		b = strconv.AppendInt(append(b, `,"attempt":`...), int64(s.Attempt), 10)
	}
	if s.Target != "" {
		b = AppendQuoted(append(b, `,"target":`...), s.Target)
	}
	b = append(b, `,"turn_id":`...)
	if s.TurnID < 0 {
		b = append(b, `null`...)
	} else {
		b = strconv.AppendInt(b, int64(s.TurnID), 10)
	}
	b = quotedOrNull(append(b, `,"call_id":`...), s.CallID)
	b = AppendQuoted(append(b, `,"tool":`...), JoinTool(s.Tool, s.ToolVersion))
	b = jsonOrNull(append(b, `,"args":`...), s.Args)
	b = s.appendRaw(append(b, `,"args_raw":`...))
	b = number(append(b, `,"accept_time_ms":`...), s.AcceptMS)
	if s.StartMS != nil {
		b = number(append(b, `,"start_ms":`...), s.StartMS)
	}
	b = jsonOrNull(append(b, `,"result":`...), s.Result)
	b = jsonOrNull(append(b, `,"error":`...), s.Error)
	b = number(append(b, `,"latency_ms":{"queue":`...), s.QueueMS)
	b = number(append(b, `,"exec":`...), s.ExecMS)
	b = quotedOrNull(append(b, `},"status":`...), string(s.Status))
	if s.Env != "" {
		b = AppendQuoted(append(b, `,"env":`...), string(s.Env))
	}
	if len(s.Guard) > 0 {
		raw, err := json.Marshal(s.Guard)
		if err != nil {
			return nil, invalid(fmt.Sprintf("write step %q of task %q", s.CallID, s.TaskID), err)
		}
		b = append(append(b, `,"guard":`...), raw...)
	}
	if s.Gold != nil {
		b = AppendGold(append(b, `,"gold":`...), s.Gold)
	}
	b = append(b, `,"tags":[`...)
	for i, t := range s.Tags {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendQuoted(b, t)
	}
	b = append(b, ']')
	b = namedSlices(b, s.Fields)
	if s.Corrects {
		b = append(b, `,"corrects":true`...)
	}
	return append(b, '}'), nil
}

// AppendGold appends the label of a step as the JSON object that its record has.
func AppendGold(b []byte, g *Gold) []byte {
	b = append(b, '{')
	n := len(b)
	if g.Needed != nil {
		b = append(strconv.AppendBool(append(b, `"needed":`...), *g.Needed), ',')
	}
	if g.Tool != "" {
		b = append(AppendQuoted(append(b, `"tool":`...), g.Tool), ',')
	}
	if g.Args != nil {
		b = append(jsonOrNull(append(b, `"args":`...), g.Args), ',')
	}
	if g.Params != nil {
		b = append(jsonOrNull(append(b, `"params":`...), g.Params), ',')
	}
	if g.Scoring != nil {
		b = append(jsonOrNull(append(b, `"scoring":`...), g.Scoring), ',')
	}
	if g.Result != nil {
		b = append(jsonOrNull(append(b, `"result":`...), g.Result), ',')
	}
	if g.ResultCheck != "" {
		b = append(AppendQuoted(append(b, `"result_check":`...), g.ResultCheck), ',')
	}
	if len(b) > n {
		b = b[:len(b)-1]
	}
	return append(b, '}')
}

func namedSlices(b []byte, f map[string]string) []byte {
	if len(f) == 0 {
		return b
	}
	names := make([]string, 0, len(f))
	for k := range f {
		names = append(names, k)
	}
	slices.Sort(names)
	b = append(b, `,"fields":{`...)
	for i, k := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendQuoted(append(AppendQuoted(b, k), ':'), f[k])
	}
	return append(b, '}')
}

// Task writes a task record. The error wraps callvet.ErrInvalid when it has no id.
func (w *Writer) Task(t *Task) error {
	if t.TaskID == "" {
		return fmt.Errorf("write task record: a task needs an id: %w", callvet.ErrInvalid)
	}
	b := strconv.AppendInt(append(w.buf[:0], `{"type":"task","version":`...), Version, 10)
	m := object{b: AppendQuoted(append(b, `,"task_id":`...), t.TaskID)}
	m.task(t)
	if m.err != nil {
		return invalid(fmt.Sprintf("write task %q", t.TaskID), m.err)
	}
	b = m.b
	for _, part := range []struct {
		name string
		m    []Message
	}{{`,"input":`, t.Input}, {`,"conversation":`, t.Conversation}} {
		if len(part.m) == 0 {
			continue
		}
		raw, err := json.Marshal(part.m)
		if err != nil {
			return invalid(fmt.Sprintf("write task %q", t.TaskID), err)
		}
		b = append(append(b, part.name...), raw...)
	}
	return w.line(append(b, '}'))
}

// Flush writes the buffered data.
func (w *Writer) Flush() error {
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("write traces: %w", err)
	}
	return nil
}

func (w *Writer) line(b []byte) error {
	w.buf = append(b, '\n')
	if _, err := w.w.Write(w.buf); err != nil {
		return fmt.Errorf("write traces: %w", err)
	}
	return nil
}

// jsonOrNull appends a JSON value on one line; nil is null.
func jsonOrNull(b []byte, v json.RawMessage) []byte {
	if v == nil {
		return append(b, `null`...)
	}
	return append(b, oneLine(v)...)
}

// oneLine removes the line ends of a JSON value, where they can only be white space.
func oneLine(v json.RawMessage) json.RawMessage {
	if bytes.IndexByte(v, '\n') < 0 && bytes.IndexByte(v, '\r') < 0 {
		return v
	}
	var one bytes.Buffer
	if err := json.Compact(&one, v); err != nil { // checked before
		return json.RawMessage("null")
	}
	return one.Bytes()
}

func number(b []byte, f *float64) []byte {
	if f == nil {
		return append(b, `null`...)
	}
	return strconv.AppendFloat(b, *f, 'f', -1, 64)
}

func quotedOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, `null`...)
	}
	return AppendQuoted(b, s)
}

// AppendQuoted appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b, i = utf8.AppendRune(b, r), i+n
			continue
		}
		i++
	}
	return append(b, '"')
}
