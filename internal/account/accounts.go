// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

// Config is what Accounts may use. Store is required.
type Config struct {
	// Store stores users and their data.
	Store *store.DB
	// Secret encrypts keys of providers: 32 bytes that are not in the store. Empty: no key can be
	// stored.
	Secret []byte
	// Allowed are the permissions from the flags of the server; settings of admins add to them.
	Allowed Allowed
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Rand makes tokens and nonces; nil means crypto/rand.
	Rand io.Reader
	// Log gets errors that no response contains; nil drops them.
	Log *slog.Logger
	// Cost is the cost of a password's hash; the zero value is DefaultCost.
	Cost Cost
}

// Accounts manages users and their logins. It is safe for concurrent use.
type Accounts struct {
	cfg    Config
	hasher *hasher
	slow   *throttle

	mu      sync.Mutex
	changed map[string]uint64 // counts the changes of a user's keys and settings; "" is for all users
}

// New makes Accounts. The error wraps callvet.ErrInvalid if the secret has a wrong size.
func New(cfg Config) (*Accounts, error) {
	if cfg.Store == nil {
		return nil, errors.New("make accounts: they need a store")
	}
	if n := len(cfg.Secret); n != 0 && n != SecretSize {
		return nil, fmt.Errorf("make accounts: the secret key has %d bytes, not %d: %w", n, SecretSize,
			callvet.ErrInvalid)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	h, err := newHasher(cfg.Cost)
	if err != nil {
		return nil, err
	}
	return &Accounts{cfg: cfg, hasher: h, slow: newThrottle(), changed: map[string]uint64{}}, nil
}

// now returns the time in the store's form.
func (a *Accounts) now() int64 { return a.cfg.Now().UnixMilli() }

// at converts a time of the store; the zero time is none.
func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// secretBytes is the length of random secrets: 256 bits.
const secretBytes = 32

// draw makes a random secret with a prefix, and the hash for the store.
func (a *Accounts) draw(prefix string) (text string, hash []byte, err error) {
	b := make([]byte, secretBytes)
	if _, err := io.ReadFull(a.cfg.Rand, b); err != nil {
		return "", nil, fmt.Errorf("draw a secret: %w", err)
	}
	text = prefix + base64.RawURLEncoding.EncodeToString(b)
	return text, digest(text), nil
}

// digest returns the stored hash of a token, a session or a link. They are random, so a plain hash
// does not reveal them.
func digest(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// id makes an id for a row.
func (a *Accounts) id(prefix string) (string, error) { return store.NewID(a.cfg.Rand, prefix) }

// change is Change of the store.
func (a *Accounts) change(ctx context.Context, verb string, f func(*rows.Queries) error) error {
	return a.cfg.Store.Change(ctx, verb, f)
}

// found converts the store's error about a missing row to callvet.ErrNotFound.
func found(err error, what, id string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s %q: %w", what, id, callvet.ErrNotFound)
	}
	return err
}

// one returns the error of a change that matched no row.
func one(n int64, err error, what, id string) error {
	if err == nil && n == 0 {
		err = sql.ErrNoRows
	}
	return found(err, what, id)
}

// Version changes with the keys of a user and with the settings.
func (a *Accounts) Version(user string) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.changed[user] + a.changed[""]
}

// touch counts a change of a user's keys or of the settings; "" is for all users.
func (a *Accounts) touch(user string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed[user]++
}
