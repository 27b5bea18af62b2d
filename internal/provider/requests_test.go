// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
	"github.com/google/go-cmp/cmp"
)

// sent is the body of a request as a model sends it.
func sent(t *testing.T, spec string, params callvet.Params, req *callvet.Request) string {
	t.Helper()
	m, target := mustOpen(t, spec, Config{APIKey: "k", Params: params})
	req.Params = target.Params
	q := m.(*model).query(req)
	body, _ := m.(*model).encode(q)
	if !json.Valid(body) {
		t.Fatalf("%s is not JSON", body)
	}
	return string(body)
}

// elsewhere is a history that another provider's model made, with its ids.
func elsewhere(ids ...string) *callvet.Request {
	turns := []callvet.Turn{{Role: callvet.RoleUser, Content: "?"}}
	for _, id := range ids {
		turns = append(
			turns,
			callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{
				{ID: id, Tool: "get_weather", Args: json.RawMessage(`{"city":"Oslo"}`)},
				{ID: id + "b", Tool: "get_time", Args: json.RawMessage(`{}`), Status: callvet.StatusExecErr},
			}},
			callvet.Turn{Role: callvet.RoleTool, CallID: id, Content: "sunny"},
			callvet.Turn{Role: callvet.RoleTool, CallID: id + "b", Content: `{"error":"no clock"}`},
		)
	}
	return &callvet.Request{Turns: turns, Tools: weatherTools()}
}

// TestForeignIDs: every provider gets ids that it takes, each call another one, and each
// result that of its call; the turns themselves keep theirs.
func TestForeignIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spec, key, answers, form string }{
		{"anthropic/claude-sonnet-4-5", `"id":"`, `"tool_use_id":"`, `^[a-zA-Z0-9_-]{1,64}$`},
		{"openai/gpt-4.1", `"id":"`, `"tool_call_id":"`, `^[a-zA-Z0-9_-]{1,40}$`},
		{"openai-responses/gpt-5", `"call_id":"`, `_output","call_id":"`, `^[a-zA-Z0-9_-]{1,64}$`},
		{"mistral/mistral-large-latest", `"id":"`, `"tool_call_id":"`, `^[a-zA-Z0-9]{9}$`},
		{"vllm/kimi-k2", `"id":"`, `"tool_call_id":"`, `^.+$`},
	} {
		long := strings.Repeat("x", 90)
		req := elsewhere("functions.get_weather:0", "functions/get_weather:0", "call|ü", "same", "same", long+"1",
			long+"2", "")
		before, _ := json.Marshal(req.Turns)
		body := sent(t, c.spec, callvet.Params{}, req)
		if after, _ := json.Marshal(req.Turns); string(before) != string(after) {
			t.Errorf("%s: the turns were changed", c.spec)
		}
		form := regexp.MustCompile(c.form)
		var calls, results []string
		for _, part := range strings.Split(body, c.key)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			calls = append(calls, id)
		}
		for _, part := range strings.Split(body, c.answers)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			results = append(results, id)
		}
		if c.key == `"call_id":"` { // both kinds of items have it: two calls, then two results
			var own []string
			for i, id := range calls {
				if i%4 < 2 {
					own = append(own, id)
				}
			}
			calls = own
		}
		if d := cmp.Diff(calls, results); d != "" || len(calls) != 16 {
			t.Errorf("%s: ids of %d calls and of results (-calls +results):\n%s", c.spec, len(calls), d)
		}
		seen := map[string]bool{}
		for _, id := range calls {
			if !form.MatchString(id) || seen[id] {
				t.Errorf("%s: id %q", c.spec, id)
			}
			seen[id] = true
		}
	}
}

// TestErrorResults: requests to Anthropic mark results that are errors.
func TestErrorResults(t *testing.T) {
	t.Parallel()
	req := elsewhere("a")
	body := sent(t, "anthropic/claude-sonnet-4-5", callvet.Params{}, req)
	if !strings.Contains(body, `"tool_use_id":"a","content":"sunny"}`) ||
		!strings.Contains(body, `"tool_use_id":"ab","content":"{\"error\":\"no clock\"}","is_error":true}`) {
		t.Error(body)
	}
	req.Turns[1].Calls[1].Status = callvet.StatusOK
	if body := sent(t, "anthropic/claude-sonnet-4-5", callvet.Params{}, req); strings.Contains(body, "is_error") {
		t.Error(body)
	}
	req.Turns[1].Calls[1].Error = "no clock"
	if body := sent(t, "anthropic/claude-sonnet-4-5", callvet.Params{}, req); strings.Count(body,
		`"is_error":true`) != 1 {
		t.Error(body)
	}
}

// TestSignatures: Gemini 3 demands a signature with the first call of a message, which a
// history made elsewhere does not have; older models get none, nor do messages of its own.
func TestSignatures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model string
		want  int
	}{
		{"gemini-3-pro-preview", 2},
		{"gemini-3.1-flash", 2},
		{"gemini-4-pro", 2},
		{"gemini-2.5-pro", 0},
		{"gemini-2.0-flash", 0},
	} {
		body := sent(t, "gemini/"+c.model, callvet.Params{}, elsewhere("a", "b"))
		if got := strings.Count(body, `},"thoughtSignature":"skip_thought_signature_validator"}`); got != c.want {
			t.Errorf("%s: %d signatures in %s", c.model, got, body)
		}
	}
	req := elsewhere("a")
	req.Turns[1].Raw = json.RawMessage(
		`{"role":"model","parts":[{"functionCall":{"name":"get_weather","args":{}},"thoughtSignature":"c2ln"}]}`)
	if body := sent(t, "gemini/gemini-3-pro", callvet.Params{}, req); strings.Contains(body, noSignature) ||
		!strings.Contains(body, "c2ln") {
		t.Error(body)
	}
}

// TestEffort: each provider gets an effort under its name and with a value that it has.
func TestEffort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spec, effort, want string }{
		{"anthropic/claude-opus-4-7", "xhigh", `"output_config":{"effort":"xhigh"}`},
		{"anthropic/claude-opus-5-5", "minimal", `"output_config":{"effort":"low"}`},
		{"anthropic/claude-haiku-5-5", "none", ""},
		{"anthropic/claude-sonnet-4-6", "xhigh", `"output_config":{"effort":"high"}`},
		{"anthropic/claude-opus-4-5-20251101", "max", `"output_config":{"effort":"high"}`},
		{"anthropic/claude-sonnet-4-5", "high", ""},
		{"anthropic/claude-opus-4-20250514", "high", ""},
		{"anthropic/claude-opus-4-1", "high", ""},
		{"anthropic/claude-3-7-sonnet-latest", "high", ""},
		{"anthropic/claude-nova-1", "high", `"output_config":{"effort":"high"}`},
		{"gemini/gemini-3-pro", "low", `"thinkingConfig":{"thinkingLevel":"LOW"}`},
		{"gemini/gemini-3.1-pro", "max", `"thinkingConfig":{"thinkingLevel":"HIGH"}`},
		{"gemini/gemini-3-flash", "none", ""},
		{"mistral/magistral-medium-latest", "max", `"reasoning_effort":"xhigh"`},
		{"openai/gpt-5.2", "xhigh", `"reasoning_effort":"xhigh"`},
		{"openai/gpt-5.4", "max", `"reasoning":{"effort":"max"}`},
	} {
		body := sent(t, c.spec, callvet.Params{ReasoningEffort: c.effort}, hello())
		got := strings.Contains(body, "ffort") || strings.Contains(body, "thinking")
		if got != (c.want != "") || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %s", c.spec, c.effort, body)
		}
	}
	own := callvet.Params{
		ReasoningEffort: "high",
		Extra:           map[string]json.RawMessage{"output_config": json.RawMessage(`{"effort":"low"}`)},
	}
	if body := sent(t, "anthropic/claude-opus-4-7", own, hello()); strings.Count(body, "output_config") != 1 ||
		!strings.Contains(body, `"low"`) {
		t.Error(body)
	}
}

// TestClaudeSampling: models after Claude Opus 4.6 take no temperature and no top_p.
func TestClaudeSampling(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec string
		want bool // the temperature is sent
	}{
		{"anthropic/claude-opus-4-6", true},
		{"anthropic/claude-opus-4-20250514", true},
		{"anthropic/claude-sonnet-4-6", true},
		{"anthropic/claude-haiku-4-5-20251001", true},
		{"anthropic/claude-3-5-sonnet-20241022", true},
		{"anthropic/claude-opus-4-7", false},
		{"anthropic/claude-opus-4-10", false},
		{"anthropic/claude-opus-5", false},
		{"anthropic/claude-sonnet-5-5-20260901", false},
		{"anthropic/claude-fable-5", false},
		{"anthropic/claude-mythos-preview", false},
		{"openrouter/anthropic/claude-opus-4.7", false},
		{"openrouter/anthropic/claude-opus-4.6", true},
	} {
		for _, p := range []callvet.Params{{Temperature: ptr(0.0)}, {TopP: ptr(0.5)}} {
			body := sent(t, c.spec, p, hello())
			if got := strings.Contains(body, `"temperature"`) || strings.Contains(body, `"top_p"`); got != c.want {
				t.Errorf("%s: %s", c.spec, body)
			}
		}
	}
}

// TestEmptyMessages: an empty answer is left out where it would be refused.
func TestEmptyMessages(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro"} {
		req := hello()
		req.Turns = append(req.Turns, callvet.Turn{Role: callvet.RoleAssistant},
			callvet.Turn{Role: callvet.RoleUser, Content: "Well?"})
		if body := sent(t, spec, callvet.Params{}, req); strings.Contains(body, `"assistant"`) ||
			strings.Contains(body, `"model","parts"`) || !strings.Contains(body, "Well?") {
			t.Error(body)
		}
	}
}

func TestNoParameters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ parameters, want string }{
		{"", `{"type":"object","properties":{}}`},
		{"null", `{"type":"object","properties":{}}`},
		{"{}", `{"type":"object","properties":{}}`},
		{"true", `{"type":"object","properties":{}}`},
		{` {"required": ["a"]}`, `{"type":"object","required": ["a"]}`},
		{`{"type": "object"}`, `{"type": "object"}`},
	} {
		if got := string(schema(&callvet.Tool{Parameters: json.RawMessage(c.parameters)})); got != c.want {
			t.Errorf("%s: %s", c.parameters, got)
		}
	}
}

// TestEcho: what only answers have does not go back.
func TestEcho(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ message, want string }{
		{`{"role": "assistant", "content":"Hi."}`, `{"role": "assistant", "content":"Hi."}`},
		{
			`{"role":"assistant","content":"Hi.","annotations":[],"audio":null,"function_call":null,"tool_calls":[]}`,
			`{"role":"assistant","content":"Hi."}`,
		},
		{`{"role":"assistant","content":null,"annotations":[{"a":1}],"tool_calls":[{"id":"a"}],"reasoning_content":"Hm."}`, `{"role":"assistant","content":null,"tool_calls":[{"id":"a"}],"reasoning_content":"Hm."}`},
		{
			`{"content":"Hi.","audio":{"data":"","id":""},"function_call":{"name":"","arguments":""}}`,
			`{"content":"Hi."}`,
		},
		{
			`{"content":null,"audio":{"id":"a"},"function_call":{"name":"f","arguments":""}}`,
			`{"content":null,"audio":{"id":"a"},"function_call":{"name":"f","arguments":""}}`,
		},
		{`{"annotations":[]}`, ``},
	} {
		v, err := value.Parse([]byte(c.message))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(echo(v)); got != c.want {
			t.Errorf("%s goes back as %s", c.message, got)
		}
	}
}

// TestReasoningDetails: what OpenRouter streams of the reasoning goes back whole, each
// element in one piece and with its signature.
func TestReasoningDetails(t *testing.T) {
	t.Parallel()
	const streamed = `data: {"choices":[{"delta":{"reasoning":"Look ","reasoning_details":[{"type":"reasoning.text","text":"Look ","format":"anthropic-claude-v1","index":0}]}}]}

data: {"choices":[{"delta":{"reasoning":"it up.","reasoning_details":[{"type":"reasoning.text","text":"it up.","signature":null,"index":0}]}}]}

data: {"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","index":0},{"type":"reasoning.encrypted","data":"e30","id":"rs_1","index":1}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"get_time","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}

data: [DONE]

`
	f := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, streamed)
	})
	m, _ := mustOpen(t, "openrouter/anthropic/claude-sonnet-4.5", Config{BaseURL: f.URL, Stream: true})
	req := &callvet.Request{Turns: hello().Turns, Tools: weatherTools()}
	resp := ask(t, m, req)
	req.Turns = append(req.Turns, resp.Turns[0],
		callvet.Turn{Role: callvet.RoleTool, CallID: "call_1", Tool: "get_time", Content: "12:00"})
	ask(t, m, req)
	const want = `"reasoning":"Look it up.","reasoning_details":[{"type":"reasoning.text","text":"Look it up.","format":"anthropic-claude-v1","index":0,"signature":"c2ln"},{"type":"reasoning.encrypted","data":"e30","id":"rs_1","index":1}]}`
	if got := string(f.bodies[1]); !strings.Contains(got, want) || !json.Valid(f.bodies[1]) {
		t.Errorf("sent %s", got)
	}
}
