// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// The parameters of rules, by their names in callvet.Params.
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

// The actions of rules.
const (
	actDrop   = "drop"
	actClamp  = "clamp"
	actRename = "rename"
	actWarn   = "warn"
)

// names are a wire's member names of parameters; "" is not sent.
type names struct {
	topP, maxTokens, seed, stop, effort string
}

// rule is one row of the parameter table.
type rule struct {
	// providers that the rule applies to; nil: all.
	providers []string
	// families of models, as leading segments of the name; nil: all. except excludes families.
	families, except []string
	param, action    string
	min, max         float64 // clamp
	// efforts are the values of a reasoning effort that a clamp replaces; "" drops the
	// parameter.
	efforts map[string]string
	to      string // rename: the new name; warn: the value set
	// unless disables the rule.
	unless func(p *callvet.Params) bool
	reason string
}

func always(*callvet.Params) bool { return false }

// defaultMaxTokens is sent if the API requires a limit and the user set none.
const defaultMaxTokens = 4096

// rulesDate is the day on which the table was last compared with the providers' API
// references. The refusals of newer models are learned from their answers (see refusals).
const rulesDate = "2026-11-22"

// rules is the parameter table. Rows act in order.
func rules() []rule {
	responses := []string{openAIResponses, azureResponses}
	all := append([]string{"openai", azure, "openrouter"}, responses...)
	oSeries := []string{"o1", "o3", "o4"}
	reasoning := append([]string{"gpt-5"}, oSeries...)
	chatOnly := chatModels()
	later := []string{"gpt-5.1+"}
	thinking := []string{"gpt-5.5+"} // models that reason when no effort is set
	dotted := slices.Concat(chatOnly, thinking)
	claude := []string{"anthropic", "openrouter"}
	noEffort := func(p *callvet.Params) bool { return p.ReasoningEffort == "" || p.ReasoningEffort == "none" }
	effortNone := func(p *callvet.Params) bool { return p.ReasoningEffort == "none" }
	noTemperature := func(p *callvet.Params) bool { return p.Temperature == nil }
	const fixed = "reasoning models take the default only"
	const thinks = "taken only with reasoning_effort none"
	return []rule{
		{
			providers: all, families: reasoning, except: chatOnly, param: paramTemperature, action: actDrop,
			reason: fixed,
		},
		{providers: all, families: reasoning, except: chatOnly, param: paramTopP, action: actDrop, reason: fixed},
		{
			providers: all, families: later, except: dotted, param: paramTemperature, action: actDrop, unless: noEffort,
			reason: thinks,
		},
		{
			providers: all, families: later, except: dotted, param: paramTopP, action: actDrop, unless: noEffort,
			reason: thinks,
		},
		{
			providers: all, families: thinking, except: chatOnly, param: paramTemperature, action: actDrop,
			unless: effortNone, reason: thinks,
		},
		{
			providers: all, families: thinking, except: chatOnly, param: paramTopP, action: actDrop, unless: effortNone,
			reason: thinks,
		},
		{
			providers: all, families: reasoning, except: chatOnly, param: paramStop, action: actDrop,
			reason: "reasoning models do not take stop sequences",
		},
		{
			providers: all, families: oSeries, param: paramParallel, action: actDrop,
			reason: "o-series models do not take parallel_tool_calls",
		},
		{
			providers: all, families: append([]string{"gpt-3.5", "gpt-4", "gpt-4o", "gpt-4.1", "chatgpt"}, chatOnly...),
			param: paramEffort, action: actDrop, reason: "only reasoning models take it",
		},
		{
			providers: []string{"openai"}, param: paramMaxTokens, action: actRename, to: "max_completion_tokens",
			reason: "max_tokens is deprecated and refused by reasoning models",
		},
		{
			providers: []string{azure}, families: slices.Concat(reasoning, later), param: paramMaxTokens,
			action: actRename, to: "max_completion_tokens", reason: "reasoning models refuse max_tokens",
		},
		{
			providers: responses, param: paramMaxTokens, action: actClamp, min: 16, max: math.MaxInt32,
			reason: "this API takes 16 or more",
		},
		{
			providers: responses, param: paramMaxTokens, action: actRename, to: "max_output_tokens",
			reason: "its name in this API",
		},
		{providers: responses, param: paramSeed, action: actDrop, reason: "this API has no seed"},
		{providers: responses, param: paramStop, action: actDrop, reason: "this API has no stop sequences"},
		{
			providers: slices.Concat(all, []string{"deepseek", "groq", "xai", "gemini"}), param: paramTemperature,
			action: actClamp, max: 2, reason: "allowed: 0 to 2",
		},

		{
			providers: claude, families: claudeAfterOpus46(), param: paramTemperature, action: actDrop,
			reason: "models after Claude Opus 4.6 take the default, 1, only",
		},
		{
			providers: claude, families: claudeAfterOpus46(), param: paramTopP, action: actDrop,
			reason: "models after Claude Opus 4.6 take the default only",
		},
		{
			providers: []string{"anthropic"}, param: paramTemperature, action: actClamp, max: 1,
			reason: "allowed: 0 to 1",
		},
		{
			providers: []string{"anthropic"}, param: paramTopP, action: actDrop, unless: noTemperature,
			reason: "temperature and top_p exclude each other; temperature is kept",
		},
		{
			providers: []string{"anthropic"}, param: paramMaxTokens, action: actWarn, to: strconv.Itoa(defaultMaxTokens),
			unless: func(p *callvet.Params) bool { return p.MaxTokens != nil }, reason: "the API demands a limit",
		},
		{
			providers: []string{"anthropic"}, param: paramStop, action: actRename, to: "stop_sequences",
			reason: "its name in this API",
		},
		{providers: []string{"anthropic"}, param: paramSeed, action: actDrop, reason: "this API has no seed"},
		{
			providers: []string{"anthropic"}, families: claudeWithoutEffort(), except: claudeWithEffort(),
			param: paramEffort, action: actDrop,
			reason: "this model takes a thinking budget instead (set it as an extra parameter)",
		},
		{
			providers: []string{"anthropic"}, param: paramEffort, action: actClamp,
			efforts: map[string]string{"minimal": "low", "none": ""},
			reason:  "allowed: low, medium, high, and more for newer models",
		},
		{
			providers: []string{"anthropic"}, families: []string{"claude-opus-4-6", "claude-sonnet-4-6"},
			param: paramEffort, action: actClamp, efforts: map[string]string{"xhigh": "high"},
			reason: "allowed: low, medium, high, max",
		},
		{
			providers: []string{"anthropic"}, families: []string{"claude-opus-4-5"}, param: paramEffort, action: actClamp,
			efforts: map[string]string{"xhigh": "high", "max": "high"}, reason: "allowed: low, medium, high",
		},
		{
			providers: []string{"anthropic"}, param: paramEffort, action: actRename, to: "output_config.effort",
			reason: "its name in this API",
		},

		{
			providers: []string{"gemini"}, param: paramTopP, action: actRename, to: "topP",
			reason: "its name in this API",
		},
		{
			providers: []string{"gemini"}, param: paramMaxTokens, action: actRename, to: "maxOutputTokens",
			reason: "its name in this API",
		},
		{
			providers: []string{"gemini"}, param: paramStop, action: actRename, to: "stopSequences",
			reason: "its name in this API",
		},
		{
			providers: []string{"gemini"}, param: paramParallel, action: actDrop,
			reason: "this API cannot switch parallel calls",
		},
		{
			providers: []string{"gemini"}, families: gemini3(), param: paramEffort, action: actClamp,
			efforts: map[string]string{"none": "", "xhigh": "high", "max": "high"},
			reason:  "allowed: minimal, low, medium, high",
		},
		{
			providers: []string{"gemini"}, families: gemini3(), param: paramEffort, action: actRename,
			to: "thinkingConfig.thinkingLevel", reason: "its name in this API",
		},
		{
			providers: []string{"gemini"}, except: gemini3(), param: paramEffort, action: actDrop,
			reason: "models before Gemini 3 take a thinking budget instead (set thinkingConfig as an extra parameter)",
		},
		{
			providers: []string{"gemini"}, families: gemini3(), param: paramTemperature, action: actWarn,
			unless: func(p *callvet.Params) bool { return p.Temperature == nil || *p.Temperature >= 1 },
			reason: "Google advises against less than 1 for Gemini 3",
		},

		{
			providers: []string{"mistral"}, param: paramTemperature, action: actClamp, max: 1.5,
			reason: "allowed: 0 to 1.5",
		},
		{
			providers: []string{"mistral"}, param: paramEffort, action: actClamp,
			efforts: map[string]string{"max": "xhigh"}, reason: "allowed: none to xhigh",
		},
		{
			providers: []string{"mistral"}, param: paramSeed, action: actRename, to: "random_seed",
			reason: "its name in this API",
		},
		{
			providers: []string{"cohere"}, param: paramTopP, action: actClamp, min: 0.01, max: 0.99,
			reason: "allowed: 0.01 to 0.99",
		},
		{
			providers: []string{"deepseek"}, families: []string{"deepseek-reasoner"}, param: paramTemperature,
			action: actWarn, unless: noTemperature, reason: "accepted, without effect on this model",
		},
		{
			providers: []string{"xai"}, families: []string{"grok-4"}, param: paramStop, action: actDrop,
			reason: "reasoning models do not take stop sequences",
		},
		{
			providers: []string{"xai"}, families: []string{"grok-4"}, param: paramEffort, action: actDrop,
			reason: "this model does not take it",
		},
		{
			providers: []string{"ollama"}, param: paramParallel, action: actDrop,
			reason: "this API cannot switch parallel calls",
		},
	}
}

// chatModels are OpenAI's models without reasoning in families that reason.
func chatModels() []string {
	return []string{
		"gpt-5-chat", "gpt-5.1-chat", "gpt-5.2-chat", "gpt-5.3-chat", "gpt-5.4-chat", "gpt-5.5-chat",
		"gpt-5.6-chat",
	}
}

func claudeAfterOpus46() []string {
	return []string{
		"claude-opus-4-7+", "claude-sonnet-5+", "claude-haiku-5+", "claude-fable-5+", "claude-mythos-5+",
		"claude-mythos-preview",
	}
}

func claudeWithEffort() []string {
	return append([]string{"claude-opus-4-5+", "claude-sonnet-4-6+"}, claudeAfterOpus46()...)
}

func claudeWithoutEffort() []string {
	return []string{"claude-instant", "claude-2", "claude-3", "claude-opus-4", "claude-sonnet-4", "claude-haiku-4"}
}

func gemini3() []string { return []string{"gemini-3+"} }

// inFamily reports whether the model's name begins with the family's segments:
// gpt-5-mini is in gpt-5; gpt-5x, foo-gpt-5 and gpt-5.1 are not. A vendor before
// a slash and a variant after a colon do not count. A family with a final + is a version and all
// later ones: gpt-5.4 and gpt-6-mini are in gpt-5.1+.
func inFamily(model, family string) bool {
	if i := strings.LastIndexByte(model, '/'); i >= 0 {
		model = model[i+1:]
	}
	model, _, _ = strings.Cut(strings.ToLower(model), ":")
	if first, ok := strings.CutSuffix(family, "+"); ok {
		return reaches(model, first)
	}
	rest, ok := strings.CutPrefix(model, family)
	return ok && (rest == "" || rest[0] == '-' || rest[0] == '@')
}

// numbered splits a name into prefix, version and rest. A date is not part of a version: it has
// more than two digits.
var numbered = regexp.MustCompile(`^([a-z-]*-)(\d{1,2})(?:[.-](\d{1,2}))?($|[-@].*)`)

// reaches reports whether a model has the version of first, or a later one.
func reaches(model, first string) bool {
	m, f := numbered.FindStringSubmatch(model), numbered.FindStringSubmatch(first)
	if m == nil || f == nil || m[1] != f[1] {
		return false
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n } // "" is 0
	return cmp.Or(cmp.Compare(number(m[2]), number(f[2])), cmp.Compare(number(m[3]), number(f[3]))) >= 0
}

func inAny(model string, families []string) bool {
	return slices.ContainsFunc(families, func(f string) bool { return inFamily(model, f) })
}
