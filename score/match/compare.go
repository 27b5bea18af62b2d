// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"bytes"

	"github.com/callvet/callvet/value"
)

// Match compares v with the rule. sim is 1 for a hard match, the similarity for
// soft rules (also when they do not match), else 0. The zero Value is an absent one.
func (r *Rule) Match(v value.Value) (ok bool, sim float64) {
	k := v.Kind()
	if k == value.Invalid {
		return yes(r.op == opAbsent)
	}
	switch r.op {
	case opText:
		return yes(k == value.String && foldsTo(v.Bytes(), r.text))
	case opNumber:
		return yes(k == value.Number && sameNumber(r.want, v))
	case opBytes:
		return yes(k == value.String && bytes.Equal(v.Bytes(), r.text))
	case opEqual:
		return yes(value.Equal(r.want, v))
	case opObject:
		return r.matchObject(v)
	case opArray:
		return r.matchArray(v)
	case opAnyOf:
		return r.matchAny(v)
	case opAsText:
		return yes(sameText(r.want, v))
	case opPresent, opAbsent:
		return yes(r.op == opPresent)
	case opType:
		return yes(r.kinds&(1<<k) != 0 || r.kinds&integers != 0 && v.IsInteger())
	case opNumeric:
		return yes(r.matchNumeric(v))
	case opFuzzyNumber:
		return r.matchFuzzyNumber(v)
	}
	if k != value.String {
		return false, 0
	}
	return r.matchText(v.Bytes())
}

func yes(ok bool) (bool, float64) {
	if ok {
		return true, 1
	}
	return false, 0
}

// matchText is for the soft rules on strings.
func (r *Rule) matchText(b []byte) (bool, float64) {
	switch r.op {
	case opFoldCase:
		return yes(bytes.Equal(caseFold(b), r.text))
	case opContains:
		got := caseFold(b)
		if len(got) == 0 || len(r.text) == 0 {
			return yes(len(got) == len(r.text))
		}
		return yes(bytes.Contains(got, r.text) || bytes.Contains(r.text, got))
	case opFuzzyText:
		sim := TextSimilarity(r.text, Fold(nil, b))
		return sim >= r.set.Threshold, sim
	case opDate:
		m, ok := parseMoment(string(b))
		return yes(ok && sameMoment(*r.moment, m, r.set.Tolerance))
	case opRegex:
		return yes(r.re.Match(b))
	case opSemantic:
		return r.matchSemantic(b)
	}
	return false, 0
}

func (r *Rule) matchSemantic(b []byte) (bool, float64) {
	if bytes.Equal(Fold(nil, b), r.text) {
		return true, 1
	}
	if r.set.Similarity == nil {
		return false, 0
	}
	sim, _, err := r.set.Similarity(r.want.Str(), string(b))
	if err != nil || !(sim >= 0) {
		return false, 0
	}
	sim = min(sim, 1)
	return sim >= r.set.Threshold, sim
}

func (r *Rule) matchNumeric(v value.Value) bool {
	want, wq, _ := numberText(r.want)
	got, gq, ok := numberText(v)
	return ok && wq == gq && within(want, got, r.set.Epsilon, r.set.Relative)
}

func (r *Rule) matchFuzzyNumber(v value.Value) (bool, float64) {
	if v.Kind() != value.Number {
		return false, 0
	}
	sim := numberSimilarity(r.want, v)
	if r.set.Relative > 0 {
		return within(r.want.Raw(), v.Raw(), 0, r.set.Relative), sim
	}
	return sim >= r.set.Threshold, sim
}

func (r *Rule) matchAny(v value.Value) (ok bool, best float64) {
	for _, a := range r.rules {
		m, sim := a.Match(v)
		if m && !ok || m == ok && sim > best {
			ok, best = m, sim
		}
		if ok && best == 1 { // nothing can be better
			break
		}
	}
	return ok, best
}

// matchObject needs every member to match; the similarity is their mean over
// the union of members.
func (r *Rule) matchObject(v value.Value) (bool, float64) {
	if v.Kind() != value.Object {
		return false, 0
	}
	ok, sum, n, found := true, 0.0, 0, 0
	for i := range r.members {
		m := &r.members[i]
		e, has := v.Get(m.key)
		if !has {
			if m.optional || m.rule.op == opAbsent {
				continue
			}
			n++
			if m.omittable {
				sum++
			} else {
				ok = false
			}
			continue
		}
		found++
		n++
		hit, sim := m.rule.Match(e)
		sum, ok = sum+sim, ok && hit
	}
	if extra := v.Len() - found; extra > 0 && !r.loose {
		extra -= r.writtenDefaults(v)
		n, ok = n+extra, ok && extra == 0
	}
	return mean(ok, sum, n)
}

func mean(ok bool, sum float64, n int) (bool, float64) {
	if n == 0 {
		return yes(ok)
	}
	return ok, sum / float64(n)
}

// writtenDefaults counts the unexpected members of v that only spell out the schema's default.
func (r *Rule) writtenDefaults(v value.Value) int {
	n := 0
	for i := range r.defaults {
		if e, ok := v.Get(r.defaults[i].key); ok && value.Equal(r.defaults[i].value, e) {
			n++
		}
	}
	return n
}

func (r *Rule) matchArray(v value.Value) (bool, float64) {
	if v.Kind() != value.Array {
		return false, 0
	}
	if r.shuffled {
		return r.matchShuffled(v)
	}
	ok, sum, n, i := true, 0.0, max(v.Len(), len(r.rules)), 0
	for e, more := v.First(); more; e, more = v.Next(e) {
		hit, sim := yes(r.loose)
		if i < len(r.rules) {
			hit, sim = r.rules[i].Match(e)
		}
		if r.each != nil {
			h, s := r.each.Match(e)
			hit, sim = hit && h, min(sim, s)
		}
		ok, sum, i = ok && hit, sum+sim, i+1
	}
	return mean(ok && i >= len(r.rules), min(sum, float64(n)), n)
}

// matchShuffled pairs expected with actual elements, each used once, so that as
// many as possible match (augmenting paths).
func (r *Rule) matchShuffled(v value.Value) (bool, float64) {
	got := make([]value.Value, 0, v.Len())
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		got = append(got, e)
	}
	owner := make([]int, len(got)) // expected element + 1
	seen := make([]int, len(got))
	var place func(i, round int) bool
	place = func(i, round int) bool {
		for j := range got {
			if seen[j] == round {
				continue
			}
			if ok, _ := r.rules[i].Match(got[j]); !ok {
				continue
			}
			seen[j] = round
			if owner[j] == 0 || place(owner[j]-1, round) {
				owner[j] = i + 1
				return true
			}
		}
		return false
	}
	paired := 0
	for i := range r.rules {
		if place(i, i+1) {
			paired++
		}
	}
	n := len(r.rules)
	if !r.loose {
		n = max(n, len(got))
	}
	return mean(paired == len(r.rules) && (r.loose || len(got) == len(r.rules)), float64(paired), n)
}
