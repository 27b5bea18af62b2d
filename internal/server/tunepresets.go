// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/server/api"
)

// PresetList are search spaces with names.
type PresetList struct {
	Items []tunes.PresetView `json:"items" nullable:"false"`
}

// addTunePresets adds the routes of a user's search spaces.
func addTunePresets(s *api.Server) {
	op := api.Operations("tunes", "/api/tool-eval/param-tune/presets")
	api.Answer(s, op("list-param-presets", http.MethodGet, "", "Lists the shipped search spaces and one's own."),
		api.Access{}, func(ctx context.Context, by *account.Principal, _ *struct{}) (*PresetList, error) {
			a, err := s.AppOf(ctx, by.User)
			if err != nil {
				return nil, err
			}
			list, err := tunes.ListPresets(ctx, a)
			return &PresetList{list}, err
		})
	api.Answer(s, api.Returning(http.StatusCreated, op("keep-param-preset", http.MethodPost, "",
		"Keeps a search space under a name, in place of one's own of that name.")), api.Access{Role: account.Member},
		func(ctx context.Context, by *account.Principal, in *struct {
			Body struct {
				Name  string          `json:"name" minLength:"1" maxLength:"64"`
				Space json.RawMessage `json:"search_space" doc:"as in a space file: params, extra, models"`
			}
		},
		) (*tunes.PresetView, error) {
			if api.Null(in.Body.Space) {
				return nil, app.Wrong("search_space", "", "which values?")
			}
			a, err := s.AppOf(ctx, by.User)
			if err != nil {
				return nil, err
			}
			return tunes.KeepPreset(ctx, a, in.Body.Name, in.Body.Space)
		})
	api.Add(s, api.Returning(http.StatusNoContent, op("delete-param-preset", http.MethodDelete, "/{name}",
		"Deletes a search space of one's own. Searches keep their values.")), api.Access{Role: account.Member},
		func(ctx context.Context, by *account.Principal, in *struct {
			Name string `path:"name" maxLength:"64"`
		},
		) (*struct{}, error) {
			a, err := s.AppOf(ctx, by.User)
			if err != nil {
				return nil, err
			}
			return nil, tunes.DeletePreset(ctx, a, in.Name)
		})
}
