// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// carried describes values that are missing in a body, since a body without them is valid by its schema,
// too. Parameters are those that the table of models allows.
func carried(b *sentBody, req *callvet.Request, stream bool) string {
	at := map[string][]any{}
	byName(b.doc, at)
	for _, w := range wanted(req) {
		if w.value == "" {
			continue
		}
		if !slices.ContainsFunc(w.names, func(name string) bool {
			return slices.ContainsFunc(at[name], func(v any) bool { return holdsWord(v, w.value) })
		}) {
			return fmt.Sprintf("%s is not sent as %s", w.names[0], w.value)
		}
	}
	if stream && !strings.Contains(b.path, ":streamGenerateContent") && !slices.Contains(at["stream"], any(true)) {
		return "the answer is not asked for as a stream"
	}
	texts := []string{req.System}
	for i := range req.Turns {
		// results have their own forms; a model's output is sent back unchanged
		if t := &req.Turns[i]; t.Role != callvet.RoleTool && t.Raw == nil {
			texts = append(texts, req.Turns[i].Content)
		}
	}
	for i := range req.Tools.Tools {
		texts = append(texts, req.Tools.Tools[i].Name, req.Tools.Tools[i].Description)
	}
	for _, t := range texts {
		if quoted, err := json.Marshal(t); err != nil || t != "" &&
			!strings.Contains(string(b.raw), strings.Trim(string(quoted), `"`)) {
			return fmt.Sprintf("%q is not sent", t)
		}
	}
	return ""
}

// wish is the value that one of names must contain; "" means nothing.
type wish struct {
	value string
	names []string
}

func wanted(req *callvet.Request) []wish {
	p := &req.Params
	float := func(f *float64) string {
		if f == nil {
			return ""
		}
		return strconv.FormatFloat(*f, 'g', -1, 64)
	}
	out := []wish{
		{float(p.Temperature), []string{"temperature"}},
		{float(p.TopP), []string{"top_p", "topP"}},
		{strings.Join(p.Stop, "\x00"), []string{"stop", "stop_sequences", "stopSequences"}},
		{p.ReasoningEffort, []string{"reasoning_effort", "effort", "thinkingLevel"}},
	}
	if p.MaxTokens != nil {
		out = append(out, wish{
			strconv.Itoa(*p.MaxTokens),
			[]string{"max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"},
		})
	}
	if p.Seed != nil {
		out = append(out, wish{strconv.FormatInt(*p.Seed, 10), []string{"seed", "random_seed"}})
	}
	if p.ParallelCalls != nil && req.ToolChoice != "none" {
		out = append(out, wish{
			"parallel " + strconv.FormatBool(*p.ParallelCalls),
			[]string{"parallel_tool_calls", "disable_parallel_tool_use"},
		})
	}
	switch req.ToolChoice {
	case "", "auto": // it may be left out
	case "required":
		out = append(out, wish{"required any", []string{"tool_choice", "mode", "type"}})
	case "none":
		out = append(out, wish{"none", []string{"tool_choice", "mode", "type"}})
	default:
		out = append(out, wish{req.ToolChoice, []string{"tool_choice", "name", "allowedFunctionNames"}})
	}
	return out
}

// byName lists the values below v by the names of their members; parallel_tool_calls and its
// negation under one form.
func byName(v any, at map[string][]any) {
	switch v := v.(type) {
	case map[string]any:
		for name, in := range v {
			if yes, ok := in.(bool); ok && strings.Contains(name, "parallel") {
				in = fmt.Sprintf("parallel %t", yes != strings.HasPrefix(name, "disable"))
			}
			at[name] = append(at[name], in)
			if name != "tools" && name != "messages" && name != "input" && name != "contents" {
				byName(in, at)
			}
		}
	case []any:
		for _, in := range v {
			byName(in, at)
		}
	}
}

// holdsWord reports whether a value is the wanted one, or one of its words.
func holdsWord(v any, want string) bool {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64) == want
	case string:
		low := strings.ToLower(v)
		return v == want || low == want || slices.Contains(strings.Fields(want), low)
	case []any:
		var texts []string
		for _, e := range v {
			t, _ := e.(string)
			texts = append(texts, t)
		}
		return strings.Join(texts, "\x00") == want
	}
	return false
}
