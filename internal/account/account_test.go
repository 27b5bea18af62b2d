// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package account_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// house is accounts with an admin, root.
type house struct {
	*account.Accounts
	*clock
	db   *store.DB
	root *account.Principal
}

const rootPassword = "correct horse battery"

// cheap is a hash that costs little.
func cheap() account.Cost { return account.Cost{Memory: 8, Passes: 1} }

func seal() []byte { return bytes.Repeat([]byte{7}, account.SecretSize) }

func empty(t *testing.T) *house {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	c := &clock{now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	a, err := account.New(account.Config{Store: db, Secret: seal(), Now: c.Now, Cost: cheap()})
	if err != nil {
		t.Fatal(err)
	}
	return &house{Accounts: a, clock: c, db: db}
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := empty(t)
	link, err := h.FirstLink(t.Context())
	if err != nil || link == "" {
		t.Fatalf("%q, %v", link, err)
	}
	in, err := h.Claim(t.Context(), link, "Root", rootPassword, "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	h.root = in.Principal
	return h
}

// join makes a user who chose a password: his name, three times.
func (h *house) join(t *testing.T, name string, role account.Role) *account.Login {
	t.Helper()
	_, link, err := h.Invite(t.Context(), h.root, account.NewUser{Name: name, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	in, err := h.Claim(t.Context(), link, "", password(name), "192.0.2.2")
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func password(name string) string { return strings.Repeat(name+" ", 4) }

func TestFirstAdmin(t *testing.T) {
	t.Parallel()
	h := empty(t)
	ctx := t.Context()
	first, err := h.FirstLink(ctx)
	if err != nil {
		t.Fatal(err)
	}
	second, err := h.FirstLink(ctx)
	if err != nil {
		t.Fatal(err)
	}
	claim := func(link, name, password string) error {
		_, err := h.Claim(ctx, link, name, password, "192.0.2.1")
		return err
	}
	if err := claim(first, "root", rootPassword); !errors.Is(err, account.ErrLogin) {
		t.Errorf("the link before the last one: %v", err)
	}
	for _, c := range [][2]string{
		{"", rootPassword},
		{"no spaces", rootPassword},
		{"root", "short"},
		{"aaaaaaaaaaaaa", "aaaaaaaaaaaaa"},
		{"root", strings.Repeat("a", 513)},
	} {
		if err := claim(second, c[0], c[1]); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%q: %v", c, err)
		}
	}
	h.pass(24*time.Hour - time.Second)
	if err := claim(second, "Root", rootPassword); err != nil {
		t.Errorf("after a refusal the link is still good: %v", err)
	}
	if err := claim(second, "other", rootPassword); !errors.Is(err, account.ErrLogin) {
		t.Errorf("used twice: %v", err)
	}
	if link, err := h.FirstLink(ctx); link != "" || err != nil {
		t.Errorf("there is an admin: %q, %v", link, err)
	}
	if in, err := h.Login(ctx, "ROOT", rootPassword, "192.0.2.1"); err != nil || in.Principal.Role != account.Admin {
		t.Errorf("%+v, %v", in, err)
	}

	late := empty(t)
	link, err := late.FirstLink(ctx)
	if err != nil {
		t.Fatal(err)
	}
	late.pass(24 * time.Hour)
	if _, err := late.Claim(ctx, link, "root", rootPassword, "192.0.2.1"); !errors.Is(err, account.ErrLogin) {
		t.Errorf("after a day: %v", err)
	}
}

// TestFirstAdminOnce: of many who use the first link at once, one is the admin.
func TestFirstAdminOnce(t *testing.T) {
	t.Parallel()
	h := empty(t)
	link, err := h.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var won, lost int
	var mu sync.Mutex
	var g sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		g.Go(func() {
			_, err := h.Claim(t.Context(), link, name, rootPassword, "192.0.2.1")
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if errors.Is(err, account.ErrLogin) {
				lost++
			}
		})
	}
	g.Wait()
	users, _, err := h.Users(t.Context(), "", 0)
	if won != 1 || lost != 5 || len(users) != 1 || err != nil {
		t.Errorf("%d won, %d lost, %d users, %v", won, lost, len(users), err)
	}
}

// TestRemoved: nothing that a removed user had works again, also under his name.
func TestRemoved(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	in := h.join(t, "bo", account.Member)
	_, token, err := h.MakeToken(ctx, in.Principal,
		account.NewToken{Name: "ci", Scopes: []account.Scope{account.ScopeRead}})
	if err != nil {
		t.Fatal(err)
	}
	link, err := h.Relink(ctx, h.root, in.Principal.User)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.SetProviderKey(ctx, in.Principal, "OPENAI_API_KEY",
		account.Kept{Value: "sk-0123456789abcdef", Hosts: []string{"api.example.com"}}); err != nil {
		t.Fatal(err)
	}
	dead := func(when string) {
		t.Helper()
		for what, try := range map[string]func() error{
			"session": func() error { _, err := h.BySession(ctx, in.Secret); return err },
			"token":   func() error { _, err := h.ByToken(ctx, token); return err },
			"link":    func() error { _, err := h.Claim(ctx, link, "bo", password("bo"), "192.0.2.9"); return err },
			"password": func() error {
				_, err := h.Login(ctx, "bo", password("bo"), "192.0.2.9")
				return err
			},
		} {
			if err := try(); !errors.Is(err, account.ErrLogin) {
				t.Errorf("%s: %s: %v", when, what, err)
			}
		}
		if keys, err := h.Opened(ctx, in.Principal.User); len(keys) > 0 || err != nil {
			t.Errorf("%s: keys: %d, %v", when, len(keys), err)
		}
	}
	if err := h.Remove(ctx, h.root, in.Principal.User); err != nil {
		t.Fatal(err)
	}
	dead("removed")
	if _, err := h.User(ctx, in.Principal.User); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("he is listed: %v", err)
	}
	if _, _, err := h.MakeToken(ctx, in.Principal,
		account.NewToken{Name: "x", Scopes: []account.Scope{account.ScopeRead}}); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("who was recognized before makes a token: %v", err)
	}
	if _, err := h.SetProviderKey(ctx, in.Principal, "OPENAI_API_KEY",
		account.Kept{Value: "sk-0123456789abcdef", Hosts: []string{"api.example.com"}}); !errors.Is(err,
		callvet.ErrNotFound) {
		t.Errorf("who was recognized before sets a key: %v", err)
	}
	if _, _, err := h.Invite(ctx, h.root, account.NewUser{Name: "bo", Role: account.Viewer}); err != nil {
		t.Errorf("the name is free: %v", err)
	}
	dead("the name was given again")
	if err := h.Remove(ctx, h.root, in.Principal.User); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
}

func TestLastAdmin(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	member := account.Member
	if _, err := h.ChangeUser(ctx, h.root, h.root.User, account.UserChange{Role: &member}); !errors.Is(err,
		callvet.ErrConflict) {
		t.Error(err)
	}
	if _, _, err := h.Invite(ctx, h.root, account.NewUser{Name: "waits", Role: account.Admin}); err != nil {
		t.Fatal(err)
	}
	if err := h.Remove(ctx, h.root, h.root.User); !errors.Is(err, callvet.ErrConflict) {
		t.Errorf("an admin who cannot log in yet is none: %v", err)
	}
	h.join(t, "ann", account.Admin)
	if err := h.Remove(ctx, h.root, h.root.User); err != nil {
		t.Error(err)
	}
}

// TestRoleCountsAtOnce: an earlier session has the current role.
func TestRoleCountsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	in := h.join(t, "ann", account.Admin)
	_, token, err := h.MakeToken(ctx, in.Principal, account.NewToken{Name: "ci", Scopes: account.Scopes()})
	if err != nil {
		t.Fatal(err)
	}
	viewer := account.Viewer
	if _, err := h.ChangeUser(ctx, h.root, in.Principal.User, account.UserChange{Role: &viewer}); err != nil {
		t.Fatal(err)
	}
	s, err := h.BySession(ctx, in.Secret)
	if err != nil || s.Role != account.Viewer {
		t.Errorf("%+v, %v", s, err)
	}
	if p, err := h.ByToken(ctx, token); err != nil || p.Role != account.Viewer {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestSessionEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	in := h.join(t, "bo", account.Member)
	is := func(what, secret string, good bool) {
		t.Helper()
		if _, err := h.BySession(ctx, secret); (err == nil) != good || err != nil && !errors.Is(err, account.ErrLogin) {
			t.Errorf("%s: %v", what, err)
		}
	}
	is("new", in.Secret, true)
	is("no secret", "", false)
	for range 13 { // used each day
		h.pass(23 * time.Hour)
		is("used", in.Secret, true)
	}
	h.pass(23 * time.Hour)
	h.pass(15 * time.Hour)
	is("idle for 38 hours, and old", in.Secret, false)

	idle, err := h.Login(ctx, "bo", password("bo"), "192.0.2.2")
	if err != nil {
		t.Fatal(err)
	}
	h.pass(account.SessionIdle)
	is("idle", idle.Secret, false)
	a, err := h.Login(ctx, "bo", password("bo"), "192.0.2.2")
	if err != nil {
		t.Fatal(err)
	}
	b, err := h.Login(ctx, "bo", password("bo"), "192.0.2.2")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Logout(ctx, a.Principal); err != nil {
		t.Fatal(err)
	}
	is("logged out", a.Secret, false)
	is("another one", b.Secret, true)
	c, err := h.Login(ctx, "bo", password("bo"), "192.0.2.2")
	if err != nil {
		t.Fatal(err)
	}
	_, token, err := h.MakeToken(ctx, b.Principal,
		account.NewToken{Name: "ci", Scopes: []account.Scope{account.ScopeRead}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.ChangePassword(ctx, b.Principal, "not the password", password("other")); !errors.Is(err,
		callvet.ErrDenied) {
		t.Errorf("another password: %v", err)
	}
	changed, err := h.ChangePassword(ctx, b.Principal, password("bo"), password("other"))
	if err != nil {
		t.Fatal(err)
	}
	is("the new one of who changed it", changed.Secret, true)
	is("his old one", b.Secret, false)
	is("the other one", c.Secret, false)
	if _, err := h.ByToken(ctx, token); !errors.Is(err, account.ErrLogin) {
		t.Errorf("a token from before the new password: %v", err)
	}
	if _, err := h.Login(ctx, "bo", password("bo"), "192.0.2.2"); !errors.Is(err, account.ErrLogin) {
		t.Errorf("the old password: %v", err)
	}
}

func TestSessionLife(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	in := h.join(t, "bo", account.Member)
	var lasted time.Duration
	for ; lasted < 2*account.SessionLife; lasted += time.Hour {
		if _, err := h.BySession(t.Context(), in.Secret); err != nil {
			break
		}
		h.pass(time.Hour)
	}
	if lasted != account.SessionLife {
		t.Errorf("it lasted %v", lasted)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	in := h.join(t, "bo", account.Member)
	for _, n := range []account.NewToken{
		{Scopes: []account.Scope{account.ScopeRead}},
		{Name: "x"},
		{Name: "x", Scopes: []account.Scope{account.ScopeAdmin}},
		{Name: "x", Scopes: []account.Scope{"all"}},
		{Name: "x", Scopes: []account.Scope{account.ScopeRead}, Days: 367},
		{Name: "x", Scopes: []account.Scope{account.ScopeRead}, Days: -1},
	} {
		if _, _, err := h.MakeToken(ctx, in.Principal, n); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%+v: %v", n, err)
		}
	}
	made, secret, err := h.MakeToken(ctx, in.Principal,
		account.NewToken{
			Name:   "ci",
			Scopes: []account.Scope{account.ScopeRun, account.ScopeRead, account.ScopeRun}, Days: 1,
		})
	if err != nil || !strings.HasPrefix(secret, "cv_") {
		t.Fatal(err)
	}
	p, err := h.ByToken(ctx, secret)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]account.Scope{"read", "run"}, p.Scopes); d != "" || p.Allows(account.ScopeWrite) ||
		!p.Allows(account.ScopeRun) {
		t.Error(d)
	}
	if _, _, err := h.MakeToken(ctx, p,
		account.NewToken{Name: "x", Scopes: []account.Scope{account.ScopeRead}}); !errors.Is(err, callvet.ErrDenied) {
		t.Errorf("a token makes a token: %v", err)
	}
	used := h.Now()
	h.pass(4 * time.Minute)
	if _, err := h.ByToken(ctx, secret); err != nil {
		t.Fatal(err)
	}
	list, err := h.Tokens(ctx, p.User)
	if err != nil || len(list) != 1 || list[0].ID != made.ID || !list[0].Used.Equal(used) {
		t.Errorf("%+v, %v", list, err)
	}
	h.pass(24 * time.Hour)
	if _, err := h.ByToken(ctx, secret); !errors.Is(err, account.ErrLogin) {
		t.Errorf("expired: %v", err)
	}
	_, secret, err = h.MakeToken(ctx, in.Principal,
		account.NewToken{Name: "ci", Scopes: []account.Scope{account.ScopeRead}})
	if err != nil {
		t.Fatal(err)
	}
	p, err = h.ByToken(ctx, secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(h.RevokeToken(ctx, in.Principal, p.Token)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ByToken(ctx, secret); !errors.Is(err, account.ErrLogin) {
		t.Errorf("revoked: %v", err)
	}
	if err := h.RevokeToken(ctx, in.Principal, p.Token); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("revoked twice: %v", err)
	}
}

// TestThrottle: a name gets one guess a minute, an address few, and waiting is over in time.
func TestThrottle(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	h.join(t, "bo", account.Member)
	var limit *account.LimitError
	guesses := func(n int, name, address string) (made int) {
		for range n {
			if _, err := h.Login(ctx, name, "a wrong password", address); errors.Is(err, account.ErrLogin) {
				made++
			} else if !errors.As(err, &limit) || !errors.Is(err, callvet.ErrLimited) || limit.After < 1 {
				t.Errorf("%v", err)
			}
		}
		return made
	}
	if n := guesses(50, "bo", "192.0.2.66"); n != 6 {
		t.Errorf("%d guesses of a password at once", n)
	}
	if _, err := h.Login(ctx, "bo", password("bo"), "192.0.2.67"); err != nil {
		t.Errorf("its user at another address waits for the failures of this one: %v", err)
	}
	made := 0
	for range 60 {
		h.pass(time.Minute)
		made += guesses(5, "bo", "192.0.2.66")
	}
	if made > 60 {
		t.Errorf("%d guesses in an hour", made)
	}
	if n := guesses(20, "bo", "192.0.2.66"); n > 1 {
		t.Errorf("%d guesses at once after an hour of them", n)
	}

	h = newHouse(t)
	made = 0
	for i := range 100 {
		made += guesses(1, "user"+strings.Repeat("x", i%60), "2001:db8::"+string("123456789abcdef"[i%15]))
	}
	if made != 21 {
		t.Errorf("%d guesses of many names from one network", made)
	}
	if _, err := h.Login(ctx, "root", rootPassword, "2001:db8:0:1::1"); err != nil {
		t.Errorf("another network: %v", err)
	}
}

// TestSealed: a row opens with the secret key that sealed it, for its user and variable.
func TestSealed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	bo, ann := h.join(t, "bo", account.Member).Principal, h.join(t, "ann", account.Member).Principal
	const value = "sk-0123456789abcdef-wxyz"
	for _, name := range []string{"OPENAI_API_KEY", "HF_TOKEN", "CALLVET_COMPATIBLE_API_KEY"} {
		if k, err := h.SetProviderKey(ctx, bo, name,
			account.Kept{Value: value + "\n", Hosts: []string{"api.example.com"}}); err != nil || k.Hint != "wxyz" {
			t.Fatalf("%+v, %v", k, err)
		}
	}
	for _, name := range []string{"PATH", "LD_PRELOAD", "openai_api_key", "", "KEY=1"} {
		if _, err := h.SetProviderKey(ctx, bo, name,
			account.Kept{Value: value, Hosts: []string{"api.example.com"}}); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, v := range []string{"", " ", "a\x00b", "a\nb", strings.Repeat("a", 9000)} {
		if _, err := h.SetProviderKey(ctx, bo, "OPENAI_API_KEY",
			account.Kept{Value: v, Hosts: []string{"api.example.com"}}); !errors.Is(err, callvet.ErrInvalid) ||
			strings.Contains(err.Error(), "aaaa") {
			t.Errorf("%.10q: %v", v, err)
		}
	}
	if got, err := h.Opened(ctx, bo.User); err != nil || got["OPENAI_API_KEY"].Value != value || len(got) != 3 {
		t.Errorf("%d, %v", len(got), err)
	}
	if got, err := h.Opened(ctx, ann.User); err != nil || len(got) != 0 {
		t.Errorf("%d, %v", len(got), err)
	}
	if short, err := h.SetProviderKey(ctx, bo, "XAI_API_KEY",
		account.Kept{Value: "short", Hosts: []string{"api.example.com"}}); err != nil || short.Hint != "" {
		t.Errorf("%+v, %v", short, err)
	}
	// Who may write to the store cannot give himself another's key.
	if _, err := h.db.Handle().ExecContext(ctx,
		"INSERT INTO provider_keys SELECT $1, variable, sealed, hint, created FROM provider_keys WHERE variable = 'OPENAI_API_KEY'", ann.User); err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.Handle().ExecContext(ctx,
		"INSERT INTO provider_keys SELECT user_id, 'MISTRAL_API_KEY', sealed, hint, created FROM provider_keys WHERE variable = 'HF_TOKEN'"); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Opened(ctx, ann.User); err != nil || len(got) != 0 {
		t.Errorf("a row was given to another user: %v, %v", got, err)
	}
	if got, err := h.Opened(ctx, bo.User); err != nil || got["MISTRAL_API_KEY"].Value != "" ||
		got["HF_TOKEN"].Value != value {
		t.Errorf("a row was given another variable: %d, %v", len(got), err)
	}
	other, err := account.New(
		account.Config{Store: h.db, Secret: bytes.Repeat([]byte{8}, account.SecretSize), Cost: cheap()})
	if err != nil {
		t.Fatal(err)
	}
	if lost, all, err := other.LostKeys(ctx); lost != 6 || all != 6 || err != nil {
		t.Errorf("%d of %d, %v", lost, all, err)
	}
	if lost, all, err := h.LostKeys(ctx); lost != 2 || all != 6 || err != nil {
		t.Errorf("%d of %d, %v", lost, all, err)
	}
	if list, err := other.ProviderKeys(ctx, bo.User); err != nil || len(list) != 5 || !list[0].Lost {
		t.Errorf("%+v, %v", list, err)
	}
	none, err := account.New(account.Config{Store: h.db, Cost: cheap()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.SetProviderKey(ctx, bo, "OPENAI_API_KEY",
		account.Kept{Value: value, Hosts: []string{"api.example.com"}}); !errors.Is(err, callvet.ErrUnavailable) {
		t.Errorf("without a secret key: %v", err)
	}
	if err := h.DropProviderKey(ctx, bo, "HF_TOKEN"); err != nil {
		t.Error(err)
	}
	if err := h.DropProviderKey(ctx, bo, "HF_TOKEN"); !errors.Is(err, callvet.ErrNotFound) {
		t.Error(err)
	}
}

// TestHostsOfKeys: the hosts of a key are kept as requests name them, and a key without a host is refused.
func TestHostsOfKeys(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	bo := h.join(t, "bo", account.Member).Principal
	for _, c := range []struct {
		variable  string
		give, got []string // got nil: refused
	}{
		{"OPENAI_API_KEY", []string{"API.OpenAI.com."}, []string{"api.openai.com"}},
		{
			"OPENAI_API_KEY",
			[]string{"localhost:8000", "[::1]:8000", "a", "a"},
			[]string{"[::1]:8000", "a", "localhost:8000"},
		},
		{"MY_TOKEN", []string{"::1"}, []string{"[::1]"}},
		{"OPENAI_BASE_URL", nil, []string{}},
		{"MY_TOKEN", nil, nil},
		{"MY_TOKEN", []string{"https://a"}, nil},
		{"MY_TOKEN", []string{"a/b"}, nil},
		{"MY_TOKEN", []string{"a:99999"}, nil},
		{"MY_TOKEN", []string{""}, nil},
		{"MY_TOKEN", make([]string, 21), nil},
		{"OPENAI_BASE_URL", []string{"a"}, nil},
	} {
		k, err := h.SetProviderKey(t.Context(), bo, c.variable,
			account.Kept{Value: "https://of-bo.example", Hosts: c.give})
		if c.got == nil {
			var field *callvet.FieldError
			if !errors.As(err, &field) || field.Field != "hosts" {
				t.Errorf("%s %q: %v", c.variable, c.give, err)
			}
			continue
		}
		if d := cmp.Diff(c.got, k.Hosts); err != nil || d != "" {
			t.Errorf("%s %q: %v %s", c.variable, c.give, err, d)
		}
	}
	list, err := h.ProviderKeys(t.Context(), bo.User)
	if err != nil || len(list) != 3 || !slices.Equal(list[0].Hosts, []string{"[::1]"}) || len(list[2].Hosts) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestBindKeys: a key of an earlier version, which was sealed without hosts, gets those of its variable once.
func TestBindKeys(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	bo := h.join(t, "bo", account.Member).Principal
	old := func(name, value string) {
		t.Helper()
		sealed, err := h.SealOld(bo.User, name, value)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.db.Handle().ExecContext(ctx, "INSERT INTO provider_keys VALUES($1,$2,$3,'',0)", bo.User, name,
			sealed); err != nil {
			t.Fatal(err)
		}
	}
	old("OPENAI_API_KEY", "sk-of-bo-0123456789")
	old("OPENAI_BASE_URL", "https://models.example")
	old("MY_TOKEN", "of-no-provider")
	if _, err := h.SetProviderKey(ctx, bo, "HF_TOKEN",
		account.Kept{Value: "hf-0123456789", Hosts: []string{"hf.example"}}); err != nil {
		t.Fatal(err)
	}
	bind := func(host string) {
		t.Helper()
		err := h.BindKeys(ctx, func(kept map[string]string) map[string][]string {
			if kept["OPENAI_BASE_URL"] != "https://models.example" {
				t.Errorf("the address is not given: %v", kept)
			}
			return map[string][]string{"OPENAI_API_KEY": {host}, "HF_TOKEN": {host}}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	bind("models.example")
	bind("evil.example")
	got, err := h.Opened(ctx, bo.User)
	want := map[string]account.Kept{
		"OPENAI_API_KEY":  {Value: "sk-of-bo-0123456789", Hosts: []string{"models.example"}, Near: true},
		"OPENAI_BASE_URL": {Value: "https://models.example"},
		"MY_TOKEN":        {Value: "of-no-provider", Hosts: []string{}, Near: true},
		"HF_TOKEN":        {Value: "hf-0123456789", Hosts: []string{"hf.example"}},
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
}

// TestAudit: every change has its line, none has a secret, and pages come in order.
func TestAudit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	in := h.join(t, "bo", account.Member)
	h.pass(time.Second)
	if _, err := h.Login(ctx, "bo", "what bo has not", "192.0.2.5"); !errors.Is(err, account.ErrLogin) {
		t.Fatal(err)
	}
	_, token, err := h.MakeToken(ctx, in.Principal,
		account.NewToken{Name: "ci", Scopes: []account.Scope{account.ScopeRead}})
	if err != nil {
		t.Fatal(err)
	}
	const key = "sk-0123456789abcdef-wxyz"
	jobs := 3
	if _, err := h.SetProviderKey(ctx, in.Principal, "HF_TOKEN",
		account.Kept{Value: key, Hosts: []string{"api.example.com"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ChangeUser(ctx, h.root, in.Principal.User, account.UserChange{MaxJobs: &jobs}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.SetSettings(ctx, h.root, account.Settings{ServerKeys: true}); err != nil {
		t.Fatal(err)
	}
	var actions []string
	next, pages := "", 0
	for {
		page, more, err := h.Audit(ctx, account.AuditQuery{Cursor: next, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, e := range page {
			actions = append(actions, e.Action)
			for _, s := range []string{token, key, in.Secret, password("bo"), "what bo has not", rootPassword} {
				if strings.Contains(string(e.Detail)+e.Object, s) {
					t.Errorf("%s holds a secret: %s", e.Action, e.Detail)
				}
			}
		}
		if next = more; next == "" {
			break
		}
	}
	want := map[string]int{
		"link.first": 1, "link.use": 2, "user.create": 1, "login.failed": 1, "token.create": 1,
		"key.set": 1, "user.limits": 1, "settings.change": 1,
	}
	got := map[string]int{}
	for _, a := range actions {
		got[a]++
	}
	if d := cmp.Diff(want, got); d != "" || pages != 5 {
		t.Errorf("%d pages: %s", pages, d)
	}
	if page, _, err := h.Audit(ctx, account.AuditQuery{Action: "login.failed"}); err != nil || len(page) != 1 ||
		page[0].Object != in.Principal.User || page[0].Address != "192.0.2.5" || page[0].User != "" {
		t.Errorf("%+v, %v", page, err)
	}
	for _, q := range []account.AuditQuery{{Cursor: "x"}, {Cursor: "5"}, {Limit: -1}, {Limit: 501}} {
		if _, _, err := h.Audit(ctx, q); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	if a, err := h.Allowed(ctx); err != nil || a.Private || a.ServerKeys || a.Files || a.Commands || len(a.Hosts) > 0 {
		t.Errorf("%+v, %v", a, err)
	}
	before := h.Version("user_x")
	s, err := h.SetSettings(ctx, h.root,
		account.Settings{Hosts: []string{"Models.Internal.", "[::1]", "10.0.0.5", "models.internal"}})
	if d := cmp.Diff([]string{"10.0.0.5", "::1", "models.internal"}, s.Hosts); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	if h.Version("user_x") == before {
		t.Error("nobody would see the change")
	}
	for _, bad := range []string{"http://a", "a:80", "", "*", "a b"} {
		if _, err := h.SetSettings(ctx, h.root, account.Settings{Hosts: []string{bad}}); !errors.Is(err,
			callvet.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	flags, err := account.New(account.Config{
		Store: h.db, Secret: seal(), Cost: cheap(),
		Allowed: account.Allowed{Files: true, Hosts: []string{"a"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := flags.Allowed(ctx)
	if d := cmp.Diff(account.Allowed{Files: true, Hosts: []string{"10.0.0.5", "::1", "a", "models.internal"}},
		a); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
}

// TestCanceledLogin: who goes away while others are hashed leaves no trace.
func TestCanceledLogin(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := h.Login(ctx, "root", rootPassword, "192.0.2.1"); err == nil {
		t.Error("a request that is over logged in")
	}
}

// TestRekey: the new key opens the sealed values, and the old one none. A lost value stays lost.
func TestRekey(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	bo := h.join(t, "bo", account.Member).Principal
	with := func(b byte) *account.Accounts {
		a, err := account.New(account.Config{
			Store: h.db, Secret: bytes.Repeat([]byte{b}, account.SecretSize),
			Cost: cheap(),
		})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if _, err := with(9).SetProviderKey(ctx, bo, "HF_TOKEN",
		account.Kept{Value: "sealed with a key that is lost", Hosts: []string{"api.example.com"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.SetProviderKey(ctx, bo, "OPENAI_API_KEY",
		account.Kept{Value: "sk-0123456789abcdef", Hosts: []string{"api.example.com"}}); err != nil {
		t.Fatal(err)
	}
	hook, err := h.Seal("schedule_1", "of a webhook")
	if err != nil {
		t.Fatal(err)
	}
	kept := rows.AddScheduleParams{
		ID: "schedule_1", UserID: bo.User, Request: []byte("{}"), Gates: []byte{},
		Webhook: []byte("x"), Secret: hook, Stopped: []byte{},
	}
	if err := rows.New(h.db.Handle()).AddSchedule(ctx, kept); err != nil {
		t.Fatal(err)
	}
	done, err := h.Rekey(ctx, bytes.Repeat([]byte{8}, account.SecretSize))
	if err != nil || done != (account.Rekeyed{Sealed: 2, Lost: 1}) {
		t.Fatalf("%+v, %v", done, err)
	}
	if keys, err := with(8).Opened(ctx, bo.User); err != nil || keys["OPENAI_API_KEY"].Value != "sk-0123456789abcdef" ||
		len(keys) != 1 {
		t.Errorf("the new key: %d, %v", len(keys), err)
	}
	if keys, err := h.Opened(ctx, bo.User); err != nil || len(keys) != 0 {
		t.Errorf("the old key: %d, %v", len(keys), err)
	}
	var sealed []byte
	if err := h.db.Handle().QueryRowContext(ctx, "SELECT secret FROM schedules").Scan(&sealed); err != nil {
		t.Fatal(err)
	}
	if text, err := with(8).OpenSealed("schedule_1", sealed); err != nil || text != "of a webhook" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := with(7).Rekey(ctx, bytes.Repeat([]byte{6}, account.SecretSize)); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("a key that opens nothing: %v", err)
	}
	if keys, err := with(8).Opened(ctx, bo.User); err != nil || len(keys) != 1 {
		t.Errorf("after a key that opens nothing: %d, %v", len(keys), err)
	}
	if _, err := h.Rekey(ctx, []byte("short")); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("a short key: %v", err)
	}
}

// TestSessionOfJumpingClock: a clock that runs ahead and goes back revives no session, and makes none longer.
func TestSessionOfJumpingClock(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.join(t, "bo", account.Member)
	const ahead = 365 * 24 * time.Hour
	login := func() string {
		t.Helper()
		s, err := h.Login(t.Context(), "bo", password("bo"), "192.0.2.2")
		if err != nil {
			t.Fatal(err)
		}
		return s.Secret
	}
	is := func(what, secret string, good bool) {
		t.Helper()
		if _, err := h.BySession(t.Context(), secret); (err == nil) != good || err != nil &&
			!errors.Is(err, account.ErrLogin) {
			t.Errorf("%s: %v", what, err)
		}
	}
	old := login()
	h.pass(ahead)
	is("a year later", old, false)
	early := login()
	is("of then", early, true)
	h.pass(-ahead)
	is("over, and the clock went back", old, false)
	is("from the future", early, false)
	now := login()
	is("of now", now, true)
	h.pass(-time.Minute)
	is("the clock was set by a minute", now, true)
}
