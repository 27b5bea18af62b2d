// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package library

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/suite/native"
)

// Import reads a suite in any form of the loader. A text that is not JSON with cases in a stored
// form is converted to callvet's own form, which keeps all its data. name is for a suite without
// one. The error is a *RefusedError if the suite has errors; its places are places in the sent text
// only if Form is a stored form.
func (l *Suites) Import(ctx context.Context, text []byte, format, name string) (*Document, error) {
	s, problems, err := l.read(ctx, text, format)
	if s == nil || err != nil {
		return nil, unread(problems, err)
	}
	d, perr := parseDocument(text, formOf(text, format))
	if errors.Is(perr, errOtherForm) {
		if _, bad := (&Document{}).sort(problems); bad {
			return nil, unread(problems, nil)
		}
		if name != "" && s.Name == "" {
			s.Name = name
		}
		return converted(s)
	}
	if perr != nil {
		return nil, perr
	}
	if d.Text("name") == "" && name != "" {
		if err := d.SetText("name", name); err != nil {
			return nil, err
		}
	}
	if placed, bad := d.sort(problems); bad {
		return nil, &RefusedError{placed}
	}
	return d, nil
}

// formOf returns the form of a text: the one that the caller names, or else the one that is
// recognized.
func formOf(text []byte, format string) string {
	if format != "" {
		return format
	}
	return suite.Form(text, "-")
}

// Made returns a document of a suite in memory.
func Made(s *callvet.Suite) (*Document, error) { return converted(s) }

// unread is the error of an unusable text.
func unread(problems []callvet.Problem, err error) error {
	placed, bad := (&Document{}).sort(problems)
	if !bad {
		return err
	}
	for i := range placed {
		placed[i].Place = ""
	}
	return &RefusedError{placed}
}

// Own converts a document to callvet's own form, which has more fields.
func (d *Document) Own() error {
	if d.Form == FormOwn {
		return nil
	}
	s, err := load(d)
	if err != nil {
		return err
	}
	own, err := converted(s)
	if err != nil {
		return err
	}
	*d = *own
	return nil
}

// Adopt adds a case of another suite with the same question and expectations, and returns its id. A
// case of a tier gets an id of its tier; another case keeps its id if it is free. differ names the
// settings that the case cannot keep. The error wraps callvet.ErrConflict if the suite already has
// the prompt.
func (d *Document) Adopt(from *callvet.Suite, c *callvet.Case, tool string) (id string, differ []string, err error) {
	if err := d.Own(); err != nil {
		return "", nil, err
	}
	to, err := load(d)
	if err != nil {
		return "", nil, err
	}
	moved, differ, err := suite.Adopted(c, from, to, tool, &suite.Lock{})
	if err != nil {
		return "", nil, err
	}
	one, err := converted(&callvet.Suite{Name: to.Name, Tools: to.Tools, Cases: []callvet.Case{moved}})
	if err != nil {
		return "", nil, err
	}
	d.Cases = append(d.Cases, one.Cases[0])
	return moved.ID, differ, nil
}

// load reads a document that was linted before.
func load(d *Document) (*callvet.Suite, error) {
	s, _, err := suite.Load("-",
		suite.Options{Stdin: bytes.NewReader(d.Bytes()), NoIncludes: true, KeepTokens: true, Dialect: d.Form})
	if err != nil {
		return nil, fmt.Errorf("read suite: %w", err)
	}
	return s, nil
}

// Exports returns the forms that Export writes, the default first.
func Exports() []string {
	out := []string{FormToolsuite}
	for _, name := range suite.Exports() {
		if name != FormToolsuite {
			out = append(out, name)
		}
	}
	return out
}

// Export writes a suite in a form of Exports, and returns the data for which the form has no place.
// callvet's own form is JSON, or YAML with yaml.
func (d *Document) Export(form string, yaml bool) (text []byte, lost []callvet.Problem, err error) {
	if form == d.Form && !yaml {
		return d.Bytes(), nil, nil
	}
	s, err := load(d)
	if err != nil {
		return nil, nil, err
	}
	if form == FormOwn {
		kind := "json"
		if yaml {
			kind = "yaml"
		}
		text, err = native.Export(s, kind)
	} else {
		text, lost, err = suite.ExportAs(form, s)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("export suite: %w", err)
	}
	return text, lost, nil
}

// View is a suite in the fields of Tool Calling Evaluation.
type View struct {
	Name, Description, SystemPrompt string
	// Tools are functions in that format.
	Tools []jsontext.Value
	Cases []CaseView
	// Lost lists the data of the suite that the fields cannot express.
	Lost []string
}

// CaseView is a case in the fields of Tool Calling Evaluation.
type CaseView struct {
	ID string
	// Fields are the fields of the format.
	Fields jsontext.Value
	// Own is the case in callvet's own form; nil if the suite is stored in the other form. Lost
	// lists its data that Fields cannot express.
	Own  jsontext.Value
	Lost []string
}

// View returns the suite in the fields of Tool Calling Evaluation.
func (d *Document) View() (*View, error) {
	shown, lost := d, []callvet.Problem(nil)
	if d.Form != FormToolsuite {
		text, gone, err := d.Export(FormToolsuite, false)
		if err != nil {
			return nil, err
		}
		if shown, err = parseDocument(text, FormToolsuite); err != nil || len(shown.Cases) != len(d.Cases) {
			return nil, fmt.Errorf("show suite: it cannot be written as a tool suite: %w", callvet.ErrInvalid)
		}
		lost = gone
	}
	v := &View{
		Name: d.Text("name"), Description: d.Text("description"), SystemPrompt: d.Text("system_prompt"),
		Tools: []jsontext.Value{}, Cases: make([]CaseView, len(d.Cases)),
	}
	if raw := shown.Get("tools"); raw.Kind() == '[' {
		list, err := elements(raw)
		if err != nil {
			return nil, err
		}
		v.Tools = list
	}
	at := map[string]*CaseView{}
	for i, id := range d.IDs() {
		v.Cases[i] = CaseView{ID: id, Fields: shown.Cases[i]}
		if shown != d {
			v.Cases[i].Own = d.Cases[i]
		}
		at[id] = &v.Cases[i]
	}
	for i := range lost {
		to := &v.Lost
		if c := at[lost[i].Case]; c != nil {
			to = &c.Lost
		}
		if what := lost[i].Key; what != "" && !slices.Contains(*to, what) {
			*to = append(*to, what)
		}
	}
	return v, nil
}

// Read reads the text of a suite without storing it, for an editor. It returns its form, the number
// of its cases and its problems, with places if the text is JSON.
func (l *Suites) Read(ctx context.Context, text []byte,
	format string,
) (form string, cases int, problems []Placed, err error) {
	s, list, err := l.read(ctx, text, format)
	d := &Document{}
	if s != nil {
		form, cases = formOf(text, format), len(s.Cases)
		if whole, perr := parseDocument(text, form); perr == nil {
			d = whole
		}
	}
	placed, bad := d.sort(list)
	if d.Form == "" {
		for i := range placed {
			placed[i].Place = ""
		}
	}
	if s == nil && bad {
		err = nil // the problems contain it
	}
	return form, cases, placed, err
}
