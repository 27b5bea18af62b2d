// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
)

// Exports are the formats that can be written.
func Exports() []string { return []string{Contract, "otlp", "messages", "adk-evalset"} }

// Exporter writes attempts in one format.
type Exporter struct {
	format string
	w      *bufio.Writer
	own    *trace.Writer
	red    trace.Redactor
	n      int64
	// Lost counts the data that the format cannot contain, by a sentence for a person.
	Lost map[string]int64
}

// Export begins a file. OTLP has one resource per line (as from the collector's file exporter),
// messages have one fine-tuning line per attempt, an ADK evalset is one document. A nil Redactor
// writes everything. The error wraps callvet.ErrInvalid for an unknown format.
func Export(format string, w io.Writer, r trace.Redactor) (*Exporter, error) {
	if !slices.Contains(Exports(), format) {
		return nil, fmt.Errorf("export format %q is not known; known are %s: %w", format, strings.Join(Exports(), ", "),
			callvet.ErrInvalid)
	}
	e := &Exporter{format: format, w: bufio.NewWriter(w), red: r, Lost: map[string]int64{}}
	if format == Contract {
		e.own = trace.NewWriter(w)
	}
	return e, nil
}

// Attempt writes one attempt.
func (e *Exporter) Attempt(a *trace.Attempt) error {
	if e.red != nil {
		redacted := a.Redacted(e.red)
		a = &redacted
	}
	if e.own != nil {
		return e.own.Attempt(a)
	}
	e.lose(a)
	var v any
	switch e.format {
	case "otlp":
		v = e.resource(a)
	case "messages":
		v = chatLine(a)
	default:
		v = e.evalCase(a)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s of %s: %w: %w", e.format, a.Name(), callvet.ErrInvalid, err)
	}
	lead, tail := "", "\n"
	if e.format == "adk-evalset" {
		if tail = ""; e.n == 0 {
			lead = `{"eval_set_id":"callvet","name":"callvet","eval_cases":[` + "\n"
		} else {
			lead = ",\n"
		}
	}
	e.n++
	_, err = e.w.WriteString(lead + string(raw) + tail)
	return wrap(err)
}

// Lines reports whether the format consists of lines, so that flushed data can be read before the
// file is closed.
func (e *Exporter) Lines() bool { return e.format != "adk-evalset" }

// Flush writes buffered data, for a reader that follows the file.
func (e *Exporter) Flush() error {
	if e.own != nil {
		return e.own.Flush()
	}
	return wrap(e.w.Flush())
}

// Close writes the end of the file and flushes.
func (e *Exporter) Close() error {
	if e.own != nil {
		return e.own.Flush()
	}
	if e.format == "adk-evalset" {
		end := "\n]}\n"
		if e.n == 0 {
			end = `{"eval_set_id":"callvet","name":"callvet","eval_cases":[]}` + "\n"
		}
		if _, err := e.w.WriteString(end); err != nil {
			return wrap(err)
		}
	}
	return wrap(e.w.Flush())
}

func wrap(err error) error {
	if err != nil {
		return fmt.Errorf("write traces: %w", err)
	}
	return nil
}

func (e *Exporter) lose(a *trace.Attempt) {
	for what, is := range map[string]bool{
		"the labels of a task": len(a.Labels) > 0 || a.Gold != nil, "the verdicts of judges": len(a.Judged) > 0,
		"the labels of steps": len(a.Steps) > 0, "the calls of a simulated user": len(a.UserCalls) > 0,
		"an infrastructure error":  a.Trace.Fault != nil && e.format != "otlp",
		"the source's own verdict": a.Pass != nil || a.Reward != nil,
	} {
		if is {
			e.Lost[what]++
		}
	}
	for _, c := range a.Trace.Calls() {
		if c.Args == nil && c.ArgsRaw == "" && e.format != "otlp" {
			e.Lost["that a call's arguments were not recorded (written as {})"]++
		}
	}
}

type object = map[string]any

// chatLine is a fine-tuning line: messages and tools.
func chatLine(a *trace.Attempt) any {
	line := object{"messages": chatMessages(a)}
	var tools []any
	for _, t := range a.Tools {
		f := object{"name": t.Name, "description": t.Description}
		if t.Parameters != nil {
			f["parameters"] = t.Parameters
		}
		tools = append(tools, object{"type": "function", "function": f})
	}
	if tools != nil {
		line["tools"] = tools
	}
	line["id"] = a.Trace.CaseID
	return line
}

func chatMessages(a *trace.Attempt) []any {
	var out []any
	n := 0
	var open []string
	for _, t := range slices.Concat(a.Input, a.Trace.Turns) {
		m := object{"role": string(t.Role), "content": t.Content}
		var calls []any
		for _, c := range t.Calls {
			if n++; c.ID == "" {
				c.ID = "call_" + strconv.Itoa(n)
			}
			open = append(open, c.ID)
			calls = append(calls,
				object{"id": c.ID, "type": "function", "function": object{"name": c.Tool, "arguments": payload(c)}})
		}
		if calls != nil {
			m["tool_calls"] = calls
			if t.Content == "" {
				m["content"] = nil
			}
		}
		if t.Role == callvet.RoleTool {
			if t.CallID == "" && len(open) > 0 {
				t.CallID, open = open[0], open[1:]
			}
			m["tool_call_id"] = t.CallID
		}
		out = append(out, m)
	}
	return out
}

// payload is the arguments as text; {} when they are unknown.
func payload(c callvet.Call) string {
	switch {
	case c.ArgsRaw != "":
		return c.ArgsRaw
	case c.Args == nil:
		return "{}"
	}
	return string(c.Args)
}

// evalCase is a case of ADK: an invocation for each turn of the user.
func (e *Exporter) evalCase(a *trace.Attempt) any {
	var conversation []any
	inv := object{}
	var uses, responses []any
	close := func(final string) {
		inv["intermediate_data"] = object{"tool_uses": list(uses), "tool_responses": list(responses)}
		if final != "" {
			inv["final_response"] = content("model", final)
		}
		inv["invocation_id"] = a.Trace.CaseID + "#" + strconv.Itoa(len(conversation)+1)
		conversation = append(conversation, inv)
		inv, uses, responses = object{}, nil, nil
	}
	final := ""
	for _, t := range slices.Concat(a.Input, a.Trace.Turns) {
		switch t.Role {
		case callvet.RoleSystem:
			e.Lost["a system prompt"]++
		case callvet.RoleUser:
			if len(inv) > 0 {
				close(final)
				final = ""
			}
			inv["user_content"] = content("user", t.Content)
		case callvet.RoleAssistant:
			for _, c := range t.Calls {
				uses = append(uses, object{"id": c.ID, "name": c.Tool, "args": args(c)})
			}
			final = t.Content
		case callvet.RoleTool:
			responses = append(responses,
				object{"id": t.CallID, "name": t.Tool, "response": object{"result": t.Content}})
		}
	}
	close(final)
	return object{"eval_id": a.Trace.CaseID, "conversation": conversation}
}

func args(c callvet.Call) json.RawMessage {
	if len(c.Args) > 0 && c.Args[0] == '{' {
		return c.Args
	}
	return json.RawMessage("{}")
}

func list(l []any) []any {
	if l == nil {
		return []any{}
	}
	return l
}

func content(role, text string) any {
	return object{"role": role, "parts": []any{object{"text": text}}}
}

// resource is an attempt as spans of the GenAI conventions: an agent's with the
// messages, and one for each call. Ids are drawn from the attempt's name, so
// that the same attempt gives the same spans.
func (e *Exporter) resource(a *trace.Attempt) any {
	t := &a.Trace
	sum := sha256.Sum256([]byte(a.Name()))
	traceID, root := hex.EncodeToString(sum[:16]), hex.EncodeToString(sum[16:24])
	start := t.Started
	end := start.Add(time.Duration(t.WallMS * float64(time.Millisecond)))
	attrs := []any{
		strAttr("gen_ai.operation.name", "invoke_agent"), strAttr("gen_ai.input.messages", parts(a.Input, "")),
		strAttr("gen_ai.output.messages", parts(t.Turns, t.FinishReason)), strAttr("callvet.task_id", t.CaseID),
	}
	if t.Target != "" {
		attrs = append(attrs, strAttr("gen_ai.agent.name", t.Target))
	}
	if t.Model != "" {
		attrs = append(attrs, strAttr("gen_ai.response.model", t.Model))
	}
	if t.Usage.Known {
		attrs = append(attrs, intAttr("gen_ai.usage.input_tokens", t.Usage.InputTokens),
			intAttr("gen_ai.usage.output_tokens", t.Usage.OutputTokens))
	}
	status := object{}
	if t.Fault != nil {
		status = object{"code": 2, "message": t.Fault.Error()}
		attrs = append(attrs, strAttr("error.type", string(t.Fault.Kind)))
	}
	spans := []any{exportedSpan(traceID, root, "", "invoke_agent "+t.Target, start, end, attrs, status)}
	for i, c := range t.Calls() {
		id := sha256.Sum256([]byte(root + strconv.Itoa(i)))
		spans = append(spans, e.call(traceID, hex.EncodeToString(id[:8]), root, start, c))
		start = start.Add(time.Duration(c.ExecMS * float64(time.Millisecond)))
	}
	return object{"resourceSpans": []any{object{
		"resource":   object{"attributes": []any{strAttr("service.name", "callvet")}},
		"scopeSpans": []any{object{"scope": object{"name": "callvet"}, "spans": spans}},
	}}}
}

func (e *Exporter) call(traceID, id, parent string, start time.Time, c callvet.Call) any {
	attrs := []any{strAttr("gen_ai.operation.name", "execute_tool"), strAttr("gen_ai.tool.name", c.Tool)}
	if c.ID != "" {
		attrs = append(attrs, strAttr("gen_ai.tool.call.id", c.ID))
	}
	if c.Args != nil || c.ArgsRaw != "" {
		attrs = append(attrs, strAttr("gen_ai.tool.call.arguments", payload(c)))
	}
	if c.Result != nil {
		attrs = append(attrs, strAttr("gen_ai.tool.call.result", string(c.Result)))
	}
	status := object{}
	if c.Error != "" {
		kind := "tool_error"
		if c.Status == callvet.StatusTimeout {
			kind = "timeout"
		}
		status = object{"code": 2, "message": c.Error}
		attrs = append(attrs, strAttr("error.type", kind))
	}
	return exportedSpan(traceID, id, parent, "execute_tool "+c.Tool, start,
		start.Add(time.Duration(c.ExecMS*float64(time.Millisecond))), attrs, status)
}

func exportedSpan(traceID, id, parent, name string, start, end time.Time, attrs []any, status any) any {
	s := object{
		"traceId": traceID, "spanId": id, "name": strings.TrimSpace(name), "kind": 1,
		"startTimeUnixNano": nanosText(start), "endTimeUnixNano": nanosText(end),
		"attributes": attrs, "status": status,
	}
	if parent != "" {
		s["parentSpanId"] = parent
	}
	return s
}

// nanos is a time as OTLP writes it; an unknown one is 0.
func nanosText(t time.Time) string {
	if t.Year() < 1970 {
		return "0"
	}
	return strconv.FormatInt(t.UnixNano(), 10)
}

func strAttr(key, v string) any { return object{"key": key, "value": object{"stringValue": v}} }

func intAttr(key string, v int) any {
	return object{"key": key, "value": object{"intValue": strconv.Itoa(v)}}
}

// parts writes turns as the messages of the GenAI conventions; reason is the recorded finish
// reason of the last one.
func parts(turns []callvet.Turn, reason string) string {
	all := []any{}
	for i, t := range turns {
		var ps []any
		if t.Role == callvet.RoleTool {
			ps = append(ps, object{"type": "tool_call_response", "id": t.CallID, "response": t.Content})
		} else if t.Content != "" {
			ps = append(ps, object{"type": "text", "content": t.Content})
		}
		for _, c := range t.Calls {
			p := object{"type": "tool_call", "id": c.ID, "name": c.Tool}
			if c.ArgsRaw != "" {
				p["arguments"] = c.ArgsRaw
			} else if c.Args != nil {
				p["arguments"] = c.Args
			}
			ps = append(ps, p)
		}
		m := object{"role": string(t.Role), "parts": list(ps)}
		if reason != "" && i == len(turns)-1 && t.Role == callvet.RoleAssistant {
			m["finish_reason"] = reason
		}
		all = append(all, m)
	}
	b, err := json.Marshal(all)
	if err != nil { // arguments were checked when they were read
		return "[]"
	}
	return string(b)
}
