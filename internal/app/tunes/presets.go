// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/internal/tune"
)

// Limits of the stored spaces of a user.
const (
	MaxPresets     = 100
	MaxPresetBytes = 64 << 10
)

// presetName is the form of names of stored spaces.
var presetName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// PresetView is a space with a name.
type PresetView struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	// Own: a user stored it; else it is shipped.
	Own bool `json:"own"`
	// Text is a space file, Space the same in JSON.
	Text  string          `json:"text"`
	Space json.RawMessage `json:"space"`
	// Problem is why the space cannot be read; "": it can.
	Problem string `json:"problem,omitempty"`
}

func presetView(name, about, text string, own bool) PresetView {
	v := PresetView{Name: name, About: about, Text: text, Own: own, Space: json.RawMessage("null")}
	if file, bad := doc.Read(name, []byte(text)); bad == nil {
		v.Space = file.JSON()
	}
	return v
}

// ListPresets returns the shipped spaces and those of the user.
func ListPresets(ctx context.Context, a *app.App) ([]PresetView, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	var out []PresetView
	for _, p := range tune.Presets() {
		out = append(out, presetView(p.Name, p.About, p.Text, false))
	}
	list, err := db.Rows().TunePresets(ctx, a.Config.User)
	if err != nil {
		return nil, fmt.Errorf("list presets: %w", err)
	}
	for i := range list {
		r := &list[i]
		if err := store.Intact(r.Whole, "preset "+r.Name); err != nil {
			out = append(out, PresetView{Name: r.Name, Own: true, Space: json.RawMessage("null"), Problem: err.Error()})
			continue
		}
		out = append(out, presetView(r.Name, "", string(r.Content), true))
	}
	return out, nil
}

// KeepPreset stores a space under a name, and replaces an earlier one with that name.
func KeepPreset(ctx context.Context, a *app.App, name string, text []byte) (*PresetView, error) {
	switch {
	case !presetName.MatchString(name):
		return nil, app.Wrong("name", name, "write at most 64 of a–z, 0–9, dot, _ and -")
	case slices.Contains(Presets(), name):
		return nil, app.Wrong("name", name, "a shipped preset has this name")
	case len(text) > MaxPresetBytes:
		return nil, app.Wrong("space", "", "a preset has at most %s", doc.SizeText(MaxPresetBytes))
	}
	if _, err := tune.ReadSpace(name, text); err != nil {
		return nil, err
	}
	if err := a.CheckSecrets([]app.TargetSpec{{Params: callvet.Params{Extra: map[string]json.RawMessage{
		"space": doc.Quote(nil, text),
	}}}}); err != nil {
		return nil, err
	}
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	id, err := store.NewID(nil, "preset")
	if err != nil {
		return nil, err
	}
	view := presetView(name, "", string(text), true)
	return &view, db.Change(ctx, "keep preset", func(q *rows.Queries) error {
		if _, err := q.DeleteTunePreset(ctx, rows.DeleteTunePresetParams{UserID: a.Config.User, Name: name}); err != nil {
			return err
		}
		list, err := q.TunePresets(ctx, a.Config.User)
		if err != nil {
			return err
		}
		if len(list) >= MaxPresets {
			return fmt.Errorf("keep preset: %w: at most %d are kept", callvet.ErrLimited, MaxPresets)
		}
		return q.AddTunePreset(ctx, rows.AddTunePresetParams{
			ID: id, UserID: a.Config.User, Name: name, Created: a.Config.Now().UnixMilli(), Content: text,
		})
	})
}

// DeletePreset deletes a space of the user. Searches keep their first values.
func DeletePreset(ctx context.Context, a *app.App, name string) error {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return err
	}
	return db.Change(ctx, "delete preset", func(q *rows.Queries) error {
		n, err := q.DeleteTunePreset(ctx, rows.DeleteTunePresetParams{UserID: a.Config.User, Name: name})
		if err == nil && n == 0 {
			err = fmt.Errorf("delete preset %q: %w", name, callvet.ErrNotFound)
		}
		return err
	})
}

// preset returns the text of a space of the user.
func preset(ctx context.Context, a *app.App, db *store.DB, name string) ([]byte, error) {
	r, err := db.Rows().TunePreset(ctx, rows.TunePresetParams{UserID: a.Config.User, Name: name})
	if errors.Is(err, sql.ErrNoRows) {
		known := Presets()
		list, err := db.Rows().TunePresets(ctx, a.Config.User)
		for i := range list {
			known = append(known, list[i].Name)
		}
		return nil, errors.Join(err, unknown("preset", strings.TrimSpace(name), "presets: ", known))
	}
	if err != nil {
		return nil, fmt.Errorf("read preset: %w", err)
	}
	return r.Content, store.Intact(r.Whole, "preset "+name)
}
