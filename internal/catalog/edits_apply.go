// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve/learn"
)

// ApplyRequest requests a catalog with edits applied.
type ApplyRequest struct {
	Tools string `json:"tools"`
	Edits string `json:"edits"`
	// Status are the states of the edits to apply; none: accepted.
	Status []string `json:"status,omitempty"`
	// Output is the catalog to write, which may be the file that is read.
	Output string `json:"output"`
}

// Applied is the result of writing.
type Applied struct {
	Format    string   `json:"format"`
	Version   int      `json:"version"`
	Catalogue string   `json:"catalogue"`
	Tools     []string `json:"tools"`
	Renamed   []string `json:"renamed,omitempty"`
	Left      int      `json:"edits_left_out"`
	// Converted: the catalog was not plain JSON before; Form is its earlier form.
	Converted bool   `json:"converted,omitempty"`
	Form      string `json:"form,omitempty"`
}

// FormZipped is the form of a catalog that was plain JSON, compressed.
const FormZipped = FormZip

// Apply writes a catalog with the edits that have the requested states. All other bytes stay
// unchanged, except in forms that are written as plain JSON.
func Apply(ctx context.Context, e *Env, q ApplyRequest) (*Applied, error) {
	switch q.Output {
	case "":
		return nil, Invalid("output", "{output} NEW.json", "apply: invalid: {edits} and {output} are needed")
	case "-":
		return nil, Invalid("output", "{output} NEW.json",
			"apply: invalid: a catalogue is written to a file, whole or not at all")
	}
	r, err := ReviseCatalogue(e, q)
	if err != nil {
		return nil, err
	}
	if err := mayReplace(e, &q, r.old, r.Applied.Form); err != nil {
		return nil, err
	}
	if err := e.Write(ctx, q.Output, r.Text); err != nil {
		return nil, err
	}
	return r.Applied, nil
}

// Revised is the text of a catalog with edits applied.
type Revised struct {
	*Applied
	Text []byte
	old  []byte // as the catalog was
}

// ReviseCatalogue returns the catalog that Apply would write, and writes nothing; the output may be
// empty.
func ReviseCatalogue(e *Env, q ApplyRequest) (*Revised, error) {
	f, err := edits(e, q.Edits, q.Status, learn.Accepted)
	if err != nil {
		return nil, err
	}
	data, p, err := e.JSON(q.Tools)
	if err != nil {
		return nil, err
	}
	out, err := learn.RewriteFile(q.Tools, p.JSON, f.Edits)
	if err != nil {
		return nil, err
	}
	done := &Applied{
		Format: "callvet.tools-apply", Version: 1, Catalogue: q.Output, Left: f.left,
		Converted: p.Form != "", Form: p.Form,
	}
	for i := range f.Edits {
		d := &f.Edits[i]
		done.Tools = append(done.Tools, d.Tool)
		if d.Name != nil && *d.Name != d.Tool {
			done.Renamed = append(done.Renamed, d.Tool)
		}
	}
	return &Revised{done, append(p.Mark, out...), data}, nil
}

// mayReplace returns an error if a file other than an older catalog would be lost. Files are also
// compared by content, because one file can have many paths.
func mayReplace(e *Env, q *ApplyRequest, data []byte, form string) error {
	file, edits, to := q.Tools, q.Edits, q.Output
	same := filepath.Clean(to) == filepath.Clean(file)
	old, there, err := e.Old(to)
	if err != nil || !there && !same {
		return err
	}
	existing, err := e.Read(edits)
	switch {
	case filepath.Clean(to) == filepath.Clean(edits) || err == nil && bytes.Equal(old, existing):
		return Invalid("output", "", "apply: invalid: the catalogue would be written over the edits")
	case same || bytes.Equal(old, data):
		if form != "" {
			return Invalid("output", "{output} NEW.json",
				"write %s: invalid: only plain JSON is changed in its own place, and it is %s", to, form)
		}
		return nil
	case len(bytes.TrimSpace(old)) == 0:
		return nil
	}
	if _, _, err := e.Catalogue(to); err != nil {
		return &callvet.FieldError{
			Field: "output", Kind: callvet.ErrConflict,
			Text: fmt.Sprintf("write %s: conflict: there is a file that is no catalogue", to),
			Fix:  "{output} with another name",
		}
	}
	return nil
}
