// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/callvet/callvet/internal/account"
)

// identify tells who sends a request: by a token, or by the cookie of a session. A token counts
// alone: where one is sent that is not good, the cookie is not looked at.
func (s *Server) identify(_ http.ResponseWriter, r *http.Request) (*account.Principal, error) {
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
	if said := r.Header.Get("Authorization"); said != "" {
		scheme, token, _ := strings.Cut(said, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return nil, account.ErrLogin
		}
		return s.cfg.Accounts.ByToken(r.Context(), strings.TrimSpace(token))
	}
	c, err := r.Cookie(SessionCookie)
	if err != nil {
		return nil, ErrNoLogin
	}
	return s.cfg.Accounts.BySession(r.Context(), c.Value)
}

// address is where a request comes from, without the port.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
