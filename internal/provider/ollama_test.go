// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet"
)

const ollamaAnswer = `{"model":"m-1","message":{"role":"assistant","content":"One moment.","thinking":"Hm.","tool_calls":[{"id":"a","function":{"name":"get_weather","arguments":{"city":"Oslo"}}},{"function":{"name":"get_time","arguments":{}}}]},"done":true,"done_reason":"stop","prompt_eval_count":10,"eval_count":5}`

// ollamaStream is the same answer on several lines.
const ollamaStream = `{"model":"m-1","message":{"role":"assistant","content":"","thinking":"H"},"done":false}
{"model":"m-1","message":{"role":"assistant","content":"","thinking":"m."},"done":false}
{"model":"m-1","message":{"role":"assistant","content":"One "},"done":false}
{"model":"m-1","message":{"role":"assistant","content":"moment."},"done":false}
{"model":"m-1","message":{"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"name":"get_weather","arguments":{"city":"Oslo"}}}]},"done":false}
{"model":"m-1","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"get_time","arguments":{}}}]},"done":false}
{"model":"m-1","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":10,"eval_count":5}
`

func lines(t *testing.T, text string) *fake {
	t.Helper()
	return serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		io.WriteString(w, text)
	})
}

func TestOllamaAnswers(t *testing.T) {
	t.Parallel()
	want := callvet.Turn{Role: callvet.RoleAssistant, Content: "One moment.", Reasoning: "Hm.", Calls: []callvet.Call{
		{ID: "a", Tool: "get_weather", Args: json.RawMessage(`{"city":"Oslo"}`)},
		{Tool: "get_time", Args: json.RawMessage(`{}`)},
	}}
	for stream, f := range map[bool]*fake{false: replies(t, ollamaAnswer), true: lines(t, ollamaStream)} {
		m, _ := mustOpen(t, "ollama/m", Config{BaseURL: f.URL + "/v1", Stream: stream})
		resp := ask(t, m, &callvet.Request{Tools: weatherTools(), Turns: hello().Turns})
		if d := cmp.Diff(want, resp.Turns[0], cmpopts.IgnoreFields(callvet.Turn{}, "Raw"),
			cmpopts.IgnoreFields(callvet.Call{}, "ID")); d != "" {
			t.Errorf("stream %v: %s", stream, d)
		}
		if d := cmp.Diff(callvet.Usage{InputTokens: 10, OutputTokens: 5, Known: true}, resp.Usage); d != "" ||
			resp.FinishReason != "stop" || resp.Model != "m-1" || (resp.FirstToken > 0) != stream {
			t.Errorf("stream %v: %+v %s", stream, resp, d)
		}
	}
	for name, text := range map[string]string{
		"cut":    ollamaStream[:300],
		"no end": strings.TrimSuffix(ollamaStream, ollamaStream[strings.LastIndex(ollamaStream, `{"model"`):]),
		"error":  `{"error":"the model stopped"}` + "\n",
	} {
		m, _ := mustOpen(t, "ollama/m", Config{BaseURL: lines(t, text).URL, Stream: true})
		if _, err := m.Generate(t.Context(), hello()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestOllamaRequest: the whole of a request, with a conversation in it.
func TestOllamaRequest(t *testing.T) {
	t.Parallel()
	f := replies(t, ollamaAnswer)
	temperature, seed, limit := 0.0, int64(7), 100
	m, target := mustOpen(t, "ollama/m", Config{BaseURL: f.URL, Params: callvet.Params{
		Temperature: &temperature, Seed: &seed, MaxTokens: &limit, Stop: []string{"END"}, ReasoningEffort: "low",
		Extra: map[string]json.RawMessage{"keep_alive": json.RawMessage(`"1m"`), "top_k": json.RawMessage(`3`)},
	}})
	ask(t, m, &callvet.Request{Params: target.Params, System: "Be brief.", Turns: []callvet.Turn{
		{Role: callvet.RoleUser, Content: "Weather?"},
		{
			Role: callvet.RoleAssistant, Reasoning: "Hm.",
			Calls: []callvet.Call{{ID: "c1", Tool: "get_weather", Args: json.RawMessage(`{"city":"Oslo"}`)}},
		},
		{Role: callvet.RoleTool, CallID: "c1", Tool: "get_weather", Content: "rain"},
	}})
	var got, want any
	if err := json.Unmarshal(f.bodies[0], &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(
		[]byte(`{"model":"m","stream":false,"truncate":false,"shift":false,"think":"low","keep_alive":"1m",
		"options":{"temperature":0,"seed":7,"num_predict":100,"stop":["END"],"num_ctx":4096,"top_k":3},
		"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Weather?"},
			{"role":"assistant","content":"","thinking":"Hm.","tool_calls":[{"id":"c1","function":{"name":"get_weather","arguments":{"city":"Oslo"}}}]},
			{"role":"tool","content":"rain","tool_name":"get_weather","tool_call_id":"c1"}]}`), &want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestContextGrows: a prompt that Ollama refuses is sent again with a context of twice the size, up
// to what the model takes, and the fault contains what to do; a context that was set stays.
func TestContextGrows(t *testing.T) {
	t.Parallel()
	const show = `{"model_info":{"general.architecture":"llama","llama.context_length":%d,"tokenizer.ggml.model":"llama"}}`
	for name, c := range map[string]struct {
		needs, model int // tokens of the prompt; the model's maximum, 0: unknown
		set          string
		sizes        []int
		want         string
	}{
		"it fits":           {4000, 16_384, "", []int{4096}, ""},
		"it fits after two": {16_000, 131_072, "", []int{4096, 8192, 16_384}, ""},
		"the model takes less": {
			16_000, 8192, "",
			[]int{4096, 8192},
			"the model takes 8192 tokens: shorten the prompt",
		},
		"the model takes no more":    {16_000, 4096, "", []int{4096}, "the model takes 4096 tokens"},
		"a context that is set":      {16_000, 131_072, "6000", []int{6000}, "num_ctx is set to 6000: raise it"},
		"a server that tells nought": {90_000, 0, "", []int{4096, 8192}, "shorten the prompt"},
	} {
		var asked []int
		var f *fake
		f = serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			body := f.bodies[n-1]
			var b struct {
				Model   string
				Options struct {
					NumCtx int `json:"num_ctx"`
				}
			}
			if err := json.Unmarshal(body, &b); err != nil || b.Model != "m" {
				t.Errorf("%s: %v, %s", name, err, body)
			}
			if r.URL.Path == "/api/show" {
				if c.model == 0 {
					w.WriteHeader(http.StatusNotFound)
				}
				fmt.Fprintf(w, show, c.model)
				return
			}
			asked = append(asked, b.Options.NumCtx)
			has := b.Options.NumCtx
			if c.model > 0 {
				has = min(has, c.model)
			}
			if has < c.needs {
				w.WriteHeader(http.StatusBadRequest)
				io.WriteString(w, `{"error":"the input length exceeds the context length"}`)
				return
			}
			io.WriteString(w, strings.Replace(ollamaAnswer, `"prompt_eval_count":10`,
				fmt.Sprintf(`"prompt_eval_count":%d`, c.needs-1), 1))
		})
		cfg := Config{BaseURL: f.URL}
		if c.set != "" {
			cfg.Params.Extra = map[string]json.RawMessage{"num_ctx": json.RawMessage(c.set)}
		}
		m, target := mustOpen(t, "ollama/m", cfg)
		_, err := m.Generate(t.Context(),
			&callvet.Request{
				Params: target.Params,
				Turns:  []callvet.Turn{{Role: callvet.RoleUser, Content: strings.Repeat("7 1 9 ", 900)}},
			})
		if d := cmp.Diff(c.sizes, asked); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if (err != nil) != (c.want != "") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err != nil {
			if fault := asFault(t, err); fault.Kind != callvet.FaultRequest || fault.Retryable ||
				!strings.Contains(fault.Message, c.want) || len(fault.Exchanges) != len(c.sizes) {
				t.Errorf("%s: %+v", name, fault)
			}
		}
	}
}

// TestOllamaGivesUp: an answer that Ollama ended before it was done is an error on each of its
// APIs, streamed or whole.
func TestOllamaGivesUp(t *testing.T) {
	t.Parallel()
	const (
		native = `{"model":"m","created_at":"2026-11-23T01:15:29Z","message":{"role":"assistant","content":"444f444"},"done":false}`
		chat   = `{"id":"chatcmpl-1","object":"chat.completion","model":"m","system_fingerprint":"fp_ollama","choices":[{"index":0,"message":{"role":"assistant","content":"444f444"},"finish_reason":null}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`
	)
	for name, c := range map[string]struct {
		spec   string
		f      *fake
		stream bool
		fault  bool
	}{
		"native":           {"ollama/m", replies(t, native), false, true},
		"native, streamed": {"ollama/m", lines(t, native+"\n"), true, true},
		"compatible":       {"compatible/m", replies(t, chat), false, true},
		"another server":   {"compatible/m", replies(t, strings.Replace(chat, "fp_ollama", "fp_1", 1)), false, false},
		"it stopped": {
			"compatible/m",
			replies(t, strings.Replace(chat, `"finish_reason":null`, `"finish_reason":"stop"`, 1)), false, false,
		},
	} {
		m, _ := mustOpen(t, c.spec, Config{BaseURL: c.f.URL, Stream: c.stream})
		_, err := m.Generate(t.Context(), hello())
		if (err != nil) != c.fault {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "before it was done") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestContextFor: the context has room for the prompt and the answer, in few sizes.
func TestContextFor(t *testing.T) {
	t.Parallel()
	ten, much := 10, 100_000
	for _, c := range []struct {
		prompt    int
		maxTokens *int
		want      int
	}{
		{0, nil, 4096},
		{2048, nil, 4096},
		{2049, nil, 8192},
		{4086, &ten, 4096},
		{4087, &ten, 8192},
		{55_000, nil, 65_536},
		{10, &much, 131_072},
	} {
		if got := contextFor(c.prompt, c.maxTokens); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	for text, want := range map[string]int{"": 0, "abc": 1, "abcdef": 2, "東京都": 3, "東京都abc": 4} {
		if got := tokensAtMost([]byte(text)); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// TestOllamaChoice: an API without tool_choice gets none, and the answer reports that; "none"
// offers no tools.
func TestOllamaChoice(t *testing.T) {
	t.Parallel()
	for choice, want := range map[string]struct {
		tools, reported bool
		used            string
	}{
		"":            {true, false, choiceAuto},
		"auto":        {true, false, choiceAuto},
		"required":    {true, true, choiceAuto},
		"get_weather": {true, true, choiceAuto},
		"none":        {false, false, ""},
	} {
		f := replies(t, ollamaAnswer)
		m, _ := mustOpen(t, "ollama/m", Config{BaseURL: f.URL})
		resp := ask(t, m, &callvet.Request{Tools: weatherTools(), Turns: hello().Turns, ToolChoice: choice})
		body := string(f.bodies[0])
		if strings.Contains(body, `"tools":`) != want.tools || strings.Contains(body, "tool_choice") ||
			(len(resp.Omitted) == 1) != want.reported || resp.ToolChoice != want.used {
			t.Errorf("%q: %v %q %s", choice, resp.Omitted, resp.ToolChoice, body)
		}
	}
}

// TestCutPrompts: where a local server read too little of a prompt, that is an error, whatever its
// wire. Short prompts, those that fit, and counts that are not reported are none.
func TestCutPrompts(t *testing.T) {
	t.Parallel()
	// 41,000 characters, some 10,000 tokens
	english := strings.Repeat("The weather in Oslo is told by the tool. ", 1000)
	for _, c := range []struct {
		name, spec, answer, prompt string
		cut                        bool
	}{
		{
			"ollama, half of the window", "ollama/m",
			strings.Replace(ollamaAnswer, `"prompt_eval_count":10`, `"prompt_eval_count":2050`, 1), english, true,
		},
		{
			"ollama, a window", "ollama/m",
			strings.Replace(ollamaAnswer, `"prompt_eval_count":10`, `"prompt_eval_count":4096`, 1), english, true,
		},
		{
			"ollama, all of it", "ollama/m",
			strings.Replace(ollamaAnswer, `"prompt_eval_count":10`, `"prompt_eval_count":9001`, 1), english, false,
		},
		{
			"ollama, not told", "ollama/m", strings.Replace(ollamaAnswer, `"prompt_eval_count":10,`, ``, 1),
			english, false,
		},
		{
			"ollama, lines of dashes", "ollama/m",
			strings.Replace(ollamaAnswer, `"prompt_eval_count":10`, `"prompt_eval_count":600`, 1),
			strings.Repeat(strings.Repeat("-", 79)+"\n", 500), false,
		},
		{"ollama, short", "ollama/m", ollamaAnswer, english[:4000], false},
		{
			"ollama, a window that many characters a token would fit", "ollama/m",
			strings.Replace(ollamaAnswer, `"prompt_eval_count":10`, `"prompt_eval_count":4096`, 1),
			english[:12_000], true,
		},
		{
			"ollama, next to a window", "ollama/m",
			strings.Replace(ollamaAnswer, `"prompt_eval_count":10`, `"prompt_eval_count":4095`, 1),
			english[:12_000], false,
		},
		{
			"a window that is no power of two", "compatible/m",
			`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5120,"completion_tokens":1,"total_tokens":5121}}`, english[:24_000], true,
		},
		{
			"more tokens than characters", "compatible/m",
			`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":2048,"completion_tokens":1,"total_tokens":2049}}`, "hi", false,
		},
		{
			"Chinese", "compatible/m",
			`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":4000,"completion_tokens":1,"total_tokens":4001}}`, strings.Repeat("今天奥斯陆的天气", 1600), true,
		},
		{
			"Chinese that fits", "compatible/m",
			`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":8000,"completion_tokens":1,"total_tokens":8001}}`, strings.Repeat("今天奥斯陆的天气", 1600), false,
		},
		{
			"another server", "lmstudio/m",
			`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":4096,"completion_tokens":1,"total_tokens":4097}}`, english, true,
		},
		{
			"a server that fits", "lmstudio/m",
			`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9000,"completion_tokens":1,"total_tokens":9001}}`, english, false,
		},
	} {
		m, _ := mustOpen(t, c.spec, Config{BaseURL: replies(t, c.answer).URL})
		_, err := m.Generate(t.Context(),
			&callvet.Request{Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: c.prompt}}})
		if (err != nil) != c.cut {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.cut && err != nil {
			if f := asFault(t, err); f.Kind != callvet.FaultRequest || f.Retryable ||
				!strings.Contains(f.Message, "cut the prompt") {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
	}
}
