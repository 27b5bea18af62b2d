// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes

import (
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/doc"
)

// TestWithPrompt: a suite gets a prompt, whatever its text and the form of the file, and nothing else changes.
func TestWithPrompt(t *testing.T) {
	t.Parallel()
	const tail = "# of the tools\ntools: [{name: a}]\ncases: [{id: c, prompt: p}]\n"
	files := map[string]string{
		"first key":     "callvet: 1\n" + tail,
		"block":         "callvet: 1\n# what it is\nsystem_prompt: |\n  Be kind.\n\n  Be brief.\n\n" + tail,
		"plain":         "callvet: 1\nsystem_prompt: Be kind. # so\n" + tail,
		"folded":        "callvet: 1\nsystem_prompt: >-\n  Be\n  kind.\n" + tail,
		"null":          "callvet: 1\nsystem_prompt:\n" + tail,
		"last":          "callvet: 1\n" + tail + "system_prompt: Be kind.",
		"CRLF":          strings.ReplaceAll("callvet: 1\nsystem_prompt: Be kind.\n"+tail, "\n", "\r\n"),
		"JSON":          `{"callvet": 1, "system_prompt": "Be kind.", "cases": [{"id": "c"}]}`,
		"JSON, without": `{"callvet": 1, "cases": [{"id": "c"}]}`,
	}
	prompts := []string{
		"Be exact.", "One: two # three\n\n  indented\n\ttab\nend ", " begins with a space\nnext", "– \"quotes\" and 'more' 日本\n",
		"- a list\n- of rules", "| bar", "&anchor *alias !tag %", strings.Repeat("long ", 200), "{{token}} ${VAR}",
	}
	for name, text := range files {
		file, bad := doc.Read("s.yaml", []byte(text))
		if strings.HasPrefix(name, "JSON") {
			file, bad = doc.Read("s.json", []byte(text))
		}
		if bad != nil {
			t.Fatal(name, bad)
		}
		for _, prompt := range prompts {
			out, ok := withPrompt(file, []byte(text), prompt)
			after, bad := doc.Read(file.Name, out)
			if !ok || bad != nil || !samePrompt(&file.Root, &after.Root, prompt) {
				t.Errorf("%s, %.20q: %v, %v\n%s", name, prompt, ok, bad, out)
			}
			for _, comment := range []string{"# of the tools", "# what it is"} {
				if strings.Contains(text, comment) && !strings.Contains(string(out), comment) {
					t.Errorf("%s, %.20q: the comment %q is lost:\n%s", name, prompt, comment, out)
				}
			}
		}
	}
}
