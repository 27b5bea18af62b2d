// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/retrieve/learn"
)

//go:embed edits.schema.json
var schema string

// EditsSchema is the published JSON Schema (draft 2020-12) of files of edits.
func EditsSchema() []byte { return []byte(schema) }

// MaxBytes and MaxEdits bound a file, MaxText one text in it, in bytes.
const (
	MaxEditsBytes = 8 << 20
	MaxEdits      = 10_000
	MaxText       = 64 << 10
)

// EditFile is the content of a file of edits.
type EditFile struct {
	// Seen are the cases of a suite that the author of the edits has seen: their results show
	// little about the edits.
	Seen  []string
	Edits []learn.Edit
}

const (
	fileKeys     = "callvet edits seen"
	editKeys     = "tool status reason was name title description keywords example_queries parameters measured"
	measuredKeys = "cases right_before right_after change interval p newly_right newly_wrong"
)

// ReadEdits reads a file: a mapping with the list edits, or that list alone. With problems, the
// file contains the readable part.
func ReadEdits(name string, data []byte) (*EditFile, []callvet.Problem) {
	whole := func(code, fix, message string) []callvet.Problem {
		return []callvet.Problem{{Position: callvet.Position{File: name}, Code: code, Message: message, Fix: fix}}
	}
	switch {
	case len(data) > MaxEditsBytes:
		return &EditFile{}, whole("too-large", "", fmt.Sprintf("a file of edits has at most %d bytes", MaxEditsBytes))
	case len(strings.TrimSpace(string(data))) == 0:
		return &EditFile{}, whole("empty", "edits: [{tool: …, description: …}]", "the file is empty")
	}
	document, bad := doc.Read(name, data)
	if bad != nil {
		return &EditFile{}, []callvet.Problem{document.Problem(bad)}
	}
	r := &reader{doc.Reader{File: document, Format: "edits"}}
	r.Duplicates()
	f := &EditFile{}
	if document.Root.Kind == doc.List {
		r.edits(f, &document.Root)
	} else {
		r.file(f, &document.Root)
	}
	if len(r.Problems) == 0 && len(f.Edits) == 0 {
		r.Note(document.Root.At, "no-edits", "edits: [{tool: …, description: …}]", "the file has no edits")
	}
	return f, r.Problems
}

// reader turns nodes into edits and notes what it cannot accept.
type reader struct {
	doc.Reader
}

func (r *reader) text(n *doc.Node) string {
	switch {
	case n.Kind != doc.String:
		r.Note(n.At, "wrong-type", "a text in quotes", "expected text, found %s", n.Shown())
		return ""
	case len(n.Raw) > MaxText:
		r.Note(n.At, "too-large", "", "a text has at most %d bytes", MaxText)
		return ""
	}
	return n.Text()
}

func (r *reader) texts(n *doc.Node) []string {
	if n.Kind != doc.List {
		r.Note(n.At, "wrong-type", "[one, two]", "expected a list, found %s", n.Shown())
		return nil
	}
	out := []string{}
	r.File.Elements(n, func(_ int, v *doc.Node) { out = append(out, r.text(v)) })
	return out
}

func (r *reader) number(n *doc.Node) float64 {
	x, err := strconv.ParseFloat(string(n.Raw), 64)
	if n.Kind != doc.Number || err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		r.Note(n.At, "wrong-type", "", "expected a number, found %s", n.Shown())
		return 0
	}
	return x
}

func (r *reader) whole(n *doc.Node) int64 {
	x, err := strconv.ParseInt(string(n.Raw), 10, 64)
	if n.Kind != doc.Number || err != nil {
		r.Note(n.At, "wrong-type", "", "expected a whole number, found %s", n.Shown())
		return 0
	}
	return x
}

func (r *reader) file(f *EditFile, root *doc.Node) {
	r.Fields(root, strings.Fields(fileKeys), func(key string, v *doc.Node) bool {
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

func (r *reader) edits(f *EditFile, n *doc.Node) {
	if n.Kind != doc.List {
		r.Note(n.At, "wrong-type", "- tool: …", "expected a list of edits, found %s", n.Shown())
		return
	}
	r.File.Elements(n, func(i int, v *doc.Node) {
		switch {
		case i == MaxEdits:
			r.Note(v.At, "too-many", "", "a file has at most %d edits", MaxEdits)
		case i < MaxEdits:
			f.Edits = append(f.Edits, r.edit(v))
		}
	})
}

func (r *reader) edit(n *doc.Node) learn.Edit {
	e := learn.Edit{Position: r.File.Position(n.At)}
	r.Fields(n, strings.Fields(editKeys), func(key string, v *doc.Node) bool {
		if to, ok := map[string]**string{
			"was": &e.Was, "name": &e.Name, "title": &e.Title,
			"description": &e.Description,
		}[key]; ok {
			s := r.text(v)
			*to = &s
			return true
		}
		return r.setting(&e, key, v)
	})
	if e.Tool == "" && n.Kind == doc.Map {
		r.Note(n.At, "no-tool", "tool: the tool's name", "the edit names no tool")
	}
	return e
}

func (r *reader) setting(e *learn.Edit, key string, v *doc.Node) bool {
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
		if v.Kind != doc.Map {
			r.Note(v.At, "wrong-type", "parameters: {city: \"…\"}", "expected a mapping, found %s", v.Shown())
			return true
		}
		for i := range v.Items {
			e.Parameters = append(e.Parameters, learn.ParameterText{Path: v.Names[i].Name, Text: r.text(&v.Items[i])})
		}
	case "measured":
		e.Measured = r.measured(v)
	default:
		return false
	}
	return true
}

func (r *reader) status(v *doc.Node) learn.Status {
	s := learn.Status(r.text(v))
	switch s {
	case learn.Proposed, learn.Accepted, learn.Rejected:
	default:
		r.Note(v.At, "unknown-value", "proposed, accepted or rejected", "there is no status %s", v.Shown())
	}
	return s
}

func (r *reader) measured(n *doc.Node) *learn.Measured {
	m := &learn.Measured{}
	r.Fields(n, strings.Fields(measuredKeys), func(key string, v *doc.Node) bool {
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
			if v.Kind != doc.List || len(v.Items) != 2 {
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
