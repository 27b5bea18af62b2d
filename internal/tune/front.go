// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import "math"

// Objectives are the values that prompts are compared by.
type Objectives struct {
	// Score: higher is better; NaN: unknown.
	Score float64
	// Length is in characters.
	Length int
	// USD is the cost of an attempt; nil: unknown.
	USD *float64
}

// Front returns the positions of those that no other beats: no other is at least as good in score,
// length and cost, and better in one of them. One without a score is not on the front. If the cost
// of one is unknown, costs do not count. Those that are equal in all objectives are all on the
// front.
func Front(all []Objectives) []int {
	costs := true
	for i := range all {
		costs = costs && (all[i].USD != nil || math.IsNaN(all[i].Score))
	}
	out := []int{}
	for i := range all {
		if math.IsNaN(all[i].Score) {
			continue
		}
		beaten := false
		for k := range all {
			beaten = beaten || all[k].beats(&all[i], costs)
		}
		if !beaten {
			out = append(out, i)
		}
	}
	return out
}

// beats reports whether o is as good as p in everything, and better in something.
func (o *Objectives) beats(p *Objectives, costs bool) bool {
	if math.IsNaN(o.Score) || o.Score < p.Score || o.Length > p.Length || costs && *o.USD > *p.USD {
		return false
	}
	return o.Score > p.Score || o.Length < p.Length || costs && *o.USD < *p.USD
}
