// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The codes of warnings.
const (
	StaleDescription = "stale-description" // of a tool that the cases expect
	StaleSchema      = "stale-schema"
	Version          = "stale-version" // another major one
	Gone             = "stale-tool"    // the tool is not there any more
	Prompt           = "stale-prompt"
	Model            = "stale-model"
	Registry         = "stale-registry"  // the number of tools grew by more than half
	StaleOverlap     = "stale-overlap"   // a new tool is similar to one that the cases expect
	StaleNeighbour   = "stale-neighbour" // a tool that is similar to an expected one has changed
)

// StaleGrowth is the growth of the number of tools, as a factor, beyond which cases may lack
// acceptable tools.
const StaleGrowth = 1.5

// StaleWarning is what has changed.
type StaleWarning struct {
	Code string `json:"code"`
	// Tool is the name of the changed tool; "" for the prompt, the model and the registry.
	Tool string `json:"tool,omitempty"`
	Text string `json:"text"`
}

// StaleAbout are the tools that cases expect, and which tools are similar to them.
type StaleAbout struct {
	// Tools are the tools that the cases expect.
	Tools []string
	// Alike reports whether two tools of now overlap. Nil: unknown.
	Alike func(a, b string) bool
}

// CompareStale returns the changes since the state when cases were made, and the parts that cannot
// be compared because the first state lacks them.
func CompareStale(made, now *StaleState, about StaleAbout) (out []StaleWarning, unknown []string) {
	for _, name := range about.Tools {
		w, open := tool(name, made, now)
		out = append(out, w...)
		for _, o := range open {
			if !slices.Contains(unknown, o) {
				unknown = append(unknown, o)
			}
		}
	}
	switch {
	case made.System == "":
		unknown = append(unknown, "the system prompt")
	case now.System != "" && made.System != now.System:
		out = append(out, StaleWarning{
			Prompt, "",
			fmt.Sprintf("made with the system prompt %s, now it is %s", made.System, now.System),
		})
	}
	switch {
	case made.Models == nil:
		unknown = append(unknown, "the model")
	case now.Models != nil &&
		!slices.ContainsFunc(now.Models, func(m string) bool { return slices.Contains(made.Models, m) }):
		out = append(out,
			StaleWarning{Model, "", fmt.Sprintf("made with %s, now asked of %s", strings.Join(made.Models, ", "),
				strings.Join(now.Models, ", "))})
	}
	w, open := registry(made, now, about)
	return append(out, w...), append(unknown, open...)
}

// tool compares one tool that the cases expect.
func tool(name string, made, now *StaleState) (out []StaleWarning, unknown []string) {
	was, known := made.Tools[name]
	is, there := now.Tools[name]
	if !there {
		return []StaleWarning{{Gone, name, fmt.Sprintf("the cases expect %s, and there is no such tool now", name)}},
			nil
	}
	if !known {
		return nil, []string{"the tool " + name}
	}
	switch {
	case was.Description == "":
		unknown = append(unknown, "the description of "+name)
	case was.Description != is.Description:
		out = append(out,
			StaleWarning{
				StaleDescription, name,
				fmt.Sprintf(
					"generated against description hash %s of %s, current is %s; results may not reflect the current routing contract", was.Description, name, is.Description),
			})
	}
	switch {
	case was.Schema == "":
		unknown = append(unknown, "the schema of "+name)
	case was.Schema != is.Schema:
		out = append(out, StaleWarning{
			StaleSchema, name,
			fmt.Sprintf("the parameters of %s have changed: their hash was %s and is %s", name, was.Schema, is.Schema),
		})
	}
	if was.Version != "" && is.Version != "" && major(was.Version) != major(is.Version) {
		out = append(out,
			StaleWarning{
				Version, name,
				fmt.Sprintf("%s is version %s, the cases were generated for %s; the schema may have changed", name,
					is.Version, was.Version),
			})
	}
	return out, unknown
}

func major(version string) string {
	m, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	return m
}

// registry compares the tools that the cases do not expect.
func registry(made, now *StaleState, about StaleAbout) (out []StaleWarning, unknown []string) {
	var added []string // new tools that overlap, each with the similar expected tool
	if made.Whole {
		for _, name := range slices.Sorted(maps.Keys(now.Tools)) {
			was, old := made.Tools[name]
			like := ""
			if !slices.Contains(about.Tools, name) {
				like = about.like(name)
			}
			switch {
			case like == "":
			case !old:
				added = append(added, name+" (like "+like+")")
				out = append(out,
					StaleWarning{
						StaleOverlap, name,
						fmt.Sprintf(
							"%s is new and like %s, which the cases expect: it may be acceptable, or be called in its place", name, like),
					})
			case was.Description != now.Tools[name].Description || was.Schema != now.Tools[name].Schema:
				out = append(out, StaleWarning{
					StaleNeighbour, name,
					fmt.Sprintf("%s, which is like %s, has changed: it may be called in its place", name, like),
				})
			}
		}
	} else {
		unknown = append(unknown, "which tools there were")
	}
	switch {
	case made.Registry == 0:
		unknown = append(unknown, "how many tools there were")
	case float64(now.Registry) > StaleGrowth*float64(made.Registry):
		which := "which ones are new was not recorded"
		if made.Whole {
			which = "none of the new ones is like a tool that the cases expect"
			if len(added) > 0 {
				which = "of the new ones these overlap: " + strings.Join(added, ", ")
			}
		}
		out = append(out,
			StaleWarning{
				Registry, "",
				fmt.Sprintf(
					"the registry has grown from %d to %d tools; labeled cases may have under-specified toolsAcceptable sets; %s", made.Registry, now.Registry, which),
			})
	}
	return out, unknown
}

// like is the first expected tool that is similar to a tool; "" for none.
func (a *StaleAbout) like(name string) string {
	if a.Alike == nil {
		return ""
	}
	for _, t := range a.Tools {
		if a.Alike(t, name) {
			return t
		}
	}
	return ""
}
