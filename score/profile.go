// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// comparator replaces argument comparison and contract check under a foreign
// scoring profile; pairing and order stay this package's.
type comparator func(tool *callvet.Tool, want *callvet.ExpectedCall, args value.Value, language string) (ok bool, class string, diffs []callvet.ArgDiff)

// profile gives the comparator of a scoring profile: nil for callvet's own rules.
func profile(name string) (c comparator, known bool) {
	return nil, name == ""
}
