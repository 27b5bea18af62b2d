// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"testing"

	"pgregory.net/rapid"
)

// TestRecent: what is found is what was put last for that text, and what was put is found until another text
// takes its place.
func TestRecent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var r Recent[int]
		put, at := map[string]int{}, map[uint8]string{}
		for n := range rapid.IntRange(1, 60).Draw(t, "texts") {
			text := drawText().Draw(t, "text")
			if rapid.Bool().Draw(t, "put") {
				r.Put([]byte(text), n)
				if len(text) <= recentSize {
					put[text], at[outer([]byte(text))] = n, text
				}
			}
			last, used := at[outer([]byte(text))]
			of, ok := r.Get([]byte(text))
			if want := used && last == text; ok != want || ok && of != put[text] {
				t.Fatalf("%q is found as %d, %v; it was put as %d, last here was %q", text, of, ok, put[text], last)
			}
		}
	})
}
