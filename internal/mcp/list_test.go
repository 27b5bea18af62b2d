// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestOddTools: a malformed tool does not prevent reading the others, valid parts are kept byte for
// byte, and each mistake is reported.
func TestOddTools(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	deep := strings.Repeat(`{"items":`, 2000) + `{}` + strings.Repeat(`}`, 2000)
	for _, tt := range []struct {
		name, tool string
		want       callvet.Tool
		codes      string
	}{
		{
			"order of keys",
			`{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":"string"}}}}`,
			callvet.Tool{Name: "a", Description: "d", Parameters: json.RawMessage(`{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":"string"}}}`)},
			"",
		},
		{
			"annotations",
			`{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"idempotentHint":false}}`,
			callvet.Tool{Name: "a", Parameters: json.RawMessage(`{"type":"object"}`), ReadOnly: &yes, Idempotent: &no},
			"",
		},
		{
			"unknown stays unknown",
			`{"name":"a","inputSchema":{"type":"object"},"annotations":{"openWorldHint":true,"readOnlyHint":null}}`,
			callvet.Tool{Name: "a", Parameters: json.RawMessage(`{"type":"object"}`)},
			"",
		},
		{
			"odd hints",
			`{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes","idempotentHint":1}}`,
			callvet.Tool{Name: "a", Parameters: json.RawMessage(`{"type":"object"}`)},
			"odd-annotations odd-annotations",
		},
		{
			"odd annotations", `{"name":"a","inputSchema":{"type":"object"},"annotations":[1]}`,
			callvet.Tool{Name: "a", Parameters: json.RawMessage(`{"type":"object"}`)},
			"odd-annotations",
		},
		{
			"contradiction",
			`{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"destructiveHint":true}}`,
			callvet.Tool{Name: "a", Parameters: json.RawMessage(`{"type":"object"}`)},
			"contradiction",
		},
		{"no schema", `{"name":"a"}`, callvet.Tool{Name: "a"}, "no-schema"},
		{"schema is null", `{"name":"a","inputSchema":null}`, callvet.Tool{Name: "a"}, "no-schema"},
		{
			"schema is a text", `{"name":"a","inputSchema":"string"}`,
			callvet.Tool{Name: "a", Declared: json.RawMessage(`"string"`)},
			"odd-schema",
		},
		{
			"schema is a list", `{"name":"a","inputSchema":[1,2]}`,
			callvet.Tool{Name: "a", Declared: json.RawMessage(`[1,2]`)},
			"odd-schema",
		},
		{
			"type of no schema", `{"name":"a","inputSchema":{"type":"whatever"}}`,
			callvet.Tool{Name: "a", Declared: json.RawMessage(`{"type":"whatever"}`)},
			"odd-schema",
		},
		{
			"pattern", `{"name":"a","inputSchema":{"properties":{"p":{"pattern":"("}}}}`,
			callvet.Tool{Name: "a", Declared: json.RawMessage(`{"properties":{"p":{"pattern":"("}}}`)},
			"odd-schema",
		},
		{
			"refers elsewhere", `{"name":"a","inputSchema":{"$ref":"https://example.com/s.json"}}`,
			callvet.Tool{Name: "a", Declared: json.RawMessage(`{"$ref":"https://example.com/s.json"}`)},
			"odd-schema",
		},
		{
			"keys twice", `{"name":"a","inputSchema":{"type":"object","type":"string"}}`,
			callvet.Tool{Name: "a", Declared: json.RawMessage(`"{\"type\":\"object\",\"type\":\"string\"}"`)},
			"odd-schema",
		},
		{
			"deep", `{"name":"a","inputSchema":` + deep + `}`,
			callvet.Tool{Name: "a", Declared: validJSON([]byte(deep))},
			"odd-schema",
		},
		{
			"texts", `{"name":"a","description":7,"title":{},"inputSchema":{"type":"object"}}`,
			callvet.Tool{Name: "a", Parameters: json.RawMessage(`{"type":"object"}`)},
			"odd-description odd-title",
		},
		{
			"output", `{"name":"a","inputSchema":{"type":"object"},"outputSchema":7}`,
			callvet.Tool{Name: "a", Parameters: json.RawMessage(`{"type":"object"}`)},
			"odd-output-schema",
		},
		{
			"empty", `{"name":"a","inputSchema":{}}`,
			callvet.Tool{Name: "a", Parameters: json.RawMessage(`{}`)},
			"schema-form",
		},
		{
			"no type, and a choice", `{"name":"a","inputSchema":{"oneOf":[{"type":"object"}]}}`,
			callvet.Tool{Name: "a", Parameters: json.RawMessage(`{"oneOf":[{"type":"object"}]}`)},
			"schema-form schema-form",
		},
		{
			"results without a type", `{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"description":"r"}}`,
			callvet.Tool{Name: "a", Parameters: json.RawMessage(`{"type":"object"}`)},
			"schema-form",
		},
		{"no name", `{"inputSchema":{}}`, callvet.Tool{}, "no-name"},
		{"name is a number", `{"name":7}`, callvet.Tool{}, "no-name"},
		{"long name", `{"name":"` + strings.Repeat("n", 1000) + `"}`, callvet.Tool{}, "odd-name"},
		{"no tool", `[]`, callvet.Tool{}, "odd-tool"},
		{"null", `null`, callvet.Tool{}, "odd-tool"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := &Listing{Pages: 1}
			if !l.read(
				&page{Tools: json.RawMessage(`[` + tt.tool + `,{"name":"next","inputSchema":{"type":"object"}}]`)}) {
				t.Error("there is no room")
			}
			var got callvet.Tool
			if len(l.Tools) == 2 {
				got = l.Tools[0].Tool
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			if l.Tools[len(l.Tools)-1].Name != "next" {
				t.Error("the next tool is lost")
			}
			var codes []string
			for _, p := range l.Problems {
				codes = append(codes, p.Code)
				if !p.Warning || len(p.Message) > 600 {
					t.Errorf("%+v", p)
				}
			}
			if d := cmp.Diff(tt.codes, strings.Join(codes, " ")); d != "" {
				t.Errorf("%s\n%+v", d, l.Problems)
			}
		})
	}
}

// TestTwice: of two tools of a name the first is kept.
func TestTwice(t *testing.T) {
	t.Parallel()
	l := &Listing{}
	l.read(
		&page{Tools: json.RawMessage(
			`[{"name":"a","description":"one","inputSchema":{"type":"object"}},{"name":"a","description":"two","inputSchema":{"type":"object"}}]`)})
	if len(l.Tools) != 1 || l.Tools[0].Description != "one" || l.Problems[0].Code != "twice" {
		t.Errorf("%+v", l)
	}
	l.read(&page{Tools: json.RawMessage(`"none"`)})
	if l.Problems[1].Code != "odd-list" {
		t.Errorf("%+v", l.Problems)
	}
}

// FuzzTool: whatever a definition is, reading it does not fail, and what is kept can be encoded.
func FuzzTool(f *testing.F) {
	f.Add([]byte(`{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`))
	f.Add([]byte(`{"name":"a","inputSchema":{"a":1,"a":2}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		l := &Listing{}
		if tool, ok := l.tool("tool 1", raw); ok {
			if _, err := json.Marshal(tool); err != nil {
				t.Fatal(err)
			}
		}
	})
}
