// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
)

// TestStreamStops holds that a stream in words is an answer only where an event shows that it is
// whole, and that the reason of its last answer counts.
func TestStreamStops(t *testing.T) {
	t.Parallel()
	chunk := func(reason string) string {
		return `{"choices":[{"delta":{"content":"hello"},"finish_reason":` + reason + `}]}`
	}
	langGraph := func(reason string) string {
		return `{"agent":{"messages":[{"type":"ai","id":"1","content":"hello","response_metadata":{"finish_reason":` +
			reason + `}}]}}`
	}
	agents := func(kind, status string) string {
		return `{"type":"raw_response_event","data":{"type":"` + kind +
			`","response":{"id":"r","object":"response","status":` + status +
			`,"output":[{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"hello"}]}]}}}`
	}
	for name, tt := range map[string]struct {
		events []string
		want   string
	}{
		"chunks":          {[]string{chunk("null"), chunk(`"stop"`)}, "ended"},
		"chunks, cut off": {[]string{chunk("null"), chunk(`"length"`)}, "token_limit"},
		"chunks, filtered": {
			[]string{chunk("null"), chunk(`"content_filter"`)},
			"fault content_filter",
		},
		"chunks, for a new reason": {[]string{chunk("null"), chunk(`"new"`)}, "fault unknown"},
		"chunks of thoughts": {[]string{
			`{"choices":[{"delta":{"reasoning_content":"Hm."}}]}`,
			`{"choices":[{"delta":{},"finish_reason":"stop"}]}`,
		}, "reasoning_only"},
		"chunks with an empty old call": {[]string{
			`{"choices":[{"delta":{"content":"hello","function_call":{}}}]}`,
			chunk(`"stop"`),
		}, "ended"},
		"chunks without a reason": {[]string{chunk("null"), "[DONE]"}, "cut_off"},
		"chunks without an end":   {[]string{chunk("null")}, "fault malformed"},
		"events of an agent": {
			[]string{`{"type":"text_delta","text":"hello"}`, `{"type":"done"}`},
			"ended",
		},
		"events of an agent, [DONE]":         {[]string{`{"type":"text_delta","text":"hello"}`, "[DONE]"}, "ended"},
		"events of an agent, without an end": {[]string{`{"type":"text_delta","text":"hello"}`}, "cut_off"},
		"a whole answer":                     {[]string{`{"role":"assistant","content":"hello"}`}, "ended"},
		"LangGraph":                          {[]string{langGraph(`"stop"`)}, "ended"},
		"LangGraph, cut off": {[]string{
			langGraph(`"stop"`),
			strings.Replace(langGraph(`"length"`), `"1"`, `"2"`, 1),
		}, "token_limit"},
		"the Agents SDK": {[]string{agents("response.completed", `"completed"`)}, "ended"},
		"the Agents SDK, cut off": {[]string{agents("response.incomplete",
			`"incomplete","incomplete_details":{"reason":"max_output_tokens"}`)}, "token_limit"},
	} {
		text := ""
		for _, e := range tt.events {
			text += "data: " + e + "\n\n"
		}
		resp, err := Stream(strings.NewReader(text), "", message.Options{Agent: true}, time.Now(), time.Now)
		var f *callvet.Fault
		got := "ended"
		if errors.As(err, &f) {
			got = "fault " + string(f.Kind)
		} else if why, f := resp.Ending(); f != nil {
			got = "fault " + string(f.Kind)
		} else if why != "" {
			got = string(why)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
