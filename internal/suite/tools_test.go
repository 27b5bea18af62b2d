// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callvet/callvet"
)

func ptr[T any](v T) *T { return &v }

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const refund = `{
  "tool_name": "get_refund_policy",
  "version": "v3",
  "args": {"type":"object","properties":{"country":{"type":"string","enum":["AR","BR"]}},"required":["country"]},
  "idempotence": true,
  "side_effects": false,
  "rate_limits": {"calls": 10, "per_seconds": 1},
  "latency_budget": {"p50": 100, "p90": 500},
  "safety_constraints": {"pii_allowed": false, "domains": ["example.com"]}
}`

func refundTool() callvet.Tool {
	return callvet.Tool{
		Name: "get_refund_policy", Version: "v3",
		Parameters: json.RawMessage(
			`{"type":"object","properties":{"country":{"type":"string","enum":["AR","BR"]}},"required":["country"]}`),
		Idempotent: ptr(true), ReadOnly: ptr(true), RateLimit: &callvet.RateLimit{Calls: 10, PerSeconds: 1},
		LatencyP50MS: ptr(100.0), LatencyBudgetMS: ptr(500.0),
		Safety: &callvet.ToolSafety{Domains: []string{"example.com"}},
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"get_refund_policy.v3.json": refund,
		"get_refund_policy.v2.json": `{"name":"get_refund_policy","parameters":{}}`, // the version is the file's
		"notes.txt":                 "not a tool", ".hidden.json": "{",
		"z.yaml": "tools:\n  - name: pay\n    version: 1\n    parameters: {type: object}\n    read_only: false\n",
	})
	tools, problems, err := LoadTools(dir, ToolOptions{})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	want := []callvet.Tool{
		{Name: "get_refund_policy", Version: "v2", Parameters: json.RawMessage(`{}`)},
		refundTool(),
		{Name: "pay", Version: "1", Parameters: json.RawMessage(`{"type":"object"}`), ReadOnly: ptr(false)},
	}
	if d := cmp.Diff(want, tools); d != "" {
		t.Error(d)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	const params = `{"type":"object","properties":{"q":{"type":"string"}}}`
	one := callvet.Tool{Name: "search", Description: "d", Parameters: json.RawMessage(params)}
	for name, text := range map[string]string{
		"OpenAI's list": `[{"type":"function","function":{"name":"search","description":"d","parameters":` +
			params + `,"strict":true}}]`,
		"OpenAI's request": `{"model":"m","tools":[{"type":"function","name":"search","description":"d","strict":true,"parameters":` + params + `}]}`,
		"one OpenAI tool": `{"type":"function","function":{"name":"search","description":"d","parameters":` +
			params + `}}`,
		"the older request": `{"functions":[{"name":"search","description":"d","parameters":` + params + `}]}`,
		"Anthropic's list": `[{"type":"custom","name":"search","description":"d","input_schema":` + params +
			`,"cache_control":{"type":"ephemeral"}}]`,
		"MCP's list": `{"tools":[{"name":"search","title":"S","description":"d","inputSchema":` + params +
			`}],"nextCursor":null}`,
		"MCP's answer": `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"search","description":"d","inputSchema":` +
			params + `}]}}`,
		"Bedrock's list": `[{"toolSpec":{"name":"search","description":"d","inputSchema":{"json":` +
			params + `}}}]`,
		"Bedrock's request": `{"modelId":"m","toolConfig":{"tools":[{"toolSpec":{"name":"search","description":"d","inputSchema":{"json":` + params + `}}}]}}`,
		"one Bedrock tool":  `{"toolSpec":{"name":"search","description":"d","inputSchema":{"json":` + params + `}}}`,
		"a Bedrock suite":   `{"callvet":1,"name":"s","tools":[{"toolSpec":{"name":"search","description":"d","inputSchema":{"json":` + params + `}}}],"cases":[]}`,
		"a suite": `{"callvet":1,"name":"s","tools":[{"name":"search","description":"d","parameters":` +
			params + `}],"cases":[]}`,
		"by name":            `{"tools":{"search":{"description":"d","parameters":` + params + `}}}`,
		"a catalogue":        `{"name":"c","agents":[{"name":"x"}],"tools":[{"tool_id":"search","name":"Search","description":"d","parameters":` + params + `,"keywords":["k"],"examples":["e"]}]}`,
		"one a line":         `{"name":"search","description":"d","parameters":` + params + "}\n",
		"a schema's own key": `{"tool_name":"search","description":"d","schema":` + params + `}`,
	} {
		tools, problems, err := LoadTools(filepath.Join(write(t, map[string]string{"tools.json": text}), "tools.json"),
			ToolOptions{})
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %v", name, err, problems)
			continue
		}
		if d := cmp.Diff([]callvet.Tool{one}, tools); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text, code, say string }{
		{
			"a.v1.json", `{"tool_name":"b","args":{}}`, "name-mismatch",
			"a.v1.json:1:14: the file's name says tool a, its content b",
		},
		{"a.v1.json", "{\"tool_name\":\"a\",\n\"version\":\"v2\",\"args\":{}}", "version-mismatch", "a.v1.json:2:11: "},
		{"a.json", `{"tool_name":"a","args":{},"argz":{}}`, "unknown-key", `did you mean "args"?`},
		{"a.json", `{"tool_name":"a","latency_budget":{"p95":1},"args":{}}`, "unknown-key", "p9"},
		{"a.json", `{"tool_name":"a","args":{"type":"strin"}}`, "bad-schema", "does not compile"},
		{"a.json", `{"tool_name":"a"}`, "no-schema", "cannot be validated"},
		{"a.json", `{"version":"v1"}`, "no-name", "no name"},
		{"a.json", `{"tool_name":"a","args":{},"schema":{}}`, "conflicting-keys", "two schemas"},
		{
			"a.json", `{"tool_name":"a","args":{},"read_only":true,"side_effects":true}`, "conflicting-keys",
			"contradict",
		},
		{"a.json", `{"tool_name":"a","args":{},"latency_budget":{"p50":9,"p90":1}}`, "out-of-range", "above"},
		{"a.json", `{"tool_name":"a","args":{}`, "syntax", "a.json:1"},
		{"a.json", "", "syntax", "empty"},
		{"a.json", `[{"name":"a","parameters":{}},{"name":"a","parameters":{}}]`, "duplicate-tool", "twice"},
		{"a.json", `{"tools":{"a":1}}`, "wrong-type", "a tool definition"},
		{"a.json", `{"tools":1}`, "wrong-type", "a list of tools"},
		{
			"a.jsonl", "{\"name\":\"a\",\"parameters\":{}}\n\n{\"name\":\"b\",\"parameters\":{},\"tagz\":[]}",
			"unknown-key", "a.jsonl:3:",
		},
		{"a.json", `3`, "wrong-type", "list"},
	} {
		_, problems, err := LoadTools(filepath.Join(write(t, map[string]string{c.file: c.text}), c.file), ToolOptions{})
		if err != nil || len(problems) != 1 || problems[0].Code != c.code ||
			!strings.Contains(problems[0].Error(), c.say) {
			t.Errorf("%s: %v, %v", c.text, err, problems)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	if _, _, err := LoadTools(filepath.Join(t.TempDir(), "none"), ToolOptions{}); !errors.Is(err, callvet.ErrNotFound) {
		t.Error(err)
	}
	if _, _, err := LoadTools(t.TempDir(), ToolOptions{}); !errors.Is(err, callvet.ErrNotFound) {
		t.Error(err)
	}
	if _, _, err := LoadTools(write(t, map[string]string{"a.json": refund}), ToolOptions{Limit: 10}); !errors.Is(err,
		callvet.ErrLimited) {
		t.Error(err)
	}
}

// TestSchema holds the published schema against the reader.
func TestSchema(t *testing.T) {
	t.Parallel()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(ToolsSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tool.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("tool.json")
	if err != nil {
		t.Fatal(err)
	}
	for text, good := range map[string]bool{
		refund: true, `{"name":"a","parameters":null,"latency_budget_ms":3,"version":2}`: true,
		`{"tool_name":"a","args":true,"tags":["x",1]}`:                true,
		`{"type":"function","function":{"name":"a","parameters":{}}}`: true,
		`{"tools":[{"name":"a","inputSchema":{}}]}`:                   true,
		`{"tool_name":"a","argz":{}}`:                                 false, `{"version":"v1"}`: false,
		`{"tool_name":"a","args":3}`: false,
		`{"tool_name":1}`:            false,
		`{"tool_name":"a","rate_limit":{"calls":0,"per_seconds":1}}`: false,
		`{"tool_name":"a","safety":{"pii":true}}`:                    false,
		`{"tool_name":"a","read_only":"yes"}`:                        false,
		`{"tool_name":"a","latency_budget":{"p50":-1}}`:              false,
		`{"tool_name":"a","type":"web_search"}`:                      false,
		`{"tool_name":""}`:                                           false,
	} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); (err == nil) != good {
			t.Errorf("the schema says of %s: %v", text, err)
		}
		_, problems, err := LoadTools(filepath.Join(write(t, map[string]string{"a.json": text}), "a.json"),
			ToolOptions{})
		bad := err != nil
		for _, p := range problems {
			bad = bad || !p.Warning
		}
		if bad == good {
			t.Errorf("the reader says of %s: %v %v", text, problems, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(refund), "a.v1.json")
	f.Add([]byte("tools:\n - name: a\n"), "a.yaml")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		ext := ".json"
		if strings.HasSuffix(name, "yaml") {
			ext = ".yaml"
		}
		callvet.SplitToolFile(name)
		path := filepath.Join(t.TempDir(), "x.v1"+ext)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Skip(err)
		}
		tools, _, err := LoadTools(path, ToolOptions{})
		if err == nil {
			for i := range tools {
				if tools[i].Name == "" {
					t.Errorf("a tool without a name of %q", data)
				}
			}
		}
	})
}

// TestExamples keeps the tools of the examples readable.
func TestExamples(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob("../../examples/*/tools")
	if err != nil || len(dirs) == 0 {
		t.Skip("no examples with tools")
	}
	for _, dir := range dirs {
		tools, problems, err := LoadTools(dir, ToolOptions{})
		if err != nil || len(problems) > 0 || len(tools) == 0 || strings.Contains(dir, "regression") &&
			tools[0].LatencyP50MS == nil {
			t.Errorf("%s: %d tools, %v, %v", dir, len(tools), problems, err)
		}
	}
}

// TestCatalogue reads a catalogue, which has a name and contains more of its tools than a model
// gets.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	tools, problems, err := LoadTools("../../examples/select/catalogue.json", ToolOptions{})
	if err != nil || len(problems) > 0 || len(tools) < 60 || tools[0].Parameters == nil || tools[0].ReadOnly == nil {
		t.Errorf("%d tools, %v, %v", len(tools), problems, err)
	}
}

// TestSafety: what a tool executes and where it may do so.
func TestSafety(t *testing.T) {
	t.Parallel()
	dir := write(t,
		map[string]string{"run.json": `{"name":"run","args":{"type":"object"},"safety":{"pii_allowed":true,"domains":["a.test"],"require_confirmation":true,"code":["job"],"sandboxed":true}}`})
	tools, problems, err := LoadTools(dir, ToolOptions{})
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	want := &callvet.ToolSafety{
		PIIAllowed: true, Domains: []string{"a.test"}, RequireConfirmation: true,
		Code: []string{"job"}, Sandboxed: true,
	}
	if d := cmp.Diff(want, tools[0].Safety); d != "" {
		t.Error(d)
	}
}
