// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/callvet/callvet/value"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         "",
		"no name":                  "",
		"{{a}}":                    "a",
		"x {{ a.b[0] }}{{c}} y }}": "a.b[0],c",
		"{ {a} }":                  "",
		"{{a":                      "{{ is not closed by }}",
		"{{}}":                     "{{}} names nothing",
		"{{ }}":                    "{{}} names nothing",
		"{{a {{b}}":                `{{ is not closed by }} before "a {{b"`,
		"{{{a}}}":                  `{{ is not closed by }} before "{a"`,
	} {
		got, err := value.ParseTemplate(text)
		said := strings.Join(got.Names(), ",")
		if err != nil {
			said = err.Error()
		}
		if said != want {
			t.Errorf("%q: %s, want %s", text, said, want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	args, err := value.Parse([]byte(`{"city":"Oslo \"x\"","n":1.0,"o":{"a":[{"id":7},null]},"nothing":null}`))
	if err != nil {
		t.Fatal(err)
	}
	of := func(name string) json.RawMessage { return value.AtPath(args, name).Raw() }
	for raw, want := range map[string]string{
		`{"a":"{{city}}","{{city}}":1}`:                                               `{"a":"Oslo \"x\"","{{city}}":1}`,
		`["{{n}}","no {{n}}","{{o.a[0].id}}","{{o.a[1]}}","{{o.a[2]}}","{{gone.x}}"]`: `[1.0,"no 1.0",7,null,null,null]`,
		`"{{o}} in {{city}}: {{nothing}}{{gone}}<b>"`:                                 `"{\"a\":[{\"id\":7},null]} in Oslo \"x\": <b>"`,
		`"\u007b\u007bn}}"`:  `1.0`,
		`{"b":true,"z":1e3}`: `{"b":true,"z":1e3}`,
	} {
		got, err := value.FillJSON(json.RawMessage(raw), of)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", raw, got, err)
		}
	}
	for _, raw := range []string{`{"a":"{{x"}`, `{`} {
		if got, err := value.FillJSON(json.RawMessage(raw), of); err == nil {
			t.Errorf("%s: %s", raw, got)
		}
	}
}

func TestMockNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"args.a", "args.a.b[0].c", "args.[0]", "args.a[1][2]", "call.number", "call.position",
		"call.tool", "fake.id", "fake.id.customer", "fake.uuid.x", "fake.number", "fault.review",
	} {
		if err, _ := value.CheckMockName(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{
		"city", "args", "args.", "args.a..b", "args.a[x]", "args.a[0", "args.a[0]x",
		"args.a.", "args.a[0].", "fake.name", "fake.id.", "fault.", "call.count", "env.HOME", "args.a[-1]",
	} {
		if err, _ := value.CheckMockName(name); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, fix := value.CheckMockName("city"); !strings.Contains(fix, "{{args.city}}") {
		t.Errorf("the fix of {{city}}: %s", fix)
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":"{{args.city}}"}`, `["{{x","}}"]`, `"{{a}} {{b}}"`, `{"{{a}}":[{}]}`} {
		f.Add(s, `{"city":"Oslo"}`)
	}
	f.Fuzz(func(t *testing.T, raw, with string) {
		if !value.Valid([]byte(with)) {
			with = `"x"`
		}
		out, err := value.FillJSON(json.RawMessage(raw), func(string) json.RawMessage { return json.RawMessage(with) })
		if err == nil && !value.Valid(out) {
			t.Errorf("%q with %q: %q is no JSON", raw, with, out)
		}
		if v, perr := value.Parse([]byte(with)); perr == nil && value.CheckPath(raw) == nil {
			value.AtPath(v, raw)
		}
	})
}
