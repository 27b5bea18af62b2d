// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet"
)

// compiled reads the expectation of a table row; problems end the test.
func compiled(t *testing.T, sc callvet.Scoring, sim Similarity, args, matchers, schema string,
	extra callvet.ExtraArgs,
) *Args {
	t.Helper()
	var ms map[string]callvet.Matcher
	if matchers != "" {
		if err := json.Unmarshal([]byte(matchers), &ms); err != nil {
			t.Fatal(err)
		}
	}
	set, ps := FromScoring(&sc, sim)
	a, more := Compile(json.RawMessage(args), ms, mustParse(t, schema), set, extra)
	if len(ps)+len(more) > 0 {
		t.Fatalf("%s %s: %v %v", args, matchers, ps, more)
	}
	return a
}

const unitSchema = `{"properties":{"city":{"type":"string"},"unit":{"default":"C"},"days":{"type":"integer"}}}`

// TestTally counts keys by the scoring rules, section Arguments.
func TestTally(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args, matchers, got string
		want                Tally
	}{
		"all right": {
			`{"city":"Oslo"}`, "", `{"city":"oslo"}`,
			Tally{Expected: 1, Matched: 1, Soft: 1, Gold: 1, Emitted: 1, Union: 1, Hits: 1},
		},
		"out of order": {
			`{"city":"Oslo","days":2}`, "", `{"days":2,"city":"Oslo"}`,
			Tally{Expected: 2, Matched: 2, Soft: 2, Gold: 2, Emitted: 2, Union: 2, Hits: 2},
		},
		"a wrong value": {
			`{"city":"Oslo","days":2}`, "", `{"city":"Rome","days":2}`,
			Tally{Expected: 2, Matched: 1, Soft: 1, Gold: 2, Emitted: 2, Union: 2, Hits: 1},
		},
		"one missing": {
			`{"city":"Oslo","days":2}`, "", `{"days":2}`,
			Tally{Expected: 2, Matched: 1, Soft: 1, Gold: 2, Emitted: 1, Union: 2, Hits: 1, Missing: 1},
		},
		"one too many": {
			`{"city":"Oslo"}`, "", `{"city":"Oslo","days":2}`,
			Tally{Expected: 1, Matched: 1, Soft: 1, Gold: 1, Emitted: 2, Union: 2, Hits: 1, Extra: 1},
		},
		"a default written out": {
			`{"city":"Oslo"}`, "", `{"city":"Oslo","unit":"C"}`,
			Tally{Expected: 1, Matched: 1, Soft: 1, Gold: 2, Emitted: 2, Union: 2, Hits: 2, Notable: true},
		},
		"a default and an extra": {
			`{"city":"Oslo"}`, "", `{"city":"Oslo","unit":"C","days":2}`,
			Tally{Expected: 1, Matched: 1, Soft: 1, Gold: 2, Emitted: 3, Union: 3, Hits: 2, Extra: 1, Notable: true},
		},
		"a default left out": {
			`{"city":"Oslo","unit":"C"}`, "", `{"city":"Oslo"}`,
			Tally{Expected: 2, Matched: 2, Soft: 2, Gold: 2, Emitted: 2, Union: 2, Hits: 2, Notable: true},
		},
		"absent, and it is": {
			`{"city":"Oslo"}`, `{"days":{"mode":"absent"}}`, `{"city":"Oslo"}`,
			Tally{Expected: 2, Matched: 2, Soft: 2, Gold: 1, Emitted: 1, Union: 1, Hits: 1},
		},
		"absent, and it is not": {
			`{"city":"Oslo"}`, `{"days":{"mode":"absent"}}`, `{"city":"Oslo","days":1}`,
			Tally{Expected: 2, Matched: 1, Soft: 1, Gold: 1, Emitted: 2, Union: 2, Hits: 1},
		},
		"optional left out": {
			`{"city":"Oslo","days":2}`, `{"days":{"optional":true}}`, `{"city":"Oslo"}`,
			Tally{Expected: 1, Matched: 1, Soft: 1, Gold: 1, Emitted: 1, Union: 1, Hits: 1},
		},
		"a soft match": {
			`{"city":"colour"}`, `{"city":{"mode":"fuzzy"}}`, `{"city":"colours"}`,
			Tally{Expected: 1, Matched: 1, Soft: 6.0 / 7, Gold: 1, Emitted: 1, Union: 1, Hits: 6.0 / 7, Notable: true},
		},
		"a soft rule, same text": {
			`{"city":"colour"}`, `{"city":{"mode":"fuzzy"}}`, `{"city":"colour"}`,
			Tally{Expected: 1, Matched: 1, Soft: 1, Gold: 1, Emitted: 1, Union: 1, Hits: 1},
		},
		"nothing on both sides": {`{}`, "", `{}`, Tally{}},
		"no arguments":          {`{}`, "", "", Tally{}},
		"a list": {
			`{"city":"Oslo"}`, "", `["Oslo"]`,
			Tally{Expected: 1, Gold: 1, Emitted: 1, Union: 2, Missing: 1, Extra: 1},
		},
	} {
		a := compiled(t, callvet.Scoring{}, nil, tc.args, tc.matchers, unitSchema, "")
		if diff := cmp.Diff(tc.want, a.Tally(mustParse(t, tc.got)), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestMeasures: the shares that are made of a Tally, with their empty cases.
func TestMeasures(t *testing.T) {
	t.Parallel()
	type row struct{ accuracy, nearness, share, precision, recall, f1 float64 }
	for name, tc := range map[string]struct {
		args, got string
		extra     callvet.ExtraArgs
		pass      bool
		want      row
	}{
		"nothing expected, nothing given": {`{}`, `{}`, "", true, row{1, 1, 1, 1, 1, 1}},
		"nothing expected, one given":     {`{}`, `{"days":1}`, "", false, row{1, 0, 0, 0, 0, 0}},
		"one expected, nothing given":     {`{"city":"Oslo"}`, `{}`, "", false, row{0, 0, 0, 0, 0, 0}},
		"one of two, one too many": {
			`{"city":"Oslo","days":2}`, `{"city":"Oslo","x":1}`, callvet.ExtraForbid,
			false,
			row{0.5, 1.0 / 3, 1.0 / 3, 0.5, 0.5, 0.5},
		},
		"the same, extras ignored": {
			`{"city":"Oslo","days":2}`, `{"city":"Oslo","x":1}`, callvet.ExtraIgnore,
			false,
			row{0.5, 0.5, 1.0 / 3, 0.5, 0.5, 0.5},
		},
		"the same, extras penalized": {
			`{"city":"Oslo","days":2}`, `{"city":"Oslo","x":1}`, callvet.ExtraPenalize,
			false,
			row{1.0 / 3, 1.0 / 3, 1.0 / 3, 0.5, 0.5, 0.5},
		},
		"all, extras ignored": {
			`{"city":"Oslo"}`, `{"city":"Oslo","x":1}`, callvet.ExtraIgnore, true,
			row{1, 1, 0.5, 0.5, 1, 2.0 / 3},
		},
		"all, extras penalized": {
			`{"city":"Oslo"}`, `{"city":"Oslo","x":1}`, callvet.ExtraPenalize, true,
			row{0.5, 1, 0.5, 0.5, 1, 2.0 / 3},
		},
	} {
		a := compiled(t, callvet.Scoring{}, nil, tc.args, "", unitSchema, tc.extra)
		c := a.Tally(mustParse(t, tc.got))
		got := row{a.Accuracy(&c), a.Nearness(&c), c.KeyShare(), c.Precision(), c.Recall(), c.F1()}
		if got != tc.want || a.Pass(&c) != tc.pass {
			t.Errorf("%s: pass %v, %+v, want %+v", name, a.Pass(&c), got, tc.want)
		}
	}
	// Subset of a whole case asks for no more than was written, unless set otherwise.
	for extra, pass := range map[callvet.ExtraArgs]bool{"": true, callvet.ExtraForbid: false} {
		a := compiled(t, callvet.Scoring{Mode: ModeSubset}, nil, `{"a":1}`, "", "", extra)
		if c := a.Tally(mustParse(t, `{"a":1,"b":2}`)); a.Pass(&c) != pass {
			t.Errorf("subset with extra_args %q: pass = %v", extra, !pass)
		}
	}
}

// TestDiffNotes: the notes on an expected value.
func TestDiffNotes(t *testing.T) {
	t.Parallel()
	type d = callvet.ArgDiff
	f := func(x float64) *float64 { return &x }
	j := func(s string) json.RawMessage { return json.RawMessage(s) }
	for name, tc := range map[string]struct {
		mode, args, matchers, schema, got string
		extra                             callvet.ExtraArgs
		want                              []d
	}{
		"no object": {
			"", `{"a":1}`, "", "", `[1]`, "",
			[]d{{Actual: j(`[1]`), Rule: "type", Note: "the arguments are a JSON array, not an object"}},
		},
		"null": {
			"", `{"a":1}`, "", "", `null`, "",
			[]d{{Path: "a", Expected: j(`1`), Rule: "exact", Note: "missing"}},
		},
		"right": {
			"", `{"a":1}`, "", "", `{"a":1}`, "",
			[]d{{Path: "a", Expected: j(`1`), Actual: j(`1`), Matched: true, Rule: "exact"}},
		},
		"rounding": {
			"", `{"a":0.3}`, "", "", `{"a":0.30000000000000004}`, "",
			[]d{{
				Path: "a", Expected: j(`0.3`), Actual: j(`0.30000000000000004`), Matched: true, Rule: "exact",
				Note: "equal within float64 rounding",
			}},
		},
		"another type": {
			"", `{"a":1}`, "", "", `{"a":"1"}`, "",
			[]d{{Path: "a", Expected: j(`1`), Actual: j(`"1"`), Rule: "exact", Note: "a string, not a number"}},
		},
		"another value": {
			"", `{"a":1}`, "", "", `{"a":2}`, "",
			[]d{{Path: "a", Expected: j(`1`), Actual: j(`2`), Rule: "exact"}},
		},
		"another case": {
			"case_insensitive", `{"a":"x"}`, "", "", `{"a":5}`, "",
			[]d{{
				Path: "a", Expected: j(`"x"`), Actual: j(`5`), Rule: "case_insensitive",
				Note: "a number, not a string",
			}},
		},
		"no such text": {
			"contains", `{"a":"x"}`, "", "", `{"a":5}`, "",
			[]d{{Path: "a", Expected: j(`"x"`), Actual: j(`5`), Rule: "contains"}},
		},
		"literal": {
			"", `{"a":"x"}`, "", `{"properties":{"a":{"pattern":"."}}}`, `{"a":"X"}`, "",
			[]d{{
				Path: "a", Expected: j(`"x"`), Actual: j(`"X"`), Rule: "exact",
				Note: "the schema makes the spelling matter, by a pattern, a format or an enum of values that differ in it only",
			}},
		},
		"literal, other": {
			"", `{"a":"x"}`, "", `{"properties":{"a":{"pattern":"."}}}`, `{"a":"Y"}`, "",
			[]d{{Path: "a", Expected: j(`"x"`), Actual: j(`"Y"`), Rule: "exact"}},
		},
		"strict": {
			"strict", `{"a":"x"}`, "", "", `{"a":"X"}`, "",
			[]d{{Path: "a", Expected: j(`"x"`), Actual: j(`"X"`), Rule: "strict"}},
		},
		"left out": {
			"", `{"a":1,"b":2,"c":3}`, `{"a":{"optional":true}}`, `{"properties":{"b":{"default":2}}}`,
			`{}`, "",
			[]d{
				{Path: "a", Expected: j(`1`), Matched: true, Rule: "exact", Note: "optional, left out"},
				{
					Path: "b", Expected: j(`2`), Matched: true, Rule: "exact",
					Note: "left out; the schema's default is the expected value",
				},
				{Path: "c", Expected: j(`3`), Rule: "exact", Note: "missing"},
			},
		},
		"absent": {"", `{}`, `{"a":{"mode":"absent"},"b":{"mode":"absent"}}`, "", `{"b":1}`, "", []d{
			{Path: "a", Matched: true, Rule: "absent"},
			{Path: "b", Actual: j(`1`), Rule: "absent", Note: "must be absent"},
		}},
		"any_of": {
			"", `{}`, `{"a":{"mode":"any_of","value":[1,2]},"b":{"mode":"any_of","value":[1,2]}}`, "",
			`{"a":2,"b":3}`, "",
			[]d{
				{
					Path: "a", Expected: j(`[1,2]`), Actual: j(`2`), Matched: true, Rule: "any_of",
					Note: "one of the acceptable values",
				},
				{Path: "b", Expected: j(`[1,2]`), Actual: j(`3`), Rule: "any_of"},
			},
		},
		"similar": {
			"fuzzy", `{"a":"colour","b":100,"c":["colour",true]}`, "", "",
			`{"a":"colours","b":50,"c":["colours",true]}`, "",
			[]d{
				{
					Path: "a", Expected: j(`"colour"`), Actual: j(`"colours"`), Matched: true, Rule: "fuzzy",
					Similarity: f(6.0 / 7), Note: "threshold 0.85",
				},
				{Path: "b", Expected: j(`100`), Actual: j(`50`), Rule: "fuzzy", Similarity: f(0.5)},
				{
					Path: "c", Expected: j(`["colour",true]`), Actual: j(`["colours",true]`), Matched: true, Rule: "fuzzy",
					Similarity: f((6.0/7 + 1) / 2),
				},
			},
		},
		"all of a list": {
			"fuzzy", `{"a":["x"]}`, "", "", `{"a":["x"]}`, "",
			[]d{{Path: "a", Expected: j(`["x"]`), Actual: j(`["x"]`), Matched: true, Rule: "fuzzy"}},
		},
		"none of a list": {
			"fuzzy", `{"a":["x"]}`, "", "", `{"a":7}`, "",
			[]d{{Path: "a", Expected: j(`["x"]`), Actual: j(`7`), Rule: "fuzzy"}},
		},
		"half of a list": {
			"unordered", `{"a":[1,2]}`, "", "", `{"a":[1,3]}`, "",
			[]d{{Path: "a", Expected: j(`[1,2]`), Actual: j(`[1,3]`), Rule: "unordered"}},
		},
		"deep": {
			"", `{"o":{"x":1,"y":[1,2],"z":0,"w":1}}`, `{"o.z":{"optional":true}}`, "",
			`{"o":{"x":2,"y":[1,3],"u":5,"w":1}}`, "",
			[]d{
				{Path: "o.x", Expected: j(`1`), Actual: j(`2`), Rule: "exact"},
				{Path: "o.y[1]", Expected: j(`2`), Actual: j(`3`), Rule: "exact"},
				{Path: "o.u", Actual: j(`5`), Rule: "extra_args", Note: "not expected"},
			},
		},
		"an object for a number": {
			"", `{"a":1}`, "", "", `{"a":{"b":1}}`, "",
			[]d{{Path: "a", Expected: j(`1`), Actual: j(`{"b":1}`), Rule: "exact", Note: "a object, not a number"}},
		},
		"a number for an object": {
			"", `{"a":{"b":1}}`, "", "", `{"a":1}`, "",
			[]d{{Path: "a", Expected: j(`{"b":1}`), Actual: j(`1`), Rule: "exact"}},
		},
		"a number for a list": {
			"", `{"a":[1]}`, "", "", `{"a":1}`, "",
			[]d{{Path: "a", Expected: j(`[1]`), Actual: j(`1`), Rule: "exact"}},
		},
		"a longer list": {
			"", `{"a":[1]}`, "", "", `{"a":[1,2]}`, "",
			[]d{{Path: "a", Expected: j(`[1]`), Actual: j(`[1,2]`), Rule: "exact"}},
		},
		"extras ignored": {
			"", `{}`, "", `{"properties":{"u":{"default":1}}}`, `{"u":1,"v":2}`,
			callvet.ExtraIgnore,
			[]d{
				{
					Path: "u", Actual: j(`1`), Matched: true, Rule: "extra_args",
					Note: "not expected, but the schema's default",
				},
				{
					Path: "v", Actual: j(`2`), Matched: true, Rule: "extra_args",
					Note: "not expected; extra arguments are ignored",
				},
			},
		},
		"extras penalized": {
			"", `{}`, "", "", `{"v":2}`, callvet.ExtraPenalize,
			[]d{{
				Path: "v", Actual: j(`2`), Matched: true, Rule: "extra_args",
				Note: "not expected; extra arguments lower the score",
			}},
		},
	} {
		a := compiled(t, callvet.Scoring{Mode: tc.mode}, nil, tc.args, tc.matchers, tc.schema, tc.extra)
		if diff := cmp.Diff(tc.want, a.Diff(mustParse(t, tc.got)), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestSimilarityOfParts: what one parameter is worth, with the similarity of its parts.
func TestSimilarityOfParts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		mode, want, matchers, schema, got string
		ok                                bool
		sim                               float64
	}{
		"a member is missing": {"", `{"a":1,"b":2}`, "", "", `{"a":1}`, false, 0.5},
		"a member too many":   {"", `{"a":1}`, "", "", `{"a":1,"b":2,"c":3}`, false, 1.0 / 3},
		"a default written out": {
			"", `{"a":1}`, "", `{"properties":{"b":{"default":2}}}`,
			`{"a":1,"b":2}`, true, 1,
		},
		"a default and one too many": {
			"", `{"a":1}`, "", `{"properties":{"b":{"default":2}}}`,
			`{"a":1,"b":2,"c":3}`, false, 0.5,
		},
		"a default left out": {
			"", `{"a":1,"b":2}`, "", `{"properties":{"b":{"default":2}}}`,
			`{"a":1}`, true, 1,
		},
		"absent":            {"", `{"a":1}`, `{"k.b":{"mode":"absent"}}`, "", `{"a":2}`, false, 0},
		"absent, and it is": {"", `{"a":1}`, `{"k.b":{"mode":"absent"}}`, "", `{"a":1}`, true, 1},
		"no members":        {"", `{}`, "", "", `{}`, true, 1},
		"half of a list":    {"", `[1,2]`, "", "", `[1,3]`, false, 0.5},
		"a longer list":     {"", `[1]`, "", "", `[1,2]`, false, 0.5},
		"a shorter list":    {"", `[1,2]`, "", "", `[1]`, false, 0.5},
		"some of a subset":  {"subset", `[1,2]`, "", "", `[2,3,4]`, false, 0.5},
		"some in any order": {"unordered", `[1,2]`, "", "", `[3,2,1]`, false, 2.0 / 3},
		"each takes another": {
			"unordered", `["a","ab"]`, `{"k[0]":{"mode":"any_of","value":["a","ab"]}}`,
			"", `["ab","a"]`, true, 1,
		},
		"the best of several": {
			"fuzzy", `"x"`,
			`{"k":{"mode":"any_of","value":["colours","colourss","colour"]}}`, "", `"colour"`, true, 1,
		},
		"the best of several, first": {
			"fuzzy", `"x"`, `{"k":{"mode":"any_of","value":["coloursx","colours"]}}`, "",
			`"colours"`, true, 1,
		},
		"the better of two soft ones": {
			"fuzzy", `"x"`,
			`{"k":{"mode":"any_of","value":["internationall","internationals!"]}}`, "", `"international"`,
			true, 13.0 / 14,
		},
		"the better comes second": {
			"fuzzy", `"x"`,
			`{"k":{"mode":"any_of","value":["internationals!","internationall"]}}`, "", `"international"`,
			true, 13.0 / 14,
		},
		"a number at the threshold":    {"", `4`, `{"k":{"mode":"fuzzy","threshold":0.5}}`, "", `2`, true, 0.5},
		"a number below the threshold": {"", `4`, `{"k":{"mode":"fuzzy","threshold":0.5}}`, "", `1.9`, false, 0.475},
		"the nearest of those that are": {
			"fuzzy", `"x"`, `{"k":{"mode":"any_of","value":["axxx","abxx"]}}`, "",
			`"abcd"`, false, 0.5,
		},
	} {
		schema := tc.schema
		if schema != "" {
			schema = `{"properties":{"k":` + schema + `}}`
		}
		a := compiled(t, callvet.Scoring{Mode: tc.mode}, nil, `{"k":`+tc.want+`}`, tc.matchers, schema, "")
		if ok, sim := a.root.members[0].rule.Match(mustParse(t, tc.got)); ok != tc.ok || math.Abs(sim-tc.sim) > 1e-12 {
			t.Errorf("%s: %v %v, want %v %v", name, ok, sim, tc.ok, tc.sim)
		}
	}
}

// TestPlaces: matchers and schemas speak of single elements.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args, matchers, schema, got string
		pass                        bool
	}{
		"an index without a list":          {"", `{"l[1]":{"value":5}}`, "", `{"l":[9,5,7]}`, true},
		"an index without a list, wrong":   {"", `{"l[1]":{"value":5}}`, "", `{"l":[5,9]}`, false},
		"an index without a list, too few": {"", `{"l[1]":{"value":5}}`, "", `{"l":[5]}`, false},
		"the first without a list":         {"", `{"l[0]":{"value":5}}`, "", `{"l":[5,6]}`, true},
		"each of one":                      {"", `{"l[]":{"value":5}}`, "", `{"l":[5]}`, true},
		"each of none":                     {"", `{"l[]":{"value":5}}`, "", `{"l":[]}`, true},
		"each and one": {
			"", `{"l[]":{"mode":"type","value":"number"},"l[1]":{"value":5}}`, "",
			`{"l":[1,5]}`, true,
		},
		"each and one, another type": {
			"", `{"l[]":{"mode":"type","value":"number"},"l[1]":{"value":5}}`, "",
			`{"l":["1",5]}`, false,
		},
		"one of a list":       {`{"l":[1,2]}`, `{"l[1]":{"mode":"present"}}`, "", `{"l":[1,9]}`, true},
		"the other of a list": {`{"l":[1,2]}`, `{"l[1]":{"mode":"present"}}`, "", `{"l":[9,2]}`, false},
		"the schema of the second": {
			`{"l":["a","b"]}`, "",
			`{"properties":{"l":{"prefixItems":[{},{"pattern":"b"}]}}}`, `{"l":["A","B"]}`, false,
		},
		"the schema of the first": {
			`{"l":["a","b"]}`, "",
			`{"properties":{"l":{"prefixItems":[{"pattern":"a"},{}]}}}`, `{"l":["a","B"]}`, true,
		},
		"the schema of the rest": {
			`{"l":["a","b"]}`, "",
			`{"properties":{"l":{"prefixItems":[{}],"items":{"pattern":"b"}}}}`, `{"l":["A","B"]}`, false,
		},
		"items as a list": {
			`{"l":["a","b"]}`, "",
			`{"properties":{"l":{"items":[{"pattern":"a"}],"additionalItems":{}}}}`, `{"l":["a","B"]}`, true,
		},
		"additional items": {
			`{"l":["a","b"]}`, "",
			`{"properties":{"l":{"items":[{}],"additionalItems":{"pattern":"b"}}}}`, `{"l":["a","B"]}`, false,
		},
		"a reference into a list": {
			`{"a":"x"}`, "",
			`{"properties":{"a":{"$ref":"#/anyOf/1"}},"anyOf":[{},{"pattern":"x"}]}`, `{"a":"X"}`, false,
		},
		"a reference to the first": {
			`{"a":"x"}`, "",
			`{"properties":{"a":{"$ref":"#/anyOf/0"}},"anyOf":[{"pattern":"x"},{}]}`, `{"a":"X"}`, false,
		},
		"a reference below a list": {
			`{"a":"x"}`, "",
			`{"properties":{"a":{"$ref":"#/anyOf/-1"}},"anyOf":[{"pattern":"x"}]}`, `{"a":"X"}`, true,
		},
		"a reference beyond a list": {
			`{"a":"x"}`, "",
			`{"properties":{"a":{"$ref":"#/anyOf/1"}},"anyOf":[{"pattern":"x"}]}`, `{"a":"X"}`, true,
		},
		"a reference to no number": {
			`{"a":"x"}`, "",
			`{"properties":{"a":{"$ref":"#/anyOf/x"}},"anyOf":[{"pattern":"x"}]}`, `{"a":"X"}`, true,
		},
		"an enum that is none":          {`{"a":"x"}`, "", `{"properties":{"a":{"enum":"x"}}}`, `{"a":"X"}`, true},
		"a missing member of an object": {`{"o":{"a":1,"b":2}}`, "", "", `{"o":{"a":1}}`, false},
		"a member too many":             {`{"o":{"a":1}}`, "", "", `{"o":{"a":1,"b":2}}`, false},
		"a list of numbers one by one":  {`{"l":[1,2,3]}`, "", "", `{"l":[1,2,4]}`, false},
		"a default in an object in a list": {
			`{"l":[{"a":1}]}`, "",
			`{"properties":{"l":{"items":{"properties":{"b":{"default":2}}}}}}`, `{"l":[{"a":1,"b":2}]}`, true,
		},
		"no default in an object in a list": {
			`{"l":[{"a":1}]}`, "",
			`{"properties":{"l":{"items":{"properties":{"b":{"default":2}}}}}}`, `{"l":[{"a":1,"b":3}]}`, false,
		},
	} {
		a := compiled(t, callvet.Scoring{}, nil, tc.args, tc.matchers, tc.schema, "")
		if c := a.Tally(mustParse(t, tc.got)); a.Pass(&c) != tc.pass {
			t.Errorf("%s: pass = %v", name, !tc.pass)
		}
	}
}

// TestAnyOfForWholeCases: in mode any_of a list holds the acceptable values, one level deep, and an
// empty list is a list.
func TestAnyOfForWholeCases(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		want, got string
		ok        bool
	}{
		{`[["a","b"],"c"]`, `["A","b"]`, true},
		{`[["a","b"],"c"]`, `"c"`, true},
		{`[["a","b"],"c"]`, `"a"`, false},
		{`[]`, `[]`, true},
		{`[]`, `"a"`, false},
	} {
		a := compiled(t, callvet.Scoring{Mode: ModeAnyOf}, nil, `{"k":`+tc.want+`}`, "", "", "")
		if c := a.Tally(mustParse(t, `{"k":`+tc.got+`}`)); a.Pass(&c) != tc.ok {
			t.Errorf("%s for %s: pass = %v", tc.got, tc.want, !tc.ok)
		}
	}
}

// TestDates reads the spellings of ISO 8601; the first and last weeks and days of a year belong.
func TestDates(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"2026-W01-1":               "2025-12-29T00:00:00Z",
		"2026w011":                 "2025-12-29T00:00:00Z",
		"2026-W53-7":               "2027-01-03T00:00:00Z",
		"2024-W09-4":               "2024-02-29T00:00:00Z",
		"2026-001":                 "2026-01-01T00:00:00Z",
		"2026-05-01T10":            "2026-05-01T10:00:00Z",
		"20260501T1030":            "2026-05-01T10:30:00Z",
		"20260501t103015z":         "2026-05-01T10:30:15Z",
		"2026-05-01 10:30:15,5":    "2026-05-01T10:30:15.5Z",
		"2026-05-01T10:30 +02:00":  "2026-05-01T08:30:00Z",
		"2026-05-01T10:30:00-0530": "2026-05-01T16:00:00Z",
		"2026-05-01T24:00":         "2026-05-02T00:00:00Z",
		" 2026-05-01 ":             "2026-05-01T00:00:00Z",
		"2026-W00-1":               "",
		"2026-W54-1":               "",
		"2025-W53-1":               "",
		"2026-W18-0":               "",
		"2026-W18-8":               "",
		"2026-X18-5":               "",
		"20x6-W18-5":               "",
		"2026-W1x-5":               "",
		"2026-05-01T":              "",
		"T10:00:00":                "",
		"2026-05-01T25:00":         "",
		"2026-13-01":               "",
		"2026-05":                  "",
		"tomorrow":                 "",
		"2026-05-01T10:00:00." + strings.Repeat("0", 27) + "Z":  "2026-05-01T10:00:00Z",
		"2026-05-01T10:00:00." + strings.Repeat("0", 28) + "Z":  "",
		"2026-05-01T10:00:00." + strings.Repeat("0", 200) + "Z": "",
	} {
		m, ok := parseMoment(s)
		got := ""
		if ok {
			got = m.at.Format("2006-01-02T15:04:05.999999999Z07:00")
		}
		if got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

// TestLimits: the ends of the settings, which belong or do not.
func TestLimits(t *testing.T) {
	t.Parallel()
	f := func(x float64) *float64 { return &x }
	for name, tc := range map[string]struct {
		m  callvet.Matcher
		ok bool
	}{
		"epsilon 0":              {callvet.Matcher{Epsilon: f(0)}, true},
		"epsilon 1e308":          {callvet.Matcher{Epsilon: f(1e308)}, true},
		"epsilon without end":    {callvet.Matcher{Epsilon: f(math.Inf(1))}, false},
		"epsilon below 0":        {callvet.Matcher{Epsilon: f(-1e-9)}, false},
		"relative 0":             {callvet.Matcher{Relative: f(0)}, true},
		"relative 1":             {callvet.Matcher{Relative: f(1)}, false},
		"relative below 0":       {callvet.Matcher{Relative: f(-0.1)}, false},
		"threshold 0":            {callvet.Matcher{Threshold: f(0)}, false},
		"threshold 1":            {callvet.Matcher{Threshold: f(1)}, true},
		"threshold above 1":      {callvet.Matcher{Threshold: f(1.01)}, false},
		"tolerance 0s":           {callvet.Matcher{Tolerance: "0s"}, true},
		"tolerance 0d":           {callvet.Matcher{Tolerance: "0d"}, true},
		"tolerance 2d":           {callvet.Matcher{Tolerance: "2d"}, true},
		"tolerance 100 years":    {callvet.Matcher{Tolerance: "36500d"}, true},
		"tolerance beyond":       {callvet.Matcher{Tolerance: "36501d"}, false},
		"tolerance below 0 days": {callvet.Matcher{Tolerance: "-1d"}, false},
		"tolerance below 0":      {callvet.Matcher{Tolerance: "-1s"}, false},
		"tolerance of no unit":   {callvet.Matcher{Tolerance: "xd"}, false},
	} {
		set, _ := FromScoring(&callvet.Scoring{}, nil)
		if ps := set.overlay(tc.m, "k"); len(ps) == 0 != tc.ok {
			t.Errorf("%s: %v", name, ps)
		}
	}
	if d, err := parseTolerance("2d"); err != nil || d.Hours() != 48 {
		t.Error(d, err)
	}
}

// TestNumbersAtTheEdge: both ends of a tolerance belong to it, to the last decimal.
func TestNumbersAtTheEdge(t *testing.T) {
	t.Parallel()
	next := func(x float64, steps int) string {
		for range steps {
			x = math.Nextafter(x, 10)
		}
		b, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, tc := range []struct {
		want, got         string
		epsilon, relative float64
		ok                bool
	}{
		{"1", "1.25", 0.25, 0, true},
		{"1", "0.75", 0.25, 0, true},
		{"1", "1.2500000000000000001", 0.25, 0, false},
		{"4", "5", 0, 0.25, true},
		{"4", "3", 0, 0.25, true},
		{"4", "5.000000000000000001", 0, 0.25, false},
		{"-4", "-5", 0, 0.25, true},
		{"0", "0.5", 0.25, 0.25, false},
		{"0.1", "0.3", 0.2, 0, true},
		{"1", "3", 1, 0.5, false},
		{"1e400", "1e401", 1, 0.5, false},
		{"1e400", "10e399", 0, 0, true},
	} {
		if got := within([]byte(tc.want), []byte(tc.got), tc.epsilon, tc.relative); got != tc.ok {
			t.Errorf("|%s - %s| within %v or %v: %v", tc.want, tc.got, tc.epsilon, tc.relative, got)
		}
	}
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{"1.5", next(1.5, 4), true},
		{next(1.5, 4), "1.5", true},
		{"1.5", next(1.5, 5), false},
		{"1e-310", "-1e-310", false},
		{"0.0", "4e-324", false},
		{"5", "5.0", true},
		{"1e400", "1e400", true},
		{"1.5e400", "2.5e400", false},
	} {
		if got := sameNumber(mustParse(t, tc.a), mustParse(t, tc.b)); got != tc.same {
			t.Errorf("%s and %s: %v", tc.a, tc.b, got)
		}
	}
	for lit, ok := range map[string]bool{
		"0": true, "1.5": true, "x": false, "1e999": false,
		"0." + strings.Repeat("0", 398): true, "0." + strings.Repeat("0", 399): false,
		"1." + strings.Repeat("0", 4094): true, "1." + strings.Repeat("0", 4095): false,
	} {
		if _, got := rational(lit); got != ok {
			t.Errorf("%.20s… of %d: %v", lit, len(lit), got)
		}
	}
	for lit, ok := range map[string]bool{
		`5`: true, `"5"`: true, `""`: false, `" 5"`: false, `"1_000"`: false, `true`: false,
		`"` + strings.Repeat("1", 4096) + `"`: true, `"` + strings.Repeat("1", 4097) + `"`: false,
	} {
		if _, _, got := numberText(mustParse(t, lit)); got != ok {
			t.Errorf("%.20s… of %d: %v", lit, len(lit), got)
		}
	}
	for _, tc := range []struct {
		a, b string
		want float64
	}{
		{"4", "3", 0.75},
		{"3", "4", 0.75},
		{"-4", "-3", 0.75},
		{"1", "-1", 0},
		{"0", "1", 0},
		{"0", "0.0", 1},
		{"1e308", "-1e308", 0},
	} {
		if got := numberSimilarity(mustParse(t, tc.a), mustParse(t, tc.b)); got != tc.want {
			t.Errorf("similarity of %s and %s: %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}

// distance is the definition: the fewest characters to put in, take out or change.
func distance(a, b []rune) int {
	switch {
	case len(a) == 0:
		return len(b)
	case len(b) == 0:
		return len(a)
	case a[0] == b[0]:
		return distance(a[1:], b[1:])
	}
	return 1 + min(distance(a[1:], b), distance(a, b[1:]), distance(a[1:], b[1:]))
}

func TestTextSimilarity(t *testing.T) {
	t.Parallel()
	words := []string{"", "a", "b", "ab", "ba", "abc", "cab", "acb", "xyz", "aab", "abbc", "éa"}
	for _, x := range words {
		for _, y := range words {
			if got, want := levenshtein([]rune(x), []rune(y)), distance([]rune(x), []rune(y)); got != want {
				t.Errorf("%q to %q: %d, want %d", x, y, got, want)
			}
		}
	}
	long := strings.Repeat("x", maxFuzzy-1)
	many := strings.Repeat("ab ", maxFuzzy/2)
	for _, tc := range []struct {
		a, b string
		want float64
	}{
		{"", "", 1},
		{"", "a", 0},
		{"kitten", "sitting", 1 - 3.0/7},
		{"york new", "new york", 1},
		{"new new york", "york new", 1},
		{"paris", "paris texas", 5.0 / 11},
		{"éa", "éb", 0.5},
		{long + "a", long + "b", 1 - 1.0/maxFuzzy},
		{long + "aa", long + "bb", 0},
		{long + "a", long + "bb", 0},
		{"...", "???", 0},
		{many + "cc", many + "dd", 1 - 2.0/5},
	} {
		if got := TextSimilarity([]byte(tc.a), []byte(tc.b)); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%.20q and %.20q: %v, want %v", tc.a, tc.b, got, tc.want)
		}
		if got := TextSimilarity([]byte(tc.b), []byte(tc.a)); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%.20q and %.20q, the other way: %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
	for _, tail := range [][2]string{{"a", "b"}, {"a", "bb"}, {"aa", "b"}} {
		want := 1 - 1.0/maxFuzzy
		if len(tail[0])+len(tail[1]) > 2 {
			want = 0 // as words: they share none
		}
		if got := tokenSetRatio([]byte(long+tail[0]), []byte(long+tail[1])); got != want {
			t.Errorf("words of %d and %d bytes: %v, want %v", len(long+tail[0]), len(long+tail[1]), got, want)
		}
	}
	// Long lists of words are compared word by word: 3 in both, 5 in all.
	var x, y []string
	for i := range 400 {
		x, y = append(x, "word"+strings.Repeat("a", i%7)+string(rune('a'+i%26))),
			append(y, "word"+strings.Repeat("b", i%7)+string(rune('a'+i%26)))
	}
	a, b := tokens([]byte(strings.Join(x, " "))), tokens([]byte(strings.Join(y, " ")))
	both := map[string]int{}
	for _, w := range append(a, b...) {
		both[w]++
	}
	n := 0
	for _, c := range both {
		if c == 2 {
			n++
		}
	}
	if got := jaccard(tokens([]byte(strings.Join(x, " "))), b); n == 0 || got != float64(n)/float64(len(both)) {
		t.Errorf("%v of %d words in both of %d", got, n, len(both))
	}
	if got := tokenSetRatio([]byte(strings.Join(x, " ")),
		[]byte(strings.Join(y, " "))); len(strings.Join(a, " ")) > maxFuzzy && got != float64(n)/float64(len(both)) {
		t.Errorf("%v for texts of many words", got)
	}
}

// TestFoldsTo: foldsTo is Fold and compare, without memory for ASCII.
func TestFoldsTo(t *testing.T) {
	t.Parallel()
	parts := []string{"", "a", "B", " ", "\t", "\r", "é", "\u0301", "\u00a0", "\x80", "~"}
	var texts []string
	for _, a := range parts {
		for _, b := range parts {
			for _, c := range parts {
				texts = append(texts, a+b+c)
			}
		}
	}
	folded := map[string]bool{}
	for _, s := range texts {
		f := string(Fold(nil, []byte(s)))
		folded[f] = true
		if got := string(Fold([]byte("x"), []byte(s))); got != "x"+f {
			t.Fatalf("%q appended to x is %q", s, got)
		}
		if strings.TrimSpace(f) != f {
			t.Fatalf("%q folds to %q", s, f)
		}
	}
	for _, s := range texts {
		f := Fold(nil, []byte(s))
		for other := range folded {
			if got, want := foldsTo([]byte(s), []byte(other)), bytes.Equal(f, []byte(other)); got != want {
				t.Fatalf("%q folds to %q: %v", s, other, got)
			}
		}
	}
	for c := range 256 {
		if want := c < 0x80 && strings.ContainsRune(" \t\n\v\f\r", rune(c)); asciiSpace(byte(c)) != want {
			t.Errorf("asciiSpace(%q) = %v", rune(c), !want)
		}
	}
}

// TestExamples: arguments that an example target answers with. What cannot be derived is reported.
func TestExamples(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args, matchers, want string
	}{
		"values": {
			`{"a":1,"b":[1,"x",[]],"c":{"d":null}}`, "",
			`{"a":1,"b":[1,"x",[]],"c":{"d":null}}`,
		},
		"nothing":      {`{}`, "", `{}`},
		"absent":       {`{"a":1}`, `{"b":{"mode":"absent"}}`, `{"a":1}`},
		"absent first": {`{"b":1}`, `{"b":{"mode":"absent"},"c":{"value":2}}`, `{"c":2}`},
		"any_of":       {`{}`, `{"a":{"mode":"any_of","value":["x","y"]}}`, `{"a":"x"}`},
		"a type of few values": {
			`{}`,
			`{"a":{"mode":"type","value":"null"},"b":{"mode":"type","value":"boolean"},"c":{"mode":"type","value":["boolean","null"]}}`, `{"a":null,"b":true,"c":null}`,
		},
		"a type of many":          {`{}`, `{"a":{"mode":"type","value":"string"}}`, ""},
		"a pattern":               {`{}`, `{"a":{"mode":"regex","value":"[0-9]+"}}`, ""},
		"a pattern, optional":     {`{"a":1}`, `{"b":{"mode":"regex","value":"[0-9]+","optional":true}}`, `{"a":1}`},
		"a pattern in a list":     {`{"l":[1,2]}`, `{"l[1]":{"mode":"regex","value":"[0-9]+"}}`, ""},
		"a pattern matching self": {`{}`, `{"a":{"mode":"regex","value":"abc"}}`, `{"a":"abc"}`},
	} {
		a := compiled(t, callvet.Scoring{}, nil, tc.args, tc.matchers, "", "")
		got, ok := a.Example()
		if ok != (tc.want != "") || ok && string(got) != tc.want {
			t.Errorf("%s: %s %v, want %s", name, got, ok, tc.want)
		}
		if !ok {
			continue
		}
		if c := a.Tally(mustParse(t, string(got))); !a.Pass(&c) {
			t.Errorf("%s: %s does not pass", name, got)
		}
	}
}

// TestSemantic: the embedder's answer is a share; what is none is no similarity.
func TestSemantic(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sim  float64
		err  error
		ok   bool
		want float64
		note string
	}{
		"at the threshold":    {0.85, nil, true, 0.85, "threshold 0.85, by e"},
		"below":               {0.84, nil, false, 0.84, "threshold 0.85, by e"},
		"nothing in common":   {0, nil, false, 0, "threshold 0.85, by e"},
		"opposite":            {-1, nil, false, 0, "threshold 0.85, by e"},
		"rounded above 1":     {1.0000001, nil, true, 1, "threshold 0.85, by e"},
		"no number":           {math.NaN(), nil, false, 0, "threshold 0.85, by e"},
		"the embedder failed": {0.9, errors.New("no such model"), false, 0, "similarity unknown: no such model"},
	} {
		sim := func(string, string) (float64, string, error) { return tc.sim, "e", tc.err }
		a := compiled(t, callvet.Scoring{Mode: ModeSemantic}, sim, `{"q":"car"}`, "", "", "")
		v := mustParse(t, `{"q":"tram"}`)
		d := a.Diff(v)[0]
		if ok, got := a.root.members[0].rule.Match(mustParse(t, `"tram"`)); ok != tc.ok || got != tc.want ||
			d.Note != tc.note || d.Matched != tc.ok || *d.Similarity != tc.want {
			t.Errorf("%s: %v %v %+v", name, ok, got, d)
		}
	}
}
