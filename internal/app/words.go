// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
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

// CheckWords refuses words that are too long or that no list could show. Tags come out sorted,
// each once.
func CheckWords(w *store.Words) error {
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
		return Wrong("name", strconv.Quote(w.Name), "write one line of text")
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
			return Wrong("run_tags", strconv.Quote(t), "a tag is one line of text without a comma, and not empty")
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

// WordSettings are the words of a run as settings, which hold no secret.
func WordSettings(w *store.Words) []redact.Setting {
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
