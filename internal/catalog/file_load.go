// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve"
)

// MaxFileBytes is the size of the largest catalogue.
const MaxFileBytes = retrieve.MaxCatalogueBytes

// Files reads the files of a request. A command line reads paths, a server reads uploads.
type Files interface {
	// Read returns the content of a file, at most limit bytes; a longer one is an error that wraps
	// callvet.ErrLimited. The error of a folder is a *Folder.
	Read(name string, limit int64) ([]byte, error)
}

// Folder is the error of reading a folder; Names are the names of its files.
type Folder struct {
	Name  string
	Names []string
}

func (f *Folder) Error() string { return f.Name + " is a folder" }

// ReadFiles reads a file, or each file of a folder of tools: of several versions of one tool,
// NAME.v1.json and NAME.v2.json, only the newest.
func ReadFiles(files Files, name string) ([]retrieve.CatalogueFile, error) {
	data, err := files.Read(name, MaxFileBytes)
	var dir *Folder
	if !errors.As(err, &dir) {
		return []retrieve.CatalogueFile{{Name: name, Data: data}}, err
	}
	newest := map[string]string{} // versions by tool
	for _, n := range dir.Names {
		if tool, version, ok := callvet.SplitToolFile(filepath.Base(n)); ok &&
			callvet.CompareVersions(newest[tool], version) < 0 {
			newest[tool] = version
		}
	}
	var out []retrieve.CatalogueFile
	for _, n := range dir.Names {
		if tool, version, ok := callvet.SplitToolFile(filepath.Base(n)); ok && newest[tool] != version {
			continue
		}
		data, err := files.Read(n, MaxFileBytes)
		if err != nil {
			return nil, err
		}
		out = append(out, retrieve.CatalogueFile{Name: n, Data: data})
	}
	if len(out) == 0 {
		return nil, &callvet.Hinted{Err: fmt.Errorf("%s: %w: no file of the folder can be one of tools", name,
			callvet.ErrNotFound), Hint: "tool files end in .json, .jsonc, .yaml or .yml"}
	}
	return out, nil
}

// LoadFile reads a catalog in any form of a list of tools: JSON (with comments or one tool a line),
// YAML, zipped, or a folder with one file per tool. The problems are warnings; with an error also
// mistakes. With an error the catalog has the readable part, only for a lint.
func LoadFile(name string, from Files) (*retrieve.Catalogue, []callvet.Problem, error) {
	files, err := ReadFiles(from, name)
	if err != nil {
		return nil, nil, fmt.Errorf("read catalogue: %w", err)
	}
	unplaced := map[string]bool{} // lines are those of the file, columns are not
	for i, f := range files {
		t, err := PlainText(f.Name, f.Data)
		var h *callvet.Hinted
		// The problem of a compressed file is already reported.
		if errors.Is(err, callvet.ErrInvalid) && !errors.As(err, &h) {
			err = &callvet.Hinted{
				Err:  err,
				Hint: "a catalogue is a list of tools in JSON or YAML: docs/guides/catalogues.md, Catalogues",
			}
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read catalogue: %w", err)
		}
		files[i].Data, unplaced[f.Name] = t.JSON, !t.Placed
	}
	c, problems, err := retrieve.LoadCatalogueFiles(name, files)
	for i := range problems {
		if unplaced[problems[i].File] {
			problems[i].Column = 0
		}
	}
	return c, problems, refused(name, problems, err)
}

// refused is the error with the first mistake of a catalog, and how to see the others.
func refused(name string, problems []callvet.Problem, err error) error {
	var mistakes []callvet.Problem
	for _, p := range problems {
		if !p.Warning {
			mistakes = append(mistakes, p)
		}
	}
	switch n := len(mistakes); {
	case err == nil || n == 0:
		return err
	case n == 1:
		return fmt.Errorf("read catalogue: %w: %w", callvet.ErrInvalid, mistakes[0])
	default:
		return &callvet.Hinted{Err: fmt.Errorf("read catalogue: %w: %w, and %s", callvet.ErrInvalid, mistakes[0],
			plain.Count(n-1, "mistake more", "mistakes more")), Hint: "callvet tools lint " + name + " lists them all"}
	}
}

// ParseFile reads a catalogue in JSON.
func ParseFile(name string, text []byte) (*retrieve.Catalogue, error) {
	c, _, err := retrieve.LoadCatalogue(name, text)
	return c, err
}

// FileText is a file as JSON.
type FileText struct {
	JSON []byte
	// Mark is the byte order mark before JSON in the file itself.
	Mark []byte
	// Form is the form of the file; empty for JSON, which keeps every byte.
	Form string
	// Placed: lines and columns of the JSON equal those in the file; otherwise only lines do.
	Placed bool
}

// The forms of files that are not plain JSON.
const (
	FormCompressed = "compressed"
	formYAML       = "YAML"
	formLines      = "JSON with comments, or of one tool a line"
)

// PlainText reads a file of at most MaxBytes without compression as JSON. The error wraps
// callvet.ErrInvalid for a file in no known form, and callvet.ErrLimited for a larger one.
func PlainText(name string, data []byte) (t FileText, err error) {
	rest := data
	if mark := []byte("\xef\xbb\xbf"); bytes.HasPrefix(data, mark) {
		t.Mark, rest = mark, data[len(mark):]
	}
	open, err := doc.ReadAll(name, rest, MaxFileBytes)
	if err != nil {
		return t, err
	}
	t.JSON, t.Placed, err = doc.PlainJSON(name, open)
	switch {
	case err != nil:
		return t, fmt.Errorf("%w: %w", callvet.ErrInvalid, err)
	case bytes.Equal(t.JSON, rest):
		return t, nil
	case bytes.Equal(t.JSON, open):
		t.Form = FormCompressed
	case doc.IsYAML(name, open):
		t.Form = formYAML
	default:
		t.Form = formLines
	}
	t.Mark = nil
	return t, nil
}
