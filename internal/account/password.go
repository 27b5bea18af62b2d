// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package account

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"github.com/callvet/callvet"
)

// Cost is the cost of hashing a password.
type Cost struct {
	// Memory is in KiB, Passes how often it is filled.
	Memory, Passes uint32
}

// DefaultCost is 64 MiB, filled three times by one thread. Source: RFC 9106, section 4, with less
// parallelism, so that a server with few cores can also serve other requests.
func DefaultCost() Cost { return Cost{Memory: 64 << 10, Passes: 3} }

// atOnce is how many hashes are made at the same time: each takes the memory of the Cost.
const atOnce = 2

// maxWaiting is how many requests may wait for a hash; further ones are refused.
const maxWaiting = 32

// hasher makes hashes of passwords, a few at once.
type hasher struct {
	params  argon2id.Params
	slots   chan struct{}
	waiting chan struct{}
	// The hash of no password, for comparisons with an unknown name.
	noPasswordHash string
}

func newHasher(c Cost) (*hasher, error) {
	if c == (Cost{}) {
		c = DefaultCost()
	}
	h := &hasher{
		params: argon2id.Params{Memory: c.Memory, Iterations: c.Passes, Parallelism: 1, SaltLength: 16, KeyLength: 32},
		slots:  make(chan struct{}, atOnce), waiting: make(chan struct{}, atOnce+maxWaiting),
	}
	var err error
	if h.noPasswordHash, err = argon2id.CreateHash("no user has this password",
		&h.params); err != nil {
		return nil, fmt.Errorf("make a hash: %w", err)
	}
	return h, nil
}

// hold waits for a slot; free releases it.
func (h *hasher) hold(ctx context.Context) (free func(), err error) {
	select {
	case h.waiting <- struct{}{}:
	default:
		return nil, &LimitError{What: "too many logins at once", After: 1}
	}
	select {
	case h.slots <- struct{}{}:
		return func() { <-h.slots; <-h.waiting }, nil
	case <-ctx.Done():
		<-h.waiting
		return nil, ctx.Err()
	}
}

// hash makes the hash of a password.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	free, err := h.hold(ctx)
	if err != nil {
		return "", err
	}
	defer free()
	out, err := argon2id.CreateHash(password, &h.params)
	if err != nil {
		return "", fmt.Errorf("hash the password: %w", err)
	}
	return out, nil
}

// is reports whether a password has a hash. Without a hash ("") it takes the same time, and is false.
func (h *hasher) is(ctx context.Context, password, hash string) (bool, error) {
	free, err := h.hold(ctx)
	if err != nil {
		return false, err
	}
	defer free()
	real := hash != ""
	if !real {
		hash = h.noPasswordHash
	}
	ok, err := argon2id.ComparePasswordAndHash(password, hash)
	if err != nil {
		return false, fmt.Errorf("compare the password: %w", err)
	}
	return ok && real, nil
}

// The size of a password: its characters at least, its bytes at most.
const (
	MinPassword = 12
	maxPassword = 512
)

// fit checks a new password.
func fit(field, password, name string) error {
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return &callvet.FieldError{Field: field, Text: "{" + field + "} is not valid UTF-8"}
	case n < MinPassword:
		return &callvet.FieldError{
			Field: field,
			Text:  fmt.Sprintf("{%s} has %d characters: at least %d", field, n, MinPassword),
			Fix:   "a few words are easy to keep in mind",
		}
	case len(password) > maxPassword:
		return &callvet.FieldError{Field: field, Text: fmt.Sprintf("{%s} has more than %d bytes", field, maxPassword)}
	case password == name:
		return &callvet.FieldError{Field: field, Text: "{" + field + "} is the name"}
	}
	return nil
}
