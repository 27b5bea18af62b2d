// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

// logs reads log records. Records of the GenAI conventions are events of spans.
func (g *Gatherer) logs(list value.Value, s *trace.Sink) {
	for r, ok := list.First(); ok; r, ok = list.Next(r) {
		res := attributes(message.First(message.First(r, "resource"), "attributes"))
		scopes := message.First(r, "scopeLogs", "scope_logs")
		for sc, ok := scopes.First(); ok; sc, ok = scopes.Next(sc) {
			all := message.First(sc, "logRecords", "log_records")
			for e, ok := all.First(); ok; e, ok = all.Next(e) {
				g.record(e, res["service.name"].Str(), s)
			}
		}
	}
}

func (g *Gatherer) record(e value.Value, service string, s *trace.Sink) {
	r := record{
		span: span{trace: hexID(e, "traceId", "trace_id"), id: hexID(e, "spanId", "span_id"), service: service},
		at:   unixNanos(message.First(e, "timeUnixNano", "time_unix_nano")),
		saw:  unixNanos(message.First(e, "observedTimeUnixNano", "observed_time_unix_nano")),
		event: event{
			name:  message.Str(e, "eventName", "event_name"),
			attrs: attributes(message.First(e, "attributes")),
		},
	}
	r.text = fmt.Sprintf("%d %d %s %s %s", r.at, r.saw, r.event.name, message.First(e, "attributes").Raw(),
		message.First(e, "body").Raw())
	r.event.name = cmp.Or(r.event.name, r.event.attrs["event.name"].Str())
	r.event.body, _ = anyValue(message.First(e, "body"))
	switch {
	case !strings.HasPrefix(r.event.name, "gen_ai.") && !strings.Contains(strings.ToLower(r.event.name), "tool"):
		s.Lose("a log record that is no event of a model or a tool")
	case r.span.trace == "" || r.span.id == "":
		s.Lose("an event of a model in a log record that names no span")
	case g.size <= maxSpans*spanSize:
		g.records = append(g.records, r)
		g.size += spanSize + eventSize + int64(len(r.text)) + attributeSize*int64(len(r.event.attrs))
	}
}

// settle adds log records to their spans. A span that is not in the file is made from its records,
// with their time span.
func (g *Gatherer) settle(s *trace.Sink) {
	for id, list := range g.spans {
		g.spans[id] = once(list, s)
	}
	slices.SortStableFunc(g.records,
		func(a, b record) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.saw, b.saw)) })
	byID := map[[2]string]*span{}
	if len(g.records) > 0 {
		for _, list := range g.spans {
			for _, sp := range list {
				byID[[2]string{sp.trace, sp.id}] = sp
			}
		}
	}
	seen := map[[2]string]map[string]bool{}
	for _, r := range g.records {
		key := [2]string{r.span.trace, r.span.id}
		if seen[key][r.text] {
			s.Lose(repetition)
			continue
		}
		if seen[key] == nil {
			seen[key] = map[string]bool{}
		}
		seen[key][r.text] = true
		if byID[key] == nil {
			sp := r.span
			sp.start = r.at
			byID[key] = g.put(sp)
		}
		if sp := byID[key]; sp != nil {
			sp.events = append(sp.events, r.event)
			sp.end = max(sp.end, r.at)
		}
	}
	g.records = nil
}

// repetition is the remark about repeated data: exporters resend unconfirmed data, and the same
// telemetry may arrive on two ways.
const repetition = "a repetition of a span or a log record"

// once merges the spans with the same id: some SDKs send a span at its start and again at its end,
// and exporters resend unconfirmed data. Two spans of different work stay two.
func once(list []*span, s *trace.Sink) []*span {
	at := map[string][]int{}
	out := list[:0]
	for _, sp := range list {
		i := slices.IndexFunc(at[sp.id], func(i int) bool { return sameWork(out[i], sp) })
		if sp.id == "" || i < 0 {
			at[sp.id] = append(at[sp.id], len(out))
			out = append(out, sp)
			continue
		}
		s.Lose(repetition)
		was := out[at[sp.id][i]]
		if was.end > sp.end {
			was, sp = sp, was
		}
		out[at[sp.id][i]] = mergedSpans(was, sp)
	}
	return out
}

// sameWork reports whether two spans may be one: they are of the same work, or the work of one is
// unknown.
func sameWork(a, b *span) bool {
	x, y := a.work(), b.work()
	if x == other && y == other {
		return a.name == b.name
	}
	return x == y || x == other || y == other
}

// mergedSpans merges two records of one span; b is the later one.
func mergedSpans(a, b *span) *span {
	out := *b
	out.attrs = maps.Clone(a.attrs)
	for k, v := range b.attrs {
		out.attrs[k] = fuller(a.attrs[k], v)
	}
	out.events = slices.Clone(a.events)
	for _, e := range b.events {
		if !slices.ContainsFunc(a.events, e.same) {
			out.events = append(out.events, e)
		}
	}
	out.parent, out.name = cmp.Or(b.parent, a.parent), cmp.Or(b.name, a.name)
	out.message, out.service = cmp.Or(b.message, a.message), cmp.Or(b.service, a.service)
	out.failed, out.passed = a.failed || b.failed, a.passed || b.passed
	if a.start > 0 && (out.start <= 0 || a.start < out.start) {
		out.start = a.start
	}
	return &out
}

func (e event) same(o event) bool {
	return e.name == o.name && value.Equal(e.body, o.body) && maps.EqualFunc(e.attrs, o.attrs, value.Equal)
}

// agentsSpan reads a span, or the name of a trace, of the OpenAI Agents SDK's own export. The
// members of its span data become attributes.
func (g *Gatherer) agentsSpan(e value.Value) {
	if message.Str(e, "object") == "trace" {
		sp := span{trace: message.Str(e, "id"), name: message.Str(e, "workflow_name"), attrs: map[string]value.Value{}}
		for _, k := range []string{"workflow_name", "group_id"} {
			sp.attrs[k] = message.First(e, k)
		}
		g.put(sp)
		return
	}
	sp := span{
		trace: message.Str(e, "trace_id"), id: message.Str(e, "id"), parent: message.Str(e, "parent_id"),
		start: instant(message.First(e, "started_at")), end: instant(message.First(e, "ended_at")),
		attrs: map[string]value.Value{},
	}
	about := message.First(e, "span_data")
	for _, from := range []value.Value{about, message.First(about, "data")} { // the SDK's own spans are custom ones
		for m, ok := from.First(); ok && from.Kind() == value.Object; m, ok = from.Next(m) {
			sp.attrs["span_data."+strings.Replace(m.Key(), "sdk_span_type", "type", 1)] = m
		}
	}
	sp.name = sp.attrs["span_data.name"].Str()
	if why := message.First(e, "error"); why.Kind() == value.Object {
		sp.failed, sp.message = true, message.Str(why, "message")
		if more := message.Str(message.First(why, "data"), "error"); more != "" {
			sp.message += ": " + more
		}
	}
	g.put(sp)
}

// Flush returns one attempt per task, in the order of the first spans of their traces.
func (g *Gatherer) Flush(s *trace.Sink) {
	g.settle(s)
	tasks := make([]*task, 0, len(g.order))
	for _, id := range g.order {
		for _, sp := range g.spans[id] {
			sp.what = sp.work()
		}
		tasks = append(tasks, &task{id: id, spans: g.spans[id]})
	}
	for _, t := range linked(tasks) {
		t.give(s)
	}
	g.order, g.spans = nil, nil
}

// linked joins the traces of an agent that begins a new trace for each request. A request
// continues another trace if it contains, after its last question, that trace's last call (same
// id, tool and arguments). It does not if the other trace already has the answer, or is continued
// by a different one. Turns before the last question do not join traces.
func linked(tasks []*task) []*task {
	makers := makersOf(tasks)
	onto := map[*task]*task{} // the task that a task continues
	taken := map[*task]bool{}
	order := slices.Clone(tasks)
	slices.SortStableFunc(order, func(a, b *task) int { return cmp.Compare(begin(a), begin(b)) })
	for _, t := range order {
		models := modelsOf(t)
		if len(models) == 0 {
			continue
		}
		in := models[0].request()
		for _, c := range slices.Backward(callsOf(in[lastQuestion(in):])) {
			same := slices.DeleteFunc(slices.Clone(makers[c.ID]), func(m maker) bool {
				return m.by == t || begin(m.by) > begin(t) || m.call.Tool != c.Tool ||
					!sameArgs(m.call.Args, c.Args) || question(m.in.request()) != question(in)
			})
			if len(same) == 0 {
				continue
			}
			i := slices.IndexFunc(same,
				func(m maker) bool { return !taken[m.by] && open(m.by, c.ID) && root(onto, m.by) != t })
			if i >= 0 {
				taken[same[i].by], onto[t] = true, same[i].by
			}
			break
		}
	}
	slices.SortStableFunc(order, func(a, b *task) int {
		return cmp.Or(cmp.Compare(begin(a), begin(b)), cmp.Compare(depth(onto, a), depth(onto, b)))
	})
	joined := map[*task][]*span{}
	for _, t := range order {
		to := root(onto, t)
		joined[to] = append(joined[to], t.spans...)
	}
	out := make([]*task, 0, len(tasks))
	for _, t := range tasks {
		if onto[t] == nil {
			out = append(out, &task{id: t.id, spans: joined[t]})
		}
	}
	return out
}

// maker is a model's span that made a call.
type maker struct {
	by   *task
	in   *span
	call callvet.Call
}

// makersOf are the makers of all calls with an id, by the id.
func makersOf(tasks []*task) map[string][]maker {
	out := map[string][]maker{}
	for _, t := range tasks {
		for _, sp := range modelsOf(t) {
			for _, c := range callsOf(sp.answer()) {
				if c.ID != "" {
					out[c.ID] = append(out[c.ID], maker{t, sp, c})
				}
			}
		}
	}
	return out
}

func modelsOf(t *task) []*span {
	models := slices.DeleteFunc(slices.Clone(t.spans), func(sp *span) bool { return sp.what != model })
	slices.SortStableFunc(models, func(a, b *span) int { return cmp.Compare(a.start, b.start) })
	return models
}

// root is the first task of the chain that a task continues.
func root(onto map[*task]*task, t *task) *task {
	for onto[t] != nil {
		t = onto[t]
	}
	return t
}

func depth(onto map[*task]*task, t *task) (n int) {
	for ; onto[t] != nil; t = onto[t] {
		n++
	}
	return n
}

func begin(t *task) int64 {
	first := t.spans[0].start
	for _, sp := range t.spans {
		first = min(first, sp.start)
	}
	return first
}

// open reports whether the last output of a task's models is a call with that id.
func open(t *task, id string) bool {
	var last *span
	for _, sp := range t.spans {
		if sp.what == model && (last == nil || sp.start >= last.start) {
			last = sp
		}
	}
	return slices.ContainsFunc(callsOf(last.answer()), func(c callvet.Call) bool { return c.ID == id })
}

func callsOf(turns []callvet.Turn) []callvet.Call {
	var out []callvet.Call
	for _, t := range turns {
		out = append(out, t.Calls...)
	}
	return out
}

// question is the last text of a user.
func question(turns []callvet.Turn) string {
	if n := lastQuestion(turns); n > 0 {
		return turns[n-1].Content
	}
	return ""
}
