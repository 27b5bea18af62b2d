// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
	"github.com/google/go-cmp/cmp"
)

const flightSchema = `{"type":"object","properties":{
 "origin":{"type":"string","pattern":"^[A-Z]{3}$","description":"IATA code"},
 "passengers":{"type":"integer","minimum":1,"maximum":9,"default":1},
 "cabin":{"type":"string","enum":["economy","business"],"default":"economy"},
 "date":{"type":"string","format":"date"},
 "address":{"$ref":"#/$defs/address"},
 "tags":{"type":"array","items":{"type":"string","minLength":2},"uniqueItems":true},
 "price":{"type":"number","multipleOf":0.05,"exclusiveMinimum":0}},
 "required":["origin","date"],"additionalProperties":false,
 "$defs":{"address":{"type":"object","properties":{"city":{"type":"string","default":"Oslo"},"zip":{"anyOf":[{"type":"integer"},{"type":"string","pattern":"^\\d{5}$"}]}},"required":["city"]}}}`

func mustCompile(t testing.TB, schema string) *Schema {
	t.Helper()
	s, err := Compile(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustParse(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestCheck(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, flightSchema)
	cases := []struct {
		args string
		want []string // path keyword expected|actual
	}{
		{`{"origin":"OSL","date":"2026-01-31"}`, nil},
		{`{"date":"2026-01-31"}`, []string{"/origin required origin|"}},
		{
			`{"origin":"osl","date":"2026-02-31","passengers":12}`,
			[]string{
				`/date format date|"2026-02-31"`, `/origin pattern ^[A-Z]{3}$|"osl"`,
				"/passengers maximum ≤ 9|12",
			},
		},
		{
			`{"origin":"OSL","date":"2026-01-31","seat":1,"cabin":"first"}`,
			[]string{`/cabin enum ["economy","business"]|"first"`, "/seat additionalProperties |seat"},
		},
		{
			`{"origin":5,"date":"2026-01-31","passengers":"2"}`,
			[]string{"/origin type string|number", "/passengers type integer|string"},
		},
		{
			`{"origin":"OSL","date":"2026-01-31","address":{"zip":"abc"}}`,
			[]string{"/address/city required city|", "/address/zip anyOf |"},
		},
		{
			`{"origin":"OSL","date":"2026-01-31","tags":["aa","aa","b"]}`,
			[]string{"/tags uniqueItems |", "/tags/2 minLength ≥ 2|1"},
		},
		{`{"origin":"OSL","date":"2026-01-31","price":0.03}`, []string{"/price multipleOf multiple of 0.05|0.03"}},
		{`{"origin":"OSL","date":"2026-01-31","price":19.95,"passengers":2.0}`, nil},
		{`{"origin":"OSL","date":"2026-01-31","price":1e99999}`, []string{" number |"}},
		{`[]`, []string{" type object|array"}},
	}
	for _, c := range cases {
		v := mustParse(t, c.args)
		var got []string
		for _, x := range s.Check(v) {
			got = append(got, fmt.Sprintf("%s %s %s|%s", x.Path, x.Keyword, x.Expected, x.Actual))
			if x.Message == "" {
				t.Errorf("%s: no message", c.args)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.args, d)
		}
		if s.Valid(v) != (len(c.want) == 0) {
			t.Errorf("%s: Valid = %v", c.args, s.Valid(v))
		}
	}
}

func TestEmptySchemaAcceptsAnyObject(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{"", "null", "{}", "true"} {
		s := mustCompile(t, schema)
		if !s.Valid(mustParse(t, `{"a":[1]}`)) || s.Valid(mustParse(t, `[1]`)) {
			t.Errorf("%q: want any object and nothing else", schema)
		}
	}
}

func TestCompileErrorsNameThePlace(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"not":`, 200) + "{}" + strings.Repeat("}", 200)
	for _, c := range []struct{ schema, want string }{
		{`{"type":"object","properties":{"a":{"type":"dict"}}}`, "/properties/a/type"},
		{`{"properties":{"a":{"pattern":"("}}}`, "/properties/a/pattern"},
		{`{"properties":{"a":{"pattern":"(?=x)"}}}`, "look-around"},
		{`{"properties":{"a":{"$ref":"https://example.com/x.json"}}}`, "nothing is fetched"},
		{`{"properties":{"a":{"$ref":"#/$defs/none"}}}`, "/$defs/none"},
		{`{"required":"a"}`, "/required"},
		{`{"maximum":1e5000}`, "out of range"},
		{`{"type":`, "not JSON"},
		{deep, "nested deeper"},
		{`7`, "root"},
	} {
		_, err := Compile(json.RawMessage(c.schema))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: error %v, want it to name %q", c.schema, err, c.want)
		}
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, flightSchema)
	if d := cmp.Diff([]string{"origin", "passengers", "cabin", "date", "address", "tags", "price"},
		s.Properties()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"origin", "date"}, s.Required()); d != "" {
		t.Error(d)
	}
	if v, ok := s.Default("passengers"); !ok || string(v) != "1" {
		t.Errorf("default of passengers: %s %v", v, ok)
	}
	if _, ok := s.Default("origin"); ok {
		t.Error("origin has no default")
	}
	for name, want := range map[string]bool{
		"origin": true, "cabin": true, "date": true, "passengers": false,
		"nope": false,
	} {
		if s.IsConstrained(name) != want {
			t.Errorf("IsConstrained(%s) = %v", name, !want)
		}
	}
	if s.Type("passengers") != "integer" || s.Type("address") != "object" || s.HasProperty("nope") {
		t.Error("types")
	}
	want := &Property{Name: "city", Types: []string{"string"}, Default: json.RawMessage(`"Oslo"`), Required: true}
	if d := cmp.Diff(want, s.Lookup("address.city")); d != "" {
		t.Error(d)
	}
	if p := s.Lookup("/tags/3"); p == nil || p.Types[0] != "string" || s.Lookup("tags[0].x") != nil {
		t.Error("lookup of elements")
	}
}

// TestAlternativeTypes: a parameter with typed alternatives has their types, as servers write an
// optional one; where one alternative allows anything, so does the parameter. A reference makes the
// library compile the schema instead of the fast way.
func TestAlternativeTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ property, want string }{
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, "null|string"},
		{`{"oneOf":[{"type":"integer"},{"type":["array","null"]}]}`, "array|integer|null"},
		{`{"anyOf":[{"anyOf":[{"type":"boolean"}]},{"type":"null"}]}`, "boolean|null"},
		{`{"allOf":[{"minLength":1},{"type":"string"}]}`, "string"},
		{`{"anyOf":[{"type":"string"},{"minimum":1}]}`, ""},
		{`{"anyOf":[{},{"type":"string"}]}`, ""},
		{`{"type":"string","anyOf":[{"minLength":1},{"type":"null"}]}`, "string"},
		{`{"description":"anything"}`, ""},
	} {
		for _, rest := range []string{"", `,"patternProperties":{"^x":{"$ref":"#/properties/p"}}`} {
			s := mustCompile(t, `{"type":"object","properties":{"p":`+c.property+`}`+rest+`}`)
			got := strings.Split(s.Type("p"), "|")
			sort.Strings(got)
			if strings.Join(got, "|") != c.want {
				t.Errorf("%s%s: %v, want %s", c.property, rest, got, c.want)
			}
		}
	}
	s := mustCompile(t,
		`{"type":"object","properties":{"p":{"anyOf":[{"$ref":"#/$defs/d"},{"type":"null"}]}},"$defs":{"d":{"type":"number"}}}`)
	if got := s.Property("p").Types; !cmp.Equal(got, []string{"null", "number"}) {
		t.Errorf("through a reference: %v", got)
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	set, err := NewSet([]callvet.Tool{
		{Name: "getWeather", Parameters: json.RawMessage(flightSchema)},
		{Name: "bad", Parameters: json.RawMessage(`{"type":"dict"}`)},
	})
	if err == nil || !strings.Contains(err.Error(), `tool "bad"`) {
		t.Errorf("error %v", err)
	}
	if set.FindFold("GETWEATHER") != set.At(0) || set.FindFold("getWeather").Schema == nil ||
		set.FindFold("bad") != set.At(1) || set.At(1).Err == nil || set.FindFold("get") != nil {
		t.Error("lookup")
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, yes, no string
		plain            bool
	}{
		{`^[A-Z]{3}$`, "OSL", "OSLO", true},
		{`^ORD-\d{6}$`, "ORD-123456", "ORD-12345x", true},
		{`^\+?[0-9]+(?:\.5)?$`, "+12.5", "12.", false},
		{`^[a-z]+-[0-9]*$`, "abc-", "abc", true},
		{`^\w+_x$`, "ab_x", "abx", false}, // the class holds what follows it
		{`^\s$`, "\u00a0", "x", false},
		{`^.$`, "é", "\u2028", false},
		{`^\u00e9\x41\cA$`, "éA\x01", "eA", false},
		{`^\p{Letter}+$`, "åß", "1", false},
		{`^[^]$`, "\n", "", false},
		{`b`, "abc", "a", false},
	} {
		re, err := compileECMA(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		p := re.(*pattern)
		if (p.plain != nil) != c.plain {
			t.Errorf("%s: plain = %v", c.pattern, p.plain != nil)
		}
		if !p.match([]byte(c.yes)) || p.match([]byte(c.no)) || !p.MatchString(c.yes) {
			t.Errorf("%s: %q %v, %q %v", c.pattern, c.yes, p.match([]byte(c.yes)), c.no, p.match([]byte(c.no)))
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add(`^[A-Z]{3}$`, "OSL")
	f.Add(`^a+[0-9]?b*$`, "aa0b")
	f.Fuzz(func(t *testing.T, src, s string) {
		if len(src) > 60 || len(s) > 60 {
			return
		}
		re, err := compileECMA(src)
		if err != nil {
			return
		}
		p := re.(*pattern)
		if got, want := p.match([]byte(s)), p.re.MatchString(s); got != want {
			t.Errorf("%q on %q: %v, the engine says %v", src, s, got, want)
		}
	})
}

func FuzzValid(f *testing.F) {
	f.Add(flightSchema, `{"origin":"OSL","date":"2026-01-31","tags":["aa"]}`)
	f.Add(`{"oneOf":[{"type":"integer","multipleOf":3},{"minimum":1.5}],"not":{"const":7}}`, `9.0`)
	f.Add(`{"items":{"enum":[1,"a",null]},"uniqueItems":true,"contains":{"type":"string"},"maxContains":1}`,
		`[1,"a",1.0]`)
	f.Add(`{"patternProperties":{"^x":{"type":"string"}},"additionalProperties":{"type":"integer"},"minProperties":1}`,
		`{"xa":"1","b":2}`)
	f.Add(
		`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}},"required":["v"]}}}`, `{"v":1,"next":{"v":2}}`)
	f.Add(
		`{"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]},"else":{"maxProperties":1},"dependentRequired":{"b":["c"]}}`, `{"a":1,"b":2}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		if len(schema) > 2000 || len(args) > 2000 {
			return
		}
		s, err := Compile(json.RawMessage(schema))
		if err != nil {
			return
		}
		v, err := value.Parse([]byte(args))
		if err != nil {
			return
		}
		doc, err := decode(v)
		if err != nil {
			return
		}
		lib, err := s.library()
		if err != nil {
			t.Fatalf("%s compiles, the library says %v", schema, err)
		}
		if got, want := s.Valid(v), lib.Validate(doc) == nil; got != want {
			t.Errorf("%s on %s: %v, the library says %v", schema, args, got, want)
		}
	})
}
