// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// The parameters a rule can speak of, by their names in callvet.Params.
const (
	paramTemperature = "temperature"
	paramToolChoice  = "tool_choice"
	paramTopP        = "top_p"
	paramMaxTokens   = "max_tokens"
	paramSeed        = "seed"
	paramStop        = "stop"
	paramEffort      = "reasoning_effort"
	paramParallel    = "parallel_calls"
)

// What a rule does.
const (
	actDrop   = "drop"
	actClamp  = "clamp"
	actRename = "rename"
	actWarn   = "warn"
)

// names are the members under which a wire sends parameters; "" is not sent.
type names struct {
	topP, maxTokens, seed, stop, effort string
}

// rule is one row of the parameter table.
type rule struct {
	// providers it holds for; nil: all.
	providers []string
	// families of models, as leading segments of the name; nil: all. except
	// takes families out again.
	families, except []string
	param, action    string
	min, max         float64 // clamp
	to               string  // rename: the new name; warn: the value set
	// unless keeps the rule from acting.
	unless func(p *callvet.Params) bool
	reason string
}

func always(*callvet.Params) bool { return false }

// defaultMaxTokens is sent where the API demands a limit and the user set none.
const defaultMaxTokens = 4096

// rules is the parameter table. Sources: the providers' API references as of
// the dates in prices.json. Rows act in order.
func rules() []rule {
	openAI := []string{"openai", "azure"}
	all := append([]string{"openai-responses", "openrouter"}, openAI...)
	oSeries := []string{"o1", "o3", "o4"}
	reasoning := append([]string{"gpt-5"}, oSeries...)
	chatOnly := []string{"gpt-5-chat"}
	later := []string{"gpt-5.1", "gpt-5.2"}
	noEffort := func(p *callvet.Params) bool { return p.ReasoningEffort == "" || p.ReasoningEffort == "none" }
	noTemperature := func(p *callvet.Params) bool { return p.Temperature == nil }
	const fixed = "reasoning models take the default only"
	const thinks = "taken only with reasoning_effort none"
	return []rule{
		{providers: all, families: reasoning, except: chatOnly, param: paramTemperature, action: actDrop, reason: fixed},
		{providers: all, families: reasoning, except: chatOnly, param: paramTopP, action: actDrop, reason: fixed},
		{providers: all, families: later, param: paramTemperature, action: actDrop, unless: noEffort, reason: thinks},
		{providers: all, families: later, param: paramTopP, action: actDrop, unless: noEffort, reason: thinks},
		{providers: all, families: reasoning, except: chatOnly, param: paramStop, action: actDrop, reason: "reasoning models do not take stop sequences"},
		{providers: all, families: oSeries, param: paramParallel, action: actDrop, reason: "o-series models do not take parallel_tool_calls"},
		{providers: all, families: []string{"gpt-3.5", "gpt-4", "gpt-4o", "gpt-4.1", "gpt-5-chat", "chatgpt"}, param: paramEffort, action: actDrop, reason: "only reasoning models take it"},
		{providers: []string{"openai"}, param: paramMaxTokens, action: actRename, to: "max_completion_tokens", reason: "max_tokens is deprecated and refused by reasoning models"},
		{providers: []string{"azure"}, families: slices.Concat(reasoning, later), except: chatOnly, param: paramMaxTokens, action: actRename, to: "max_completion_tokens", reason: "reasoning models refuse max_tokens"},
		{providers: []string{"openai-responses"}, param: paramMaxTokens, action: actRename, to: "max_output_tokens", reason: "its name in this API"},
		{providers: []string{"openai-responses"}, param: paramSeed, action: actDrop, reason: "this API has no seed"},
		{providers: []string{"openai-responses"}, param: paramStop, action: actDrop, reason: "this API has no stop sequences"},
		{providers: slices.Concat(all, []string{"deepseek", "groq", "xai", "gemini"}), param: paramTemperature, action: actClamp, max: 2, reason: "allowed: 0 to 2"},

		{providers: []string{"anthropic"}, param: paramTemperature, action: actClamp, max: 1, reason: "allowed: 0 to 1"},
		{providers: []string{"anthropic"}, param: paramTopP, action: actDrop, unless: noTemperature, reason: "temperature and top_p exclude each other; temperature is kept"},
		{providers: []string{"anthropic"}, param: paramMaxTokens, action: actWarn, to: strconv.Itoa(defaultMaxTokens), unless: func(p *callvet.Params) bool { return p.MaxTokens != nil }, reason: "the API demands a limit"},
		{providers: []string{"anthropic"}, param: paramStop, action: actRename, to: "stop_sequences", reason: "its name in this API"},
		{providers: []string{"anthropic"}, param: paramSeed, action: actDrop, reason: "this API has no seed"},
		{providers: []string{"anthropic"}, param: paramEffort, action: actDrop, reason: "this API takes a thinking budget instead (set it as an extra parameter)"},

		{providers: []string{"gemini"}, param: paramTopP, action: actRename, to: "topP", reason: "its name in this API"},
		{providers: []string{"gemini"}, param: paramMaxTokens, action: actRename, to: "maxOutputTokens", reason: "its name in this API"},
		{providers: []string{"gemini"}, param: paramStop, action: actRename, to: "stopSequences", reason: "its name in this API"},
		{providers: []string{"gemini"}, param: paramParallel, action: actDrop, reason: "this API cannot switch parallel calls"},
		{providers: []string{"gemini"}, families: []string{"gemini-3"}, param: paramEffort, action: actRename, to: "thinkingConfig.thinkingLevel", reason: "its name in this API"},
		{providers: []string{"gemini"}, except: []string{"gemini-3"}, param: paramEffort, action: actDrop, reason: "models before Gemini 3 take a thinking budget instead (set thinkingConfig as an extra parameter)"},
		{providers: []string{"gemini"}, families: []string{"gemini-3"}, param: paramTemperature, action: actWarn, unless: func(p *callvet.Params) bool { return p.Temperature == nil || *p.Temperature >= 1 }, reason: "Google advises against less than 1 for Gemini 3; sent as given"},

		{providers: []string{"mistral"}, param: paramTemperature, action: actClamp, max: 1.5, reason: "allowed: 0 to 1.5"},
		{providers: []string{"mistral"}, param: paramSeed, action: actRename, to: "random_seed", reason: "its name in this API"},
		{providers: []string{"cohere"}, param: paramTopP, action: actClamp, min: 0.01, max: 0.99, reason: "allowed: 0.01 to 0.99"},
		{providers: []string{"deepseek"}, families: []string{"deepseek-reasoner"}, param: paramTemperature, action: actWarn, unless: noTemperature, reason: "accepted, without effect on this model"},
		{providers: []string{"xai"}, families: []string{"grok-4"}, param: paramStop, action: actDrop, reason: "reasoning models do not take stop sequences"},
		{providers: []string{"xai"}, families: []string{"grok-4"}, param: paramEffort, action: actDrop, reason: "this model does not take it"},
		{providers: []string{"ollama"}, param: paramParallel, action: actDrop, reason: "this API cannot switch parallel calls"},
	}
}

// inFamily reports whether the model's name begins with the family's segments:
// gpt-5-mini is in gpt-5; gpt-5x, foo-gpt-5 and gpt-5.1 are not. A vendor before
// a slash and a variant after a colon do not count.
func inFamily(model, family string) bool {
	if i := strings.LastIndexByte(model, '/'); i >= 0 {
		model = model[i+1:]
	}
	model, _, _ = strings.Cut(strings.ToLower(model), ":")
	rest, ok := strings.CutPrefix(model, family)
	return ok && (rest == "" || rest[0] == '-' || rest[0] == '@')
}

func inAny(model string, families []string) bool {
	return slices.ContainsFunc(families, func(f string) bool { return inFamily(model, f) })
}
