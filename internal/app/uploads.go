// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
)

// Indexes keeps indexed catalogues between requests; the zero value is empty.
type Indexes = catalog.Indexes

// Uploads are files in memory by their names, as on a server. Nothing is written to them, and no
// name is a path.
type Uploads map[string][]byte

// With returns the App with the files that a request sends. Its targets may read them.
func (a *App) With(files Uploads) *App {
	cfg := a.Config
	cfg.Files, cfg.Permit.Files = files, true
	return &App{
		Config: cfg, secrets: a.secrets, models: a.models, pdf: a.pdf,
		uploaded: true, catalogues: a.catalogues,
	}
}

// WithCatalogues returns the App with catalogues in memory, by names. A target retrieve:NAME
// searches one of them, even if targets may not read files. They take precedence over files of the
// same name.
func (a *App) WithCatalogues(catalogues map[string][]byte) *App {
	return &App{
		Config: a.Config, secrets: a.secrets, models: a.models, pdf: a.pdf,
		uploaded: a.uploaded, catalogues: catalogues,
	}
}

// Catalogue reads a catalogue of tools in any form. If a problem is more than a warning, there is
// an error too.
func (a *App) Catalogue(name string) ([]callvet.Tool, []callvet.Problem, error) {
	c, problems, err := catalog.LoadFile(name, a.CatalogueFiles())
	if err != nil {
		return nil, problems, err
	}
	return catalog.Tools(c), problems, nil
}

// CatalogueTool is a tool with its searchable texts, which edits change.
type CatalogueTool struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Keywords    []string `json:"keywords" nullable:"false"`
	Examples    []string `json:"example_queries" nullable:"false"`
	Namespace   []string `json:"namespace" nullable:"false"`
}

// CatalogueTools returns the tools of a catalogue in their order.
func (a *App) CatalogueTools(name string) ([]CatalogueTool, error) {
	c, _, err := catalog.LoadFile(name, a.CatalogueFiles())
	if err != nil {
		return nil, err
	}
	out := make([]CatalogueTool, len(c.Entries))
	for i := range c.Entries {
		e := &c.Entries[i]
		out[i] = CatalogueTool{
			Name: e.Tool.Name, Title: e.Title, Description: e.Tool.Description,
			Keywords: append([]string{}, e.Keywords...), Examples: append([]string{}, e.Examples...),
			Namespace: append([]string{}, e.Namespace...),
		}
	}
	return out, nil
}

// Open implements Files.
func (u Uploads) Open(name string) (io.ReadCloser, error) {
	b, ok := u[name]
	if !ok {
		return nil, noUpload(name)
	}
	return inMemory{bytes.NewReader(b)}, nil
}

// inMemory is a file in memory, which can be read at any offset.
type inMemory struct{ *bytes.Reader }

// Close does nothing.
func (inMemory) Close() error { return nil }

func noUpload(name string) error { return fmt.Errorf("open %q: %w", name, callvet.ErrNotFound) }

// Path implements Files: an upload is not on a disk, so its path is its name. Without a name it is
// the working folder of commands.
func (u Uploads) Path(name string) (path string, folder bool, err error) {
	if name == "" {
		return "", true, nil
	}
	if _, ok := u[name]; !ok {
		return "", false, noUpload(name)
	}
	return name, false, nil
}

// Kind implements Files.
func (u Uploads) Kind(name string) FileKind {
	if _, ok := u[name]; ok {
		return KindFile
	}
	return KindNone
}

// Same implements Files.
func (u Uploads) Same(a, b string) bool { return a == b }

// Existing implements Files.
func (u Uploads) Existing(name string) (data []byte, there bool, err error) {
	b, ok := u[name]
	return b, ok, nil
}

func (u Uploads) denied(name string) error {
	return fmt.Errorf("write %s: %w: files that were sent along are only read", name, callvet.ErrDenied)
}

// Write implements Files; it is denied.
func (u Uploads) Write(_ context.Context, name string, _ func(io.Writer) error) error {
	return u.denied(name)
}

// Append implements Files; it is denied.
func (u Uploads) Append(name string) (Growing, error) { return nil, u.denied(name) }

// Folder implements Files; it is denied.
func (u Uploads) Folder(_ context.Context, name string) error { return u.denied(name) }

// Hold implements Files.
func (u Uploads) Hold(context.Context, string) (release func() error, err error) {
	return func() error { return nil }, nil
}

var _ Files = Uploads(nil)
