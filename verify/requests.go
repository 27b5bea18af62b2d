// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/value"
	"github.com/callvet/callvet/verify/proof"
)

//go:embed wireschema/mistral.json
var mistralRequest []byte

//go:embed wireschema/gemini.json
var geminiRequest []byte

// client is one provider with checked requests.
//
//	settings × histories ─► provider.Open, Generate ─► body ─► official schema
//	recorded answer ─► Generate ─► the same answer with results ─► body ─► official schema
//
// No request leaves the process: the transport stores the body and answers itself.
type client struct {
	name   string
	models []string
	// schema finds the schema for a body that was sent to path.
	schema func(path, model string) *contract.Schema
	// more describes errors in a body that the schema cannot find; "" for none.
	more func(b *sentBody) string
}

// sentBody is one sent request.
type sentBody struct {
	path, model string
	raw         []byte
	doc         map[string]any
	lost        string // required values that are missing in it; "" for none
}

// setting has the inputs of one request.
type setting struct {
	model, history, choice, parallel, temperature, topP, effort, seed, stop, limit, stream,
	system string
}

// requestsDue is the least number of checked bodies of each provider.
const requestsDue = 200

// draws is the number of drawn settings for each model, history and choice of a tool.
const draws = 3

func requests(ctx context.Context, c *proof.Check, d proof.Data, rows []recordedAnswer) error {
	clients, err := requestClients(d.Set("wire_schemas"))
	if err != nil {
		return err
	}
	for i := range clients {
		cl := &clients[i]
		n := 0
		count := func(b *sentBody, item string) {
			n++
			why := cl.wrong(b)
			c.Compare("requests "+cl.name, item, why == "", "%s: %s", why, b.short())
		}
		values := map[string]map[string]int{}
		if err := cl.matrix(ctx, count, values); err != nil {
			return err
		}
		drawn := n
		if err := cl.echoes(ctx, rows, count); err != nil {
			return err
		}
		c.Due("requests "+cl.name, max(n, requestsDue), "the matrix of settings")
		c.Printf("requests %s: %d bodies of settings, %d that send a recorded answer back\n", cl.name, drawn, n-drawn)
		for _, name := range settingNames() {
			c.Printf("  %-12s %s\n", name, howMany(values[name]))
		}
	}
	return nil
}

// howMany writes how often each value occurs.
func howMany(values map[string]int) string {
	var out []string
	for v := range values {
		out = append(out, v)
	}
	slices.Sort(out)
	for i, v := range out {
		out[i] = cmp.Or(v, "unset") + " " + strconv.Itoa(values[v])
	}
	return strings.Join(out, ", ")
}

func settingNames() []string {
	return []string{
		"model", "history", "tool choice", "parallel", "temperature", "top_p", "effort", "seed", "stop",
		"limit", "stream", "system",
	}
}

func (s *setting) values() []string {
	return []string{
		s.model, s.history, s.choice, s.parallel, s.temperature, s.topP, s.effort, s.seed, s.stop, s.limit,
		s.stream, s.system,
	}
}

func histories() []string {
	return []string{
		"a question", "system turn", "results", "error results", "foreign ids", "no ids",
		"unreadable arguments", "text between",
	}
}

// matrix sends requests with every model, history and choice, and with other settings drawn for each:
// the same each time.
func (cl *client) matrix(ctx context.Context, count func(b *sentBody, item string),
	seen map[string]map[string]int,
) error {
	draw := rand.New(rand.NewPCG(13, 4))
	one := func(of ...string) string { return of[draw.IntN(len(of))] }
	for _, model := range cl.models {
		for _, history := range histories() {
			for _, choice := range []string{"", "auto", "required", "none", "get_weather"} {
				for n := range draws {
					s := setting{
						model: model, history: history, choice: choice,
						parallel: one("", "true", "false"), temperature: one("", "0", "0.7", "1", "2"),
						topP:   one("", "", "0.9"),
						effort: one("", "none", "minimal", "low", "medium", "high", "xhigh", "max"), seed: one("", "7"),
						stop: one("", "1", "4"), limit: one("", "1", "500"), stream: one("false", "true"),
						system: one("", "set"),
					}
					for i, name := range settingNames() {
						if seen[name] == nil {
							seen[name] = map[string]int{}
						}
						seen[name][s.values()[i]]++
					}
					b, err := cl.ask(ctx, &s, nil)
					if err != nil {
						return err
					}
					count(b, fmt.Sprintf("%s %d", strings.Join(s.values(), "/"), n))
				}
			}
		}
	}
	return nil
}

// echoes sends a request, receives a recorded answer with calls, and sends a second request with that
// answer and results of its calls. Answers of other hosts in OpenAI's form contain more members, which
// are sent back to those hosts only.
func (cl *client) echoes(ctx context.Context, rows []recordedAnswer, count func(b *sentBody, item string)) error {
	for i := range rows {
		r := &rows[i]
		foreign := strings.HasPrefix(cl.name, "openai") && r.Host != "api.openai.com"
		if r.provider() != cl.name || foreign || r.Expected == nil || r.Expected.Error || len(r.Expected.Calls) == 0 {
			continue
		}
		s := setting{model: cl.models[0], history: "a question", stream: strconv.FormatBool(r.Stream)}
		b, err := cl.ask(ctx, &s, r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.ID, err)
		}
		count(b, "answer "+r.ID)
	}
	return nil
}

// ask sends one request and returns its body; with an answer, the body of the next request.
func (cl *client) ask(ctx context.Context, s *setting, answer *recordedAnswer) (*sentBody, error) {
	wire := &recorder{answer: answer}
	cfg := provider.Config{
		APIKey: "key", Params: s.params(), HTTPClient: &http.Client{Transport: wire},
		Stream: s.stream == "true",
	}
	m, t, err := provider.Open(cl.name+"/"+s.model, cfg)
	if err != nil {
		return nil, err
	}
	req := &callvet.Request{Params: t.Params, Turns: s.turns(), Tools: requestTools(), ToolChoice: s.choice}
	if s.system != "" {
		req.System = "Be brief."
	}
	for {
		resp, err := m.Generate(ctx, req)
		var f *callvet.Fault
		if err != nil && !errors.As(err, &f) {
			return nil, err
		}
		if wire.answer == nil {
			break
		}
		if err != nil {
			return nil, err
		}
		req.Turns = append(req.Turns, resp.Turns...)
		for _, turn := range resp.Turns {
			for _, call := range turn.Calls {
				req.Turns = append(req.Turns,
					callvet.Turn{Role: callvet.RoleTool, CallID: call.ID, Tool: call.Tool, Content: "done"})
			}
		}
		wire.answer = nil
	}
	b := &sentBody{path: wire.path, model: s.model, raw: wire.body}
	if err := json.Unmarshal(b.raw, &b.doc); err != nil {
		return nil, fmt.Errorf("a request is not JSON: %w", err)
	}
	b.lost = carried(b, req, cfg.Stream)
	return b, nil
}

// recorder stores the last sent body and answers it.
type recorder struct {
	answer *recordedAnswer
	path   string
	body   []byte
}

// RoundTrip answers with the recorded answer, or with an error if there is none.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	r.path, r.body = req.URL.Path, body
	res := &http.Response{
		StatusCode: http.StatusServiceUnavailable,
		Header:     http.Header{"Content-Type": {"application/json"}}, Request: req, ContentLength: -1,
	}
	text := "{}"
	if r.answer != nil {
		res.StatusCode, text = r.answer.Status, r.answer.Body
		res.Header.Set("Content-Type", r.answer.ContentType)
	}
	res.Body = io.NopCloser(strings.NewReader(text))
	return res, nil
}

func (s *setting) params() callvet.Params {
	p := callvet.Params{ReasoningEffort: s.effort}
	if f, err := strconv.ParseFloat(s.temperature, 64); err == nil {
		p.Temperature = &f
	}
	if f, err := strconv.ParseFloat(s.topP, 64); err == nil {
		p.TopP = &f
	}
	if n, err := strconv.ParseInt(s.seed, 10, 64); err == nil {
		p.Seed = &n
	}
	if n, err := strconv.Atoi(s.limit); err == nil {
		p.MaxTokens = &n
	}
	if b, err := strconv.ParseBool(s.parallel); err == nil {
		p.ParallelCalls = &b
	}
	if n, err := strconv.Atoi(s.stop); err == nil {
		p.Stop = []string{"END", "STOP", "###", "\n\n"}[:n]
	}
	return p
}

// turns is the conversation of a history. No turn is from the requested model.
func (s *setting) turns() []callvet.Turn {
	question := callvet.Turn{Role: callvet.RoleUser, Content: "Weather and time in Zürich?"}
	result := func(id, tool, text string) callvet.Turn {
		return callvet.Turn{Role: callvet.RoleTool, CallID: id, Tool: tool, Content: text}
	}
	calls := func(first, second string) callvet.Turn {
		return callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{
			{ID: first, Tool: "get_weather", Args: json.RawMessage(`{"city":"Zürich"}`)},
			{ID: second, Tool: "get_time", Args: json.RawMessage(`{}`)},
		}}
	}
	switch s.history {
	case "system turn":
		return []callvet.Turn{{Role: callvet.RoleSystem, Content: "Use tools."}, question}
	case "results":
		return []callvet.Turn{
			question, calls("call_1", "call_2"), result("call_1", "get_weather", `{"temp":21}`),
			result("call_2", "get_time", "12:00"),
		}
	case "error results":
		made := calls("call_1", "call_2")
		made.Calls[1].Status, made.Calls[1].Error = callvet.StatusExecErr, "no clock"
		return []callvet.Turn{
			question, made, result("call_1", "get_weather", `[21, 22]`),
			result("call_2", "get_time", `{"error":"no clock"}`),
		}
	case "foreign ids":
		long := strings.Repeat("functions.get_weather:", 5)
		return []callvet.Turn{
			question,
			calls(long+"0", long+"1"),
			result(long+"0", "", "sunny"),
			result(long+"1", "", "12:00"),
			calls("call|é", "call|é"),
			result("call|é", "get_weather", "rain"),
			result("call|é", "get_time", ""),
		}
	case "no ids":
		return []callvet.Turn{
			question, calls("", ""), result("", "", "sunny"), result("", "get_time", "12:00"),
			{Role: callvet.RoleUser, Content: "And tomorrow?"},
		}
	case "unreadable arguments":
		made := calls("call_1", "call_2")
		made.Calls[0].Args, made.Calls[0].ArgsRaw, made.Calls[0].Status = nil, `{"city":`, callvet.StatusRejected
		made.Calls[1].Args = json.RawMessage(`[1]`)
		return []callvet.Turn{
			question, made, result("call_1", "get_weather", `{"error":"not JSON"}`),
			result("call_2", "get_time", "12:00"),
		}
	case "text between":
		made := calls("call_1", "call_2")
		made.Content = "I look."
		return []callvet.Turn{
			question, made, result("call_1", "", "sunny"), result("call_2", "", "12:00"),
			{Role: callvet.RoleAssistant, Content: "Sunny, noon."},
			{Role: callvet.RoleUser, Content: "Thanks. And Rome?"},
		}
	}
	return []callvet.Turn{question}
}

func requestTools() *callvet.Toolset {
	return callvet.NewToolset([]callvet.Tool{
		{
			Name: "get_weather", Description: "Weather for a place.",
			Parameters: json.RawMessage(
				`{"type":"object","properties":{"city":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["city"],"additionalProperties":false}`),
		},
		{Name: "get_time"},
		{
			Name: "no-type", Description: "A schema without a type.",
			Parameters: json.RawMessage(`{"properties":{"a":{"type":"integer"}}}`),
		},
		{Name: "empty", Parameters: json.RawMessage(`{}`)},
	})
}

// short is the body as a line, cut.
func (b *sentBody) short() string { return fmt.Sprintf("%s %.600s", b.path, b.raw) }

// wrong describes the errors in a body; "" for none.
func (cl *client) wrong(b *sentBody) string {
	v, err := value.Parse(bytes.Clone(b.raw))
	if err != nil {
		return err.Error()
	}
	for _, bad := range cl.schema(b.path, b.model).Check(v) {
		return fmt.Sprintf("%s: %s", bad.Path, bad.Message)
	}
	return cmp.Or(cl.more(b), b.lost)
}

// requestClients reads the official schemas.
func requestClients(dir string) ([]client, error) {
	var openAI struct {
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := readInto(filepath.Join(dir, "openai.json"), &openAI); err != nil {
		return nil, err
	}
	for _, s := range openAI.Components.Schemas {
		delete(s, "$recursiveAnchor") // a word of an older draft, which requests of tools do not need
	}
	var anthropic map[string]any
	if err := readInto(filepath.Join(dir, "anthropic-messages-request.json"), &anthropic); err != nil {
		return nil, err
	}
	var bad error
	compiled := func(doc any) *contract.Schema {
		text, err := json.Marshal(doc)
		if err != nil {
			bad = errors.Join(bad, err)
			return nil
		}
		s, err := contract.Compile(text)
		bad = errors.Join(bad, err)
		return s
	}
	of := func(name string) *contract.Schema {
		return compiled(map[string]any{"$ref": "#/components/schemas/" + name, "components": openAI.Components})
	}
	chat, responses := of("CreateChatCompletionRequest"), of("CreateResponse")
	newest := compiled(anthropic)
	if err := withSampling(anthropic); err != nil {
		return nil, err
	}
	older := compiled(anthropic)
	mistral, gemini := compiled(json.RawMessage(mistralRequest)), compiled(json.RawMessage(geminiRequest))
	if bad != nil {
		return nil, fmt.Errorf("read the schemas of requests: %w", bad)
	}
	byPath := func(path, _ string) *contract.Schema {
		if strings.HasSuffix(path, "/responses") {
			return responses
		}
		return chat
	}
	always := func(s *contract.Schema) func(string, string) *contract.Schema {
		return func(string, string) *contract.Schema { return s }
	}
	return []client{
		{
			"openai",
			[]string{"gpt-4.1", "gpt-5-mini", "o4-mini", "gpt-5.2", "gpt-5.4", "gpt-5.6-terra"},
			byPath,
			moreOpenAI,
		},
		{"openai-responses", []string{"gpt-5-mini", "gpt-4.1", "o3", "gpt-5.6"}, byPath, moreOpenAI},
		{"anthropic", []string{
			"claude-sonnet-4-5", "claude-opus-4-6", "claude-opus-4-7", "claude-haiku-5-5",
			"claude-fable-5-2", "claude-3-5-haiku-20241022",
		}, func(_, model string) *contract.Schema {
			if slices.Contains([]string{"claude-sonnet-4-5", "claude-opus-4-6", "claude-3-5-haiku-20241022"}, model) {
				return older
			}
			return newest
		}, moreAnthropic},
		{
			"mistral",
			[]string{"mistral-large-latest", "mistral-small-latest", "magistral-medium-latest"},
			always(mistral), moreMistral,
		},
		{
			"gemini",
			[]string{"gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-pro-preview", "gemini-3.1-flash"},
			always(gemini), moreGemini,
		},
	}, nil
}

func readInto(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// withSampling adds parameters that the newest types no longer have, but that the API accepts for models
// up to Claude Opus 4.6 under the version of the requests, 2023-06-01.
func withSampling(doc map[string]any) error {
	definitions, _ := doc["definitions"].(map[string]any)
	for _, name := range []string{"MessageCreateParamsNonStreaming", "MessageCreateParamsStreaming"} {
		params, _ := definitions[name].(map[string]any)
		properties, ok := params["properties"].(map[string]any)
		if !ok {
			return fmt.Errorf("the schema has no properties of %s: %w", name, callvet.ErrInvalid)
		}
		for _, name := range []string{"temperature", "top_p"} {
			properties[name] = map[string]any{"type": "number", "minimum": 0, "maximum": 1}
		}
	}
	return nil
}
