// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// The settings of a suite for retrieval are the defaults of the flags.
func TestFromSuite(t *testing.T) {
	t.Parallel()
	const asks = `{"config":{"tool_retrieval":{"limit":3,"use_reranker":true,"use_embeddings":false,"primary_namespaces":[["tools","a"],["tools","b"]],"fallback_namespaces":[["tools"]]}},"categories":[]}`
	for _, c := range []struct {
		before, want  Settings
		suite, notice string
	}{
		{
			Settings{},
			Settings{K: 3, Weights: map[string]float64{"vector": 0}},
			asks,
			"no-reranker: s.json asks for a reranker, and there is none",
		},
		{
			Settings{Preset: "bigtool", K: 9, Rerank: "tei:x", Weights: map[string]float64{"vector": 1}},
			Settings{
				Preset: "bigtool", K: 9, Rerank: "tei:x", Weights: map[string]float64{"vector": 1},
				Primary: "tools/a,tools/b", Fallback: "tools",
			},
			asks, "",
		},
		{
			Settings{Preset: "bigtool", Primary: "x", Embed: "ollama:m", Rerank: "y"},
			Settings{Preset: "bigtool", Primary: "x", Embed: "ollama:m", Rerank: "y", K: 3},
			asks, "",
		},
		{Settings{}, Settings{}, `{"config":{}}`, ""},
		{Settings{}, Settings{}, "callvet: 1\n# \"tool_retrieval\"\n", ""},
	} {
		reported := ""
		e := &Env{Files: memory{"s.json": c.suite}, Notify: func(n callvet.Notice) { reported += n.Code + ": " + n.Text }}
		err := e.FromSuite(&c.before, "s.json")
		if d := cmp.Diff(c.want, c.before); d != "" || err != nil || reported != c.notice {
			t.Errorf("%v %q: %s", err, reported, d)
		}
	}
	for _, bad := range []string{
		`{"config":{"tool_retrieval":{"limit":0}}}`,
		`{"config":{"tool_retrieval":{"limit":"2"}}}`, `{"config":{"tool_retrieval":[]}}`,
	} {
		if err := (&Env{Files: memory{"s.json": bad}}).FromSuite(&Settings{}, "s.json"); !errors.Is(err,
			callvet.ErrInvalid) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
