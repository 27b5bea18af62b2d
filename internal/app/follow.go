// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"time"
)

const (
	// DefaultLease is how long a run belongs to a process that does not report, such
	// as one whose machine sleeps.
	DefaultLease = 30 * time.Second
	// lookEvery is how often a process that follows a run looks at it.
	LookEvery = 500 * time.Millisecond
)
