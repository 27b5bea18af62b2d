// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet_test

import (
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

func TestSendableName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"azAZ09_-": true, "a": true, strings.Repeat("a", 64): true,
		"": false, strings.Repeat("a", 65): false, "a.b": false, "get weather": false, "`": false, "{": false,
		"@": false, "[": false,
		"/": false, ":": false, "é": false, "mcp/tool": false, " a": false, "a ": false,
	} {
		if got := callvet.SendableName(name); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
	}
}
