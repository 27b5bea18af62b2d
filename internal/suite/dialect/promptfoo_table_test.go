// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTestOfRow: a row of a spreadsheet stands for a test.
func TestTestOfRow(t *testing.T) {
	t.Parallel()
	got := string(testOfRow(
		[]string{
			"q", " city", "__expected", "__expected2", "__description", "__metadata:lang", "__threshold",
			"__metric", "more",
		},
		[]string{"Rain?", "", "contains: rain", "", "wet", "en", "0.5", "m"},
	))
	want := `{"description":"wet","threshold":0.5,"vars":{"q":"Rain?","city":""},"metadata":{"lang":"en"},"assert":[{"type":"contains","value":"rain"}]}`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestAssertOfText: a cell names a type of assertion, or is the whole answer.
func TestAssertOfText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Paris":                         `{"type":"equals","value":"Paris"}`,
		"note: wet":                     `{"type":"equals","value":"note: wet"}`,
		"contains: a: b":                `{"type":"contains","value":"a: b"}`,
		"not-icontains:bye":             `{"type":"not-icontains","value":"bye"}`,
		"contains-any: a, b c":          `{"type":"contains-any","value":["a","b c"]}`,
		"similar(0.8): the sea":         `{"type":"similar","threshold":0.8,"value":"the sea"}`,
		"is-valid-openai-tools-call":    `{"type":"is-valid-openai-tools-call"}`,
		"fn: output.length > 1":         `{"type":"javascript","value":"output.length > 1"}`,
		"grade: is kind":                `{"type":"llm-rubric","value":"is kind"}`,
		"javascript: a === 'b' ? 1 : 0": `{"type":"javascript","value":"a === 'b' ? 1 : 0"}`,
	} {
		if d := cmp.Diff(want, string(assertOfText(text))); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}
