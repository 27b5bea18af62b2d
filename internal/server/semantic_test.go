// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/server"
)

// TestSemantic: a suite with mode semantic is kept with a warning, a run of it names the model that compares,
// and an attempt that the model did not compare is not judged.
func TestSemantic(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	vectors := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || down.Load() {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		v := "[1,0]" // of capitals
		if in.Input[0] == "elsewhere" {
			v = "[0,1]"
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"data":[{"index":0,"embedding":%s}]}`, v)
	}))
	t.Cleanup(vectors.Close)
	s := newSite(t, func(c *server.Config) {
		c.Work.Getenv = func(name string) string { return map[string]string{"OLLAMA_HOST": vectors.URL}[name] }
	})
	if _, err := s.users.SetSettings(t.Context(), people()["root"], account.Settings{Private: true, ServerKeys: true}); err != nil {
		t.Fatal(err)
	}
	s.work(t)
	m := newModel(t, nil)
	test := func(city, expected string) string {
		return fmt.Sprintf(`{"id":%[1]q,"prompt":"How is the weather in %[1]s?","expected_tool":"weather_now","expected_params":{"city":%[2]q},"param_scoring":"semantic"}`, city, expected)
	}
	text := `{"name":"cities","test_cases":[` + strings.Join([]string{test("city0", "city0"), test("city1", "capital"), test("city2", "elsewhere")}, ",") + `],"tools":[{"type":"function","function":
		{"name":"weather_now","description":"Current weather of a city.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]}`
	kept := give[struct {
		ID       string          `json:"suite_id"`
		Warnings []server.Remark `json:"warnings"`
	}](t, s, "ana", "POST", "/api/tool-eval/import", text)
	if len(kept.Warnings) == 0 || kept.Warnings[0].Code != "no-embedder" {
		t.Errorf("warnings: %+v", kept.Warnings)
	}
	if code, body := s.ask(t, "ana", "POST", "/api/tool-eval", fmt.Sprintf(`{"suite_id":%q,"models":["offline/lexical"]}`, kept.ID)); code != 422 || !strings.Contains(body, "embedder") {
		t.Errorf("without a model that compares: %d %s", code, body)
	}
	s.givesEmbedder(t, text, m.URL)
	for _, c := range []struct {
		down bool
		want map[string]int
	}{{false, map[string]int{"pass": 2, "fail": 1}}, {true, map[string]int{"pass": 1, "not_run": 2}}} {
		down.Store(c.down)
		job := s.eval(t, "ana", kept.ID, m.URL, `,"embedder":"ollama/e","retries":0`)
		s.awaitJob(t, "ana", job.JobID, "done")
		got := give[struct {
			Items []struct{ Verdict, Reason string }
		}](t, s, "ana", "GET", "/api/runs/"+job.ResultRef+"/cells", "").Items
		count := map[string]int{}
		for _, a := range got {
			count[a.Verdict]++
		}
		if diff := cmp.Diff(c.want, count); diff != "" {
			t.Errorf("model down %t: %s\n%+v", c.down, diff, got)
		}
	}
}

// givesEmbedder: an admin names the model that compares texts. A run of a suite with such a case that names none
// has it, and shows it; a suite without one has none, and the import of a suite warns no more.
func (s *site) givesEmbedder(t *testing.T, text, model string) {
	t.Helper()
	if code, body := s.ask(t, "root", "PUT", "/api/settings",
		`{"private_addresses":true,"private_hosts":[],"server_keys":true,"embedder":"ollama"}`); code != 422 ||
		!strings.Contains(body, "names no model") {
		t.Errorf("a text that names no model: %d %s", code, body)
	}
	set := give[struct {
		Embedder string
		Allowed  account.Allowed
	}](t, s, "root", "PUT", "/api/settings", `{"private_addresses":true,"private_hosts":[],"server_keys":true,"embedder":"ollama/e"}`)
	if set.Embedder != "ollama/e" || set.Allowed.Embedder != "ollama/e" {
		t.Errorf("%+v", set)
	}
	kept := give[struct {
		ID       string          `json:"suite_id"`
		Warnings []server.Remark `json:"warnings"`
	}](t, s, "ana", "POST", "/api/tool-eval/import", text)
	if slices.ContainsFunc(kept.Warnings, func(r server.Remark) bool { return r.Code == "no-embedder" }) {
		t.Errorf("warnings: %+v", kept.Warnings)
	}
	type shown struct {
		Manifest []struct{ Name, Value string }
	}
	compared := func(suite string, pass int) string {
		job := s.eval(t, "ana", suite, model, `,"retries":0`)
		s.awaitJob(t, "ana", job.JobID, "done")
		got := 0
		for _, a := range give[struct{ Items []struct{ Verdict string } }](t, s, "ana", "GET",
			"/api/runs/"+job.ResultRef+"/cells", "").Items {
			if a.Verdict == "pass" {
				got++
			}
		}
		if got != pass {
			t.Errorf("%d attempts pass, want %d", got, pass)
		}
		for _, f := range give[shown](t, s, "ana", "GET", "/api/runs/"+job.ResultRef, "").Manifest {
			if f.Name == "texts compared by" {
				return f.Value
			}
		}
		return ""
	}
	if got := compared(kept.ID, 2); got != "ollama/e" {
		t.Errorf("compared by %q", got)
	}
	plain := give[struct {
		ID string `json:"suite_id"`
	}](t, s, "ana", "POST", "/api/tool-eval/import", strings.NewReplacer(`"param_scoring":"semantic"`, `"param_scoring":"exact"`, `"name":"cities"`, `"name":"nothing semantic"`).Replace(text))
	if got := compared(plain.ID, 1); got != "" {
		t.Errorf("a suite without a case in mode semantic is compared by %q", got)
	}
	give[any](t, s, "root", "PUT", "/api/settings", `{"private_addresses":true,"private_hosts":[],"server_keys":true}`)
}

// TestModelOfSearches: a search that names no model has those of the server, unless it asks for none.
func TestModelOfSearches(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var asked atomic.Int32
	tei := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		var in struct{ Inputs []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		out := make([][]float64, len(in.Inputs))
		for i := range out {
			out[i] = []float64{1, 0}
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(tei.Close)
	if _, err := s.users.SetSettings(t.Context(), people()["root"],
		account.Settings{Private: true, Models: account.Models{Embed: "tei:e@" + tei.URL}}); err != nil {
		t.Fatal(err)
	}
	s.work(t)
	give[any](t, s, "root", "POST", "/api/catalogues?name=roads", searched)
	for _, c := range []struct {
		more string
		asks bool
	}{{`,"embed":"none"`, false}, {"", true}} {
		asked.Store(0)
		give[any](t, s, "root", "POST", "/api/v1/admin/tool-eval/single", `{"query":"weather"`+c.more+`}`)
		if got := asked.Load() > 0; got != c.asks {
			t.Errorf("with %q the model is asked: %v", c.more, got)
		}
	}
}
