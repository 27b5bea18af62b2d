// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package remote

import (
	"context"
	"net/http"
	"time"
)

// Me is the logged-in user.
type Me struct {
	Name string `json:"name"`
	Role string `json:"role"`
	// Grants are the scopes that a token of this user may have.
	Grants []string `json:"grants"`
}

// Me returns the logged-in user.
func (c *Client) Me(ctx context.Context) (*Me, error) {
	var out Me
	if err := c.ask(ctx, http.MethodGet, "/api/me", nil, nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Login begins a session, which lives as long as the client. The error is a *Refusal if the server
// refuses.
func (c *Client) Login(ctx context.Context, name, password string) error {
	return c.ask(ctx, http.MethodPost, "/api/session", nil, map[string]string{"name": name, "password": password}, nil)
}

// Claim uses a one-time link, by its secret, and begins a session. The name is used only for the
// link of the first admin. A *Refusal has the fields that the server does not accept.
func (c *Client) Claim(ctx context.Context, secret, name, password string) (*Me, error) {
	var out Me
	err := c.ask(ctx, http.MethodPost, "/api/session/claim", nil,
		map[string]string{"link": secret, "name": name, "password": password}, &out)
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// Token is a new token, which is shown only once.
type Token struct {
	Secret  string    `json:"secret"`
	Expires time.Time `json:"expires"`
}

// MakeToken makes a token; the server chooses how long it is valid.
func (c *Client) MakeToken(ctx context.Context, name string, scopes []string) (*Token, error) {
	var out Token
	if err := c.ask(ctx, http.MethodPost, "/api/tokens", nil, map[string]any{"name": name, "scopes": scopes},
		&out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Logout ends the session, or the token.
func (c *Client) Logout(ctx context.Context) error {
	return c.ask(ctx, http.MethodDelete, "/api/session", nil, nil, nil)
}
