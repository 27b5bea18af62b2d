// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/account"
)

const lab = "/api/v1/admin/tool-eval"

// selected runs the three questions over a catalogue that root keeps, and returns the ids of both.
func selected(t *testing.T, s *site) (catalogue string, rep selectReport) {
	t.Helper()
	catalogue = give[suiteAnswer](t, s, "root", "POST", "/api/catalogues?name=roads", searched).ID
	code, answer := s.send(t, "root", lab+"/run?catalogue_id="+catalogue, "file", "eval_suite.json", []byte(questions))
	if err := json.Unmarshal([]byte(answer), &rep); err != nil || code != 200 {
		t.Fatalf("%d %s", code, answer)
	}
	return catalogue, rep
}

// TestSelectRuns: a run over a catalogue is listed with its rates, and its report is the same later,
// whatever became of the catalogue.
func TestSelectRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	catalogue, rep := selected(t, s)
	type line struct {
		RunID     string `json:"run_id"`
		Suite     string `json:"suite_name"`
		Hash      string `json:"suite_hash"`
		Catalogue string `json:"catalogue_id"`
		Version   int64  `json:"catalogue_version"`
		Status    string
		Total     int     `json:"total_tests"`
		Failed    *int    `json:"failed_count"`
		Exact     *figure `json:"overall_tool_exact_rate"`
		Composite *figure `json:"overall_composite_score"`
		Latency   *figure `json:"latency_ms_p50"`
	}
	type page struct {
		Items []line
		Next  string `json:"next_cursor"`
	}
	list := give[page](t, s, "root", "GET", lab+"/runs?catalogue_id="+catalogue, "")
	if len(list.Items) != 1 {
		t.Fatalf("%+v", list)
	}
	l := list.Items[0]
	if l.RunID != rep.RunID || l.Suite != "Three questions" || l.Hash == "" || l.Version != 1 || l.Status != "done" ||
		l.Total != 3 || l.Failed == nil || *l.Failed != 1 ||
		l.Exact == nil || *l.Exact.Value != *rep.Exact.Value || l.Exact.N != 3 || l.Composite == nil ||
		*l.Composite.Value != *rep.Composite.Value || l.Latency == nil {
		t.Errorf("%+v", l)
	}
	if other := give[page](t, s, "root", "GET", lab+"/runs?catalogue_id=another", ""); len(other.Items) != 0 {
		t.Errorf("%+v", other)
	}
	_, first := s.ask(t, "root", "GET", lab+"/runs/"+rep.RunID, "")
	var again selectReport
	if err := json.Unmarshal([]byte(first), &again); err != nil || len(again.Failed) != 1 ||
		again.Failed[0].Case != "q3" || len(again.Failed[0].Diagnosis) != 1 || len(again.Category) != 2 {
		t.Fatalf("%s", first)
	}
	give[any](t, s, "root", "PUT", "/api/catalogues/"+catalogue, `[{"name": "only", "description": "Does one thing."}]`)
	if _, second := s.ask(t, "root", "GET", lab+"/runs/"+rep.RunID, ""); second != first {
		t.Errorf("told otherwise after the catalogue changed:\n%s\n%s", first, second)
	}
	// Where nothing is kept, the report is computed again, with a note that the reasons cannot be.
	if _, err := s.db.Handle().ExecContext(t.Context(), "DELETE FROM run_documents"); err != nil {
		t.Fatal(err)
	}
	if _, anew := s.ask(t, "root", "GET", lab+"/runs/"+rep.RunID, ""); !strings.Contains(anew,
		"why tools lost is not shown: the catalogue") || !strings.Contains(anew, `"case":"q3"`) {
		t.Errorf("%s", anew)
	}
	if code, csv := s.ask(t, "root", "GET", lab+"/runs/"+rep.RunID+"/failed", ""); code != 200 ||
		strings.Count(csv, "\n") != 2 || !strings.Contains(csv, ",q3,") || strings.Contains(csv, ",q1,") ||
		!strings.Contains(csv, "traffic_incidents") {
		t.Errorf("%d %s", code, csv)
	}
	plain := s.ran(t, "ana", "", 1)
	for _, path := range []string{"/runs/" + plain, "/runs/none", "/runs/" + plain + "/failed"} {
		s.refuse(t, "root", "GET", lab+path, "", 404)
	}
	give[any](t, s, "root", "DELETE", "/api/tool-eval/history/"+rep.RunID, "")
	if list := give[page](t, s, "root", "GET", lab+"/runs", ""); len(list.Items) != 0 {
		t.Errorf("%+v", list)
	}
	s.refuse(t, "root", "GET", lab+"/runs/"+rep.RunID, "", 404)
}

// TestLabAgain: the questions of a run are kept with it, so that edits are tried on them without sending
// them again; with as many tools as then.
func TestLabAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	catalogue, rep := selected(t, s)
	edits := quoted(t,
		`{"edits": [{"tool": "traffic_incidents", "status": "accepted", "keywords": ["rain", "weather", "Oslo"]}]}`)
	ask := func(of string) string {
		return `{"catalogue_id": "` + catalogue + `", ` + of + `, "edits": ` + edits + `}`
	}
	code, sent := s.ask(t, "root", "POST", lab+"/whatif", ask(`"suite": `+quoted(t, questions)))
	if code != 200 {
		t.Fatalf("%d %s", code, sent)
	}
	if _, kept := s.ask(t, "root", "POST", lab+"/whatif", ask(`"run_id": "`+rep.RunID+`"`)); kept != sent {
		t.Errorf("of the run:\n%s\nas sent:\n%s", kept, sent)
	}
	s.refuse(t, "root", "POST", lab+"/whatif", ask(`"run_id": "`+rep.RunID+`", "suite": `+quoted(t, questions)), 422)
	s.refuse(t, "root", "POST", lab+"/whatif", ask(`"run_id": "`+s.ran(t, "ana", "", 1)+`"`), 404)
	if _, err := s.db.Handle().ExecContext(t.Context(), "DELETE FROM run_documents"); err != nil {
		t.Fatal(err)
	}
	if code, answer := s.ask(t, "root", "POST", lab+"/whatif", ask(`"run_id": "`+rep.RunID+`"`)); code != 422 ||
		!strings.Contains(answer, "are not kept") {
		t.Errorf("%d %s", code, answer)
	}
}

// TestSweepModels: a sweep compares embedding models and rerankers, alone and together. One error
// names those that cannot be asked, with the reasons.
func TestSweepModels(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.private(t)
	catalogue := give[suiteAnswer](t, s, "root", "POST", "/api/catalogues?name=roads", searched).ID
	lost := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(lost.Close)
	tei := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Inputs []string
			Texts  []string
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/rerank") {
			out := []map[string]any{}
			for i, text := range in.Texts {
				out = append(out, map[string]any{"index": i, "score": float64(len(text) % 7)})
			}
			_ = json.NewEncoder(w).Encode(out)
			return
		}
		out := [][]float64{}
		for _, text := range in.Inputs {
			out = append(out, []float64{1, float64(len(text) % 5), float64(len(text) % 3)})
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(tei.Close)
	ask := func(more string) string {
		return `{"catalogue_id": "` + catalogue + `", "suite": ` + quoted(t, questions) + `, ` + more + `}`
	}
	swept := give[struct {
		Points []struct{ Configuration string }
	}](t, s, "root", "POST", lab+"/sweep", ask(`"embed": ["tei:`+tei.URL+`"], "rerank": ["tei:`+tei.URL+`"]`))
	var names []string
	for _, p := range swept.Points {
		names = append(names, p.Configuration)
	}
	model := "tei:" + tei.URL
	if got, want := strings.Join(names, ", "),
		"base, rerank "+model+", embed "+model+", embed "+model+" + rerank "+model; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for more, want := range map[string]string{
		`"embed": ["openai:text-embedding-3-small"]`:                        "give OPENAI_API_KEY in Settings, Keys",
		`"rerank": ["cohere:rerank-v3.5"]`:                                  "give CO",
		`"embed": ["tei:` + lost.URL + `"]`:                                 "body.embed",
		`"embed": ["nobody:m"]`:                                             "body.embed",
		`"embed": ["a:1","a:2","a:3"], "rerank": ["b:1","b:2","b:3","b:4"]`: "at most 10",
	} {
		if code, answer := s.ask(t, "root", "POST", lab+"/sweep", ask(more)); code != 422 ||
			!strings.Contains(answer, want) {
			t.Errorf("%s: %d %s", more, code, answer)
		}
	}
}

// quoted is a text as JSON has it.
func quoted(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestLab: edits of a catalogue are compared with it and applied as a new version, and a sweep adds
// other tools to those of a question.
func TestLab(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	catalogue := give[suiteAnswer](t, s, "root", "POST", "/api/catalogues?name=roads", searched).ID
	suite := `"catalogue_id": "` + catalogue + `", "suite": ` + quoted(t, questions)
	type interval struct {
		Point *float64
		N     int
	}
	type point struct {
		Configuration string
		Distractors   int
		Tools         int
		First         interval `json:"precision_at_1"`
	}
	swept := give[struct {
		Cases  int
		Points []point
		Pairs  []struct{ Baseline, Candidate string }
	}](t, s, "root", "POST", lab+"/sweep", `{`+suite+`, "distractors": [0, 2], "configurations": ["words=vector:0"]}`)
	if swept.Cases != 3 || len(swept.Points) != 4 || len(swept.Pairs) == 0 || swept.Points[0].Tools != 1 ||
		*swept.Points[0].First.Point < 0.66 || swept.Points[2].First.N != 3 || swept.Points[2].Tools != 3 ||
		swept.Points[1].Configuration != "words" {
		b, _ := json.Marshal(swept)
		t.Errorf("%s", b)
	}
	edit := func(status string) string {
		return quoted(t, `{"edits": [{"tool": "traffic_incidents", "status": "`+status+
			`", "description": "Rain, snow and weather on the roads around Oslo.", "keywords": ["rain", "weather", "Oslo"]}]}`)
	}
	type changed struct{ Case string }
	what := give[struct {
		Cases       int
		Edits       []string
		Comparisons []struct {
			By    string
			Rates []struct {
				Change interval
			}
			Right []changed `json:"newly_right"`
			Wrong []changed `json:"newly_wrong"`
		}
	}](t, s, "root", "POST", lab+"/whatif", `{`+suite+`, "edits": `+edit("proposed")+`}`)
	if what.Cases != 3 || len(what.Edits) != 1 || len(what.Comparisons) != 1 || what.Comparisons[0].By != "retriever" ||
		len(what.Comparisons[0].Rates) == 0 || what.Comparisons[0].Rates[0].Change.N != 3 ||
		len(what.Comparisons[0].Wrong)+len(what.Comparisons[0].Right) == 0 {
		b, _ := json.Marshal(what)
		t.Errorf("%s", b)
	}
	type applied struct {
		Version int64
		Edited  []string `json:"edited_tools"`
		Text    string
	}
	s.refuse(t, "root", "POST", lab+"/apply", `{"catalogue_id": "`+catalogue+`", "edits": `+edit("proposed")+`}`, 422)
	made := give[applied](t, s, "root", "POST", lab+"/apply",
		`{"catalogue_id": "`+catalogue+`", "edits": `+edit("accepted")+`}`)
	if made.Version != 2 || len(made.Edited) != 1 || !strings.Contains(made.Text, "around Oslo") ||
		!strings.Contains(made.Text, "Current weather of a city.") {
		t.Errorf("%+v", made)
	}
	if _, text := s.ask(t, "root", "GET", "/api/catalogues/"+catalogue, ""); text != made.Text {
		t.Errorf("%s", text)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+lab+"/apply",
		strings.NewReader(`{"catalogue_id": "`+catalogue+`", "edits": `+edit("accepted")+`}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("If-Match", `"1"`)
	req.Header.Set("Authorization", "Bearer "+account.TokenPrefix+"root")
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("an edit of version 1: %d", res.StatusCode)
	}
	for body, place := range map[string]string{
		`{` + suite +
			`, "edits": "edits: [{tool: nosuch, description: x}]"}`: "",
		`{` + suite +
			`, "edits": "edits: [{tol: x}]"}`: "body.edits",
		`{` + suite +
			`, "edits": "edits: [{tool: weather_now, description: x}]", "status": ["rejected"]}`: "body.status",
		`{"catalogue_id": "` + catalogue +
			`", "edits": "edits: [{tool: weather_now, description: x}]"}`: "body.suite",
		`{"catalogue_id": "` + catalogue +
			`", "suite": "{\"x\":1}", "edits": "edits: [{tool: weather_now, keywords: []}]"}`: "",
	} {
		places, _ := s.refuse(t, "root", "POST", lab+"/whatif", body, 422)
		if place != "" && (len(places) == 0 || places[0] != place) {
			t.Errorf("%s: %v", body, places)
		}
	}
	s.refuse(t, "root", "POST", lab+"/sweep", `{`+suite+`, "configurations": ["nonsense"]}`, 422)
}

// TestSuggest: without a model, rules report problems of texts, and the prompts are shown; a model
// writes texts that are measured, and its run belongs to the user.
func TestSuggest(t *testing.T) {
	t.Parallel()
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w,
			`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"{\"description\": \"Current incidents, delays and closed lanes on Swedish roads.\"}"}}],"usage":{"prompt_tokens":9,"completion_tokens":4}}`)
	}))
	t.Cleanup(model.Close)
	s := newSite(t)
	s.private(t)
	catalogue := give[suiteAnswer](t, s, "root", "POST", "/api/catalogues?name=roads", searched).ID
	body := `{"catalogue_id": "` + catalogue + `", "suite": ` + quoted(t, questions) +
		`, "tools": ["traffic_incidents"]`
	type answer struct {
		Findings []struct{ Code string }
		Prompts  *struct {
			System  string
			Prompts []struct{ Tool, Text string }
		}
		Suggestions *struct {
			Held  int `json:"held_out"`
			Tools []struct {
				Tool, Status, Description string
				Reasons                   []string
			}
			Usage struct{ Run string }
		}
		Edits string
	}
	dry := give[answer](t, s, "root", "POST", lab+"/suggest", body+`}`)
	if dry.Findings == nil || dry.Prompts == nil || len(dry.Prompts.Prompts) != 1 ||
		!strings.Contains(dry.Prompts.Prompts[0].Text, "traffic_incidents") || dry.Suggestions != nil ||
		dry.Edits != "" {
		t.Errorf("%+v", dry)
	}
	got := give[answer](t, s, "root", "POST", lab+"/suggest",
		body+`, "model": "openai/m1", "base_url": "`+model.URL+`"}`)
	if got.Suggestions == nil || len(got.Suggestions.Tools) != 1 ||
		!strings.Contains(got.Suggestions.Tools[0].Description, "closed lanes") ||
		!strings.Contains(got.Edits, "closed lanes") || got.Prompts != nil {
		t.Fatalf("%+v", got)
	}
	if owner, err := s.db.Rows().RunOwner(t.Context(), got.Suggestions.Usage.Run); err != nil ||
		owner.UserID != "user_root" {
		t.Errorf("the run is %+v, %v", owner, err)
	}
}

// TestDecisions: production's selections are compared with a run's, the differences first; traces
// of production give the same result as a list of decisions.
func TestDecisions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	catalogue, rep := selected(t, s)
	type side struct{ Tools []string }
	type answer struct {
		Queries, Decisions int
		OnlyProduction     int `json:"only_production"`
		OnlyEvaluation     int `json:"only_evaluation"`
		Likenesses         []struct {
			Name string
			N    int
		}
		Alike struct {
			Point *float64
			N     int
		} `json:"same_tools"`
		Right *struct {
			Baseline, Candidate struct{ Point *float64 }
			Cases               int
		} `json:"first_tool_right"`
		Pairs []struct {
			Query, Case, Likeness  string
			Times                  int
			Production, Evaluation side
			ProductionRight        *bool `json:"production_right"`
		}
		LeftOut int `json:"pairs_left_out"`
	}
	production := `[{"query": "Are there traffic incidents on the E4?", "tools": ["traffic_incidents"]}, {"query": " Will it rain in Oslo, what is the weather?", "selected_tools": [{"tool_id": "company_search"}]},
		{"query": "Will it rain in Oslo, what is the weather?", "tools": ["company_search"]}, {"query": "Something else?", "tools": []}]`
	got := give[answer](t, s, "root", "POST", lab+"/decisions",
		`{"eval_id": "`+rep.RunID+`", "production": `+quoted(t, production)+`}`)
	if got.Queries != 2 || got.Decisions != 3 || got.OnlyProduction != 1 || got.OnlyEvaluation != 1 ||
		len(got.Pairs) != 2 || got.Likenesses[0].Name != "disjoint" || got.Likenesses[0].N != 2 || got.Alike.N != 3 {
		t.Fatalf("%+v", got)
	}
	if p := got.Pairs[0]; p.Case != "q2" || p.Likeness != "disjoint" || p.Times != 2 ||
		p.Production.Tools[0] != "company_search" || p.Evaluation.Tools[0] != "weather_now" ||
		p.ProductionRight == nil || *p.ProductionRight {
		t.Errorf("%+v", p)
	}
	if p := got.Pairs[1]; p.Likeness != "same" || got.Right == nil || got.Right.Cases != 2 ||
		*got.Right.Candidate.Point != 1 || *got.Right.Baseline.Point >= 1 {
		t.Errorf("%+v %+v", p, got.Right)
	}
	if first := give[answer](t, s, "root", "POST", lab+"/decisions", `{"eval_id": "`+rep.RunID+
		`", "max_pairs": 1, "production": `+quoted(t, production)+`}`); len(first.Pairs) != 1 || first.LeftOut != 1 {
		t.Errorf("%+v", first)
	}
	_, first := s.ask(t, "root", "POST", lab+"/decisions",
		`{"eval_id": "`+rep.RunID+`", "production": `+quoted(t, production)+`}`)
	var id struct{ ID string }
	if err := json.Unmarshal([]byte(first), &id); err != nil || id.ID == "" {
		t.Fatalf("%v %s", err, first)
	}
	if _, again := s.ask(t, "root", "GET", lab+"/decisions/"+id.ID, ""); again != first {
		t.Errorf("given again:\n%s\nat first:\n%s", again, first)
	}
	s.refuse(t, "root", "GET", lab+"/decisions/none", "", 404)
	for range 8 { // so many are kept
		give[answer](t, s, "root", "POST", lab+"/decisions",
			`{"eval_id": "`+rep.RunID+`", "production": `+quoted(t, production)+`}`)
	}
	s.refuse(t, "root", "GET", lab+"/decisions/"+id.ID, "", 404)
	_, traces := s.ask(t, "root", "GET", "/api/runs/"+rep.RunID+"/export?format=jsonl", "")
	made := give[struct{ ID string }](t, s, "root", "POST", "/api/traces?collection=production", traces)
	for _, with := range []string{`"eval_id": "` + rep.RunID + `"`, `"catalogue_id": "` + catalogue + `", "limit": 1`} {
		same := give[answer](t, s, "root", "POST", lab+"/decisions", `{"traces_id": "`+made.ID+`", `+with+`}`)
		if same.Queries != 3 || same.Decisions != 3 || same.Likenesses[4].N != 3 || *same.Alike.Point != 1 {
			t.Errorf("%s: the run beside itself: %+v", with, same)
		}
	}
	for _, bad := range []string{
		`{"eval_id": "` + rep.RunID + `"}`, `{"production": "[]", "eval_id": "` + rep.RunID + `"}`,
		`{"production": "{\"query\": \"x\", \"tools\": [5]}", "eval_id": "` + rep.RunID + `"}`,
		`{"production": "{\"query\": \"\", \"tools\": []}", "eval_id": "` + rep.RunID + `"}`,
		`{"production": "nonsense", "eval_id": "` + rep.RunID + `"}`,
	} {
		s.refuse(t, "root", "POST", lab+"/decisions", bad, 422)
	}
	for _, setting := range []string{"limit", "preset", "embed", "weights"} { // the run has selected already
		value := map[string]string{"limit": `2`, "weights": `"{}"`, "preset": `"default"`, "embed": `"none"`}[setting]
		with := `{"eval_id": "` + rep.RunID + `", "` + setting + `": ` + value + `, "production": ` +
			quoted(t, production) + `}`
		if text := s.answers(t, 422, "root", "POST", lab+"/decisions", with); !strings.Contains(text,
			"has selected already") || !strings.Contains(text, `"body.`+setting) {
			t.Errorf("%s: %s", setting, text)
		}
	}
	s.refuse(t, "root", "POST", lab+"/decisions", `{"eval_id": "none", "production": `+quoted(t, production)+`}`, 404)
}
