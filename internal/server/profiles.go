// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store/rows"
)

// RunTarget is a model of a run. Its settings replace the settings for all models.
type RunTarget struct {
	api.EvalTarget
	Params        callvet.Params `json:"params,omitzero" doc:"as in a targets file"`
	ToolChoice    string         `json:"tool_choice,omitempty" maxLength:"200"`
	SystemPrompt  string         `json:"system_prompt,omitempty" maxLength:"1000000" doc:"it stands before the suite's"`
	ReplaceSystem bool           `json:"replace_system,omitempty" doc:"its system_prompt replaces the suite's"`
	ProfileID     string         `json:"profile_id,omitempty" maxLength:"64" doc:"its settings are used where the request has none"`
}

// ProfileList are the profiles of a user.
type ProfileList struct {
	Items []tunes.Profile `json:"items" nullable:"false"`
}

// addProfiles adds the routes of a user's profiles for models.
func addProfiles(s *api.Server) {
	op := api.Operations("profiles", "/api/profiles")
	api.Answer(s, op("list-profiles", http.MethodGet, "", "Lists one's profiles of models, by model and name."), api.Access{},
		func(ctx context.Context, by *account.Principal, in *struct {
			Model string `query:"model" maxLength:"500" doc:"provider/model; empty: of all models"`
		},
		) (*ProfileList, error) {
			a, err := s.AppOf(ctx, by.User)
			if err != nil {
				return nil, err
			}
			list, err := tunes.ListProfiles(ctx, a, in.Model)
			return &ProfileList{list}, err
		})
	api.Answer(s, api.Returning(http.StatusCreated, op("keep-profile", http.MethodPost, "",
		"Keeps parameters, a system prompt or both for a model, in place of the profile of that model and name.")),
		api.Access{Role: account.Member},
		func(ctx context.Context, by *account.Principal, in *struct {
			Body struct {
				Name  string `json:"name" minLength:"1" maxLength:"128"`
				Model string `json:"model" minLength:"1" maxLength:"500" doc:"provider/model"`
				tunes.ProfileContent
			}
		},
		) (*tunes.Profile, error) {
			b := &in.Body
			return keepProfile(ctx, s, by, tunes.Profile{Name: b.Name, Model: b.Model, ProfileContent: b.ProfileContent})
		})
	api.Add(s, api.Returning(http.StatusNoContent, op("delete-profile", http.MethodDelete, "/{id}",
		"Deletes a profile. Runs keep the settings that they had.")), api.Access{Role: account.Member},
		func(ctx context.Context, by *account.Principal, in *struct {
			ID string `path:"id" maxLength:"64"`
		},
		) (*struct{}, error) {
			a, err := s.AppOf(ctx, by.User)
			if err != nil {
				return nil, err
			}
			return nil, tunes.DeleteProfile(ctx, a, in.ID)
		})
}

// keepProfile stores a profile of by, if the quota has room for it.
func keepProfile(ctx context.Context, s *api.Server, by *account.Principal, p tunes.Profile) (*tunes.Profile, error) {
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	return tunes.KeepProfile(ctx, a, p,
		func(q *rows.Queries, bytes int) error { return s.Config.Quota.RoomFor(ctx, q, by.User, bytes) })
}

// useProfiles adds the profiles that the request names to the settings of its targets: its models,
// then its targets. Settings of the request take precedence; a notice reports each that overrules a
// profile.
func (q *EvalRequest) useProfiles(ctx context.Context, s *api.Server, by *account.Principal, specs []app.TargetSpec,
) (notices []callvet.Notice, err error) {
	asked := map[string]bool{}
	for i := range specs {
		spec := &specs[i]
		_, model, _ := strings.Cut(spec.Target, "/")
		asked[spec.Target], asked[model] = true, true
		field, id := "profiles", cmp.Or(q.Profiles[spec.Target], q.Profiles[model])
		if i >= len(q.Models) {
			if own := q.Targets[i-len(q.Models)].ProfileID; own != "" {
				field, id = "profile_id", own
			}
		}
		if id == "" {
			continue
		}
		p, err := profileOf(ctx, s, by, field, id)
		if err != nil {
			return nil, err
		}
		if p.Model != spec.Target {
			return nil, app.Wrong(field, p.Name, "it is a profile of %s, not of %s", p.Model, spec.Target)
		}
		overruled, err := p.Under(spec)
		if err != nil {
			return nil, err
		}
		if len(overruled) > 0 {
			notices = append(notices, callvet.Notice{Code: "profile-overruled", Text: fmt.Sprintf(
				"%s: the request sets %s too: its values are used, and not those of the profile %s", spec.DisplayName(),
				strings.Join(overruled, ", "), p.Name)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.Profiles)) {
		if !asked[name] {
			return nil, app.Wrong("profiles", name, "no model of that name is asked")
		}
	}
	return notices, nil
}

// profileOf returns a profile of by, which a field of a request names.
func profileOf(ctx context.Context, s *api.Server, by *account.Principal, field, id string) (*tunes.Profile, error) {
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	p, err := tunes.ReadProfile(ctx, a, id)
	if errors.Is(err, callvet.ErrNotFound) {
		return nil, &callvet.FieldError{
			Field: field, Kind: callvet.ErrNotFound,
			Text: fmt.Sprintf("{%s} %s: you have no such profile, or it was deleted", field, id),
		}
	}
	return p, err
}
