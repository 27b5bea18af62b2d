// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"context"
	"net/http"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/server/api"
)

// AddProbe adds the routes that list and try targets.
func AddProbe(s *api.Server) {
	api.Answer(s, api.Small(api.Operations("keys", "/api")("test-target", http.MethodPost, "/targets/test",
		"Ask a model once, with your key: does it answer?")),
		api.Access{Role: account.Member, Scope: account.ScopeRun}, api.With(s, testTarget))
	type targetList struct {
		Targets   []string       `json:"targets" nullable:"false"`
		Providers []app.Provider `json:"providers" nullable:"false"`
	}
	api.Answer(s, api.Operations("runs", "/api")("list-targets", http.MethodGet, "/targets", "What can be evaluated here"),
		api.Access{},
		func(ctx context.Context, by *account.Principal, _ *struct{}) (*targetList, error) {
			a, err := s.AppOf(ctx, by.User)
			if err != nil {
				return nil, err
			}
			return &targetList{Targets: a.Targets(), Providers: app.Providers()}, nil
		})
}

// testTarget asks the model of a provider one short question.
func testTarget(ctx context.Context, s *api.Server, by *account.Principal,
	in *struct{ Body api.EvalTarget },
) (*app.Probe, error) {
	t := &in.Body
	if strings.ContainsAny(t.ProviderKey, ":/") { // another kind of target, not a provider
		return nil, &callvet.FieldError{
			Field: "provider_key",
			Text:  "{provider_key} is the name of a provider, such as openai",
		}
	}
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	out, err := a.Probe(ctx, app.TargetSpec{
		Target: t.ProviderKey + "/" + t.ModelID, Name: t.Name, BaseURL: t.BaseURL,
		APIKeyEnv: t.APIKeyEnv,
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}
