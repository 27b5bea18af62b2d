// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/callvet/callvet"
)

// GeneratedID matches ids that importers make up for cases without one.
var GeneratedID = regexp.MustCompile(`^case-\d+$`)

// Frame is the content of Suite.Foreign: the document without its cases, and what an exporter
// needs to insert them again.
type Frame struct {
	Form     string // of the source: json, jsonl, yaml
	Document Node
	extra    Record
}

// FrameOf empties the named array of doc and wraps the rest.
func FrameOf(src *Source, doc Node, cases string, extra Record) json.RawMessage {
	var o Record
	o.Str("form", src.Form)
	o.Raw("document", WithMember(doc, cases, []byte("[]")))
	return append(o, extra...).Bytes()
}

// ReadFrame reads what FrameOf wrote; ok is false for a suite of another dialect.
func ReadFrame(s *callvet.Suite, dialect string) (Frame, bool) {
	if s.Dialect != dialect {
		return Frame{}, false
	}
	n, ok := Trusted(s.Foreign)
	if !ok || !n.Has("document") {
		return Frame{}, false
	}
	f := Frame{Document: n.Get("document")}
	f.Form, _ = n.Get("form").Text()
	for _, m := range n.Members(nil) {
		if m.Name != "form" && m.Name != "document" {
			f.extra.Raw(m.Name, m.Val.Raw)
		}
	}
	return f, true
}

// Get returns an extra of the frame, or the absent node.
func (f Frame) Get(key string) Node { return Node{Raw: f.extra.Bytes()}.Get(key) }

// WithMember gives an object with one key's value replaced, or added at the end.
func WithMember(doc Node, key string, val []byte) []byte {
	var out Record
	found := false
	for _, m := range doc.Members(nil) {
		if m.Name == key {
			found = true
			out.Raw(key, val)
			continue
		}
		out.Raw(m.Name, m.Val.Raw)
	}
	if !found {
		out.Raw(key, val)
	}
	return out.Bytes()
}

// CaseFormat is how one dialect reads and writes a single case.
type CaseFormat struct {
	Read  func(r *Reader, n Node, index int) callvet.Case
	Write func(c *callvet.Case, orig Node) []byte
	Can   []Feature
	Opt   ReaderOptions
}

// ExportAll exports cases in their order. Their originals count only where the
// suite came from the same dialect.
func (f CaseFormat) ExportAll(cases []callvet.Case, same bool) ([][]byte, []callvet.Problem) {
	out := make([][]byte, len(cases))
	var problems []callvet.Problem
	for i := range cases {
		var orig Node
		if same {
			orig, _ = Trusted(cases[i].Foreign)
		}
		var lost []callvet.Problem
		out[i], lost = f.Export(&cases[i], orig)
		problems = append(problems, lost...)
	}
	return out, problems
}

// Export returns a case's original with the changes applied, or a newly written case when there
// is no original. It also returns the parts that cannot be expressed.
func (f CaseFormat) Export(c *callvet.Case, orig Node) ([]byte, []callvet.Problem) {
	if orig.Kind() != '{' {
		return f.Write(c, Node{}), LoseCase(c, f.Can)
	}
	base := f.reread(orig)
	was, is := f.Write(&base, orig), f.Write(c, orig)
	var lost []callvet.Problem
	before := Features(&base)
	for _, p := range LoseCase(c, f.Can) {
		if !slices.Contains(before, Feature(p.Key)) {
			lost = append(lost, p)
		}
	}
	if bytes.Equal(was, is) {
		return orig.Raw, lost
	}
	return overlay(orig.Raw, was, is), lost
}

// reread imports an original again, as it was before any change.
func (f CaseFormat) reread(orig Node) callvet.Case {
	r := NewReader(&Source{Text: orig.Raw, Form: "json"}, f.Opt)
	return f.Read(r, Node{Raw: orig.Raw}, 0)
}

// ExportFrame writes the suite's own keys into the frame's document.
func ExportFrame(f Frame, base, now []byte) []byte {
	if bytes.Equal(base, now) {
		return f.Document.Raw
	}
	return overlay(f.Document.Raw, base, now)
}

// WriteID leaves out an id that the importer made up for an original without one.
func WriteID(o *Record, key string, c *callvet.Case, orig Node) {
	if orig.Absent() || !GeneratedID.MatchString(c.ID) {
		o.Str(key, c.ID)
	}
}

// Single is the file's only document.
func (r *Reader) Single(what string) (Node, error) {
	v := r.Src.Values
	if len(v) != 1 || v[0].Kind() != '{' {
		return Node{}, &callvet.Hinted{
			Err: fmt.Errorf("read suite: %w: %s must be one JSON object; %s holds %d values", callvet.ErrInvalid, what,
				Name(r.Src.Path), len(v)),
			Hint: "check that nothing stands before or after the object",
		}
	}
	return v[0], nil
}
