// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import "slices"

// The wires by name.
const (
	wireChat      = "chat"
	wireResponses = "responses"
	wireMessages  = "messages"
	wireGemini    = "gemini"
	wireOllama    = "ollama"
)

// The providers with special addresses, headers or APIs.
const (
	azure           = "azure"
	azureResponses  = "azure-responses"
	openAIResponses = "openai-responses"
)

// providerRow is one row of the provider table.
type providerRow struct {
	name string
	wire string
	// base URL; {NAME} in it is an environment variable. Empty: the user must set one.
	base string
	// baseEnv is the variable that overrides base.
	baseEnv string
	// keyEnv are the variables that may contain the key; hints name the first.
	keyEnv []string
	// local services run without a key.
	local bool
	// shortIDs: call ids must be nine letters and digits.
	shortIDs bool
	// noUsageOption: the service refuses stream_options.
	noUsageOption bool
}

// fit converts any call id to one that the service accepts: imported histories have foreign ids.
func (s *providerRow) fit() func(string) string {
	switch {
	case s.shortIDs:
		return shortID
	case s.wire == wireMessages, s.wire == wireResponses:
		return plainID(64)
	case s.name == "openai", s.name == azure:
		return plainID(40)
	}
	return asIs
}

// onAzure reports whether the service is one of Azure's: they have other addresses and another key
// header.
func (s *providerRow) onAzure() bool { return s.name == azure || s.name == azureResponses }

// responses is the name of the service that has the same models in the Responses API; "" when
// there is none.
func (s *providerRow) responses() string {
	switch s.name {
	case "openai":
		return openAIResponses
	case azure:
		return azureResponses
	}
	return ""
}

// services is the provider table, in display order.
func services() []providerRow {
	hosted := func(name, base, key string) providerRow {
		return providerRow{name: name, wire: wireChat, base: base, keyEnv: []string{key}}
	}
	local := func(name, base, baseEnv, key string) providerRow {
		return providerRow{
			name: name, wire: wireChat, base: base, baseEnv: baseEnv, keyEnv: []string{key},
			local: true,
		}
	}
	return []providerRow{
		{
			name: "openai", wire: wireChat, base: "https://api.openai.com/v1", baseEnv: "OPENAI_BASE_URL",
			keyEnv: []string{"OPENAI_API_KEY"},
		},
		{
			name: openAIResponses, wire: wireResponses, base: "https://api.openai.com/v1", baseEnv: "OPENAI_BASE_URL",
			keyEnv: []string{"OPENAI_API_KEY"},
		},
		{
			name: "anthropic", wire: wireMessages, base: "https://api.anthropic.com", baseEnv: "ANTHROPIC_BASE_URL",
			keyEnv: []string{"ANTHROPIC_API_KEY"},
		},
		{
			name: "gemini", wire: wireGemini, base: "https://generativelanguage.googleapis.com/v1beta",
			baseEnv: "GEMINI_BASE_URL", keyEnv: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
		},
		{name: azure, wire: wireChat, baseEnv: "AZURE_OPENAI_ENDPOINT", keyEnv: []string{"AZURE_OPENAI_API_KEY"}},
		{
			name: azureResponses, wire: wireResponses, baseEnv: "AZURE_OPENAI_ENDPOINT",
			keyEnv: []string{"AZURE_OPENAI_API_KEY"},
		},
		{
			name: "bedrock", wire: wireChat, base: "https://bedrock-runtime.{AWS_REGION}.amazonaws.com/openai/v1",
			keyEnv: []string{"AWS_BEARER_TOKEN_BEDROCK"},
		},
		{
			name: "mistral", wire: wireChat, base: "https://api.mistral.ai/v1", keyEnv: []string{"MISTRAL_API_KEY"},
			shortIDs: true, noUsageOption: true,
		},
		hosted("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
		hosted("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
		hosted("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
		hosted("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
		hosted("xai", "https://api.x.ai/v1", "XAI_API_KEY"),
		hosted("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
		hosted("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
		hosted("cohere", "https://api.cohere.ai/compatibility/v1", "COHERE_API_KEY"),
		hosted("nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
		hosted("huggingface", "https://router.huggingface.co/v1", "HF_TOKEN"),
		{
			name: "ollama", wire: wireOllama, base: "http://localhost:11434", baseEnv: "OLLAMA_HOST",
			keyEnv: []string{"OLLAMA_API_KEY"}, local: true,
		},
		local("vllm", "http://localhost:8000/v1", "VLLM_BASE_URL", "VLLM_API_KEY"),
		local("lmstudio", "http://localhost:1234/v1", "LMSTUDIO_BASE_URL", "LMSTUDIO_API_KEY"),
		local("llamacpp", "http://localhost:8080/v1", "LLAMACPP_BASE_URL", "LLAMACPP_API_KEY"),
		local("compatible", "", "", "CALLVET_COMPATIBLE_API_KEY"),
	}
}

// Names lists the providers that Open knows, the most common first.
func Names() []string {
	var out []string
	for _, s := range services() {
		out = append(out, s.name)
	}
	return out
}

// Base is a provider's base address, and the variable that overrides it; both are "" for an unknown
// name.
func Base(name string) (address, variable string) {
	for _, s := range services() {
		if s.name == name {
			return s.base, s.baseEnv
		}
	}
	return "", ""
}

// Keys are the variables that may contain the key of a provider, the usual one first, and whether
// it works without a key. An unknown name has none.
func Keys(name string) (variables []string, local bool) {
	for _, s := range services() {
		if s.name == name {
			return s.keyEnv, s.local
		}
	}
	return nil, false
}

// KeyVariables are the environment variables that Open reads keys from, each once.
func KeyVariables() []string {
	var out []string
	for _, s := range services() {
		for _, name := range s.keyEnv {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// Settings are the environment variables with addresses and settings of providers, each once.
func Settings() []string {
	out := []string{"AWS_REGION", "AZURE_OPENAI_API_VERSION"}
	for _, s := range services() {
		if s.baseEnv != "" && !slices.Contains(out, s.baseEnv) {
			out = append(out, s.baseEnv)
		}
	}
	return out
}

// KeyHosts are the default hosts of each key variable, with a port if one is written. A provider
// without an address has none.
func KeyHosts(getenv func(string) string) map[string][]string {
	out := map[string][]string{}
	all := services()
	for i := range all {
		u, _, err := baseURL(&all[i], &Config{Getenv: getenv})
		if err != nil {
			continue
		}
		for _, name := range all[i].keyEnv {
			if !slices.Contains(out[name], u.Host) {
				out[name] = append(out[name], u.Host)
			}
		}
	}
	return out
}
