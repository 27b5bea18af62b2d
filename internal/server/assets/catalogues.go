// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
)

type (
	// CatalogueEntry is a searchable catalogue of tools.
	CatalogueEntry struct {
		ID        string    `json:"id"`
		Name      string    `json:"name"`
		Version   int64     `json:"version" doc:"counts from 1 with every edit; it is the ETag, too"`
		Hash      string    `json:"hash" doc:"SHA-256 of the text"`
		ToolCount int64     `json:"tool_count"`
		Owner     string    `json:"owner" doc:"the id of its owner"`
		Shared    bool      `json:"shared" doc:"every user may read it"`
		CreatedAt time.Time `json:"created_at"`
		UpdatedAt time.Time `json:"updated_at"`
	}
	// CatalogueWritten is a stored catalogue.
	CatalogueWritten struct {
		CatalogueEntry
		Warnings []Remark `json:"warnings" nullable:"false"`
	}
	// CatalogueFields are the fields of a catalogue next to its text.
	CatalogueFields struct {
		Name   string `query:"name" maxLength:"256" doc:"empty: as the file is called, or as before"`
		Shared string `query:"shared" enum:"true,false" doc:"every user may read it; empty: as before"`
	}
)

func catalogueEntry(c *library.Catalogue) *CatalogueEntry {
	return &CatalogueEntry{
		ID: c.ID, Name: c.Name, Version: c.Version, Hash: c.Hash, ToolCount: c.Tools, Owner: c.User,
		Shared: c.Shared, CreatedAt: Milli(c.Created), UpdatedAt: Milli(c.Updated),
	}
}

func addCatalogues(s *api.Server) {
	op := api.Operations("catalogues", "/api/catalogues")
	of := func(role account.Role) api.Access {
		return api.Access{Role: role, Objects: map[string]api.Kind{"id": api.KindCatalogue}}
	}
	const doc = "tools in any form that callvet reads: a list of functions, or tools with keywords, examples and namespaces"
	api.Answer(s,
		op("list-catalogues", http.MethodGet, "",
			"Lists catalogues of tools, the newest first: one's own, and those that are shared."), api.Access{},
		api.With(s, listCatalogues))
	api.Add(s, api.Returning(http.StatusCreated, uploaded(op("create-catalogue", http.MethodPost, "",
		"Keeps a catalogue of tools."), doc)), api.Access{Role: account.Member}, api.With(s, createCatalogue))
	api.Add(s, op("get-catalogue", http.MethodGet, "/{id}", "Gives a catalogue as it was sent."), of(""),
		api.With(s, getCatalogue))
	api.Add(s, op("list-catalogue-tools", http.MethodGet, "/{id}/tools",
		"Lists the tools of a catalogue with the texts that they are found by."), of(""), api.With(s, catalogueTools))
	api.Add(s,
		uploaded(op("update-catalogue", http.MethodPut, "/{id}", "Puts another text in place of that of a catalogue."),
			doc), of(account.Member), api.With(s, putCatalogue))
	api.Add(s, api.Returning(http.StatusNoContent, op("delete-catalogue", http.MethodDelete, "/{id}",
		"Removes a catalogue. Runs that searched it stay.")), of(account.Member),
		func(ctx context.Context, by *account.Principal, in *CataloguePath) (*struct{}, error) {
			return nil, s.Library.DropCatalogue(ctx, in.ID, s.Deletes(ctx, by, api.KindCatalogue, in.ID))
		})
}

// CataloguePath is a path that names a catalogue.
type CataloguePath struct {
	ID string `path:"id" maxLength:"64"`
}

func listCatalogues(ctx context.Context, s *api.Server, by *account.Principal,
	in *api.PageIn,
) (*api.Page[CatalogueEntry], error) {
	from, err := in.Mark()
	if err != nil {
		return nil, err
	}
	list, err := s.Library.Catalogues(ctx, by.User, by.Role == account.Admin,
		library.Page{Before: from.At, BeforeID: from.ID, N: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	return api.Listed(list, in.Limit,
		func(c *library.Catalogue) api.PageMark { return api.PageMark{At: c.Created, ID: c.ID} },
		func(c *library.Catalogue) (*CatalogueEntry, error) { return catalogueEntry(c), nil })
}

// catalogueFile is the file name under which an App reads a catalogue.
const catalogueFile = "catalogue.json"

// readCatalogue reads the catalogue of a request.
func readCatalogue(ctx context.Context, s *api.Server, by *account.Principal, in *Upload, f *CatalogueFields,
	c *library.Catalogue,
) ([]Remark, error) {
	text, name, err := in.file()
	if err != nil {
		return nil, err
	}
	switch {
	case f.Name != "":
		c.Name = f.Name
	case c.Name == "" && name != "":
		c.Name = strings.TrimSuffix(name, path.Ext(name))
	case c.Name == "":
		c.Name = "catalogue"
	}
	if f.Shared != "" {
		c.Shared = f.Shared == "true"
	}
	return catalogueText(ctx, s, by, text, c)
}

// catalogueText sets the text of a catalogue, if it contains tools.
func catalogueText(ctx context.Context, s *api.Server, by *account.Principal, text []byte,
	c *library.Catalogue,
) ([]Remark, error) {
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	tools, problems, err := a.With(app.Uploads{catalogueFile: text}).Catalogue(catalogueFile)
	notes := []Remark{}
	for _, p := range problems {
		notes = append(notes, RemarkOf(&p))
	}
	if err != nil {
		var places []library.Placed
		for _, p := range problems {
			p.File = ""
			places = append(places, library.Placed{Problem: p})
		}
		if len(places) > 0 {
			return nil, &library.RefusedError{Problems: places}
		}
		return nil, unplaced(err)
	}
	if len(tools) == 0 {
		return nil, fmt.Errorf("read catalogue: %w: no tool is in it", callvet.ErrInvalid)
	}
	c.Text, c.Tools = text, int64(len(tools))
	return notes, nil
}

func createCatalogue(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	Upload
	CatalogueFields
},
) (*Versioned[CatalogueWritten], error) {
	c := &library.Catalogue{User: by.User}
	notes, err := readCatalogue(ctx, s, by, &in.Upload, &in.CatalogueFields, c)
	if err != nil {
		return nil, err
	}
	if err := s.Library.AddCatalogue(ctx, c); err != nil {
		return nil, err
	}
	if err := s.SharesNew(ctx, by, api.KindCatalogue, c.ID, c.Shared); err != nil {
		return nil, err
	}
	return &Versioned[CatalogueWritten]{Etag(c.Version), CatalogueWritten{*catalogueEntry(c), notes}}, nil
}

func getCatalogue(ctx context.Context, s *api.Server, _ *account.Principal, in *CataloguePath) (*File, error) {
	c, err := s.Library.Catalogue(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &File{
		ContentType: "application/octet-stream",
		Disposition: fmt.Sprintf(`attachment; filename="%s-v%d"`, c.ID, c.Version), ETag: Etag(c.Version),
		Body: c.Text,
	}, nil
}

// CatalogueTools are the tools of a version of a catalogue.
type CatalogueTools struct {
	Version int64               `json:"version"`
	Items   []app.CatalogueTool `json:"items" nullable:"false"`
}

func catalogueTools(ctx context.Context, s *api.Server, by *account.Principal,
	in *CataloguePath,
) (*Versioned[CatalogueTools], error) {
	c, err := s.Library.Catalogue(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	tools, err := a.With(app.Uploads{catalogueFile: c.Text}).CatalogueTools(catalogueFile)
	if err != nil {
		return nil, unplaced(err)
	}
	return &Versioned[CatalogueTools]{Etag(c.Version), CatalogueTools{c.Version, tools}}, nil
}

func putCatalogue(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	CataloguePath
	IfMatching
	Upload
	CatalogueFields
},
) (*Versioned[CatalogueWritten], error) {
	c, err := s.Library.Catalogue(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	notes, err := readCatalogue(ctx, s, by, &in.Upload, &in.CatalogueFields, c)
	if err != nil {
		return nil, err
	}
	if err := s.Library.ReplaceCatalogue(ctx, c, in.Match()); err != nil {
		return nil, err
	}
	return &Versioned[CatalogueWritten]{Etag(c.Version), CatalogueWritten{*catalogueEntry(c), notes}}, nil
}
