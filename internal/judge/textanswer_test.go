// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge_test

import (
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/judge"
)

func TestReadText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, answer string
		text         string
		mended       bool
		wrong        string
	}{
		{"as asked", `{"prompt": "Call tools.\nAsk first.", "note": "shorter"}`, "Call tools.\nAsk first.", false, ""},
		{"in a fence", "Here it is:\n```json\n{\"prompt\": \"Call tools.\"}\n```\nEnjoy!", "Call tools.", true, ""},
		{"after a thought", `<think>{"prompt": "no"}</think>{"prompt": "Call tools."}`, "Call tools.", false, ""},
		{"other quotes, a comma too many", `{'prompt': 'Call tools.',}`, "Call tools.", true, ""},
		{
			"line breaks within the text", "{\"prompt\": \"Call tools.\nAsk first.\"}",
			"Call tools.\nAsk first.", true, "",
		},
		{"within another object", `{"result": {"prompt": "Call tools."}}`, "Call tools.", false, ""},
		{"another spelling", `{"Prompt": "Call tools."}`, "Call tools.", false, ""},
		{"twice the same", `{"prompt": "A"} {"prompt": "A"}`, "A", true, ""},
		{"an empty text", `{"prompt": ""}`, "", false, ""},
		{"two texts", `{"prompt": "A"} {"prompt": "B"}`, "", true, "two different texts"},
		{"cut off", `{"prompt": "Call to`, "", true, "cut off"},
		{"no text", `{"prompt": ["A"]}`, "", false, "prompt is"},
		{"another member", `{"answer": "A"}`, "", false, "no JSON object with the text prompt"},
		{"prose", "Call tools when they are needed.", "", true, "no JSON object"},
		{"refusal", "I'm sorry, I cannot help with that.", "", true, "refused"},
		{"nothing", " \n", "", false, "empty"},
		{"too long", `{"prompt": "` + strings.Repeat("a", 300<<10) + `"}`, "", false, "longer"},
	} {
		text, mended, wrong := judge.ReadText(tt.answer, "prompt")
		if text != tt.text || mended != tt.mended || (wrong == "") != (tt.wrong == "") ||
			!strings.Contains(wrong, tt.wrong) {
			t.Errorf("%s: %q, mended %v, wrong %q; want %q, %v, %q", tt.name, text, mended, wrong, tt.text,
				tt.mended, tt.wrong)
		}
	}
}

func FuzzReadText(f *testing.F) {
	f.Add(`{"prompt": "A"}`)
	f.Add("```\n{'prompt': 'A\n")
	f.Fuzz(func(t *testing.T, answer string) {
		if text, _, wrong := judge.ReadText(answer, "prompt"); text != "" && wrong != "" {
			t.Errorf("%q and %q", text, wrong)
		}
	})
}
