// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/callvet/callvet"
)

// sliceID names one slice; the zero value is all cases.
type sliceID struct{ key, value string }

// slicing says to which slices each case belongs: of[start[i]:start[i+1]] are
// the positions in ids of case i. It holds some bytes a case, no text of it.
type slicing struct {
	ids   []sliceID
	cases []int // how many cases each slice has
	start []int32
	of    []uint16
}

func (s *slicing) slicesOf(i int) []uint16 {
	if i < 0 || i+1 >= len(s.start) {
		return nil
	}
	return s.of[s.start[i]:s.start[i+1]]
}

func (s *slicing) has(i int, slice uint16) bool {
	return slices.Contains(s.slicesOf(i), slice)
}

// maxSlices bounds the tables of a run; 16 bits hold their positions.
const maxSlices = 1000

// newSlicing reads all cases once and chooses the slices worth a table, in the
// order of SliceBy and then of the values.
func newSlicing(cfg Config, cases iter.Seq[*callvet.Case]) *slicing {
	seen := map[sliceID]int32{}
	var all []sliceID
	var count []int
	s := &slicing{start: []int32{0}}
	var of []int32
	families := callvet.FamiliesOf(cfg.Tools)
	for c := range cases {
		for _, id := range memberships(cfg.SliceBy, c, families) {
			k, ok := seen[id]
			if !ok {
				k = int32(len(all))
				seen[id], all, count = k, append(all, id), append(count, 0)
			}
			count[k]++
			of = append(of, k)
		}
		s.start = append(s.start, int32(len(of)))
	}
	if !cfg.Complete && slices.Equal(cfg.SliceBy, DefaultSlices()) {
		for _, k := range twins(all, count, s.start, of) {
			count[k] = 0
		}
	}
	place := s.choose(cfg, all, count, len(s.start)-1)
	kept := make([]int32, len(s.start))
	for i := range len(s.start) - 1 {
		for _, k := range of[s.start[i]:s.start[i+1]] {
			if p := place[k]; p >= 0 {
				s.of = append(s.of, uint16(p))
			}
		}
		kept[i+1] = int32(len(s.of))
	}
	s.start = kept
	return s
}

// twins are the tags that have the very cases of a field of the same value, as
// tag=es-AR and language=es-AR: where nobody asked for both, one table is enough.
func twins(all []sliceID, count []int, start, of []int32) []int32 {
	pair := map[int32]int32{}
	for k := range all {
		if all[k].key != "tag" {
			continue
		}
		i := slices.IndexFunc(all, func(o sliceID) bool { return o.key != "tag" && o.value == all[k].value })
		if i >= 0 && count[i] == count[k] {
			pair[int32(k)] = int32(i)
		}
	}
	for i := range len(start) - 1 {
		own := of[start[i]:start[i+1]]
		for _, k := range own {
			if field, ok := pair[k]; ok && !slices.Contains(own, field) {
				delete(pair, k)
			}
		}
	}
	return slices.Sorted(maps.Keys(pair))
}

// choose fills ids and cases and gives for each candidate its place, or -1.
func (s *slicing) choose(cfg Config, all []sliceID, count []int, total int) []int {
	order := make([]int, len(all))
	place := make([]int, len(all))
	perKey := map[string]int{}
	for i := range all {
		order[i], place[i] = i, -1
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(all[a].key, all[b].key), cmp.Compare(all[a].value, all[b].value))
	})
	var chosen []int
	for _, i := range order {
		id := all[i]
		small := id.key == "tag" && count[i] < cfg.MinTagCases
		// A value that every case has repeats the table of all cases.
		if count[i] == 0 || (small || count[i] == total) && !cfg.Complete || perKey[id.key] >= cfg.MaxValues || len(chosen) >= maxSlices {
			continue
		}
		perKey[id.key]++
		chosen = append(chosen, i)
	}
	rank := func(key string) int {
		if r := slices.Index(cfg.SliceBy, key); r >= 0 {
			return r
		}
		return len(cfg.SliceBy)
	}
	slices.SortFunc(chosen, func(a, b int) int {
		x, y := all[a], all[b]
		return cmp.Or(cmp.Compare(rank(x.key), rank(y.key)), cmp.Compare(x.key, y.key), cmp.Compare(x.value, y.value))
	})
	for p, i := range chosen {
		place[i] = p
		s.ids, s.cases = append(s.ids, all[i]), append(s.cases, count[i])
	}
	return place
}

// MissingSlices gives those keys of by that no case has a value for, and the keys
// that some case has, sorted. "tier", "tag" and "*" may always be asked for. tools are
// those of the suite.
func MissingSlices(by []string, tools []callvet.Tool, cases iter.Seq[*callvet.Case]) (missing, known []string) {
	have := map[string]bool{"tier": true, "tag": true, "tags": true, "*": true}
	absent := func() []string {
		return slices.DeleteFunc(slices.Clone(by), func(key string) bool { return have[key] })
	}
	if len(absent()) == 0 {
		return nil, nil
	}
	families := callvet.FamiliesOf(tools)
	for c := range cases {
		for _, id := range memberships(append([]string{"*", keyFamily}, by...), c, families) {
			have[id.key] = true
		}
	}
	delete(have, "*")
	delete(have, "tags")
	return absent(), slices.Sorted(maps.Keys(have))
}

// memberships are the slices a case belongs to, each once; families are those of tools by
// name.
func memberships(by []string, c *callvet.Case, families map[string][]string) []sliceID {
	var ids []sliceID
	add := func(key, value string) {
		if id := (sliceID{key, value}); value != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, key := range by {
		switch key {
		case "tier":
			add("tier", string(c.Tier))
		case "tag", "tags":
			for _, t := range c.Tags {
				add("tag", t)
			}
		case "*":
			for k, v := range c.Fields {
				add(k, v)
			}
		case keyFamily:
			add(key, c.Fields[key])
			if c.Fields[key] == "" && (len(families) > 0 || len(c.Tools) > 0) {
				familiesOf(c, families, func(f string) { add(key, f) })
			}
		default:
			add(key, c.Fields[key])
		}
	}
	return ids
}

// familiesOf gives the families of the tools that a case expects: those of its calls, of its
// sets of names and of its selection.
func familiesOf(c *callvet.Case, families map[string][]string, give func(string)) {
	if len(c.Tools) > 0 { // they replace the suite's
		families = callvet.FamiliesOf(c.Tools)
	}
	names := func(list []string) {
		for _, name := range list {
			for _, f := range families[name] {
				give(f)
			}
		}
	}
	e := &c.Expect
	for i := range e.Plans {
		for k := range e.Plans[i].Calls {
			names(e.Plans[i].Calls[k].Tools)
		}
	}
	names(e.ToolsCalled)
	for _, set := range e.ToolsAcceptable {
		names(set)
	}
	if e.Selection != nil {
		names(e.Selection.Tools)
	}
}
