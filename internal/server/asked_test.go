// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/panel"
)

// TestRunSettings: a run is asked for again where it failed, as streams, in the slices that a request
// names; a comparison has the population that it names.
func TestRunSettings(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	s.work(t)
	cities := s.keepSuite(t, "ana", 4)
	var mended atomic.Bool
	m := newMoody(t, func(city int) string {
		if city == 1 && !mended.Load() {
			return "elsewhere"
		}
		return ""
	})
	first := s.eval(t, "ana", cities, m.URL, `,"retries":0,"interleave":true`)
	s.awaitJob(t, "ana", first.JobID, "done")
	mended.Store(true)
	again := s.eval(t, "ana", cities, m.URL,
		fmt.Sprintf(`,"failed_from":%q,"no_cache":true,"slices":["tier"]`, first.ResultRef))
	s.awaitJob(t, "ana", again.JobID, "done")
	page := give[results.AttemptsPage](t, s, "ana", "GET", "/api/runs/"+again.ResultRef+"/cells", "")
	if page.Total != 2 || page.Items[0].Case != "c1" || page.Items[0].Verdict != "pass" ||
		page.Items[1].Case != "none" {
		t.Errorf("what failed was asked again: %+v", page)
	}
	foreign := s.ran(t, "bo", "", 1)
	for more, want := range map[string]int{
		`,"failed_from":"` + foreign + `"`: 404, `,"failed_from":"latest"`: 404, `,"keep":["shoes"]`: 422,
		`,"retries":-1`: 422, `,"slices":["no such field"]`: 422,
	} {
		body := fmt.Sprintf(`{"suite_id":%q,"models":["offline/lexical"]%s}`, cities, more)
		if code, answer := s.ask(t, "ana", "POST", "/api/tool-eval", body); code != want {
			t.Errorf("%s: %d, want %d: %s", more, code, want, answer)
		}
	}
	c := give[panel.Comparison](t, s, "ana", "GET",
		"/api/diff?unpaired=true&base="+first.ResultRef+"&candidate="+first.ResultRef, "")
	if !c.Unpaired {
		t.Error("the comparison is paired")
	}
}

// TestSearchSettings: a question and a suite of them are asked with the settings of a search, with
// models of the server's user.
func TestSearchSettings(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	catalogue := give[suiteAnswer](t, s, "root", "POST", "/api/catalogues?name=roads", searched).ID
	var asked atomic.Int64
	tei := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		var in struct{ Inputs []string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		w.Header().Set("Content-Type", "application/json")
		out := [][]float64{}
		for _, text := range in.Inputs {
			out = append(out, []float64{1, float64(len(text) % 5), float64(len(text) % 3)})
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(tei.Close)
	const at = "/api/v1/admin/tool-eval"
	one := func(more string) []string {
		t.Helper()
		return give[struct {
			Selected []string `json:"selected_tools"`
		}](t, s, "root", "POST", at+"/single",
			`{"query":"weather and rain","catalogue_id":"`+catalogue+`"`+more+`}`).Selected
	}
	if got := one(``); len(got) == 0 {
		t.Error("nothing is found")
	}
	if got := one(`,"threshold":1000`); len(got) != 0 {
		t.Errorf("under a threshold that no tool reaches: %v", got)
	}
	if one(`,"embed":"tei:` + tei.URL + `"`); asked.Load() == 0 {
		t.Error("the embedding model was not asked")
	}
	code, answer := s.send(t, "root", at+"/run?name=strict&run_tags=x&threshold=1000&filter=q1&catalogue_id="+catalogue,
		"file", "q.json", []byte(questions))
	rep := decode[selectReport](t, code, 200, answer)
	if rep.Total != 1 || rep.Exact.Value == nil || *rep.Exact.Value != 0 {
		t.Errorf("one question that gets nothing: %s", answer)
	}
	for _, r := range give[struct {
		Items []struct{ ID, Name string }
	}](t, s, "root", "GET", "/api/tool-eval/history", "").Items {
		if r.ID == rep.RunID && r.Name != "strict" {
			t.Errorf("the run is called %q", r.Name)
		}
	}
	for more, want := range map[string]int{`,"embed":"nobody:x"`: 422, `,"fusion":"odd"`: 422} {
		if code, answer := s.ask(t, "root", "POST", at+"/single",
			`{"query":"rain","catalogue_id":"`+catalogue+`"`+more+`}`); code != want {
			t.Errorf("%s: %d, want %d: %s", more, code, want, answer)
		}
	}
}
