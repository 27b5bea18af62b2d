// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

const listed = `{"agents":[{"name":"travel"}],"tools":[{"name":"trains","description":"When trains leave.","keywords":["timetable","trains"],"agents":["travel"]},{"name":"weather","description":"Rain and sun."}]}`

// The result of one question shows what decided, the shared words, and whether it is as expected.
func TestQuery(t *testing.T) {
	t.Parallel()
	e := &Env{Now: time.Now, Files: askMemory{
		"c.json": listed,
		"r.json": `{"rules":[{"route":"action","sub_route":"travel","patterns":["(?i)trains"]}],"default":"knowledge"}`,
		"w.json": `{"retrieval":{"vector":2}}`,
	}}
	ask := func(s Settings, want *callvet.Selection) (*QueryAnswer, error) {
		s.Routes = "r.json"
		return Query(t.Context(), e,
			QueryRequest{Text: "When do trains leave?", Search: Search{Tools: "c.json", Settings: s}, Expect: want})
	}
	a, err := ask(Settings{}, nil)
	if err != nil || a.Verdict != "" || a.Route.Text != `action by rule 1, which finds "trains" with (?i)trains` ||
		a.Matched[0].Tool != "trains" || len(a.Matched[0].Keywords) != 1 {
		t.Fatalf("%+v %v", a, err)
	}
	for _, c := range []struct {
		want   callvet.Selection
		k      int
		reason string // empty: it passes
	}{
		{
			callvet.Selection{Tools: []string{"trains"}, Route: "action", SubRoute: "travel", Agents: []string{"travel"}},
			0, "",
		},
		{callvet.Selection{Route: "knowledge"}, 0, "route: expected knowledge, got action"},
		{callvet.Selection{Agents: []string{"sky"}}, 0, "agents: expected sky, got travel"},
		{callvet.Selection{Tools: []string{"weather"}}, 1, "expected weather"},
		{callvet.Selection{Acceptable: []string{"trains"}}, 1, ""},
		{callvet.Selection{Tools: []string{}}, 0, "tools: expected none"},
	} {
		a, err := ask(Settings{K: c.k}, &c.want)
		if err != nil || (a.Verdict == callvet.VerdictPass) != (c.reason == "") ||
			!strings.Contains(a.Reason, c.reason) {
			t.Errorf("%+v: %+v %v", c.want, a, err)
		}
	}
	if a, err := ask(Settings{K: 1}, &callvet.Selection{Tools: []string{"weather"}}); err != nil || len(a.Why) != 1 ||
		len(a.Why[0].Reasons) == 0 {
		t.Errorf("%+v %v", a, err)
	}
	for name, q := range map[string]QueryRequest{
		"nothing":   {},
		"none such": {Search: Search{Tools: "c.json"}, Expect: &callvet.Selection{Tools: []string{"none_such"}}},
		"depth":     {Search: Search{Tools: "c.json", Settings: Settings{K: -5}}},
		"w.json":    {Search: Search{Tools: "c.json", WeightsFile: "w.json"}},
		"models":    {Search: Search{Tools: "c.json", Settings: Settings{Embed: "ollama:m"}}},
	} {
		q.Text = "x"
		if _, err := Query(t.Context(), e, q); err == nil || name == "w.json" && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A service is asked one question as a run would.
func TestQueryService(t *testing.T) {
	t.Parallel()
	var body, key string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body, key = string(b), r.Header.Get("Authorization")
		_, _ = io.WriteString(w, `{"tools":[{"id":"trains","score":1}],"route":"action"}`)
	}))
	defer s.Close()
	e := &Env{
		Now: time.Now, Files: askMemory{},
		Lookup: func(name string) string { return map[string]string{"KEY": "s3cret-key"}[name] },
	}
	a, err := Query(t.Context(), e, QueryRequest{
		Text: "When do trains leave?", Search: Search{Via: s.URL, Settings: Settings{K: 3}},
		Headers: map[string]string{"Authorization": "Bearer ${KEY}"},
		Expect:  &callvet.Selection{Tools: []string{"trains"}, Route: "knowledge"},
	})
	if err != nil || a.Verdict != callvet.VerdictFail || a.Decision.Route != "action" {
		t.Errorf("%+v %v", a, err)
	}
	if key != "Bearer s3cret-key" || !strings.Contains(body, `"k":3`) || strings.Contains(body, "knowledge") {
		t.Errorf("asked %s with %q", body, key)
	}
}

// A request is as good in JSON as in Go: what is searched is next to what is asked, and "tools": []
// expects that none fits.
func TestRequestsInJSON(t *testing.T) {
	t.Parallel()
	e := &Env{Now: time.Now, Files: askMemory{"c.json": listed, "w.json": `{"retrieval":{"vector":0.5}}`}}
	var q QueryRequest
	if err := json.Unmarshal(
		[]byte(
			`{"text": "trains", "tools": "c.json", "weights": "w.json", "k": 1, "routes": "none", "expect": {"tools": []}}`), &q); err != nil {
		t.Fatal(err)
	}
	want := QueryRequest{
		Text:   "trains",
		Search: Search{Tools: "c.json", WeightsFile: "w.json", Settings: Settings{K: 1, Routes: "none"}},
		Expect: &callvet.Selection{Tools: []string{}},
	}
	if diff := cmp.Diff(want, q, cmp.AllowUnexported(Search{})); diff != "" {
		t.Error(diff)
	}
	a, err := Query(t.Context(), e, q)
	if err != nil || a.Verdict != callvet.VerdictFail || len(a.Decision.Tools) != 1 {
		t.Errorf("%+v %v", a, err)
	}
}

// askMemory are files in memory.
type askMemory map[string]string

// Read implements Files.
func (m askMemory) Read(name string, _ int64) ([]byte, error) {
	if s, ok := m[name]; ok {
		return []byte(s), nil
	}
	return nil, fs.ErrNotExist
}
