// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/mcp"
)

// TestImportAgain: whatever the file looks like, what people wrote in it stays.
func TestImportAgain(t *testing.T) {
	t.Parallel()
	yes := true
	list := &mcp.Listing{Tools: []mcp.Tool{
		{Tool: callvet.Tool{
			Name: "a", Description: "New words of a", Parameters: json.RawMessage(`{"type":"object"}`),
			ReadOnly: &yes,
		}},
		{Tool: callvet.Tool{Name: "b", Description: "Words of b", Parameters: json.RawMessage(`{"type":"object"}`)}},
	}}
	const tools = "tools:\n  - name: a\n    description: Words of a\n    parameters:\n      type: object\n    family: f # ours\n  - name: other\n    description: Of another server\n    parameters:\n      type: object\n"
	const cases = "cases:\n  # ours, too\n  - id: one\n    prompt: What?\n    expect: {tools_called: [a]}\n"
	for name, text := range map[string]string{
		"tools first":  "# head\ncallvet: 1\nname: n\n" + tools + "# between\n" + cases,
		"cases first":  "callvet: 1\nname: n\n" + cases + tools,
		"converted":    "callvet: 1\nname: n\ndialect: toolsuite\n" + tools + cases,
		"no cases":     "callvet: 1\nname: n\n" + tools,
		"not indented": "callvet: 1\nname: n\ntools:\n- name: a\n  description: Words of a\n  parameters: {type: object}\n  family: f\n- name: other\n  description: Of another server\n  parameters: {type: object}\n" + cases,
		"json":         `{"callvet":1,"name":"n","tools":[{"name":"a","description":"Words of a","parameters":{"type":"object"},"family":"f"},{"name":"other","description":"Of another server","parameters":{"type":"object"}}],"cases":[{"id":"one","prompt":"What?","expect":{"tools_called":["a"]}}]}`,
	} {
		for _, drafts := range []bool{false, true} {
			s, err := readOwn("suite", []byte(text))
			if err != nil {
				t.Fatal(name, err)
			}
			r := &ImportMCPResult{Server: mcp.Server{Name: "srv"}}
			output := "suite.yaml"
			if name == "json" {
				output = "suite.json"
			}
			if err := r.write(&before{"suite", []byte(text), s}, list,
				&ImportMCPRequest{Output: output, DraftCases: drafts}, nil); err != nil {
				t.Fatal(name, err)
			}
			got, err := readOwn("suite", r.Data)
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, r.Data)
			}
			var names []string
			for i := range got.Tools {
				names = append(names, got.Tools[i].Name)
			}
			for i := range got.Cases {
				names = append(names, got.Cases[i].ID)
			}
			want := "a b other"
			if name != "no cases" {
				want += " one"
			}
			if drafts && name == "no cases" {
				want += " draft-a"
			}
			if drafts {
				want += " draft-b"
			}
			if d := cmp.Diff(want, strings.Join(names, " ")); d != "" || got.Tools[0].Family != "f" ||
				got.Tools[0].Description != "New words of a" || !*got.Tools[0].ReadOnly {
				t.Errorf("%s, drafts %v: %s\n%s", name, drafts, d, r.Data)
			}
			if strings.Contains(text, "ours, too") && !drafts && !strings.Contains(string(r.Data), "ours, too") ||
				strings.Contains(text, "# head") && !strings.Contains(string(r.Data), "# head") {
				t.Errorf("%s, drafts %v: comments are lost\n%s", name, drafts, r.Data)
			}
			changes := ""
			for _, c := range r.Changes {
				changes += c.Tool + " " + c.What + ";"
			}
			if d := cmp.Diff("a description;a flags;b new;other gone;", changes); d != "" {
				t.Error(name, d)
			}
		}
	}
}

// TestNotOwn: a suite of another form, and one with tools in other files, are not changed.
func TestNotOwn(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"bytes": "\x00", "no suite": "7", "openai": `{"messages":[{"role":"user","content":"hi"}],"tools":[]}`,
		"elsewhere": "callvet: 1\nname: n\ntools_from: tools.json\ncases: []\n",
	} {
		a := app.New(app.Config{Files: app.Uploads{"s": []byte(text)}, Permit: app.Permit{Commands: true}})
		if _, err := ImportMCP(t.Context(), a,
			ImportMCPRequest{MCPServer: app.MCPServer{Command: "false"}, Output: "s"},
			nil); err == nil || !strings.Contains(err.Error(), "import tools into s") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ImportMCP(t.Context(), app.New(app.Config{Files: app.Uploads{}}),
		ImportMCPRequest{MCPServer: app.MCPServer{Command: "false"}}, nil); err == nil ||
		!strings.Contains(err.Error(), "denied") {
		t.Errorf("a command without permission: %v", err)
	}
}
