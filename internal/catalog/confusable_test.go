// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"testing"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
)

// Pairs that a run confused come first, however unlike their texts are.
func TestConfusable(t *testing.T) {
	t.Parallel()
	c := sampleTools()
	c.Entries[2].Tool.Description = "Answers questions about trains in Sweden, and ferries."
	got, err := confusable(t.Context(), c, nil, 100)
	if err != nil || got.Pairs[0].A != "trains" || got.Pairs[0].B != "ferries" {
		t.Fatalf("%+v %v", got, err)
	}
	got, err = confusable(t.Context(), c, []panel.Confused{{Expected: "books", Called: "jobs", N: 2}, {Expected: "jobs", Called: "books", N: 1}, {Expected: "jobs", Called: "gone", N: 9}}, 2)
	if err != nil || len(got.Pairs) != 2 || got.Pairs[0].Confused != 3 || got.Pairs[0].A != "jobs" || got.Pairs[0].B != "books" {
		t.Errorf("%+v %v", got, err)
	}
	one := &retrieve.Catalogue{Entries: c.Entries[:1]}
	if got, err := confusable(t.Context(), one, nil, 5); err != nil || len(got.Pairs) != 0 {
		t.Errorf("one tool: %+v %v", got, err)
	}
}
