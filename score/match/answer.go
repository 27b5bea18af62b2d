// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet"
)

// Answer appends the results of the assertions on the answer's text. The patterns are
// e.ResponseMatches, compiled, in the same order.
func Answer(dst []callvet.Assertion, e *callvet.Expect, patterns []*regexp.Regexp, answer string) []callvet.Assertion {
	record := func(name string, passed bool, want string) {
		dst = append(dst, callvet.Assertion{
			Name: name, Layer: callvet.LayerResponse, State: callvet.Asserted(passed),
			Expected: want, Actual: Clip(answer),
		})
	}
	if e.ResponseNonEmpty {
		record("response_non_empty", strings.TrimSpace(answer) != "", "an answer")
	}
	for _, s := range e.ResponseContains {
		record("response_contains", strings.Contains(answer, s), s)
	}
	for _, group := range e.ResponseContainsAny {
		ok := slices.ContainsFunc(group, func(s string) bool { return strings.Contains(answer, s) })
		record("response_contains_any", ok, strings.Join(group, " | "))
	}
	for _, s := range e.ResponseNotContains {
		record("response_not_contains", !strings.Contains(answer, s), "not "+s)
	}
	for i, p := range patterns {
		record("response_matches", p.MatchString(answer), e.ResponseMatches[i])
	}
	return dst
}

// Budget appends the results of the assertions on time, tokens and cost; an assertion on a value
// that was not measured is not evaluated.
func Budget(dst []callvet.Assertion, e *callvet.Expect, t *callvet.Trace) []callvet.Assertion {
	record := func(name string, known, passed bool, limit, actual string) {
		a := callvet.Assertion{
			Name: name, Layer: callvet.LayerBudget, State: callvet.Asserted(passed),
			Expected: "at most " + limit, Actual: actual,
		}
		if !known {
			a.State, a.Actual, a.Reason = callvet.AssertNotEvaluated, "", "not measured"
		}
		dst = append(dst, a)
	}
	num := func(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }
	if e.MaxLatencyMS != nil {
		record("max_latency_ms", t.WallMS > 0, t.WallMS <= *e.MaxLatencyMS, num(*e.MaxLatencyMS), num(t.WallMS))
	}
	if e.MaxTokens != nil {
		record("max_tokens", t.Usage.Known, t.Usage.OutputTokens <= *e.MaxTokens, strconv.Itoa(*e.MaxTokens),
			strconv.Itoa(t.Usage.OutputTokens))
	}
	if e.MaxCostUSD != nil {
		cost := 0.0
		if t.Usage.CostUSD != nil {
			cost = *t.Usage.CostUSD
		}
		record("max_cost_usd", t.Usage.CostUSD != nil, cost <= *e.MaxCostUSD, num(*e.MaxCostUSD), num(cost))
	}
	return dst
}

// Clip shortens a text for a sentence: 120 bytes at most, with a mark at the cut. Code points
// stay whole; invalid UTF-8 is replaced.
func Clip(s string) string {
	const most = 120
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
