// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
)

// answering is a server in the form of Chat Completions that counts its requests.
func answering(t *testing.T) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"model":"m","output":[],"choices":[{"message":{"content":"`+r.URL.Path+
			`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":5}}`)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, asked
}

const oneCase = `{"name":"s","tools":[{"name":"ping","parameters":{"type":"object"}}],"cases":[{"id":"a","prompt":"hello","expected_tool":"ping"}]}`

// Every field of a target is here: with a value that must be asked anew, since
// another one could be answered otherwise, or with the reason why it cannot matter.
// Each value is tried after all others, so that no two of them share an answer.
func TestCacheSeparatesTargets(t *testing.T) {
	t.Parallel()
	url, asked := answering(t)
	base := func() app.TargetSpec {
		return app.TargetSpec{Target: "openai/m", BaseURL: url + "/v1?deployment=a"}
	}
	num, other, whole, flag := 0.5, 0.75, 7, false
	long := int64(7)
	type change = func(*app.TargetSpec)
	matters := map[string][]change{
		"Target": {
			func(s *app.TargetSpec) { s.Target = "openai/n" }, func(s *app.TargetSpec) { s.Target = "groq/m" },
			func(s *app.TargetSpec) { s.Target = "openai-responses/m" },
		},
		"BaseURL": {
			func(s *app.TargetSpec) { s.BaseURL = url + "/v1?deployment=b" },
			func(s *app.TargetSpec) { s.BaseURL = url + "/v1" },
			func(s *app.TargetSpec) { s.BaseURL = url + "/v2?deployment=a" },
		},
		"APIKeyEnv":              {func(s *app.TargetSpec) { s.APIKeyEnv = "OTHER_KEY" }},
		"DefaultTemperature":     {func(s *app.TargetSpec) { s.DefaultTemperature = &other }},
		"SystemPrompt":           {func(s *app.TargetSpec) { s.SystemPrompt = "new" }},
		"ToolChoice":             {func(s *app.TargetSpec) { s.ToolChoice = "none" }},
		"Stream":                 {func(s *app.TargetSpec) { s.Stream = true }},
		"Params.Temperature":     {func(s *app.TargetSpec) { s.Params.Temperature = &num }},
		"Params.TopP":            {func(s *app.TargetSpec) { s.Params.TopP = &num }},
		"Params.MaxTokens":       {func(s *app.TargetSpec) { s.Params.MaxTokens = &whole }},
		"Params.Seed":            {func(s *app.TargetSpec) { s.Params.Seed = &long }},
		"Params.ReasoningEffort": {func(s *app.TargetSpec) { s.Params.ReasoningEffort = "low" }},
		"Params.ParallelCalls":   {func(s *app.TargetSpec) { s.Params.ParallelCalls = &flag }},
		"Params.Stop":            {func(s *app.TargetSpec) { s.Params.Stop = []string{"x"} }},
		"Params.Extra": {
			func(s *app.TargetSpec) {
				s.Params.Extra = map[string]json.RawMessage{"top_k": json.RawMessage("40")}
			},
			func(s *app.TargetSpec) {
				s.Params.Extra = map[string]json.RawMessage{"top_k": json.RawMessage("41")}
			},
		},
	}
	cannot := map[string]string{
		"ReplaceSystem": "it says what the system prompt is, and that is sent",
		"TargetVersion": "it identifies what is asked for looks at gates, and is not sent",
		"Name":          "it names the target in reports and is not sent",
		"Profile":       "it names the profile that settings come from in reports, and is not sent",
		"Concurrency":   "it says when a request is sent, not what",
		"Rate":          "it says when a request is sent, not what",
		"Headers":       "only agents and remote retrievers send them, and their answers are never given again",
		"Agent":         "only agents and remote retrievers read it, and their answers are never given again",
		"ExecEnv":       "only agents that are commands see variables, and their answers are never given again",
		"Body":          "only agents send it, and their answers are never given again",
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"s.json": oneCase})
	env := map[string]string{"OPENAI_API_KEY": "key-one", "OTHER_KEY": "key-two", "GROQ_API_KEY": "key-three"}
	ask := func(s app.TargetSpec, env map[string]string, flags ...string) int64 {
		t.Helper()
		b, err := json.Marshal(map[string]any{"targets": []app.TargetSpec{s}})
		if err != nil {
			t.Fatal(err)
		}
		writeFiles(t, dir, map[string]string{"t.yaml": string(b)})
		before := asked.Load()
		a, _, _ := newApp(dir, env)
		a.run(t.Context(), a.rootCommand(), append([]string{"run", "s.json", "--targets", "t.yaml", "-q"}, flags...))
		return asked.Load() - before
	}
	if n := ask(base(), env); n != 1 {
		t.Fatalf("%d requests at first", n)
	}
	for _, of := range []struct {
		prefix string
		typ    reflect.Type
	}{{"", reflect.TypeFor[app.TargetSpec]()}, {"Params.", reflect.TypeFor[callvet.Params]()}} {
		for _, f := range reflect.VisibleFields(of.typ) {
			name := of.prefix + f.Name
			if name == "Params" {
				continue
			}
			if reason := cannot[name]; (reason == "") == (matters[name] == nil) {
				t.Errorf("field %s: say either how it changes an answer or why it cannot", name)
			}
			for i, c := range matters[name] {
				s := base()
				c(&s)
				if n := ask(s, env); n != 1 {
					t.Errorf("%s, value %d: %d requests, want 1", name, i, n)
				}
			}
		}
	}
	for name, c := range map[string]change{
		"Name": func(s *app.TargetSpec) { s.Name = "x" }, "Concurrency": func(s *app.TargetSpec) { s.Concurrency = 3 },
		"Rate":    func(s *app.TargetSpec) { s.Rate = 100 },
		"Headers": func(s *app.TargetSpec) { s.Headers = map[string]string{"X-A": "b"} },
		"Agent":   func(s *app.TargetSpec) { s.Agent = map[string]string{"text": "x"} },
		"Body":    func(s *app.TargetSpec) { s.Body = map[string]any{"x": 1} },
	} {
		s := base()
		c(&s)
		if n := ask(s, env); n != 0 {
			t.Errorf("%s: %d requests, want the answer that is there", name, n)
		}
	}
	// What comes from elsewhere than the target: the key does not matter, nor do flags on when to
	// ask and on costs; a dated API does.
	if n := ask(base(), map[string]string{"OPENAI_API_KEY": "key-new"}, "--timeout", "7s", "--retries", "1", "-c", "2",
		"--rate", "50"); n != 0 {
		t.Errorf("another key: %d requests", n)
	}
	azure := app.TargetSpec{Target: "azure/m"}
	for _, version := range []string{"", "2024-06-01", "2024-10-21"} {
		env := map[string]string{
			"AZURE_OPENAI_API_KEY": "key-four", "AZURE_OPENAI_ENDPOINT": url,
			"AZURE_OPENAI_API_VERSION": version,
		}
		if n := ask(azure, env); n != 1 {
			t.Errorf("API version %q: %d requests", version, n)
		}
	}
	for _, base := range []string{"/x/v1", "/y/v1"} { // the endpoint of the environment
		if n := ask(app.TargetSpec{Target: "vllm/m"}, map[string]string{"VLLM_BASE_URL": url + base}); n != 1 {
			t.Errorf("endpoint %s of the environment: %d requests", base, n)
		}
	}
	// Targets with a state of their own are asked every time.
	for _, s := range []string{url + "/agent", "retrieve:" + url + "/select"} {
		for range 2 {
			if n := ask(app.TargetSpec{Target: s}, env, "--retries", "0"); n != 1 {
				t.Errorf("%s: %d requests, want 1 each time", strings.ReplaceAll(s, url, "…"), n)
			}
		}
	}
}
