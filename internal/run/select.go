// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// Selection chooses cases of a suite. The zero value chooses all.
type Selection struct {
	// Filters must all match. A filter is a list of alternatives divided by commas. Each is a
	// pattern for the id or a tag, or "id:PATTERN", "tag:PATTERN", "tier:PATTERN", or
	// "field=PATTERN" for a named slice (category=flights). In a pattern * stands for any text and
	// ? for one character; letters compare case-insensitively. A leading "!" negates the whole
	// filter.
	Filters []string
	// Only, when not nil, keeps the cases with these ids (those that failed in an
	// earlier run).
	Only map[string]bool
	// Sample, when positive, keeps that many cases at random, the same for the
	// same Seed, in the order of the suite.
	Sample int
	Seed   uint64
}

// SelectFrom returns the positions of the chosen cases in the order of the suite. It returns an
// error (ErrInvalid) if no case is left, because an empty run would pass.
func SelectFrom(src Source, sel Selection) ([]int, error) {
	for _, f := range sel.Filters {
		if strings.Trim(f, "!, ") == "" {
			return nil, fmt.Errorf("filter %q is empty: %w", f, callvet.ErrInvalid)
		}
	}
	out := []int{}
	for i := range src.Len() {
		c, err := src.Case(i)
		if err != nil {
			return nil, fmt.Errorf("select cases: %w", err)
		}
		if sel.Only != nil && !sel.Only[c.ID] {
			continue
		}
		if !slices.ContainsFunc(sel.Filters, func(f string) bool { return !holds(f, c) }) {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("select cases: none of the %d cases is left: %w", src.Len(), callvet.ErrInvalid),
			Hint: "a filter is a pattern for an id or a tag, tag:smoke, tier:golden or category=flights; several filters must all hold",
		}
	}
	if sel.Sample > 0 {
		rng := rand.New(rand.NewPCG(sel.Seed, 0x73616d706c65))
		rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		out = out[:min(sel.Sample, len(out))]
		slices.Sort(out)
	}
	return out, nil
}

func holds(filter string, c *callvet.Case) bool {
	rest, negated := strings.CutPrefix(strings.TrimSpace(filter), "!")
	for alt := range strings.SplitSeq(rest, ",") {
		if alt = strings.TrimSpace(alt); alt != "" && fitsOne(alt, c) {
			return !negated
		}
	}
	return negated
}

func fitsOne(term string, c *callvet.Case) bool {
	tagged := func(p string) bool {
		return slices.ContainsFunc(c.Tags, func(t string) bool { return wild(p, t) })
	}
	if p, ok := strings.CutPrefix(term, "id:"); ok {
		return wild(p, c.ID)
	}
	if p, ok := strings.CutPrefix(term, "tag:"); ok {
		return tagged(p)
	}
	if p, ok := strings.CutPrefix(term, "tier:"); ok {
		return wild(p, string(c.Tier))
	}
	if name, p, ok := strings.Cut(term, "="); ok {
		if v, has := c.Fields[name]; has && wild(p, v) {
			return true
		}
	}
	return wild(term, c.ID) || tagged(term)
}

// wild reports whether a pattern of *, ? and plain text matches the whole of s.
func wild(pattern, s string) bool {
	p, t := []rune(strings.ToLower(pattern)), []rune(strings.ToLower(s))
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i++
			j++
		case star >= 0: // let the last star take one more
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
