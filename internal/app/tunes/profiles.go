// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

// Limits of the stored profiles of a user.
const (
	MaxProfiles     = 200
	MaxProfileBytes = 64 << 10
	MaxProfileName  = 128
)

// ProfileContent is what a profile sets.
type ProfileContent struct {
	Params       callvet.Params `json:"params,omitzero"`
	ToolChoice   string         `json:"tool_choice,omitempty"`
	SystemPrompt string         `json:"system_prompt,omitempty"`
	// ReplaceSystem lets SystemPrompt replace the suite's prompt.
	ReplaceSystem bool `json:"replace_system,omitempty"`
	// PromptID is the prompt of the library with the text of SystemPrompt; "": none.
	PromptID string `json:"prompt_id,omitempty"`
}

// Profile is a stored profile of a user for a model: parameters, a system prompt, or both.
type Profile struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Model is provider/model.
	Model string `json:"model"`
	// Source is the id of the search that found it, or SourceUser.
	Source  string    `json:"source"`
	Created time.Time `json:"created_at"`
	ProfileContent
	// Problem is why the profile cannot be used; "": it can.
	Problem string `json:"problem,omitempty"`
}

// ProfileOf returns a profile with the settings of a target, without the address of its requests.
func ProfileOf(s *app.TargetSpec, name, source string) Profile {
	return Profile{
		Name: name, Model: s.Target, Source: source, ProfileContent: ProfileContent{
			Params: s.Params, ToolChoice: s.ToolChoice, SystemPrompt: s.SystemPrompt,
			ReplaceSystem: s.SystemPrompt != "" && s.Replaces(),
		},
	}
}

// KeepProfile stores a profile of the user of a, and replaces an earlier one with that model and
// name: it has the same id. room may refuse a profile of this size, in the transaction that adds
// it. The error wraps callvet.ErrInvalid for an invalid profile, and callvet.ErrNotFound for a
// prompt that the user may not read.
func KeepProfile(ctx context.Context, a *app.App, p Profile, room func(q *rows.Queries, bytes int) error,
) (*Profile, error) {
	p.Name, p.Source = strings.TrimSpace(p.Name), cmp.Or(p.Source, SourceUser)
	p.Created, p.Problem = time.UnixMilli(a.Config.Now().UnixMilli()).UTC(), ""
	if p.PromptID != "" {
		if p.SystemPrompt != "" {
			return nil, app.Refused("prompt_id", "{prompt_id} and {system_prompt} are the same thing: give one of them")
		}
		of, err := promptByID(ctx, a, a.Config.User, p.PromptID)
		if err != nil {
			return nil, err
		}
		p.SystemPrompt = of.Text
	}
	p.ReplaceSystem = p.ReplaceSystem && p.SystemPrompt != ""
	content, err := p.check(a)
	if err != nil {
		return nil, err
	}
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	if p.ID, err = store.NewID(nil, "profile"); err != nil {
		return nil, err
	}
	return &p, db.Change(ctx, "keep profile", func(q *rows.Queries) error {
		list, err := q.Profiles(ctx, rows.ProfilesParams{UserID: a.Config.User})
		if err != nil {
			return err
		}
		n := len(list)
		for i := range list {
			if list[i].Model == p.Model && list[i].Name == p.Name {
				p.ID, n = list[i].ID, n-1
			}
		}
		if n >= MaxProfiles {
			return fmt.Errorf("keep profile: %w: at most %d are kept", callvet.ErrLimited, MaxProfiles)
		}
		if _, err := q.DeleteProfile(ctx, rows.DeleteProfileParams{ID: p.ID, UserID: a.Config.User}); err != nil {
			return err
		}
		if err := room(q, len(content)); err != nil {
			return err
		}
		return q.AddProfile(ctx, rows.AddProfileParams{
			ID: p.ID, UserID: a.Config.User, Model: p.Model, Name: p.Name, Source: p.Source,
			Created: p.Created.UnixMilli(), Content: content,
		})
	})
}

// check returns an error for an invalid profile, else its stored content.
func (p *Profile) check(a *app.App) ([]byte, error) {
	provider, model, _ := strings.Cut(p.Model, "/")
	switch {
	case provider == "" || model == "":
		return nil, app.Wrong("model", strconv.Quote(p.Model), "write provider/model, such as openai/gpt-5-mini")
	case p.Name == "" || len(p.Name) > MaxProfileName || !utf8.ValidString(p.Name) ||
		strings.ContainsFunc(p.Name, unicode.IsControl):
		return nil, app.Wrong("profile", strconv.Quote(p.Name), "a name is one line of at most %d bytes, and not empty",
			MaxProfileName)
	case a.Secrets().Hide(p.SystemPrompt) != p.SystemPrompt:
		return nil, app.Refused("system_prompt", "the prompt contains a key of the environment: remove it")
	}
	if err := a.CheckSecrets([]app.TargetSpec{{Target: p.Model, Name: p.Name, Params: p.Params}}); err != nil {
		return nil, err
	}
	sets, err := settingsOf(p.Params, p.ToolChoice)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(&p.ProfileContent)
	switch {
	case err != nil:
		return nil, fmt.Errorf("write profile: %w", err)
	case len(sets) == 0 && p.SystemPrompt == "":
		return nil, app.Refused("params", "the profile sets nothing: it has {params}, {tool_choice} or {system_prompt}")
	case len(content) > MaxProfileBytes:
		return nil, app.Refused("params", "a profile has at most %s", doc.SizeText(MaxProfileBytes))
	}
	return content, nil
}

// ListProfiles returns the profiles of the user of a, by model and name; model "" is all models. A
// damaged one is in the list, with a problem.
func ListProfiles(ctx context.Context, a *app.App, model string) ([]Profile, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	list, err := db.Rows().Profiles(ctx, rows.ProfilesParams{UserID: a.Config.User, Model: model})
	if err != nil {
		return nil, fmt.Errorf("list profiles: %w", err)
	}
	out := make([]Profile, len(list))
	for i := range list {
		var bad error
		if out[i], bad = profileOf(&list[i]); bad != nil {
			out[i].Problem = bad.Error()
		}
	}
	return out, nil
}

// ReadProfile finds a profile of the user of a. The error wraps callvet.ErrNotFound.
func ReadProfile(ctx context.Context, a *app.App, id string) (*Profile, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	row, err := db.Rows().Profile(ctx, rows.ProfileParams{ID: id, UserID: a.Config.User})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("profile %q: %w", id, callvet.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read profile %q: %w", id, err)
	}
	p, err := profileOf(&row)
	return &p, err
}

// profileOf reads a row. The error wraps store.ErrDamaged; the profile then has no content.
func profileOf(row *rows.CheckedProfile) (Profile, error) {
	p := Profile{
		ID: row.ID, Name: row.Name, Model: row.Model, Source: row.Source, Created: time.UnixMilli(row.Created).UTC(),
	}
	if err := store.Intact(row.Whole, "profile "+row.ID); err != nil {
		return p, err
	}
	if err := json.Unmarshal(row.Content, &p.ProfileContent); err != nil {
		return p, fmt.Errorf("read profile %s: %w: %w", row.ID, store.ErrDamaged, doc.Explain(err))
	}
	return p, nil
}

// DeleteProfile deletes a profile of the user of a. Runs keep their settings.
func DeleteProfile(ctx context.Context, a *app.App, id string) error {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return err
	}
	return db.Change(ctx, "delete profile", func(q *rows.Queries) error {
		n, err := q.DeleteProfile(ctx, rows.DeleteProfileParams{ID: id, UserID: a.Config.User})
		if err == nil && n == 0 {
			err = fmt.Errorf("profile %q: %w", id, callvet.ErrNotFound)
		}
		return err
	})
}

// Under adds the settings of the profile to those of a target, which take precedence. It returns
// the names of settings of the profile that are not used, because the target sets them differently.
func (p *Profile) Under(s *app.TargetSpec) (overruled []string, err error) {
	s.Params, s.ToolChoice = s.Params.Over(p.Params), cmp.Or(s.ToolChoice, p.ToolChoice)
	was, err := settingsOf(p.Params, p.ToolChoice)
	if err != nil {
		return nil, err
	}
	now, err := settingsOf(s.Params, s.ToolChoice)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if was[name] != now[name] {
			overruled = append(overruled, name)
		}
	}
	switch {
	case p.SystemPrompt == "":
	case s.SystemPrompt == "":
		replace := p.ReplaceSystem
		s.SystemPrompt, s.ReplaceSystem = p.SystemPrompt, &replace
	case s.SystemPrompt != p.SystemPrompt || s.Replaces() != p.ReplaceSystem:
		overruled = append(overruled, keySystemPrompt)
	}
	s.Profile = p.Name
	return overruled, nil
}

// settingsOf returns parameters by their names, also those that are sent unchanged.
func settingsOf(p callvet.Params, toolChoice string) (map[string]string, error) {
	extra := p.Extra
	p.Extra = nil
	out, err := results.ParametersOf(&callvet.Target{Params: p, ToolChoice: toolChoice})
	if err != nil {
		return nil, err
	}
	for name, v := range extra {
		out[name] = string(v)
	}
	return out, nil
}
