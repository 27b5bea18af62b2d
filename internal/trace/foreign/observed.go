// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/score/match"
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
	// held keeps the input and the output if they were JSON in a string.
	in, out value.Value
	// call is the id of the call that a tool answered; failed and passed are recorded in its
	// message.
	call           string
	failed, passed bool
}

// readLangfuse reads a trace with its observations. The generations have the messages and calls,
// the tool observations the times and results.
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
	for _, e := range distinct(list) {
		obs = append(obs, observation{
			v: e, start: stamp(e, "startTime", "start_time"), end: stamp(e, "endTime", "end_time"),
			kind: message.Str(e, "type"),
			in:   message.HeldResult(message.First(e, "input")), out: message.HeldResult(message.First(e, "output")),
			call: attribute(e, toolCallIDKeys()),
		})
		if o := &obs[len(obs)-1]; o.kind != "GENERATION" && (o.call != "" || attribute(e, toolNameKeys()) != "") {
			o.kind = "TOOL"
		}
		if o := &obs[len(obs)-1]; o.kind == "TOOL" {
			o.unwrap()
		}
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
	missing := generations(obs, &a)
	around(&a, message.First(tr, "input"), message.First(tr, "output"), func() { toolSpans(obs, &a, s) })
	uncertain(&a, missing)
	scores(tr, &a)
	s.Give(a)
}

// distinct merges the records of a list that have the same id; the last record has the end.
func distinct(list value.Value) []value.Value {
	var out []value.Value
	at := map[string]int{}
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		out = twins(out, at, e)
	}
	return out
}

// twins adds a record to out, or to the record of the same id. at has the places in out, by id.
func twins(out []value.Value, at map[string]int, e value.Value) []value.Value {
	id := message.Str(e, "id")
	i, again := at[id]
	if id == "" || !again {
		at[id] = len(out)
		return append(out, e)
	}
	was := out[i]
	if stamp(was, "endTime", "end_time").After(stamp(e, "endTime", "end_time")) {
		was, e = e, was
	}
	out[i] = union(was, e)
	return out
}

// attribute is the attribute of an observation or a run under one of the names.
func attribute(v value.Value, names []string) string {
	meta := message.HeldResult(message.First(v, "metadata"))
	for _, in := range []value.Value{
		message.HeldResult(message.First(meta, "attributes")), meta, message.First(v, "attributes"),
		message.First(message.First(v, "extra"), "metadata"),
	} {
		if name := message.Str(in, names...); name != "" {
			return name
		}
	}
	return ""
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

// generations adds the new messages of each generation's input, and its output. Wrappers (a
// generation around another with an answer) count once. missing: there is no generation, or one
// without its answer.
func generations(obs []observation, a *trace.Attempt) (missing bool) {
	var talk dialogue
	n := 0
	for _, o := range obs {
		if o.kind != "GENERATION" {
			continue
		}
		reply := given(o.out)
		if inner(obs, message.Str(o.v, "id")) {
			continue
		}
		n++
		talk.request(message.Said(o.in, callvet.RoleUser), missing)
		talk.answer(reply)
		missing = missing || len(reply) == 0
		a.Trace.FinishReason = o.reason()
		a.Trace.Usage.Add(tokens(o.v))
		if m := message.Str(o.v, "model"); m != "" {
			a.Trace.Model = m
		}
	}
	talk.Turns = mergeTurns(talk.Turns)
	talk.settle()
	a.Input, a.Trace.Turns = talk.Input, talk.Turns
	return missing || n == 0
}

// reason is the finish reason of a generation. A failed generation without a recorded reason
// ended with an error.
func (o *observation) reason() string {
	meta := message.HeldResult(message.First(o.v, "metadata"))
	end := cmp.Or(message.LastFinish(o.out), message.FinishOf(meta))
	attrs := message.HeldResult(message.First(meta, "attributes"))
	for _, k := range []string{"gen_ai.response.finish_reasons", "ai.response.finishReason", "llm.finish_reason"} {
		if r := message.FinishWord(message.First(attrs, k)); end == "" {
			end = r
		}
	}
	failed := message.Str(o.v, "level") == "ERROR" || message.Str(o.v, "error") != "" ||
		message.Str(o.v, "status") == "error"
	if failed && end == "" {
		return "error"
	}
	return end
}

// tokens reads the usage of a generation: Langfuse's details, the counts of a LangSmith run, or
// the counts in its message.
func tokens(v value.Value) callvet.Usage {
	of := message.First(v, "usageDetails", "usage")
	if of.Kind() == value.Invalid && has(v, "prompt_tokens") {
		of = v
	}
	gens := message.First(message.First(v, "outputs"), "generations")
	for of.Kind() == value.Invalid && gens.Kind() == value.Array {
		gens, _ = gens.First()
		of = message.First(message.First(message.First(gens, "message"), "kwargs", "data"), "usage_metadata")
	}
	u := message.UsageOf(of, v, "totalCost", "calculatedTotalCost")
	if d := usageDetails(of); d.InputTokens != u.InputTokens || d.OutputTokens != u.OutputTokens {
		d.CostUSD = u.CostUSD
		u = d
	}
	return u
}

// given returns the output of a model or an agent, with the role assistant.
func given(v value.Value) []callvet.Turn {
	ts := message.Said(v, callvet.RoleAssistant)
	for i := range ts {
		if ts[i].Role == callvet.RoleUser {
			ts[i].Role = callvet.RoleAssistant
		}
	}
	return ts
}

// uncertain marks the calls of an attempt without calls as unknown, if a model's answer is missing.
func uncertain(a *trace.Attempt, missing bool) {
	if missing && a.Trace.Fault == nil && len(a.Trace.Calls()) == 0 {
		a.Trace.Fault = trace.Unknown("an answer of a model is not there")
	}
}

// inner reports whether another generation, with an answer, has this one as its parent.
func inner(obs []observation, id string) bool {
	for _, o := range obs {
		if o.kind == "GENERATION" && id != "" && message.Str(o.v, "parentObservationId") == id &&
			len(given(o.out)) > 0 {
			return true
		}
	}
	return false
}

// toolSpans adds the results and times of tool observations to calls; an observation without a call
// becomes a new call.
func toolSpans(obs []observation, a *trace.Attempt, s *trace.Sink) {
	var open []*callvet.Call
	known := map[string]bool{}
	for i := range a.Trace.Turns {
		for j := range a.Trace.Turns[i].Calls {
			open = append(open, &a.Trace.Turns[i].Calls[j])
			known[a.Trace.Turns[i].Calls[j].ID] = true
		}
	}
	tools := slices.DeleteFunc(slices.Clone(obs), func(o observation) bool { return o.kind != "TOOL" })
	executed := make([]callvet.Call, len(tools))
	for i, o := range tools {
		executed[i] = callvet.Call{ID: o.call, Tool: cmp.Or(attribute(o.v, toolNameKeys()), message.Str(o.v, "name"))}
		executed[i].Args, executed[i].ArgsRaw = message.ArgsOf(o.in)
	}
	_, done := matchCalls(open, executed, func(to *callvet.Call, i int) {
		if remark := differ(to, &executed[i]); remark != "" && !wrapped(tools[i].in) {
			a.Trace.Note(remark)
			s.Lose(trace.Differ)
		}
		outcome(to, tools[i])
	})
	for i, c := range executed {
		if done[i] || c.ID != "" && known[c.ID] { // a second record of a call
			continue
		}
		c.ID = cmp.Or(c.ID, message.Str(tools[i].v, "id"))
		outcome(&c, tools[i])
		a.Trace.Turns = append(a.Trace.Turns, callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{c}})
		if c.Result != nil {
			a.Trace.Turns = append(a.Trace.Turns,
				callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: c.Tool, Content: plainText(c.Result)})
		}
	}
}

// wrapped reports whether arguments are a text in {"input": …}, as from LangChain: they are not the
// executed arguments.
func wrapped(in value.Value) bool {
	return in.Kind() != value.Object || in.Len() == 1 && message.First(in, "input").Kind() == value.String
}

func outcome(c *callvet.Call, o observation) {
	if d := o.end.Sub(o.start); d > 0 {
		c.ExecMS = float64(d.Microseconds()) / 1000
	}
	if e := message.Str(o.v, "error"); e != "" || o.failed || message.Str(o.v, "level") == "ERROR" {
		c.Status, c.Result = callvet.StatusExecErr, nil
		c.Error = cmp.Or(e, message.Str(o.v, "statusMessage"), o.out.Str(), match.NoReason)
		return
	}
	passed := o.passed || match.Passed(o.v)
	if text := o.out.Str(); !passed && c.Result == nil && match.IsError(text) {
		c.Status, c.Error = callvet.StatusExecErr, text
		return
	}
	known := o.out.Kind() != value.Invalid && o.out.Kind() != value.Null
	if known && (c.Result == nil && c.Error == "" || passed && c.Error != "") {
		c.Result, c.Status, c.Error = json.RawMessage(o.out.Raw()), callvet.StatusOK, ""
	}
}

// plainText is a JSON string's text, any other JSON unchanged.
func plainText(raw json.RawMessage) string {
	if t := textOf(raw); t != "" {
		return t
	}
	return string(raw)
}

func scores(tr value.Value, a *trace.Attempt) {
	list := message.First(tr, "scores")
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		j := trace.Judged{
			Judge: message.Str(e, "name"), Score: message.Float(e, "value"),
			Reason: message.Str(e, "comment"),
		}
		if message.Str(e, "dataType") == "BOOLEAN" && j.Score != nil {
			yes := *j.Score == 1
			j.Pass = &yes
		}
		if j.Judge != "" {
			a.Judged = append(a.Judged, j)
		}
	}
}

// LangSmith gathers runs, which may be one per line, and returns one attempt per trace when Flush
// is called.
type LangSmith struct {
	order []string
	runs  map[string][]value.Value
	size  int64
}

// IsLangSmith reports whether a value is a run.
func IsLangSmith(v value.Value) bool { return has(v, "run_type") && has(v, "inputs") }

// Size is the approximate memory of the runs in bytes, without their values.
func (l *LangSmith) Size() int64 { return l.size }

// runSize is the memory of a run.
const runSize = 64

// Add adds a run with its inner runs.
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

// Flush returns the gathered attempts.
func (l *LangSmith) Flush(s *trace.Sink) {
	for _, id := range l.order {
		l.give(id, s)
	}
	l.order, l.runs = nil, nil
}

func (l *LangSmith) give(id string, s *trace.Sink) {
	var runs []value.Value
	at := map[string]int{}
	for _, r := range l.runs[id] {
		runs = twins(runs, at, r)
	}
	slices.SortStableFunc(runs, func(a, b value.Value) int {
		return cmp.Compare(cmp.Or(message.Str(a, "dotted_order"), message.Str(a, "start_time")),
			cmp.Or(message.Str(b, "dotted_order"), message.Str(b, "start_time")))
	})
	var a trace.Attempt
	a.Trace.CaseID = id
	var obs []observation
	root := runs[0]
	for _, r := range runs {
		if message.Str(r, "parent_run_id") == "" {
			root = r
		}
		o := observation{
			v: r, start: stamp(r, "start_time"), end: stamp(r, "end_time"), in: message.First(r, "inputs"),
			out: message.First(r, "outputs"),
		}
		switch message.Str(r, "run_type") {
		case "llm":
			o.kind = "GENERATION"
		case "tool":
			o.kind, o.in = "TOOL", toolInput(o.in)
			if o.unwrap(); o.call == "" {
				o.call = attribute(r, toolCallIDKeys())
			}
			if out := message.First(o.out, "output"); o.out.Len() == 1 && out.Kind() != value.Invalid {
				o.out = out
			}
		}
		obs = append(obs, o)
	}
	a.Trace.Target = message.Str(root, "name")
	a.Trace.Started = stamp(root, "start_time")
	if d := stamp(root, "end_time").Sub(a.Trace.Started); d > 0 {
		a.Trace.WallMS = float64(d.Microseconds()) / 1000
	}
	missing := generations(obs, &a)
	around(&a, message.First(root, "inputs"), message.First(root, "outputs"), func() { toolSpans(obs, &a, s) })
	if uncertain(&a, missing); message.Str(root, "error") != "" {
		e := message.Str(root, "error")
		a.Trace.Fault = &callvet.Fault{Kind: callvet.FaultProcess, Message: e}
	}
	s.Give(a)
}

// around puts the input of a whole trace before the calls of its tools, and its output after them,
// if no generation has content.
func around(a *trace.Attempt, in, out value.Value, tools func()) {
	if len(a.Input)+len(a.Trace.Turns) > 0 {
		tools()
		return
	}
	var talk dialogue
	talk.request(message.Said(in, callvet.RoleUser), false)
	talk.settle()
	a.Input, a.Trace.Turns = talk.Input, talk.Turns
	tools()
	a.Trace.Turns = append(a.Trace.Turns, lastWord(given(out))...)
}

func lastWord(ts []callvet.Turn) []callvet.Turn {
	if n := len(ts); n > 0 && ts[n-1].Role == callvet.RoleAssistant {
		return ts[n-1:]
	}
	return nil
}

// toolInput unwraps {"input": "…"}, LangChain's form of a tool's arguments.
func toolInput(v value.Value) value.Value {
	if in, ok := v.Get("input"); ok && v.Len() == 1 && in.Kind() == value.String {
		if h := message.HeldResult(in); h.Kind() == value.Object {
			return h
		}
	}
	return v
}

// unwrap removes the envelopes of a tool's result, {"output": …} and a LangChain message. The
// latter has the call's id, and may record whether the tool failed.
func (o *observation) unwrap() {
	in := o.out
	if out := message.First(in, "output"); in.Len() == 1 && out.Kind() == value.Object {
		in = out
	}
	if k := message.First(in, "kwargs"); k.Kind() == value.Object {
		in = k
	}
	c := message.First(in, "content")
	if c.Kind() == value.Invalid || message.First(in, "tool_call_id").Kind() == value.Invalid {
		return
	}
	status := message.Str(in, "status")
	o.out, o.call = message.HeldResult(c), cmp.Or(o.call, message.Str(in, "tool_call_id"))
	o.failed, o.passed = status == "error", status == "success"
}

// usageDetails is message.UsageOf for an object that may count tokens of a cache and of reasoning
// separately from input and output, as Langfuse does. The total shows whether it does.
func usageDetails(v value.Value) callvet.Usage {
	u := message.UsageOf(v, value.Value{})
	in, out, cache := 0, 0, 0
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		switch n := message.Int(v, e.Key()); {
		case strings.HasPrefix(e.Key(), "input"):
			in += n
		case strings.HasPrefix(e.Key(), "output"):
			out += n
		case strings.HasPrefix(e.Key(), "cache_"):
			cache += n
		}
	}
	total := message.Int(v, "total")
	if total == in+cache+out {
		in += cache
	}
	if total > 0 && total != u.InputTokens+u.OutputTokens && total == in+out {
		u = callvet.Usage{InputTokens: in, OutputTokens: out, Known: true}
		u.CachedTokens = message.Int(v, "input_cached_tokens", "input_cache_read", "cache_read_input_tokens")
		u.ReasoningTokens = message.Int(v, "output_reasoning_tokens", "output_reasoning")
		u.CacheWriteTokens = message.Int(v, "input_cache_creation", "input_cache_write", "cache_creation_input_tokens",
			"cache_write_input_tokens")
	}
	return u
}
