// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// What a suite says of retrieval stands under the flags.
func TestFromSuite(t *testing.T) {
	t.Parallel()
	const asks = `{"config":{"tool_retrieval":{"limit":3,"use_reranker":true,"use_embeddings":false,"primary_namespaces":[["tools","a"],["tools","b"]],"fallback_namespaces":[["tools"]]}},"categories":[]}`
	for _, c := range []struct {
		before, want Settings
		suite, told  string
	}{
		{Settings{}, Settings{K: 3, Weights: map[string]float64{"vector": 0}}, asks, "note: s.json asks for a reranker, and there is none: --rerank SPEC names one\n"},
		{Settings{Preset: "bigtool", K: 9, Rerank: "tei:x", Weights: map[string]float64{"vector": 1}}, Settings{Preset: "bigtool", K: 9, Rerank: "tei:x", Weights: map[string]float64{"vector": 1}, Primary: "tools/a,tools/b", Fallback: "tools"}, asks, ""},
		{Settings{Preset: "bigtool", Primary: "x", Embed: "ollama:m", Rerank: "y"}, Settings{Preset: "bigtool", Primary: "x", Embed: "ollama:m", Rerank: "y", K: 3}, asks, ""},
		{Settings{}, Settings{}, `{"config":{}}`, ""},
		{Settings{}, Settings{}, "callvet: 1\n# \"tool_retrieval\"\n", ""},
	} {
		f := Flags{Settings: c.before}
		var told bytes.Buffer
		err := f.FromSuite("s.json", func(string) ([]byte, error) { return []byte(c.suite), nil }, &told)
		if d := cmp.Diff(c.want, f.Settings); d != "" || err != nil || told.String() != c.told {
			t.Errorf("%v %q: %s", err, told.String(), d)
		}
	}
	for _, bad := range []string{`{"config":{"tool_retrieval":{"limit":0}}}`, `{"config":{"tool_retrieval":{"limit":"2"}}}`, `{"config":{"tool_retrieval":[]}}`} {
		f := Flags{}
		if err := f.FromSuite("s.json", func(string) ([]byte, error) { return []byte(bad), nil }, &bytes.Buffer{}); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
