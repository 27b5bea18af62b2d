// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package parallel starts goroutines that have an owner. A Group waits for the goroutines that it
// started, and a panic in one of them comes out of Wait, in the goroutine of the owner. Each does
// the same for a loop.
//
// A panic without a recover ends a Go process at once: with exit code 2, which means a user's
// mistake in callvet, and without closing the store. Recovering is possible only in the goroutine
// itself. So every goroutine of the product starts here; house_test.go checks that.
//
// A group whose goroutines wait for one another needs Stop: without it the others
// may wait forever for the one that is gone.
package parallel
