// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package library

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

// Catalogue is a searchable catalogue of tools, without its text in lists.
type Catalogue struct {
	ID, User, Name string
	// Version counts from 1; Hash is the SHA-256 of the text.
	Version int64
	Hash    string
	Tools   int64
	Shared  bool
	// Created and Updated are in milliseconds.
	Created, Updated int64
	// Text is the text as it was sent; nil in lists.
	Text []byte
}

// catalogueKind is the beginning of ids of catalogues.
const catalogueKind = "catalogue"

// IsCatalogue reports whether a name has the form of an id of a catalogue.
func IsCatalogue(name string) bool { return strings.HasPrefix(name, catalogueKind+"_") }

// AddCatalogue stores a valid catalogue. c needs its User, Name, Tools, Shared and Text; the rest
// is filled in.
func (l *Suites) AddCatalogue(ctx context.Context, c *Catalogue) error {
	if err := checkSuiteName(c.Name); err != nil {
		return err
	}
	packed, err := c.pack()
	if err != nil {
		return err
	}
	if c.ID, err = store.NewID(l.cfg.Random, catalogueKind); err != nil {
		return err
	}
	c.Version, c.Created = 1, l.cfg.Now().UnixMilli()
	c.Updated = c.Created
	return l.cfg.Store.Change(ctx, "keep catalogue", func(q *rows.Queries) error {
		if err := l.cfg.Quota.RoomFor(ctx, q, c.User, len(packed)); err != nil {
			return err
		}
		return q.AddCatalogue(ctx,
			rows.AddCatalogueParams{
				ID: c.ID, UserID: c.User, Name: c.Name, Hash: c.Hash, Tools: c.Tools,
				Shared: c.Shared, Created: c.Created, Updated: c.Updated, Content: packed,
			})
	})
}

func (c *Catalogue) pack() ([]byte, error) {
	sum := sha256.Sum256(c.Text)
	c.Hash = hex.EncodeToString(sum[:])
	return packText(c.Text)
}

// Catalogue returns a catalogue with its text. The error wraps callvet.ErrNotFound.
func (l *Suites) Catalogue(ctx context.Context, id string) (*Catalogue, error) {
	r, err := l.cfg.Store.Rows().Catalogue(ctx, id)
	if err := found(err, "catalogue", id); err != nil {
		return nil, err
	}
	if err := store.Intact(r.Whole, "catalogue "+id); err != nil {
		return nil, err
	}
	text, err := unpack(r.Content)
	if err != nil {
		return nil, err
	}
	return &Catalogue{
		ID: r.ID, User: r.UserID, Name: r.Name, Version: r.Version, Hash: r.Hash, Tools: r.Tools,
		Shared: r.Shared, Created: r.Created, Updated: r.Updated, Text: text,
	}, nil
}

// Catalogues lists a user's and the shared catalogues, or those of all users, the newest first.
func (l *Suites) Catalogues(ctx context.Context, user string, everybody bool, page Page) ([]Catalogue, error) {
	at, id := page.before()
	list, err := l.cfg.Store.Rows().Catalogues(ctx,
		rows.CataloguesParams{UserID: user, Everybody: everybody, Before: at, BeforeID: id, N: int32(page.N)}) //nolint:gosec // the caller bounds it
	if err != nil {
		return nil, fmt.Errorf("list catalogues: %w", err)
	}
	out := make([]Catalogue, len(list))
	for i, r := range list {
		out[i] = Catalogue{
			ID: r.ID, User: r.UserID, Name: r.Name, Version: r.Version, Hash: r.Hash, Tools: r.Tools,
			Shared: r.Shared, Created: r.Created, Updated: r.Updated,
		}
	}
	return out, nil
}

// ReplaceCatalogue replaces the text of a catalogue. c is the stored catalogue with its new text.
// match is as in Edit.
func (l *Suites) ReplaceCatalogue(ctx context.Context, c *Catalogue, match func(int64) bool) error {
	if err := checkSuiteName(c.Name); err != nil {
		return err
	}
	if match != nil && !match(c.Version) {
		return fmt.Errorf("change catalogue %s: %w: it is at version %d", c.ID, ErrChanged, c.Version)
	}
	packed, err := c.pack()
	if err != nil {
		return err
	}
	was := c.Version
	c.Version, c.Updated = was+1, l.cfg.Now().UnixMilli()
	return l.cfg.Store.Change(ctx, "keep catalogue", func(q *rows.Queries) error {
		n, err := q.ReplaceCatalogue(ctx,
			rows.ReplaceCatalogueParams{
				Name: c.Name, Hash: c.Hash, Tools: c.Tools, Shared: c.Shared,
				Updated: c.Updated, Content: packed, ID: c.ID, Was: was,
			})
		if err == nil && n == 0 {
			err = fmt.Errorf("change catalogue %s: %w", c.ID, ErrChanged)
		}
		if err != nil {
			return err
		}
		return l.cfg.Quota.RoomFor(ctx, q, c.User, 0) // the earlier text is already free
	})
}

// DropCatalogue removes a catalogue.
func (l *Suites) DropCatalogue(ctx context.Context, id string, also store.Also) error {
	return l.cfg.Store.Change(ctx, "delete catalogue", func(q *rows.Queries) error {
		_, err := q.DropCatalogue(ctx, id)
		return errors.Join(err, also.Do(q))
	})
}
