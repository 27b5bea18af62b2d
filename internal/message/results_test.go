// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"testing"

	"github.com/callvet/callvet"
)

// TestResultsOfCalls: each result belongs to its own call, in recordings and traces alike.
func TestResultsOfCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		results []string
	}{
		"a call without a result after one with": {
			`[{"tool":"search","args":{"q":"x"},"result":{"n":1}},{"tool":"delete_account","args":{}}]`,
			[]string{`{"n":1}`, ""},
		},
		"a response of the GenAI conventions": {
			`[{"role":"user","parts":[{"type":"text","content":"hi"}]},
				{"role":"assistant","parts":[{"type":"tool_call","id":"1","name":"f","arguments":{}}]},
				{"role":"tool","parts":[{"type":"tool_call_response","id":"1","response":"{\"t\":18}"}]}]`,
			[]string{`{"t":18}`},
		},
		"a response of Gemini's Python library": {
			`[{"role":"model","parts":[{"function_call":{"id":"1","name":"f","args":{}}}]},
				{"role":"user","parts":[{"function_response":{"id":"1","name":"f","response":{"t":18}}}]}]`,
			[]string{`{"t":18}`},
		},
	} {
		resp, err := Decode(parse(t, c.text), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, turn := range resp.Turns {
			for _, call := range turn.Calls {
				got = append(got, string(call.Result))
			}
		}
		if len(got) != len(c.results) {
			t.Errorf("%s: results %q", name, got)
			continue
		}
		for i := range got {
			if got[i] != c.results[i] {
				t.Errorf("%s: result %d is %q, want %q", name, i, got[i], c.results[i])
			}
		}
	}
}

// TestPartsOfMessages: a message of a trace is read by the same table of parts as an answer.
func TestPartsOfMessages(t *testing.T) {
	t.Parallel()
	thought := Turns(parse(t, `{"role":"model","parts":[{"text":"Hm.","thought":true},{"text":"No."}]}`))
	if len(thought) != 1 || thought[0].Reasoning != "Hm." || thought[0].Content != "No." {
		t.Errorf("a thought of Gemini: %+v", thought)
	}
	failed := Turns(
		parse(t, `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"1","toolName":"del","input":{}},
		{"type":"tool-error","toolCallId":"1","toolName":"del","error":{"message":"no"}}]}`))
	if len(failed) != 2 || len(failed[0].Calls) != 1 || failed[1].Role != callvet.RoleTool || !Erred(&failed[1]) {
		t.Errorf("an error of a tool of the AI SDK: %+v", failed)
	}
	if u := MetaOf(parse(t,
		`{"usage":{"input_tokens":10,"output_tokens":1,"input_tokens_cache_read":4}}`)).Usage; u.CachedTokens != 4 {
		t.Errorf("tokens read from a cache: %+v", u)
	}
}
