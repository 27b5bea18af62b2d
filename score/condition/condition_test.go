// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package condition

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/expr-lang/expr/parser"
	"pgregory.net/rapid"

	"github.com/callvet/callvet/value"
)

func parse(t testing.TB, s string) value.Value {
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

func TestHolds(t *testing.T) {
	t.Parallel()
	const policy = `{"window_days":30,"exceptions":["a"],"items":[{"id":"x","price":2.5},{"id":"y","price":1}],"ok":true,"name":"Ana Ñ","none":null,"currency":"EUR","result":7,"big":9007199254740993}`
	for text, want := range map[string]bool{
		`window_days==30`:                              true,
		`window_days == 30.0`:                          true,
		`window_days == "30"`:                          false,
		`window_days != "30"`:                          true,
		`window_days >= 0 && len(exceptions) > 0`:      true,
		`window_days >= 0 and len(exceptions) > 1`:     false,
		`result.items[0].id != ""`:                     true,
		`result.items[5].id != ""`:                     false,
		`not (result.items[5].id == "")`:               false,
		`items[-1].id == 'y'`:                          true,
		`window_days in [30, 60]`:                      true,
		`window_days not in [31, 60]`:                  true,
		`exists(window_days)`:                          true,
		`exists(items[1].price) and !exists(items[2])`: true,
		`exists(none)`:                                 true,
		`none == null && none == nil`:                  true,
		`"window_days" in result`:                      true,
		`"window" in result`:                           false,
		`"a" in exceptions`:                            true,
		`"Ana" in name`:                                true,
		`name startsWith "Ana" and name endsWith "Ñ"`:  true,
		`name contains "na "`:                          true,
		`name matches "^A.a"`:                          true,
		`len(name) == 5`:                               true,
		`ok`:                                           true,
		`!ok`:                                          false,
		`name`:                                         false,
		`not name`:                                     false,
		`missing`:                                      false,
		`not missing`:                                  false,
		`missing > 3`:                                  false,
		`missing != 3`:                                 false,
		`missing != 3 || ok`:                           true,
		`name > 3`:                                     false,
		`not (name > 3)`:                               false,
		`big == 9007199254740993`:                      true,
		`big == 9007199254740992`:                      false,
		`all(items, .price > 0)`:                       true,
		`all(items, .id in ["x", "y"])`:                true,
		`any(items, .price > 2 && .id == "x")`:         true,
		`any(items, currency == "EUR")`:                true,
		`all(items, .missing > 0)`:                     false,
		`count(items, .price > 2) == 1`:                true,
		`items[0].price + items[1].price == 3.5`:       true,
		`window_days % 7 == 2`:                         true,
		`sum([1, 2]) == 3`:                             true,
		`max(window_days, 60) == 60`:                   true,
		`(ok ? window_days : 1) == 30`:                 true,
		`0 < window_days < 31`:                         true,
		`result.result == 7`:                           true,
		`lower(name) startsWith "ana"`:                 true,
		`items[0] == items[0]`:                         true,
		`missing + 1 > 0`:                              false,
		`missing + 1 > 0 or ok`:                        true,
		`all(missing, .x > 1)`:                         false,
		`ok == true`:                                   true,
		`window_days > -1 && window_days < 3e1 + 1`:    true,
		`window_days >= 30.0 && -window_days == -30`:   true,
	} {
		c, err := Compile(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := c.Holds(parse(t, policy)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestResultsOfOtherKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, result string
		want         bool
	}{
		{`result == 3`, `3`, true},
		{`result == null`, `null`, true},
		{`result == null`, ``, false},
		{`x == 1`, `[1]`, false},
		{`result[0] == 1`, `[1]`, true},
		{`len(result) == 2`, `"añ"`, true},
		{`exists(result)`, ``, false},
		{`result > 1e308`, `1e400`, true},
		{`result + 1 > 0`, `1e400`, false},
		{`true`, ``, true},
		{`x == 1`, `null`, false},
		{`result["a b"] == 1`, `{"a b":1}`, true},
		{`len(result) == 0`, `{}`, true},
		{`len(result) == 0`, `0`, false},
	} {
		e, err := Compile(c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if got := e.Holds(parse(t, c.result)); got != c.want {
			t.Errorf("%s of %q: %v", c.text, c.result, got)
		}
	}
}

// TestDocumented compiles the examples of the documentation.
func TestDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/reference/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(doc), "## Post-conditions\n\n```\n")
	block, _, closed := strings.Cut(block, "```")
	if !ok || !closed {
		t.Fatal("docs/reference/tools.md has no examples of post-conditions")
	}
	v := parse(t,
		`{"window_days":30,"exceptions":[1],"items":[{"id":"x","price":2,"currency":"SEK"},{"price":1,"currency":"SEK"}],"currency":"SEK","refund":{"id":1},"total":3}`)
	for _, text := range strings.Split(strings.TrimSpace(block), "\n") {
		if c, err := Compile(text); err != nil || !c.Holds(v) {
			t.Errorf("%s: %v, or it does not hold", text, err)
		}
	}
	for _, f := range functions() {
		if !strings.Contains(string(doc), "`"+f+"`") {
			t.Errorf("docs/reference/tools.md does not describe %s", f)
		}
	}
}

// TestHugeResult keeps what costs memory from results that have too much of it.
func TestHugeResult(t *testing.T) {
	t.Parallel()
	huge := parse(t, `{"a":"`+strings.Repeat("x", maxResult)+`","b":1}`)
	for text, want := range map[string]bool{
		`b == 1`: true, `len(a) > 9`: true, `a + a != ""`: false,
		`b + 0 == 1`: false,
	} {
		c, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Holds(huge); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for text, say := range map[string]string{
		``: "unexpected", `window_days =`: "", `a ==`: "", `now() > 1`: "not available",
		`env("HOME")`: "not a function", `a.b()`: "",
		`exists(1)`: "takes a path", `exists(a, b)`: "one path", `let x = 1; x == 1`: "not available",
		`a ?? b`:                "not available",
		`all(a, all(#, # > 1))`: "inside another", `map(a, #)`: "not available", `1..1000000 == a`: "not available",
		`a matches "("`:   "",
		`repeat("x", 10)`: "not available", `exists(a) == true`: "cannot be called", `{"a": 1} == a`: "not available",
		strings.Repeat("(", 5000): "longer", strings.Repeat("a && ", 400) + "a": "", `$env == 1 ?? 2`: "not available",
	} {
		c, err := Compile(text)
		if err == nil {
			t.Errorf("%q compiles: %+v", text, c)
			continue
		}
		if !strings.Contains(err.Error(), say) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want something with %q", text, err, say)
		}
	}
}

// TestNativeAgreesWithLibrary holds the two ways to decide against each other,
// comparison by comparison, on random conditions and results.
func TestNativeAgreesWithLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := drawCondition(rt, 2)
		result := drawJSON(rt, 3)
		agree(rt, text, result)
	})
}

// TestPlainAgreesWithLibrary holds the texts that are read without the library
// against what the library makes of them: the same expressions.
func TestPlainAgreesWithLibrary(t *testing.T) {
	t.Parallel()
	seen := 0
	rapid.Check(t, func(rt *rapid.T) {
		tokens := rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "count", "type", "a.b", "result", "result.x", "x[0].y", "len(a)", "len(result)", "==", "!=", "<", "<=",
			">", ">=", "&&", "and", "or", "not",
			"1", "-1", "0", "-0", "2.50", "-0.0", "1e3", "007", `"x"`, "'y z'", `"<é>"`, "true", "false", "null", "nil",
			"(", ")", "in", "b", " ", "  ", "\t", "if", "1_0", ".5",
		}), 3, 8).Draw(rt, "tokens")
		sep := rapid.SampledFrom([]string{"", " "}).Draw(rt, "sep")
		if samePlain(rt, strings.Join(tokens, sep)) {
			seen++
		}
		var parts []string
		for range rapid.IntRange(1, 3).Draw(rt, "comparisons") {
			parts = append(parts,
				rapid.SampledFrom([]string{"a", "count", "result", "x[0].y", "len(a)"}).Draw(rt, "left")+
					rapid.SampledFrom([]string{"==", " != ", "<", " <= ", ">", ">="}).Draw(rt, "op")+
					rapid.SampledFrom([]string{
						"1", "-1", "0", "2.50", `"x"`, "'y z'", `"<é>"`, "true",
						"null",
					}).Draw(rt,
						"right"))
		}
		if samePlain(rt, strings.Join(parts, rapid.SampledFrom([]string{"&&", " and "}).Draw(rt, "join"))) {
			seen++
		}
	})
	if seen == 0 {
		t.Error("no text was plain")
	}
}

// samePlain reports whether a text is plain, and fails where the library does
// not read the same from it.
func samePlain(t fataler, text string) bool {
	e := plain(text)
	if e == nil {
		return false
	}
	tree, err := parser.Parse(text)
	if err != nil {
		t.Fatalf("%q is plain, but %v", text, err)
	}
	var r reader
	want, err := r.logic(tree.Node)
	if err != nil {
		t.Fatalf("%q is plain, but %v", text, err)
	}
	if a, b := show(e), show(want); a != b {
		t.Fatalf("%q is %s, to the library %s", text, a, b)
	}
	return true
}

func show(e *expression) string {
	if e == nil {
		return "-"
	}
	side := func(o operand) string { return fmt.Sprint(o.kind, o.path, o.literal.Kind(), string(o.literal.Raw())) }
	return fmt.Sprintf("(%d %s %s %s %s %v)", e.op, show(e.a), show(e.b), side(e.left), side(e.right), e.program != nil)
}

type fataler interface {
	Fatalf(format string, args ...any)
}

func agree(t fataler, text, result string) {
	fast, err := Compile(text)
	if err != nil { // the library finds that the kinds of literals do not fit
		if !strings.Contains(err.Error(), "mismatched types") {
			t.Fatalf("%s: %v", text, err)
		}
		return
	}
	c := reader{libraryOnly: true}
	slow, err := c.compile(text)
	if err != nil {
		t.Fatalf("%s only compiles natively: %v", text, err)
	}
	v, err := value.Parse([]byte(result))
	if err != nil {
		t.Fatalf("%s: %v", result, err)
	}
	if a, b := fast.root.eval(v), slow.root.eval(v); a != b {
		t.Fatalf("%s of %s: %d natively, %d by the library", text, result, a, b)
	}
}

func drawCondition(t *rapid.T, depth int) string {
	if depth > 0 {
		switch rapid.IntRange(0, 5).Draw(t, "join") {
		case 0:
			return "(" + drawCondition(t, depth-1) + ") && (" + drawCondition(t, depth-1) + ")"
		case 1:
			return "(" + drawCondition(t, depth-1) + ") or (" + drawCondition(t, depth-1) + ")"
		case 2:
			return "not (" + drawCondition(t, depth-1) + ")"
		}
	}
	switch rapid.IntRange(0, 4).Draw(t, "leaf") {
	case 0:
		return fmt.Sprintf("%s in [%s, %s]", drawPath(t), drawLiteral(t), drawLiteral(t))
	case 1:
		return drawPath(t)
	case 2:
		return "exists(" + drawPath(t) + ")"
	}
	ops := []string{"==", "!=", "<", "<=", ">", ">=", "in", "contains", "startsWith", "endsWith"}
	return drawOperand(t) + " " + rapid.SampledFrom(ops).Draw(t, "op") + " " + drawOperand(t)
}

func drawOperand(t *rapid.T) string {
	switch rapid.IntRange(0, 4).Draw(t, "operand") {
	case 0:
		return "len(" + drawPath(t) + ")"
	case 1:
		return drawLiteral(t)
	}
	return drawPath(t)
}

func drawPath(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		"a", "b", "c", "a.b", "b.c", "a[0]", "b[1]", "c[-1]", "result", "result.a",
		"result[0]", "a.b.c", `a["b"]`,
	}).Draw(t, "path")
}

func drawLiteral(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		"0", "1", "-1", "2.5", "1.0", "30", `""`, `"a"`, `"ab"`, `'b'`, "true", "false",
		"null", "nil", `"\u00e9\n"`,
	}).Draw(t, "literal")
}

func drawJSON(t *rapid.T, depth int) string {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"0", "1", "-1", "2.5", "30", "3e1", "0.0"}).Draw(t, "number")
	case 1:
		return rapid.SampledFrom([]string{`""`, `"a"`, `"ab"`, `"b"`, `"\u00e9\n"`, `"é"`}).Draw(t, "text")
	case 2:
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
	case 3, 4:
		if depth == 0 {
			return "null"
		}
		var parts []string
		for _, k := range []string{"a", "b", "c"} {
			if rapid.Bool().Draw(t, "has") {
				parts = append(parts, `"`+k+`":`+drawJSON(t, depth-1))
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	case 5:
		parts := make([]string, rapid.IntRange(0, 3).Draw(t, "len"))
		for i := range parts {
			parts[i] = drawJSON(t, depth-1)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return "null"
}

func FuzzCompile(f *testing.F) {
	f.Add(`window_days >= 0 && len(exceptions) > 0`, `{"window_days":3,"exceptions":[1]}`)
	f.Add(`all(items, .id != "" && # in [1, 'x'])`, `{"items":[{"id":"a"}]}`)
	f.Add(`a.b[0] matches "x" ? 1 + 2 ** 3 > b : not c`, `{"a":{"b":["x"]}}`)
	f.Fuzz(func(t *testing.T, text, result string) {
		c, err := Compile(text)
		if err != nil {
			return
		}
		v, err := value.Parse([]byte(result))
		if err != nil {
			v = value.Value{}
		}
		samePlain(t, text)
		first := c.root.eval(v)
		if again := c.root.eval(v); again != first {
			t.Fatalf("%q of %q: %d, then %d", text, result, first, again)
		}
		slowly := reader{libraryOnly: true}
		slow, err := slowly.compile(text)
		if err != nil {
			t.Fatalf("%q only compiles natively: %v", text, err)
		}
		if got := slow.root.eval(v); got == yes && first == no || got == no && first == yes {
			t.Fatalf("%q of %q: %d natively, %d by the library", text, result, first, got)
		}
	})
}

func BenchmarkHolds(b *testing.B) {
	v := parse(b, `{"window_days":30,"exceptions":["defecto"]}`)
	for name, text := range map[string]string{
		"native":  `window_days>=0 && len(exceptions) > 0`,
		"library": `window_days + 0 >= 0`,
	} {
		c, err := Compile(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !c.Holds(v) {
					b.Fatal("does not hold")
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for name, text := range map[string]string{
		"plain":   `order_id == "A-1234" && total >= 10`,
		"library": `(order_id == "A-1234") && total >= 10`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compile(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
