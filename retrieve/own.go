// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/callvet/callvet"
)

const (
	// ownFolds is the number of folds of the examples.
	ownFolds = 10
	// maxOwn is how many examples are used.
	maxOwn = 1000
)

// ExampleConfidences is a cross-validation with the catalog's own examples: a tenth of every tool's
// examples is left out of an index, which then answers them. The examples are questions that a tool
// fits; the result holds for questions like them. At most 1,000 are asked, evenly spread. Errors
// are those of New and Search, and ErrInvalid for options without a Confidence.
func ExampleConfidences(ctx context.Context, o Options, entries []Entry) ([]float64, error) {
	if o.Confidence == nil {
		return nil, fmt.Errorf("ask examples: %w: the options have no confidence", callvet.ErrInvalid)
	}
	o.MinConfidence, o.Threshold = 0, 0
	total := 0
	for i := range entries {
		total += len(entries[i].Examples)
	}
	every, seen := max(1, (total+maxOwn-1)/maxOwn), 0
	var out []float64
	for fold := range ownFolds {
		less, asked := withoutFold(entries, fold)
		if len(asked) == 0 {
			continue
		}
		x, err := New(ctx, o, less)
		if err != nil {
			return nil, err
		}
		for _, q := range asked {
			if seen++; seen%every != 0 {
				continue
			}
			e, err := x.Evidence(ctx, q)
			if err != nil {
				return nil, err
			}
			out = append(out, o.Confidence.Probability(e))
		}
	}
	return out, nil
}

// withoutFold returns the entries without one fold of their examples, and the examples of the fold.
func withoutFold(entries []Entry, fold int) (less []Entry, asked []string) {
	less = slices.Clone(entries)
	for i := range less {
		var stay []string
		for k, q := range less[i].Examples {
			if (i+k)%ownFolds == fold {
				asked = append(asked, q)
			} else {
				stay = append(stay, q)
			}
		}
		less[i].Examples = stay
	}
	return less, asked
}

// ConfidenceBound is the MinConfidence that refuses on average at most the given share of
// answerable questions (split conformal prediction): the ⌊share·(n+1)⌋-th smallest confidence. It
// holds for questions like those of the confidences. ok is false for fewer than 1/share - 1
// confidences. The slice is not changed. Source: Vovk, Gammerman and Shafer 2005; Lei et al. 2018.
func ConfidenceBound(confidences []float64, share float64) (bound float64, ok bool) {
	at := int(math.Floor(share*float64(len(confidences)+1) + 1e-9))
	if !(share > 0 && share < 1) || at < 1 {
		return 0, false
	}
	return slices.Sorted(slices.Values(confidences))[at-1], true
}
