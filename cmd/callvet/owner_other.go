// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build !linux

package main

// processScope is empty where nothing names the scope of a PID for sure: a lease then
// has to run out.
func processScope() string { return "" }

func processGone(int) bool { return false }
