// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestProxyModel records the models of a whole program, callvet itself, and replays them with the
// server gone: OpenAI's dialect and Anthropic's, several attempts of one case.
func TestProxyModel(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/messages") {
			_, _ = io.WriteString(w,
				`{"id":"m","type":"message","role":"assistant","model":"c","content":[{"type":"tool_use","id":"t1","name":"get_weather","input":{"city":"Lund"}}],"stop_reason":"tool_use","usage":{"input_tokens":9,"output_tokens":3}}`)
			return
		}
		_, _ = io.WriteString(w,
			`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Lund\"}"}}]}}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`)
	}))
	defer srv.Close()
	dir := t.TempDir()
	suite := `{"tools":[{"name":"get_weather","description":"Weather of a city.","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}],
		"cases":[{"id":"a","prompt":"Is it cold in Lund?","expected_tool":"get_weather"},{"id":"b","prompt":"Rain in Lund?","expected_tool":"get_weather"}]}`
	if err := os.WriteFile(filepath.Join(dir, "suite.json"), []byte(suite), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := func(args ...string) (string, int) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "callvet", append([]string{"proxy", "model"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CALLVET_DB="+filepath.Join(dir, "runs.db"), "HOME="+dir,
			"OPENAI_API_KEY=sk-proj-secretsecretsecret", "ANTHROPIC_API_KEY=sk-ant-secretsecretsecret")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	run := strings.Fields(
		"-- callvet run suite.json --no-cache -m openai/gpt-4.1 -m anthropic/claude-x --repeat 2 --require-pass")
	at := []string{"--openai", srv.URL + "/v1", "--anthropic", srv.URL}
	check := func(what, out string, code, want int, says ...string) {
		t.Helper()
		for _, s := range says {
			if code != want || !strings.Contains(out, s) {
				t.Errorf("%s: exit %d, it does not say %q:\n%s", what, code, s, out)
			}
		}
	}
	out, code := proxy(append(append([]string{"--record", "models"}, at...), run...)...)
	check("record", out, code, 0, "models: 8 recorded")
	if n := asked.Load(); n != 8 {
		t.Errorf("asked %d times", n)
	}
	list, err := os.ReadDir(filepath.Join(dir, "models"))
	if err != nil || len(list) != 4 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, e := range list {
		text := readFile(t, filepath.Join(dir, "models"), e.Name())
		if strings.Contains(string(text), "secretsecret") || !json.Valid(text) {
			t.Errorf("%s: %s", e.Name(), text)
		}
	}
	srv.Close()
	out, code = proxy(append([]string{"--replay", "models"}, run...)...)
	check("replay", out, code, 0, "models: 8 replayed\n")
	out, code = proxy("--replay", "models", "--", "callvet", "run", "suite.json", "--no-cache", "-m", "openai/gpt-4.2",
		"--retries", "0")
	check("miss", out, code, 1, "2 without a recording; 4 recordings were not asked for",
		`model: recorded "gpt-4.1", asked "gpt-4.2"`)
	out, code = proxy("--replay", "models", "--", "callvet", "version", "x")
	check("the command's exit code", out, code, 2, "models: no request came")
	for line, says := range map[string]string{
		"":                                      "name the folder of recordings: --replay",
		"--replay models --record models":       "name the folder of recordings: --replay",
		"--replay none":                         "record them first: callvet proxy model --record",
		"--replay models --fresh":               "--fresh asks models again, which --replay never does",
		"--record suite.json":                   "--record suite.json: it is a file",
		"--record models --openai ftp://x":      "--openai ftp://x: it is an address",
		"--record models --openai http://k:p@x": "callvet: ",
		"--record models callvet version":       "the command stands after --",
		"--record models -- no-such-command":    "start no-such-command",
	} {
		out, code = proxy(strings.Fields(line)...)
		check(line, out, code, 2, says)
	}
}
