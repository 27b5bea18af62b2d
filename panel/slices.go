// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"iter"
	"maps"
	"slices"

	"github.com/callvet/callvet"
)

// sliceID names one slice; the zero value is all cases.
type sliceID struct{ key, value string }

// MissingSlices returns the keys in by that no case has a value for, and the keys that some case
// has, sorted. "tier", "tag", "called_tool" and "*" are never missing. tools are the tools of the
// suite.
func MissingSlices(by []string, tools []callvet.Tool, cases iter.Seq[*callvet.Case]) (missing, known []string) {
	have := map[string]bool{"tier": true, "tag": true, "tags": true, "*": true, callvet.SliceCalledTool: true}
	absent := func() []string {
		return slices.DeleteFunc(slices.Clone(by), func(key string) bool { return have[key] })
	}
	if len(absent()) == 0 {
		return nil, nil
	}
	families := callvet.FamiliesOf(tools)
	for c := range cases {
		for _, id := range memberships(append([]string{"*", keyFamily, callvet.SliceExpectedTool}, by...),
			c, families) {
			have[id.key] = true
		}
	}
	delete(have, "*")
	delete(have, "tags")
	return absent(), slices.Sorted(maps.Keys(have))
}

// memberships are the slices of a case, each once; families are the families of tools by name.
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
		case callvet.SliceExpectedTool:
			add(key, c.Fields[key])
			for _, name := range c.Expect.Tools() {
				add(key, name)
			}
		default:
			add(key, c.Fields[key])
		}
	}
	return ids
}

// familiesOf calls give with each family of the tools that a case expects.
func familiesOf(c *callvet.Case, families map[string][]string, give func(string)) {
	if len(c.Tools) > 0 { // they replace the suite's
		families = callvet.FamiliesOf(c.Tools)
	}
	for _, name := range c.Expect.Tools() {
		for _, f := range families[name] {
			give(f)
		}
	}
}
