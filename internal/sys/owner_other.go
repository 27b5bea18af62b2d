// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build !linux

package sys

// ProcessScope is empty where nothing names the scope of a PID for sure: a lease then
// has to run out.
func ProcessScope() string { return "" }

// ProcessGone is not asked where no scope is named.
func ProcessGone(int) bool { return false }
