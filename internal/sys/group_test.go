// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
)

// caught gives the Panic that comes out of f.
func caught(t *testing.T, f func()) (p *Panic) {
	t.Helper()
	defer func() {
		var ok bool
		if p, ok = recover().(*Panic); !ok {
			t.Error("no *Panic came out")
		}
	}()
	f()
	return nil
}

// boom has a name to be found in a stack.
func boom(v any) { panic(v) }

func TestPanicReachesTheOwner(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	g := Group{Stop: func() { close(stop) }}
	for range 3 {
		g.Go(func() { <-stop }) // would wait forever without Stop
	}
	g.Go(func() { boom(io.ErrUnexpectedEOF) })
	p := caught(t, g.Wait)
	if !errors.Is(p, io.ErrUnexpectedEOF) || !strings.Contains(string(p.Stack), "sys.boom") {
		t.Errorf("%v\n%s", p.Value, p.Stack)
	}

	// Through two owners it is the same panic, with the stack of the place.
	var outer Group
	outer.Go(func() {
		var inner Group
		inner.Go(func() { boom("deep") })
		inner.Wait()
	})
	if p := caught(t, outer.Wait); p.Error() != "deep" || !strings.Contains(string(p.Stack), "sys.boom") {
		t.Errorf("%v\n%s", p.Value, p.Stack)
	}
}

func TestEach(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 5, 100} {
		var sum, at, most atomic.Int64
		err := InParallel(3, n, func(i int) error {
			if now := at.Add(1); now > most.Load() {
				most.Store(now)
			}
			sum.Add(int64(i))
			at.Add(-1)
			return nil
		})
		if err != nil || sum.Load() != int64(n*(n-1)/2) || most.Load() > 3 {
			t.Errorf("n = %d: sum %d, %d at once, %v", n, sum.Load(), most.Load(), err)
		}
	}
	var calls atomic.Int64
	if err := InParallel(1, 10, func(i int) error {
		calls.Add(1)
		if i >= 2 {
			return io.EOF
		}
		return nil
	}); !errors.Is(err, io.EOF) || calls.Load() != 3 {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
	p := caught(t, func() { _ = InParallel(2, 10, func(int) error { panic("here") }) })
	if p.Error() != "here" {
		t.Error(p)
	}
}
