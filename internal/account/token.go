// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store/rows"
)

// TokenPrefix is the beginning of a token, so that a misplaced token is recognized.
const TokenPrefix = "cv_"

// Bounds of tokens.
const (
	MaxTokenDays     = 366
	DefaultTokenDays = 90
	maxTokens        = 100 // of one user
)

// Token is the login of a program, without its secret.
type Token struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Scopes  []Scope   `json:"scopes"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	// Used is when it was last used, rounded to five minutes; the zero time: never.
	Used time.Time `json:"used,omitzero"`
}

// Grants returns the scopes that a token of a role may have.
func (r Role) Grants() []Scope {
	switch r {
	case Viewer:
		return []Scope{ScopeRead}
	case Member:
		return []Scope{ScopeRead, ScopeRun, ScopeWrite}
	case Admin:
		return Scopes()
	}
	return nil
}

// NewToken has the data of a new token.
type NewToken struct {
	Name   string
	Scopes []Scope
	// Days is how many days it is valid, from 1 to MaxTokenDays; 0 is DefaultTokenDays.
	Days int
}

// fit checks a requested token of by.
func (n *NewToken) fit(by *Principal) error {
	n.Name = strings.TrimSpace(n.Name)
	switch grants := by.Role.Grants(); {
	case by.Token != "":
		return fmt.Errorf("make token: %w: a token makes none: log in", callvet.ErrDenied)
	case n.Name == "" || utf8.RuneCountInString(n.Name) > 100 ||
		strings.ContainsFunc(n.Name, func(r rune) bool { return r < ' ' }):
		return &callvet.FieldError{Field: "name", Text: "{name} says what the token is for, in 1 to 100 characters"}
	case len(n.Scopes) == 0:
		return &callvet.FieldError{
			Field: "scopes", Text: "{scopes} names what the token is for",
			Fix: "read, run, write or admin",
		}
	case slices.ContainsFunc(n.Scopes, func(s Scope) bool { return !slices.Contains(grants, s) }):
		return &callvet.FieldError{
			Field: "scopes",
			Text: fmt.Sprintf("{scopes} %s: of a %s they are among %s", joined(n.Scopes, ", "), by.Role,
				joined(grants, ", ")),
		}
	case n.Days < 0 || n.Days > MaxTokenDays:
		return &callvet.FieldError{Field: "days", Text: fmt.Sprintf("{days} is from 1 to %d", MaxTokenDays)}
	}
	if n.Days == 0 {
		n.Days = DefaultTokenDays
	}
	slices.Sort(n.Scopes)
	n.Scopes = slices.Compact(n.Scopes)
	return nil
}

func joined(list []Scope, by string) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = string(s)
	}
	return strings.Join(words, by)
}

// scopes reads the stored form.
func scopes(text string) []Scope {
	out := []Scope{}
	for w := range strings.FieldsSeq(text) {
		out = append(out, Scope(w))
	}
	return out
}

// MakeToken makes a token for a logged-in user, and its secret, which is shown only once.
func (a *Accounts) MakeToken(ctx context.Context, by *Principal, n NewToken) (t Token, secret string, err error) {
	if err := n.fit(by); err != nil {
		return t, "", err
	}
	secret, hash, err := a.draw(TokenPrefix)
	if err != nil {
		return t, "", err
	}
	id, err := a.id("token")
	if err != nil {
		return t, "", err
	}
	now := a.now()
	t = Token{
		ID: id, Name: n.Name, Scopes: n.Scopes, Created: at(now),
		Expires: at(now + int64(n.Days)*24*time.Hour.Milliseconds()),
	}
	err = a.change(ctx, "make token", func(q *rows.Queries) error {
		if _, err := a.present(ctx, q, by.User); err != nil {
			return err
		}
		if count, err := q.CountTokensOf(ctx, by.User); err != nil || count >= maxTokens {
			return errors.Join(err, fmt.Errorf("make token: %w: there are %d: revoke one", callvet.ErrConflict, count))
		}
		err := q.AddToken(ctx, rows.AddTokenParams{
			ID: id, Hash: hash, UserID: by.User, Name: n.Name,
			Scopes: joined(n.Scopes, " "), Created: now, Expires: t.Expires.UnixMilli(),
		})
		return errors.Join(err, a.Record(ctx, q, by, "token.create", id,
			map[string]any{"name": n.Name, "scopes": n.Scopes, "days": n.Days}))
	})
	if err != nil {
		return t, "", err
	}
	return t, secret, nil
}

// Tokens returns the tokens of a user that were not revoked, including expired ones, the newest
// first.
func (a *Accounts) Tokens(ctx context.Context, user string) ([]Token, error) {
	list, err := a.cfg.Store.Rows().TokensOf(ctx, user)
	if err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	out := make([]Token, len(list))
	for i := range list {
		r := &list[i]
		out[i] = Token{
			ID: r.ID, Name: r.Name, Scopes: scopes(r.Scopes), Created: at(r.Created), Expires: at(r.Expires),
			Used: at(r.Used),
		}
	}
	return out, nil
}

// RevokeToken ends a token.
func (a *Accounts) RevokeToken(ctx context.Context, by *Principal, id string) error {
	return a.change(ctx, "revoke token", func(q *rows.Queries) error {
		n, err := q.RevokeToken(ctx, rows.RevokeTokenParams{ID: id, Revoked: a.now()})
		if err := one(n, err, "token", id); err != nil {
			return err
		}
		return a.Record(ctx, q, by, "token.revoke", id, nil)
	})
}

// ByToken returns the principal of a token; ErrLogin if it expired or was revoked, or its user was
// removed.
func (a *Accounts) ByToken(ctx context.Context, secret string) (*Principal, error) {
	if !strings.HasPrefix(secret, TokenPrefix) {
		return nil, ErrLogin
	}
	return a.byToken(ctx, digest(secret))
}

func (a *Accounts) byToken(ctx context.Context, hash []byte) (*Principal, error) {
	t, err := a.cfg.Store.Rows().TokenByHash(ctx, hash)
	now := a.now()
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && (t.Revoked != 0 || t.Expires <= now):
		return nil, ErrLogin
	case err != nil:
		return nil, fmt.Errorf("look up token: %w", err)
	}
	if now-t.Used >= grain.Milliseconds() {
		a.used(ctx, "use token",
			func(q *rows.Queries) error { return q.UseToken(ctx, rows.UseTokenParams{ID: t.ID, Used: now}) })
	}
	return &Principal{
		User: t.UserID, Name: t.Name, Role: Role(t.Role), Scopes: scopes(t.Scopes), Token: t.ID,
		hash: hash,
	}, nil
}
