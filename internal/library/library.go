// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package library

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/internal/suite/native"
)

// Read reads the text of a suite in the same way as a run, and lints it; format is one of the
// loader's forms, "" to detect it. A text with problems other than warnings is refused.
type Read func(ctx context.Context, text []byte, format string) (*callvet.Suite, []callvet.Problem, error)

// SuiteConfig is what a Library uses. Store and Read are required.
type SuiteConfig struct {
	Store *store.DB
	Read  Read
	// Quota bounds the stored data of a user.
	Quota store.Quota
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Random makes ids; nil means crypto/rand.
	Random io.Reader
	// Kept is how long a deleted suite can be restored; 0 means 30 days.
	Kept time.Duration
}

// Suites stores the suites of users. It is safe for concurrent use.
type Suites struct {
	cfg SuiteConfig
	big chan struct{} // a slot for each reader of a big text
}

const (
	// A text of bigText bytes or more takes seconds to read. bigAtOnce of them are read at once.
	bigText   = 1 << 20
	bigAtOnce = 2
)

// read is SuiteConfig.Read. Only a few big texts are read at once, so that a few users do not use
// all processors.
func (l *Suites) read(ctx context.Context, text []byte, format string) (*callvet.Suite, []callvet.Problem, error) {
	if len(text) >= bigText {
		select {
		case l.big <- struct{}{}:
			defer func() { <-l.big }()
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	return l.cfg.Read(ctx, text, format)
}

// NewSuites makes a Library.
func NewSuites(cfg SuiteConfig) *Suites {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Kept == 0 {
		cfg.Kept = 30 * 24 * time.Hour
	}
	return &Suites{cfg: cfg, big: make(chan struct{}, bigAtOnce)}
}

// ErrChanged means that the suite is not at the version of the edit. It wraps callvet.ErrConflict.
var ErrChanged = fmt.Errorf("%w: it was changed meanwhile", callvet.ErrConflict)

// Entry is a suite without its text.
type Entry struct {
	ID, User, Name string
	// Version counts from 1; Hash is that of the suite in the store of runs.
	Version int64
	Hash    string
	// Form is FormToolsuite or FormOwn.
	Form         string
	Tools, Cases int64
	Shared       bool
	// Created and Updated are in milliseconds.
	Created, Updated int64
}

// Placed is a problem with its place in the text: test_cases[3].expected_tool, or "".
type Placed struct {
	callvet.Problem
	Place string `json:"place,omitempty"`
}

// RefusedError has the errors of a suite, a catalogue, gates or edits, which are not stored. It
// wraps callvet.ErrInvalid.
type RefusedError struct{ Problems []Placed }

func (e *RefusedError) Error() string {
	n, first := 0, ""
	for i := range e.Problems {
		if p := &e.Problems[i]; !p.Warning {
			if n++; first == "" {
				first = p.Message
			}
		}
	}
	if n == 1 {
		return "there is an error: " + first
	}
	return fmt.Sprintf("there are %d errors; the first one: %s", n, first)
}

// Unwrap returns the kind of error.
func (e *RefusedError) Unwrap() error { return callvet.ErrInvalid }

// checked is a text that was read.
type checked struct {
	doc         *Document
	text        []byte
	suite       *callvet.Suite
	hash        string
	last        int64
	warnings    []Placed
	toolsInside int64
}

// check reads and lints a document, after every case got an id. The error is a *RefusedError if it
// has errors.
func (l *Suites) check(ctx context.Context, d *Document, last int64) (*checked, error) {
	last, err := d.Name(last)
	if err != nil {
		return nil, err
	}
	c := &checked{doc: d, text: d.Bytes(), last: last}
	s, problems, err := l.read(ctx, c.text, d.Form)
	placed, bad := d.sort(problems)
	if bad {
		return nil, &RefusedError{placed}
	}
	if err != nil {
		return nil, err
	}
	c.suite, c.warnings = s, placed
	if c.hash, err = hashOf(s); err != nil {
		return nil, err
	}
	c.toolsInside = int64(len(s.Tools))
	return c, nil
}

// hashOf returns the hash under which a run stores the suite.
func hashOf(s *callvet.Suite) (string, error) {
	return store.SuiteHashFrom(s, func(yield func(*callvet.Case, error) bool) {
		for i := range s.Cases {
			if !yield(&s.Cases[i], nil) {
				return
			}
		}
	})
}

// sort places problems, and reports whether one is an error. A suite without cases yet is not an
// error.
func (d *Document) sort(problems []callvet.Problem) (out []Placed, bad bool) {
	at, last := map[string]int{}, map[string]int{}
	for i, id := range d.IDs() {
		if id == "" {
			if id = native.AutoID(i); d.Form == FormToolsuite { // as the loaders do
				id = "case-" + strconv.Itoa(i+1)
			}
		}
		last[id] = i
		if _, twice := at[id]; !twice {
			at[id] = i
		}
	}
	out = []Placed{}
	for _, p := range problems {
		p.File = ""
		if p.Code == "no-cases" {
			p.Warning = true
		}
		bad = bad || !p.Warning
		where := at
		if p.Code == "duplicate-id" {
			where = last
		}
		out = append(out, Placed{p, d.place(&p, where)})
	}
	return out, bad
}

// Written is the result of a write.
type Written struct {
	Entry
	// Warnings are the linter's findings that are not errors.
	Warnings []Placed
	// Changed is false if the text did not change: then there is no new version.
	Changed bool
	// Document is the present suite.
	Document *Document
}

// Add stores a new suite of a user. The error is a *RefusedError if it has errors.
func (l *Suites) Add(ctx context.Context, user string, d *Document, note string, shared bool) (*Written, error) {
	name := d.Text("name")
	if err := checkSuiteName(name); err != nil {
		return nil, err
	}
	c, err := l.check(ctx, d, 0)
	if err != nil {
		return nil, err
	}
	id, err := store.NewID(l.cfg.Random, "suite")
	if err != nil {
		return nil, err
	}
	packed, err := packText(c.text)
	if err != nil {
		return nil, err
	}
	now := l.cfg.Now().UnixMilli()
	err = l.cfg.Store.Change(ctx, "keep suite", func(q *rows.Queries) error {
		if err := errors.Join(l.cfg.Quota.RoomForSuite(ctx, q, user),
			l.cfg.Quota.RoomFor(ctx, q, user, len(packed))); err != nil {
			return err
		}
		if err := q.AddSuiteEntry(ctx,
			rows.AddSuiteEntryParams{
				ID: id, UserID: user, Name: name, Folded: strings.ToLower(name), Version: 1,
				Hash: c.hash, LastCase: c.last, Shared: shared, Created: now, Updated: now,
			}); err != nil {
			return err
		}
		return q.AddSuiteVersion(ctx, c.version(id, 1, user, note, now, packed))
	})
	if err != nil {
		return nil, err
	}
	return &Written{Entry: Entry{
		ID: id, User: user, Name: name, Version: 1, Hash: c.hash, Form: d.Form, Tools: c.toolsInside,
		Cases: int64(len(d.Cases)), Shared: shared, Created: now, Updated: now,
	}, Warnings: c.warnings, Changed: true, Document: d}, nil
}

func (c *checked) version(id string, n int64, user, note string, now int64, packed []byte) rows.AddSuiteVersionParams {
	return rows.AddSuiteVersionParams{
		SuiteID: id, Version: n, Hash: c.hash, UserID: user, Created: now, Note: []byte(note), Form: c.doc.Form,
		Tools: c.toolsInside, Cases: int64(len(c.doc.Cases)), Content: packed,
	}
}

// maxSuiteName bounds the name of a suite, in characters.
const maxSuiteName = 256

func checkSuiteName(name string) error {
	switch n := len([]rune(name)); {
	case strings.TrimSpace(name) == "":
		return &callvet.FieldError{Field: "name", Text: "{name}: a suite needs a name"}
	case n > maxSuiteName:
		return &callvet.FieldError{
			Field: "name",
			Text:  fmt.Sprintf("{name}: it has %d characters, at most %d are kept", n, maxSuiteName),
		}
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return &callvet.FieldError{Field: "name", Text: "{name}: it has a control character"}
	}
	return nil
}

// tries bounds the retries of an edit without a version after concurrent edits.
const tries = 8

// Edit changes a suite with a function, which may be called several times. match reports whether
// the edit fits a version; nil fits any. The error is ErrChanged if match returns false, a
// *RefusedError if the suite would have errors, or the error of change.
func (l *Suites) Edit(ctx context.Context, user, id, note string, match func(version int64) bool,
	change func(*Document) error,
) (*Written, error) {
	for range tries {
		w, err := l.edit(ctx, user, id, note, match, change)
		if !errors.Is(err, errRaced) {
			return w, err
		}
		if match != nil {
			break
		}
	}
	return nil, fmt.Errorf("change suite %s: %w", id, ErrChanged)
}

// errRaced: a concurrent edit was faster.
var errRaced = errors.New("changed while it was edited")

func (l *Suites) edit(ctx context.Context, user, id, note string, match func(int64) bool,
	change func(*Document) error,
) (*Written, error) {
	row, err := l.row(ctx, id)
	if err != nil {
		return nil, err
	}
	if match != nil && !match(row.Version) {
		return nil, fmt.Errorf("change suite %s: %w: it is at version %d", id, ErrChanged, row.Version)
	}
	v, err := l.Version(ctx, id, row.Version)
	if err != nil {
		return nil, err
	}
	d := v.Document
	was := d.Bytes()
	if err := change(d); err != nil {
		return nil, err
	}
	if err := checkSuiteName(d.Text("name")); err != nil {
		return nil, err
	}
	c, err := l.check(ctx, d, row.LastCase)
	if err != nil {
		return nil, err
	}
	out := &Written{Entry: entryOf(row), Warnings: c.warnings, Document: d}
	if bytes.Equal(was, c.text) {
		return out, nil
	}
	packed, err := packText(c.text)
	if err != nil {
		return nil, err
	}
	name, now := d.Text("name"), l.cfg.Now().UnixMilli()
	err = l.cfg.Store.Change(ctx, "keep suite", func(q *rows.Queries) error {
		n, err := q.MoveSuite(ctx,
			rows.MoveSuiteParams{
				Name: name, Folded: strings.ToLower(name), Hash: c.hash, LastCase: c.last,
				Updated: now, ID: id, Was: row.Version,
			})
		if err != nil {
			return err
		}
		if n == 0 {
			return errRaced
		}
		if err := l.cfg.Quota.RoomFor(ctx, q, row.UserID, len(packed)); err != nil {
			return err
		}
		return q.AddSuiteVersion(ctx, c.version(id, row.Version+1, user, note, now, packed))
	})
	if err != nil {
		return nil, err
	}
	out.Changed, out.Name, out.Version, out.Hash, out.Form, out.Updated = true, name, row.Version+1, c.hash, d.Form, now
	out.Tools, out.Cases = c.toolsInside, int64(len(d.Cases))
	return out, nil
}

func (l *Suites) row(ctx context.Context, id string) (rows.SuiteEntryRow, error) {
	row, err := l.cfg.Store.Rows().SuiteEntry(ctx, id)
	if err := found(err, "suite", id); err != nil {
		return row, err
	}
	return row, store.Intact(row.Whole && row.Form != "", "suite "+id)
}

// found converts the store's error about a missing row to callvet.ErrNotFound.
func found(err error, what, id string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s %q: %w", what, id, callvet.ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	return nil
}

func entryOf(r rows.SuiteEntryRow) Entry {
	return Entry{
		ID: r.ID, User: r.UserID, Name: r.Name, Version: r.Version, Hash: r.Hash, Form: r.Form, Tools: r.Tools,
		Cases: r.Cases, Shared: r.Shared, Created: r.Created, Updated: r.Updated,
	}
}

// Entry returns a suite without its text.
func (l *Suites) Entry(ctx context.Context, id string) (Entry, error) {
	row, err := l.row(ctx, id)
	return entryOf(row), err
}

// Page is the requested part of a list: entries made before a time, the newest first.
type Page struct {
	// Before and BeforeID belong to the last entry of the previous page; 0 and "" at the beginning.
	Before   int64
	BeforeID string
	N        int
}

func (p Page) before() (at int64, id string) {
	if p.Before == 0 {
		return 1<<63 - 1, ""
	}
	return p.Before, p.BeforeID
}

// List returns a user's and the shared suites, or those of all users, the newest first. search is a
// part of their names, case-insensitive.
func (l *Suites) List(ctx context.Context, user, search string, everybody bool, page Page) ([]Entry, error) {
	at, id := page.before()
	list, err := l.cfg.Store.Rows().SuiteEntries(ctx, rows.SuiteEntriesParams{
		UserID: user, Everybody: everybody, Search: "%" + likeEscaper.Replace(strings.ToLower(search)) + "%",
		Before: at, BeforeID: id, N: int32(page.N), //nolint:gosec // the caller bounds it
	})
	if err != nil {
		return nil, fmt.Errorf("list suites: %w", err)
	}
	out := make([]Entry, len(list))
	for i, r := range list {
		out[i] = entryOf(rows.SuiteEntryRow(r))
	}
	return out, nil
}

var likeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// Delete removes a suite from the lists, and calls also in the same transaction. Its runs and its
// versions stay. The error wraps ErrChanged if match is set and returns false for its version. The
// version of a damaged suite is not known.
func (l *Suites) Delete(ctx context.Context, id string, match func(int64) bool, also store.Also) error {
	row, err := l.row(ctx, id)
	damaged := errors.Is(err, store.ErrDamaged)
	if err != nil && !damaged {
		return err
	}
	if match != nil && !damaged && !match(row.Version) {
		return fmt.Errorf("delete suite %s: %w: it is at version %d", id, ErrChanged, row.Version)
	}
	p := rows.DeleteSuiteParams{Deleted: l.cfg.Now().UnixMilli(), ID: id, Most: math.MaxInt64}
	if match != nil {
		p.Least, p.Most = row.Version, row.Version
	}
	return l.cfg.Store.Change(ctx, "delete suite", func(q *rows.Queries) error {
		n, err := q.DeleteSuite(ctx, p)
		if err == nil && n == 0 {
			err = fmt.Errorf("delete suite %s: %w meanwhile", id, ErrChanged)
		}
		if err != nil {
			return err
		}
		return also.Do(q)
	})
}

// Restore undoes Delete, for a time. The error wraps callvet.ErrNotFound if it is too late.
func (l *Suites) Restore(ctx context.Context, id string) (Entry, error) {
	now := l.cfg.Now()
	err := l.cfg.Store.Change(ctx, "restore suite", func(q *rows.Queries) error {
		n, err := q.RestoreSuite(ctx,
			rows.RestoreSuiteParams{Updated: now.UnixMilli(), ID: id, Deleted: now.Add(-l.cfg.Kept).UnixMilli()})
		if err == nil && n == 0 {
			err = fmt.Errorf("suite %q: %w: it is not deleted, or was so long ago", id, callvet.ErrNotFound)
		}
		return err
	})
	if err != nil {
		return Entry{}, err
	}
	return l.Entry(ctx, id)
}

// Share lets every user read a suite, or only its owner again. It makes no version.
func (l *Suites) Share(ctx context.Context, id string, shared bool) error {
	return l.cfg.Store.Change(ctx, "share suite", func(q *rows.Queries) error {
		return q.ShareSuite(ctx, rows.ShareSuiteParams{Shared: shared, Updated: l.cfg.Now().UnixMilli(), ID: id})
	})
}

// Version is a version of a suite.
type Version struct {
	Suite   string
	Version int64
	Hash    string
	// User made it, at Created in milliseconds.
	User         string
	Created      int64
	Note, Form   string
	Tools, Cases int64
	// Document is nil in lists.
	Document *Document
}

// Version returns a version of a suite with its text. The error wraps callvet.ErrNotFound.
func (l *Suites) Version(ctx context.Context, id string, n int64) (*Version, error) {
	r, err := l.cfg.Store.Rows().SuiteVersion(ctx, rows.SuiteVersionParams{SuiteID: id, Version: n})
	if err := found(err, fmt.Sprintf("version %d of suite", n), id); err != nil {
		return nil, err
	}
	if err := store.Intact(r.Whole, fmt.Sprintf("version %d of suite %s", n, id)); err != nil {
		return nil, err
	}
	text, err := unpack(r.Content)
	if err != nil {
		return nil, err
	}
	d, err := parseDocument(text, r.Form)
	if err != nil {
		return nil, fmt.Errorf("read version %d of suite %s: %w", n, id, err)
	}
	return &Version{
		Suite: id, Version: n, Hash: r.Hash, User: r.UserID, Created: r.Created, Note: string(r.Note),
		Form: r.Form, Tools: r.Tools, Cases: r.Cases, Document: d,
	}, nil
}

// Now returns a suite and its newest version with the text.
func (l *Suites) Now(ctx context.Context, id string) (Entry, *Version, error) {
	e, err := l.Entry(ctx, id)
	if err != nil {
		return e, nil, err
	}
	v, err := l.Version(ctx, id, e.Version)
	return e, v, err
}

// Versions lists the versions of a suite before a version, the newest first; 0 begins with the
// newest.
func (l *Suites) Versions(ctx context.Context, id string, before int64, n int) ([]Version, error) {
	if before == 0 {
		before = 1<<63 - 1
	}
	list, err := l.cfg.Store.Rows().SuiteVersions(ctx,
		rows.SuiteVersionsParams{SuiteID: id, Before: before, N: int32(n)}) //nolint:gosec // the caller bounds it
	if err != nil {
		return nil, fmt.Errorf("list versions: %w", err)
	}
	out := make([]Version, len(list))
	for i, r := range list {
		out[i] = Version{
			Suite: id, Version: r.Version, Hash: r.Hash, User: r.UserID, Created: r.Created,
			Note: string(r.Note), Form: r.Form, Tools: r.Tools, Cases: r.Cases,
		}
	}
	return out, nil
}

// packText compresses a text; unpack decompresses it.
func packText(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if _, err := w.Write(text); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return b.Bytes(), nil
}

func unpack(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	text, err := io.ReadAll(r) // what was packed here
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return text, nil
}
