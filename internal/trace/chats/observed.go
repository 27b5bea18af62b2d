// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package chats

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/message"
	"github.com/callvet/callvet/value"
)

func isLangfuse(v value.Value) bool {
	obs := message.First(v, "observations")
	if obs.Kind() != value.Array {
		obs = message.First(message.First(v, "trace"), "observations")
	}
	return obs.Kind() == value.Array
}

// observation is one node of a Langfuse trace.
type observation struct {
	v          value.Value
	start, end time.Time
	kind       string
	// held keeps the input and the output where they were JSON in a string.
	in, out value.Value
}

// readLangfuse reads a trace with its observations. The generations tell what
// was said and called, the tool observations when and with what outcome.
func readLangfuse(v value.Value, s *trace.Sink) {
	tr := message.First(v, "trace")
	if tr.Kind() == value.Invalid {
		tr = v
	}
	list := message.First(v, "observations")
	if list.Kind() != value.Array {
		list = message.First(tr, "observations")
	}
	var obs []observation
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		obs = append(obs, observation{
			v: e, start: stamp(e, "startTime", "start_time"), end: stamp(e, "endTime", "end_time"), kind: message.Str(e, "type"),
			in: held(message.First(e, "input")), out: held(message.First(e, "output")),
		})
	}
	slices.SortStableFunc(obs, func(a, b observation) int { return a.start.Compare(b.start) })
	var a trace.Attempt
	a.Trace.CaseID = name(tr, s, "id")
	a.Trace.Target = message.Str(tr, "name")
	tags := message.First(tr, "tags")
	for t, ok := tags.First(); ok; t, ok = tags.Next(t) {
		a.Tags = append(a.Tags, t.Str())
	}
	if l := message.Float(tr, "latency"); l != nil {
		a.Trace.WallMS = *l * 1000
	}
	a.Trace.Started = stamp(tr, "timestamp")
	generations(obs, &a)
	toolSpans(obs, &a)
	if len(a.Trace.Turns) == 0 {
		a.Trace.Turns = append(textTurns(callvet.RoleUser, held(message.First(tr, "input"))), textTurns(callvet.RoleAssistant, held(message.First(tr, "output")))...)
	}
	scores(tr, &a)
	s.Give(a)
}

func stamp(v value.Value, keys ...string) time.Time {
	text := message.Str(v, keys...)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}

// held is the JSON that a string holds, else the value itself.
func held(v value.Value) value.Value {
	if v.Kind() != value.String {
		return v
	}
	if in, err := value.Parse(v.Bytes()); err == nil {
		return in
	}
	return v
}

func textTurns(role callvet.Role, v value.Value) []callvet.Turn {
	if t := message.Text(v); t != "" {
		return []callvet.Turn{{Role: role, Content: t}}
	}
	return nil
}

// generations takes the messages of the generation that saw most, and the
// outputs of those after it. Wrappers (a generation with another inside the same
// time that says the same) count once.
func generations(obs []observation, a *trace.Attempt) {
	seen := message.Seen{}
	for _, o := range obs {
		if o.kind != "GENERATION" {
			continue
		}
		said := outputs(o.out)
		if inner(obs, message.Str(o.v, "id")) {
			continue
		}
		in := inputs(o.in)
		a.Trace.Turns = append(a.Trace.Turns, seen.Fresh(in)...)
		a.Trace.Turns = append(a.Trace.Turns, seen.Note(said)...)
		a.Trace.Usage.Add(message.Usage(message.First(o.v, "usageDetails", "usage"), o.v, "totalCost", "calculatedTotalCost"))
		if m := message.Str(o.v, "model"); m != "" {
			a.Trace.Model = m
		}
	}
	a.Trace.Turns = message.Attach(message.Merge(a.Trace.Turns))
}

// inner reports whether another generation has this one as its parent.
func inner(obs []observation, id string) bool {
	for _, o := range obs {
		if o.kind == "GENERATION" && id != "" && message.Str(o.v, "parentObservationId") == id {
			return true
		}
	}
	return false
}

func inputs(v value.Value) []callvet.Turn {
	if m := message.First(v, "messages"); m.Kind() == value.Array {
		v = m
	}
	if p := message.Str(v, "prompt"); p != "" {
		return []callvet.Turn{{Role: callvet.RoleUser, Content: p}}
	}
	if v.Kind() == value.Array {
		return turns(v)
	}
	return textTurns(callvet.RoleUser, v)
}

// outputs reads what a generation gave: a response, messages, bare calls, text.
func outputs(v value.Value) []callvet.Turn {
	if out := message.First(v, "output"); out.Kind() == value.Array {
		return message.Merge(turns(out))
	}
	if v.Kind() == value.Object && (has(v, "role") || has(v, "content") || has(v, "tool_calls") || has(v, "message")) {
		return assistant(message.Turns(v))
	}
	if v.Kind() != value.Array {
		return textTurns(callvet.RoleAssistant, v)
	}
	if first, ok := v.First(); ok && (has(first, "toolName") || has(first, "toolCallId")) {
		return []callvet.Turn{{Role: callvet.RoleAssistant, Calls: message.Calls(v)}}
	}
	return turns(v)
}

func assistant(ts []callvet.Turn) []callvet.Turn {
	for i := range ts {
		if ts[i].Role == callvet.RoleUser {
			ts[i].Role = callvet.RoleAssistant
		}
	}
	return ts
}

// toolSpans gives calls the results and times of the tool observations, by name
// and order; one that no generation called becomes a call of its own.
func toolSpans(obs []observation, a *trace.Attempt) {
	var open []*callvet.Call
	for i := range a.Trace.Turns {
		for j := range a.Trace.Turns[i].Calls {
			open = append(open, &a.Trace.Turns[i].Calls[j])
		}
	}
	for _, o := range obs {
		if o.kind != "TOOL" {
			continue
		}
		tool := message.Str(o.v, "name")
		i := slices.IndexFunc(open, func(c *callvet.Call) bool { return c.Tool == tool })
		if i < 0 {
			c := callvet.Call{ID: message.Str(o.v, "id"), Tool: tool}
			c.Args, c.ArgsRaw = message.Args(o.in)
			outcome(&c, o)
			a.Trace.Turns = append(a.Trace.Turns, callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{c}})
			if c.Result != nil {
				a.Trace.Turns = append(a.Trace.Turns, callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: tool, Content: plainText(c.Result)})
			}
			continue
		}
		outcome(open[i], o)
		open = slices.Delete(open, i, i+1)
	}
}

func outcome(c *callvet.Call, o observation) {
	if d := o.end.Sub(o.start); d > 0 {
		c.ExecMS = float64(d.Microseconds()) / 1000
	}
	if e := message.Str(o.v, "error"); e != "" || message.Str(o.v, "level") == "ERROR" {
		c.Status, c.Result = callvet.StatusExecErr, nil
		c.Error = cmp.Or(e, message.Str(o.v, "statusMessage"), "the tool answered with an error")
		return
	}
	if c.Result == nil && o.out.Kind() != value.Invalid {
		c.Result, c.Status = json.RawMessage(o.out.Raw()), callvet.StatusOK
	}
}

// plainText is a JSON string's text, any other JSON as it stands.
func plainText(raw json.RawMessage) string {
	if t := textOf(raw); t != "" {
		return t
	}
	return string(raw)
}

func scores(tr value.Value, a *trace.Attempt) {
	list := message.First(tr, "scores")
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		j := trace.Judged{Judge: message.Str(e, "name"), Score: message.Float(e, "value"), Reason: message.Str(e, "comment")}
		if message.Str(e, "dataType") == "BOOLEAN" && j.Score != nil {
			yes := *j.Score == 1
			j.Pass = &yes
		}
		if j.Judge != "" {
			a.Judged = append(a.Judged, j)
		}
	}
}

// LangSmith gathers runs, which may come one per line, and gives one attempt per
// trace when Flush is called.
type LangSmith struct {
	order []string
	runs  map[string][]value.Value
	size  int64
}

// IsLangSmith reports whether a value is a run.
func IsLangSmith(v value.Value) bool { return has(v, "run_type") && has(v, "inputs") }

// Size is about how many bytes of memory the runs take beside the values they are of.
func (l *LangSmith) Size() int64 { return l.size }

// runSize is what a run takes.
const runSize = 64

// Add takes a run with those inside it.
func (l *LangSmith) Add(v value.Value) {
	if l.runs == nil {
		l.runs = map[string][]value.Value{}
	}
	id := message.Str(v, "trace_id", "id")
	if len(l.runs[id]) == 0 {
		l.order = append(l.order, id)
	}
	l.runs[id] = append(l.runs[id], v)
	l.size += runSize
	kids := message.First(v, "child_runs")
	for k, ok := kids.First(); ok; k, ok = kids.Next(k) {
		l.Add(k)
	}
}

// Flush gives what was gathered.
func (l *LangSmith) Flush(s *trace.Sink) {
	for _, id := range l.order {
		l.give(id, s)
	}
	l.order, l.runs = nil, nil
}

func (l *LangSmith) give(id string, s *trace.Sink) {
	runs := l.runs[id]
	slices.SortStableFunc(runs, func(a, b value.Value) int {
		return cmp.Compare(cmp.Or(message.Str(a, "dotted_order"), message.Str(a, "start_time")), cmp.Or(message.Str(b, "dotted_order"), message.Str(b, "start_time")))
	})
	var a trace.Attempt
	a.Trace.CaseID = id
	var obs []observation
	root := runs[0]
	for _, r := range runs {
		if message.Str(r, "parent_run_id") == "" {
			root = r
		}
		o := observation{v: r, start: stamp(r, "start_time"), end: stamp(r, "end_time"), in: message.First(r, "inputs"), out: message.First(r, "outputs")}
		switch message.Str(r, "run_type") {
		case "llm":
			o.kind = "GENERATION"
		case "tool":
			o.kind, o.in, o.out = "TOOL", toolInput(o.in), toolOutput(o.out)
		}
		obs = append(obs, o)
	}
	a.Trace.Target = message.Str(root, "name")
	a.Trace.Started = stamp(root, "start_time")
	if d := stamp(root, "end_time").Sub(a.Trace.Started); d > 0 {
		a.Trace.WallMS = float64(d.Microseconds()) / 1000
	}
	llmTurns(obs, &a)
	before, after := inputs(unwrapInput(message.First(root, "inputs"))), outputs(unwrapOutput(message.First(root, "outputs")))
	if len(a.Trace.Turns) == 0 {
		a.Trace.Turns = before
		toolSpans(obs, &a)
		a.Trace.Turns = append(a.Trace.Turns, lastWord(after)...)
	} else {
		toolSpans(obs, &a)
	}
	if e := message.Str(root, "error"); e != "" {
		a.Trace.Fault = &callvet.Fault{Kind: callvet.FaultProcess, Message: e}
	}
	s.Give(a)
}

// llmTurns reads the model runs; their messages may stand in lists of lists.
func llmTurns(obs []observation, a *trace.Attempt) {
	for i := range obs {
		if obs[i].kind == "GENERATION" {
			obs[i].in, obs[i].out = unwrapInput(obs[i].in), unwrapOutput(obs[i].out)
		}
	}
	generations(obs, a)
}

func unwrapInput(v value.Value) value.Value {
	m := message.First(v, "messages", "input")
	if first, ok := m.First(); ok && m.Kind() == value.Array && first.Kind() == value.Array {
		return first
	}
	if m.Kind() != value.Invalid {
		return m
	}
	return v
}

func unwrapOutput(v value.Value) value.Value {
	gens := message.First(v, "generations")
	for first, ok := gens.First(); ok; first, ok = gens.First() {
		gens = first
		if gens.Kind() == value.Object {
			break
		}
	}
	if m := message.First(gens, "message"); m.Kind() == value.Object {
		return message.First(m, "kwargs", "data")
	}
	if choices := message.First(v, "choices"); choices.Kind() == value.Array {
		c, _ := choices.First()
		return message.First(c, "message")
	}
	if m := message.First(v, "messages", "output"); m.Kind() != value.Invalid {
		return m
	}
	return v
}

func lastWord(ts []callvet.Turn) []callvet.Turn {
	if n := len(ts); n > 0 && ts[n-1].Role == callvet.RoleAssistant {
		return ts[n-1:]
	}
	return nil
}

// toolInput undoes {"input": "…"}, in which LangChain writes a tool's arguments.
func toolInput(v value.Value) value.Value {
	if in, ok := v.Get("input"); ok && v.Len() == 1 && in.Kind() == value.String {
		if h := held(in); h.Kind() == value.Object {
			return h
		}
	}
	return v
}

func toolOutput(v value.Value) value.Value {
	if out, ok := v.Get("output"); ok && v.Len() == 1 {
		if c := message.First(out, "content"); c.Kind() != value.Invalid {
			return held(c)
		}
		return out
	}
	return v
}
