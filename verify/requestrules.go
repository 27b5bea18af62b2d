// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Rules that the providers' documentation and error messages state and their schemas do not.

var (
	plainID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	shortID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
)

// listOf, objectOf and textOf read a member of a decoded document; it is empty for another type.
func listOf(v any) []any            { l, _ := v.([]any); return l }
func objectOf(v any) map[string]any { o, _ := v.(map[string]any); return o }
func textOf(v any) string           { s, _ := v.(string); return s }

// paired describes wrong ids: ids of calls must differ and have the given form, and each result must
// have the id of an earlier call.
func paired(calls, results []string, form *regexp.Regexp) string {
	for i, id := range calls {
		if !form.MatchString(id) || slices.Contains(calls[:i], id) {
			return fmt.Sprintf("the id of a call is %q, not a new one of the form %s", id, form)
		}
	}
	if !slices.Equal(calls, results) {
		return fmt.Sprintf("calls have the ids %q and results %q", calls, results)
	}
	return ""
}

func moreOpenAI(b *sentBody) string {
	late := strings.HasPrefix(b.model, "gpt-5.4") || strings.HasPrefix(b.model, "gpt-5.6")
	if chat := strings.HasSuffix(b.path, "/chat/completions"); chat && late && b.doc["reasoning_effort"] != "none" {
		return "Chat Completions takes no tools from this model while it reasons"
	}
	if reasons := !strings.HasPrefix(b.model, "gpt-4"); reasons && b.doc["max_tokens"] != nil {
		return "reasoning models refuse max_tokens"
	}
	members := []string{
		"model", "messages", "tools", "tool_choice", "parallel_tool_calls", "temperature", "top_p", "seed", "stop",
		"max_completion_tokens",
		"reasoning_effort", "stream", "stream_options", "input", "instructions", "store", "include", "reasoning",
		"max_output_tokens",
	}
	for name := range b.doc {
		if !slices.Contains(members, name) {
			return "there is no member " + name
		}
	}
	var calls, results []string
	for _, m := range listOf(b.doc["messages"]) {
		m := objectOf(m)
		for name := range m {
			if !slices.Contains([]string{
				"role", "content", "refusal", "name", "audio", "tool_calls", "function_call",
				"tool_call_id",
			}, name) {
				return "a message has no member " + name
			}
		}
		for _, call := range listOf(m["tool_calls"]) {
			calls = append(calls, textOf(objectOf(call)["id"]))
		}
		if m["role"] == "tool" {
			results = append(results, textOf(m["tool_call_id"]))
		}
	}
	for _, item := range listOf(b.doc["input"]) {
		switch item := objectOf(item); item["type"] {
		case "function_call":
			calls = append(calls, textOf(item["call_id"]))
		case "function_call_output":
			results = append(results, textOf(item["call_id"]))
		}
	}
	return paired(calls, results, plainID)
}

func moreAnthropic(b *sentBody) string {
	var calls, results []string
	for _, m := range listOf(b.doc["messages"]) {
		for _, p := range listOf(objectOf(m)["content"]) {
			switch p := objectOf(p); p["type"] {
			case "tool_use":
				calls = append(calls, textOf(p["id"]))
				if objectOf(p["input"]) == nil {
					return "the input of a call is no object"
				}
			case "tool_result":
				results = append(results, textOf(p["tool_use_id"]))
				if failed := strings.HasPrefix(textOf(p["content"]), `{"error"`); failed != (p["is_error"] == true) {
					return fmt.Sprintf("is_error is %v of %s", p["is_error"], p["content"])
				}
			}
		}
	}
	return paired(calls, results, plainID)
}

func moreMistral(b *sentBody) string {
	var calls, results []string
	for _, m := range listOf(b.doc["messages"]) {
		m := objectOf(m)
		for _, call := range listOf(m["tool_calls"]) {
			calls = append(calls, textOf(objectOf(call)["id"]))
		}
		if m["role"] == "tool" {
			results = append(results, textOf(m["tool_call_id"]))
		}
	}
	return paired(calls, results, shortID)
}

func moreGemini(b *sentBody) string {
	for _, content := range listOf(b.doc["contents"]) {
		for _, p := range listOf(objectOf(content)["parts"]) {
			if p := objectOf(p); p["functionCall"] != nil {
				signed := p["thoughtSignature"] != nil
				if strings.HasPrefix(b.model, "gemini-3") && !signed {
					return "the first call of a message has no signature"
				}
				break
			}
		}
	}
	return ""
}
