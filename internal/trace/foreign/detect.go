// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

// Names are the readable formats, in the order of detection.
func Names() []string {
	names := append([]string{Contract}, SpanFormats()...)
	names = append(append(names, "langsmith"), EntryNames()...)
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// Detect names the format of a stream by its beginning; "" if unknown. A document longer than the
// beginning is detected by its first members, and again when all of it has been read.
func Detect(head []byte) string {
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return "inspect"
	}
	if FramingOf(head) > 0 {
		return "otlp"
	}
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\uFEFF")))
	line, _, _ := bytes.Cut(head, []byte("\n"))
	for _, text := range [][]byte{line, head} {
		if v, _, err := value.Read(text); err == nil {
			return nameOf(v)
		}
	}
	first := trace.First(head)
	if v, _, err := value.Read(first); err == nil && own(v) || first == nil && ownBeginning(line) {
		return Contract
	}
	if len(head) >= headSize/2 { // more may follow; spaces at the ends are gone
		if v, _, err := value.Read(closed(head)); err == nil {
			return nameOf(v)
		}
	}
	return ""
}

// closed makes the beginning of a longer JSON text valid: it ends before the last comma, and open
// brackets are closed.
func closed(head []byte) []byte {
	var open, atComma []byte // the closing brackets of the open values
	end, text := 0, false
	for i := 0; i < len(head); i++ {
		switch c := head[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{':
			open = append(open, '}')
		case c == '[':
			open = append(open, ']')
		case (c == '}' || c == ']') && len(open) > 0:
			open = open[:len(open)-1]
		case c == ',':
			end, atComma = i, append(atComma[:0], open...)
		}
	}
	slices.Reverse(atComma)
	return slices.Concat(head[:end], atComma)
}

// ownBeginning is own for a record that is longer than the head: it looks at the first members.
func ownBeginning(line []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(line))
	if open, err := d.ReadToken(); err != nil || open.Kind() != '{' {
		return false
	}
	id := false
	for {
		name, err := d.ReadToken()
		if err != nil || name.Kind() != '"' {
			return false
		}
		switch key := name.String(); key {
		case "task_id":
			id = true
		case "tool":
			return id
		}
		if d.SkipValue() != nil {
			return false
		}
	}
}

func nameOf(v value.Value) string {
	if own(v) {
		return Contract
	}
	if n := Name(v); n != "" {
		return n
	}
	e := v
	if v.Kind() == value.Array {
		e, _ = v.First()
		if own(e) {
			return Contract
		}
	}
	if IsLangSmith(e) {
		return "langsmith"
	}
	if n := EntryForm(v); n != "" {
		return n
	}
	if f, ok := chatForm(e); ok {
		return f.Name
	}
	if e.Kind() == value.Array { // a list of conversations
		if m, _ := e.First(); m.Kind() == value.Object {
			if f, ok := chatForm(m); ok && f.Name == "messages" {
				return f.Name
			}
		}
	}
	return ""
}

// own reports whether a value is a line of callvet's contract, valid or not.
func own(v value.Value) bool {
	_, id := v.Get("task_id")
	_, tool := v.Get("tool")
	typ, _ := v.Get("type")
	return id && (tool || typ.Str() == "task")
}

func chatForm(v value.Value) (Format, bool) {
	if v.Kind() != value.Object {
		return Format{}, false
	}
	for _, f := range Formats() {
		if f.Is(v) {
			return f, true
		}
	}
	return Format{}, false
}

// value reads one value of a stream; false if its form is unknown, or is not the requested one.
func (i *Importer) value(v value.Value) bool {
	if i.gather != nil && i.entries.Begun() {
		i.entries.Add(v, &i.sink)
		return true
	}
	name := i.o.Format
	if found := nameOf(v); name == "" {
		name = found
	} else if found != name && !forced(name, v) {
		return false
	}
	if name == "" {
		return false
	}
	i.began = true
	if i.format == "" {
		i.format = name
	}
	if Name(v) != "" {
		i.gatherer(0).Add(v, &i.sink)
		return true
	}
	if name == "langsmith" {
		each(v, func(e value.Value) { i.gatherer(1).Add(e, &i.sink) })
		return true
	}
	if slices.Contains(EntryNames(), name) {
		i.gatherer(2).Add(v, &i.sink)
		return true
	}
	for _, f := range Formats() {
		if f.Name != name {
			continue
		}
		if e, _ := v.First(); v.Kind() == value.Array && (name != "messages" || e.Kind() == value.Array || whole(e)) {
			each(v, func(e value.Value) { f.Read(e, &i.sink) })
		} else {
			f.Read(v, &i.sink)
		}
		return true
	}
	return false
}

// forced reports whether a value may be read in the requested form although it looks different.
func forced(name string, v value.Value) bool {
	for _, f := range Formats() {
		if f.Name == name {
			e := v
			if v.Kind() == value.Array {
				e, _ = v.First()
			}
			return f.Is(e)
		}
	}
	return false
}

// whole reports whether an element of a list is a conversation, not a message.
func whole(e value.Value) bool {
	_, ok := e.Get("messages")
	return ok
}

func each(v value.Value, do func(value.Value)) {
	if v.Kind() != value.Array {
		do(v)
		return
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		do(e)
	}
}

// gatherer returns the gatherer of spans (0), runs (1) or entries of a log (2).
func (i *Importer) gatherer(n int) gatherer {
	if i.gather == nil {
		i.gather = []gatherer{&Gatherer{}, &runs{}, &i.entries}
	}
	return i.gather[n]
}

// runs gathers LangSmith's.
type runs struct{ LangSmith }

// Add implements gatherer.
func (r *runs) Add(v value.Value, _ *trace.Sink) { r.LangSmith.Add(v) }
