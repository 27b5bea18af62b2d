// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
)

// Health is how the server is.
type Health struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version"`
}

// addHealth adds what those ask who watch the server: does it answer, and can it work?
func (s *Server) addHealth() {
	alive := func(context.Context, *account.Principal, *struct{}) (*struct{ Body Health }, error) {
		return &struct{ Body Health }{Health{Status: "ok", Version: s.cfg.Version}}, nil
	}
	add(s, huma.Operation{OperationID: "health", Method: http.MethodGet, Path: "/api/health", Summary: "Does the server answer?", Tags: []string{"operations"}}, Access{Open: true}, alive)
	add(s, huma.Operation{
		OperationID: "ready", Method: http.MethodGet, Path: "/api/ready", Summary: "Can the server work? It reads its store.", Tags: []string{"operations"},
	}, Access{Open: true}, func(ctx context.Context, by *account.Principal, in *struct{}) (*struct{ Body Health }, error) {
		if err := s.cfg.Store.Ping(ctx); err != nil {
			return nil, fmt.Errorf("read the store: %w: %w", callvet.ErrUnavailable, err)
		}
		return alive(ctx, by, in)
	})
}
