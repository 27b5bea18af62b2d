// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package spans

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/message"
	"github.com/callvet/callvet/value"
)

// logs reads log records. Those of the GenAI conventions are events of spans.
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
		at:   nanos(message.First(e, "timeUnixNano", "time_unix_nano")), saw: nanos(message.First(e, "observedTimeUnixNano", "observed_time_unix_nano")),
		event: event{name: message.Str(e, "eventName", "event_name"), attrs: attributes(message.First(e, "attributes"))},
	}
	r.text = fmt.Sprintf("%d %d %s %s %s", r.at, r.saw, r.event.name, message.First(e, "attributes").Raw(), message.First(e, "body").Raw())
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

// settle gives log records to their spans. A span that the file does not have is made of its
// records, with the time that they took.
func (g *Gatherer) settle(s *trace.Sink) {
	for id, list := range g.spans {
		g.spans[id] = once(list, s)
	}
	slices.SortStableFunc(g.records, func(a, b record) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.saw, b.saw)) })
	byID := map[[2]string]*span{}
	if len(g.records) > 0 {
		for _, list := range g.spans {
			for _, sp := range list {
				byID[[2]string{sp.trace, sp.id}] = sp
			}
		}
	}
	said := map[[2]string]map[string]bool{}
	for _, r := range g.records {
		key := [2]string{r.span.trace, r.span.id}
		if said[key][r.text] {
			s.Lose(twice)
			continue
		}
		if said[key] == nil {
			said[key] = map[string]bool{}
		}
		said[key][r.text] = true
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

// twice says that something came again: exporters repeat what they are not sure of, and the
// same telemetry may go two ways.
const twice = "a repetition of a span or a log record"

// once keeps one of the spans with the same id, name and begin: the last one that tells
// most, as some SDKs send a span when it begins and again when it ends.
func once(list []*span, s *trace.Sink) []*span {
	type key struct {
		id, name string
		start    int64
	}
	at := map[key]int{}
	out := list[:0]
	for _, sp := range list {
		k := key{sp.id, sp.name, sp.start}
		i, again := at[k]
		switch {
		case sp.id == "" || !again:
			at[k] = len(out)
			out = append(out, sp)
		default:
			s.Lose(twice)
			if was := out[i]; len(sp.attrs)+len(sp.events) >= len(was.attrs)+len(was.events) && sp.end >= was.end {
				out[i] = sp
			}
		}
	}
	return out
}

// agentsSpan reads a span, or the name of a trace, of the OpenAI Agents SDK's own export. The
// members of what a span is about become attributes.
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
		start: instant(message.First(e, "started_at")), end: instant(message.First(e, "ended_at")), attrs: map[string]value.Value{},
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

// Flush gives an attempt per task, in the order in which their traces began to come.
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

// linked joins the traces of an agent that begins one per request: a request whose history
// has a call, by id, tool and arguments, that another trace's model made last goes on with
// that task. Where the other trace had its answer, or another one goes on with it, the
// history is what came before this task.
func linked(tasks []*task) []*task {
	type maker struct {
		by       *task
		call     callvet.Call
		question string
	}
	makers := map[string][]maker{} // by the id of a call
	into := map[*task]*task{}      // what a task goes on with
	taken := map[*task]bool{}
	order := slices.Clone(tasks)
	slices.SortStableFunc(order, func(a, b *task) int { return cmp.Compare(begin(a), begin(b)) })
	for _, t := range order {
		models := slices.DeleteFunc(slices.Clone(t.spans), func(sp *span) bool { return sp.what != model })
		slices.SortStableFunc(models, func(a, b *span) int { return cmp.Compare(a.start, b.start) })
		if len(models) == 0 {
			continue
		}
		in := models[0].told()
		for _, c := range slices.Backward(callsOf(in)) {
			same := slices.DeleteFunc(slices.Clone(makers[c.ID]), func(m maker) bool {
				return m.call.Tool != c.Tool || !message.SameArgs(m.call.Args, c.Args) || m.question != question(in)
			})
			if len(same) == 0 {
				continue
			}
			i := slices.IndexFunc(same, func(m maker) bool { return !taken[m.by] && open(m.by, c.ID) })
			if t.continues = i < 0; i >= 0 {
				taken[same[i].by], into[t] = true, cmp.Or(into[same[i].by], same[i].by)
			}
			break
		}
		for _, sp := range models {
			for _, c := range callsOf(sp.said()) {
				if c.ID != "" {
					makers[c.ID] = append(makers[c.ID], maker{t, c, question(in)})
				}
			}
		}
	}
	out := make([]*task, 0, len(tasks))
	for _, t := range order {
		if to := into[t]; to != nil {
			to.spans = append(to.spans, t.spans...)
		}
	}
	for _, t := range tasks {
		if into[t] == nil {
			out = append(out, t)
		}
	}
	return out
}

func begin(t *task) int64 {
	first := t.spans[0].start
	for _, sp := range t.spans {
		first = min(first, sp.start)
	}
	return first
}

// open reports whether the last that a task's models said is a call with an id.
func open(t *task, id string) bool {
	var last *span
	for _, sp := range t.spans {
		if sp.what == model && (last == nil || sp.start >= last.start) {
			last = sp
		}
	}
	return slices.ContainsFunc(callsOf(last.said()), func(c callvet.Call) bool { return c.ID == id })
}

func callsOf(turns []callvet.Turn) []callvet.Call {
	var out []callvet.Call
	for _, t := range turns {
		out = append(out, t.Calls...)
	}
	return out
}

// question is what a user said first.
func question(turns []callvet.Turn) string {
	for _, t := range turns {
		if t.Role == callvet.RoleUser {
			return t.Content
		}
	}
	return ""
}
