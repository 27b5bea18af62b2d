// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/server/assets"
)

// TestSemantic: a suite with mode semantic is kept with a warning, and a run of it names the model
// that compares. An attempt that the model did not compare is not judged.
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
	s := newSite(t, func(c *api.Config) {
		c.Work.Getenv = func(name string) string { return map[string]string{"OLLAMA_HOST": vectors.URL}[name] }
	})
	if _, err := s.users.SetSettings(t.Context(), people()["root"],
		account.Settings{Private: true, ServerKeys: true}); err != nil {
		t.Fatal(err)
	}
	s.work(t)
	m := newModel(t, nil)
	test := func(city, expected string) string {
		return fmt.Sprintf(
			`{"id":%[1]q,"prompt":"How is the weather in %[1]s?","expected_tool":"weather_now","expected_params":{"city":%[2]q},"param_scoring":"semantic"}`, city, expected)
	}
	text := `{"name":"cities","test_cases":[` +
		strings.Join([]string{test("city0", "city0"), test("city1", "capital"), test("city2", "elsewhere")}, ",") +
		`],"tools":[{"type":"function","function":
		{"name":"weather_now","description":"Current weather of a city.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]}`
	kept := give[struct {
		ID       string          `json:"suite_id"`
		Warnings []assets.Remark `json:"warnings"`
	}](t, s, "ana", "POST", "/api/tool-eval/import", text)
	if len(kept.Warnings) == 0 || kept.Warnings[0].Code != "no-embedder" {
		t.Errorf("warnings: %+v", kept.Warnings)
	}
	if code, body := s.ask(t, "ana", "POST", "/api/tool-eval",
		fmt.Sprintf(`{"suite_id":%q,"models":["offline/lexical"]}`, kept.ID)); code != 422 ||
		!strings.Contains(body, "embedder") {
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

// givesEmbedder: an admin names the model that compares texts. A run of a suite with such a case
// has that model if it names none, and shows it. A suite without such a case has none, and the
// import of a suite warns no more.
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
	}](t, s, "root", "PUT", "/api/settings",
		`{"private_addresses":true,"private_hosts":[],"server_keys":true,"embedder":"ollama/e"}`)
	if set.Embedder != "ollama/e" || set.Allowed.Embedder != "ollama/e" {
		t.Errorf("%+v", set)
	}
	kept := give[struct {
		ID       string          `json:"suite_id"`
		Warnings []assets.Remark `json:"warnings"`
	}](t, s, "ana", "POST", "/api/tool-eval/import", text)
	if slices.ContainsFunc(kept.Warnings, func(r assets.Remark) bool { return r.Code == "no-embedder" }) {
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
	}](t, s, "ana", "POST", "/api/tool-eval/import",
		strings.NewReplacer(`"param_scoring":"semantic"`, `"param_scoring":"exact"`, `"name":"cities"`,
			`"name":"nothing semantic"`).Replace(text))
	if got := compared(plain.ID, 1); got != "" {
		t.Errorf("a suite without a case in mode semantic is compared by %q", got)
	}
	give[any](t, s, "root", "PUT", "/api/settings", `{"private_addresses":true,"private_hosts":[],"server_keys":true}`)
}

// tunable is questions with as many sets of right tools as tuning takes.
const tunable = `{"name": "Four questions", "categories": [{"category_id": "all", "category_name": "All", "test_cases": [
 {"id": "a", "query": "Incidents on the E4?", "expected_tools": ["traffic_incidents"]},
 {"id": "b", "query": "Rain in Oslo?", "expected_tools": ["weather_now"]}, {"id": "c", "query": "Who makes cars?", "expected_tools": ["company_search"]},
 {"id": "d", "query": "Rain and delays on roads?", "expected_tools": ["weather_now", "traffic_incidents"]}]}]}`

// TestModelOfSearches: each request of the lab that searches uses the models that it names, or
// those of the server if it names none, and no model if it names "none".
func TestModelOfSearches(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var embeds, reranks atomic.Int32
	tei := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Inputs, Texts []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/rerank") {
			reranks.Add(1)
			out := make([]map[string]any, len(in.Texts))
			for i := range out {
				out[i] = map[string]any{"index": i, "score": 1}
			}
			_ = json.NewEncoder(w).Encode(out)
			return
		}
		embeds.Add(1)
		out := make([][]float64, len(in.Inputs))
		for i := range out {
			out[i] = []float64{1, float64(len(in.Inputs[i]) % 5)}
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(tei.Close)
	s.work(t)
	give[any](t, s, "root", "POST", "/api/catalogues?name=roads", searched)
	asked := `"suite":` + quoted(t, questions)
	n := 0
	for path, c := range map[string]struct {
		body, in string // the request, and the object of it that names models
		reranks  bool
	}{
		"/single":    {`{"query":"weather in Oslo"%s}`, "", true},
		"/sweep":     {`{` + asked + `%s}`, `,"base":{%s}`, true},
		"/whatif":    {`{` + asked + `,"edits":"edits: [{tool: weather_now, keywords: [sun]}]"%s}`, "", true},
		"/suggest":   {`{` + asked + `,"tools":["weather_now"]%s}`, "", true},
		"/tune":      {`{"folds":2,"suite":` + quoted(t, tunable) + `%s}`, "", false},
		"/decisions": {`{"production":"[{\"query\": \"weather\", \"tools\": [\"weather_now\"]}]"%s}`, "", true},
		"/run":       {"", "", true},
	} {
		for _, of := range []string{"none", "server", "request"} {
			n++ // vectors are kept by the name of their model
			embed, rerank := fmt.Sprintf("tei:e%d@%s", n, tei.URL), "tei:r@"+tei.URL
			var usual account.Models
			named := map[string]string{}
			switch of {
			case "none":
				usual, named = account.Models{Embed: embed, Rerank: rerank},
					map[string]string{"embed": "none", "rerank": "none"}
			case "server":
				usual = account.Models{Embed: embed, Rerank: rerank}
			case "request":
				named = map[string]string{"embed": embed, "rerank": rerank}
			}
			if !c.reranks {
				delete(named, "rerank")
			}
			if _, err := s.users.SetSettings(t.Context(), people()["root"],
				account.Settings{Private: true, Models: usual}); err != nil {
				t.Fatal(err)
			}
			embeds.Store(0)
			reranks.Store(0)
			if c.body == "" {
				q := url.Values{}
				for k, v := range named {
					q.Set(k, v)
				}
				if code, answer := s.send(t, "root", lab+path+"?"+q.Encode(), "file", "q.json",
					[]byte(questions)); code != 200 {
					t.Fatalf("%d %s", code, answer)
				}
			} else {
				more := ""
				if b, _ := json.Marshal(named); len(named) > 0 {
					more = "," + strings.Trim(string(b), "{}")
					if c.in != "" {
						more = fmt.Sprintf(c.in, more[1:])
					}
				}
				give[any](t, s, "root", "POST", lab+path, fmt.Sprintf(c.body, more))
			}
			if got, want := [2]bool{embeds.Load() > 0, reranks.Load() > 0},
				[2]bool{of != "none", of != "none" && c.reranks}; got != want {
				t.Errorf("%s with the models of %s: asked %v, want %v", path, of, got, want)
			}
		}
	}
}

// TestUnracedTune: weights that are found for the questions are taken by the requests that search.
func TestUnracedTune(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	catalogue := give[suiteAnswer](t, s, "root", "POST", "/api/catalogues?name=roads", searched).ID
	asked := `{"catalogue_id":"` + catalogue + `","suite":` + quoted(t, tunable) + `%s}`
	tuned := give[struct {
		Cases int
		Tried int
		Tuned struct{ Goal string }
		Text  string `json:"weights_text"`
	}](t, s, "root", "POST", lab+"/tune", fmt.Sprintf(asked, `,"goal":"hit1","folds":2,"limit":1`))
	if tuned.Cases != 4 || tuned.Tried == 0 || tuned.Tuned.Goal != "hit1" {
		t.Errorf("%+v", tuned)
	}
	s.refuse(t, "root", "POST", lab+"/tune", fmt.Sprintf(asked, `,"folds":2,"holdout":0.5`), 422)

	// The result is in the timeline of an experiment about the questions, and only there.
	suite := give[struct {
		ID string `json:"suite_id"`
	}](t, s, "root", "POST", "/api/tool-eval/import", tunable).ID
	exp := stored[server.ExperimentDetails](t, s, "root", "POST", "/api/experiments",
		fmt.Sprintf(`{"name":"weights","suite_id":%q}`, suite))
	body := fmt.Sprintf(`{"catalogue_id":%q,"suite_id":%%q,"experiment_id":%q,"goal":"hit1","folds":2,"limit":1}`, catalogue, exp.ID)
	kept := give[struct {
		ID    string `json:"tune_id"`
		Tuned struct {
			After  float64 `json:"tuned_mean"`
			Change struct{ Point float64 }
		}
	}](t, s, "root", "POST", lab+"/tune", fmt.Sprintf(body, suite))
	line := give[struct{ Entries []server.TimelineEntry }](t, s, "root", "GET", "/api/experiments/"+exp.ID+"/timeline",
		"").Entries
	if len(line) != 1 || line[0].Type != "weights_tune" || line[0].ID != kept.ID || line[0].Catalogue != catalogue ||
		*line[0].Score != kept.Tuned.After || *line[0].Delta != kept.Tuned.Change.Point ||
		!strings.Contains(line[0].Summary, "hit1") {
		t.Errorf("%+v, kept %+v", line, kept)
	}
	path := "/api/tool-eval/param-tune/history"
	if listed := give[struct{ Items []server.TuneLine }](t, s, "root", "GET", path, "").Items; len(listed) != 0 {
		t.Errorf("%+v", listed)
	}
	s.refuse(t, "root", "POST", path+"/"+kept.ID+"/apply", `{"anyway":true}`, 422)
	s.refuse(t, "root", "POST", path+"/"+kept.ID+"/resume", "", 409)
	s.refuse(t, "root", "POST", lab+"/tune", fmt.Sprintf(asked, `,"folds":2,"experiment_id":"`+exp.ID+`"`), 422)
	scores := func(weights string) float64 {
		return give[struct {
			Details []struct {
				Score float64 `json:"total_score"`
			} `json:"scoring_details"`
		}](t, s, "root", "POST", lab+"/single",
			`{"query":"weather in Oslo","weights":`+quoted(t, weights)+`}`).Details[0].Score
	}
	if usual, own := scores(""), scores(`{"retrieval":{"name":9}}`); usual == own {
		t.Errorf("other weights give the same score %v", own)
	}
	for path, body := range map[string]string{
		"/single":  `{"query":"weather","weights":%s}`,
		"/suggest": fmt.Sprintf(asked, `,"weights":%s`),
	} {
		if code, answer := s.ask(t, "root", "POST", lab+path,
			fmt.Sprintf(body, `"{\"retrieval\":{\"no such\":1}}"`)); code != 422 ||
			!strings.Contains(answer, "no such") {
			t.Errorf("%s: %d %s", path, code, answer)
		}
	}
}
