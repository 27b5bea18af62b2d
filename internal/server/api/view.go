// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
)

// viewCookie is the cookie name of a read-only server; its port is appended. Browsers send the
// cookies of a host to all its ports, where other servers may run.
const viewCookie = "callvet_view"

// errReadOnly refuses a change on a read-only server.
var errReadOnly = fmt.Errorf("%w: callvet view only reads; callvet serve is for more", callvet.ErrDenied)

// view is the login of a read-only server: a one-time token and its session.
type view struct {
	mu      sync.Mutex
	token   [sha256.Size]byte
	used    bool
	session [sha256.Size]byte
}

// newSecret makes a secret, and returns it with the hash to keep.
func newSecret() (text string, hash [sha256.Size]byte) {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	text = base64.RawURLEncoding.EncodeToString(b)
	return text, sha256.Sum256([]byte(text))
}

// viewer is the principal of a read-only server: it may read everything.
func viewer() *account.Principal { return &account.Principal{Name: "viewer", Role: account.Admin} }

// ViewLink returns a one-time login link of a read-only server. It ends an earlier link and its
// session.
func (s *Server) ViewLink() string {
	text, hash := newSecret()
	s.view.mu.Lock()
	defer s.view.mu.Unlock()
	s.view.token, s.view.used, s.view.session = hash, false, [sha256.Size]byte{}
	return strings.TrimSuffix(s.pageURL(""), "claim=") + "view=" + text
}

// exchange exchanges the token of the link for a session.
func (v *view) exchange(token string) (session string, err error) {
	hash := sha256.Sum256([]byte(token))
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.used || subtle.ConstantTimeCompare(hash[:], v.token[:]) != 1 {
		return "",
			fmt.Errorf(
				"%w: the link was used, or is of an earlier start: callvet view prints a new one when it is started again", callvet.ErrDenied)
	}
	v.used = true
	session, v.session = newSecret()
	return session, nil
}

// has reports whether a session is valid.
func (v *view) has(session string) bool {
	hash := sha256.Sum256([]byte(session))
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.used && subtle.ConstantTimeCompare(hash[:], v.session[:]) == 1
}

// viewCookieName is the cookie's name at the server's port.
func (s *Server) viewCookieName() string {
	if s.Config.URL == nil || s.Config.URL.Port() == "" {
		return viewCookie
	}
	return viewCookie + "_" + s.Config.URL.Port()
}

// IdentifyView identifies the browser that used the link of a read-only server.
func (s *Server) IdentifyView(_ http.ResponseWriter, r *http.Request) (*account.Principal, error) {
	c, err := r.Cookie(s.viewCookieName())
	if err != nil || !s.view.has(c.Value) {
		return nil, fmt.Errorf("%w: open the link that callvet view has printed", ErrNoLogin)
	}
	p := viewer()
	p.Address = about(r.Context()).address
	return p, nil
}

// refusesChange reports whether a read-only server refuses a route: those that need more than the
// scope for reading.
func (s *Server) refusesChange(method string, may *Access) bool {
	return s.Config.ReadOnly && !may.Open && may.scope(method) != account.ScopeRead
}

// AddView adds the routes of a read-only server: its user and its login link.
func (s *Server) AddView() {
	op := Operations("session", "/api")
	Answer(s, op("me", http.MethodGet, "/me", "Who asks"), Access{},
		func(_ context.Context, by *account.Principal, _ *struct{}) (*Me, error) {
			me := s.me(by)
			return &me, nil
		})
	type token struct {
		Body struct {
			Token string `json:"token" maxLength:"200" doc:"the text after #view= in the link"`
		}
	}
	Add(s, Small(op("open-view", http.MethodPost, "/session/view",
		"Use the link of callvet view, once; a server with users has none")),
		Access{Open: true}, func(ctx context.Context, _ *account.Principal, in *token) (*loggedIn, error) {
			if !s.Config.ReadOnly {
				return nil, fmt.Errorf("a server with users has no such link: %w: log in", callvet.ErrNotFound)
			}
			session, err := s.view.exchange(in.Body.Token)
			if err != nil {
				return nil, err
			}
			c := cookie(ctx, nil)
			c.Name, c.Value, c.MaxAge = s.viewCookieName(), session, 0 // a session cookie
			return &loggedIn{SetCookie: c, Body: s.me(viewer())}, nil
		})
	if !s.Config.ReadOnly {
		return
	}
	// routes of users do not exist here
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		s.Mux.HandleFunc(method+" /api/", func(w http.ResponseWriter, r *http.Request) {
			writeProblem(w, http.StatusForbidden, errReadOnly.Error())
		})
	}
}
