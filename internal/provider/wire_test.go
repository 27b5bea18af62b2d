// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const chatAnswer = `{"id":"chatcmpl-1","object":"chat.completion","created":1790000000,"model":"gpt-4.1-mini-2025-04-14",
 "choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[
   {"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]},"finish_reason":"tool_calls"}],
 "usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":5}}}`

const responsesAnswer = `{"id":"resp_1","object":"response","status":"completed","model":"gpt-5-mini-2025-08-07","output":[
 {"id":"rs_1","type":"reasoning","encrypted_content":"e30","summary":[{"type":"summary_text","text":"Look it up."}]},
 {"id":"fc_1","type":"function_call","call_id":"call_1","name":"get_weather","arguments":"{\"city\":\"Oslo\"}","status":"completed"},
 {"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"One moment."}]}],
 "usage":{"input_tokens":100,"output_tokens":20,"total_tokens":120,"input_tokens_details":{"cached_tokens":40},"output_tokens_details":{"reasoning_tokens":5}}}`

const messagesAnswer = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-20250514","content":[
 {"type":"thinking","thinking":"Look it up.","signature":"c2ln"},{"type":"text","text":"One moment."},
 {"type":"tool_use","id":"toolu_1","name":"get_weather","input":{"city": "Oslo"}}],
 "stop_reason":"tool_use","usage":{"input_tokens":60,"cache_read_input_tokens":40,"output_tokens":20}}`

const geminiAnswer = `{"candidates":[{"content":{"role":"model","parts":[{"text":"Look it up.","thought":true},{"text":"One moment."},
 {"functionCall":{"name":"get_weather","args":{"city": "Oslo"}},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}],
 "usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":15,"thoughtsTokenCount":5,"cachedContentTokenCount":40},"modelVersion":"gemini-2.5-flash"}`

// TestRequests pins the bytes and headers that each wire sends.
func TestRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, spec, answer, path, header, value string
	}{
		{"openai", "openai/gpt-4.1-mini", chatAnswer, "/v1/chat/completions", "Authorization", "Bearer secret-key-123"},
		{
			"openai-reasoning", "openai/gpt-5-mini", chatAnswer, "/v1/chat/completions", "Authorization",
			"Bearer secret-key-123",
		},
		{
			"mistral", "mistral/mistral-small-latest", chatAnswer, "/v1/chat/completions", "Authorization",
			"Bearer secret-key-123",
		},
		{"azure", "azure/my-deployment", chatAnswer, "/v1/chat/completions", "Api-Key", "secret-key-123"},
		{
			"responses", "openai-responses/gpt-5-mini", responsesAnswer, "/v1/responses", "Authorization",
			"Bearer secret-key-123",
		},
		{
			"anthropic", "anthropic/claude-sonnet-4-20250514", messagesAnswer, "/v1/messages", "X-Api-Key",
			"secret-key-123",
		},
		{
			"gemini", "gemini/gemini-2.5-flash", geminiAnswer, "/v1/models/gemini-2.5-flash:generateContent",
			"X-Goog-Api-Key", "secret-key-123",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := replies(t, c.answer)
			m, target := mustOpen(t, c.spec,
				Config{BaseURL: f.URL + "/v1", APIKey: "secret-key-123", Params: allParams()})
			req := longRequest()
			req.Params = target.Params
			resp := ask(t, m, req)
			golden(t, c.name, f.bodies[0])
			if got := f.requests[0]; got.URL.Path != c.path || got.Header.Get(c.header) != c.value ||
				got.Header.Get("Accept-Encoding") != "" {
				t.Errorf("sent to %s with %v", got.URL.Path, got.Header)
			}
			kept := string(resp.Exchanges[0].Request)
			if !json.Valid([]byte(kept)) || !strings.HasSuffix(kept, `,"tools":{"$tools":"`+req.Tools.Hash+`"}}`) ||
				strings.Contains(kept, "enum") {
				t.Errorf("kept request %s", kept)
			}
			if !bytes.Contains(f.bodies[0], req.Tools.Tools[0].Parameters) {
				t.Error("the schema was not sent byte for byte")
			}
		})
	}
}

func TestToolChoice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spec, choice, want string }{
		{"openai/m", "auto", `"tool_choice":"auto"`},
		{"openai/m", "none", `"tool_choice":"none"`},
		{"openai/m", "get_time", `"tool_choice":{"type":"function","function":{"name":"get_time"}}`},
		{"openai-responses/m", "get_time", `"tool_choice":{"type":"function","name":"get_time"}`},
		{"anthropic/m", "auto", `"tool_choice":{"type":"auto"}`},
		{"anthropic/m", "required", `"tool_choice":{"type":"any"}`},
		{"anthropic/m", "none", `"tool_choice":{"type":"none"}`},
		{"anthropic/m", "get_time", `"tool_choice":{"type":"tool","name":"get_time"}`},
		{"gemini/m", "auto", `"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}`},
		{"gemini/m", "required", `"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`},
		{"gemini/m", "none", `"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`},
		{
			"gemini/m", "get_time",
			`"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["get_time"]}}`,
		},
	} {
		t.Run(c.spec+" "+c.choice, func(t *testing.T) {
			t.Parallel()
			answers := map[string]string{
				"openai/m": chatAnswer, "openai-responses/m": responsesAnswer,
				"anthropic/m": messagesAnswer, "gemini/m": geminiAnswer,
			}
			f := replies(t, answers[c.spec])
			m, _ := mustOpen(t, c.spec, Config{BaseURL: f.URL})
			turns := []callvet.Turn{{Role: callvet.RoleUser, Content: "hi"}}
			resp := ask(t, m, &callvet.Request{Turns: turns, Tools: weatherTools(), ToolChoice: c.choice})
			if body := string(f.bodies[0]); !strings.Contains(body, c.want) {
				t.Errorf("sent %s, want %s in it", body, c.want)
			}
			if resp.ToolChoice != c.choice {
				t.Errorf("recorded %q", resp.ToolChoice)
			}
			// Without tools there is no choice to send.
			ask(t, m, &callvet.Request{Turns: turns, ToolChoice: c.choice})
			if body := strings.ToLower(string(f.bodies[1])); strings.Contains(body, "tool") {
				t.Errorf("sent %s without tools", body)
			}
		})
	}
}

// TestAnswers reads one answer of every wire and sends it back with the next request.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec, answer, id, text, thought, finish, model, echo string
		reasoning                                            int
		cost                                                 *float64
	}{
		{
			"openai/gpt-4.1-mini", chatAnswer, "call_1", "", "", "tool_calls", "gpt-4.1-mini-2025-04-14",
			`{"id":"call_1","type":"function"`, 5, ptr((60*0.4 + 40*0.1 + 20*1.6) / 1e6),
		},
		{
			"openai-responses/gpt-5-mini", responsesAnswer, "call_1", "One moment.", "Look it up.", "completed",
			"gpt-5-mini-2025-08-07", `"encrypted_content":"e30"`, 5, ptr((60*0.25 + 40*0.025 + 20*2.0) / 1e6),
		},
		{
			"anthropic/claude-sonnet-4-20250514", messagesAnswer, "toolu_1", "One moment.", "Look it up.", "tool_use",
			"claude-sonnet-4-20250514", `"signature":"c2ln"`, 0, ptr((60*3.0 + 40*0.3 + 20*15.0) / 1e6),
		},
		{
			"gemini/gemini-2.5-flash", geminiAnswer, "c00010000", "One moment.", "Look it up.", "STOP", "gemini-2.5-flash",
			`"thoughtSignature":"c2ln"`, 5, nil,
		},
	} {
		t.Run(c.spec, func(t *testing.T) {
			t.Parallel()
			f := replies(t, c.answer)
			m, _ := mustOpen(t, c.spec, Config{BaseURL: f.URL})
			req := &callvet.Request{
				Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: "Weather in Oslo?"}},
				Tools: weatherTools(),
			}
			resp := ask(t, m, req)
			turn := resp.Turns[0]
			if len(turn.Calls) != 1 {
				t.Fatalf("calls %+v", turn.Calls)
			}
			call := turn.Calls[0]
			if call.ID != c.id || call.Tool != "get_weather" ||
				strings.ReplaceAll(string(call.Args), " ", "") != `{"city":"Oslo"}` || call.ArgsRaw != "" {
				t.Errorf("call %+v", call)
			}
			if turn.Content != c.text || turn.Reasoning != c.thought || resp.FinishReason != c.finish ||
				resp.Model != c.model {
				t.Errorf("answer %+v", resp)
			}
			want := callvet.Usage{
				InputTokens: 100, OutputTokens: 20, CachedTokens: 40, ReasoningTokens: c.reasoning,
				Known: true, CostUSD: c.cost,
			}
			if d := cmp.Diff(want, resp.Usage, cmpopts.IgnoreFields(callvet.Usage{}, "PriceDate", "AtMostUSD"),
				cmpopts.EquateApprox(1e-9, 0)); d != "" {
				t.Errorf("usage (-want +got):\n%s", d)
			}
			if (c.cost == nil) != (resp.Usage.AtMostUSD != nil) {
				t.Errorf("bound %v of cost %v", resp.Usage.AtMostUSD, c.cost)
			}
			req.Turns = append(req.Turns, turn,
				callvet.Turn{Role: callvet.RoleTool, CallID: call.ID, Tool: call.Tool, Content: "sunny"})
			ask(t, m, req)
			if body := string(f.bodies[1]); !strings.Contains(body, c.echo) || !json.Valid(f.bodies[1]) ||
				!strings.Contains(body, "sunny") {
				t.Errorf("second request %s lacks %s", body, c.echo)
			}
		})
	}
}

// chatWith is a Chat Completions answer around a message.
func chatWith(message string) string {
	return `{"model":"m","choices":[{"message":` + message + `,"finish_reason":"stop"}]}`
}

func TestChatShapes(t *testing.T) {
	t.Parallel()
	city := json.RawMessage(`{"city":"Oslo"}`)
	inName := `{"name":"get_weather","arguments":{"city":"Oslo"}}`
	for _, c := range []struct {
		title, message string
		turn           callvet.Turn
		repairs        []string
		unreadable     bool
	}{
		{"text", `{"content":"Hi."}`, callvet.Turn{Content: "Hi."}, nil, false},
		{
			"parts",
			`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"Hi."}]}`,
			callvet.Turn{Content: "Hi.", Reasoning: "Hm."},
			nil, false,
		},
		{
			"reasoning", `{"content":"Hi.","reasoning_content":"Hm."}`,
			callvet.Turn{Content: "Hi.", Reasoning: "Hm."},
			nil, false,
		},
		{"refusal", `{"content":null,"refusal":"No."}`, callvet.Turn{Content: "No."}, nil, false},
		{
			"cut arguments",
			`{"tool_calls":[{"id":"a","function":{"name":"get_weather","arguments":"{\"city\":\"Os"}}]}`,
			callvet.Turn{Calls: []callvet.Call{{ID: "a", Tool: "get_weather", ArgsRaw: `{"city":"Os`}}},
			nil, false,
		},
		{
			"no id, object arguments",
			`{"tool_calls":[{"function":{"name":"get_weather","arguments":{"city":"Oslo"}}},{"function":{"name":"get_time","arguments":null}}]}`,
			callvet.Turn{Calls: []callvet.Call{
				{ID: "c00010000", Tool: "get_weather", Args: city},
				{ID: "c00010001", Tool: "get_time", Args: json.RawMessage(`{}`)},
			}},
			nil, false,
		},
		{
			"call in the name", `{"tool_calls":[{"id":"a","function":{"name":` + string(appendText(nil, inName)) +
				`,"arguments":""}}]}`,
			callvet.Turn{Calls: []callvet.Call{{
				ID: "a", Tool: "get_weather", Args: city, ArgsRaw: inName,
				Repairs: []string{message.InName},
			}}},
			[]string{message.InName},
			false,
		},
		{
			"call in the text", `{"content":` + string(appendText(nil, inName)) + `}`,
			callvet.Turn{
				Content: inName,
				Calls: []callvet.Call{{
					ID: "c00010000", Tool: "get_weather", Args: city,
					Repairs: []string{message.InText},
				}},
			},
			[]string{message.InText},
			false,
		},
		{
			"call cut in the text", `{"content":"{\"name\":\"get_weather\",\"arguments\":{"}`,
			callvet.Turn{Content: `{"name":"get_weather","arguments":{`},
			nil, true,
		},
		{
			"old function call", `{"function_call":{"name":"get_time","arguments":"{}"}}`,
			callvet.Turn{Calls: []callvet.Call{{ID: "c00010000", Tool: "get_time", Args: json.RawMessage(`{}`)}}},
			nil, false,
		},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			f := replies(t, chatWith(c.message))
			m, _ := mustOpen(t, "vllm/qwen3", Config{BaseURL: f.URL})
			req := &callvet.Request{
				Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: "?"}},
				Tools: weatherTools(),
			}
			resp := ask(t, m, req)
			c.turn.Role = callvet.RoleAssistant
			if d := cmp.Diff(c.turn, resp.Turns[0], cmpopts.IgnoreFields(callvet.Turn{}, "Raw"),
				cmpopts.EquateEmpty()); d != "" {
				t.Errorf("turn (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.repairs, resp.Repairs); d != "" || resp.Unreadable != c.unreadable {
				t.Errorf("repairs %v, unreadable %v", resp.Repairs, resp.Unreadable)
			}
			// What goes back has the ids that the results will name.
			req.Turns = append(req.Turns, resp.Turns[0])
			for _, call := range resp.Turns[0].Calls {
				req.Turns = append(req.Turns, callvet.Turn{Role: callvet.RoleTool, CallID: call.ID, Content: "ok"})
			}
			ask(t, m, req)
			for _, call := range resp.Turns[0].Calls {
				if n := strings.Count(string(f.bodies[1]), `"`+call.ID+`"`); n != 2 {
					t.Errorf("id %s stands %d times in %s", call.ID, n, f.bodies[1])
				}
			}
		})
	}
}

func TestGeminiUnreadable(t *testing.T) {
	t.Parallel()
	f := replies(t, `{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`)
	m, _ := mustOpen(t, "gemini/gemini-2.5-flash", Config{BaseURL: f.URL})
	if resp := ask(t, m, &callvet.Request{Tools: weatherTools()}); resp.FinishReason != "MALFORMED_FUNCTION_CALL" {
		t.Errorf("%+v", resp)
	} else if why, f := resp.Ending(); why != "" || f == nil || f.Kind != callvet.FaultNoCall {
		t.Errorf("%q, %+v", why, f)
	}
	f = replies(t, `{"promptFeedback":{"blockReason":"SAFETY"}}`)
	m, _ = mustOpen(t, "gemini/gemini-2.5-flash", Config{BaseURL: f.URL})
	if resp := ask(t, m, &callvet.Request{Tools: weatherTools()}); resp.FinishReason != "blocked: SAFETY" ||
		len(resp.Turns) != 1 {
		t.Errorf("%+v", resp)
	}
}

// TestConcurrent lets many goroutines share one model, as the engine does.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	f := replies(t, chatAnswer)
	m, _ := mustOpen(t, "openai/gpt-4.1-mini", Config{BaseURL: f.URL})
	errs := make(chan error)
	for range 16 {
		go func() {
			_, err := m.Generate(context.Background(), longRequest())
			errs <- err
		}()
	}
	for range 16 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
