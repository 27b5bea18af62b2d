// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
)

// Health is the state of the server.
type Health struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version"`
}

// AddHealth adds the routes for monitoring: is the server alive, and is it ready?
func (s *Server) AddHealth() {
	alive := func(context.Context, *account.Principal, *struct{}) (*Health, error) {
		return &Health{Status: "ok", Version: s.Config.Version}, nil
	}
	op := Operations("operations", "/api")
	Answer(s, op("health", http.MethodGet, "/health", "Does the server answer?"), Access{Open: true}, alive)
	Answer(s, op("ready", http.MethodGet, "/ready",
		"Can the server work? It reads its store, and writes into the same folder."), Access{Open: true},
		func(ctx context.Context, by *account.Principal, in *struct{}) (*Health, error) {
			if err := s.Config.Store.Ping(ctx); err != nil {
				return nil, fmt.Errorf("read the store: %w: %w", callvet.ErrUnavailable, err)
			}
			if err := s.writable(); err != nil {
				s.Log.ErrorContext(ctx, "the store cannot grow", "error", err)
				return nil, fmt.Errorf("write to the store: %w", callvet.ErrUnavailable)
			}
			return alive(ctx, by, in)
		})
}

// probed is the result of the latest disk check.
type probed struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

// probeEvery is how long the result of a disk check is valid: the route is open, and each check
// writes.
const probeEvery = 5 * time.Second

// writable reports whether a file can be written to the folder of the store; the result is at most
// probeEvery old.
func (s *Server) writable() error {
	if s.Config.ReadOnly {
		return nil
	}
	s.probe.mu.Lock()
	defer s.probe.mu.Unlock()
	if now := s.Config.Now(); s.probe.at.IsZero() || now.Sub(s.probe.at) >= probeEvery || now.Before(s.probe.at) {
		s.probe.at, s.probe.err = now, s.Config.Store.Writable()
	}
	return s.probe.err
}
