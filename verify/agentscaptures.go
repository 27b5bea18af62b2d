// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/value"
	"github.com/callvet/callvet/verify/proof"
)

// capture is telemetry that was recorded elsewhere: one file, or several with parts of the same
// traces.
type capture struct {
	name    string
	more    int    // files that were joined
	form    string // the name by foreign.Detect
	binary  bool
	content []byte // not compressed
	traces  map[string]bool
	parts   map[string]bool // spans and log records
}

// isTelemetry distinguishes captures of SDKs from answers of agents over HTTP. A list of messages
// may be both.
func isTelemetry(form string) bool {
	return slices.Contains(append(foreign.SpanFormats(), "messages", "langfuse", "langsmith"), form)
}

// capturesOfSpans reads the telemetry of a folder. The content of the files decides: files with
// different spans of the same traces are one capture.
func capturesOfSpans(dir string) ([]*capture, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []*capture
	for _, e := range list {
		if e.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if plain, err := decompressed(b); err == nil {
			b = plain
		}
		next := &capture{
			name: e.Name(), content: b, form: foreign.Detect(b), binary: foreign.FramingOf(b) > 0,
			traces: map[string]bool{}, parts: map[string]bool{},
		}
		if !isTelemetry(next.form) {
			continue
		}
		next.look()
		same := slices.IndexFunc(out, func(o *capture) bool {
			return o.form == next.form && o.binary == next.binary && overlap(o.traces, next.traces) &&
				!overlap(o.parts, next.parts)
		})
		if same < 0 {
			out = append(out, next)
			continue
		}
		o := out[same]
		o.more++
		if !o.binary {
			o.content = append(bytes.TrimSpace(o.content), '\n')
		}
		o.content = append(o.content, next.content...)
		maps.Copy(o.traces, next.traces)
		maps.Copy(o.parts, next.parts)
	}
	return out, nil
}

func overlap(a, b map[string]bool) bool {
	for k := range a {
		if b[k] {
			return true
		}
	}
	return false
}

// look lists the traces, spans and log records of a file.
func (cp *capture) look() {
	if cp.binary {
		if v, err := foreign.Protobuf(cp.content); err == nil {
			cp.collect(v)
		}
		return
	}
	for line := range bytes.Lines(cp.content) {
		if v, err := value.Parse(line); err == nil {
			cp.collect(v)
		}
	}
}

func (cp *capture) collect(v value.Value) {
	if id := message.Str(v, "traceId", "trace_id", "traceID"); id != "" {
		cp.traces[id] = true
		part := id + " " + message.Str(v, "spanId", "span_id", "spanID", "id")
		if message.First(v, "body", "severityNumber", "observedTimeUnixNano").Kind() != value.Invalid {
			part = string(v.Raw())
		}
		cp.parts[part] = true
	}
	for e, ok := v.First(); ok && (v.Kind() == value.Object || v.Kind() == value.Array); e, ok = v.Next(e) {
		cp.collect(e)
	}
}

// compare reads a capture plain and compressed. Values that its text does not contain are not due.
func (cp *capture) compare(c *proof.Check) {
	has := func(text string) bool { return bytes.Contains(cp.content, []byte(text)) }
	if cp.more > 0 {
		cp.name += fmt.Sprintf(" and %d more", cp.more)
	}
	r := sdk{name: cp.name, lost: omissions{times: "times"}}
	for _, l := range []struct {
		mark string
		lost *string
	}{
		{"get_weather", &r.lost.calls},
		{"12A", &r.lost.args},
		{"temp", &r.lost.results},
		{"seat taken", &r.lost.reason},
		{"token", &r.lost.tokens},
	} {
		if !has(l.mark) {
			*l.lost = "not recorded"
		}
	}
	r.lost.failed = r.lost.reason != "" && !has("redacted") && !has("An error occurred")
	r.compare(c, []form{{"as it is", cp.content}, {"gzip", compressed(cp.content)}})
	cp.withLess(c)
}

// withLess deletes from telemetry in JSON every attribute and every family of them, by prefix. The
// rest may have less data, be an error, or be unknown. It must never be read as an attempt without
// calls, or with a call that was not made.
func (cp *capture) withLess(c *proof.Check) {
	var docs []any
	families := map[string]bool{}
	for line := range bytes.Lines(cp.content) {
		var doc any
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if cp.binary || json.Unmarshal(line, &doc) != nil {
			return
		}
		docs = append(docs, doc)
		familiesOf(doc, families)
	}
	c.Due(spanDeleted, len(families), "the names in the telemetry")
	for _, family := range slices.Sorted(maps.Keys(families)) {
		var b bytes.Buffer
		for _, doc := range docs {
			b.WriteString(written(withoutFamily(doc, family)) + "\n")
		}
		as, _, err := imported(b.Bytes())
		why := ""
		for i := range as {
			if err == nil && why == "" {
				why = madeUp(&as[i])
			}
		}
		c.Compare(spanDeleted, cp.name+" without "+family, why == "", "%s", why)
	}
}

// madeUp describes a call or an abstention that was not recorded; "" for none.
func madeUp(a *trace.Attempt) string {
	if a.Trace.Outcome == callvet.OutcomeAbstained {
		return "an attempt abstained"
	}
	for _, call := range a.Trace.Calls() {
		if call.Nameless() { // it is present, but cannot be read
			continue
		}
		if !slices.ContainsFunc(scriptedCalls(), func(s string) bool {
			return s == call.Tool+" "+sameArgs(call.Args) || call.Args == nil && strings.HasPrefix(s, call.Tool+" ")
		}) {
			return fmt.Sprintf("a call that was not made: %s %s", call.Tool, call.Args)
		}
	}
	return ""
}

// familiesOf collects the names of attributes and members, and their families: a.b.c is of
// a. and a.b.
func familiesOf(v any, out map[string]bool) {
	add := func(key string) {
		switch key { // the subject of the calls, and the frame of OTLP
		case "city", "from", "to", "seat", "temp", "traceId", "spanId", "parentSpanId", "resourceSpans", "resourceLogs",
			"value", "values", "key", "stringValue", "attributes":
			return
		}
		out[key] = true
		for i, r := range key {
			if r == '.' {
				out[key[:i+1]] = true
			}
		}
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			familiesOf(e, out)
		}
	case map[string]any:
		if key, ok := v["key"].(string); ok {
			add(key)
		}
		for k, e := range v {
			add(k)
			familiesOf(e, out)
		}
	}
}

func withoutFamily(v any, family string) any {
	gone := func(key string) bool {
		return key == family || strings.HasSuffix(family, ".") && strings.HasPrefix(key, family)
	}
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, e := range v {
			if m, ok := e.(map[string]any); ok {
				if key, ok := m["key"].(string); ok && gone(key) {
					continue
				}
			}
			out = append(out, withoutFamily(e, family))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if !gone(k) {
				out[k] = withoutFamily(e, family)
			}
		}
		return out
	}
	return v
}
