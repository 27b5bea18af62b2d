// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build !linux

package sys

// ProcessScope is empty, because the scope of a PID is not known for sure on this system: a lease
// then has to expire.
func ProcessScope() string { return "" }

// ProcessGone is not called if ProcessScope is empty.
func ProcessGone(int) bool { return false }
