// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/account"
)

const searched = `[
 {"name": "traffic_incidents", "description": "Current incidents and delays on Swedish roads.", "keywords": ["traffic", "incidents", "E4"]},
 {"name": "weather_now", "description": "Current weather of a city.", "keywords": ["weather", "rain"]},
 {"name": "company_search", "description": "Finds companies by their name.", "keywords": ["company"]}]`

const questions = `{"name": "Three questions", "config": {"tool_retrieval": {"limit": 1}}, "categories": [{"category_id": "road", "category_name": "Road", "test_cases": [
 {"id": "q1", "query": "Are there traffic incidents on the E4?", "expected_tools": ["traffic_incidents"], "tags": ["road"], "difficulty": "easy", "language": "en"},
 {"id": "q2", "query": "Will it rain in Oslo, what is the weather?", "expected_tools": ["weather_now"], "tags": ["sky"], "difficulty": "hard", "language": "en"}]},
 {"category_id": "sky", "category_name": "Sky", "test_cases": [
 {"id": "q3", "query": "Which company has the most rain and weather?", "expected_tools": ["traffic_incidents"], "tags": ["sky"], "difficulty": "hard", "language": "en"}]}]}`

type figure struct {
	Value, Low, High *float64
	N                int
}

type selectReport struct {
	RunID     string `json:"run_id"`
	Total     int    `json:"total_tests"`
	Exact     figure `json:"overall_tool_exact_rate"`
	Composite figure `json:"overall_composite_score"`
	Matches   map[string]int
	Category  []struct {
		Name    string
		Cases   int
		Metrics map[string]figure
	} `json:"category_results"`
	Difficulty []struct{ Name string } `json:"by_difficulty"`
	Failed     []struct {
		Case      string
		Diagnosis []json.RawMessage
	} `json:"failed_tests"`
	Recommendations []json.RawMessage
}

// TestSelecting: a question and a suite of them over a catalogue that was uploaded, as document two
// asks them, by an admin alone.
func TestSelecting(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const eval = "/api/v1/admin/tool-eval"
	places, _ := s.refuse(t, "root", "POST", eval+"/single", `{"query": "incidents"}`, 422)
	if d := cmp.Diff([]string{"body.catalogue_id"}, places); d != "" {
		t.Error(d)
	}
	kept := give[struct {
		ID    string
		Tools int `json:"tool_count"`
	}](t, s, "root", "POST", "/api/catalogues?name=roads", searched)
	if kept.Tools != 3 {
		t.Fatalf("%+v", kept)
	}
	type single struct {
		MatchType string   `json:"match_type"`
		Own       string   `json:"own_match_type"`
		Selected  []string `json:"selected_tools"`
		Details   []struct {
			ToolID   string `json:"tool_id"`
			Selected bool
			Total    float64 `json:"total_score"`
			Parts    map[string]float64
			Keywords []string `json:"keywords_matched"`
		} `json:"scoring_details"`
		Why     []struct{ Reasons []string } `json:"why_lost"`
		Latency *float64                     `json:"latency_ms"`
	}
	one := give[single](t, s, "root", "POST", eval+"/single",
		`{"query": "Are there traffic incidents on the E4?", "expected_tools": ["traffic_incidents"], "limit": 1}`)
	if one.MatchType != "exact_match" || cmp.Diff([]string{"traffic_incidents"}, one.Selected) != "" ||
		len(one.Details) == 0 || len(one.Details[0].Parts) == 0 || len(one.Details[0].Keywords) == 0 ||
		one.Latency == nil {
		t.Errorf("%+v", one)
	}
	lost := give[single](t, s, "root", "POST", eval+"/single",
		`{"query": "weather and rain", "expected_tools": ["company_search"], "limit": 1, "catalogue_id": "`+
			kept.ID+`"}`)
	if lost.MatchType != "no_match" || len(lost.Why) != 1 || len(lost.Why[0].Reasons) == 0 {
		t.Errorf("%+v", lost)
	}
	// An acceptable tool next to a wrong one is no match in the document, and partial here.
	if beside := give[single](t, s, "root", "POST", eval+"/single",
		`{"query": "traffic incidents and weather", "expected_tools": ["company_search"], "acceptable_tools": ["weather_now"], "limit": 2}`); beside.MatchType != "no_match" || beside.Own != "partial_match" {
		t.Errorf("%+v", beside)
	}
	if free := give[single](t, s, "root", "POST", "/api/admin/tool-eval/single",
		`{"query": "weather"}`); free.MatchType != "" || len(free.Selected) == 0 {
		t.Errorf("nothing expected: %+v", free)
	}
	code, answer := s.send(t, "root", eval+"/run", "file", "eval_suite.json", []byte(questions))
	var rep selectReport
	if err := json.Unmarshal([]byte(answer), &rep); err != nil || code != 200 {
		t.Fatalf("%d %s", code, answer)
	}
	if rep.Total != 3 || rep.Exact.N != 3 || rep.Exact.Value == nil || *rep.Exact.Value < 0.66 ||
		*rep.Exact.Value > 0.67 || rep.Exact.Low == nil || rep.Composite.Value == nil || rep.Matches["exact"] != 2 {
		t.Errorf("%s", answer)
	}
	if len(rep.Category) != 2 || rep.Category[0].Cases != 2 || len(rep.Difficulty) != 2 || len(rep.Failed) != 1 ||
		rep.Failed[0].Case != "q3" || len(rep.Failed[0].Diagnosis) != 1 {
		t.Errorf("%s", answer)
	}
	if owner, err := s.db.Rows().RunOwner(t.Context(), rep.RunID); err != nil || owner.UserID != "user_root" {
		t.Errorf("the run is %+v, %v", owner, err)
	}
	type dropped struct {
		Success bool
		Message string
		Indexes int
	}
	if got := give[dropped](t, s, "root", "POST", eval+"/invalidate-cache", ""); !got.Success || got.Indexes == 0 ||
		got.Message != "Tool index cache cleared successfully" {
		t.Errorf("%+v", got)
	}
	if got := give[dropped](t, s, "root", "POST", eval+"/invalidate-cache", ""); got.Indexes != 0 {
		t.Errorf("dropped twice: %+v", got)
	}
	for _, as := range []string{"ana", "vera"} {
		for _, r := range []string{"/single", "/run", "/invalidate-cache"} {
			s.refuse(t, as, "POST", eval+r, `{"query": "x"}`, 403)
		}
	}
	for body, place := range map[string]string{
		`{"query": "x", "expected_tools": ["nosuch"]}`:          "body.expected_tools",
		`{"query": "x", "catalogue_id": "catalogue_of_nobody"}`: "",
		`{"query": "x", "limit": 0}`:                            "body.limit",
		`{"query": "x", "tools": "/etc/passwd"}`:                "body.tools",
	} {
		want := 422
		if place == "" {
			want = 404
		}
		places, _ := s.refuse(t, "root", "POST", eval+"/single", body, want)
		if place != "" && cmp.Diff([]string{place}, places) != "" {
			t.Errorf("%s: %v", body, places)
		}
	}
	if code, answer := s.send(t, "root", eval+"/run", "file", "x.json", []byte(`{"no": "suite"}`)); code != 422 {
		t.Errorf("no suite: %d %s", code, answer)
	}
}

// TestCatalogues: those of others are not found, a text that is no catalogue is refused, and a new
// text makes a version.
func TestCatalogues(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	type entry struct {
		ID, Name string
		Version  int64
		Tools    int `json:"tool_count"`
	}
	code, answer := s.send(t, "ana", "/api/catalogues", "file", "roads.json", []byte(searched))
	var made entry
	if err := json.Unmarshal([]byte(answer), &made); err != nil || code != 201 || made.Name != "roads" ||
		made.Tools != 3 {
		t.Fatalf("%d %s", code, answer)
	}
	at := "/api/catalogues/" + made.ID
	if _, text := s.ask(t, "ana", "GET", at, ""); text != searched {
		t.Errorf("%s", text)
	}
	type texts struct {
		Version int64
		Items   []struct {
			Name, Title, Description string
			Keywords                 []string
			Examples                 []string `json:"example_queries"`
		}
	}
	if got := give[texts](t, s, "ana", "GET", at+"/tools", ""); got.Version != 1 || len(got.Items) != 3 ||
		got.Items[1].Name != "weather_now" || got.Items[1].Description != "Current weather of a city." ||
		cmp.Diff([]string{"weather", "rain"}, got.Items[1].Keywords) != "" || got.Items[1].Examples == nil {
		t.Errorf("%+v", got)
	}
	if put := give[entry](t, s, "ana", "PUT", at,
		`[{"name": "only", "description": "Does one thing."}]`); put.Version != 2 || put.Tools != 1 ||
		put.Name != "roads" {
		t.Errorf("%+v", put)
	}
	for _, bad := range []string{"", "[]", "nonsense", `[{"name": 5}]`, `{"tools": 5}`} {
		if code, answer := s.send(t, "ana", "/api/catalogues", "file", "x.json", []byte(bad)); code != 422 {
			t.Errorf("%q: %d %s", bad, code, answer)
		}
	}
	for _, r := range []string{"GET", "PUT", "DELETE"} {
		s.refuse(t, "bo", r, at, "[]", 404)
	}
	s.refuse(t, "bo", "GET", at+"/tools", "", 404)
	if l := give[struct{ Items []entry }](t, s, "bo", "GET", "/api/catalogues", ""); len(l.Items) != 0 {
		t.Errorf("%+v", l)
	}
	give[any](t, s, "ana", "DELETE", at, "")
	s.refuse(t, "ana", "GET", at, "", 404)
}

// TestSelectingDocument runs the 80 questions that document two describes over the tools that it
// names.
func TestSelectingDocument(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("CALLVET_TESTDATA")
	if dir == "" {
		t.Skip("SKIPPED: no public data: set CALLVET_TESTDATA")
	}
	suite, err := os.ReadFile(filepath.Join(dir, "origins/seed2/full_pipeline_eval_v1.json"))
	if err != nil {
		t.Skip("SKIPPED: ", err)
	}
	meta, err := os.ReadFile(filepath.Join(dir, "origins/seed2/tool_and_agent_metadata.json"))
	if err != nil {
		t.Skip("SKIPPED: ", err)
	}
	var from struct {
		Groups   map[string][]map[string]any `json:"groups"`
		Keywords map[string][]string         `json:"tool_keywords"`
	}
	if err := json.Unmarshal(meta, &from); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	var list []map[string]any
	for _, group := range slices.Sorted(maps.Keys(from.Groups)) {
		for _, tool := range from.Groups[group] {
			name := fmt.Sprint(tool["tool_id"])
			if known[name] {
				continue
			}
			known[name] = true
			list = append(list, map[string]any{
				"name": tool["tool_id"], "description": tool["description"],
				"keywords": tool["keywords"], "examples": tool["example_queries"],
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(from.Keywords)) {
		if !known[name] {
			list = append(list, map[string]any{
				"name": name, "description": strings.Join(from.Keywords[name], " "),
				"keywords": from.Keywords[name],
			})
		}
	}
	tools, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	if code, answer := s.send(t, "root", "/api/catalogues", "file", "tools.json", tools); code != 201 {
		t.Fatalf("%d %s", code, answer)
	}
	code, answer := s.send(t, "root", "/api/v1/admin/tool-eval/run", "file", "full_pipeline_eval_v1.json", suite)
	if code != 422 || !strings.Contains(answer, "did you mean") {
		t.Errorf("the suite names tools that are not there: %d %.500s", code, answer)
	}
	code, answer = s.send(t, "root", "/api/v1/admin/tool-eval/run?no_lint=true", "file",
		"full_pipeline_eval_v1.json", suite)
	var rep selectReport
	if err := json.Unmarshal([]byte(answer), &rep); err != nil || code != 200 {
		t.Fatalf("%d %.2000s", code, answer)
	}
	if rep.Total != 80 || len(rep.Category) != 4 || len(rep.Difficulty) != 3 || len(rep.Recommendations) == 0 ||
		rep.Exact.N == 0 {
		t.Errorf("%.3000s", answer)
	}
	t.Logf("%d questions, composite %.3f, matches %v", rep.Total, *rep.Composite.Value, rep.Matches)
}

// TestMCPRoutes: the tools of a server come in where it may be reached, and no address of this
// machine is asked where that is not allowed.
func TestMCPRoutes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var asked atomic.Int64
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version string `json:"protocolVersion"`
			} `json:"params"`
		}
		b, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || json.Unmarshal(b, &m) != nil {
			http.Error(w, "POST", http.StatusMethodNotAllowed)
			return
		}
		result := map[string]any{}
		switch m.Method {
		case "initialize":
			result = map[string]any{
				"protocolVersion": m.Params.Version,
				"capabilities":    map[string]any{"tools": map[string]any{}},
				"serverInfo":      map[string]any{"name": "shop", "version": "1.2"},
			}
		case "tools/list":
			result["tools"] = []any{
				map[string]any{
					"name": "find", "description": "Finds a product by its name.",
					"inputSchema": map[string]any{
						"type": "object",
						"properties": map[string]any{
							"q": map[string]any{"type": "string"},
							"n": map[string]any{"type": "integer"},
						},
					},
					"annotations": map[string]any{"readOnlyHint": true},
				},
				map[string]any{
					"name": "buy", "description": "Buys a product for the customer.",
					"inputSchema": map[string]any{
						"type":       "object",
						"properties": map[string]any{"id": map[string]any{"type": "string"}},
					},
				},
			}
		default:
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
	}))
	t.Cleanup(remote.Close)
	body := `{"url": "` + remote.URL + `/mcp", "transport": "streamable"}`
	if code, answer := s.ask(t, "ana", "POST", "/api/mcp/discover", body); code != 502 || asked.Load() != 0 ||
		!strings.Contains(answer, "private_address") {
		t.Fatalf("an address of this machine: %d %s, asked %d times", code, answer, asked.Load())
	}
	for _, bad := range []string{
		"ftp://a/b", "http://", "exec:sh", "file:///etc/passwd", "http://u:p@h/",
		"http://h/${HOME}", "nonsense",
	} {
		s.refuse(t, "ana", "POST", "/api/mcp/discover", `{"url": "`+bad+`"}`, 422)
	}
	if _, err := s.users.SetSettings(t.Context(), people()["root"], account.Settings{Private: true}); err != nil {
		t.Fatal(err)
	}
	got := give[struct {
		Name  string `json:"server_name"`
		Tools []struct {
			Name       string
			Parameters int   `json:"parameter_count"`
			ReadOnly   *bool `json:"read_only"`
			Schema     any   `json:"inputSchema"`
		}
		Count int `json:"tool_count"`
	}](t, s, "ana", "POST", "/api/mcp/discover", body)
	if got.Name != "shop" || got.Count != 2 || got.Tools[0].Name != "find" || got.Tools[0].Parameters != 2 ||
		got.Tools[0].ReadOnly == nil || !*got.Tools[0].ReadOnly || got.Tools[1].ReadOnly != nil ||
		got.Tools[0].Schema == nil {
		t.Errorf("%+v", got)
	}
	made := give[importAnswer](t, s, "ana", "POST", "/api/mcp/import",
		strings.TrimSuffix(body, "}")+`, "tools": ["buy"], "suite_name": "from the shop"}`)
	if made.ToolCount != 1 || made.Name != "from the shop" {
		t.Errorf("%+v", made)
	}
	if places, _ := s.refuse(t, "ana", "POST", "/api/mcp/import", strings.TrimSuffix(body, "}")+`, "tools": ["sell"]}`,
		422); cmp.Diff([]string{"body.tools"}, places) != "" {
		t.Error(places)
	}
	first := give[importAnswer](t, s, "ana", "POST", "/api/mcp/import",
		strings.TrimSuffix(body, "}")+`, "tools": ["buy"], "prefix": "mcp__shop__", "draft_cases": true}`)
	_, text := s.ask(t, "ana", "GET", suites+"/"+first.SuiteID+"/export", "")
	if first.ToolCount != 1 || first.CaseCount != 1 || strings.Count(text, "mcp__shop__buy") < 2 ||
		strings.Contains(text, `"buy"`) {
		t.Errorf("with a prefix: %+v\n%s", first, text)
	}
	if _, message := s.refuse(t, "ana", "POST", "/api/mcp/import",
		strings.TrimSuffix(body, "}")+`, "tools": ["mcp__shop__buy"], "prefix": "mcp__shop__"}`,
		422); !strings.Contains(fmt.Sprint(message), "mcp__shop__buy") {
		t.Error(message)
	}
	broken := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "no JSON") }))
	t.Cleanup(broken.Close)
	s.refuse(t, "ana", "POST", "/api/mcp/discover", `{"url": "`+broken.URL+`"}`, 502)
}
