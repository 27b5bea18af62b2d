// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// TestUUID: an id and its UUID are the same run.
func TestUUID(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-80[0-9a-f]{2}-[0-9a-f]{12}$`)
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`[0-9a-z]{1,14}`).Draw(t, "id")
		u := EvalUUID(id)
		if back, ok := EvalRunOf(u); !form.MatchString(u) || !ok || back != id {
			t.Fatalf("%s: %s, %s %t", id, u, back, ok)
		}
	})
	for _, other := range []string{"", "last", "abcdefghijklmnop", "00000000-0000-4000-8000-000000000000", "zz"} {
		if id, ok := EvalRunOf(other); ok {
			t.Errorf("%q is run %q", other, id)
		}
	}
	if long := "abcdefghijklmnop"; EvalUUID(long) != long {
		t.Error(EvalUUID(long))
	}
}
