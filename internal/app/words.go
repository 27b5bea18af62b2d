// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/store"
)

// Limits of a person's words about a run, in characters, and of its tags, in number.
const (
	MostRunName  = 256
	MostRunNotes = 10_000
	MostRunTag   = 100
	MostRunTags  = 50
)

// DescribeRequest changes what people wrote of a run; nil leaves it as it is.
type DescribeRequest struct {
	Run   string    `json:"run"`
	Name  *string   `json:"name,omitempty"`
	Notes *string   `json:"notes,omitempty"`
	Tags  *[]string `json:"run_tags,omitempty"`
}

// DescribeRun changes the name, the notes and the tags of a run, and gives them.
func (a *App) DescribeRun(ctx context.Context, req DescribeRequest) (store.Words, error) {
	var out store.Words
	db, err := a.cfg.Store(ctx)
	if err != nil {
		return out, err
	}
	r, err := stored(ctx, db, req.Run)
	if err != nil {
		return out, err
	}
	err = db.Describe(ctx, r.ID, func(w *store.Words) error {
		if req.Name != nil {
			w.Name = strings.TrimSpace(*req.Name)
		}
		if req.Notes != nil {
			w.Notes = *req.Notes
		}
		if req.Tags != nil {
			w.Tags = *req.Tags
		}
		if err := checkWords(w); err != nil {
			return err
		}
		out = *w
		return a.secrets.Spelled(wordSettings(w))
	})
	return out, err
}

// checkWords refuses words that are too long or that no list could show. Tags come out sorted,
// each once.
func checkWords(w *store.Words) error {
	control := func(text, except string) bool {
		return !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
			return unicode.IsControl(r) && !strings.ContainsRune(except, r)
		})
	}
	long := func(field, text string, most int) error {
		if n := utf8.RuneCountInString(text); n > most {
			return &callvet.FieldError{
				Field: field,
				Text:  fmt.Sprintf("{%s}: it has %d characters, at most %d are kept", field, n, most),
			}
		}
		return nil
	}
	if err := long("name", w.Name, MostRunName); err != nil {
		return err
	}
	if control(w.Name, "") {
		return wrong("name", strconv.Quote(w.Name), "write one line of text")
	}
	if err := long("notes", w.Notes, MostRunNotes); err != nil {
		return err
	}
	if control(w.Notes, "\n\r\t") {
		return &callvet.FieldError{Field: "notes", Text: "{notes}: it contains control characters"}
	}
	tags := make([]string, len(w.Tags))
	for i, t := range w.Tags {
		tags[i] = strings.TrimSpace(t)
		if err := long("run_tags", tags[i], MostRunTag); err != nil {
			return err
		}
		if tags[i] == "" || control(tags[i], "") || strings.Contains(tags[i], ",") {
			return wrong("run_tags", strconv.Quote(t), "a tag is one line of text without a comma, and not empty")
		}
	}
	slices.Sort(tags)
	if w.Tags = slices.Compact(tags); len(w.Tags) > MostRunTags {
		return &callvet.FieldError{
			Field: "run_tags",
			Text:  fmt.Sprintf("{run_tags}: there are %d, at most %d are kept", len(w.Tags), MostRunTags),
		}
	}
	return nil
}

// wordSettings are the words of a run as settings, which hold no secret.
func wordSettings(w *store.Words) []redact.Setting {
	const hint = "leave it out"
	out := []redact.Setting{
		{Name: "the name of the run", Prose: w.Name, Hint: hint},
		{Name: "the notes of the run", Prose: w.Notes, Hint: hint},
	}
	for _, t := range w.Tags {
		out = append(out, redact.Setting{Name: "a tag of the run", Prose: t, Hint: hint})
	}
	return out
}
