// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
)

// RoutingSection is the report on the decisions of a run, by target.
type RoutingSection struct {
	Targets []RoutingTarget `json:"targets"`
}

// RoutingWeight is the weight of a layer in the composite.
type RoutingWeight struct {
	Layer  string  `json:"layer"`
	Weight float64 `json:"weight"`
	// Exact and Acceptable are the parts of the weight of tools; 0 elsewhere.
	Exact      float64 `json:"exact,omitempty"`
	Acceptable float64 `json:"acceptable,omitempty"`
}

// RoutingTarget is one router or retriever.
type RoutingTarget struct {
	Target int    `json:"target"` // position in the run
	Name   string `json:"name"`
	// Cases is the number of judged cases, Attempts the number of their attempts. Matches, Unequal,
	// FirstWrong and ToolMisses count attempts, as rates do; Patterns and Failures count cases.
	Cases    int            `json:"cases"`
	Attempts int            `json:"attempts"`
	Layers   []RoutingLayer `json:"layers"`
	// Notes list what is unusual in the answers but no error.
	Notes []string `json:"notes,omitempty"`
	// Matches counts attempts by how the returned tools match the expected ones. Unequal of them
	// returned a different number of tools than expected, so that an exact match was not possible.
	Matches []Count `json:"matches,omitempty"`
	Unequal int     `json:"unequal,omitempty"`
	// Metrics are the composite and the ranks.
	Metrics []Metric `json:"metrics"`
	// CompositeBest is the best possible composite for the returned numbers of tools; nil where
	// nothing is judged.
	CompositeBest *Metric `json:"composite_best,omitempty"`
	// Weights are the weights of the layers in the composite, unless a case has its own.
	Weights []RoutingWeight `json:"weights,omitempty"`
	// Slices are categories, difficulties, languages and tags; TagsLeftOut counts the
	// tags that have too few cases for one.
	Slices      []RoutingSlice `json:"slices,omitempty"`
	TagsLeftOut int            `json:"tags_left_out,omitempty"`
	// FirstWrong counts failed attempts by the first wrong layer.
	FirstWrong []Count `json:"first_wrong,omitempty"`
	// ToolMisses counts attempts with wrong tools by the layer that blocked them: route,
	// sub_route or agents, or tools where none did.
	ToolMisses []Count `json:"tool_misses,omitempty"`
	// Patterns are tags, sorted by how much more often cases with them fail.
	Patterns []RoutingPattern `json:"patterns,omitempty"`
	// Routes, Agents and Tools are confusion tables; for tools wrong pairs only. Agents are sets,
	// written as one text.
	Routes []Confused `json:"routes,omitempty"`
	Agents []Confused `json:"agents,omitempty"`
	Tools  []Confused `json:"tools,omitempty"`
	// Failed are the first cases with a failed attempt, Failures is the number of all.
	Failed   []RoutingFailure `json:"failed,omitempty"`
	Failures int              `json:"failures"`
	// Unexplained is why there is no explanation for low ranks of tools; empty where there are
	// explanations, and where the target cannot explain.
	Unexplained     string                  `json:"unexplained,omitempty"`
	Recommendations []RoutingRecommendation `json:"recommendations,omitempty"`
}

// RoutingLayer is one layer with its rate and the time it takes in milliseconds; the
// intervals of time are undefined where it is not known.
type RoutingLayer struct {
	Layer  string         `json:"layer"`
	Metric Metric         `json:"metric"`
	P50    stats.Interval `json:"ms_p50"`
	P90    stats.Interval `json:"ms_p90"`
}

// RoutingSlice is a group of cases with its main rates.
type RoutingSlice struct {
	Key     string   `json:"key"`
	Value   string   `json:"value"`
	Cases   int      `json:"cases"`
	Metrics []Metric `json:"metrics"`
}

// RoutingPattern compares the cases with a tag with all cases without it.
type RoutingPattern struct {
	Tag    string `json:"tag"`
	Failed int    `json:"failed"`
	Of     int    `json:"of"`
	// RestFailed of Rest cases without the tag failed.
	RestFailed int `json:"rest_failed"`
	Rest       int `json:"rest"`
	// Lift is the failure rate divided by that of all cases; 1 is no difference.
	Lift float64 `json:"lift"`
	// P is Fisher's two-sided p value of no difference, Adjusted is P adjusted over all tags (BH).
	P        float64 `json:"p"`
	Adjusted float64 `json:"p_adjusted"`
}

// RoutingFailure is one failed case.
type RoutingFailure struct {
	Case   string            `json:"case"`
	Query  string            `json:"query"`
	Tags   []string          `json:"tags,omitempty"`
	Class  callvet.Class     `json:"class"`
	Reason string            `json:"reason"`
	Want   callvet.Selection `json:"want"`
	Got    callvet.Decision  `json:"got"`
	// Routed is why an unexpected route was taken; empty where that is not known.
	Routed   string             `json:"routed,omitempty"`
	Diagnose []RoutingDiagnosis `json:"diagnosis,omitempty"`
}

// RoutingDiagnosis is why an expected tool was not first: its rank and score, those of the winner, and
// sentences, the largest loss first.
type RoutingDiagnosis struct {
	Tool    callvet.Ranked `json:"tool"`
	Rank    int            `json:"rank"` // 0: not ranked
	Winner  callvet.Ranked `json:"winner"`
	Reasons []string       `json:"reasons,omitempty"`
}

// RoutingRecommendation is one thing to look at, with its evidence.
type RoutingRecommendation struct {
	Code     string `json:"code"`
	Text     string `json:"text"`
	Evidence string `json:"evidence"`
	// Certain: the whole interval is on the wrong side of the threshold.
	Certain bool `json:"certain"`
	// Counted: the evidence is a plain count without an interval.
	Counted bool `json:"counted,omitempty"`
}
