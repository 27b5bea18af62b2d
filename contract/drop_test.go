// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"strings"
	"testing"
)

func TestDropped(t *testing.T) {
	t.Parallel()
	const noType = "has no type: object at its top"
	for schema, want := range map[string]string{
		`{"type":"object"}`:                           "",
		`{"type":"object","properties":{"oneOf":{}}}`: "",
		`{}`: noType,
		`{"properties":{"type":{"type":"object"}}}`:   noType,
		`{"type":"string"}`:                           noType,
		`{"type":["object","null"]}`:                  noType,
		`{"oneOf":[{"type":"object"}]}`:               noType + "; has oneOf at its top",
		`{"type":"object","anyOf":[{}],"allOf":[{}]}`: "has anyOf at its top; has allOf at its top",
		``: "", `true`: "", `[`: "",
	} {
		if got := strings.Join(Dropped([]byte(schema)), "; "); got != want {
			t.Errorf("%s: %q, want %q", schema, got, want)
		}
	}
}
