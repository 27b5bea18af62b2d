// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/library"
)

// CatalogueOf returns the catalogue that a request names, if the user may read it. Without a name
// it returns the only one.
func (s *Server) CatalogueOf(ctx context.Context, by *account.Principal, id string) (*library.Catalogue, error) {
	if id == "" {
		list, err := s.Library.Catalogues(ctx, by.User, by.Role == account.Admin, library.Page{N: 2})
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
	return s.Library.Catalogue(ctx, id)
}
