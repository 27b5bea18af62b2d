// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

// forms are the wires with one answer each: IN and OUT stand for its counts, and
// USAGE for the member that holds them.
var forms = []struct {
	name, spec, answer, usage string
	stream                    bool
}{
	{
		"chat", "openai/gpt-4.1-mini",
		`{"model":"m","choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]USAGE}`,
		`,"usage":{"prompt_tokens":IN,"completion_tokens":OUT}`, false,
	},
	{
		"chat stream", "openai/gpt-4.1-mini",
		"data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[]USAGE}\n\ndata: [DONE]\n\n", `,"usage":{"prompt_tokens":IN,"completion_tokens":OUT}`, true,
	},
	{
		"responses", "openai-responses/gpt-4.1-mini",
		`{"model":"m","status":"completed","output":[{"type":"message","content":[{"text":"hello"}]}]USAGE}`,
		`,"usage":{"input_tokens":IN,"output_tokens":OUT}`, false,
	},
	{
		"messages", "anthropic/claude-sonnet-4-20250514",
		`{"model":"m","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn"USAGE}`,
		`,"usage":{"input_tokens":IN,"output_tokens":OUT}`, false,
	},
	{
		"messages stream", "anthropic/claude-sonnet-4-20250514",
		"data: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":100,\"output_tokens\":1}}}\n\n" +
			"data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\"}}\n\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"hello\"}}\n\n" +
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}USAGE}\n\ndata: {\"type\":\"message_stop\"}\n\n",
		`,"usage":{"output_tokens":OUT}`, true,
	},
	{
		"gemini", "gemini/gemini-2.5-flash",
		`{"modelVersion":"m","candidates":[{"content":{"parts":[{"text":"hello"}]},"finishReason":"STOP"}]USAGE}`,
		`,"usageMetadata":{"promptTokenCount":IN,"candidatesTokenCount":OUT}`, false,
	},
}

// Usage that is not there, or cannot be true, is unknown on every wire: no count, no
// cost, a reason, and an upper bound from the text.
func TestUsageThatCannotBeTrueIsUnknown(t *testing.T) {
	t.Parallel()
	generate := func(t *testing.T, spec, answer string, stream bool) callvet.Usage {
		t.Helper()
		f := replies(t, answer)
		if stream {
			f = streams(t, answer)
		}
		m, _ := mustOpen(t, spec, Config{BaseURL: f.URL, Stream: stream})
		return ask(t, m, hello()).Usage
	}
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			with := func(usage, in, out string) callvet.Usage {
				t.Helper()
				usage = strings.NewReplacer("IN", in, "OUT", out).Replace(usage)
				return generate(t, form.spec, strings.Replace(form.answer, "USAGE", usage, 1), form.stream)
			}
			good := with(form.usage, "100", "5")
			if !good.Known || good.InputTokens != 100 || good.OutputTokens != 5 || good.CostUSD == nil ||
				good.Note != "" || good.AtMostUSD != nil {
				t.Fatalf("a good usage: %+v", good)
			}
			member, _, _ := strings.Cut(form.usage, ":")
			for name, bad := range map[string][3]string{
				"none":              {""},
				"null":              {member + ":null"},
				"a text":            {member + `:"12 tokens"`},
				"a list":            {member + `:[1,2]`},
				"empty":             {member + `:{}`},
				"negative":          {form.usage, "-100", "-5"},
				"negative output":   {form.usage, "100", "-5"},
				"texts":             {form.usage, `"100"`, `"5"`},
				"not a number":      {form.usage, `"NaN"`, `"NaN"`},
				"fractions":         {form.usage, "100.5", "5.5"},
				"huge":              {form.usage, "1e300", "1e300"},
				"beyond any model":  {form.usage, "4000000000", "4000000000"},
				"true":              {form.usage, "true", "true"},
				"nulls":             {form.usage, "null", "null"},
				"zeros beside text": {form.usage, "0", "0"},
			} {
				u := with(bad[0], bad[1], bad[2])
				if u.Known || u.CostUSD != nil || u.InputTokens != 0 || u.OutputTokens != 0 || u.Note == "" {
					t.Errorf("%s: %+v", name, u)
				}
				if u.AtMostUSD == nil || *u.AtMostUSD <= 0 {
					t.Errorf("%s: no upper bound", name)
				}
			}
		})
	}
	for name, c := range map[string]struct {
		usage string
		known bool
		note  string
	}{
		"total fits": {`{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105}`, true, ""},
		"total does not": {
			`{"prompt_tokens":100,"completion_tokens":5,"total_tokens":7}`, true,
			"total_tokens is 7, and its parts make 105",
		},
		"total of reasoning too": {`{"prompt_tokens":100,"completion_tokens":5,"total_tokens":115,"completion_tokens_details":{"reasoning_tokens":10}}`, true, ""},
		"more cached than read":  {`{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":200}}`, false, "200 tokens from a cache, of 100 of input"},
		"negative cached":        {`{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":-1}}`, false, "prompt_tokens_details.cached_tokens is -1, not a count of tokens"},
		"no details": {
			`{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":null}`, true,
			"",
		},
		"whole, with an exponent": {`{"prompt_tokens":1e2,"completion_tokens":5.0}`, true, ""},
		"the first wrong is named": {
			`{"prompt_tokens":"many","completion_tokens":-5}`, false,
			`prompt_tokens is "many", not a count of tokens`,
		},
	} {
		u := generate(t, "openai/gpt-4.1-mini",
			strings.Replace(forms[0].answer, "USAGE", `,"usage":`+c.usage, 1), false)
		if u.Known != c.known || u.Note != c.note || u.Known != (u.CostUSD != nil) {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

// A token has a byte at least, and an answer has no more tokens than it was allowed.
func TestCostIsBoundedFromText(t *testing.T) {
	t.Parallel()
	silent := strings.Replace(forms[0].answer, "USAGE", "", 1)
	f := replies(t, silent)
	limit := 1000
	for _, c := range []struct {
		name string
		max  *int
		out  int
	}{{"text", nil, len("hello")}, {"a limit", &limit, limit}} {
		m, _ := mustOpen(t, "openai/gpt-4.1-mini", Config{BaseURL: f.URL})
		req := hello()
		req.Params.MaxTokens = c.max
		u := ask(t, m, req).Usage
		want := (float64(len(f.bodies[len(f.bodies)-1]))*0.4 + float64(c.out)*1.6) / 1e6
		if u.AtMostUSD == nil || *u.AtMostUSD < want-1e-12 || *u.AtMostUSD > want+1e-12 {
			t.Errorf("%s: at most %v, want %v", c.name, u.AtMostUSD, want)
		}
	}
	m, _ := mustOpen(t, "vllm/m", Config{BaseURL: f.URL})
	if u := ask(t, m, hello()).Usage; u.AtMostUSD != nil || u.CostUSD != nil {
		t.Errorf("without a price: %+v", u)
	}
}

// TestCacheWritesArePriced: what is written to a cache has a price of its own; where a list
// does not have it, the cost is not known and has no bound.
func TestCacheWritesArePriced(t *testing.T) {
	t.Parallel()
	const row = `{"prices":[{"provider":"NAME","model":"m","input":1,"cached":0.1,"output":10,"effective":"2026-01-01"PRICES}]}`
	message := strings.Replace(forms[3].answer, "USAGE", `,"usage":COUNTS`, 1)
	chat := strings.Replace(forms[0].answer, "USAGE", `,"usage":COUNTS`, 1)
	begun := strings.Replace(strings.Replace(forms[4].answer, "USAGE", `,"usage":{"output_tokens":100}`, 1),
		`"usage":{"input_tokens":100,"output_tokens":1}`, `"usage":COUNTS`, 1)
	for name, c := range map[string]struct {
		provider, answer, counts, prices string
		stream                           bool
		input, written                   int
		usd                              float64 // -1: not known
	}{
		"written": {
			"anthropic", message,
			`{"input_tokens":10,"cache_creation_input_tokens":300,"cache_read_input_tokens":900,"output_tokens":100}`,
			`,"cache_write":1.25`, false, 1210, 300, 0.001475,
		},
		"in a stream": {
			"anthropic", begun,
			`{"input_tokens":10,"cache_creation_input_tokens":300,"cache_read_input_tokens":900,"output_tokens":1}`,
			`,"cache_write":1.25`, true, 1210, 300, 0.001475,
		},
		"for an hour": {
			"anthropic", message,
			`{"input_tokens":10,"cache_creation_input_tokens":300,"cache_creation":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":200},"output_tokens":100}`, `,"cache_write":1.25,"cache_write_1h":2`, false, 310, 300, 0.001535,
		},
		"parts only": {
			"anthropic", message,
			`{"input_tokens":10,"cache_creation":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":200},"output_tokens":100}`, `,"cache_write":1.25,"cache_write_1h":2`, false, 310, 300, 0.001535,
		},
		"no hourly one": {
			"anthropic", message,
			`{"input_tokens":10,"cache_creation_input_tokens":300,"cache_creation":{"ephemeral_1h_input_tokens":300},"output_tokens":100}`, `,"cache_write":1.25`, false, 310, 300, -1,
		},
		"no price": {
			"anthropic", message,
			`{"input_tokens":10,"cache_creation_input_tokens":300,"output_tokens":100}`, ``, false, 310, 300, -1,
		},
		"nothing": {
			"anthropic", message,
			`{"input_tokens":10,"cache_creation_input_tokens":0,"output_tokens":100}`, ``, false, 10, 0, 0.00101,
		},
		"more than all": {
			"anthropic", message,
			`{"input_tokens":10,"cache_creation_input_tokens":3,"cache_creation":{"ephemeral_1h_input_tokens":4},"output_tokens":100}`, `,"cache_write_1h":2`, false, 0, 0, -1,
		},
		"of OpenRouter": {
			"openrouter", chat,
			`{"prompt_tokens":1210,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":900,"cache_write_tokens":300}}`, `,"cache_write":1.25`, false, 1210, 300, 0.001475,
		},
		"more than told": {
			"openrouter", chat,
			`{"prompt_tokens":1000,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":900,"cache_write_tokens":300}}`, `,"cache_write":1.25`, false, 1000, 300, -1,
		},
	} {
		table, err := ReadPrices("p.json",
			[]byte(strings.NewReplacer("NAME", c.provider, "PRICES", c.prices).Replace(row)))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(c.answer, "COUNTS", c.counts, 1)
		f := replies(t, text)
		if c.stream {
			f = streams(t, text)
		}
		m, _ := mustOpen(t, c.provider+"/m", Config{BaseURL: f.URL, Stream: c.stream, Prices: table})
		u := ask(t, m, hello()).Usage
		usd := -1.0
		if u.CostUSD != nil {
			usd = *u.CostUSD
		}
		if u.InputTokens != c.input || u.CacheWriteTokens != c.written || usd < c.usd-1e-12 || usd > c.usd+1e-12 {
			t.Errorf("%s: %+v costs %v", name, u, usd)
		}
		if u.Known && u.AtMostUSD != nil {
			t.Errorf("%s: at most %v", name, *u.AtMostUSD)
		}
	}
	if _, err := ReadPrices("p.json",
		[]byte(strings.NewReplacer("NAME", "anthropic", "PRICES", `,"cache_write":-1`).Replace(row))); err == nil {
		t.Error("a price below 0 is read")
	}
	// Without a price of cached input, the cost has a bound, with what was written in it.
	table, _ := ReadPrices("p.json",
		[]byte(strings.NewReplacer("NAME", "anthropic", "PRICES", `,"cache_write":1.25`, `"cached":0.1,`,
			"").Replace(row)))
	f := replies(t, strings.Replace(message, "COUNTS",
		`{"input_tokens":10,"cache_creation_input_tokens":300,"cache_read_input_tokens":900,"output_tokens":100}`, 1))
	m, _ := mustOpen(t, "anthropic/m", Config{BaseURL: f.URL, Prices: table})
	if u := ask(t, m, hello()).Usage; u.CostUSD != nil || u.AtMostUSD == nil || *u.AtMostUSD < 0.002285-1e-12 ||
		*u.AtMostUSD > 0.002285+1e-12 {
		t.Errorf("a bound: %+v", u)
	}
}
