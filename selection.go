// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

// The layers of a Decision. A wrong one blocks those that are decided after it.
// Source: Tool Selection Evaluation System, "Four-Layer Evaluation Pipeline".
const (
	SelectRoute    = "route"
	SelectSubRoute = "sub_route"
	SelectAgents   = "agents"
	SelectTools    = "tools"
)

// Decision is the answer of a router or retriever to a question: its route and the tools that fit.
// Nothing is called.
type Decision struct {
	Route    string   `json:"route,omitempty"`
	SubRoute string   `json:"sub_route,omitempty"`
	Agents   []string `json:"agents,omitempty"`
	// Tools are the tools found, best first; none where the target abstains.
	Tools []Ranked `json:"tools,omitempty"`
	// Asked is how many tools the target was asked for. A target may return more: the rest is shown
	// and does not count. 0: all count.
	Asked int `json:"asked,omitempty"`
	// Abstained: there were tools, and none was good enough.
	Abstained bool `json:"abstained,omitempty"`
	// Odd lists what is unusual in an answer, each oddity always in the same words.
	Odd []string `json:"odd,omitempty"`
	// Layers are the layers that the target decides, in the order of its decisions, with their
	// durations. A layer that is not listed is not judged.
	Layers []LayerTime `json:"layers,omitempty"`
}

// Decides reports whether the target decides a layer.
func (d *Decision) Decides(layer string) bool {
	for i := range d.Layers {
		if d.Layers[i].Layer == layer {
			return true
		}
	}
	return false
}

// Given are the tools that count: the found ones, at most as many as were asked for.
func (d *Decision) Given() []Ranked {
	if d.Asked > 0 && d.Asked < len(d.Tools) {
		return d.Tools[:d.Asked]
	}
	return d.Tools
}

// Names are the names of the tools that count, best first; nil for none.
func (d *Decision) Names() []string {
	var out []string
	for _, t := range d.Given() {
		out = append(out, t.Tool)
	}
	return out
}

// Ranked is a found tool with the terms of its score.
type Ranked struct {
	Tool  string  `json:"tool"`
	Score float64 `json:"score"` // in the units of the target; only its order means something
	Parts []Part  `json:"parts,omitempty"`
}

// PartBefore is the prefix of parts that are no terms of the score: those that a reranker replaced.
const PartBefore = "before "

// Part is one term of a score.
type Part struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// LayerTime is how long a layer took; 0: not known.
type LayerTime struct {
	Layer string  `json:"layer"`
	MS    float64 `json:"ms,omitempty"`
}

// Selection is what a case expects of a Decision. Empty texts and nil lists are
// layers that the case does not ask about.
type Selection struct {
	Route    string   `json:"route,omitempty"`
	SubRoute string   `json:"sub_route,omitempty"`
	Agents   []string `json:"agents,omitzero"`
	// Tools are the right ones; empty: no tool fits, and the target must return none.
	Tools []string `json:"tools,omitzero"`
	// Acceptable are further tools that are not wrong.
	Acceptable []string `json:"acceptable,omitempty"`
}

// SelectionScoring are the settings of judging decisions. Zero values mean the
// documented defaults.
type SelectionScoring struct {
	// Weights of the layers in the composite, each at least 0; nil: 0.15, 0.10 and 0.25.
	Route    *float64 `json:"route,omitempty"`
	SubRoute *float64 `json:"sub_route,omitempty"`
	Agents   *float64 `json:"agents,omitempty"`
	// Exact and Acceptable are the weights of an exact and of an acceptable match of the tools;
	// nil: 0.30 and 0.20. Tools, in their place, is the sum of both, in that proportion.
	Exact      *float64 `json:"exact,omitempty"`
	Acceptable *float64 `json:"acceptable,omitempty"`
	Tools      *float64 `json:"tools,omitempty"`
	// K are the depths at which ranked tools are measured, at least 1; nil: 1, 3, 5.
	K []int `json:"k,omitempty"`
}
