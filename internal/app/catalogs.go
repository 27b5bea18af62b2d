// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"io"
	"path/filepath"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/internal/suite"
)

// Catalogued carries out a request about catalogues of tools, and reports the usage of embedders
// and rerankers.
func Catalogued[R any](a *App, events Events, do func(*catalog.Env) (R, error)) (R, error) {
	m := a.vectorModels(events)
	defer func() {
		_ = m.Close() // it reports its errors itself
		events.used(m.Used())
	}()
	return do(a.catalogEnv(m, events))
}

// catalogEnv returns the environment of requests about catalogues, without Ask.
func (a *App) catalogEnv(m *provider.EmbedModels, events Events) *catalog.Env {
	return &catalog.Env{
		Files: a.CatalogueFiles(), Models: m, Lookup: a.Config.Getenv, HTTP: a.Config.HTTP, Now: a.Config.Now,
		Notify: events.notify, Existing: a.Config.Files.Existing, Indexes: a.Config.Indexes,
		Write: func(ctx context.Context, name string, data []byte) error {
			return a.Config.Files.Write(ctx, name, func(w io.Writer) error {
				_, err := w.Write(data)
				return err
			})
		},
		Suite: func(ctx context.Context, name string, tools []callvet.Tool) (*callvet.Suite, error) {
			read, err := a.OpenSuite(ctx,
				SuiteRequest{Suite: name, Catalogue: tools, CatalogueFile: "catalogue"}, events)
			if err != nil {
				return nil, err
			}
			s := *read.Suite
			for c := range read.Cases(ctx) {
				s.Cases = append(s.Cases, *c)
			}
			return &s, nil
		},
	}
}

// CatalogueFiles reads the files of catalogues.
func (a *App) CatalogueFiles() catalog.Files { return catalogueFiles{a} }

type catalogueFiles struct{ app *App }

// Read implements catalog.Files: the error of a folder lists its files that may contain tools.
func (f catalogueFiles) Read(name string, limit int64) ([]byte, error) {
	if text, kept := f.app.catalogues[name]; kept {
		return text, nil
	}
	path, folder, err := f.app.Config.Files.Path(name)
	if err != nil {
		return nil, err
	}
	if !folder {
		return f.app.Read(name, limit)
	}
	files, err := suite.ToolFiles(path, f.app.Config.Permit.Outside)
	if err != nil {
		return nil, err
	}
	dir := &catalog.Folder{Name: name}
	for _, file := range files {
		dir.Names = append(dir.Names, filepath.Join(name, filepath.Base(file)))
	}
	return nil, dir
}

// vectorModels opens embedders and rerankers; it reports problems of the vector cache. The caller
// closes it.
func (a *App) vectorModels(events Events) *provider.EmbedModels {
	return &provider.EmbedModels{
		Config: provider.EmbedConfig{
			Getenv: a.Config.Getenv, HTTPClient: a.Config.HTTP, Now: a.Config.Now,
			Warn: func(what string) { events.Warn("target", what) },
		},
		Notify: events.notify, Keep: a.keptVectors,
	}
}

// keptVectors opens the file that keeps vectors between requests.
func (a *App) keptVectors(ctx context.Context) (provider.Kept, error) {
	path, err := a.Config.Vectors()
	if err != nil {
		return nil, err
	}
	return provider.OpenEmbedCache(ctx, path, 0)
}
