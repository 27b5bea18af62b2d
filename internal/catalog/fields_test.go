// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/catalog/ask"
	"github.com/callvet/callvet/internal/catalog/learn"
	"github.com/callvet/callvet/internal/catalog/lint"
	"github.com/callvet/callvet/internal/catalog/sweep"
)

// memory are files in memory.
type memory map[string]string

// Read implements catalogfile.Files.
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
	grow := func(q sweep.Request) error {
		q.Suite = "s"
		_, err := sweep.Run(t.Context(), e, q)
		return err
	}
	tune := func(q learn.TuneRequest) error {
		q.Tools = "c.json"
		_, err := learn.Tune(t.Context(), e, q)
		return err
	}
	_, query := ask.Query(t.Context(), e, ask.QueryRequest{Text: "x"})
	_, refuse := learn.Learn(t.Context(), e, learn.LearnRequest{Refuse: 1})
	_, top := lint.FindConfusable(t.Context(), e, lint.ConfusableRequest{Tools: "c.json", Top: -1}, nil)
	for _, c := range []struct {
		field string
		err   error
	}{
		{"tools", query},
		{"refuse", refuse},
		{"top", top},
		{"tools", grow(sweep.Request{})},
		{"distractors", grow(sweep.Request{Tools: "c", Distractors: []int{-1}})},
		{"distractors", grow(sweep.Request{Tools: "c", Distractors: []int{1, 1}})},
		{"draws", grow(sweep.Request{Tools: "c", Draws: 101})},
		{"max_tools", grow(sweep.Request{Tools: "c", MaxTools: -1})},
		{"configurations", grow(sweep.Request{Tools: "c", Models: []string{"m"}, Configurations: make([]sweep.Configuration, 2)})},
		{"configurations", grow(sweep.Request{Tools: "c", Configurations: []sweep.Configuration{{Name: "a"}, {Name: "a"}}})},
		{"configurations", grow(sweep.Request{Tools: "c", Configurations: []sweep.Configuration{{Name: "base"}}})},
		{"goal", tune(learn.TuneRequest{Goal: "x"})},
		{"folds", tune(learn.TuneRequest{Folds: 1})},
		{"folds", tune(learn.TuneRequest{Folds: 5, Holdout: 0.5})},
		{"holdout", tune(learn.TuneRequest{Holdout: 1})},
		{"rounds", tune(learn.TuneRequest{Rounds: 21})},
		{"output", tune(learn.TuneRequest{Output: "-"})},
	} {
		var f *callvet.FieldError
		if !errors.As(c.err, &f) || f.Field != c.field || !errors.Is(c.err, callvet.ErrInvalid) || strings.ContainsAny(c.err.Error(), "{}") {
			t.Errorf("%s: %v", c.field, c.err)
			continue
		}
		said, _ := f.Named(func(field string) string { return "<" + field + ">" })
		if strings.Contains(f.Text, "{"+c.field+"}") && !strings.Contains(said, "<"+c.field+">") {
			t.Errorf("%s: %s", c.field, said)
		}
	}
}
