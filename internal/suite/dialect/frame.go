// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/callvet/callvet"
)

// frame is what Suite.Foreign holds: the document without its cases, and what
// an exporter needs to put them back.
type frame struct {
	form     string // of the source: json, jsonl, yaml
	document node
	extra    record
}

// frameOf empties the named array of doc and wraps the rest.
func frameOf(src *source, doc node, cases string, extra record) json.RawMessage {
	var o record
	o.str("form", src.form)
	o.raw("document", withMember(doc, cases, []byte("[]")))
	return append(o, extra...).bytes()
}

func readFrame(s *callvet.Suite, dialect string) (frame, bool) {
	if s.Dialect != dialect {
		return frame{}, false
	}
	n, ok := trusted(s.Foreign)
	if !ok || !n.has("document") {
		return frame{}, false
	}
	f := frame{document: n.get("document")}
	f.form, _ = n.get("form").text()
	for _, m := range n.members(nil) {
		if m.name != "form" && m.name != "document" {
			f.extra.raw(m.name, m.val.raw)
		}
	}
	return f, true
}

func (f frame) get(key string) node { return node{raw: f.extra.bytes()}.get(key) }

// withMember gives an object with one key's value replaced, or added at the end.
func withMember(doc node, key string, val []byte) []byte {
	var out record
	found := false
	for _, m := range doc.members(nil) {
		if m.name == key {
			found = true
			out.raw(key, val)
			continue
		}
		out.raw(m.name, m.val.raw)
	}
	if !found {
		out.raw(key, val)
	}
	return out.bytes()
}

// caseFormat is how one dialect reads and writes a single case.
type caseFormat struct {
	read  func(r *reader, n node, index int) callvet.Case
	write func(c *callvet.Case, orig node) []byte
	can   []feature
	opt   Options
}

// export gives a case's original with what changed laid over it, or a newly
// written case when there is no original, with what could not be said.
func (f caseFormat) export(c *callvet.Case, orig node) ([]byte, []callvet.Problem) {
	if orig.kind() != '{' {
		return f.write(c, node{}), loseCase(c, f.can)
	}
	base := f.reread(orig)
	was, is := f.write(&base, orig), f.write(c, orig)
	var lost []callvet.Problem
	before := features(&base)
	for _, p := range loseCase(c, f.can) {
		if !slices.Contains(before, feature(p.Key)) {
			lost = append(lost, p)
		}
	}
	if bytes.Equal(was, is) {
		return orig.raw, lost
	}
	return overlay(orig.raw, was, is), lost
}

// reread imports an original again, as it was before any change.
func (f caseFormat) reread(orig node) callvet.Case {
	r := newReader(&source{text: orig.raw, form: "json"}, f.opt)
	return f.read(r, node{raw: orig.raw}, 0)
}

// exportFrame lays the suite's own keys over the frame's document.
func exportFrame(f frame, base, now []byte) []byte {
	if bytes.Equal(base, now) {
		return f.document.raw
	}
	return overlay(f.document.raw, base, now)
}

// writeID leaves out an id that the importer made up for an original without one.
func writeID(o *record, key string, c *callvet.Case, orig node) {
	if orig.absent() || !generatedID.MatchString(c.ID) {
		o.str(key, c.ID)
	}
}
