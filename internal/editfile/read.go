// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package editfile

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/source"
	"github.com/callvet/callvet/retrieve/revise"
)

//go:embed edits.schema.json
var schema string

// Schema is the published JSON Schema (draft 2020-12) of files of edits.
func Schema() []byte { return []byte(schema) }

// MaxBytes and MaxEdits bound a file, MaxText one text in it, in bytes.
const (
	MaxBytes = 8 << 20
	MaxEdits = 10_000
	MaxText  = 64 << 10
)

// File is what a file of edits says.
type File struct {
	// Seen are the cases of a suite that whoever wrote the edits has seen: what the
	// edits do to those tells little.
	Seen  []string
	Edits []revise.Edit
}

const (
	fileKeys     = "callvet edits seen"
	editKeys     = "tool status reason was name title description keywords example_queries parameters measured"
	measuredKeys = "cases right_before right_after change interval p newly_right newly_wrong"
)

// Read reads a file: a mapping with the list edits, or that list alone. With
// problems, the File holds what could be read.
func Read(name string, data []byte) (*File, []callvet.Problem) {
	whole := func(code, fix, message string) []callvet.Problem {
		return []callvet.Problem{{Position: callvet.Position{File: name}, Code: code, Message: message, Fix: fix}}
	}
	switch {
	case len(data) > MaxBytes:
		return &File{}, whole("too-large", "", fmt.Sprintf("a file of edits has at most %d bytes", MaxBytes))
	case len(strings.TrimSpace(string(data))) == 0:
		return &File{}, whole("empty", "edits: [{tool: …, description: …}]", "the file is empty")
	}
	doc, bad := source.Read(name, data)
	if bad != nil {
		return &File{}, []callvet.Problem{doc.Problem(bad)}
	}
	r := &reader{Notes: source.Notes{File: doc}}
	for _, d := range doc.Dups {
		r.Note(d.At, "duplicate-key", "remove one", "the key %q stands here for the second time, first on line %d", source.Clip(d.Name, 60), doc.Position(d.First).Line)
	}
	f := &File{}
	if doc.Root.Kind == source.List {
		r.edits(f, &doc.Root)
	} else {
		r.file(f, &doc.Root)
	}
	if len(r.Problems) == 0 && len(f.Edits) == 0 {
		r.Note(doc.Root.At, "no-edits", "edits: [{tool: …, description: …}]", "the file has no edits")
	}
	return f, r.Problems
}

// reader turns nodes into edits and notes what it cannot accept.
type reader struct {
	source.Notes
}

func (r *reader) text(n *source.Node) string {
	switch {
	case n.Kind != source.String:
		r.Note(n.At, "wrong-type", "a text in quotes", "expected text, found %s", n.Shown())
		return ""
	case len(n.Raw) > MaxText:
		r.Note(n.At, "too-large", "", "a text has at most %d bytes", MaxText)
		return ""
	}
	return n.Text()
}

func (r *reader) texts(n *source.Node) []string {
	if n.Kind != source.List {
		r.Note(n.At, "wrong-type", "[one, two]", "expected a list, found %s", n.Shown())
		return nil
	}
	out := []string{}
	r.File.Elements(n, func(_ int, v *source.Node) { out = append(out, r.text(v)) })
	return out
}

func (r *reader) number(n *source.Node) float64 {
	x, err := strconv.ParseFloat(string(n.Raw), 64)
	if n.Kind != source.Number || err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		r.Note(n.At, "wrong-type", "", "expected a number, found %s", n.Shown())
		return 0
	}
	return x
}

func (r *reader) whole(n *source.Node) int64 {
	x, err := strconv.ParseInt(string(n.Raw), 10, 64)
	if n.Kind != source.Number || err != nil {
		r.Note(n.At, "wrong-type", "", "expected a whole number, found %s", n.Shown())
		return 0
	}
	return x
}

func (r *reader) file(f *File, root *source.Node) {
	r.Fields(root, fileKeys, func(key string, v *source.Node) bool {
		switch key {
		case "callvet":
			if v.Text() != "1" {
				r.Note(v.At, "unknown-version", "callvet: 1", "this format has version 1")
			}
		case "edits":
			r.edits(f, v)
		case "seen":
			f.Seen = r.texts(v)
		default:
			return false
		}
		return true
	})
}

func (r *reader) edits(f *File, n *source.Node) {
	if n.Kind != source.List {
		r.Note(n.At, "wrong-type", "- tool: …", "expected a list of edits, found %s", n.Shown())
		return
	}
	r.File.Elements(n, func(i int, v *source.Node) {
		switch {
		case i == MaxEdits:
			r.Note(v.At, "too-many", "", "a file has at most %d edits", MaxEdits)
		case i < MaxEdits:
			f.Edits = append(f.Edits, r.edit(v))
		}
	})
}

func (r *reader) edit(n *source.Node) revise.Edit {
	e := revise.Edit{Position: r.File.Position(n.At)}
	r.Fields(n, editKeys, func(key string, v *source.Node) bool {
		if to, ok := map[string]**string{"was": &e.Was, "name": &e.Name, "title": &e.Title, "description": &e.Description}[key]; ok {
			s := r.text(v)
			*to = &s
			return true
		}
		return r.setting(&e, key, v)
	})
	if e.Tool == "" && n.Kind == source.Map {
		r.Note(n.At, "no-tool", "tool: the tool's name", "the edit names no tool")
	}
	return e
}

func (r *reader) setting(e *revise.Edit, key string, v *source.Node) bool {
	switch key {
	case "tool":
		e.Tool = r.text(v)
	case "reason":
		e.Reason = r.text(v)
	case "status":
		e.Status = r.status(v)
	case "keywords":
		e.Keywords = r.texts(v)
	case "example_queries":
		e.Examples = r.texts(v)
	case "parameters":
		if v.Kind != source.Map {
			r.Note(v.At, "wrong-type", "parameters: {city: \"…\"}", "expected a mapping, found %s", v.Shown())
			return true
		}
		for i := range v.Items {
			e.Parameters = append(e.Parameters, revise.ParameterText{Path: v.Names[i].Name, Text: r.text(&v.Items[i])})
		}
	case "measured":
		e.Measured = r.measured(v)
	default:
		return false
	}
	return true
}

func (r *reader) status(v *source.Node) revise.Status {
	s := revise.Status(r.text(v))
	switch s {
	case revise.Proposed, revise.Accepted, revise.Rejected:
	default:
		r.Note(v.At, "unknown-value", "proposed, accepted or rejected", "there is no status %s", v.Shown())
	}
	return s
}

func (r *reader) measured(n *source.Node) *revise.Measured {
	m := &revise.Measured{}
	r.Fields(n, measuredKeys, func(key string, v *source.Node) bool {
		switch key {
		case "cases":
			m.Cases = int(r.whole(v))
		case "right_before":
			m.Before = int(r.whole(v))
		case "right_after":
			m.After = int(r.whole(v))
		case "change":
			m.Change = r.number(v)
		case "p":
			m.P = r.number(v)
		case "interval":
			if v.Kind != source.List || len(v.Items) != 2 {
				r.Note(v.At, "wrong-type", "[-0.1, 0.2]", "expected two numbers, found %s", v.Shown())
				break
			}
			m.Lower, m.Upper = r.number(&v.Items[0]), r.number(&v.Items[1])
		case "newly_right":
			m.NewlyRight = r.texts(v)
		case "newly_wrong":
			m.NewlyWrong = r.texts(v)
		default:
			return false
		}
		return true
	})
	return m
}
