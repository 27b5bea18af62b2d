// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Panic is the panic of a goroutine on its way to the owner.
type Panic struct {
	// Value is what panic was called with.
	Value any
	// Stack is the stack of the goroutine that panicked.
	Stack []byte
}

// Error returns the text of the panic's value.
func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// Unwrap returns the value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// PanicOf makes a Panic of the value of recover; of nil it returns nil. Call it in the deferred
// function, because its stack still has the frame that panicked.
func PanicOf(value any) *Panic {
	switch p := value.(type) {
	case nil:
		return nil
	case *Panic:
		return p
	}
	return &Panic{Value: value, Stack: debug.Stack()}
}

// Group starts goroutines and waits for them. The zero value is ready.
type Group struct {
	// Stop, when set before Go, is called at the first panic of a goroutine, on
	// that goroutine: it has to make the others end.
	Stop func()

	wg    sync.WaitGroup
	first atomic.Pointer[Panic]
}

// Go calls do on a goroutine of its own.
func (g *Group) Go(do func()) {
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		defer func() {
			if p := PanicOf(recover()); p != nil && g.first.CompareAndSwap(nil, p) && g.Stop != nil {
				g.Stop()
			}
		}()
		do()
	}()
}

// Wait waits until all goroutines have ended. If one of them panicked, Wait panics with the first
// *Panic.
func (g *Group) Wait() {
	g.wg.Wait()
	if p := g.first.Load(); p != nil {
		panic(p)
	}
}

// InParallel calls do(0) to do(n-1), at most jobs of them at once, and returns the error of the
// lowest i with an error. After an error or a panic no further call starts.
func InParallel(jobs, n int, do func(i int) error) error {
	var over atomic.Bool
	var next atomic.Int64
	errs := make([]error, max(n, 0))
	g := Group{Stop: func() { over.Store(true) }}
	for range min(max(jobs, 1), n) {
		g.Go(func() {
			for !over.Load() {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[i] = do(i); errs[i] != nil {
					over.Store(true)
				}
			}
		})
	}
	g.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
