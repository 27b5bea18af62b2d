// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package lint

import (
	"context"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// AlikeFrom is the likeness of texts, in [-1,1], from which two tools are said to overlap: a rule of thumb.
// The weather of today and its forecast are alike by 0.3, tools of other subjects by less than 0.2.
const AlikeFrom = 0.2

// Alike tells which tools overlap, by their texts (see retrieve.Likeness). Of a catalogue the
// first MaxCompared tools are compared; others, and names that it does not have, overlap with none.
func Alike(ctx context.Context, tools []callvet.Tool) (func(a, b string) bool, error) {
	tools = tools[:min(len(tools), MaxCompared)]
	entries, at := make([]retrieve.Entry, len(tools)), make(map[string]int, len(tools))
	for i := range tools {
		entries[i], at[tools[i].Name] = retrieve.Entry{Tool: tools[i]}, i
	}
	alike, err := retrieve.NewLikeness(ctx, entries)
	if err != nil {
		return nil, err
	}
	return func(a, b string) bool {
		i, known := at[a]
		j, also := at[b]
		return known && also && i != j && alike.Of(i, j) >= AlikeFrom
	}, nil
}
