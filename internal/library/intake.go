// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package library

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

// Limits in bytes of text: of one batch, of a collection, of all collections of a user.
const (
	MaxBatch      = 32 << 20
	MaxCollection = 64 << 20
	MaxUser       = 512 << 20
)

// IntakeConfig is what an Intake uses. Store is required.
type IntakeConfig struct {
	Store *store.DB
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Random makes ids; nil means crypto/rand.
	Random io.Reader
	// MaxCollection and MaxUser replace the default limits; 0: the defaults.
	MaxCollection, MaxUser int64
}

// Intake stores the traces that users send. It is safe for concurrent use.
type Intake struct{ cfg IntakeConfig }

// NewIntake makes an Intake.
func NewIntake(cfg IntakeConfig) *Intake {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.MaxCollection == 0 {
		cfg.MaxCollection = MaxCollection
	}
	if cfg.MaxUser == 0 {
		cfg.MaxUser = MaxUser
	}
	return &Intake{cfg: cfg}
}

// Collection is a set of traces of a user that is read as one file.
type Collection struct {
	ID, User, Name string
	// Form is the name of a form of traces. Lines: more can be added.
	Form  string
	Lines bool
	// Parts counts the batches that were added, Items the lines, or spans and log records, Bytes
	// the bytes of the text.
	Parts, Items, Bytes int64
	Shared              bool
	// Created and Updated are in milliseconds.
	Created, Updated int64
}

// FullError means that there is no room for a batch, and nothing of it was stored. It wraps
// callvet.ErrLimited.
type FullError struct {
	// Name is the collection's name. Of is what is full: the collection, or all collections of the
	// user.
	Name, Of string
	// Bytes is the present size, Most the limit.
	Bytes, Most int64
}

func (e *FullError) Error() string {
	return fmt.Sprintf("collection %s: %v: %s has %s of at most %s; delete a collection, or use one of another name",
		e.Name, callvet.ErrLimited, e.Of, doc.SizeText(e.Bytes), doc.SizeText(e.Most))
}

// Unwrap returns the kind of error.
func (e *FullError) Unwrap() error { return callvet.ErrLimited }

const maxCollectionName = 200

// Reserved is the prefix of names that no collection may have: they are for the other files of a
// request.
const Reserved = "body."

func checkCollection(name string) error {
	why := ""
	switch {
	case strings.TrimSpace(name) == "" || name == "-":
		why = "a collection needs a name"
	case utf8.RuneCountInString(name) > maxCollectionName:
		why = fmt.Sprintf("it has more than %d characters", maxCollectionName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		why = "it has a control character, or what is no text"
	case strings.HasPrefix(name, Reserved):
		why = "no name begins with " + Reserved
	}
	if why == "" {
		return nil
	}
	return &callvet.FieldError{Field: "collection", Text: "{collection}: " + why}
}

// Append adds a batch to the collection of a user with that name, and creates it if missing. It
// returns when the batch is on the disk. added is false if the collection has the same batch
// already: senders repeat a batch after a missing response. The error is a *FullError if there is
// no room, and wraps callvet.ErrConflict if the collection has a different form.
func (in *Intake) Append(ctx context.Context, user, name string, b *Batch) (c *Collection, added bool, err error) {
	if err := checkCollection(name); err != nil {
		return nil, false, err
	}
	packed, err := pack(b.Text)
	if err != nil {
		return nil, false, err
	}
	id, err := store.NewID(in.cfg.Random, "traces")
	if err != nil {
		return nil, false, err
	}
	hash := sha256.Sum256(b.Text)
	now := in.cfg.Now().UnixMilli()
	err = in.cfg.Store.Change(ctx, "keep traces", func(q *rows.Queries) error {
		c, added, err = in.place(ctx, q, user, name, id, b, hash[:], now)
		if err != nil || !added {
			return err
		}
		err := q.AddTracePart(ctx,
			rows.AddTracePartParams{TracesID: c.ID, Part: c.Parts, Hash: hash[:], Created: now, Content: packed})
		if err != nil {
			return err
		}
		return q.GrowTraceEntry(ctx,
			rows.GrowTraceEntryParams{ID: c.ID, Items: b.Items, Bytes: int64(len(b.Text)), Updated: now})
	})
	if err != nil {
		return nil, false, err
	}
	return c, added, nil
}

// place finds or creates the collection of a batch, and returns it with the batch counted.
func (in *Intake) place(ctx context.Context, q *rows.Queries, user, name, id string, b *Batch, hash []byte,
	now int64,
) (*Collection, bool, error) {
	size := int64(len(b.Text))
	held, err := q.TracesHeld(ctx, user)
	if err != nil {
		return nil, false, fmt.Errorf("look up traces: %w", err)
	}
	row, err := q.TraceEntryNamed(ctx, rows.TraceEntryNamedParams{UserID: user, Name: name})
	begun := err == nil
	switch {
	case errors.Is(err, sql.ErrNoRows):
		row = rows.CheckedTraceEntry{ID: id, UserID: user, Name: name, Form: b.Form, Lines: b.Lines, Created: now}
	case err != nil:
		return nil, false, fmt.Errorf("look up traces: %w", err)
	default:
		if err := store.Intact(row.Whole, "traces "+row.ID); err != nil {
			return nil, false, err
		}
		n, err := q.TracePartsOfHash(ctx, rows.TracePartsOfHashParams{TracesID: row.ID, Hash: hash})
		if err != nil || n > 0 {
			return collection(&row), false, err
		}
		if row.Form != b.Form {
			return nil, false, fmt.Errorf("collection %s: %w: it is of the form %s, and this is %s; use another name",
				name, callvet.ErrConflict, row.Form, b.Form)
		}
		if !row.Lines || !b.Lines {
			return nil, false, fmt.Errorf("collection %s: %w: an archive, or a list, stands alone; use another name",
				name, callvet.ErrConflict)
		}
	}
	if row.Bytes+size > in.cfg.MaxCollection {
		return nil, false, &FullError{Name: name, Of: "it", Bytes: row.Bytes, Most: in.cfg.MaxCollection}
	}
	if held+size > in.cfg.MaxUser {
		return nil, false, &FullError{Name: name, Of: "the user", Bytes: held, Most: in.cfg.MaxUser}
	}
	if !begun {
		err := q.AddTraceEntry(ctx,
			rows.AddTraceEntryParams{
				ID: id, UserID: user, Name: name, Form: b.Form, Lines: b.Lines, Created: now,
				Updated: now,
			})
		if err != nil {
			return nil, false, fmt.Errorf("begin collection: %w", err)
		}
	}
	c := collection(&row)
	c.Parts, c.Items, c.Bytes, c.Updated = c.Parts+1, c.Items+b.Items, c.Bytes+size, now
	return c, true, nil
}

func collection(r *rows.CheckedTraceEntry) *Collection {
	return &Collection{
		ID: r.ID, User: r.UserID, Name: r.Name, Form: r.Form, Lines: r.Lines, Parts: r.Parts,
		Items: r.Items, Bytes: r.Bytes, Shared: r.Shared, Created: r.Created, Updated: r.Updated,
	}
}

// Collection returns a collection without its text. The error wraps callvet.ErrNotFound.
func (in *Intake) Collection(ctx context.Context, id string) (*Collection, error) {
	r, err := in.cfg.Store.Rows().TraceEntry(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("traces %q: %w", id, callvet.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	return collection(&r), store.Intact(r.Whole, "traces "+id)
}

// List returns at most n of a user's and the shared collections, or of those of all users, the
// newest first. It starts after a position: those begun before a time in milliseconds or, at that
// time, with a lesser id.
func (in *Intake) List(ctx context.Context, user string, everybody bool, before int64, beforeID string,
	n int,
) ([]Collection, error) {
	list, err := in.cfg.Store.Rows().TraceEntries(ctx,
		rows.TraceEntriesParams{UserID: user, Everybody: everybody, Before: before, BeforeID: beforeID, N: int32(n)}) //nolint:gosec // the caller bounds it
	if err != nil {
		return nil, fmt.Errorf("list traces: %w", err)
	}
	out := make([]Collection, len(list))
	for i := range list {
		out[i] = *collection(&list[i])
	}
	return out, nil
}

// Text returns a collection as a file.
func (in *Intake) Text(ctx context.Context, c *Collection) ([]byte, error) {
	parts, err := in.cfg.Store.Rows().TraceParts(ctx, rows.TracePartsParams{TracesID: c.ID, Part: c.Parts})
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	if err := store.Intact(int64(len(parts)) == c.Parts, "traces "+c.ID); err != nil {
		return nil, err
	}
	out := make([]byte, 0, c.Bytes+c.Parts)
	for i, p := range parts {
		if i > 0 && len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
		if err := store.Intact(p.Whole, "traces "+c.ID); err != nil {
			return nil, err
		}
		r, err := gzip.NewReader(bytes.NewReader(p.Content))
		if err != nil {
			return nil, fmt.Errorf("unpack traces: %w", err)
		}
		text, err := io.ReadAll(r) // a text that was packed here
		if err != nil {
			return nil, fmt.Errorf("unpack traces: %w", err)
		}
		out = append(out, text...)
	}
	return out, nil
}

// Share lets every user read a collection, or ends that.
func (in *Intake) Share(ctx context.Context, id string, shared bool) error {
	return in.cfg.Store.Change(ctx, "share traces", func(q *rows.Queries) error {
		return q.ShareTraces(ctx, rows.ShareTracesParams{ID: id, Shared: shared})
	})
}

// Drop removes a collection.
func (in *Intake) Drop(ctx context.Context, id string, also store.Also) error {
	return in.cfg.Store.Change(ctx, "delete traces", func(q *rows.Queries) error {
		return errors.Join(q.DropTraceParts(ctx, id), q.DropTraceEntry(ctx, id), also.Do(q))
	})
}

func pack(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compress traces: %w", err)
	}
	return b.Bytes(), nil
}
