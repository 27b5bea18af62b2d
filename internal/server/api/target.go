// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
)

// EvalTarget names a model by its provider.
type EvalTarget struct {
	ProviderKey string `json:"provider_key" minLength:"1" doc:"the provider, as in openai/gpt-5-mini"`
	ModelID     string `json:"model_id" minLength:"1"`
	Name        string `json:"name,omitempty" doc:"how results call the target"`
	BaseURL     string `json:"base_url,omitempty" doc:"an endpoint of its own"`
	APIKeyEnv   string `json:"api_key_env,omitempty" doc:"the name of the key that is sent there"`
}

// Models are the server's default models.
func (s *Server) Models(ctx context.Context) (account.Models, error) {
	if s.Config.Accounts == nil {
		return account.Models{}, nil
	}
	allowed, err := s.Config.Accounts.Allowed(ctx)
	return allowed.Models, err
}

// NoEmbedder reports whether a problem is that mode semantic has no embedding model.
func NoEmbedder(p callvet.Problem) bool { return p.Code == "no-embedder" }

// ParamsOf returns the parameters of all targets: the standard ones, and the others unchanged.
func ParamsOf(given map[string]json.RawMessage, temperature *float64, seed int64) (p callvet.Params, err error) {
	known := map[string]any{
		"top_p": &p.TopP, "max_tokens": &p.MaxTokens, "seed": &p.Seed, "reasoning_effort": &p.ReasoningEffort,
		"parallel_calls": &p.ParallelCalls, "stop": &p.Stop, "temperature": &p.Temperature,
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value := given[name]
		if into := known[name]; into != nil {
			if err := json.Unmarshal(value, into); err != nil {
				return p, &callvet.FieldError{
					Field: "provider_params",
					Text:  fmt.Sprintf("{provider_params} %s: %s is not a value of it", name, value),
				}
			}
			continue
		}
		if p.Extra == nil {
			p.Extra = map[string]json.RawMessage{}
		}
		p.Extra[name] = value
	}
	if temperature != nil {
		p.Temperature = temperature
	}
	if seed != 0 && p.Seed == nil {
		p.Seed = &seed
	}
	return p, nil
}
