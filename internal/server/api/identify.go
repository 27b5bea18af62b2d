// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet/internal/account"
)

// Identify returns the principal of a request, by its token or its session cookie. If the request
// has a token, even an invalid one, the cookie is ignored.
func (s *Server) Identify(_ http.ResponseWriter, r *http.Request) (*account.Principal, error) {
	p, err := s.recognize(r)
	if errors.Is(err, account.ErrLogin) {
		return nil, fmt.Errorf("it is over, or never was good: %w", ErrNoLogin)
	}
	if err != nil {
		return nil, err
	}
	p.Address = about(r.Context()).address
	return p, nil
}

func (s *Server) recognize(r *http.Request) (*account.Principal, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return nil, account.ErrLogin
		}
		return s.Config.Accounts.ByToken(r.Context(), strings.TrimSpace(token))
	}
	// A browser sends every cookie of the name, and a page of a sibling host may have planted
	// others: the first valid one counts.
	err := ErrNoLogin
	for i, c := range r.CookiesNamed(sessionCookie(about(r.Context()).secure)) {
		if i == maxCookies {
			break
		}
		p, why := s.Config.Accounts.BySession(r.Context(), c.Value)
		if why == nil {
			return p, nil
		}
		err = why
	}
	return nil, err
}

// maxCookies bounds how many cookies of one name are checked.
const maxCookies = 20

// loginFor is how long a login check is valid.
const loginFor = 5 * time.Second

// login checks whether the user of a long connection is still logged in. It is safe for concurrent
// use.
type login struct {
	// now returns the present principal; the error means that the login has ended.
	now   func(ctx context.Context) (*account.Principal, error)
	clock func() time.Time

	mu sync.Mutex
	at time.Time // of the last check that it passed
}

// loginOf is the login of the connection of r: that of by if a ticket opened it, else that of the
// request.
func (s *Server) loginOf(r *http.Request, by *account.Principal) *login {
	l := &login{clock: s.Config.Now, at: s.Config.Now()}
	switch {
	case by == nil:
		l.now = func(context.Context) (*account.Principal, error) { return s.Config.Identify(nothing{}, r) }
	case s.Config.Accounts == nil:
		l.now = func(context.Context) (*account.Principal, error) { return by, nil }
	default:
		l.now = func(ctx context.Context) (*account.Principal, error) { return s.Config.Accounts.Again(ctx, by) }
	}
	return l
}

// holds reports whether the login is still valid; the result is at most loginFor old.
func (l *login) holds(ctx context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	if now.Sub(l.at) < loginFor {
		return true
	}
	by, err := l.now(ctx)
	if err != nil || !by.Allows(account.ScopeRead) {
		return false
	}
	l.at = now
	return true
}

// nothing is a response that is never sent.
type nothing struct{}

func (nothing) Header() http.Header         { return http.Header{} }
func (nothing) Write(b []byte) (int, error) { return len(b), nil }
func (nothing) WriteHeader(int)             {}

// address is where a request comes from, without the port.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
