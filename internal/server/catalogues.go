// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/library"
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

func catalogueEntry(c *library.Catalogue) CatalogueEntry {
	return CatalogueEntry{
		ID: c.ID, Name: c.Name, Version: c.Version, Hash: c.Hash, ToolCount: c.Tools, Owner: c.User,
		Shared: c.Shared, CreatedAt: milli(c.Created), UpdatedAt: milli(c.Updated),
	}
}

func (s *Server) addCatalogues() {
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: "/api/catalogues" + path, Summary: summary,
			Tags: []string{"catalogues"},
		}
	}
	of := func(role account.Role) Access {
		return Access{Role: role, Objects: map[string]Kind{"id": KindCatalogue}}
	}
	const doc = "tools in any form that callvet reads: a list of functions, or tools with keywords, examples and namespaces"
	add(s,
		op("list-catalogues", http.MethodGet, "",
			"Lists catalogues of tools, the newest first: one's own, and those that are shared."), Access{},
		s.listCatalogues)
	create := uploaded(op("create-catalogue", http.MethodPost, "", "Keeps a catalogue of tools."), doc)
	create.DefaultStatus = http.StatusCreated
	add(s, create, Access{Role: account.Member}, s.createCatalogue)
	add(s, op("get-catalogue", http.MethodGet, "/{id}", "Gives a catalogue as it was sent."), of(""), s.getCatalogue)
	add(s, op("list-catalogue-tools", http.MethodGet, "/{id}/tools",
		"Lists the tools of a catalogue with the texts by which they are found."), of(""), s.catalogueTools)
	add(s,
		uploaded(op("update-catalogue", http.MethodPut, "/{id}", "Puts another text in place of that of a catalogue."),
			doc), of(account.Member), s.putCatalogue)
	drop := op("delete-catalogue", http.MethodDelete, "/{id}", "Removes a catalogue. Runs that searched it stay.")
	drop.DefaultStatus = http.StatusNoContent
	add(s, drop, of(account.Member),
		func(ctx context.Context, by *account.Principal, in *CataloguePath) (*struct{}, error) {
			return nil, s.library.DropCatalogue(ctx, in.ID, s.deletes(ctx, by, KindCatalogue, in.ID))
		})
}

// CataloguePath is a path that names a catalogue.
type CataloguePath struct {
	ID string `path:"id" maxLength:"64"`
}

func (s *Server) listCatalogues(ctx context.Context, by *account.Principal,
	in *PageIn,
) (*struct{ Body Page[CatalogueEntry] }, error) {
	from, err := in.mark()
	if err != nil {
		return nil, err
	}
	list, err := s.library.Catalogues(ctx, by.User, by.Role == account.Admin,
		library.Page{Before: from.At, BeforeID: from.ID, N: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	list, next := cut(list, in.Limit, func(c *library.Catalogue) pageMark { return pageMark{c.Created, c.ID} })
	out := Page[CatalogueEntry]{Items: make([]CatalogueEntry, len(list)), Next: next}
	for i := range list {
		out.Items[i] = catalogueEntry(&list[i])
	}
	return &struct{ Body Page[CatalogueEntry] }{out}, nil
}

// catalogueFile is the file name under which an App reads a catalogue.
const catalogueFile = "catalogue.json"

// readCatalogue reads the catalogue of a request.
func (s *Server) readCatalogue(ctx context.Context, by *account.Principal, in *Upload, f *CatalogueFields,
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
	return s.catalogueText(ctx, by, text, c)
}

// catalogueText sets the text of a catalogue, if it contains tools.
func (s *Server) catalogueText(ctx context.Context, by *account.Principal, text []byte,
	c *library.Catalogue,
) ([]Remark, error) {
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	tools, problems, err := a.With(app.Uploads{catalogueFile: text}).Catalogue(catalogueFile)
	notes := []Remark{}
	for _, p := range problems {
		notes = append(notes, remarkOf(&p))
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

func (s *Server) createCatalogue(ctx context.Context, by *account.Principal, in *struct {
	Upload
	CatalogueFields
},
) (*versioned[CatalogueWritten], error) {
	c := &library.Catalogue{User: by.User}
	notes, err := s.readCatalogue(ctx, by, &in.Upload, &in.CatalogueFields, c)
	if err != nil {
		return nil, err
	}
	if err := s.library.AddCatalogue(ctx, c); err != nil {
		return nil, err
	}
	if err := s.sharesNew(ctx, by, KindCatalogue, c.ID, c.Shared); err != nil {
		return nil, err
	}
	return &versioned[CatalogueWritten]{etag(c.Version), CatalogueWritten{catalogueEntry(c), notes}}, nil
}

func (s *Server) getCatalogue(ctx context.Context, _ *account.Principal, in *CataloguePath) (*file, error) {
	c, err := s.library.Catalogue(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &file{
		ContentType: "application/octet-stream",
		Disposition: fmt.Sprintf(`attachment; filename="%s-v%d"`, c.ID, c.Version), ETag: etag(c.Version),
		Body: c.Text,
	}, nil
}

// CatalogueTools are the tools of a version of a catalogue.
type CatalogueTools struct {
	Version int64               `json:"version"`
	Items   []app.CatalogueTool `json:"items" nullable:"false"`
}

func (s *Server) catalogueTools(ctx context.Context, by *account.Principal,
	in *CataloguePath,
) (*versioned[CatalogueTools], error) {
	c, err := s.library.Catalogue(ctx, in.ID)
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
	return &versioned[CatalogueTools]{etag(c.Version), CatalogueTools{c.Version, tools}}, nil
}

func (s *Server) putCatalogue(ctx context.Context, by *account.Principal, in *struct {
	CataloguePath
	IfMatching
	Upload
	CatalogueFields
},
) (*versioned[CatalogueWritten], error) {
	c, err := s.library.Catalogue(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	notes, err := s.readCatalogue(ctx, by, &in.Upload, &in.CatalogueFields, c)
	if err != nil {
		return nil, err
	}
	if err := s.library.ReplaceCatalogue(ctx, c, in.match()); err != nil {
		return nil, err
	}
	return &versioned[CatalogueWritten]{etag(c.Version), CatalogueWritten{catalogueEntry(c), notes}}, nil
}

// catalogueOf returns the catalogue that a request names, if the user may read it. Without a name
// it returns the only one.
func (s *Server) catalogueOf(ctx context.Context, by *account.Principal, id string) (*library.Catalogue, error) {
	if id == "" {
		list, err := s.library.Catalogues(ctx, by.User, by.Role == account.Admin, library.Page{N: 2})
		if err != nil {
			return nil, err
		}
		if len(list) != 1 {
			return nil, &callvet.FieldError{
				Field: "catalogue_id",
				Text:  "{catalogue_id}: it may be left out only where there is exactly one catalogue",
				Fix:   "POST /api/catalogues keeps one, GET lists them",
			}
		}
		id = list[0].ID
	} else if err := s.May(ctx, by, KindCatalogue, id, false); err != nil {
		return nil, err
	}
	return s.library.Catalogue(ctx, id)
}
