// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
)

// Config is what an App may use. Store is required if a request needs it.
type Config struct {
	// Store returns the store of runs; it may be the same one each time. The maker of the Config
	// closes it.
	Store func(context.Context) (*store.DB, error)
	// Files resolves the names of files in requests; nil: there are no files.
	Files Files
	// Permit has the permissions of requests; by default none.
	Permit Permit
	// Getenv reads a variable that a provider, a header or an address names; "" is one
	// that is not set. Nil: none is set.
	Getenv func(string) string
	// Environ is the environment (NAME=VALUE): the values of variables named like secrets are
	// masked in all outputs, and commands see the other variables.
	Environ []string
	// Owner is the owner of cached answers: requests of other owners do not reuse them. "": the
	// store has only one user.
	Owner string
	// User is the user of a server who owns the stored results of requests; "": the store has only
	// one user.
	User string
	// Full refuses further attempts, with an error that wraps callvet.ErrBudget, if the stored
	// attempts have reached their limit of space; nil: no limit.
	Full func(ctx context.Context) error
	// HTTP sends all requests: to models, agents, services and embedders. On a server it does not
	// reach private addresses; it should follow no redirect. Nil: each kind of target has its own.
	HTTP *http.Client
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Vectors is the path of the file that keeps vectors between requests; nil: no file.
	Vectors func() (string, error)
	// Indexes keeps indexed catalogues between requests; nil: each is indexed again.
	Indexes *Indexes
	// Claim identifies this process to other processes with the same store.
	Claim func() (store.Claim, error)
	// Browser is the path of the browser that prints reports; "" looks for Chromium.
	Browser string
	// Abort, when it closes, ends the grace period for requests in flight after a cancellation.
	Abort <-chan struct{}
	// Ask asks a person whether a call may be executed; nil: no person. It is called from many
	// goroutines, and should return the error of ctx when that ends.
	Ask func(ctx context.Context, q Question) (bool, error)
	// Version is the version of the program, for manifests.
	Version string
}

// Permit are the permissions of requests beyond asking models and reading suites.
type Permit struct {
	// Commands lets targets run commands (exec:).
	Commands bool
	// Tools lets runs really call tools.
	Tools bool
	// Files lets targets read files: script:, recorded: and retrieve:FILE.
	Files bool
	// Includes lets suites name other files, and Outside also files outside the folder of the
	// suite.
	Includes, Outside bool
}

// App carries out requests. It is safe for concurrent use.
type App struct {
	Config  Config
	secrets *redact.Keeper
	models  *http.Client // for providers of models
	pdf     *report.PDFPrinter
	// caches has what the packages that import this one keep between requests, one value of each
	// type.
	caches sync.Map
	// uploaded: files are in memory, and have no path.
	uploaded bool
	// catalogues are texts in memory, by the names that targets use for them (WithCatalogues).
	catalogues map[string][]byte
}

// New makes an App.
func New(cfg Config) *App {
	if cfg.Getenv == nil {
		cfg.Getenv = func(string) string { return "" }
	}
	if cfg.Files == nil {
		cfg.Files = Uploads(nil)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Vectors == nil {
		cfg.Vectors = func() (string, error) { return "", errors.New("nothing keeps them here") }
	}
	if cfg.Claim == nil {
		cfg.Claim = func() (store.Claim, error) { return store.Claim{TTL: DefaultLease}, nil }
	}
	a := &App{
		Config: cfg, secrets: redact.NewKeeper(cfg.Environ, KeyVariables()), models: cfg.HTTP,
	}
	if a.models == nil {
		a.models = provider.NewHTTPClient()
	}
	env, _ := redact.ChildEnvironment(cfg.Environ, KeyVariables(), nil)
	a.pdf = report.NewPDFPrinter(report.PDFConfig{Browser: cfg.Browser, Environ: env})
	return a
}

// Cached returns the value of type T that a keeps between requests. The first call makes it: T's zero value must be
// ready for use, by many goroutines.
func Cached[T any](a *App) *T {
	v, _ := a.caches.LoadOrStore(reflect.TypeFor[T](), new(T))
	return v.(*T) //nolint:forcetypeassert // stored above under this type
}

// Secrets has the known secrets: variables named like keys, and the credentials that requests sent.
func (a *App) Secrets() *redact.Keeper { return a.secrets }

// KeyVariables are the environment variables that keys are read from.
func KeyVariables() []string {
	return slices.Compact(
		slices.Sorted(slices.Values(append(provider.KeyVariables(), provider.EmbedKeyVariables()...))))
}

// Refused is the error of a wrong field. The text may name the field in braces.
func Refused(field, format string, args ...any) error {
	return &callvet.FieldError{Field: field, Text: fmt.Sprintf(format, args...)}
}

// Wrong is the error of a wrong field. value is the value of the field, or "" if it does not
// matter.
func Wrong(field, value, format string, args ...any) error {
	name := "{" + field + "}"
	if value != "" {
		name += " " + value
	}
	return &callvet.FieldError{Field: field, Text: name + ": " + fmt.Sprintf(format, args...)}
}

const (
	// DefaultLease is how long a run belongs to a process that does not renew its lease, for
	// example on a machine that sleeps.
	DefaultLease = 30 * time.Second
	// FollowInterval is how often a process that follows a run reads its state.
	FollowInterval = 500 * time.Millisecond
)

// Variable returns the value of a variable that will be sent; the value is masked from then on.
func (a *App) Variable(name string) (string, error) {
	v := a.Config.Getenv(name)
	if v == "" {
		return "", redact.EmptyVariable(name)
	}
	a.secrets.Learn(v)
	return v, nil
}
