// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPricesCommand: a list of others becomes a table that a run takes.
func TestPricesCommand(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(
			[]byte(
				`{"model":"m","choices":[{"message":{"content":"no"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000000,"completion_tokens":10}}`))
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"s.json":    `{"name":"s","tools":[{"name":"ping"}],"cases":[{"id":"a","prompt":"x","expected_tool":"ping"}]}`,
		"list.json": `{"gpt-9":{"litellm_provider":"openai","mode":"chat","input_cost_per_token":3e-06,"output_cost_per_token":0},"other":{"mode":"embedding"}}`,
		"bad.json":  `{"a":1}`,
	})
	if out := runApp(t, dir, nil, exitOK, "prices"); !strings.Contains(out, "openai/gpt-5-mini") ||
		!strings.Contains(out, "2025-08-07") {
		t.Errorf("the shipped prices:\n%s", out)
	}
	if out := runApp(t, dir, nil, exitOK, "prices", "list.json", "-o", "prices.json"); !strings.Contains(out,
		"1 price; 1 model without a price for text") {
		t.Errorf("told:\n%s", out)
	}
	if got := string(readFile(t, dir, "prices.json")); !strings.Contains(got,
		`"provider":"openai","model":"gpt-9","input":3,"output":0,"effective":"20`) {
		t.Errorf("written:\n%s", got)
	}
	for _, file := range []string{"prices.json", "list.json"} { // a list of others is read as it is, too
		out := runApp(t, dir, nil, exitOK, "run", "s.json", "-m", "openai/gpt-9", "--base-url", srv.URL, "--prices",
			file, "--max-cost", "5", "--no-cache")
		if !strings.Contains(out, "$3") {
			t.Errorf("by %s the run cost:\n%s", file, out)
		}
	}
	if out := runApp(t, dir, nil, exitUsage, "prices", "bad.json"); !strings.Contains(out, "LiteLLM") {
		t.Errorf("refused:\n%s", out)
	}
}
