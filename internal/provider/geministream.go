// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// geminiDeltas reads a stream of streamGenerateContent: each event is an answer with some of the
// parts.
type geminiDeltas struct {
	wire  *gemini
	doc   value.Doc
	parts []piece
	calls map[string]int    // the positions of calls among the parts, by id
	last  map[string][]byte // the newest value of each repeated member
}

// piece is a part, or a text joined from several parts.
type piece struct {
	raw     []byte // the original JSON, if it is not plain text
	text    []byte
	thought bool
}

func (w *gemini) deltas() deltas {
	return &geminiDeltas{wire: w, last: map[string][]byte{}, calls: map[string]int{}}
}

func (d *geminiDeltas) add(data []byte) (content, last bool, err error) {
	if err := d.doc.Parse(data); err != nil {
		return false, false, err
	}
	root := d.doc.Root()
	if e, ok := root.Get("error"); ok && e.Kind() != value.Null {
		return false, false, noAnswer(root, "candidates")
	}
	for _, k := range []string{"usageMetadata", "modelVersion", "promptFeedback"} {
		d.keep(k, at(root, k))
	}
	cand, ok := at(root, "candidates").First()
	if !ok {
		return false, false, nil
	}
	d.keep("finishReason", at(cand, "finishReason"))
	parts := at(cand, "content", "parts")
	for p, ok := parts.First(); ok; p, ok = parts.Next(p) {
		content = true
		d.part(p)
	}
	return content, false, nil
}

func (d *geminiDeltas) keep(name string, v value.Value) {
	if v.Kind() != value.Invalid && v.Kind() != value.Null {
		d.last[name] = append([]byte(nil), v.Raw()...)
	}
}

// part adds a part: a plain text continues the previous one.
func (d *geminiDeltas) part(p value.Value) {
	thought := at(p, "thought").Bool()
	plain := 1
	if _, ok := p.Get("thought"); ok {
		plain++
	}
	if text := at(p, "text"); text.Kind() != value.String || p.Len() != plain {
		d.whole(p)
		return
	}
	if n := len(d.parts); n == 0 || d.parts[n-1].raw != nil || d.parts[n-1].thought != thought {
		d.parts = append(d.parts, piece{thought: thought})
	}
	t := &d.parts[len(d.parts)-1]
	t.text = append(t.text, at(p, "text").Str()...)
}

// whole adds a complete part. A call that repeats an earlier call of the same id replaces it.
func (d *geminiDeltas) whole(p value.Value) {
	raw := bytes.Clone(p.Raw())
	call := at(p, "functionCall")
	if id := at(call, "id").Str(); id != "" && !message.Grows(p) {
		if at, again := d.calls[id]; again && d.parts[at].repeated(call) {
			d.parts[at].raw = raw
			return
		}
		d.calls[id] = len(d.parts)
	}
	d.parts = append(d.parts, piece{raw: raw})
}

// repeated reports whether a call has the name of the call in p, and arguments that continue its
// arguments.
func (p *piece) repeated(call value.Value) bool {
	part, err := value.Parse(p.raw)
	before := at(part, "functionCall")
	if err != nil || at(before, "name").Str() != at(call, "name").Str() {
		return false
	}
	var args message.Pieces
	args.Add(inputOf(at(before, "args")))
	args.Add(inputOf(at(call, "args")))
	return args.Text() == inputOf(at(call, "args"))
}

func (d *geminiDeltas) finish(q *query, resp *callvet.Response) error {
	if d.last["finishReason"] == nil && d.last["promptFeedback"] == nil {
		return errStreamEnded
	}
	b := []byte(`{"candidates":[`)
	if d.last["finishReason"] != nil {
		b = append(b, `{"content":{"role":"model","parts":[`...)
		for i := range d.parts {
			p := &d.parts[i]
			if i > 0 {
				b = append(b, ',')
			}
			if p.raw != nil {
				b = append(b, p.raw...)
				continue
			}
			b = appendText(append(b, `{"text":`...), string(p.text))
			if p.thought {
				b = append(b, `,"thought":true`...)
			}
			b = append(b, '}')
		}
		b = append(append(b, `]},"finishReason":`...), d.last["finishReason"]...)
		b = append(b, '}')
	}
	b = append(b, ']')
	for _, k := range []string{"usageMetadata", "modelVersion", "promptFeedback"} {
		if d.last[k] != nil {
			b = append(appendMember(b, k), d.last[k]...)
		}
	}
	if err := d.doc.Parse(append(b, '}')); err != nil {
		return err
	}
	err := d.wire.read(d.doc.Root(), q, resp)
	if resp.FinishReason == "" { // an empty reason does not prove the end
		resp.Why = callvet.ReasonCut
	}
	return err
}
