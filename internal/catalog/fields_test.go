// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
)

// memory are files in memory.
type memory map[string]string

// Read implements catalog.Files.
func (m memory) Read(name string, _ int64) ([]byte, error) {
	if s, ok := m[name]; ok {
		return []byte(s), nil
	}
	return nil, fs.ErrNotExist
}

// A request that cannot be names the field as JSON spells it, and a client may spell it
// in its own way.
func TestFieldsAreNamed(t *testing.T) {
	t.Parallel()
	e := &catalog.Env{Files: memory{"c.json": `[{"name":"a","description":"x"}]`}}
	grow := func(q catalog.SweepRequest) error {
		q.Suite = "s"
		_, err := catalog.RunSweep(t.Context(), e, q)
		return err
	}
	tune := func(q catalog.TuneRequest) error {
		q.Tools = "c.json"
		_, err := catalog.Tune(t.Context(), e, q)
		return err
	}
	_, query := catalog.Query(t.Context(), e, catalog.QueryRequest{Text: "x"})
	_, refuse := catalog.Learn(t.Context(), e, catalog.LearnRequest{Refuse: 1})
	_, top := catalog.FindConfusable(t.Context(), e, catalog.ConfusableRequest{Tools: "c.json", Top: -1}, nil)
	for _, c := range []struct {
		field string
		err   error
	}{
		{"tools", query},
		{"refuse", refuse},
		{"top", top},
		{"tools", grow(catalog.SweepRequest{})},
		{"distractors", grow(catalog.SweepRequest{Tools: "c", Distractors: []int{-1}})},
		{"distractors", grow(catalog.SweepRequest{Tools: "c", Distractors: []int{1, 1}})},
		{"draws", grow(catalog.SweepRequest{Tools: "c", Draws: 101})},
		{"max_tools", grow(catalog.SweepRequest{Tools: "c", MaxTools: -1})},
		{
			"configurations",
			grow(catalog.SweepRequest{
				Tools: "c", Models: []string{"m"},
				Configurations: make([]catalog.Configuration, 2),
			}),
		},
		{
			"configurations",
			grow(catalog.SweepRequest{Tools: "c", Configurations: []catalog.Configuration{{Name: "a"}, {Name: "a"}}}),
		},
		{
			"configurations",
			grow(catalog.SweepRequest{Tools: "c", Configurations: []catalog.Configuration{{Name: "base"}}}),
		},
		{"goal", tune(catalog.TuneRequest{Goal: "x"})},
		{"folds", tune(catalog.TuneRequest{Folds: 1})},
		{"folds", tune(catalog.TuneRequest{Folds: 5, Holdout: 0.5})},
		{"holdout", tune(catalog.TuneRequest{Holdout: 1})},
		{"rounds", tune(catalog.TuneRequest{Rounds: 21})},
		{"output", tune(catalog.TuneRequest{Output: "-"})},
	} {
		var f *callvet.FieldError
		if !errors.As(c.err, &f) || f.Field != c.field || !errors.Is(c.err, callvet.ErrInvalid) ||
			strings.ContainsAny(c.err.Error(), "{}") {
			t.Errorf("%s: %v", c.field, c.err)
			continue
		}
		got, _ := f.Named(func(field string) string { return "<" + field + ">" })
		if strings.Contains(f.Text, "{"+c.field+"}") && !strings.Contains(got, "<"+c.field+">") {
			t.Errorf("%s: %s", c.field, got)
		}
	}
}
