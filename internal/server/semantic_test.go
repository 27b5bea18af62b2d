// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
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
