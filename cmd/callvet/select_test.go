// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
)

const selectSuite = `{"name": "s", "categories": [{"category_id": "c", "category_name": "C", "test_cases": [
	{"id": "right", "query": "late train", "expected_route": "action", "expected_tools": ["trains_secret_gold"], "tags": ["t"]},
	{"id": "wrong", "query": "rain", "expected_route": "action", "expected_tools": ["weather_secret_gold"], "tags": ["t"]},
	{"id": "empty", "query": "", "expected_route": "smalltalk", "expected_tools": []},
	{"id": "broken", "query": "boom", "expected_route": "action", "expected_tools": ["trains_secret_gold"]}]}]}`

// A service receives the questions and nothing about the right answers. A question that it cannot
// answer is an error and no wrong decision. A model on the same suite is judged by its calls, and
// not asked what cannot be sent to it.
func TestSelectVia(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var bodies []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		bodies = append(bodies, string(b))
		mu.Unlock()
		var q struct{ Query string }
		if err := json.Unmarshal(b, &q); err != nil || r.Header.Get("Authorization") != "Bearer hunter22" {
			t.Errorf("%s %v %v", b, r.Header, err)
		}
		switch q.Query {
		case "late train":
			fmt.Fprint(w, `{"route":"action","tools":[{"id":"trains_secret_gold","score":2}],"echo":"hunter22"}`)
		case "rain":
			fmt.Fprint(w, `{"route":"knowledge","tools":["umbrella"]}`)
		case "":
			fmt.Fprint(w, `{"route":"smalltalk","tools":[]}`)
		default:
			http.Error(w, "down", http.StatusNotImplemented)
		}
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "s.json"), []byte(selectSuite), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"KEY": "hunter22"}
	runApp(t, dir, env, exitOK, "select", "s.json", "--via", srv.URL+"/retrieve", "--header",
		"Authorization: Bearer ${KEY}", "--k", "3", "--retries", "0", "--name", "via", "-q", "-o", "out.json")
	if out := runApp(t, dir, nil, exitError, "select", "s.json", "--via", srv.URL, "--header",
		"Authorization: Bearer ${KEY}", "-q"); !strings.Contains(out, "export KEY") {
		t.Errorf("a key that is not set: %s", out)
	}
	slices.Sort(bodies)
	want := []string{
		`{"k":3,"query":""}`, `{"k":3,"query":"boom"}`, `{"k":3,"query":"late train"}`,
		`{"k":3,"query":"rain"}`,
	}
	if diff := cmp.Diff(want, bodies); diff != "" {
		t.Error(diff)
	}
	raw := readFile(t, dir, "out.json")
	var doc report.Document
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	v := doc.Panels.Targets[0].Overall.Verdicts
	if v.Pass != 2 || v.Fail != 1 || v.Error != 1 || v.NotRun != 0 {
		t.Errorf("verdicts %+v", v)
	}
	s := doc.Selection.Targets[0]
	if s.Cases != 3 || s.Failures != 1 || s.Failed[0].Class != "wrong_route" || len(s.FirstWrong) != 1 ||
		len(s.Routes) != 3 {
		t.Errorf("%+v", s)
	}
	for _, args := range [][]string{{"show", "via", "right", "-v"}, {"show", "via", "--json"}} {
		if out := runApp(t, dir, nil, exitOK, args...); strings.Contains(out, "hunter22") ||
			!strings.Contains(out, "trains_secret_gold") && args[2] == "right" {
			t.Errorf("callvet %v:\n%s", args, out)
		}
	}
	runApp(t, dir, nil, exitOK, "run", "s.json", "-m", "offline/lexical", "--no-lint", "-q", "-o", "model.json")
	doc = report.Document{}
	if err := json.Unmarshal(readFile(t, dir, "model.json"), &doc); err != nil {
		t.Fatal(err)
	}
	if v := doc.Panels.Targets[0].Overall.Verdicts; v.NotRun != 1 || v.Pass+v.Fail != 3 || doc.Selection != nil {
		t.Errorf("the model's verdicts %+v", v)
	}
}

// Models over the wire make the vectors and the last order; vectors of tools are requested once,
// and reports request nothing.
func TestSelectModels(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var embedded []string
	reranked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Input     []string
			Documents []string
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.Header.Get("Authorization") == "" {
			t.Errorf("%v %v", err, r.Header)
		}
		mu.Lock()
		defer mu.Unlock()
		var rows []string
		switch r.URL.Path {
		case "/v1/embeddings":
			embedded = append(embedded, q.Input...)
			for i, s := range q.Input {
				v := "[1,0]" // of trains and delays
				if strings.Contains(s, "weather") || strings.Contains(s, "umbrella") {
					v = "[0,1]"
				}
				rows = append(rows, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, v))
			}
			fmt.Fprintf(w, `{"data":[%s],"usage":{"prompt_tokens":7,"total_tokens":7}}`, strings.Join(rows, ","))
		case "/v2/rerank":
			reranked++
			for i, s := range q.Documents {
				score := 0.1
				if strings.Contains(s, "weather") {
					score = 0.9
				}
				rows = append(rows, fmt.Sprintf(`{"index":%d,"relevance_score":%v}`, i, score))
			}
			fmt.Fprintf(w, `{"results":[%s]}`, strings.Join(rows, ","))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"c.json": `[{"name":"trains","description":"delays of trains on the line"},{"name":"sky","description":"the weather of tomorrow"}]`,
		"s.json": `{"name":"s","categories":[{"category_id":"c","category_name":"C","test_cases":[{"id":"a","query":"shall I take the umbrella?","expected_tools":["sky"]}]}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"OPENAI_API_KEY": "k1", "CO_API_KEY": "k2", "CALLVET_CACHE": "cache"}
	embedSpec, rerankSpec := "openai:m@"+srv.URL, "cohere:r@"+srv.URL
	if out := runApp(t, dir, env, exitOK, "select", "query", "umbrella", "--tools", "c.json", "--embed", embedSpec,
		"--k", "1"); !strings.Contains(out, "sky") {
		t.Errorf("the vectors say sky: %s", out)
	}
	var answer struct{ Models []callvet.ModelUse }
	stderr := runApp(t, dir, env, exitOK, "select", "query", "umbrella", "--tools", "c.json", "--embed",
		embedSpec, "--json")
	if err := json.NewDecoder(strings.NewReader(stderr)).Decode(&answer); err != nil ||
		!strings.HasSuffix(stderr, "1 request, 1 text, 7 tokens; 2 vectors kept from before\n") {
		t.Fatalf("%v: %s", err, stderr)
	}
	name := "openai/m@" + strings.TrimPrefix(srv.URL, "http://") + "/v1"
	if diff := cmp.Diff([]callvet.ModelUse{{Model: name, Requests: 1, Texts: 1, Tokens: 7, Cached: 2}},
		answer.Models); diff != "" {
		t.Error(diff)
	}
	embedded = embedded[:3]
	if len(embedded) != 3 { // two tools and the question
		t.Errorf("asked for %q", embedded)
	}
	runApp(t, dir, env, exitOK, "select", "s.json", "--tools", "c.json", "--embed", embedSpec, "--rerank", rerankSpec,
		"--k", "1", "--name", "m", "-q", "-o", "out.json")
	if len(embedded) != 4 || reranked == 0 {
		t.Errorf("the second time asked for %q, %d orders", embedded[3:], reranked)
	}
	var doc report.Document
	if err := json.Unmarshal(readFile(t, dir, "out.json"), &doc); err != nil {
		t.Fatal(err)
	}
	if v := doc.Panels.Targets[0].Overall.Verdicts; v.Pass != 1 {
		t.Errorf("verdicts %+v", v)
	}
	if want := (callvet.ModelUse{Model: name, Requests: 1, Texts: 1, Tokens: 7, Cached: 2}); len(doc.Models) != 2 ||
		doc.Models[0] != want || doc.Models[1].Requests == 0 {
		t.Errorf("asked %+v", doc.Models)
	}
	// A curve opens each model once, and asks for no vector of a tool that is kept.
	embedded = nil
	curve := runApp(t, dir, env, exitOK, "select", "sweep", "s.json", "--tools", "c.json", "--embed", embedSpec,
		"--rerank", rerankSpec, "--k", "1", "--distractors", "0,1", "-m", "offline/lexical")
	if len(embedded) != 2 ||
		!strings.Contains(curve, name+": 2 requests, 2 texts, 14 tokens; 3 vectors kept from before\n") ||
		!strings.Contains(curve, "1            2               1      100.0 %") {
		t.Errorf("asked for %q: %s", embedded, curve)
	}
	if out := runApp(t, dir, env, exitOK, "tools", "cache"); !strings.Contains(out, name) {
		t.Errorf("kept: %s", out)
	}
	if out := runApp(t, dir, env, exitUsage, "tools", "cache", "clear", "nobody"); !strings.Contains(out, name) {
		t.Errorf("a model of which nothing is kept: %s", out)
	}
	if out := runApp(t, dir, env, exitOK, "tools", "cache", "clear", name); !strings.Contains(out, "forgotten") {
		t.Errorf("clear: %s", out)
	}
	if out := runApp(t, dir, env, exitOK, "tools", "cache", "--json"); !strings.Contains(out,
		`"models":[],"cleared":false`) {
		t.Errorf("kept: %s", out)
	}
	srv.Close()
	runApp(t, dir, nil, exitOK, "report", "m", "-o", "again.md")
	for _, c := range []struct {
		spec, says string
		code       int
	}{{"openai:m", "OPENAI_API_KEY", exitError}, {"nobody:m", "services: openai", exitUsage}} {
		if out := runApp(t, dir, nil, c.code, "select", "query", "x", "--tools", "c.json", "--embed",
			c.spec); !strings.Contains(out, c.says) {
			t.Errorf("%s: %s", c.spec, out)
		}
	}
}
