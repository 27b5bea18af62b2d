// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

// memory are files in memory.
type memory map[string]string

// Read implements Files.
func (m memory) Read(name string, _ int64) ([]byte, error) {
	if s, ok := m[name]; ok {
		return []byte(s), nil
	}
	return nil, fs.ErrNotExist
}

// A mistake does not keep lint from the others.
func TestLint(t *testing.T) {
	t.Parallel()
	e := &Env{Files: memory{"c.json": "[{\"name\":\"a\\u001b[31mX\"},\n{\"name\":\"b\",\"namespace\":\"x\"},{\"name\":\"b\"}]", "empty": ""}}
	out, err := e.Lint(t.Context(), LintRequest{Tools: "c.json"})
	if err != nil || out.Tools != 2 || out.Errors() != 4 {
		t.Fatalf("%+v, %v", out, err)
	}
	var said []string
	for _, p := range out.Problems {
		said = append(said, p.Code+": "+p.Error())
	}
	for _, say := range []string{"c.json:2:25: tool b: namespace is", "tool b is there twice", "no-description: c.json: b has no description"} {
		if !strings.Contains(strings.Join(said, "\n"), say) {
			t.Errorf("%q is not in %q", say, said)
		}
	}
	if _, err := e.Lint(t.Context(), LintRequest{Tools: "none"}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A service is told nothing but k; a search that says more is refused.
func TestService(t *testing.T) {
	t.Parallel()
	e := &Env{Files: memory{"w.json": `{"retrieval":{"vector":0.5}}`}}
	for _, c := range []struct {
		search Search
		say    string
	}{
		{Search{Via: "http://h/x", Settings: Settings{K: 3}}, ""},
		{Search{Via: "http://${HOST}/x?key=${KEY}", Tools: "c.json"}, ""},
		{Search{Via: "localhost:8000/x"}, "is no address"},
		{Search{Via: "https:///x"}, "is no address"},
		{Search{Via: "c.json"}, "is no address"},
		{Search{Via: "http://h", Settings: Settings{Preset: "bigtool"}}, "not told preset"},
		{Search{Via: "http://h", Settings: Settings{Threshold: 0.1}}, "not told threshold"},
		{Search{Via: "http://h", Settings: Settings{Embed: "x"}}, "not told embed"},
		{Search{Via: "http://h", Settings: Settings{Routes: "none"}}, "not told routes"},
		{Search{Via: "http://h", AbstainOn: "s"}, "not told abstain_on"},
		{Search{Via: "http://h", WeightsFile: "w.json"}, "weights of retrieval in w.json"},
	} {
		_, err := e.Ready(t.Context(), &c.search, "")
		if (err == nil) != (c.say == "") || err != nil && !strings.Contains(err.Error(), c.say) {
			t.Errorf("%+v: %v", c.search, err)
		}
	}
}

// A request that cannot be names the field as JSON spells it, and a client may spell it
// in its own way.
func TestFieldsAreNamed(t *testing.T) {
	t.Parallel()
	e := &Env{Files: memory{"c.json": `[{"name":"a","description":"x"}]`}}
	ask := func(q SweepRequest) error {
		q.Suite = "s"
		_, err := e.Sweep(t.Context(), q)
		return err
	}
	tune := func(q TuneRequest) error { q.Tools = "c.json"; _, err := e.Tune(t.Context(), q); return err }
	_, query := e.Query(t.Context(), QueryRequest{Text: "x"})
	_, refuse := e.Learn(t.Context(), LearnRequest{Refuse: 1})
	_, top := e.Confusable(t.Context(), ConfusableRequest{Tools: "c.json", Top: -1})
	for _, c := range []struct {
		field string
		err   error
	}{
		{"tools", query},
		{"refuse", refuse},
		{"top", top},
		{"tools", ask(SweepRequest{})},
		{"distractors", ask(SweepRequest{Tools: "c", Distractors: []int{-1}})},
		{"distractors", ask(SweepRequest{Tools: "c", Distractors: []int{1, 1}})},
		{"draws", ask(SweepRequest{Tools: "c", Draws: 101})},
		{"max_tools", ask(SweepRequest{Tools: "c", MaxTools: -1})},
		{"configurations", ask(SweepRequest{Tools: "c", Models: []string{"m"}, Configurations: make([]Configuration, 2)})},
		{"configurations", ask(SweepRequest{Tools: "c", Configurations: []Configuration{{Name: "a"}, {Name: "a"}}})},
		{"configurations", ask(SweepRequest{Tools: "c", Configurations: []Configuration{{Name: "base"}}})},
		{"goal", tune(TuneRequest{Goal: "x"})},
		{"folds", tune(TuneRequest{Folds: 1})},
		{"folds", tune(TuneRequest{Folds: 5, Holdout: 0.5})},
		{"holdout", tune(TuneRequest{Holdout: 1})},
		{"rounds", tune(TuneRequest{Rounds: 21})},
		{"output", tune(TuneRequest{Output: "-"})},
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
