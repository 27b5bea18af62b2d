// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"testing"

	"github.com/callvet/callvet/value"
)

// TestUITool: a part of the AI SDK's user interface names its tool in its type, with its state or its input.
func TestUITool(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type":"tool-pay","toolCallId":"1","state":"input-available","input":{}}`: "pay",
		`{"type":"tool-pay","toolCallId":"1","input":{"sum":2}}`:                    "pay",
		`{"type":"tool-pay","toolCallId":"1"}`:                                      "",
		`{"type":"tool-call","toolCallId":"1","input":{}}`:                          "",
		`{"type":"tool-pay","input":{"sum":2}}`:                                     "",
		`{"type":"tool-call","toolCallId":"1","toolName":"pay","input":{}}`:         "",
	} {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := uiTool(v); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
