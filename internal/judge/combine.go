// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import "fmt"

// Combined is the combined verdict of several answers to one question.
type Combined struct {
	Verdict
	// Samples answers were requested, Read of them have a verdict.
	Samples int `json:"samples"`
	Read    int `json:"read"`
	// Agreement is the share of the majority, in (0,1]; 0 if no answer was readable.
	Agreement float64 `json:"agreement"`
}

// Combine takes the majority verdict. If fewer than half of the answers are readable, or two
// verdicts tie, there is none.
func Combine(vs []Verdict) Combined {
	out := Combined{Samples: len(vs)}
	type group struct {
		first *Verdict
		n     int
		sum   float64
		rated int
	}
	var groups []group
	for i := range vs {
		v := &vs[i]
		out.Mended = out.Mended || v.Mended
		if !v.Scored() {
			continue
		}
		out.Read++
		at := -1
		for k := range groups {
			if alike(groups[k].first, v) {
				at = k
			}
		}
		if at < 0 {
			groups, at = append(groups, group{first: v}), len(groups)
		}
		groups[at].n++
		if v.Score != nil {
			groups[at].sum, groups[at].rated = groups[at].sum+*v.Score, groups[at].rated+1
		}
	}
	if out.Read == 0 || 2*out.Read < len(vs) {
		out.Unscored = "nothing was asked"
		for i := range vs {
			if !vs[i].Scored() {
				out.Unscored, out.Reason = vs[i].Unscored, vs[i].Reason
				break
			}
		}
		return out
	}
	best, shared := 0, false
	for k := 1; k < len(groups); k++ {
		switch {
		case groups[k].n > groups[best].n:
			best, shared = k, false
		case groups[k].n == groups[best].n:
			shared = true
		}
	}
	g := &groups[best]
	out.Agreement = float64(g.n) / float64(out.Read)
	if shared {
		out.Unscored = fmt.Sprintf("as many say one thing as another (%d of %d each)", g.n, out.Read)
		return out
	}
	mended := out.Mended
	out.Verdict = *g.first
	out.Mended = mended
	if g.rated > 0 {
		mean := g.sum / float64(g.rated)
		out.Score = &mean
	}
	return out
}

// alike reports whether two verdicts are equal; their scores may differ.
func alike(a, b *Verdict) bool {
	return a.Word == b.Word && (a.Pass == nil) == (b.Pass == nil) && (a.Pass == nil || *a.Pass == *b.Pass)
}

// BothOrders is the verdict of a comparison in both orders: the winner of both, or a tie if they
// disagree. swapped has the second target as A.
func BothOrders(straight, swapped Combined) Combined {
	out := straight
	out.Samples, out.Read = straight.Samples+swapped.Samples, straight.Read+swapped.Read
	switch {
	case !straight.Scored():
		return out
	case !swapped.Scored():
		out.Verdict = swapped.Verdict
		return out
	}
	turned := map[string]string{"a": "b", "b": "a", "tie": "tie"}[swapped.Word]
	out.Agreement = min(straight.Agreement, swapped.Agreement)
	if turned != straight.Word {
		out.Word, out.Reason, out.Agreement = "tie", "the judge disagrees with itself when the order is turned", 0
	}
	return out
}
