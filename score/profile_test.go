// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// profileSuite has one tool with two required parameters that are expected, one optional,
// and one, unit, that the expectation of the leaderboard's profile may leave out.
func profileSuite(required, profile string, matchers map[string]callvet.Matcher) *callvet.Suite {
	p := wants("get", "")
	p.Calls[0].Matchers = matchers
	return &callvet.Suite{
		Tools: []callvet.Tool{{
			Name: "get",
			Parameters: json.RawMessage(
				`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},
			"note":{"type":"string"},"unit":{"type":"string"}},"required":` + required + `}`),
		}},
		Defaults: callvet.Defaults{Scoring: callvet.Scoring{Profile: profile}},
		Cases:    []callvet.Case{one(plans(p))},
	}
}

func anyOf(list string) callvet.Matcher {
	return callvet.Matcher{Mode: "any_of", Value: json.RawMessage(list)}
}

// Under the leaderboard's profile the verdict is the leaderboard's, and the scores count its
// parameters: expected ones with a value on both sides, missing ones and unexpected ones.
func TestProfileScores(t *testing.T) {
	t.Parallel()
	matchers := map[string]callvet.Matcher{
		"city": anyOf(`["Paris","Paris, FR"]`), "days": anyOf(`[3]`),
		"note": {Mode: "any_of", Value: json.RawMessage(`["x"]`), Optional: true},
	}
	for _, tt := range []struct {
		name, required, args   string
		pass                   bool
		acc, em, keys, p, r, f float64
	}{
		{"all right", `["city","days"]`, `{"city":"Paris","days":3}`, true, 1, 1, 1, 1, 1, 1},
		{
			"all right, with the optional one", `["city","days"]`, `{"city":"Paris, FR","days":3,"note":"x"}`, true, 1, 1,
			1, 1, 1, 1,
		},
		{
			"one value wrong", `["city","days"]`, `{"city":"Paris","days":4}`, false, 1.0 / 2, 0, 1.0 / 2, 1.0 / 2,
			1.0 / 2, 1.0 / 2,
		},
		{
			"one type wrong", `["city","days"]`, `{"city":"Paris","days":"3"}`, false, 1.0 / 2, 0, 1.0 / 2, 1.0 / 2,
			1.0 / 2, 1.0 / 2,
		},
		{"one missing", `["city","days"]`, `{"city":"Paris"}`, false, 1.0 / 2, 0, 1.0 / 2, 1, 1.0 / 2, 2.0 / 3},
		{
			"one too many", `["city","days"]`, `{"city":"Paris","days":3,"zip":1}`, false, 1, 0, 2.0 / 3, 2.0 / 3,
			1, 4.0 / 5,
		},
		{
			"a required one that nothing is expected of is missing", `["city","unit"]`, `{"city":"Paris","days":3}`, false,
			2.0 / 3, 0, 2.0 / 3, 1, 2.0 / 3, 4.0 / 5,
		},
		{"nothing", `["city","days"]`, `null`, false, 0, 0, 0, 0, 0, 0},
	} {
		s := profileSuite(tt.required, "bfcl", matchers)
		r := mustCompile(t, s)[0].Score(made("get", tt.args))
		if (r.Verdict == callvet.VerdictPass) != tt.pass {
			t.Errorf("%s: %s %s", tt.name, r.Verdict, r.Reason)
		}
		checkScores(t, tt.name, r, map[string]float64{
			score.ArgAccuracy: tt.acc, score.ArgEM: tt.em, score.ArgEMKeys: tt.keys, score.ArgPrecision: tt.p,
			score.ArgRecall: tt.r, score.ArgF1: tt.f,
			score.ToolSelection: 1, score.Overall: 0.6 + 0.4*tt.acc, score.SchemaValid: -1,
		})
	}
}

// A list in place of arguments holds no wrong value where none is expected, and fails.
func TestProfileNotAnObject(t *testing.T) {
	t.Parallel()
	s := profileSuite(`[]`, "bfcl", map[string]callvet.Matcher{})
	sc := mustCompile(t, s)
	for args, want := range map[string]float64{`{}`: 1, `[]`: 0} {
		r := sc[0].Score(made("get", args))
		if (r.Verdict == callvet.VerdictPass) != (want == 1) {
			t.Errorf("%s: %s %s", args, r.Verdict, r.Reason)
		}
		checkScores(t, args, r, map[string]float64{
			score.ArgAccuracy: want, score.ArgEM: want, score.ArgEMKeys: want,
			score.ArgRecall: want,
		})
	}
}

// Of two calls the one with the higher share of right values answers, unexpected ones counted as
// wrong; of equal ones the first.
func TestProfilePairsTheNearerCall(t *testing.T) {
	t.Parallel()
	matchers := map[string]callvet.Matcher{"city": anyOf(`["Paris"]`), "days": anyOf(`[3]`), "note": anyOf(`["x"]`)}
	for _, tt := range []struct {
		name, first, second string
		want                int
	}{
		{
			"two of three before one of three", `{"city":"Paris","days":4,"note":"y"}`,
			`{"city":"Paris","days":3,"note":"y"}`, 1,
		},
		{
			"one of three before one of four", `{"city":"Paris","days":4,"note":"y","zip":1}`,
			`{"city":"Paris","days":4,"note":"y"}`, 1,
		},
		{
			"right before right with one too many", `{"city":"Paris","days":3,"note":"x","zip":1}`,
			`{"city":"Paris","days":3,"note":"x"}`, 1,
		},
		{"equally far", `{"city":"Paris","days":4,"note":"y"}`, `{"city":"Rome","days":3,"note":"y"}`, 0},
	} {
		s := profileSuite(`[]`, "bfcl-v1", matchers)
		r := mustCompile(t, s)[0].Score(made("get", tt.first, "get", tt.second))
		if len(r.Calls) != 2 || r.Calls[0].Actual != tt.want {
			t.Errorf("%s: %+v", tt.name, r.Calls)
		}
	}
}

// The profile's result for a call is next to the repairs of the call.
func TestProfileExplains(t *testing.T) {
	t.Parallel()
	s := profileSuite(`["city"]`, "bfcl", map[string]callvet.Matcher{"city": anyOf(`["Paris"]`)})
	sc := mustCompile(t, s)
	for _, tt := range []struct {
		name, args string
		repairs    []string
		want       string
	}{
		{"mended and right", `{"city":"Paris"}`, []string{"fenced", "string"}, "repaired: fenced, string"},
		{"wrong", `{"city":5}`, nil, "type_error:simple"},
		{"mended and wrong", `{"city":5}`, []string{"fenced"}, "repaired: fenced; type_error:simple"},
	} {
		tr := made("get", tt.args)
		tr.Turns[0].Calls[0].Repairs = tt.repairs
		r := sc[0].Score(tr)
		if len(r.Calls) != 1 || r.Calls[0].Note != tt.want {
			t.Errorf("%s: %+v, want %s", tt.name, r.Calls, tt.want)
		}
	}
}

func TestProfileProblems(t *testing.T) {
	t.Parallel()
	bad := profileSuite(`[]`, "bfcl",
		map[string]callvet.Matcher{"city": {Mode: "any_of", Value: json.RawMessage(`"Paris"`)}})
	_, ps := compile(bad)
	if len(ps) != 1 || ps[0].Code != "bad-bfcl" || ps[0].Key != "plans[0].calls[0]" {
		t.Errorf("a value that is no list: %+v", ps)
	}
	s := profileSuite(`[]`, "bfcl", map[string]callvet.Matcher{"city": anyOf(`["Paris"]`)})
	s.Tools = nil // no types are known
	r := mustCompile(t, s)[0].Score(made("get", `{"city":"paris"}`))
	if d := cmp.Diff(callvet.VerdictPass, r.Verdict); d != "" {
		t.Error(d, r.Reason)
	}
}
