// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"io/fs"
	"log/slog"
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

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/stats"
)

// maxBody is the default limit of a request, in bytes. Files have their own limit.
const maxBody = 8 << 20

// SmallBody bounds a request that holds a password or a key, in bytes.
const SmallBody = 64 << 10

// Config configures a Server. App, Store, and Accounts or Identify are required.
type Config struct {
	// App does the work that belongs to no user. It reads no file that a client names, runs no
	// command, and has no key.
	App *app.App
	// Accounts manages users.
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
	// Version is the version of the program.
	Version string
	// Workers is how many jobs run at once, and JobsPerUser how many of a user without an own
	// limit; 0: job.DefaultWorkers, job.DefaultPerUser.
	Workers, JobsPerUser int
	// JobShift is how long a job works before it gives way to a waiting one; 0: job.DefaultShift.
	JobShift time.Duration
	// RunWorkers is how many workers share a large run; 0: DefaultRunWorkers, 1: runs are not
	// split. ShardRounds is run.Splitting's Rounds.
	RunWorkers, ShardRounds int
	// ReadFor is how long reading and linting a suite may take; 0: DefaultReadFor.
	ReadFor time.Duration
	// Quota bounds the stored data of a user.
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
	Config Config
	Log    *slog.Logger
	Mux    *http.ServeMux
	API    huma.API
	// library keeps suites.
	Library *library.Suites
	// intake stores traces, and readers limits how many requests read whole files of them.
	Intake  *library.Intake
	Readers *readers
	routes  []Route
	Work    Work
	Root    http.Handler
	Jobs    *job.Jobs
	Live    *live
	// firing is held while a run of a schedule is made, so that a schedule has one run at a time.
	Firing  sync.Mutex
	Looked  time.Time // the last look at schedules; used by that loop only
	Metrics *metrics
	view    view
	kept    kept
	probe   probed
}

// Description is the text on the whole API in the OpenAPI description.
func Description(version string) huma.Config {
	c := huma.DefaultConfig("callvet", version)
	c.CreateHooks = nil // no $schema in responses
	c.Formats, c.Transformers = formats(), []huma.Transformer{brief}
	c.DocsPath, c.SchemasPath = "", ""
	c.OpenAPIPath = "/api/openapi"
	c.RejectUnknownQueryParameters = true
	c.Info.Description = "Evaluates tool calls: suites, runs, jobs and experiments. /api/… and /api/v1/… are the " +
		"same. Errors are application/problem+json."
	c.Components.Schemas = schemas()
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":   {Type: "http", Scheme: "bearer", Description: "a token of a user: POST /api/tokens"},
		"session": {Type: "apiKey", In: "cookie", Name: SessionCookie, Description: "the login of the page"},
	}
	return c
}

// schemas names the types of the description: types of other packages with their package, because
// two packages may have types with the same name.
func schemas() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, hint string) string {
		name := huma.DefaultSchemaNamer(t, hint)
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		room := path.Base(t.PkgPath())
		if t.Name() == "" || t.PkgPath() == "" || room == "huma" || room == "v2" {
			return name
		}
		// Names in the description outlive the packages that they come from.
		if room == "panel" && strings.HasPrefix(t.Name(), "Routing") {
			return name
		}
		if _, below, ok := strings.Cut(t.PkgPath(), "/internal/"); ok {
			switch family, _, _ := strings.Cut(below, "/"); family {
			case "server":
				return name
			case "app":
				if room = family; strings.HasPrefix(t.Name(), "Drills") {
					return name // the name from an earlier version, when drills were a package
				}
			}
		}
		return strings.ToUpper(room[:1]) + room[1:] + name
	})
	r.RegisterTypeAlias(reflect.TypeFor[stats.Interval](), reflect.TypeFor[Interval]())
	r.RegisterTypeAlias(reflect.TypeFor[callvet.Score](), reflect.TypeFor[Score]())
	return r
}

// Interval is an estimate with its interval, in the names of the API.
type Interval struct {
	Point      *float64 `json:"point" doc:"null if there is no estimate"`
	Lower      *float64 `json:"lower" doc:"null if there is no end"`
	Upper      *float64 `json:"upper" doc:"null if there is no end"`
	SE         *float64 `json:"se,omitempty"`
	N          int      `json:"n"`
	Clusters   int      `json:"clusters"`
	NEff       float64  `json:"n_eff,omitempty"`
	Confidence float64  `json:"confidence"`
	Method     string   `json:"method"`
	Status     string   `json:"status"`
}

// Score is one measurement, in the names of the API.
type Score struct {
	Name   string   `json:"name"`
	Value  *float64 `json:"value" doc:"from 0 to 1; null where it is not scored"`
	Reason string   `json:"reason,omitempty"`
}

// SessionCookie is the name of the session cookie.
const SessionCookie = "callvet_session"

// Routes are all routes of the API, by path and method.
func (s *Server) Routes() []Route { return slices.Clone(s.routes) }

// OpenAPI is the description of the API.
func (s *Server) OpenAPI() *huma.OpenAPI { return s.API.OpenAPI() }

// Handler answers requests.
func (s *Server) Handler() http.Handler { return s.Root }

// Drain is how long requests may take after the server was asked to end. During the same time jobs
// must return to the queue.
const Drain = job.HandBack
