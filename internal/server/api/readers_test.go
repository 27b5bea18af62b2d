// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// TestReaders: there are never more at once than places, nor more of one user; one user leaves a place to
// the others; who gives up leaves nothing behind.
func TestReaders(t *testing.T) {
	t.Parallel()
	s := NewReaders(3, 2)
	var all, ana atomic.Int64
	var group sync.WaitGroup
	for i := range 300 {
		group.Go(func() {
			user := []string{"ana", "bo", "cy"}[i%3]
			leave, err := s.Enter(t.Context(), user)
			if err != nil {
				t.Error(err)
				return
			}
			if n := all.Add(1); n > 3 {
				t.Errorf("%d at once", n)
			}
			if user == "ana" {
				if n := ana.Add(1); n > 2 {
					t.Errorf("%d of one user at once", n)
				}
				ana.Add(-1)
			}
			all.Add(-1)
			leave()
		})
	}
	group.Wait()

	enter := func(user string) func() {
		leave, err := s.Enter(t.Context(), user)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	refused := func(user string) {
		if _, err := s.Enter(gone, user); !errors.Is(err, context.Canceled) {
			t.Errorf("%s found a place, or waits for ever: %v", user, err)
		}
	}
	one, two := enter("ana"), enter("ana")
	refused("ana")
	three := enter("bo") // the place that one user leaves
	refused("bo")
	refused("cy")
	one()
	two()
	three()
	if len(s.of) != 0 || len(s.places) != 0 {
		t.Errorf("%d users and %d places are kept", len(s.of), len(s.places))
	}
}
