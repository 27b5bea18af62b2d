// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package experiment

import (
	"cmp"
	"slices"
)

// Ranked is a configuration in its place.
type Ranked struct {
	Result
	// Rank is 1 and the number of configurations whose lower bound is above the upper bound of this one:
	// those that cannot be told apart share a rank.
	Rank int
}

// Rank puts configurations in order, the highest lower bound first. The results are the newest first, all
// of them on one suite; of each configuration the first counts, which is defined.
func Rank(results []Result) []Ranked {
	var out []Ranked
	seen := map[string]bool{}
	for i := range results {
		if r := &results[i]; r.Score.Defined() && !seen[r.Config] {
			seen[r.Config] = true
			out = append(out, Ranked{Result: *r})
		}
	}
	for i := range out {
		out[i].Rank = 1
		for j := range out {
			if out[j].Score.Lower > out[i].Score.Upper {
				out[i].Rank++
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(b.Score.Lower, a.Score.Lower), cmp.Compare(b.Score.Point, a.Score.Point), cmp.Compare(a.Config, b.Config))
	})
	return out
}
