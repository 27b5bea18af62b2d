// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/redact"
)

// Work caches an App for each user, with his keys and network permissions.
type Work struct {
	mu   sync.Mutex
	Apps map[string]*UserApp
}

// UserApp is an App with the version of its keys and settings.
type UserApp struct {
	app     *app.App
	version uint64
}

// AppOf returns the App of a user: it has his keys and the server's permissions. It changes with
// his keys and the settings, so call AppOf each time and do not keep the result. Without Accounts
// it is Config.App.
func (s *Server) AppOf(ctx context.Context, user string) (*app.App, error) {
	if s.Config.Accounts == nil {
		return s.Config.App, nil
	}
	version := s.Config.Accounts.Version(user) // read before the keys
	s.Work.mu.Lock()
	known := s.Work.Apps[user]
	s.Work.mu.Unlock()
	if known != nil && known.version == version {
		return known.app, nil
	}
	made, err := s.makeApp(ctx, user)
	if err != nil {
		s.Work.mu.Lock()
		delete(s.Work.Apps, user) // perhaps the user was removed
		s.Work.mu.Unlock()
		return nil, fmt.Errorf("work for user %s: %w", user, err)
	}
	s.Work.mu.Lock()
	defer s.Work.mu.Unlock()
	if now := s.Work.Apps[user]; now != nil && now.version >= version { // a concurrent call was faster
		return now.app, nil
	}
	s.Work.Apps[user] = &UserApp{app: made, version: version}
	return made, nil
}

// WithCatalogues is AppOf with the server's catalogues that targets search (retrieve:CATALOGUE_ID).
// The user must be allowed to read them.
func (s *Server) WithCatalogues(ctx context.Context, user string, targets []app.TargetSpec) (*app.App, error) {
	a, err := s.AppOf(ctx, user)
	if err != nil {
		return nil, err
	}
	ids := Searched(app.TargetNames(targets))
	if len(ids) == 0 || s.Config.Accounts == nil {
		return a, nil
	}
	by, err := s.Principal(ctx, user)
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	for _, id := range ids {
		c, err := s.CatalogueOf(ctx, by, id)
		if err != nil {
			return nil, err
		}
		found[id] = c.Text
	}
	return a.WithCatalogues(found), nil
}

// Searched are the ids of the catalogues of the server that targets search, each once.
func Searched(targets []string) []string {
	var out []string
	for _, t := range targets {
		if id := (&app.TargetSpec{Target: t}).Catalogue(); library.IsCatalogue(id) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// makeApp makes an App of the user's current keys and permissions.
func (s *Server) makeApp(ctx context.Context, user string) (*app.App, error) {
	if _, err := s.Config.Accounts.User(ctx, user); err != nil {
		return nil, err
	}
	kept, err := s.Config.Accounts.Opened(ctx, user)
	if err != nil {
		return nil, err
	}
	allowed, err := s.Config.Accounts.Allowed(ctx)
	if err != nil {
		return nil, err
	}
	cfg, keys := s.Config.Work, values(kept)
	reach := app.Reach{Private: allowed.Private, Hosts: allowed.Hosts, Keys: bound(kept)}
	if allowed.ServerKeys {
		reach.Keys = append(reach.Keys, lent(s.serverEnv())...)
	}
	cfg.HTTP, cfg.User, cfg.Owner = reach.Client(), user, ownerOf(user, keys)
	cfg.Full = func(ctx context.Context) error {
		err := s.Config.Quota.RoomForAttempts(ctx, s.Config.Store.Rows(), user)
		if errors.Is(err, callvet.ErrLimited) {
			return fmt.Errorf("%w; then resume the run: %w", err, callvet.ErrBudget)
		}
		return err
	}
	cfg.Permit = app.Permit{Commands: allowed.Commands, Files: allowed.Files}
	cfg.Getenv = Environment(keys, s.serverEnv(), allowed)
	cfg.Environ = Visible(cfg.Environ, keys)
	return app.New(cfg), nil
}

// serverEnv is the server's own environment.
func (s *Server) serverEnv() func(string) string {
	if s.Config.Work.Getenv == nil {
		return func(string) string { return "" }
	}
	return s.Config.Work.Getenv
}

// values are the values of keys by variable.
func values(kept map[string]account.Kept) map[string]string {
	out := make(map[string]string, len(kept))
	for name := range kept {
		out[name] = kept[name].Value
	}
	return out
}

// bound are the keys of a user with their hosts. A stored address is not bound to a host.
func bound(kept map[string]account.Kept) (out []app.HostKey) {
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		if account.IsKey(name) {
			out = append(out,
				app.HostKey{Variable: name, Value: kept[name].Value, Hosts: kept[name].Hosts, Near: kept[name].Near})
		}
	}
	return out
}

// BindKeys sets the hosts of keys that an earlier version stored without hosts.
func (s *Server) BindKeys(ctx context.Context) error {
	if s.Config.Accounts == nil {
		return nil
	}
	allowed, err := s.Config.Accounts.Allowed(ctx)
	if err != nil {
		return err
	}
	return s.Config.Accounts.BindKeys(ctx, func(kept map[string]string) map[string][]string {
		return app.KeyHosts(Environment(kept, s.serverEnv(), allowed))
	})
}

// defaultHosts are the default hosts of a user's key: those of the key that it replaces; otherwise
// those of its provider, or of the stored address of it. near allows private addresses.
func (s *Server) defaultHosts(ctx context.Context, user, variable string) (hosts []string, near bool, err error) {
	kept, err := s.Config.Accounts.Opened(ctx, user)
	if err != nil {
		return nil, false, err
	}
	if before := kept[variable]; len(before.Hosts) > 0 {
		return before.Hosts, before.Near, nil
	}
	allowed, err := s.Config.Accounts.Allowed(ctx)
	if err != nil {
		return nil, false, err
	}
	return app.KeyHosts(Environment(values(kept), s.serverEnv(), allowed))[variable], true, nil
}

// ownerOf is a hash of a user and his keys. Stored answers of another user, or of another key, are
// not reused.
func ownerOf(user string, keys map[string]string) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		fmt.Fprintf(h, "%q=%q\n", name, keys[name])
	}
	return user + " " + hex.EncodeToString(h.Sum(nil))
}

// Environment is the environment of a user's targets: his own keys first, then the keys that the
// server lends. The rest of the server's environment is not visible.
func Environment(keys map[string]string, server func(string) string, allowed account.Allowed) func(string) string {
	var lends []string
	if allowed.ServerKeys {
		lends = append(app.Keys(), app.LendableSettings()...)
	}
	return func(name string) string {
		if v := keys[name]; v != "" {
			return v
		}
		if slices.Contains(lends, name) {
			return server(name)
		}
		return ""
	}
}

// lent are the keys of the server's environment, each with its hosts: the key of a provider without
// an address has none.
func lent(server func(string) string) (out []app.HostKey) {
	hosts := app.KeyHosts(server)
	for _, name := range app.Keys() {
		if v := strings.TrimSpace(server(name)); v != "" {
			out = append(out, app.HostKey{Value: v, Hosts: hosts[name]})
		}
	}
	return out
}

// Visible is the environment of commands: the server's environment without its secrets, and the
// user's own keys, which an App masks in all output.
func Visible(environ []string, keys map[string]string) []string {
	out, _ := redact.ChildEnvironment(environ, app.Keys(), nil)
	out = slices.DeleteFunc(out, func(kv string) bool { return strings.HasPrefix(kv, "CALLVET_") })
	for name, v := range keys {
		out = append(out, name+"="+v)
	}
	return out
}

// CatalogueOf returns the catalogue that a request names, if the user may read it. Without a name
// it returns the only one.
func (s *Server) CatalogueOf(ctx context.Context, by *account.Principal, id string) (*library.Catalogue, error) {
	if id == "" {
		list, err := s.Library.Catalogues(ctx, by.User, by.Role == account.Admin, library.Page{N: 2})
		if err != nil {
			return nil, err
		}
		if len(list) != 1 {
			return nil, &callvet.FieldError{
				Field: "catalogue_id",
				Text:  "{catalogue_id}: it may be left out only where there is exactly one catalogue",
				Fix:   "POST /api/catalogues keeps one, GET lists them",
			}
		}
		id = list[0].ID
	} else if err := s.May(ctx, by, KindCatalogue, id, false); err != nil {
		return nil, err
	}
	return s.Library.Catalogue(ctx, id)
}

// Principal is the principal of a user, for work without a request. The error wraps
// callvet.ErrNotFound if the user was removed.
func (s *Server) Principal(ctx context.Context, user string) (*account.Principal, error) {
	u, err := s.Config.Accounts.User(ctx, user)
	if err != nil {
		return nil, err
	}
	return &account.Principal{User: u.ID, Name: u.Name, Role: u.Role}, nil
}
