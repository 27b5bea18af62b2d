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

// Decision is what a router or retriever makes of a question: where it belongs and
// which tools fit. It calls nothing.
type Decision struct {
	Route    string   `json:"route,omitempty"`
	SubRoute string   `json:"sub_route,omitempty"`
	Agents   []string `json:"agents,omitempty"`
	// Tools are those found, best first; none where the target abstains.
	Tools []Ranked `json:"tools,omitempty"`
	// Asked is how many tools a target was asked for that need not keep to it; those
	// behind them are kept for show and do not count. 0: all count.
	Asked int `json:"asked,omitempty"`
	// Abstained tells that there were tools and none was good enough.
	Abstained bool `json:"abstained,omitempty"`
	// Odd says what is strange about an answer, each oddity always in the same words.
	Odd []string `json:"odd,omitempty"`
	// Layers are those that the target decides at all, whatever it decided, in the
	// order in which it decides them, with the time each took. A layer that is not
	// listed is not judged.
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

// Given are the tools that count: of those found no more than were asked for.
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

// Ranked is a tool that was found with what its score is the sum of.
type Ranked struct {
	Tool  string  `json:"tool"`
	Score float64 `json:"score"` // in the units of the target; only its order means something
	Parts []Part  `json:"parts,omitempty"`
}

// PartBefore begins the names of parts that are no terms of the score: what stood before a
// reranker put its own in their place.
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
	// Tools are the right ones; empty: nothing fits, and nothing may be given.
	Tools []string `json:"tools,omitzero"`
	// Acceptable tools are not wrong, beside Tools.
	Acceptable []string `json:"acceptable,omitempty"`
}

// SelectionScoring are the settings of judging decisions. Zero values mean the
// documented defaults.
type SelectionScoring struct {
	// Weights of the layers in the composite, each at least 0; nil: 0.15, 0.10 and 0.25.
	Route    *float64 `json:"route,omitempty"`
	SubRoute *float64 `json:"sub_route,omitempty"`
	Agents   *float64 `json:"agents,omitempty"`
	// Exact and Acceptable are the weights of the tools: of an exact match and of an
	// acceptable one; nil: 0.30 and 0.20. Tools in their place are both together, in
	// that proportion.
	Exact      *float64 `json:"exact,omitempty"`
	Acceptable *float64 `json:"acceptable,omitempty"`
	Tools      *float64 `json:"tools,omitempty"`
	// K are the depths at which ranked tools are measured, at least 1; nil: 1, 3, 5.
	K []int `json:"k,omitempty"`
}
