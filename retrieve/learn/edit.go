// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package learn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/value"
)

// Status is the state of an edit.
type Status string

// The states of an edit. The zero value means Proposed.
const (
	Proposed Status = "proposed" // written, not yet reviewed by a person
	Accepted Status = "accepted" // a person wants it in the catalog
	Rejected Status = "rejected" // not to be used; Reason explains why
)

// Edit changes texts of one tool. Nil members change nothing.
type Edit struct {
	// Tool is the tool's name in the catalog.
	Tool string
	// Name is a new name of the tool, Title its new name for people.
	Name, Title, Description *string
	// Keywords and Examples replace the lists; empty lists leave none.
	Keywords, Examples []string
	// Parameters are descriptions of parameters by their dotted path: "city",
	// "address.street".
	Parameters []ParameterText
	// Was is the description that the edit was written for; nil: any.
	Was *string
	// Status is empty where the file has none.
	Status Status
	// Reason is for people.
	Reason string
	// Measured is the measurement when the edit was proposed; nil: none.
	Measured *Measured
	Position callvet.Position
}

// ParameterText describes one parameter.
type ParameterText struct{ Path, Text string }

// Measured compares the catalog with one edit with the original catalog: how many questions of the
// held-out half got the right tool first, and which changed. Change is a difference of rates in
// [-1,1], Lower and Upper the ends of its 95 % interval, P the two-sided p value.
type Measured struct {
	Cases                   int
	Before, After           int
	Change, Lower, Upper, P float64
	NewlyRight, NewlyWrong  []string
}

// State is the status of an edit, Proposed where it has none.
func (e *Edit) State() Status {
	if e.Status == "" {
		return Proposed
	}
	return e.Status
}

// Texts are the texts that the edit would add.
func (e *Edit) Texts() []string {
	var out []string
	for _, p := range []*string{e.Name, e.Title, e.Description} {
		if p != nil {
			out = append(out, *p)
		}
	}
	out = append(append(out, e.Keywords...), e.Examples...)
	for _, p := range e.Parameters {
		out = append(out, p.Text)
	}
	return out
}

// problem is an error about an edit with its place in the file.
func (e *Edit) problem(fix, format string, args ...any) error {
	p := callvet.Problem{Position: e.Position, Code: "edit", Message: fmt.Sprintf(format, args...), Fix: fix}
	return fmt.Errorf("%w: %w", callvet.ErrInvalid, p)
}

// ApplyEdits returns a catalog with the edits applied; c is not changed. A renamed tool keeps its
// ID, so that results can be compared. The error wraps callvet.ErrInvalid: the catalog does not
// have the tool or parameter, a tool has two edits, an edit changes nothing or was written for a
// different description, or a name is taken.
func ApplyEdits(c *retrieve.Catalogue, edits []Edit) (*retrieve.Catalogue, error) {
	out := *c
	out.Entries = slices.Clone(c.Entries)
	at := make(map[string]int, len(c.Entries))
	for i := range c.Entries {
		at[c.Entries[i].Tool.Name] = i
	}
	if err := check(c, at, edits); err != nil {
		return nil, err
	}
	for i := range edits {
		entry := &out.Entries[at[edits[i].Tool]]
		if err := edits[i].lay(entry); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// check refuses edits that do not belong to the catalog, or to one another.
func check(c *retrieve.Catalogue, at map[string]int, edits []Edit) error {
	seen, names := map[string]bool{}, map[string]string{}
	for i := range edits {
		e := &edits[i]
		ix, known := at[e.Tool]
		switch {
		case !known:
			return e.problem(nearest(e.Tool, c), "the catalogue has no tool %q", clip(e.Tool))
		case seen[e.Tool]:
			return e.problem("make one edit of them", "there are two edits of %s", clip(e.Tool))
		case len(e.Texts()) == 0 && e.Keywords == nil && e.Examples == nil:
			return e.problem("description: …", "the edit of %s changes nothing", clip(e.Tool))
		}
		seen[e.Tool] = true
		old := c.Entries[ix].Tool.Description
		if e.Was != nil && *e.Was != old && (e.Description == nil || *e.Description != old) {
			return e.problem("look at the edit again, then correct or remove was",
				"the description of %s is no longer the one that the edit was written for", clip(e.Tool))
		}
		if e.Name == nil || *e.Name == e.Tool {
			continue
		}
		_, taken := at[*e.Name]
		if other := names[*e.Name]; taken || other != "" || *e.Name == "" {
			return e.problem("choose another name",
				"%s cannot be called %q: there is a tool of that name, or it is none", clip(e.Tool), clip(*e.Name))
		}
		if strings.ContainsFunc(*e.Name, func(r rune) bool { return unicode.IsSpace(r) || hidden(r) }) {
			return e.problem("choose another name",
				"%s cannot be called %q: a name has no spaces, and nothing that is not shown", clip(e.Tool),
				clip(*e.Name))
		}
		names[*e.Name] = e.Tool
	}
	return nil
}

func nearest(name string, c *retrieve.Catalogue) string {
	names := make([]string, len(c.Entries))
	for i := range c.Entries {
		names[i] = c.Entries[i].Tool.Name
	}
	if best := callvet.Nearest(name, names); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return ""
}

// clip prepares a name for a message: it is shortened, and invisible characters are removed.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if hidden(r) || r == '\n' {
			return '\uFFFD'
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

func (e *Edit) lay(to *retrieve.Entry) error {
	if e.Name != nil && *e.Name != e.Tool {
		if to.ID == "" {
			to.ID = to.Tool.Name
		}
		to.Tool.Name = *e.Name
	}
	if e.Title != nil {
		to.Title = *e.Title
	}
	if e.Description != nil {
		to.Tool.Description = *e.Description
	}
	if e.Keywords != nil {
		to.Keywords = e.Keywords
	}
	if e.Examples != nil {
		to.Examples = e.Examples
	}
	for _, p := range e.Parameters {
		schema, err := describe(to.Tool.Parameters, p)
		if err != nil {
			return e.problem("", "the edit of %s: %v", clip(e.Tool), err)
		}
		to.Tool.Parameters = schema
	}
	return nil
}

// describe sets the description of one parameter of a schema.
func describe(schema []byte, p ParameterText) ([]byte, error) {
	at, err := parameter(schema, p.Path)
	if err != nil {
		return nil, err
	}
	s, err := splices(nil).member(schema, at, "description", quote(p.Text))
	if err != nil {
		return nil, err
	}
	return s.apply(schema), nil
}

// parameter finds a parameter by its dotted path.
func parameter(schema []byte, path string) (value.Value, error) {
	v, err := value.Parse(schema)
	if err != nil {
		return v, fmt.Errorf("it has no parameters that can be read")
	}
	for name := range strings.SplitSeq(path, ".") {
		props, _ := v.Get("properties")
		next, ok := props.Get(name)
		if !ok || next.Kind() != value.Object {
			return v, fmt.Errorf("it has no parameter %q", clip(path))
		}
		v = next
	}
	return v, nil
}

// quote is a JSON string with unescaped letters.
func quote(s string) []byte { return encode(s) }

func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // strings and lists of them
	return bytes.TrimRight(b.Bytes(), "\n")
}
