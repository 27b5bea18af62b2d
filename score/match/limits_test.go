// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestRateLimits: what a server answers when there were too many requests, and what only looks like
// it.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                                false,
		"r":                               false,
		"rate limit exceeded":             true,
		"Rate-Limit":                      true,
		"RATE_LIMITED":                    true,
		"ratelimit":                       true,
		"rate.limit":                      true,
		"you hit the rate limit":          true,
		"rate  limit":                     false,
		"the rate is limited":             false,
		"rate":                            false,
		"rat":                             false,
		"a rotten limit":                  false,
		"ResourceExhausted":               true,
		"RESOURCE_EXHAUSTED: quota":       true,
		"resource not found":              false,
		"Too Many Requests":               true,
		"too-many-requests":               true,
		"too many arguments":              false,
		"ThrottlingException":             true,
		"throttled":                       true,
		"three":                           false,
		"t h r o t t l":                   true,
		"429":                             true,
		" 429":                            true,
		"429 ":                            true,
		"429: slow down":                  true,
		"HTTP 429":                        true,
		"http/1.1 429":                    true,
		"HTTP/2 429":                      true,
		"status=429":                      true,
		"status: 429,":                    true,
		`{"code":"429"}`:                  true,
		"error (429)":                     true,
		"(429)":                           true,
		"room 429":                        false,
		"the 429 guests":                  false,
		"status 4290":                     false,
		"status 4299":                     false,
		"status 1429":                     false,
		"status 429a":                     false,
		"status 429Z":                     false,
		"status 429z":                     false,
		"status a429":                     false,
		"status z429":                     false,
		"status 0429":                     false,
		"status 9429":                     false,
		"status 429-1":                    true,
		"status 4290 and 429":             false,
		"status 42":                       false,
		"status 4.29":                     false,
		"status 4 2 9":                    false,
		"tus 429":                         false,
		"\u0014\u0012\u0019 is no number": false,
	} {
		if got := isRateLimit([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
		c := callvet.Call{Status: callvet.StatusExecErr, Error: text}
		if got := RateLimited(&c); got != want {
			t.Errorf("an error %q: %v", text, got)
		}
	}
	deep := func(n int) string {
		return strings.Repeat(`{"error":`, n) + `"rate limit"` + strings.Repeat(`}`, n)
	}
	for result, want := range map[string]bool{
		`{"success":true,"note":"rate limit"}`:                         false, // it went well
		`{"success":false,"error":"rate limit"}`:                       true,
		`{"success":false,"code":429}`:                                 true,
		`{"success":false,"http_status":429}`:                          true,
		`{"success":false,"rows":429}`:                                 false,
		`{"success":false,"code":428}`:                                 false,
		`{"success":false,"code":"429"}`:                               true,
		`{"success":false,"error":{"code":429}}`:                       true,
		`{"success":false,"errors":["x",{"status":429}]}`:              true,
		`{"success":false,"a":1,"b":null,"error":"too many requests"}`: true,
		`{"success":false}`:                                            false,
		deep(4):                                                        true,
		deep(5):                                                        false, // deeper than error messages are
	} {
		c := callvet.Call{Status: callvet.StatusOK, Result: json.RawMessage(result)}
		if got := RateLimited(&c); got != want {
			t.Errorf("%s: %v", result, got)
		}
	}
	if RateLimited(&callvet.Call{Status: callvet.StatusExecErr, Error: "no"}) {
		t.Error("an error without a result")
	}
}

// TestBudget: what stands at the limit is within it.
func TestBudget(t *testing.T) {
	t.Parallel()
	limits := &callvet.Expect{MaxLatencyMS: ptr(10.0), MaxTokens: ptr(5), MaxCostUSD: ptr(0.5)}
	for _, tc := range []struct {
		ms     float64
		tokens int
		cost   float64
		want   string
	}{
		{10, 5, 0.5, "passed passed passed"},
		{10.1, 6, 0.51, "failed failed failed"},
		{9, 4, 0.4, "passed passed passed"},
	} {
		var states []string
		for _, a := range Budget(nil, limits,
			&callvet.Trace{
				WallMS: tc.ms,
				Usage:  callvet.Usage{OutputTokens: tc.tokens, CostUSD: &tc.cost, Known: true},
			}) {
			states = append(states, string(a.State))
		}
		if got := strings.Join(states, " "); got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	e := &callvet.Expect{
		ResponseNonEmpty: true, ResponseContains: []string{"Oslo", "oslo"},
		ResponseContainsAny: [][]string{{"5", "five"}, {"6"}},
		ResponseNotContains: []string{"sorry", "rain"}, ResponseMatches: []string{"^It", "^Oslo"},
	}
	var patterns []*regexp.Regexp
	for _, p := range e.ResponseMatches {
		patterns = append(patterns, regexp.MustCompile(p))
	}
	got := map[string]callvet.AssertionState{}
	for _, a := range Answer(nil, e, patterns, "It is five degrees in Oslo, with rain.") {
		got[a.Name+" "+a.Expected] = a.State
		if a.Layer != callvet.LayerResponse || a.Actual != "It is five degrees in Oslo, with rain." {
			t.Errorf("%+v", a)
		}
	}
	yes, no := callvet.Asserted(true), callvet.Asserted(false)
	if diff := cmp.Diff(map[string]callvet.AssertionState{
		"response_non_empty an answer": yes, "response_contains Oslo": yes, "response_contains oslo": no,
		"response_contains_any 5 | five": yes,
		"response_contains_any 6":        no, "response_not_contains not sorry": yes,
		"response_not_contains not rain": no,
		"response_matches ^It":           yes, "response_matches ^Oslo": no,
	}, got); diff != "" {
		t.Error(diff)
	}
	if a := Answer(nil, &callvet.Expect{ResponseNonEmpty: true}, nil, " \n"); len(a) != 1 || a[0].State != no {
		t.Errorf("white space is no answer: %+v", a)
	}
}

// TestClip: texts are cut between characters.
func TestClip(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"short":                {"abc", "abc"},
		"as long as it may be": {strings.Repeat("a", 120), strings.Repeat("a", 120)},
		"one longer":           {strings.Repeat("a", 121), strings.Repeat("a", 120) + "…"},
		"within a character":   {strings.Repeat("a", 118) + "€uro", strings.Repeat("a", 118) + "…"},
		"after a character":    {strings.Repeat("a", 117) + "€uro", strings.Repeat("a", 117) + "€…"},
		"no UTF-8":             {"a\xffb", "a\uFFFDb"},
	} {
		if got := Clip(tc.text); got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestNamesReported: the called names are reported with the wanted ones.
func TestNamesReported(t *testing.T) {
	t.Parallel()
	for want, n := range map[string]Names{
		"(none)": {}, "a, b": {Names: []string{"a", "b"}},
		"(unreadable call)": {Unreadable: true},
	} {
		got := n.Assert(nil, &callvet.Expect{ToolsCalled: []string{"x", "y"}})
		if len(got) != 1 || got[0].Actual != want || got[0].Expected != "x, y" {
			t.Errorf("%s: %+v", want, got)
		}
	}
	// An empty set is a set without tools; one with tools asks for a call.
	for set, ok := range map[string]bool{"": true, callvet.NoTools: true, "a": false} {
		acceptable := [][]string{{}}
		if set != "" {
			acceptable[0] = []string{set}
		}
		n := Names{}
		if got := n.Assert(nil, &callvet.Expect{ToolsAcceptable: acceptable}); got[0].State != callvet.Asserted(ok) {
			t.Errorf("no call for {%s}: %+v", set, got)
		}
	}
	n := Names{Names: []string{"a", "a"}}
	if got := n.Assert(nil, &callvet.Expect{MaxToolCalls: ptr(1)}); got[0].State != callvet.Asserted(false) {
		t.Errorf("two calls, at most one: %+v", got)
	}
	for _, path := range []string{"[0].", "a[0]."} {
		if p, err := ParsePath(path); err == nil {
			t.Errorf("%q is read as %v", path, p)
		}
	}
}
