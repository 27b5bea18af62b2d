// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plan

// NewestResults returns the first defined result of each configuration. results are the newest first.
func NewestResults(results []ExperimentResult) (out []ExperimentResult) {
	seen := map[string]bool{}
	for i := range results {
		if r := &results[i]; r.Score.Defined() && !seen[r.Config] {
			seen[r.Config] = true
			out = append(out, *r)
		}
	}
	return out
}
