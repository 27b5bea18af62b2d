// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package parallel starts goroutines that have an owner: a Group waits for those
// it started, and a panic in one of them comes out of Wait, in the goroutine of
// the owner. Each does the same for a loop.
//
// A panic that nobody recovers ends a Go process at once with exit code 2, which
// callvet's users know as a mistake of theirs, and with a store that nobody
// closed. Recovering is possible only in the goroutine itself, so that every
// goroutine of the product is started here; house_test.go holds that.
//
// A group whose goroutines wait for one another needs Stop: without it the others
// may wait forever for the one that is gone.
package parallel
