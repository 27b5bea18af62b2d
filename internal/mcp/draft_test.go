// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
)

// TestDraft: the prompt is made of the description, does not name the tool and does not run.
func TestDraft(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, description, schema, want string }{
		{
			"create_issue", "Create a new issue in a repository. Needs rights.",
			`{"properties":{"repo":{"type":"string"},"n":{"type":"integer"},"kind":{"enum":["bug","task"]}},"required":["repo","kind"]}`, "I need this done: create a new issue in a repository.\nrepo: …\nkind: \"bug\"",
		},
		{"list_issues", "List issues of a repository", `{}`, "Please do what is needed with this."},
		{
			"echo", "Echoes back the input",
			`{"properties":{"message":{"type":"string","default":"hi"}},"required":["message"]}`,
			"Please do what is needed with this.\nmessage: \"hi\"",
		},
		{"x", "", `{`, "Please do what is needed with this."},
		{"pdf_pages", "PDF documents: count", ``, "I need this done: PDF documents: count."},
	} {
		c := Draft(&Tool{Tool: callvet.Tool{
			Name: tt.name, Description: tt.description,
			Parameters: json.RawMessage(tt.schema),
		}})
		if d := cmp.Diff(tt.want, c.Input[0].Content); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
		if !strings.HasPrefix(c.Skip, "draft: ") || c.Expect.ToolsCalled[0] != tt.name || c.ID != "draft-"+tt.name {
			t.Errorf("%+v", c)
		}
	}
}

// Whatever a tool's description contains, a draft does not name the tool.
func TestDraftsNeverName(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z]{2,6}(_[a-z]{2,6}){1,2}`).Draw(t, "name")
		got := rapid.SampledFrom(
			[]string{name, strings.ReplaceAll(name, "_", " "), strings.ToUpper(name), "Something else"}).Draw(t, "said")
		tool := &Tool{Tool: callvet.Tool{
			Name: name, Description: "Please " + got + " now",
			Parameters: json.RawMessage(`{"required":["` + got + `"]}`),
		}}
		text := Draft(tool).Input[0].Content
		if strings.Contains(strings.ToLower(text), name) ||
			strings.Contains(strings.ToLower(text), strings.ReplaceAll(name, "_", " ")) {
			t.Fatalf("%s is named: %s", name, text)
		}
	})
}
