// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bfcl

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

func parse(t testing.TB, s string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

// expect compiles one call of tool f with one parameter p of a declared type.
func expect(t testing.TB, schema, answers string, r Rules) *Expectation {
	t.Helper()
	tool := &callvet.Tool{
		Name: "f.g",
		Declared: json.RawMessage(`{"type":"dict","properties":{"p":` + schema +
			`,"other":{"type":"string"}},"required":[]}`),
	}
	e, err := Compile(tool, &callvet.ExpectedCall{
		Tools:    []string{"f.g"},
		Matchers: map[string]callvet.Matcher{"p": {Mode: "any_of", Value: json.RawMessage(answers)}},
	}, r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestPythonRules(t *testing.T) {
	t.Parallel()
	const str, list = `{"type":"string"}`, `{"type":"array","items":{"type":"string"}}`
	const dict, dicts = `{"type":"dict"}`, `{"type":"array","items":{"type":"dict"}}`
	for _, c := range []struct {
		name, schema, answers, args string
		want                        ErrorType
	}{
		{"same", str, `["a"]`, `{"p":"a"}`, OK},
		{"case, spaces and punctuation do not count", str, `["April 1, 2024"]`, `{"p":"aPRIL 1.2024"}`, OK},
		{"other punctuation counts", str, `["a:b"]`, `{"p":"ab"}`, WrongString},
		{"quotes are alike", str, `["it's"]`, `{"p":"it\"s"}`, OK},
		{"umlauts fold", str, `["MÜNCHEN"]`, `{"p":"münchen"}`, OK},
		{"dotted I becomes two characters", str, `["İ"]`, `{"p":"i̇"}`, OK},
		{"final sigma", str, `["ΟΔΟΣ"]`, `{"p":"οδος"}`, OK},
		{"tabs are not spaces", str, `["ab"]`, `{"p":"a\tb"}`, WrongString},
		{"left out, not optional", str, `["a"]`, `{}`, MissingOptional},
		{"left out, optional", str, `["a",""]`, `{}`, OK},
		{"empty text where optional", str, `["a",""]`, `{"p":" "}`, OK},
		{"declared, not answered", str, `["a"]`, `{"p":"a","other":"x"}`, Unexpected},
		{"not declared", str, `["a"]`, `{"p":"a","x":1}`, Unexpected},
		{"an integer is no string", str, `["1"]`, `{"p":1}`, WrongType},
		{"a list is no string", str, `["1"]`, `{"p":["1"]}`, WrongType},
		{"integer for float", `{"type":"float"}`, `[5.0]`, `{"p":5}`, OK},
		{"float for integer", `{"type":"integer"}`, `[5]`, `{"p":5.0}`, WrongType},
		{"exponent is a float", `{"type":"float"}`, `[1000.0]`, `{"p":1e3}`, OK},
		{"bool is no integer", `{"type":"integer"}`, `[1]`, `{"p":true}`, WrongType},
		{"integer is no bool", `{"type":"boolean"}`, `[true]`, `{"p":1}`, WrongType},
		{"other number", `{"type":"integer"}`, `[5,6]`, `{"p":7}`, WrongOther},
		{"null", `{"type":"integer"}`, `[5]`, `{"p":null}`, WrongType},
		{"a variable is compared literally", `{"type":"integer"}`, `["userAge"]`, `{"p":"userAge"}`, OK},
		{"a variable keeps its case", `{"type":"integer"}`, `["userAge"]`, `{"p":"userage"}`, WrongOther},
		{"list of strings", list, `[["A b","c"]]`, `{"p":["ab","C"]}`, OK},
		{"list order counts", list, `[["a","c"]]`, `{"p":["c","a"]}`, WrongList},
		{"element type", list, `[["a"]]`, `{"p":[1]}`, WrongNested},
		{"element type, answer is a variable's", list, `[[1]]`, `{"p":[1]}`, OK},
		{"no element type check when optional", list, `[["a"],""]`, `{"p":[1]}`, WrongList},
		{"empty list where optional", list, `[["a"],""]`, `{"p":[]}`, OK},
		{
			"integers in a list of floats", `{"type":"array","items":{"type":"float"}}`, `[[1.0,2.0]]`, `{"p":[1,2]}`,
			WrongNested,
		},
		{"dict", dict, `[{"a":["X","y"],"b":[1,""]}]`, `{"p":{"a":"x"}}`, OK},
		{"dict value", dict, `[{"a":["X"]}]`, `{"p":{"a":"z"}}`, WrongDictValue},
		{"dict key", dict, `[{"a":["X"]}]`, `{"p":{"a":"x","c":1}}`, WrongDictKey},
		{"dict key missing", dict, `[{"a":["X"],"b":[1]}]`, `{"p":{"a":"x"}}`, WrongDictKey},
		{
			"dict in a dict is compared literally", dict, `[{"a":[{"b":["x"]}]}]`, `{"p":{"a":{"b":"x"}}}`,
			WrongDictValue,
		},
		{"list of dicts", dicts, `[[{"a":[1]},{"a":[2]}]]`, `{"p":[{"a":1},{"a":2}]}`, OK},
		{"list of dicts, order", dicts, `[[{"a":[1]},{"a":[2]}]]`, `{"p":[{"a":2},{"a":1}]}`, WrongDictValue},
		{"list of dicts, count", dicts, `[[{"a":[1]},{"a":[2]}]]`, `{"p":[{"a":1}]}`, WrongListCount},
		{"1 == True inside a list", `{"type":"array","items":{"type":"integer"}}`, `[[1]]`, `{"p":[1.0]}`, WrongNested},
		{"big numbers are exact", `{"type":"integer"}`, `[9007199254740993]`, `{"p":9007199254740992}`, WrongOther},
		{"not an object", str, `["a"]`, `["a"]`, NotAnObject},
		{"any is text", `{"type":"any"}`, `["a"]`, `{"p":"A"}`, OK},
	} {
		e := expect(t, c.schema, c.answers, Rules{})
		if got := e.Match("f.g", parse(t, c.args)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		diffs := e.Diffs(parse(t, c.args))
		bad := false
		for _, d := range diffs {
			bad = bad || !d.Matched
		}
		if c.want != NotAnObject && bad != (c.want != OK) {
			t.Errorf("%s: diffs %+v", c.name, diffs)
		}
	}
	e := expect(t, str, `["a"]`, Rules{})
	if e.Match("f_g", parse(t, `{"p":"a"}`)) != OK || e.Match("F.g", parse(t, `{"p":"a"}`)) != WrongName {
		t.Error("names")
	}
}

func TestFirstEditionDictionaries(t *testing.T) {
	t.Parallel()
	r := Rules{Edition: V1}
	e := expect(t, `{"type":"dict"}`, `[{"a":["x"],"b":[1,""]}]`, r)
	if got := e.Match("f.g", parse(t, `{"p":{"a":"x"}}`)); got != WrongDictItems {
		t.Errorf("fewer keys: %q", got)
	}
	e = expect(t, `{"type":"dict"}`, `[{"a":{"b":["x"]}}]`, r)
	if got := e.Match("f.g", parse(t, `{"p":{"a":{"b":"X"}}}`)); got != OK {
		t.Errorf("nested: %q", got)
	}
}

func TestLiterals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		l                    Language
		typ, inner, in, want string
	}{
		{Java, "integer", "", "042", "42"},
		{Java, "integer", "", "4.2", `"4.2"`},
		{Java, "long", "", "9223372036854775807L", "9223372036854775807"},
		{Java, "long", "", "7", `"7"`},
		{Java, "float", "", "1.5f", "1.5"},
		{Java, "double", "", "1e3", "1000.0"},
		{Java, "double", "", "3", "3.0"},
		{Java, "boolean", "", "true", "true"},
		{Java, "boolean", "", "True", `"True"`},
		{Java, "String", "", `"q"`, `"\"q\""`},
		{Java, "ArrayList", "String", `new ArrayList<>(Arrays.asList("a", "b"))`, `["a","b"]`},
		{Java, "ArrayList", "integer", `new ArrayList<Integer>() {{ add(1); add(2); }}`, `[1,2]`},
		{Java, "ArrayList", "String", `new ArrayList<String>()`, `[]`},
		{Java, "Array", "integer", `new int[]{1, 2}`, `[1,2]`},
		{Java, "Array", "String", `new String[]{"a", "b"}`, `["\"a\"","\"b\""]`},
		{
			Java, "HashMap", "", `new HashMap<String, Object>() {{ put("k", 1); put("s", "v"); put("k", true); }}`,
			`{"k":true,"s":"v"}`,
		},
		{Java, "HashMap", "", `new HashMap<>()`, `{}`},
		{Java, "HashMap", "", `map`, `"map"`},
		{JavaScript, "String", "", `'x'`, `"x"`},
		{JavaScript, "Boolean", "", "false", "false"},
		{JavaScript, "Bigint", "", "12n", "12"},
		{JavaScript, "float", "", "2", "2.0"},
		{JavaScript, "array", "String", `["a", 'b']`, `["a","b"]`},
		{JavaScript, "array", "", `new Array(1, 2.5, true)`, `[1,2.5,true]`},
		{JavaScript, "array", "", `[+1, -2.5, --2.5, 1_000, .5]`, `[1,-2.5,"--2.5",1000,0.5]`},
		{JavaScript, "array", "integer", `[]`, `[]`},
		{JavaScript, "array", "array", `[[1, 2], [3, 4]]`, `[[1,2],[3,4]]`},
		{JavaScript, "dict", "", `{"a": 1, 'b': "x, y", c: [1, 2]}`, `{"a":1,"b":"x, y","c":[1,2]}`},
		{JavaScript, "dict", "", `{}`, `{}`},
		{JavaScript, "dict", "", `options`, `"options"`},
		{JavaScript, "any", "", `1`, `"1"`},
	} {
		got, err := newConverter(c.l)(nil, c.in, c.typ, c.inner)
		if err != nil || string(got) != c.want {
			t.Errorf("%s %s: %s, %v; want %s", c.typ, c.in, got, err, c.want)
		}
	}
	e := expect(t, `{"type":"integer"}`, `[5]`, Rules{Language: Java})
	for in, want := range map[string]ErrorType{
		`{"p":"5"}`: OK, `{"p":5}`: WrongJava, `{"p":"6"}`: WrongOther,
		`{"p":"five"}`: WrongType,
	} {
		if got := e.Match("f.g", parse(t, in)); got != want {
			t.Errorf("java %s: %q", in, got)
		}
	}
}

func TestCase(t *testing.T) {
	t.Parallel()
	tool := func(name string) callvet.Tool {
		return callvet.Tool{
			Name:     name,
			Declared: json.RawMessage(`{"properties":{"n":{"type":"integer"}},"required":["n"]}`),
		}
	}
	call := func(name, answers string) callvet.ExpectedCall {
		return callvet.ExpectedCall{
			Tools:    []string{name},
			Matchers: map[string]callvet.Matcher{"n": {Mode: "any_of", Value: json.RawMessage(answers)}},
		}
	}
	plan := func(calls ...callvet.ExpectedCall) callvet.Expect {
		return callvet.Expect{Plans: []callvet.Plan{{Calls: calls}}}
	}
	one := 1
	tools := []callvet.Tool{tool("a"), tool("b")}
	for _, c := range []struct {
		name, category string
		expect         callvet.Expect
		calls          string // name:n ...
		want           ErrorType
		r              Rules
	}{
		{"simple", "simple_python", plan(call("a", `[1]`)), "a:1", OK, Rules{}},
		{"two for one", "simple_python", plan(call("a", `[1]`)), "a:1 a:1", CountSimple, Rules{}},
		{"multiple", "multiple", plan(call("b", `[1]`)), "", CountMultiple, Rules{}},
		{"multiple, first edition", "multiple_function", plan(call("b", `[1]`)), "b:2", NoMatch, Rules{Edition: V1}},
		{"parallel in any order", "parallel", plan(call("a", `[1]`), call("b", `[2]`)), "b:2 a:1", OK, Rules{}},
		{"parallel is greedy", "parallel", plan(call("a", `[1,2]`), call("a", `[1]`)), "a:1 a:2", NoMatch, Rules{}},
		{"parallel count", "parallel", plan(call("a", `[1]`), call("b", `[2]`)), "a:1", CountParallel, Rules{}},
		{"irrelevance", "irrelevance", plan(), "", OK, Rules{}},
		{"irrelevance, called", "irrelevance", plan(), "a:1", CalledAnyway, Rules{}},
		{"relevance", "live_relevance", callvet.Expect{MinToolCalls: &one}, "zzz:1", OK, Rules{}},
		{"relevance, not called", "live_relevance", callvet.Expect{MinToolCalls: &one}, "", NotCalled, Rules{}},
	} {
		x, err := CompileCase(&callvet.Case{Fields: map[string]string{"category": c.category}, Expect: c.expect}, tools,
			c.r)
		if err != nil {
			t.Fatal(err)
		}
		var calls []Call
		for _, f := range strings.Fields(c.calls) {
			name, n, _ := strings.Cut(f, ":")
			calls = append(calls, Call{name, parse(t, `{"n":`+n+`}`)})
		}
		if v := x.Check(calls, nil); v.Error != c.want || v.OK != (c.want == OK) {
			t.Errorf("%s: %+v, want %q", c.name, v, c.want)
		}
	}
}

// TestPlainArguments: expected values that are not lists of answers stand for themselves.
func TestPlainArguments(t *testing.T) {
	t.Parallel()
	e, err := Compile(nil, &callvet.ExpectedCall{
		Tools: []string{"f"},
		Args:  json.RawMessage(`{"s":"New York","d":{"a":"x"},"l":[{"b":1}]}`),
	}, Rules{})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Match("f", parse(t, `{"s":"newyork","d":{"a":"X"},"l":[{"b":1}]}`)); got != OK {
		t.Errorf("plain: %q", got)
	}
	if got := e.Match("f", parse(t, string(e.Example()))); got != OK {
		t.Errorf("example %s: %q", e.Example(), got)
	}
	if got := e.Match("f", parse(t, `{"s":"newyork","d":{"a":"X"},"l":[{"b":2}]}`)); got == OK {
		t.Error("another value passes")
	}
}

func FuzzLiterals(f *testing.F) {
	for _, s := range []string{
		`new ArrayList<>(Arrays.asList("a"))`, `{"a": [1], b: 2}`, `[[1],[2]]`, `1_0.5e3`,
		`new HashMap<>() {{ put("k", 1f); }}`, "-0", "0x1p-2",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid(str(nil, s)) {
			return
		}
		for _, typ := range []string{
			"integer", "long", "float", "double", "boolean", "char", "String", "any", "Array",
			"ArrayList", "HashMap", "Boolean", "Bigint", "dict", "array",
		} {
			for _, inner := range []string{"", "String", "integer", "array", "dict", "float"} {
				for _, l := range []converter{javaValue, jsValue} {
					out, err := l(nil, s, typ, inner)
					if err != nil {
						continue
					}
					if _, err := value.Parse(out); err != nil {
						t.Errorf("%s of %s, %q: %s: %v", typ, inner, s, out, err)
					}
				}
			}
		}
	})
}

func FuzzMatch(f *testing.F) {
	f.Add(`["A b",""]`, `{"p":"ab"}`, "string")
	f.Add(`[{"a":["x"]}]`, `{"p":{"a":"x"}}`, "dict")
	f.Add(`[[{"a":[1]}],""]`, `{"p":[{"a":1}]}`, "array")
	f.Fuzz(func(t *testing.T, answers, args, typ string) {
		v, err := value.Parse([]byte(args))
		if err != nil {
			return
		}
		name, err := json.Marshal(typ)
		if err != nil {
			return
		}
		for _, ed := range []Edition{V4, V1} {
			tool := &callvet.Tool{Declared: json.RawMessage(`{"properties":{"p":{"type":` + string(name) +
				`,"items":{"type":"dict"}}}}`)}
			e, err := Compile(tool,
				&callvet.ExpectedCall{Matchers: map[string]callvet.Matcher{"p": {
					Mode:  "any_of",
					Value: json.RawMessage(answers),
				}}}, Rules{Edition: ed})
			if err != nil {
				continue
			}
			e.Match("", v)
			e.Diffs(v)
			if x := e.Example(); !json.Valid(x) {
				t.Errorf("example %s", x)
			}
		}
	})
}

// FuzzSameText: comparing without building the standard form has the same result.
func FuzzSameText(f *testing.F) {
	f.Add("April 1, 2024", "april12024")
	f.Add("ΟΔΟΣ", "οδος")
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = strings.ToValidUTF8(a, ""), strings.ToValidUTF8(b, "")
		if got, want := sameText([]byte(a), standardize(b)), standardize(a) == standardize(b); got != want {
			t.Errorf("%q %q: %v, want %v", a, b, got, want)
		}
	})
}

func TestMatchAllocatesNothing(t *testing.T) {
	e := expect(t, `{"type":"array","items":{"type":"string"}}`, `[["New York","Oslo"],""]`, Rules{})
	text := []byte(`{"p":["new york","OSLO"]}`)
	var doc value.Doc
	if n := testing.AllocsPerRun(100, func() {
		if doc.Parse(text) != nil || e.Match("f_g", doc.Root()) != OK {
			t.Fatal("must match")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
