// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

// Limits of the stored prompts.
const (
	MaxPromptBytes = 256 << 10
	maxPromptName  = 100
	maxPromptNote  = 1_000
)

// promptPrefix is the beginning of the id of a prompt; no name begins with it.
const promptPrefix = "prompt"

var goodPromptName = regexp.MustCompile(`^[\pL\pN][\pL\pN ._-]*$`)

// KeptPrompt is a version of a prompt in the library.
type KeptPrompt struct {
	ID   string `json:"id"`
	User string `json:"-"`
	Name string `json:"name"`
	// Version counts from 1; the number of a deleted version is not used again.
	Version int64 `json:"version"`
	// Parent is the id of the prompt from which it was made; "": none, or it is not stored.
	Parent string `json:"parent,omitempty"`
	// Source is the id of a search, or "user".
	Source  string    `json:"source"`
	Shared  bool      `json:"shared,omitempty"`
	Created time.Time `json:"created_at"`
	promptContent
}

// Ref is the name with the version, as in NAME@VERSION.
func (p *KeptPrompt) Ref() string { return fmt.Sprintf("%s@%d", p.Name, p.Version) }

// promptContent is the stored JSON of a prompt.
type promptContent struct {
	// Note is a text of a person or a model about it.
	Note string `json:"note,omitempty"`
	// Hash is the beginning of the SHA-256 of Text, 12 hex digits.
	Hash       string `json:"hash"`
	Characters int    `json:"characters"`
	Text       string `json:"text"`
}

// SourceUser is the source of a prompt that a user wrote.
const SourceUser = "user"

// KeepPromptRequest requests that a prompt is stored as the newest version of its name.
type KeepPromptRequest struct {
	Name string `json:"name"`
	Text string `json:"text"`
	// File contains the prompt if Text is empty.
	File   string `json:"-"`
	Parent string `json:"parent,omitempty"`
	Note   string `json:"note,omitempty"`
	Shared bool   `json:"shared,omitempty"`
	// Source is the id of the search that found it; "": SourceUser.
	Source string `json:"-"`
	// User is its owner; "": the store has only one user.
	User string `json:"-"`
	// Room, if not nil, may refuse a prompt of this size, in the transaction that adds it.
	Room func(q *rows.Queries, bytes int) error `json:"-"`
}

// KeepPrompt stores a prompt. kept is false if the newest version of the name has the same text: it
// is returned, and nothing changes. The error wraps callvet.ErrInvalid for an invalid name or text,
// and callvet.ErrNotFound for a parent that the user may not read.
func KeepPrompt(ctx context.Context, a *app.App, req KeepPromptRequest) (p *KeptPrompt, kept bool, err error) {
	if req.Text == "" && req.File != "" {
		if req.Text, err = a.Text("@" + req.File); err != nil {
			return nil, false, err
		}
	}
	req.Name, req.Text = strings.TrimSpace(req.Name), strings.TrimSpace(req.Text)
	if err := req.check(a); err != nil {
		return nil, false, err
	}
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, false, err
	}
	if req.Parent != "" {
		if _, err := promptByID(ctx, a, req.User, req.Parent); err != nil {
			return nil, false, err
		}
	}
	id, err := store.NewID(nil, promptPrefix)
	if err != nil {
		return nil, false, err
	}
	sum := sha256.Sum256([]byte(req.Text))
	p = &KeptPrompt{
		ID: id, User: req.User, Name: req.Name, Parent: req.Parent, Source: cmp.Or(req.Source, SourceUser),
		Shared: req.Shared, Created: time.UnixMilli(a.Config.Now().UnixMilli()).UTC(),
		promptContent: promptContent{
			Note: req.Note, Hash: hex.EncodeToString(sum[:])[:12], Characters: utf8.RuneCountInString(req.Text),
			Text: req.Text,
		},
	}
	err = db.Change(ctx, "keep prompt", func(q *rows.Queries) error {
		same, err := newestPrompt(ctx, q, req.User, req.Name)
		if err == nil && same != nil && same.Text == p.Text {
			p = same
			return nil
		}
		if err == nil {
			kept = true
			err = p.add(ctx, q, req.Room)
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return p, kept, nil
}

// check returns an error for a prompt that cannot be stored.
func (req *KeepPromptRequest) check(a *app.App) error {
	switch {
	case req.Text == "":
		return app.Refused("text", "the prompt is empty")
	case len(req.Name) > maxPromptName || !goodPromptName.MatchString(req.Name) ||
		strings.HasPrefix(req.Name, promptPrefix+"_"):
		return app.Wrong("name", strconv.Quote(req.Name),
			"a name has letters, digits, spaces and . _ -, at most %d bytes, and does not begin with prompt_",
			maxPromptName)
	case !utf8.ValidString(req.Text):
		return app.Refused("text", "the prompt is no UTF-8 text")
	case len(req.Text) > MaxPromptBytes:
		return app.Refused("text", "the prompt has %d bytes, more than %d", len(req.Text), MaxPromptBytes)
	case len(req.Note) > maxPromptNote:
		return app.Refused("note", "the note has more than %d bytes", maxPromptNote)
	case a.Secrets().Hide(req.Text) != req.Text:
		return app.Refused("text", "the prompt contains a key of the environment: remove it")
	}
	return nil
}

// newestPrompt returns the newest version of a name; nil if there is none, or if it is damaged.
func newestPrompt(ctx context.Context, q *rows.Queries, user, name string) (*KeptPrompt, error) {
	row, err := q.PromptVersion(ctx, rows.PromptVersionParams{UserID: user, Name: name})
	if errors.Is(err, sql.ErrNoRows) || err == nil && !row.Whole {
		return nil, nil //nolint:nilnil // none is no error
	}
	if err != nil {
		return nil, err
	}
	return promptOf(&row)
}

// add stores the prompt as the newest version of its name.
func (p *KeptPrompt) add(ctx context.Context, q *rows.Queries, room func(*rows.Queries, int) error) error {
	content, err := json.Marshal(p.promptContent)
	if err != nil {
		return fmt.Errorf("write prompt: %w", err)
	}
	if room != nil {
		if err := room(q, len(content)); err != nil {
			return err
		}
	}
	last, err := q.LastPromptVersion(ctx, rows.LastPromptVersionParams{UserID: p.User, Name: p.Name})
	if err != nil {
		return err
	}
	p.Version = last + 1
	return q.AddPrompt(ctx, rows.AddPromptParams{
		ID: p.ID, UserID: p.User, Name: p.Name, Version: p.Version, Parent: p.Parent, Source: p.Source,
		Shared: p.Shared, Created: p.Created.UnixMilli(), Content: content,
	})
}

// KeepFoundRequest requests that the prompt of a candidate is stored: the winner, unless Chosen
// names another one.
type KeepFoundRequest struct {
	Chosen ApplyRequest
	// Name is the name of the prompt; "": the name of the suite.
	Name string
	Note string // "": the candidate's
	User string
	Room func(q *rows.Queries, bytes int) error // as in KeepPromptRequest
}

// KeepFound stores a prompt that a search found. Its parent is the nearest ancestor in the library.
// The error wraps callvet.ErrConflict if no winner is confirmed and Chosen names no candidate.
func KeepFound(ctx context.Context, a *app.App, req KeepFoundRequest) (*KeptPrompt, bool, error) {
	t, err := Get(ctx, a, req.Chosen.Tune)
	if err != nil {
		return nil, false, err
	}
	if t.Kind != Prompt {
		return nil, false, app.Wrong("tune", t.ID, "it is a search for parameters, which have no prompt")
	}
	req.Chosen.Anyway = req.Chosen.Candidate != nil
	c, confirmed, err := t.Choose(&req.Chosen)
	if why := (*callvet.FieldError)(nil); errors.Is(err, callvet.ErrConflict) && errors.As(err, &why) {
		why.Text = strings.Replace(why.Text, "apply ", "keep the prompt of ", 1)
		why.Fix = "{candidate} NUMBER keeps one that was not confirmed"
	}
	if err != nil {
		return nil, false, err
	}
	parent, err := keptAncestor(ctx, a, req.User, t.modelOf(c), c)
	if err != nil {
		return nil, false, err
	}
	note := cmp.Or(req.Note, c.Note)
	if !confirmed {
		note = strings.TrimSpace("not confirmed. " + note)
	}
	return KeepPrompt(ctx, a, KeepPromptRequest{
		Name: cmp.Or(req.Name, PromptName(t.Suite)), Text: c.Prompt, Parent: parent, Note: plain.Limited(note, maxPromptNote-30),
		Source: t.ID, User: req.User, Room: req.Room,
	})
}

// PromptName converts the name of a suite to a name of a prompt.
func PromptName(suite string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune(" ._-", r) {
			return r
		}
		return '-'
	}, suite), " ._-")
	for strings.HasPrefix(name, promptPrefix+"_") {
		name = strings.Trim(strings.TrimPrefix(name, promptPrefix+"_"), " ._-")
	}
	for len(name) > maxPromptName {
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
	return cmp.Or(strings.TrimSpace(name), promptPrefix)
}

// modelOf returns the model's search that contains a candidate.
func (t *Tune) modelOf(c *Candidate) *ModelSearch {
	for i := range t.Models {
		if m := &t.Models[i]; m.CandidateOf(c.N) == c {
			return m
		}
	}
	return nil
}

// keptAncestor returns the id of the nearest ancestor of a candidate in the library; "" for none.
func keptAncestor(ctx context.Context, a *app.App, user string, m *ModelSearch, c *Candidate) (string, error) {
	list, _, err := ListPrompts(ctx, a, PromptPage{User: user})
	if err != nil || m == nil {
		return "", err
	}
	for c.Parent != nil {
		if c = m.CandidateOf(*c.Parent); c == nil {
			break
		}
		for i := range list {
			if list[i].Text == strings.TrimSpace(c.Prompt) {
				return list[i].ID, nil
			}
		}
	}
	return "", nil
}

// PromptPage is the requested part of a user's prompts, the newest first.
type PromptPage struct {
	// User is the reader, who sees own and shared prompts. Everything: those of all users too.
	User       string
	Everything bool
	// Before and BeforeID belong to the last prompt of the previous page; 0 and "" at the
	// beginning.
	Before   int64
	BeforeID string
	N        int // 0: all
}

// ListPrompts lists the versions of prompts, the newest first, and counts damaged ones, which are
// left out.
func ListPrompts(ctx context.Context, a *app.App, page PromptPage) (list []KeptPrompt, damaged int, err error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, 0, err
	}
	found, err := db.Rows().Prompts(ctx, rows.PromptsParams{
		UserID: page.User, Everything: page.Everything, Before: cmp.Or(page.Before, math.MaxInt64),
		BeforeID: page.BeforeID, AtMost: int64(cmp.Or(page.N, math.MaxInt32)),
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list prompts: %w", err)
	}
	list = make([]KeptPrompt, 0, len(found))
	for i := range found {
		p, err := promptOf(&found[i])
		if errors.Is(err, store.ErrDamaged) {
			damaged++
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		list = append(list, *p)
	}
	return list, damaged, nil
}

// ShowPrompt finds a prompt by its id, or by NAME or NAME@VERSION among those of the user; NAME alone is the newest
// version. The error wraps callvet.ErrNotFound.
func ShowPrompt(ctx context.Context, a *app.App, user, ref string) (*KeptPrompt, error) {
	if strings.HasPrefix(ref, promptPrefix+"_") {
		return promptByID(ctx, a, user, ref)
	}
	name, version, err := promptRef(ref)
	if err != nil {
		return nil, err
	}
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	row, err := db.Rows().PromptVersion(ctx, rows.PromptVersionParams{UserID: user, Name: name, Version: version})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noPrompt(ctx, a, user, ref)
	}
	if err != nil {
		return nil, fmt.Errorf("read prompt %q: %w", ref, err)
	}
	return promptOf(&row)
}

// promptRef is a name and a version; 0 is the newest.
func promptRef(ref string) (name string, version int64, err error) {
	name, number, has := strings.Cut(ref, "@")
	if name = strings.TrimSpace(name); !has {
		return name, 0, nil
	}
	version, err = strconv.ParseInt(number, 10, 64)
	if err != nil || version < 1 {
		return "", 0, app.Wrong("prompt", strconv.Quote(ref), "a version is a number from 1: NAME@2")
	}
	return name, version, nil
}

// noPrompt is the error for a prompt that does not exist, with the nearest name.
func noPrompt(ctx context.Context, a *app.App, user, ref string) error {
	err := fmt.Errorf("prompt %q: %w", ref, callvet.ErrNotFound)
	list, _, lerr := ListPrompts(ctx, a, PromptPage{User: user, N: 1_000})
	if lerr != nil {
		return errors.Join(err, lerr)
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	name, _, _ := strings.Cut(ref, "@")
	if near := callvet.Nearest(name, names); near != "" && near != name {
		return &callvet.Hinted{Err: err, Hint: "did you mean " + near + "?"}
	}
	return err
}

// ReadPrompt finds a prompt of any user by its id: the caller checks who may read it. The error
// wraps callvet.ErrNotFound.
func ReadPrompt(ctx context.Context, a *app.App, id string) (*KeptPrompt, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	row, err := db.Rows().Prompt(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("prompt %q: %w", id, callvet.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read prompt %q: %w", id, err)
	}
	return promptOf(&row)
}

// promptByID finds a prompt that a user may read: an own one or a shared one.
func promptByID(ctx context.Context, a *app.App, user, id string) (*KeptPrompt, error) {
	p, err := ReadPrompt(ctx, a, id)
	if err == nil && p.User != user && !p.Shared {
		return nil, fmt.Errorf("prompt %q: %w", id, callvet.ErrNotFound)
	}
	return p, err
}

// promptOf reads a row. The error wraps store.ErrDamaged.
func promptOf(row *rows.CheckedPrompt) (*KeptPrompt, error) {
	if err := store.Intact(row.Whole, "prompt "+row.ID); err != nil {
		return nil, err
	}
	p := &KeptPrompt{
		ID: row.ID, User: row.UserID, Name: row.Name, Version: row.Version, Parent: row.Parent, Source: row.Source,
		Shared: row.Shared, Created: time.UnixMilli(row.Created).UTC(),
	}
	if err := json.Unmarshal(row.Content, &p.promptContent); err != nil {
		return nil, fmt.Errorf("read prompt %s: %w", row.ID, doc.Explain(err))
	}
	return p, nil
}

// DeletePrompts deletes prompts of a user: NAME@VERSION or an id is one version, NAME all
// versions. It returns the deleted ones. Runs keep their prompts. All are deleted, or none.
func DeletePrompts(ctx context.Context, a *app.App, user string, refs []string) ([]KeptPrompt, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	var out []KeptPrompt
	for _, ref := range refs {
		found, err := toDelete(ctx, a, db, user, ref)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	now := a.Config.Now().UnixMilli()
	err = db.Change(ctx, "delete prompts", func(q *rows.Queries) error {
		for i := range out {
			if _, err := q.DeletePrompt(ctx, rows.DeletePromptParams{ID: out[i].ID, Deleted: now}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// toDelete returns the versions that a reference names. A damaged one can be deleted: its text is
// not read.
func toDelete(ctx context.Context, a *app.App, db *store.DB, user, ref string) ([]KeptPrompt, error) {
	var found []rows.CheckedPrompt
	name, version, err := promptRef(ref)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(ref, promptPrefix+"_") {
		row, err := db.Rows().Prompt(ctx, ref)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("read prompt %q: %w", ref, err)
		}
		if err == nil && row.UserID == user {
			found = append(found, row)
		}
	} else {
		all, err := db.Rows().PromptVersions(ctx, rows.PromptVersionsParams{UserID: user, Name: name})
		if err != nil {
			return nil, fmt.Errorf("read prompt %q: %w", ref, err)
		}
		for i := range all {
			if version == 0 || all[i].Version == version {
				found = append(found, all[i])
			}
		}
	}
	if len(found) == 0 {
		return nil, noPrompt(ctx, a, user, ref)
	}
	out := make([]KeptPrompt, len(found))
	for i := range found {
		out[i] = KeptPrompt{ID: found[i].ID, User: user, Name: found[i].Name, Version: found[i].Version}
	}
	return out, nil
}
