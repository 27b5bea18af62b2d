// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/server/assets"
	"github.com/callvet/callvet/internal/sys"
)

// New makes a server with all its routes.
func New(cfg api.Config) (*api.Server, error) {
	if cfg.App == nil || cfg.Store == nil || cfg.Accounts == nil && cfg.Identify == nil && !cfg.ReadOnly {
		return nil, errors.New("make server: it needs an App, a Store and Accounts")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Wait == nil {
		cfg.Wait = sys.Sleep
	}
	s := &api.Server{
		Config: cfg, Log: cfg.Log, Mux: http.NewServeMux(), Work: api.Work{Apps: map[string]*api.UserApp{}},
		Live: api.NewLive(),
	}
	if cfg.ReadOnly {
		s.Config.Accounts, s.Config.Identify = nil, s.IdentifyView
	}
	if s.Config.Identify == nil {
		s.Config.Identify = s.Identify
	}
	if s.Config.Work.Indexes == nil {
		s.Config.Work.Indexes = &app.Indexes{}
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if err := openJobs(s); err != nil {
		return nil, err
	}
	addRoutes(s)
	if err := s.AddPage(); err != nil {
		return nil, err
	}
	s.Root = s.Middleware(s.Mux)
	return s, nil
}

// Description is the OpenAPI description of the API in JSON, made without a server.
func Description(version string) ([]byte, error) {
	// no handler is called
	s := &api.Server{Config: api.Config{Version: version, Accounts: new(account.Accounts)}, Mux: http.NewServeMux()}
	addRoutes(s)
	b, err := json.MarshalIndent(s.OpenAPI(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("describe the API: %w", err)
	}
	return append(b, '\n'), nil
}

// addRoutes adds all routes. Only their handlers use the resources of an open server.
func addRoutes(s *api.Server) {
	s.API = humago.New(s.Mux, api.Description(s.Config.Version))
	s.Metrics = s.NewMetrics() //nolint:contextcheck // a scrape has its own timeout
	s.AddHealth()
	s.AddMetrics()
	assets.AddLibrary(s)
	AddRuns(s)
	AddExperiments(s)
	AddTrends(s)
	assets.AddProbe(s)
	s.AddView()
	s.AddAccounts()
	AddEval(s)
	s.AddJobs()
	s.AddEvents()
	assets.AddTraces(s)
	AddJudging(s)
	AddSchedules(s)
	AddTunes(s)
}

// Serve answers requests from l, works on jobs, and starts scheduled runs until ctx ends. Then it
// accepts no new requests, waits for those in work, returns the jobs to the queue, and returns.
func Serve(ctx context.Context, s *api.Server, l net.Listener) error {
	if !s.Config.ReadOnly {
		if err := s.BindKeys(context.WithoutCancel(ctx)); err != nil { // an interrupt ends it normally here, too
			return errors.Join(err, l.Close())
		}
	}
	srv := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
		ErrorLog:       slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
		BaseContext:    func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	srv.RegisterOnShutdown(s.Live.End)
	ended, worked := make(chan error, 1), make(chan error, 1)
	var group sys.Group
	defer group.Wait()
	group.Go(func() { ended <- srv.Serve(l) })
	if s.Config.ReadOnly {
		worked <- nil
	} else {
		group.Go(func() {
			err := s.Jobs.Run(ctx)
			worked <- err
			if err != nil {
				stop()
			}
		})
		group.Go(func() { RunSchedules(ctx, s) })
		group.Go(func() { RunWebhooks(ctx, s) })
	}
	select {
	case err := <-ended:
		stop()
		return errors.Join(fmt.Errorf("serve: %w", err), <-worked)
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), api.Drain)
	defer cancel()
	err := srv.Shutdown(late)
	if err != nil {
		err = errors.Join(err, srv.Close())
	}
	if serr := <-ended; !errors.Is(serr, http.ErrServerClosed) {
		err = errors.Join(err, serr)
	}
	s.Live.Wait()
	return errors.Join(err, <-worked)
}
