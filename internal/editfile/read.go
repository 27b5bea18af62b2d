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
	r := &reader{doc: doc}
	for _, d := range doc.Dups {
		r.problem(d.At, "duplicate-key", "remove one", "the key %q stands here for the second time, first on line %d", source.Clip(d.Name, 60), doc.Position(d.First).Line)
	}
	f := &File{}
	if doc.Root.Kind == source.List {
		r.edits(f, &doc.Root)
	} else {
		r.file(f, &doc.Root)
	}
	if len(r.problems) == 0 && len(f.Edits) == 0 {
		r.problem(doc.Root.At, "no-edits", "edits: [{tool: …, description: …}]", "the file has no edits")
	}
	return f, r.problems
}

// reader turns nodes into edits and notes what it cannot accept.
type reader struct {
	doc      *source.File
	problems []callvet.Problem
}

// maxProblems is how many problems one file lists.
const maxProblems = 100

func (r *reader) problem(at int, code, fix, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, callvet.Problem{Position: r.doc.Position(at), Code: code, Message: fmt.Sprintf(format, args...), Fix: fix})
	}
}

func (r *reader) fields(n *source.Node, known string, f func(key string, v *source.Node) bool) {
	if n.Kind != source.Map {
		r.problem(n.At, "wrong-type", "", "expected a mapping, found %s", shown(n))
		return
	}
	for i := range n.Items {
		name := n.Names[i].Name
		if f(name, &n.Items[i]) {
			continue
		}
		keys := strings.Fields(known)
		fix := "known keys: " + strings.Join(keys, ", ")
		if best := callvet.Nearest(name, keys); best != "" {
			fix = fmt.Sprintf("did you mean %q?", best)
		}
		r.problem(n.Names[i].At, "unknown-key", fix, "unknown key %q", source.Clip(name, 60))
	}
}

func shown(n *source.Node) string {
	if n.Kind == source.String || n.Kind == source.Number {
		return source.Clip(string(n.Raw), 40)
	}
	return n.Kind.String()
}

func (r *reader) text(n *source.Node) string {
	switch {
	case n.Kind != source.String:
		r.problem(n.At, "wrong-type", "a text in quotes", "expected text, found %s", shown(n))
		return ""
	case len(n.Raw) > MaxText:
		r.problem(n.At, "too-large", "", "a text has at most %d bytes", MaxText)
		return ""
	}
	return n.Text()
}

func (r *reader) texts(n *source.Node) []string {
	if n.Kind != source.List {
		r.problem(n.At, "wrong-type", "[one, two]", "expected a list, found %s", shown(n))
		return nil
	}
	out := []string{}
	r.doc.Elements(n, func(_ int, v *source.Node) { out = append(out, r.text(v)) })
	return out
}

func (r *reader) number(n *source.Node) float64 {
	x, err := strconv.ParseFloat(string(n.Raw), 64)
	if n.Kind != source.Number || err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		r.problem(n.At, "wrong-type", "", "expected a number, found %s", shown(n))
		return 0
	}
	return x
}

func (r *reader) whole(n *source.Node) int64 {
	x, err := strconv.ParseInt(string(n.Raw), 10, 64)
	if n.Kind != source.Number || err != nil {
		r.problem(n.At, "wrong-type", "", "expected a whole number, found %s", shown(n))
		return 0
	}
	return x
}

func (r *reader) file(f *File, root *source.Node) {
	r.fields(root, fileKeys, func(key string, v *source.Node) bool {
		switch key {
		case "callvet":
			if v.Text() != "1" {
				r.problem(v.At, "unknown-version", "callvet: 1", "this format has version 1")
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
		r.problem(n.At, "wrong-type", "- tool: …", "expected a list of edits, found %s", shown(n))
		return
	}
	r.doc.Elements(n, func(i int, v *source.Node) {
		switch {
		case i == MaxEdits:
			r.problem(v.At, "too-many", "", "a file has at most %d edits", MaxEdits)
		case i < MaxEdits:
			f.Edits = append(f.Edits, r.edit(v))
		}
	})
}

func (r *reader) edit(n *source.Node) revise.Edit {
	e := revise.Edit{Position: r.doc.Position(n.At)}
	r.fields(n, editKeys, func(key string, v *source.Node) bool {
		if to, ok := map[string]**string{"was": &e.Was, "name": &e.Name, "title": &e.Title, "description": &e.Description}[key]; ok {
			s := r.text(v)
			*to = &s
			return true
		}
		return r.setting(&e, key, v)
	})
	if e.Tool == "" && n.Kind == source.Map {
		r.problem(n.At, "no-tool", "tool: the tool's name", "the edit names no tool")
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
			r.problem(v.At, "wrong-type", "parameters: {city: \"…\"}", "expected a mapping, found %s", shown(v))
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
		r.problem(v.At, "unknown-value", "proposed, accepted or rejected", "there is no status %s", shown(v))
	}
	return s
}

func (r *reader) measured(n *source.Node) *revise.Measured {
	m := &revise.Measured{}
	r.fields(n, measuredKeys, func(key string, v *source.Node) bool {
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
				r.problem(v.At, "wrong-type", "[-0.1, 0.2]", "expected two numbers, found %s", shown(v))
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
