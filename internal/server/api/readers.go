// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/library"
)

// maxReaders is how many requests read whole collections at once; the others wait. Each may need
// some hundred megabytes.
const (
	MaxReaders = 3
	// maxPerUser is how many of them one user may have, so that one user cannot block all others.
	MaxPerUser = 2
)

// readers limits concurrent reads, in total and for each user. Waiting requests have no order.
type readers struct {
	places chan struct{}
	most   int // of one user

	mu sync.Mutex
	of map[string]*ownPlaces
}

// ownPlaces are the places of one user, and how many of his requests have or await one.
type ownPlaces struct {
	places chan struct{}
	here   int
}

// NewReaders gives out places, at most most of them to one user.
func NewReaders(places, most int) *readers {
	return &readers{places: make(chan struct{}, places), most: most, of: map[string]*ownPlaces{}}
}

// Enter waits for a place, which leave releases. The error is that of ctx.
func (r *readers) Enter(ctx context.Context, user string) (leave func(), err error) {
	r.mu.Lock()
	own := r.of[user]
	if own == nil {
		own = &ownPlaces{places: make(chan struct{}, r.most)}
		r.of[user] = own
	}
	own.here++
	r.mu.Unlock()
	gone := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if own.here--; own.here == 0 {
			delete(r.of, user)
		}
	}
	select {
	case own.places <- struct{}{}:
	case <-ctx.Done():
		gone()
		return nil, ctx.Err()
	}
	select {
	case r.places <- struct{}{}:
	case <-ctx.Done():
		<-own.places
		gone()
		return nil, ctx.Err()
	}
	return func() { <-r.places; <-own.places; gone() }, nil
}

// Full converts an error of a full collection for HTTP: the client must not send it again.
func Full(err error) error {
	var f *library.FullError
	if errors.As(err, &f) || errors.Is(err, callvet.ErrLimited) {
		return huma.Error413RequestEntityTooLarge(err.Error())
	}
	return err
}

// Unreadable gives an error about an unreadable text its kind.
func Unreadable(err error) error {
	if Status(err) != http.StatusInternalServerError {
		return Full(err)
	}
	return fmt.Errorf("read traces: %w: %w", callvet.ErrInvalid, err)
}
