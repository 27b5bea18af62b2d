// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

// SpanFormats are the known envelopes.
func SpanFormats() []string { return []string{"otlp", "tempo", "jaeger", "spans", "openai-agents"} }

// Name is the envelope of a value; "" if it has no spans.
func Name(v value.Value) string {
	if inner := message.First(v, "trace"); inner.Kind() == value.Object &&
		(has(inner, "resourceSpans") || has(inner, "batches")) {
		return "tempo"
	}
	switch {
	case has(v, "resourceSpans"), has(v, "resource_spans"), has(v, "resourceLogs"), has(v, "resource_logs"):
		return "otlp"
	case array(v, "batches"):
		return "tempo"
	case isJaeger(v):
		return "jaeger"
	}
	e := v
	if v.Kind() == value.Array {
		e, _ = v.First()
	} else if list := message.First(v, "spans", "data"); list.Kind() == value.Array {
		e, _ = list.First()
	}
	switch {
	case has(e, "resourceSpans"), has(e, "resourceLogs"):
		return "otlp"
	case message.Str(e, "object") == "trace.span" || message.Str(e, "object") == "trace" && has(e, "workflow_name"):
		return "openai-agents"
	}
	if (has(e, "span_id") || has(e, "spanId") || has(e, "context")) && has(e, "attributes") ||
		has(e, "context.span_id") {
		return "spans"
	}
	return ""
}

func array(v value.Value, key string) bool {
	m, _ := v.Get(key)
	return m.Kind() == value.Array
}

func isJaeger(v value.Value) bool {
	if array(v, "data") {
		data, _ := v.Get("data")
		v, _ = data.First()
	}
	return has(v, "traceID") && array(v, "spans")
}

// span is one span of any envelope.
type span struct {
	trace, id, parent, name string
	start, end              int64 // nanoseconds
	attrs                   map[string]value.Value
	events                  []event
	failed, passed          bool // by its status; neither where the status is not set
	message                 string
	service                 string
	what                    work
}

type event struct {
	name  string
	attrs map[string]value.Value
	body  value.Value
}

// record is an event as a log record, separate from its span.
type record struct {
	span    span // trace, id and service alone
	at, saw int64
	event   event
	text    string // the whole record without the ids
}

// Gatherer collects spans. The zero Gatherer is ready.
type Gatherer struct {
	order   []string
	spans   map[string][]*span
	records []record
	size    int64
}

// Size is the approximate memory of the spans in bytes, without their values.
func (g *Gatherer) Size() int64 { return g.size }

// maxSpans bounds the kept spans; further ones are only counted in Size, so that a value with very
// many spans is refused before it is assembled.
const maxSpans = 4_000_000

// The memory of a span, an attribute and an event.
const (
	spanSize      = 320
	attributeSize = 100
	eventSize     = 120
)

// Add adds the spans of a value that Name recognizes.
func (g *Gatherer) Add(v value.Value, s *trace.Sink) {
	switch Name(v) {
	case "tempo":
		if inner := message.First(v, "trace"); inner.Kind() == value.Object {
			v = inner
		}
		g.resources(message.First(v, "batches", "resourceSpans"))
	case "otlp":
		if v.Kind() == value.Array {
			for e, ok := v.First(); ok; e, ok = v.Next(e) {
				g.otlp(e, s)
			}
			return
		}
		g.otlp(v, s)
	case "jaeger":
		if data := message.First(v, "data"); data.Kind() == value.Array {
			for e, ok := data.First(); ok; e, ok = data.Next(e) {
				g.jaeger(e)
			}
			return
		}
		g.jaeger(v)
	case "spans":
		g.flat(v, g.flatSpan)
	case "openai-agents":
		g.flat(v, g.agentsSpan)
	}
}

func (g *Gatherer) otlp(v value.Value, s *trace.Sink) {
	g.resources(message.First(v, "resourceSpans", "resource_spans"))
	g.logs(message.First(v, "resourceLogs", "resource_logs"), s)
}

// put stores a span, and returns the stored one; nil beyond the limit.
func (g *Gatherer) put(sp span) *span {
	g.size += spanSize + attributeSize*int64(len(sp.attrs))
	for i := range sp.events {
		g.size += eventSize + attributeSize*int64(len(sp.events[i].attrs))
	}
	if g.size > maxSpans*spanSize {
		return nil
	}
	if g.spans == nil {
		g.spans = map[string][]*span{}
	}
	if _, ok := g.spans[sp.trace]; !ok {
		g.order = append(g.order, sp.trace)
	}
	g.spans[sp.trace] = append(g.spans[sp.trace], &sp)
	return &sp
}

func (g *Gatherer) resources(list value.Value) {
	for r, ok := list.First(); ok; r, ok = list.Next(r) {
		res := attributes(message.First(message.First(r, "resource"), "attributes"))
		scopes := message.First(r, "scopeSpans", "scope_spans", "instrumentationLibrarySpans")
		for sc, ok := scopes.First(); ok; sc, ok = scopes.Next(sc) {
			spans := message.First(sc, "spans")
			for e, ok := spans.First(); ok; e, ok = spans.Next(e) {
				sp := otlpSpan(e)
				sp.service = res["service.name"].Str()
				g.put(sp)
			}
		}
	}
}

func otlpSpan(e value.Value) span {
	sp := span{
		trace: hexID(e, "traceId", "trace_id"), id: hexID(e, "spanId", "span_id"),
		parent: hexID(e, "parentSpanId", "parent_span_id"),
		name:   message.Str(e, "name"), start: unixNanos(message.First(e, "startTimeUnixNano", "start_time_unix_nano")),
		end:   unixNanos(message.First(e, "endTimeUnixNano", "end_time_unix_nano")),
		attrs: attributes(message.First(e, "attributes")),
	}
	status := message.First(e, "status")
	code := message.First(status, "code")
	sp.failed = code.Str() == "STATUS_CODE_ERROR" || message.ID(code) == "2"
	sp.passed = code.Str() == "STATUS_CODE_OK" || message.ID(code) == "1"
	sp.message = message.Str(status, "message")
	events := message.First(e, "events")
	for v, ok := events.First(); ok; v, ok = events.Next(v) {
		sp.events = append(sp.events,
			event{name: message.Str(v, "name"), attrs: attributes(message.First(v, "attributes"))})
	}
	return sp
}

// hexID is an id in hexadecimal digits, as OTLP's JSON has it. Writers that follow
// protobuf's JSON have the same bytes in base64.
func hexID(e value.Value, keys ...string) string {
	text := message.Str(e, keys...)
	const digits = "0123456789abcdefABCDEF"
	if strings.Trim(text, digits) == "" {
		return strings.ToLower(text)
	}
	if b, err := base64.StdEncoding.DecodeString(text); err == nil && (len(b) == 16 || len(b) == 8) {
		return hex.EncodeToString(b)
	}
	return text
}

// nanos reads a 64-bit time, which JSON writes as a string or as a number.
func unixNanos(v value.Value) int64 {
	text := message.ID(v)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 || f > 1<<62 {
		return 0
	}
	return int64(f)
}

// attributes reads OTLP's list of keys and typed values.
func attributes(list value.Value) map[string]value.Value {
	out := map[string]value.Value{}
	if list.Kind() == value.Object { // already plain
		for e, ok := list.First(); ok; e, ok = list.Next(e) {
			out[e.Key()] = e
		}
		return out
	}
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		if v, ok := anyValue(message.First(e, "value")); ok {
			out[message.Str(e, "key")] = v
		}
	}
	return out
}

// anyValue returns the plain value of a typed one.
func anyValue(v value.Value) (value.Value, bool) {
	in, ok := v.First()
	if !ok || v.Kind() != value.Object {
		return value.Value{}, false
	}
	switch in.Key() {
	case "arrayValue", "array_value", "kvlistValue", "kvlist_value":
		plain, err := value.Parse(plainJSON(nil, v, 0))
		return plain, err == nil
	}
	return in, true
}

// plainJSON writes a typed value as the JSON for it.
func plainJSON(dst []byte, v value.Value, depth int) []byte {
	in, ok := v.First()
	if !ok || v.Kind() != value.Object || depth > 100 {
		return append(dst, "null"...)
	}
	list := message.First(in, "values")
	switch in.Key() {
	case "arrayValue", "array_value":
		dst = append(dst, '[')
		n := len(dst)
		for e, ok := list.First(); ok; e, ok = list.Next(e) {
			if len(dst) > n {
				dst = append(dst, ',')
			}
			dst = plainJSON(dst, e, depth+1)
		}
		return append(dst, ']')
	case "kvlistValue", "kvlist_value":
		dst = append(dst, '{')
		seen := map[string]bool{}
		for e, ok := list.First(); ok; e, ok = list.Next(e) {
			key, _ := e.Get("key")
			if key.Kind() != value.String || seen[key.Str()] {
				continue
			}
			if len(seen) > 0 {
				dst = append(dst, ',')
			}
			seen[key.Str()] = true
			dst = append(append(dst, key.Raw()...), ':')
			dst = plainJSON(dst, message.First(e, "value"), depth+1)
		}
		return append(dst, '}')
	case "intValue", "int_value":
		if in.Kind() == value.String && value.Valid(bytes.TrimSpace(in.Bytes())) {
			return append(dst, in.Bytes()...)
		}
	}
	return append(dst, in.Raw()...)
}

// jaeger reads one trace of Jaeger's query API. Times there are microseconds.
func (g *Gatherer) jaeger(v value.Value) {
	processes := message.First(v, "processes")
	spans := message.First(v, "spans")
	for e, ok := spans.First(); ok; e, ok = spans.Next(e) {
		sp := span{
			trace: message.Str(e, "traceID"), id: message.Str(e, "spanID"),
			name: message.Str(e, "operationName"), attrs: tags(message.First(e, "tags")),
		}
		sp.start = unixNanos(message.First(e, "startTime")) * 1000
		sp.end = sp.start + unixNanos(message.First(e, "duration"))*1000
		refs := message.First(e, "references")
		for r, ok := refs.First(); ok; r, ok = refs.Next(r) {
			if message.Str(r, "refType") == "CHILD_OF" {
				sp.parent = message.Str(r, "spanID")
			}
		}
		sp.failed = sp.attrs["error"].Bool() || sp.attrs["otel.status_code"].Str() == "ERROR"
		sp.passed = sp.attrs["otel.status_code"].Str() == "OK"
		sp.message = sp.attrs["otel.status_description"].Str()
		proc, _ := processes.Get(message.Str(e, "processID"))
		sp.service = message.Str(proc, "serviceName")
		logs := message.First(e, "logs")
		for l, ok := logs.First(); ok; l, ok = logs.Next(l) {
			a := tags(message.First(l, "fields"))
			sp.events = append(sp.events, event{name: a["event"].Str(), attrs: a})
		}
		g.put(sp)
	}
}

func tags(list value.Value) map[string]value.Value {
	out := map[string]value.Value{}
	for t, ok := list.First(); ok; t, ok = list.Next(t) {
		if v, ok := t.Get("value"); ok {
			out[message.Str(t, "key")] = v
		}
	}
	return out
}

// flat reads spans with plain attributes: a list, {spans: […]} or one alone.
func (g *Gatherer) flat(v value.Value, one func(value.Value)) {
	if list := message.First(v, "spans", "data"); list.Kind() == value.Array {
		v = list
	}
	if v.Kind() != value.Array {
		one(v)
		return
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		one(e)
	}
}

func (g *Gatherer) flatSpan(e value.Value) {
	ids := e
	if c := message.First(e, "context"); c.Kind() == value.Object {
		ids = c
	}
	sp := span{
		trace:  message.Str(ids, "trace_id", "traceId", "context.trace_id"),
		id:     message.Str(ids, "span_id", "spanId", "context.span_id"),
		parent: message.Str(e, "parent_span_id", "parent_id", "parentSpanId"), name: message.Str(e, "name"),
		start: instant(message.First(e, "start_time", "startTime", "startTimeUnixNano")),
		end:   instant(message.First(e, "end_time", "endTime", "endTimeUnixNano")),
		attrs: attributes(message.First(e, "attributes")),
	}
	sp.nested(e)
	status := message.First(e, "status")
	code := message.Str(status, "code", "status_code")
	sp.failed = code == "ERROR" || code == "STATUS_CODE_ERROR" || message.Str(e, "status_code") == "ERROR"
	sp.passed = code == "OK" || code == "STATUS_CODE_OK" || message.Str(e, "status_code") == "OK"
	sp.message = cmp.Or(message.Str(status, "description", "message"), message.Str(e, "status_message"))
	events := message.First(e, "span_events", "events")
	for v, ok := events.First(); ok; v, ok = events.Next(v) {
		sp.events = append(sp.events,
			event{
				message.Str(v, "event_name", "name"), attributes(message.First(v, "attributes")),
				message.First(v, "body"),
			})
	}
	g.put(sp)
}

// nested reads Phoenix's form of a span: the kind next to the attributes, attributes as columns
// (attributes.llm.model_name), and messages as lists in objects.
func (sp *span) nested(e value.Value) {
	const column, kind = "attributes.", "openinference.span.kind"
	for m, ok := e.First(); ok; m, ok = e.Next(m) {
		if name, ok := strings.CutPrefix(m.Key(), column); ok && m.Kind() != value.Null {
			sp.attrs[name] = m
		}
	}
	for name, v := range maps.Clone(sp.attrs) {
		switch {
		case v.Kind() == value.Array && strings.HasPrefix(name, "llm."),
			v.Kind() == value.Object && (name == "llm" || name == "tool" || name == "openinference" ||
				has(v, "value") && (name == "input" || name == "output")):
			sp.spread(name, v, 0)
		}
	}
	if _, ok := sp.attrs[kind]; !ok && has(e, "span_kind") {
		sp.attrs[kind] = message.First(e, "span_kind")
	}
}

// spread converts the members of an attribute to attributes with dotted names. Arguments and
// schemas are not split.
func (sp *span) spread(name string, v value.Value, depth int) {
	const deepest = 12 // llm.input_messages.N.message.contents.N.message_content.text has eight
	leaf := name[strings.LastIndexByte(name, '.')+1:]
	if v.Kind() != value.Object && v.Kind() != value.Array || depth == deepest ||
		leaf == "arguments" || leaf == "parameters" || leaf == "value" {
		sp.attrs[name] = v
		return
	}
	n := 0
	for m, ok := v.First(); ok; m, ok = v.Next(m) {
		key := m.Key()
		if v.Kind() == value.Array {
			key = strconv.Itoa(n)
			n++
		}
		sp.spread(name+"."+key, m, depth+1)
	}
}

// raw is a value's JSON; for a string that contains JSON, this JSON.
func raw(v value.Value) json.RawMessage {
	switch v.Kind() {
	case value.Invalid, value.Null:
		return nil
	case value.String:
		return message.ResultJSON(v.Str())
	}
	return json.RawMessage(v.Raw())
}

// instant reads nanoseconds, or a time as RFC 3339 writes it.
func instant(v value.Value) int64 {
	if t, err := time.Parse(time.RFC3339Nano, v.Str()); err == nil {
		return t.UnixNano()
	}
	return unixNanos(v)
}
