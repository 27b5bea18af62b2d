// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"encoding/json"
	"slices"
	"strings"
)

// NoTools is a name in a set of acceptable tools: it means that nothing is called.
const NoTools = "__none__"

// Expect is everything a case asserts. The zero value asserts nothing, which
// lint refuses.
type Expect struct {
	// Plans are the acceptable call plans; the best match is the score and is
	// named. Nil: calls are not asserted by plan. One plan without calls: the
	// target must not call anything.
	Plans []Plan `json:"plans,omitzero"`

	// ToolsCalled is the exact multiset of called names, nothing else. Nil: not
	// asserted; empty: no tools. Excludes ToolsAcceptable.
	ToolsCalled []string `json:"tools_called,omitzero"`
	// ToolsAcceptable lists acceptable name sets; one of only NoTools means no tools.
	ToolsAcceptable [][]string `json:"tools_acceptable,omitzero"`
	ToolsNotCalled  []string   `json:"tools_not_called,omitempty"`
	MinToolCalls    *int       `json:"min_tool_calls,omitempty"`
	MaxToolCalls    *int       `json:"max_tool_calls,omitempty"`
	NoToolErrors    bool       `json:"no_tool_errors,omitempty"`
	// Postconditions are conditions of the task: each must hold for the result of at least one call.
	Postconditions []string `json:"postconditions,omitempty"`
	// Counts bound how many calls match each expectation, whatever else is called.
	Counts []CallCount `json:"counts,omitempty"`
	// AllOf lists plans that must be met, and Not plans that must not be met, each separately and
	// whatever else is called. Counts and MinScores of a plan are part of its condition.
	AllOf []Plan `json:"all_of,omitempty"`
	Not   []Plan `json:"not,omitempty"`
	// MaxSameCalls bounds how often one call is made with the same arguments.
	MaxSameCalls *int `json:"max_same_calls,omitempty"`
	// MaxRequests bounds how many answers of the model an attempt takes.
	MaxRequests *int `json:"max_requests,omitempty"`
	// MinScores are the least values of scores. They decide in place of the plans, unless
	// all of them are 0.
	MinScores map[string]float64 `json:"min_scores,omitempty"`
	// ToolParams assert on arguments by path, in any call of the tool.
	ToolParams []ToolParam `json:"tool_params,omitempty"`

	ResponseNonEmpty    bool       `json:"response_non_empty,omitempty"`
	ResponseContains    []string   `json:"response_contains,omitempty"`
	ResponseContainsAny [][]string `json:"response_contains_any,omitempty"`
	ResponseNotContains []string   `json:"response_not_contains,omitempty"`
	// ResponseMatches are RE2 patterns that must all be found (unanchored).
	ResponseMatches     []string `json:"response_matches,omitempty"`
	NoUngroundedNumbers bool     `json:"no_ungrounded_numbers,omitempty"`
	// ResponseJSON is compared with the answer, read as JSON.
	ResponseJSON *Matcher `json:"response_json,omitempty"`

	// Selection is what is expected of a target that selects tools. Such a target is judged by
	// Selection alone; a target that calls tools is judged by all other fields.
	Selection *Selection `json:"selection,omitempty"`

	MaxLatencyMS *float64 `json:"max_latency_ms,omitempty"`
	MaxTokens    *int     `json:"max_tokens,omitempty"` // output tokens
	MaxCostUSD   *float64 `json:"max_cost_usd,omitempty"`

	// Scorers are rules that the suite defines. Names are unique within a case.
	Scorers []Scorer `json:"scorers,omitempty"`

	// Rubric and ReferenceData are for judges; no deterministic scorer reads them. Until a
	// judge has decided, each dimension is an assertion that was not evaluated.
	Rubric        []RubricDimension `json:"rubric,omitempty"`
	ReferenceData json.RawMessage   `json:"reference_data,omitempty"`
	// Unsupported are assertions that nothing here can evaluate: programs and other assertions of
	// a foreign format, and assertions with a token that has no value.
	Unsupported []Unsupported `json:"unsupported,omitempty"`
}

// AboutCalls reports whether an assertion depends on which calls were made, or on their results.
func (e *Expect) AboutCalls() bool {
	return e.Plans != nil || e.ToolsCalled != nil || e.ToolsAcceptable != nil || len(e.ToolsNotCalled) > 0 ||
		e.MinToolCalls != nil || e.MaxToolCalls != nil ||
		e.NoToolErrors || len(e.Postconditions) > 0 || len(e.Counts) > 0 || len(e.AllOf) > 0 || len(e.Not) > 0 ||
		e.MaxSameCalls != nil || e.MaxRequests != nil || len(e.MinScores) > 0 || len(e.ToolParams) > 0 ||
		e.NoUngroundedNumbers
}

// Calls reports whether an attempt may pass by calling something, and whether it may pass by
// calling nothing. Both are true where either is right; both are false where calls are not
// asserted.
func (e *Expect) Calls() (something, nothing bool) {
	for i := range e.Plans {
		if len(e.Plans[i].Calls) == 0 {
			nothing = true
		} else {
			something = true
		}
	}
	if e.ToolsCalled != nil {
		something, nothing = something || len(e.ToolsCalled) > 0, nothing || len(e.ToolsCalled) == 0
	}
	something = something || anyCounted(e.Counts)
	for i := range e.AllOf {
		p := &e.AllOf[i]
		something = something || len(p.MinScores) == 0 && p.Order != OrderSubset &&
			slices.ContainsFunc(p.Calls, func(c ExpectedCall) bool { return !c.Optional }) || anyCounted(p.Counts)
	}
	for _, set := range e.ToolsAcceptable {
		if isNone := len(set) == 0 || slices.Equal(set, []string{NoTools}); isNone {
			nothing = true
		} else {
			something = true
		}
	}
	return something || (e.MinToolCalls != nil && *e.MinToolCalls > 0), nothing ||
		(e.MaxToolCalls != nil && *e.MaxToolCalls == 0)
}

// Keys of slices by tools. By expected tool, a task is in the slice of each tool that it expects,
// with all its attempts and calls. By called tool, a call is in the slice of the tool that it
// calls, and so is its task.
const (
	SliceExpectedTool = "expected_tool"
	SliceCalledTool   = "called_tool"
)

// AmbiguousSlice reports whether a slice key, or one side of a cross, is ambiguous between the
// expected tool (SliceExpectedTool) and the called tool (SliceCalledTool).
func AmbiguousSlice(key string) bool {
	return slices.Contains(strings.Split(key, "*"), "tool")
}

// Tools are the names of the tools that passing answers call, each once. They come from the
// required expected calls, the sets of names, and the selection.
func (e *Expect) Tools() []string {
	var out []string
	add := func(names []string) {
		for _, n := range names {
			if n != NoTools && n != "" && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	for i := range e.Plans {
		for k := range e.Plans[i].Calls {
			if c := &e.Plans[i].Calls[k]; !c.Optional {
				add(c.Tools)
			}
		}
	}
	add(e.ToolsCalled)
	for _, set := range e.ToolsAcceptable {
		add(set)
	}
	if e.Selection != nil {
		add(e.Selection.Tools)
	}
	return out
}

// anyCounted reports whether one of the counts requires a call.
func anyCounted(counts []CallCount) bool {
	return slices.ContainsFunc(counts, func(c CallCount) bool {
		return c.Min != nil && *c.Min > 0 || c.Min == nil && c.Max == nil
	})
}

// Unsupported is an assertion that nothing here can evaluate.
type Unsupported struct {
	// Name is the assertion's name in its own format: "javascript".
	Name   string `json:"name"`
	Reason string `json:"reason"`
	// Expected is what it asks for, as far as that is known.
	Expected string `json:"expected,omitempty"`
}

// NeedsJudge is why a dimension of a rubric was not evaluated.
const NeedsJudge = "it needs a judge, and there is none"

// Unevaluated are the assertions that no deterministic scorer evaluates, each with the state "not
// evaluated".
func (e *Expect) Unevaluated() []Assertion {
	var out []Assertion
	for _, d := range e.Rubric {
		want := d.Criteria
		if d.Dimension != "" {
			want = d.Dimension + ": " + want
		}
		out = append(out, Assertion{
			Name: "rubric", Layer: LayerResponse, State: AssertNotEvaluated, Reason: NeedsJudge,
			Expected: want,
		})
	}
	for _, u := range e.Unsupported {
		out = append(out, Assertion{
			Name: u.Name, Layer: LayerResponse, State: AssertNotEvaluated, Reason: u.Reason,
			Expected: u.Expected,
		})
	}
	return out
}

// RubricDimension is one judged dimension.
type RubricDimension struct {
	Dimension string  `json:"dimension"`
	MaxScore  float64 `json:"max_score"`
	Criteria  string  `json:"criteria"`
	// Threshold is the least share of MaxScore that passes, in [0,1]. Nil: 1 where MaxScore is 1,
	// else the threshold of the judge.
	Threshold *float64 `json:"threshold,omitempty"`
}

// ToolParam asserts that some call of Tool has, at Path, a value that matches.
type ToolParam struct {
	Tool    string  `json:"tool"`
	Path    string  `json:"path"`
	Matcher Matcher `json:"matcher"`
}

// Order is how the calls of a plan may be ordered.
type Order string

// Orders and set relations of a plan. The zero value is OrderAny.
const (
	OrderAny       Order = "any_order"
	OrderStrict    Order = "strict"    // same calls in the same order, no other call between them
	OrderInOrder   Order = "in_order"  // in order; others (up to max_extra_calls) may come between them
	OrderSubset    Order = "subset"    // the calls are a subset of the plan
	OrderSuperset  Order = "superset"  // the plan is a subset of the calls
	OrderPrecision Order = "precision" // score = matched ÷ called; passes at 1
	OrderRecall    Order = "recall"    // score = matched ÷ expected; passes at 1
	OrderSingle    Order = "single_tool_use"
)

// Plan is one acceptable set of calls.
type Plan struct {
	Name  string         `json:"name,omitempty"`
	Calls []ExpectedCall `json:"calls"`
	Order Order          `json:"order,omitempty"`
	// MaxExtraCalls is how many calls outside the plan a passing attempt may
	// make. Nil: the scoring setting (default 0); -1: any number.
	MaxExtraCalls *int `json:"max_extra_calls,omitempty"`
	// Counts and MinScores are for entries of AllOf and Not only: all must hold for the entry to be
	// met. MinScores then decide in place of the calls. With Counts, Calls may be nil: it asserts
	// nothing about calls.
	Counts    []CallCount        `json:"counts,omitempty"`
	MinScores map[string]float64 `json:"min_scores,omitempty"`
}

// ExpectedCall is one call that a plan expects.
type ExpectedCall struct {
	// ID lets other calls name this one in After.
	ID string `json:"id,omitempty"`
	// Tools are the acceptable names, at least one; * in a name stands for any text.
	Tools []string `json:"tools"`
	// Args are the expected arguments: nil (absent) = not scored; {} = none.
	Args json.RawMessage `json:"args,omitempty"`
	// Matchers override the comparison of single parameters, by name or by dotted path; a matcher
	// may stand for a key that Args does not have. A name with * applies to every argument that it
	// matches and that no other matcher names.
	Matchers map[string]Matcher `json:"matchers,omitempty"`
	// After lists IDs of calls that must come before this one (a DAG, in addition to the plan's
	// Order).
	After []string `json:"after,omitempty"`
	// Optional calls may be missing without failing the case.
	Optional bool `json:"optional,omitempty"`
	// Result is the result that the tool must return, for tools with a constant result; nil: not
	// asserted.
	Result json.RawMessage `json:"result,omitempty"`
	// ResultCheck is a post-condition over the call's result.
	ResultCheck string `json:"result_check,omitempty"`
	// ExtraArgs is the policy of this call; "": the policy of the case.
	ExtraArgs ExtraArgs `json:"extra_args,omitempty"`
	// Nth accepts only the n-th call of these tools, Message only calls of the n-th message with
	// calls. Negative numbers count from the end; 0 means any.
	Nth     int `json:"nth,omitempty"`
	Message int `json:"message,omitempty"`
}

// CallCount bounds how many calls match an expectation. Without Min and Max, at least one call must
// match.
type CallCount struct {
	Call ExpectedCall `json:"call"`
	Min  *int         `json:"min,omitempty"`
	Max  *int         `json:"max,omitempty"`
}

// Matcher compares one parameter.
type Matcher struct {
	// Mode is one of the modes and per-parameter matchers of the scoring rules;
	// empty means the mode in force.
	Mode string `json:"mode,omitempty"`
	// Value is the expected value where the matcher needs one; for any_of it is
	// a list of acceptable values.
	Value json.RawMessage `json:"value,omitempty"`
	// Optional parameters may be absent from the actual call.
	Optional   bool     `json:"optional,omitempty"`
	Epsilon    *float64 `json:"epsilon,omitempty"`
	Relative   *float64 `json:"relative,omitempty"`
	Threshold  *float64 `json:"threshold,omitempty"`
	Tolerance  string   `json:"tolerance,omitempty"` // dates: a duration such as "24h"
	Unanchored bool     `json:"unanchored,omitempty"`
	Unordered  bool     `json:"unordered,omitempty"`
}

// ExtraArgs is the policy for arguments that were not expected.
type ExtraArgs string

// The policies for extra arguments. The zero value is ExtraForbid.
const (
	ExtraForbid   ExtraArgs = "forbid"
	ExtraIgnore   ExtraArgs = "ignore"
	ExtraPenalize ExtraArgs = "penalize"
)

// Scoring are the settings of the deterministic scorers. A case's settings override its suite's,
// field by field. Zero values mean the documented default.
type Scoring struct {
	// Profile is "" (callvet's own rules) or "bfcl" (the leaderboard's).
	Profile string `json:"profile,omitempty"`
	// Language selects literal rules under the bfcl profile: "", "java", "javascript".
	Language   string    `json:"language,omitempty"`
	Mode       string    `json:"mode,omitempty"` // default "exact"
	Epsilon    *float64  `json:"epsilon,omitempty"`
	Relative   *float64  `json:"relative,omitempty"`
	Threshold  *float64  `json:"threshold,omitempty"`
	Tolerance  string    `json:"tolerance,omitempty"`
	Unanchored bool      `json:"unanchored,omitempty"`
	ExtraArgs  ExtraArgs `json:"extra_args,omitempty"`
	// MaxExtraCalls is the default for plans; nil means 0.
	MaxExtraCalls *int `json:"max_extra_calls,omitempty"`
	// ToolWeight and ArgsWeight are the weights of the overall score; nil means 0.6 and 0.4.
	ToolWeight *float64 `json:"tool_weight,omitempty"`
	ArgsWeight *float64 `json:"args_weight,omitempty"`
	// CaseSensitiveNames compares tool names byte for byte.
	CaseSensitiveNames bool `json:"case_sensitive_names,omitempty"`
	// ToolNames defines which names mean the same tool; nil: names are compared whole.
	ToolNames *ToolNames `json:"tool_names,omitempty"`
	// Contract: "" or "enforce" fails calls that break their schema; "report"
	// records violations only; "off" does not check.
	Contract string `json:"contract,omitempty"`
	// FailedCalls is "" (failed calls count as calls) or "ignore".
	FailedCalls string `json:"failed_calls,omitempty"`
	// FormatChecked requires native calls: a repaired call then fails.
	RequireNative bool `json:"require_native,omitempty"`
	// Selection has the settings for targets that select tools.
	Selection *SelectionScoring `json:"selection,omitempty"`
}

// Comparison has the settings of Scoring for comparing arguments. The zero value means the
// defaults.
type Comparison struct {
	Mode       string    `json:"mode,omitempty"`
	Epsilon    *float64  `json:"epsilon,omitempty" form:"min=0"`
	Relative   *float64  `json:"relative,omitempty" form:"min=0 max=1"`
	Threshold  *float64  `json:"threshold,omitempty" form:"min=0 max=1"`
	Tolerance  string    `json:"tolerance,omitempty"`
	Unanchored bool      `json:"unanchored,omitempty"`
	ExtraArgs  ExtraArgs `json:"extra_args,omitempty"`
}

// Comparison returns the settings for comparing the arguments of an expected call.
func (s *Scoring) Comparison(e *ExpectedCall) Comparison {
	c := Comparison{s.Mode, s.Epsilon, s.Relative, s.Threshold, s.Tolerance, s.Unanchored, s.ExtraArgs}
	if e.ExtraArgs != "" {
		c.ExtraArgs = e.ExtraArgs
	}
	if c.Mode == "exact" {
		c.Mode = ""
	}
	if c.ExtraArgs == ExtraForbid {
		c.ExtraArgs = ""
	}
	return c
}

// Scoring returns the settings in the form of a suite's settings.
func (c *Comparison) Scoring() Scoring {
	return Scoring{
		Mode: c.Mode, Epsilon: c.Epsilon, Relative: c.Relative, Threshold: c.Threshold, Tolerance: c.Tolerance,
		Unanchored: c.Unanchored, ExtraArgs: c.ExtraArgs,
	}
}
