// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store/rows"
)

// PromptEntry is a version of a prompt, without its text.
type PromptEntry struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Version    int64     `json:"version" doc:"counts from 1; the number of a deleted version is not used again"`
	Parent     string    `json:"parent_prompt_id,omitempty" doc:"the prompt that it was made from"`
	Source     string    `json:"source" doc:"user, or the id of the search that found it"`
	Note       string    `json:"note,omitempty"`
	Hash       string    `json:"hash" doc:"the beginning of the SHA-256 of the text"`
	Characters int       `json:"characters"`
	Owner      string    `json:"owner" doc:"the id of its owner"`
	Shared     bool      `json:"shared" doc:"every user may read it"`
	CreatedAt  time.Time `json:"created_at"`
}

// PromptText is a version of a prompt.
type PromptText struct {
	PromptEntry
	Text string `json:"text"`
}

func promptEntry(p *tunes.KeptPrompt) *PromptEntry {
	return &PromptEntry{
		ID: p.ID, Name: p.Name, Version: p.Version, Parent: p.Parent, Source: p.Source, Note: p.Note, Hash: p.Hash,
		Characters: p.Characters, Owner: p.User, Shared: p.Shared, CreatedAt: p.Created,
	}
}

func addPrompts(s *api.Server) {
	op := api.Operations("prompts", "/api/prompts")
	one := map[string]api.Kind{"id": api.KindPrompt}
	api.Answer(s, op("list-prompts", http.MethodGet, "",
		"Lists versions of prompts, the newest first: one's own, and those that are shared."), api.Access{},
		api.With(s, listPrompts))
	api.Answer(s, api.Returning(http.StatusCreated, op("create-prompt", http.MethodPost, "",
		"Keeps a prompt as the newest version of its name. The same text as the newest version makes no new one.")),
		api.Access{Role: account.Member}, api.With(s, createPrompt))
	api.Answer(s, op("get-prompt", http.MethodGet, "/{id}", "Gives a version of a prompt with its text."),
		api.Access{Objects: one}, api.With(s, getPrompt))
	api.Add(s, api.Returning(http.StatusNoContent, op("delete-prompt", http.MethodDelete, "/{id}",
		"Deletes a version of a prompt. Runs that used it stay.")), api.Access{Role: account.Member, Objects: one},
		func(ctx context.Context, by *account.Principal, in *PromptPath) (*struct{}, error) {
			return nil, s.Config.Store.Change(ctx, "delete prompt", func(q *rows.Queries) error {
				_, err := q.DeletePrompt(ctx, rows.DeletePromptParams{ID: in.ID, Deleted: s.Config.Now().UnixMilli()})
				return errors.Join(err, s.Deletes(ctx, by, api.KindPrompt, in.ID).Do(q))
			})
		})
}

// PromptPath is a path that names a prompt.
type PromptPath struct {
	ID string `path:"id" maxLength:"64"`
}

func listPrompts(ctx context.Context, s *api.Server, by *account.Principal,
	in *api.PageIn,
) (*api.Page[PromptEntry], error) {
	from, err := in.Mark()
	if err != nil {
		return nil, err
	}
	list, _, err := tunes.ListPrompts(ctx, s.Config.App, tunes.PromptPage{
		User: by.User, Everything: by.Role == account.Admin, Before: from.At, BeforeID: from.ID, N: in.Limit + 1,
	})
	if err != nil {
		return nil, err
	}
	return api.Listed(list, in.Limit,
		func(p *tunes.KeptPrompt) api.PageMark { return api.PageMark{At: p.Created.UnixMilli(), ID: p.ID} },
		func(p *tunes.KeptPrompt) (*PromptEntry, error) { return promptEntry(p), nil })
}

func createPrompt(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	Body struct {
		Name   string `json:"name" minLength:"1" maxLength:"100"`
		Text   string `json:"text" minLength:"1" maxLength:"262144"`
		Note   string `json:"note,omitempty" maxLength:"1000" doc:"what is new in it"`
		Parent string `json:"parent_prompt_id,omitempty" maxLength:"64" doc:"the prompt that it was made from"`
		Shared bool   `json:"shared,omitempty" doc:"every user may read it"`
	}
},
) (*PromptText, error) {
	if in.Body.Parent != "" {
		if err := s.May(ctx, by, api.KindPrompt, in.Body.Parent, false); err != nil {
			return nil, err
		}
	}
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	p, kept, err := tunes.KeepPrompt(ctx, a, tunes.KeepPromptRequest{
		Name: in.Body.Name, Text: in.Body.Text, Note: in.Body.Note, Parent: in.Body.Parent, Shared: in.Body.Shared,
		User: by.User,
		Room: func(q *rows.Queries, bytes int) error { return s.Config.Quota.RoomFor(ctx, q, by.User, bytes) },
	})
	if err == nil && kept {
		err = s.SharesNew(ctx, by, api.KindPrompt, p.ID, p.Shared)
	}
	if err != nil {
		return nil, err
	}
	return &PromptText{*promptEntry(p), p.Text}, nil
}

func getPrompt(ctx context.Context, s *api.Server, _ *account.Principal, in *PromptPath) (*PromptText, error) {
	p, err := tunes.ReadPrompt(ctx, s.Config.App, in.ID)
	if err != nil {
		return nil, err
	}
	return &PromptText{*promptEntry(p), p.Text}, nil
}
