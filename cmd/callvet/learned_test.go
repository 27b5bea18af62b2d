// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPrintLearned: a provider's refusal is reported once for the target, however many attempts were
// made without the parameter, and each attempt records it.
func TestPrintLearned(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(string(body), "temperature") {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":{"message":"'temperature' is not supported","param":"temperature"}}`)
			return
		}
		fmt.Fprint(w,
			`{"model":"m","choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"ping","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`)
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"s.json":      `{"name":"s","tools":[{"name":"ping"}],"cases":[{"id":"a","prompt":"x","expected_tool":"ping"},{"id":"b","prompt":"y","expected_tool":"ping"},{"id":"c","prompt":"z","expected_tool":"ping"}]}`,
		"prices.json": `{"prices":[{"provider":"vllm","model":"m","input":1,"output":1,"effective":"2026-01-01"}]}`,
	})
	run := []string{
		"run", "s.json", "-m", "vllm/m", "--base-url", srv.URL + "/v1", "--temperature", "0.5",
		"--no-cache", "-q",
	}
	out := runApp(t, dir, nil, exitOK, run...)
	if strings.Count(out,
		"note: vllm/m: temperature 0.5 is not sent: the provider refused it ('temperature' is not supported)") != 1 {
		t.Errorf("told:\n%s", out)
	}
	if out := runApp(t, dir, nil, exitOK, "show", "last",
		"c"); !strings.Contains(strings.Join(strings.Fields(out), " "), "temperature as asked for was refused") {
		t.Errorf("show:\n%s", out)
	}
	const unpriced = "note: vllm/m: the price is not known, so the cost limit ends the run after the first answer"
	if out := runApp(t, dir, nil, exitBudget, append(run, "--max-cost", "1")...); strings.Count(out, unpriced) != 1 {
		t.Errorf("without a price:\n%s", out)
	}
	if out := runApp(t, dir, nil, exitOK,
		append(run, "--max-cost", "1", "--prices", "prices.json")...); strings.Contains(out, "price") {
		t.Errorf("with a price:\n%s", out)
	}
}
