// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

func mustParse(t testing.TB, s string) value.Value {
	t.Helper()
	if s == "" {
		return value.Value{}
	}
	v, err := value.Parse([]byte(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

func TestModes(t *testing.T) {
	t.Parallel()
	type c struct {
		mode, want, got string
		ok              bool
	}
	f := func(p float64) *float64 { return &p }
	for _, tc := range []struct {
		set   callvet.Scoring
		cases []c
	}{
		{callvet.Scoring{}, []c{
			{"exact", `"San Francisco"`, `" san\tfrancisco "`, true},
			{"exact", `"ﬁ CAFÉ"`, `"fi cafe\u0301"`, true},
			{"exact", `"straße"`, `"STRASSE"`, true},
			{"exact", `"a b"`, `"ab"`, false},
			{"exact", `"ab"`, `"a b"`, false},
			{"exact", `"Å"`, `"A\u030a"`, true},
			{"exact", `"A"`, `"A\u030a"`, false},
			{"exact", `""`, `"  "`, true},
			{"exact", `5`, `5.0`, true},
			{"exact", `5`, `"5"`, false},
			{"exact", `true`, `1`, false},
			{"exact", `null`, `null`, true},
			{"exact", `9007199254740993`, `9007199254740992`, false},
			{"exact", `0.3`, `0.30000000000000004`, true},
			{"exact", `1e-7`, `9e-7`, false},
			{"exact", `{"a":{"b":[1,"X"]}}`, `{"a":{"b":[1.0,"x"]}}`, true},
			{"exact", `{"a":1}`, `{"a":1,"b":2}`, false},
			{"exact", `[1,2]`, `[2,1]`, false},
			{"strict", `"A"`, `"a"`, false},
			{"strict", `["A"]`, `["A"]`, true},
			{"case_insensitive", `"Ab"`, `"aB"`, true},
			{"case_insensitive", `"Ab"`, `" aB"`, false},
			{"case_insensitive", `["Ab"]`, `["aB"]`, true},
			{"contains", `"Paris"`, `"paris, France"`, true},
			{"contains", `"Paris, France"`, `"paris"`, true},
			{"contains", `"x"`, `""`, false},
			{"contains", `""`, `"x"`, false},
			{"contains", `""`, `""`, true},
			{"contains", `12`, `120`, false},
			{"fuzzy", `"New York"`, `"new yrok"`, false},
			{"fuzzy", `"international"`, `"internationl"`, true},
			{"fuzzy", `"york new"`, `"New York"`, true},
			{"fuzzy", `100`, `99`, true},
			{"fuzzy", `100`, `50`, false},
			{"fuzzy", `0`, `1`, false},
			{"fuzzy", `1e308`, `-1e308`, false},
			{"fuzzy", `{"a":"colour","b":true}`, `{"a":"colours","b":false}`, false},
			{"fuzzy", `{"a":"colour","b":true}`, `{"a":"colours","b":true}`, true},
			{"numeric_tolerance", `40.72`, `40.71`, true},
			{"numeric_tolerance", `40.7201`, `40.71`, false},
			{"numeric_tolerance", `"1.00"`, `"1.005"`, true},
			{"numeric_tolerance", `"1"`, `1`, false},
			{"numeric_tolerance", `"abc"`, `"ABC"`, true},
			{"numeric_tolerance", `"1000"`, `"1_000"`, false},
			{"numeric_tolerance", `9007199254740993`, `9007199254740992`, false},
			{"numeric_tolerance", `"nan"`, `"nan"`, true},
			{"date", `"2026-05-01"`, `"20260501"`, true},
			{"date", `"2026-05-01"`, `"2026-05-01T23:00:00-05:00"`, true},
			{"date", `"2026-05-01T10:00:00Z"`, `"2026-05-01T12:00+02:00"`, true},
			{"date", `"2026-05-01T10:00:00Z"`, `"2026-05-01"`, false},
			{"date", `"2026-05-01"`, `"2026-W18-5"`, true},
			{"date", `"2026-05-01"`, `"2026-121"`, true},
			{"date", `"2026-05-01T10:00:00"`, `"2026-05-01 10:00:00.000"`, true},
			{"date", `"2026-05-01"`, `"2026-05-02"`, false},
			{"date", `"2026-05-02"`, `"2026-05-01T24:00:00Z"`, true},
			{"date", `"tomorrow"`, `"Tomorrow"`, true},
			{"date", `7`, `7`, true},
			{"regex", `"[A-Z]{3}"`, `"NYC"`, true},
			{"regex", `"[A-Z]{3}"`, `"NYCX"`, false},
			{"regex", `"a|b"`, `"ab"`, false},
			{"regex", `".*"`, `5`, false},
			{"any_of", `["a","b"]`, `"B"`, true},
			{"any_of", `["a","b"]`, `"c"`, false},
			{"any_of", `"a"`, `"a"`, true},
			{"present", `"a"`, `null`, true},
			{"unordered", `[1,2,2]`, `[2,1,2]`, true},
			{"unordered", `[1,2,2]`, `[2,1,1]`, false},
			{"unordered", `[1]`, `[1,1]`, false},
			{"unordered", `[]`, `[]`, true},
			{"subset", `{"a":{"b":1}}`, `{"a":{"b":1,"c":2},"d":3}`, true},
			{"subset", `[2]`, `[1,2]`, true},
			{"subset", `[2,2]`, `[1,2]`, false},
		}},
		{callvet.Scoring{Threshold: f(0.5), Relative: f(0.1), Tolerance: "1d", Unanchored: true}, []c{
			{"fuzzy", `100`, `91`, true},
			{"fuzzy", `100`, `89`, false},
			{"fuzzy", `"abcd"`, `"abxx"`, true},
			{"numeric_tolerance", `100`, `110`, true},
			{"numeric_tolerance", `100`, `110.01`, false},
			{"numeric_tolerance", `0`, `0.001`, false},
			{"date", `"2026-05-01"`, `"2026-05-02"`, true},
			{"regex", `"b+"`, `"abbc"`, true},
		}},
	} {
		for _, c := range tc.cases {
			sc := tc.set
			sc.Mode = c.mode
			set, ps := FromScoring(&sc, nil)
			a, more := Compile(json.RawMessage(`{"k":`+c.want+`}`), nil, value.Value{}, set, "")
			if len(ps)+len(more) > 0 {
				t.Errorf("%s %s: problems %v %v", c.mode, c.want, ps, more)
			}
			v := mustParse(t, `{"k":`+c.got+`}`)
			tally := a.Tally(v)
			if a.Pass(&tally) != c.ok {
				t.Errorf("%s: want %s got %s: pass = %v", c.mode, c.want, c.got, !c.ok)
			}
			for _, d := range a.Diff(v) {
				if !d.Matched && c.ok {
					t.Errorf("%s: want %s got %s: diff %+v on a pass", c.mode, c.want, c.got, d)
				}
			}
		}
	}
}

func TestMatchers(t *testing.T) {
	t.Parallel()
	schema := `{"properties":{"unit":{"enum":["C","F"],"default":"C"},"id":{"pattern":"^[A-Z]+$"},"q":{"type":"string"},"opt":{"properties":{"n":{"type":"integer","default":3},"tag":{"$ref":"#/$defs/tag"},"flag":{"$ref":"#/$defs/flag"}}},"size":{"enum":["m","M"]}},` +
		`"$defs":{"tag":{"anyOf":[{"type":"null"},{"enum":["x","Y"]}]},"flag":{"anyOf":[{"type":"null"},{"enum":["y","Y"]}]}}}`
	for _, tc := range []struct {
		name, args, matchers, got string
		pass                      bool
		exact                     bool
	}{
		{"an enum in another case", `{"unit":"C"}`, "", `{"unit":" c"}`, true, true},
		{"an enum in another case is not another value", `{"unit":"C"}`, "", `{"unit":"f"}`, false, false},
		{"an enum with values that differ in case", `{"size":"m"}`, "", `{"size":"M"}`, false, false},
		{"pattern is literal", `{"id":"AB"}`, "", `{"id":"ab"}`, false, false},
		{"nested enum behind a reference", `{"opt":{"tag":"Y"}}`, "", `{"opt":{"tag":"y"}}`, true, true},
		{"nested enum with values that differ in case", `{"opt":{"flag":"Y"}}`, "", `{"opt":{"flag":"y"}}`, false, false},
		{"default left out", `{"unit":"C","q":"x"}`, "", `{"q":"x"}`, true, true},
		{"other value than the default left out", `{"unit":"F","q":"x"}`, "", `{"q":"x"}`, false, false},
		{"default spelled out", `{"q":"x"}`, "", `{"q":"x","unit":"C"}`, true, true},
		{"other than the default spelled out", `{"q":"x"}`, "", `{"q":"x","unit":"F"}`, false, false},
		{"nested default left out", `{"opt":{"n":3}}`, "", `{"opt":{}}`, true, true},
		{"nested default spelled out", `{"opt":{}}`, "", `{"opt":{"n":3}}`, true, true},
		{"null is not absent", `{"q":null}`, "", `{}`, false, false},
		{"matcher without args", "", `{"q":{"mode":"present"}}`, `{"q":"whatever"}`, true, true},
		{"matcher without args, missing", "", `{"q":{"mode":"present"}}`, `{}`, false, false},
		{"absent", `{"q":"x"}`, `{"unit":{"mode":"absent"}}`, `{"q":"x"}`, true, true},
		{"absent but given", `{"q":"x"}`, `{"unit":{"mode":"absent"}}`, `{"q":"x","unit":"C"}`, false, false},
		{"optional left out", `{"q":"x","z":1}`, `{"z":{"optional":true}}`, `{"q":"x"}`, true, true},
		{"optional wrong", `{"q":"x","z":1}`, `{"z":{"optional":true}}`, `{"q":"x","z":2}`, false, false},
		{"any_of", `{"q":"x"}`, `{"q":{"mode":"any_of","value":["a","B"]}}`, `{"q":"b"}`, true, true},
		{"type", "", `{"n":{"mode":"type","value":"integer"}}`, `{"n":5.0}`, true, true},
		{"type list", "", `{"n":{"mode":"type","value":["string","null"]}}`, `{"n":5}`, false, false},
		{"unordered", `{"l":["a","b"]}`, `{"l":{"mode":"unordered"}}`, `{"l":["B","a"]}`, true, true},
		{
			"dotted path", `{"o":{"p":10,"q":"x"}}`, `{"o.p":{"mode":"numeric_tolerance","epsilon":1}}`,
			`{"o":{"p":11,"q":"X"}}`, true, true,
		},
		{
			"element path", `{"items":[{"id":"A"},{"id":"B"}]}`, `{"items[0].id":{"mode":"regex","value":"[a-z]+"}}`,
			`{"items":[{"id":"zz"},{"id":"b"}]}`, true, true,
		},
		{
			"every element", `{"items":[{"id":1},{"id":2}]}`, `{"items[].id":{"mode":"type","value":"number"}}`,
			`{"items":[{"id":7},{"id":8}]}`, true, true,
		},
		{
			"every element without args", "", `{"items[].id":{"mode":"type","value":"number"}}`,
			`{"items":[{"id":7},{"id":"8"}]}`, false, false,
		},
		{"path without args", "", `{"o.p":{"value":5}}`, `{"o":{"p":5,"z":1}}`, true, true},
		{
			"literal dotted key", `{"a.b":1}`, `{"a.b":{"mode":"numeric_tolerance","epsilon":2}}`, `{"a.b":3}`,
			true, true,
		},
		{"subset of one parameter", `{"o":{"a":1}}`, `{"o":{"mode":"subset"}}`, `{"o":{"a":1,"b":2}}`, true, true},
		{"not an object", `{}`, "", `[1]`, false, false},
		{"null arguments", `{}`, "", `null`, true, true},
		{"schemaless regex", "", `{"q":{"mode":"regex","value":"[0-9]+"}}`, `{"q":"12a"}`, false, false},
	} {
		var ms map[string]callvet.Matcher
		if tc.matchers != "" {
			if err := json.Unmarshal([]byte(tc.matchers), &ms); err != nil {
				t.Fatal(err)
			}
		}
		set, _ := FromScoring(&callvet.Scoring{}, nil)
		a, ps := Compile(json.RawMessage(tc.args), ms, mustParse(t, schema), set, "")
		if len(ps) > 0 {
			t.Errorf("%s: %v", tc.name, ps)
		}
		v := mustParse(t, tc.got)
		tally := a.Tally(v)
		if a.Pass(&tally) != tc.pass || tally.Exact() != tc.exact {
			t.Errorf("%s: pass %v exact %v, %+v", tc.name, a.Pass(&tally), tally.Exact(), tally)
		}
		all := true
		for _, d := range a.Diff(v) {
			all = all && d.Matched
		}
		if all != tc.pass {
			t.Errorf("%s: the diff says %v: %+v", tc.name, all, a.Diff(v))
		}
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	f := func(p float64) *float64 { return &p }
	for _, tc := range []struct {
		m    callvet.Matcher
		code string
	}{
		{callvet.Matcher{Mode: "fuzy"}, "unknown-mode"},
		{callvet.Matcher{Mode: "regex", Value: json.RawMessage(`"("`)}, "bad-regex"},
		{callvet.Matcher{Mode: "regex", Value: json.RawMessage(`"a)(b"`)}, "bad-regex"},
		{callvet.Matcher{Mode: "fuzzy", Threshold: f(1.5)}, "bad-threshold"},
		{callvet.Matcher{Mode: "numeric_tolerance", Epsilon: f(-1)}, "bad-epsilon"},
		{callvet.Matcher{Mode: "date", Tolerance: "soon"}, "bad-tolerance"},
		{callvet.Matcher{Mode: "date", Value: json.RawMessage(`"today"`)}, "bad-date"},
		{callvet.Matcher{Mode: "semantic"}, "no-embedder"},
		{callvet.Matcher{Mode: "any_of", Value: json.RawMessage(`[]`)}, "bad-value"},
		{callvet.Matcher{Mode: "type", Value: json.RawMessage(`"int"`)}, "bad-type"},
		{callvet.Matcher{Relative: f(math.NaN())}, "bad-relative"},
	} {
		set, _ := FromScoring(&callvet.Scoring{}, nil)
		_, ps := Compile(json.RawMessage(`{"k":"v"}`), map[string]callvet.Matcher{"k": tc.m}, value.Value{}, set, "")
		if len(ps) == 0 || ps[0].Code != tc.code || ps[0].Key != "k" {
			t.Errorf("%s: %+v", tc.code, ps)
		}
	}
	set, _ := FromScoring(&callvet.Scoring{}, nil)
	for _, name := range []string{"a[", "a[x]", "a.", ".a", ""} {
		if _, ps := Compile(nil, map[string]callvet.Matcher{name: {Mode: ModePresent}}, value.Value{}, set,
			""); len(ps) == 0 {
			t.Errorf("path %q accepted", name)
		}
	}
	if _, ps := Compile(nil, map[string]callvet.Matcher{"k": {Mode: ModeFuzzy}}, value.Value{}, set,
		""); len(ps) != 1 || ps[0].Code != "no-value" {
		t.Errorf("matcher without value: %v", ps)
	}
}

// TestReferenceVectors checks the argument measures against reference values
// that were computed outside this project.
func TestReferenceVectors(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("CALLVET_TESTDATA")
	if dir == "" {
		dir = "../../../shared/data"
	}
	b, err := os.ReadFile(filepath.Join(dir, "../vectors/argument_fidelity.json"))
	if err != nil {
		t.Skip("reference vectors are not here: ", err)
	}
	var file struct {
		Open, Heldout []struct {
			ID    string
			Input struct {
				Gold, Emitted json.RawMessage
				Options       struct {
					AbsTol   *float64 `json:"abs_tol"`
					RelTol   *float64 `json:"rel_tol"`
					Array    string
					String   string
					Defaults map[string]json.RawMessage
				}
			}
			Expected struct {
				Status        string
				EM            float64
				Precision     float64
				Recall        float64
				F1            float64
				ParamAccuracy float64 `json:"param_accuracy"`
			}
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range append(file.Open, file.Heldout...) {
		if c.Expected.Status != "ok" {
			continue
		}
		n++
		o, sc := c.Input.Options, callvet.Scoring{}
		switch {
		case o.AbsTol != nil || o.RelTol != nil:
			sc = callvet.Scoring{Mode: ModeNumeric, Epsilon: o.AbsTol, Relative: o.RelTol}
		case o.Array == "set":
			sc.Mode = ModeUnordered
		case o.String == "exact":
			sc.Mode = ModeStrict
		}
		props := map[string]map[string]json.RawMessage{}
		for k, d := range o.Defaults {
			props[k] = map[string]json.RawMessage{"default": d}
		}
		schema, err := json.Marshal(map[string]any{"properties": props})
		if err != nil {
			t.Fatal(err)
		}
		set, _ := FromScoring(&sc, nil)
		a, ps := Compile(c.Input.Gold, nil, mustParse(t, string(schema)), set, "")
		if len(ps) > 0 {
			t.Fatal(ps)
		}
		got := a.Tally(mustParse(t, string(c.Input.Emitted)))
		em := 0.0
		if got.Exact() {
			em = 1
		}
		e := c.Expected
		if em != e.EM || !near(got.Precision(), e.Precision) || !near(got.Recall(), e.Recall) ||
			!near(got.F1(), e.F1) || !near(a.Accuracy(&got), e.ParamAccuracy) {
			t.Errorf("%s: em %v p %v r %v f1 %v acc %v, want %+v", c.ID, em, got.Precision(), got.Recall(), got.F1(),
				a.Accuracy(&got), e)
		}
	}
	if n == 0 {
		t.Fatal("no vectors read")
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }

func TestSemanticNamesItsEmbedder(t *testing.T) {
	t.Parallel()
	sim := func(want, got string) (float64, string, error) { return 0.9, "embedder/x", nil }
	set, ps := FromScoring(&callvet.Scoring{Mode: ModeSemantic}, sim)
	a, more := Compile(json.RawMessage(`{"q":"car"}`), nil, value.Value{}, set, "")
	if len(ps)+len(more) > 0 {
		t.Fatal(ps, more)
	}
	v := mustParse(t, `{"q":"automobile"}`)
	tally := a.Tally(v)
	d := a.Diff(v)[0]
	if !a.Pass(&tally) || tally.Soft != 0.9 || d.Similarity == nil || *d.Similarity != 0.9 ||
		d.Note != "threshold 0.85, by embedder/x" {
		t.Errorf("%+v %+v", tally, d)
	}
}

func FuzzTally(f *testing.F) {
	f.Add(`{"a":1,"b":"x"}`, `{"a":1.0,"b":[1,2]}`, uint8(0))
	f.Add(`{"d":"2026-05-01","l":[{"x":1}]}`, `null`, uint8(6))
	modes := Modes()[:13]
	f.Fuzz(func(t *testing.T, want, got string, mode uint8) {
		w, err := value.Parse([]byte(want))
		if err != nil || w.Kind() != value.Object {
			return
		}
		g, err := value.Parse([]byte(got))
		if err != nil {
			return
		}
		m := modes[int(mode)%len(modes)]
		set, _ := FromScoring(&callvet.Scoring{Mode: m}, nil)
		a, _ := Compile(json.RawMessage(want), nil, value.Value{}, set, "")
		x := a.Tally(g)
		for _, s := range []float64{a.Accuracy(&x), a.Nearness(&x), x.KeyShare(), x.Precision(), x.Recall(), x.F1()} {
			if !(s >= 0 && s <= 1) {
				t.Fatalf("score %v out of range: %+v", s, x)
			}
		}
		if (a.Nearness(&x) == 1) != a.Pass(&x) {
			t.Fatalf("nearness and pass disagree: %+v", x)
		}
		a.Diff(g)
		if m != ModeRegex && m != ModeAnyOf {
			if y := a.Tally(w); !a.Pass(&y) || y.F1() != 1 {
				t.Fatalf("%s: a value does not match itself: %+v", m, y)
			}
		}
	})
}

func BenchmarkTally(b *testing.B) {
	set, _ := FromScoring(&callvet.Scoring{}, nil)
	src := `{"origin":"New York","destination":"London","passengers":3,"date":"2026-05-01","options":{"window":true,"bags":[1,2]}}`
	a, _ := Compile(json.RawMessage(src), nil, value.Value{}, set, "")
	v := mustParse(b, src)
	b.ReportAllocs()
	for b.Loop() {
		t := a.Tally(v)
		if !a.Pass(&t) {
			b.Fatal("does not match")
		}
	}
}
