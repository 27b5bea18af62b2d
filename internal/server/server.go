// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/parallel"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/stats"
)

// maxBody is the default limit of a request, in bytes. Files have their own limit.
const maxBody = 8 << 20

// smallBody bounds a request that holds a password or a key, in bytes.
const smallBody = 64 << 10

// Config configures a Server. App, Store, and Accounts or Identify are required.
type Config struct {
	// App does the work that belongs to no user. It reads no file that a client names, runs no
	// command, and has no key.
	App *app.App
	// Accounts knows users.
	Accounts *account.Accounts
	// Work is the configuration of each user's App (AppOf): Store, Files, Claim and so on. Getenv
	// and Environ are the server's environment; users see only the variables that the server lends.
	// HTTP and Permit are not used: admins decide about them.
	Work app.Config
	// Store is the database of the server.
	Store *store.DB
	// Identify returns the principal of a request. The error is ErrNoLogin without a login, and a
	// different one for an invalid token or session. It may renew a cookie. Nil: Accounts identify.
	Identify func(http.ResponseWriter, *http.Request) (*account.Principal, error)
	// Log gets one record for each request and each error; nil drops them.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Wait waits for a duration, or until the context ends, and then returns its error; nil: by the
	// system clock.
	Wait func(context.Context, time.Duration) error
	// URL is where users reach the server, for links and cookies; nil: http, at the host of each request.
	URL *url.URL
	// Local: only this machine sends requests. The host of a request must be this machine, URL, or
	// one of Hosts.
	Local bool
	// Hosts are the host names that requests may use. Empty and not Local: all.
	Hosts []string
	// Proxies are the networks of trusted proxies: the server uses their X-Forwarded-For.
	Proxies []netip.Prefix
	// Version is that of the program.
	Version string
	// Workers is how many jobs run at once, and JobsPerUser how many of a user who has no number of
	// his own; 0: job.DefaultWorkers, job.DefaultPerUser.
	Workers, JobsPerUser int
	// JobShift is how long a job works before it gives way to a waiting one; 0: job.DefaultShift.
	JobShift time.Duration
	// RunWorkers is how many workers share a large run; 0: DefaultRunWorkers, 1: runs are not
	// split. ShardRounds is run.Splitting's Rounds.
	RunWorkers, ShardRounds int
	// ReadFor is how long reading and linting a suite may take; 0: DefaultReadFor.
	ReadFor time.Duration
	// Quota bounds what a user may hold.
	Quota store.Quota
	// Sockets is how many connections of a user may follow his events; 0: DefaultSockets.
	Sockets int
	// ReadOnly makes a server for one person who views a store and changes nothing: no users, no
	// jobs, no schedules. A browser logs in with ViewLink; Accounts and Identify are not used.
	ReadOnly bool
	// MetricsOpen: the metrics need no login; otherwise they are for admins.
	MetricsOpen bool
	// Page has the files of the page: index.html and assets/, or unbuilt.html; nil: there is no page.
	Page fs.FS
}

// DefaultRunWorkers is how many workers share a large run.
const DefaultRunWorkers = 2

// Server answers requests over HTTP. It is safe for concurrent use.
type Server struct {
	cfg Config
	log *slog.Logger
	mux *http.ServeMux
	api huma.API
	// library keeps suites.
	library *library.Suites
	// intake stores traces, and readers limits how many requests read whole files of them.
	intake  *library.Intake
	readers *readers
	routes  []Route
	work    work
	handler http.Handler
	jobs    *job.Jobs
	live    *live
	// firing is held while a run of a schedule is made, so that a schedule has one run at a time.
	firing  sync.Mutex
	looked  time.Time // the last look at schedules; used by that loop only
	metrics *metrics
	view    view
	kept    kept
	probe   probed
}

// New makes a server with all its routes.
func New(cfg Config) (*Server, error) {
	if cfg.App == nil || cfg.Store == nil || cfg.Accounts == nil && cfg.Identify == nil && !cfg.ReadOnly {
		return nil, errors.New("make server: it needs an App, a Store and Accounts")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Wait == nil {
		cfg.Wait = parallel.Sleep
	}
	s := &Server{
		cfg: cfg, log: cfg.Log, mux: http.NewServeMux(), work: work{apps: map[string]*userApp{}},
		live: newLive(),
	}
	if cfg.ReadOnly {
		s.cfg.Accounts, s.cfg.Identify = nil, s.identifyView
	}
	if s.cfg.Identify == nil {
		s.cfg.Identify = s.identify
	}
	if s.cfg.Work.Indexes == nil {
		s.cfg.Work.Indexes = &app.Indexes{}
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := s.openJobs(); err != nil {
		return nil, err
	}
	s.addRoutes()
	if err := s.addPage(); err != nil {
		return nil, err
	}
	s.handler = s.middleware(s.mux)
	return s, nil
}

// Description is the OpenAPI description of the API in JSON, made without a server.
func Description(version string) ([]byte, error) {
	// no handler is called
	s := &Server{cfg: Config{Version: version, Accounts: new(account.Accounts)}, mux: http.NewServeMux()}
	s.addRoutes()
	b, err := json.MarshalIndent(s.OpenAPI(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("describe the API: %w", err)
	}
	return append(b, '\n'), nil
}

// addRoutes adds all routes. Only their handlers need what the server opens.
func (s *Server) addRoutes() {
	s.api = humago.New(s.mux, description(s.cfg.Version))
	s.metrics = s.newMetrics() //nolint:contextcheck // a scrape has a time of its own
	s.addHealth()
	s.addMetrics()
	s.addLibrary()
	s.addRuns()
	s.addExperiments()
	s.addTrends()
	s.addProbe()
	s.addView()
	s.addAccounts()
	s.addEval()
	s.addJobs()
	s.addEvents()
	s.addTraces()
	s.addJudging()
	s.addSchedules()
}

// description is what the OpenAPI description says of the whole.
func description(version string) huma.Config {
	c := huma.DefaultConfig("callvet", version)
	c.CreateHooks = nil // no $schema in answers
	c.Formats, c.Transformers = formats(), []huma.Transformer{brief}
	c.DocsPath, c.SchemasPath = "", ""
	c.OpenAPIPath = "/api/openapi"
	c.RejectUnknownQueryParameters = true
	c.Info.Description = "Evaluates tool calls: suites, runs, jobs and experiments. /api/… and /api/v1/… are the same. Errors are application/problem+json."
	c.Components.Schemas = schemas()
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":   {Type: "http", Scheme: "bearer", Description: "a token of a user: POST /api/tokens"},
		"session": {Type: "apiKey", In: "cookie", Name: SessionCookie, Description: "the login of the page"},
	}
	return c
}

// schemas names the types of the description: those of other rooms with their room, as two rooms
// may have types of one name.
func schemas() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, hint string) string {
		name := huma.DefaultSchemaNamer(t, hint)
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		room := path.Base(t.PkgPath())
		if t.Name() == "" || t.PkgPath() == "" || room == "server" || room == "huma" || room == "v2" {
			return name
		}
		return strings.ToUpper(room[:1]) + room[1:] + name
	})
	r.RegisterTypeAlias(reflect.TypeFor[stats.Interval](), reflect.TypeFor[Interval]())
	r.RegisterTypeAlias(reflect.TypeFor[callvet.Score](), reflect.TypeFor[Score]())
	return r
}

// Interval is an estimate with its interval, as the API spells it.
type Interval struct {
	Point      *float64 `json:"point" doc:"null where there is no estimate"`
	Lower      *float64 `json:"lower" doc:"null where there is no end"`
	Upper      *float64 `json:"upper" doc:"null where there is no end"`
	SE         *float64 `json:"se,omitempty"`
	N          int      `json:"n"`
	Clusters   int      `json:"clusters"`
	NEff       float64  `json:"n_eff,omitempty"`
	Confidence float64  `json:"confidence"`
	Method     string   `json:"method"`
	Status     string   `json:"status"`
}

// Score is one measurement, as the API spells it.
type Score struct {
	Name   string   `json:"name"`
	Value  *float64 `json:"value" doc:"from 0 to 1; null where it is not scored"`
	Reason string   `json:"reason,omitempty"`
}

// SessionCookie is the name of the cookie that has a session.
const SessionCookie = "callvet_session"

// Routes are all routes of the API, by path and method.
func (s *Server) Routes() []Route { return slices.Clone(s.routes) }

// OpenAPI is the description of the API.
func (s *Server) OpenAPI() *huma.OpenAPI { return s.api.OpenAPI() }

// Handler answers requests.
func (s *Server) Handler() http.Handler { return s.handler }

// Drain is how long requests may take after the server was asked to end. During the same time jobs
// must hand themselves back.
const Drain = job.HandBack

// Serve answers requests that come to l, does jobs, and looks after schedules, until ctx ends; then
// it takes no new ones, lets requests in work end, hands jobs back, and returns.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if !s.cfg.ReadOnly {
		if err := s.BindKeys(context.WithoutCancel(ctx)); err != nil { // an interrupt that early ends it in peace, too
			return errors.Join(err, l.Close())
		}
	}
	srv := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
		ErrorLog:       slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext:    func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	srv.RegisterOnShutdown(s.live.end)
	ended, worked := make(chan error, 1), make(chan error, 1)
	var group parallel.Group
	defer group.Wait()
	group.Go(func() { ended <- srv.Serve(l) })
	if s.cfg.ReadOnly {
		worked <- nil
	} else {
		group.Go(func() {
			err := s.RunJobs(ctx)
			worked <- err
			if err != nil {
				stop()
			}
		})
		group.Go(func() { s.RunSchedules(ctx) })
		group.Go(func() { s.RunWebhooks(ctx) })
	}
	select {
	case err := <-ended:
		stop()
		return errors.Join(fmt.Errorf("serve: %w", err), <-worked)
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), Drain)
	defer cancel()
	err := srv.Shutdown(late)
	if err != nil {
		err = errors.Join(err, srv.Close())
	}
	if serr := <-ended; !errors.Is(serr, http.ErrServerClosed) {
		err = errors.Join(err, serr)
	}
	s.live.wait()
	return errors.Join(err, <-worked)
}
