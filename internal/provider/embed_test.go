// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

func TestEmbed(t *testing.T) {
	t.Parallel()
	answer := `{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0.5]}]}`
	var got map[string]any
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(b, &got); err != nil || r.URL.Path != "/v1/embeddings" {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(srv.Close)
	e, err := OpenEmbedBackend("openai/embed-1", Config{BaseURL: srv.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	vs, err := e.Embed(t.Context(), []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float32{{1, 0.5}, {0, 1}}, vs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"model": "embed-1", "input": []any{"a", "b"}, "encoding_format": "float"},
		got); diff != "" {
		t.Error(diff)
	}
	for _, answer = range []string{
		`{"data":[{"index":0,"embedding":[1]}]}`, `{"data":[{"index":7,"embedding":[1]}]}`,
		`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`, `{`,
	} {
		var f *callvet.Fault
		if _, err := e.Embed(t.Context(), []string{"a", "b"}); !errors.As(err, &f) || f.Kind != callvet.FaultMalformed {
			t.Errorf("%s: %v", answer, err)
		}
	}
	if vs, err := e.Embed(t.Context(), nil); vs != nil || err != nil {
		t.Errorf("no texts: %v, %v", vs, err)
	}
	if _, err := OpenEmbedBackend("anthropic/x", Config{BaseURL: srv.URL}); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("anthropic: %v", err)
	}
}
