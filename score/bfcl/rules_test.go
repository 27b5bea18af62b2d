// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bfcl

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestNumberLiterals: what is a number in the source texts of the languages, and what stays text.
func TestNumberLiterals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		l             Language
		typ, in, want string
	}{
		{Java, "double", "1.", `"1."`},
		{Java, "double", "1.x", `"1.x"`},
		{Java, "double", "1e-5", "1e-05"},
		{Java, "double", "1e+5", "100000.0"},
		{Java, "double", "1e10", "1e+10"},
		{Java, "double", "1e", `"1e"`},
		{Java, "double", "1e999", "1e999"},
		{Java, "double", "-1e999", "-1e999"},
		{Java, "integer", "", `""`},
		{Java, "integer", "\n", `"\n"`},
		{Java, "integer", "5\n", "5"},
		{Java, "integer", "5\n\n", `"5\n\n"`},
		{Java, "integer", "5x", `"5x"`},
		{JavaScript, "array", "[.]", `["."]`},
		{JavaScript, "array", "[.x]", `[".x"]`},
		{JavaScript, "array", "[.9, 1., 1.e5, -1.]", "[0.9,1.0,100000.0,-1.0]"},
		{JavaScript, "array", "[1_9, 1_, _1, 1__0, 1e_5, 1_e5]", `[19,"1_","_1","1__0","1e_5","1_e5"]`},
	} {
		got, err := newConverter(c.l)(nil, c.in, c.typ, "")
		if err != nil || string(got) != c.want {
			t.Errorf("%s %q: %s, %v; want %s", c.typ, c.in, got, err, c.want)
		}
	}
}

// TestCreations: what is a list or an object in the source texts, and what stays text.
func TestCreations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		l                    Language
		typ, inner, in, want string
	}{
		{Java, "ArrayList", "", "newArrayList<>()", `"newArrayList<>()"`},
		{Java, "ArrayList", "", "new ArrayList<Integer", `"new ArrayList<Integer"`},
		{Java, "ArrayList", "", "new ArrayList<Zebra_9>()", "[]"},
		{Java, "ArrayList", "", "new ArrayList<a>()", "[]"},
		{Java, "ArrayList", "", "new ArrayList<z>()", "[]"},
		{Java, "ArrayList", "integer", "new ArrayList<>() {{}}; new ArrayList<>() {{ add(1); }}", "[]"},
		{JavaScript, "array", "", "newArray(1)", `"newArray(1)"`},
		{JavaScript, "array", "", "new Array([1, 2], [3])", "[[1,2],[3]]"},
		{JavaScript, "array", "", "[[1, 2] , [3] ]", "[[1,2],[3]]"},
		{JavaScript, "array", "", "[[1],\n [2]]", "[[1],[2]]"},
		{JavaScript, "array", "", "[ [1], [2]", `["[1"]`},
		{JavaScript, "array", "", "[[1], 2]", `["[1"]`},
		{JavaScript, "array", "", "[[1],", `["[1"]`},
		{JavaScript, "array", "", "[[1", `"[[1"`},
		{JavaScript, "array", "", "[[1\n], [2]]", `"[[1\n], [2]]"`},
		{JavaScript, "array", "", "[[1] x], [2]]", `[[1],[2]]`},
		{JavaScript, "dict", "", "{: 1, a: 2}", `{"1, a":2}`},
		{JavaScript, "dict", "", "{a: 1,, b: 2}", `{"a":"1,","b":2}`},
		{JavaScript, "dict", "", "{a: 1,: 2}", `{"a":"1,: 2"}`},
	} {
		got, err := newConverter(c.l)(nil, c.in, c.typ, c.inner)
		if err != nil || strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(got)) != c.want {
			t.Errorf("%s %q: %s, %v; want %s", c.typ, c.in, got, err, c.want)
		}
	}
}

// TestLongLiteral: a text of up to maxLiteral bytes with its quotes is read, a longer one stays text.
func TestLongLiteral(t *testing.T) {
	t.Parallel()
	e := expect(t, `{"type":"integer"}`, `[5]`, Rules{Language: Java})
	for n, want := range map[int]ErrorType{maxLiteral: OK, maxLiteral + 1: WrongType} {
		if got := e.Match("f.g", parse(t, `{"p":"`+strings.Repeat("0", n-3)+`5"}`)); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
}

// TestEqual is Python's ==, either way round.
func TestEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1", "1.0", true},
		{"true", "1", true},
		{"true", "1.0", true},
		{"false", "0.0", true},
		{"true", "0.0", false},
		{"false", "1", false},
		{"1e20", "100000000000000000000.0", true},
		{"1e20", "100000000000000000000", true},
		{"1e20", "100000000000000000001", false},
		{"9007199254740992.0", "9007199254740992", true},
		{"9007199254740992.0", "9007199254740993", false},
		{"123456789012345", "123456789012345.0", true},
		{"1234567890123456", "1234567890123456.0", true},
		{"1e999", "1" + strings.Repeat("0", 400), false},
		{"1e999", "2e999", true},
		{`"1"`, "1", false},
		{"null", "0", false},
		{"[1]", "[1.0]", true},
		{`{"a":true}`, `{"a":1}`, true},
	} {
		a, b := parse(t, c.a), parse(t, c.b)
		if equal(a, b, false) != c.want || equal(b, a, false) != c.want {
			t.Errorf("%s and %s: %v and %v, want %v", c.a, c.b, equal(a, b, false), equal(b, a, false), c.want)
		}
	}
	e := expect(t, `{"type":"float"}`, `[9007199254740992.0]`, Rules{})
	if got := e.Match("f.g", parse(t, `{"p":9007199254740993}`)); got != OK {
		t.Errorf("an integer given for a float is made one first: %q", got)
	}
}

// TestText: a text has its own standard form, and only texts of the same form have it.
func TestText(t *testing.T) {
	t.Parallel()
	forms := []string{"", "a", "ab", "z", "ii", "σ", "σα", "ας:β", "ος", "aς", "i̇", "é", `"`}
	texts := []string{" _", "A", "a.B", "Z", "iI", "Σ", "ΣΑ", "ΑΣ:Β", "ΟΣ", "AΣ", "İ", "É", "'"}
	for i, s := range texts {
		if got := standardize(s); got != forms[i] {
			t.Errorf("%q: %q, want %q", s, got, forms[i])
		}
		for j, f := range forms {
			if got := sameText([]byte(s), f); got != (i == j) {
				t.Errorf("%q and %q: %v", s, f, got)
			}
		}
	}
}

// TestAnswers are the rules for answers that are empty, of another type, or letters.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const str, list, dict = `{"type":"string"}`, `{"type":"array","items":{"type":"string"}}`, `{"type":"dict"}`
	for _, c := range []struct {
		name, schema, answers, args string
		want                        ErrorType
	}{
		{"only the empty text", str, `[""]`, `{"p":"x"}`, WrongString},
		{"more members than parameters", str, `["a"]`, `{"p":"a","x":1,"y":2,"z":3}`, Unexpected},
		{"the first element that is not empty gives the type", list, `[["",1]]`, `{"p":[1,1]}`, WrongList},
		{"letters", list, `[["x"],"aB"]`, `{"p":["A","b"]}`, OK},
		{"other letters", list, `[["x"],"ab"]`, `{"p":["a","c"]}`, WrongList},
		{"a number is no letter", list, `[["x"],"a1"]`, `{"p":["a",1]}`, WrongList},
		{"an empty text is no dictionary", dict, `[{"a":["x"]},""]`, `{"p":{"a":"z"}}`, WrongDictValue},
		{"an empty dictionary", dict, `[{}]`, `{"p":{}}`, OK},
	} {
		if got := expect(t, c.schema, c.answers, Rules{}).Match("f.g", parse(t, c.args)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestExample: the example has the first answer that is not empty, where there is one.
func TestExample(t *testing.T) {
	t.Parallel()
	tool := &callvet.Tool{Name: "f", Declared: json.RawMessage(`{"properties":{"p":{"type":"any"}},"required":["p"]}`)}
	for answers, want := range map[string]string{
		`["","a"]`: `"a"`, `[""]`: `""`, `["ab","c"]`: `"ab"`, `[10,20]`: `10`, `["a",""]`: `"a"`, `["",""]`: `""`,
		`[{"a":[],"b":["x",""],"c":["",1],"d":[1]}]`: `{"b":"x","d":1}`,
		`[[{"a":[1]},2]]`: `[{"a":1},2]`,
	} {
		e, err := Compile(tool, &callvet.ExpectedCall{
			Tools:    []string{"f"},
			Matchers: map[string]callvet.Matcher{"p": {Mode: "any_of", Value: json.RawMessage(answers)}},
		}, Rules{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(`{"p":`+want+`}`, string(e.Example())); d != "" {
			t.Errorf("%s: %s", answers, d)
		}
	}
}

// TestRequired: what the tool requires has to be given, whether or not an answer names it.
func TestRequired(t *testing.T) {
	t.Parallel()
	anyOf := func(list string) callvet.Matcher {
		return callvet.Matcher{Mode: "any_of", Value: json.RawMessage(list)}
	}
	tool := &callvet.Tool{
		Name: "f",
		Declared: json.RawMessage(
			`{"properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","z"]}`),
	}
	e, err := Compile(tool, &callvet.ExpectedCall{
		Tools:    []string{"f"},
		Matchers: map[string]callvet.Matcher{"a": anyOf(`[1,""]`), "b": anyOf(`[2]`)},
	}, Rules{})
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]ErrorType{
		`{"a":1,"b":2}`: MissingRequired, `{"b":2,"z":3}`: MissingRequired, `{"a":1,"b":2,"z":3}`: Unexpected,
		`{"z":3,"a":1}`: Unexpected,
	} {
		if got := e.Match("f", parse(t, args)); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	notes := map[string]string{}
	for _, d := range e.Diffs(parse(t, `{}`)) {
		notes[d.Path] = d.Note
	}
	if d := cmp.Diff(map[string]string{"a": string(MissingRequired), "b": string(MissingOptional)}, notes); d != "" {
		t.Error(d)
	}
}

// TestManyParameters: a call may have maxParams of them.
func TestManyParameters(t *testing.T) {
	t.Parallel()
	args := func(n int) string {
		var members []string
		for i := range n {
			members = append(members, fmt.Sprintf(`"p%d":%d`, i, i))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	e, err := Compile(nil, &callvet.ExpectedCall{Tools: []string{"f"}, Args: json.RawMessage(args(maxParams))}, Rules{})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]ErrorType{maxParams - 1: MissingOptional, maxParams: OK, maxParams + 1: Unexpected} {
		if got := e.Match("f", parse(t, args(n))); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if _, err := Compile(nil, &callvet.ExpectedCall{Tools: []string{"f"}, Args: json.RawMessage(args(maxParams + 1))},
		Rules{}); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("one more: %v", err)
	}
	if e, err := Compile(nil, &callvet.ExpectedCall{Tools: []string{"f"}, Args: json.RawMessage(`{"l":[]}`)},
		Rules{}); err != nil || e.Match("f", parse(t, `{"l":[]}`)) != OK {
		t.Errorf("an empty list: %v", err)
	}
}

// TestVerdict: the verdict has the calls that the error is about; the most useful one is that of a
// call with the right name.
func TestVerdict(t *testing.T) {
	t.Parallel()
	tools := []callvet.Tool{
		{Name: "a", Declared: json.RawMessage(`{"properties":{"n":{"type":"integer"}}}`)},
		{Name: "b", Declared: json.RawMessage(`{"properties":{"n":{"type":"string"}}}`)},
	}
	want := func(name, answers string) callvet.ExpectedCall {
		return callvet.ExpectedCall{
			Tools:    []string{name},
			Matchers: map[string]callvet.Matcher{"n": {Mode: "any_of", Value: json.RawMessage(answers)}},
		}
	}
	a, b := want("a", `[1]`), want("b", `["x"]`)
	got := func(name, n string) Call { return Call{name, parse(t, `{"n":`+n+`}`)} }
	type calls = []Call
	type due = []callvet.ExpectedCall
	for _, c := range []struct {
		name, category string
		due            due
		calls          calls
		want           Verdict
	}{
		{
			"right", "",
			due{a, b},
			calls{got("b", `"X"`), got("a", "1")},
			Verdict{OK: true, Pairs: []int{1, 0}, Expected: -1, Actual: -1},
		},
		{
			"several without a category are parallel", "",
			due{a, b},
			calls{},
			Verdict{Error: CountParallel, Expected: -1, Actual: -1},
		},
		{
			"one without a category is simple", "",
			due{a},
			calls{},
			Verdict{Error: CountSimple, Expected: -1, Actual: -1},
		},
		{
			"several of a simple case", "simple",
			due{a, b},
			calls{},
			Verdict{Error: CountSimple, Expected: -1, Actual: -1},
		},
		{
			"the right name is later", "parallel",
			due{a, b},
			calls{got("c", "1"), got("a", "9")},
			Verdict{Error: NoMatch, Sub: WrongOther, Pairs: []int{-1}, Expected: 0, Actual: 1},
		},
		{
			"the right name is first", "parallel",
			due{a, b},
			calls{got("a", "9"), got("c", "1")},
			Verdict{Error: NoMatch, Sub: WrongOther, Pairs: []int{-1}, Expected: 0, Actual: 0},
		},
		{
			"the first of two with the right name", "parallel",
			due{a, a},
			calls{got("a", "9"), got("a", `"x"`)},
			Verdict{Error: NoMatch, Sub: WrongOther, Pairs: []int{-1}, Expected: 0, Actual: 0},
		},
		{
			"no right name", "parallel",
			due{a, b},
			calls{got("c", "1"), got("d", "1")},
			Verdict{Error: NoMatch, Sub: WrongName, Pairs: []int{-1}, Expected: 0, Actual: 0},
		},
		{
			"the second has no call", "parallel",
			due{a, b},
			calls{got("a", "1"), got("b", "1")},
			Verdict{Error: NoMatch, Sub: WrongType, Pairs: []int{0, -1}, Expected: 1, Actual: 1},
		},
		{"none is due", "", due{}, calls{got("a", "1")}, Verdict{Error: CalledAnyway, Expected: -1, Actual: 0}},
		{"none is due, none is made", "", due{}, calls{}, Verdict{OK: true, Expected: -1, Actual: -1}},
	} {
		x, err := CompileCase(&callvet.Case{
			Fields: map[string]string{"category": c.category},
			Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: c.due}}},
		}, tools, Rules{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, x.Check(c.calls, nil)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	zero := 0
	if _, err := CompileCase(&callvet.Case{Expect: callvet.Expect{MinToolCalls: &zero}}, tools,
		Rules{}); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("no plan, and no call needed: %v", err)
	}
}
