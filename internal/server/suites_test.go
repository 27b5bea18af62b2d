// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/account"
)

// weatherSuite is the example of Tool Calling Evaluation, "Via JSON Import", with a number that no
// float holds.
const weatherSuite = `{"name": "Weather API Suite", "description": "Tests weather tool calling",
 "tools": [{"type": "function", "function": {"name": "get_weather", "description": "Get current weather for a city",
   "parameters": {"type":  "object", "properties": {"city": {"type": "string", "description": "City name"}, "units": {"type": "string", "enum": ["celsius", "fahrenheit"]}, "station": {"type": "integer"}}, "required": ["city"]}}}],
 "test_cases": [
  {"prompt": "What's the weather in Paris?", "expected_tool": "get_weather", "expected_params": {"city": "Paris", "station": 12345678901234567890123}},
  {"prompt": "Temperature in Tokyo in Fahrenheit", "expected_tool": ["get_weather", "GET_WEATHER"], "expected_params": {}},
  {"prompt": "Thanks!", "expected_tool": null, "expected_params": null}]}`

// give sends a request that must succeed, and reads its answer.
func give[T any](t *testing.T, s *site, as, method, path, body string) (out T) {
	t.Helper()
	code, answer := s.ask(t, as, method, path, body)
	if code/100 != 2 {
		t.Fatalf("%s %s: %d %s", method, path, code, answer)
	}
	if answer != "" {
		if err := json.Unmarshal([]byte(answer), &out); err != nil {
			t.Fatalf("%s %s: %v: %s", method, path, err, answer)
		}
	}
	return out
}

type problem struct {
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Errors []struct{ Location, Message string }
}

// refuse sends a request that must not succeed, and returns where it is wrong.
func (s *site) refuse(t *testing.T, as, method, path, body string, want int) (places []string, p problem) {
	t.Helper()
	code, answer := s.ask(t, as, method, path, body)
	if code != want {
		t.Fatalf("%s %s: %d, want %d: %s", method, path, code, want, answer)
	}
	if err := json.Unmarshal([]byte(answer), &p); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, answer)
	}
	for _, e := range p.Errors {
		places = append(places, e.Location)
	}
	slices.Sort(places)
	return places, p
}

type suiteAnswer struct {
	ID, Name, Hash, Form string
	Version              int64
	SystemPrompt         string            `json:"system_prompt"`
	Tools                []json.RawMessage `json:"tools"`
	TestCases            []map[string]any  `json:"test_cases"`
	Warnings             []struct{ Location, Code string }
	Shared               bool
}

func (a *suiteAnswer) ids() (out []string) {
	for _, c := range a.TestCases {
		out = append(out, fmt.Sprint(c["id"]))
	}
	return out
}

const suites = "/api/tool-suites"

// TestSuites walks the life of a suite: made, read, changed, its cases too, exported, deleted and
// given back.
func TestSuites(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	made := give[suiteAnswer](t, s, "ana", "POST", suites, weatherSuite)
	if made.Version != 1 || made.Form != "toolsuite" ||
		cmp.Diff([]string{"case-1", "case-2", "case-3"}, made.ids()) != "" {
		t.Fatalf("made: %+v", made)
	}
	at := suites + "/" + made.ID
	_, text := s.ask(t, "ana", "GET", "/api/v1/tool-suites/"+made.ID, "")
	for _, want := range []string{
		`"station":12345678901234567890123`, `"expected_params":{}`, `"expected_params":null`,
		`"expected_tool":["get_weather","GET_WEATHER"]`, `"expected_tool":null`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	patched := give[suiteAnswer](t, s, "ana", "PATCH", at, `{"system_prompt": "Always use the available tools."}`)
	if patched.Version != 2 || patched.SystemPrompt == "" || len(patched.TestCases) != 3 || patched.Hash == made.Hash {
		t.Errorf("patched: %+v", patched)
	}
	if same := give[suiteAnswer](t, s, "ana", "PUT", at,
		`{"system_prompt": "Always use the available tools."}`); same.Version != 2 {
		t.Errorf("the same again made version %d", same.Version)
	}
	one := give[suiteAnswer](t, s, "ana", "POST", at+"/cases",
		`{"prompt": "Rain in Oslo?", "expected_tool": "get_weather", "expected_params": {"city": "Oslo"}, "category": "rain"}`)
	more := give[suiteAnswer](t, s, "ana", "POST", at+"/cases",
		`[{"prompt": "Snow in Bern?", "expected_tool": "get_weather"}, {"id": "own/id", "prompt": "Hi", "expected_tool": null}]`)
	if d := cmp.Diff([]string{"case-4", "case-5", "own/id"}, append(one.ids(), more.ids()...)); d != "" ||
		more.Version != 4 {
		t.Errorf("added, version %d: %s", more.Version, d)
	}
	put := give[suiteAnswer](t, s, "ana", "PUT", at+"/cases/case-2",
		`{"prompt": "Temperature in Kyoto", "expected_tool": "get_weather", "expected_params": null}`)
	if c := put.TestCases[0]; c["id"] != "case-2" || c["expected_params"] != nil ||
		c["expected_tool"] != "get_weather" {
		t.Errorf("put: %v", c)
	}
	for _, id := range []string{"case-5", "own/id"} {
		give[any](t, s, "ana", "DELETE", at+"/cases/"+url.PathEscape(id), "")
	}
	again := give[suiteAnswer](t, s, "ana", "POST", at+"/cases",
		`{"prompt": "Wind in Rome?", "expected_tool": "get_weather"}`)
	if got := again.TestCases[0]["id"]; got != "case-6" {
		t.Errorf("a new case is called %v: ids are not given twice", got)
	}
	if c := give[map[string]any](t, s, "ana", "GET", at+"/cases/case-6", ""); c["prompt"] != "Wind in Rome?" {
		t.Errorf("case: %v", c)
	}
	var paged []string
	for next := ""; ; {
		page := give[struct {
			TestCases []map[string]any `json:"items"`
			Total     int
			Next      string `json:"next_cursor"`
		}](t, s, "ana", "GET", at+"/cases?limit=2&cursor="+next, "")
		for _, c := range page.TestCases {
			paged = append(paged, fmt.Sprint(c["id"]))
		}
		if next = page.Next; next == "" {
			break
		}
	}
	if d := cmp.Diff([]string{"case-1", "case-2", "case-3", "case-4", "case-6"}, paged); d != "" {
		t.Error(d)
	}
	list := give[struct {
		Versions []struct{ Version int64 } `json:"items"`
	}](t, s, "ana", "GET", at+"/versions", "")
	if len(list.Versions) != 8 || list.Versions[0].Version != 8 {
		t.Errorf("versions: %+v", list)
	}
	if old := give[suiteAnswer](t, s, "ana", "GET", at+"/versions/1", ""); old.Hash != made.Hash ||
		old.SystemPrompt != "" || len(old.ids()) != 3 {
		t.Errorf("version 1: %+v", old)
	}
	diff := give[map[string]any](t, s, "ana", "GET", at+"/versions/1/diff", "")
	want := map[string]any{
		"from": 1.0, "to": 8.0, "suite": []any{"system_prompt"},
		"tools": map[string]any{"added": []any{}, "removed": []any{}, "changed": []any{}},
		"cases": map[string]any{
			"added": []any{"case-4", "case-6"}, "removed": []any{},
			"changed": []any{map[string]any{
				"name":   "case-2",
				"fields": []any{"expected_params", "expected_tool", "prompt"},
			}},
		},
	}
	if d := cmp.Diff(want, diff); d != "" {
		t.Error(d)
	}
	if back := give[suiteAnswer](t, s, "ana", "POST", at+"/versions/1/restore", ""); back.Version != 9 ||
		back.Hash != made.Hash {
		t.Errorf("as version 1: %+v", back)
	}
	give[any](t, s, "ana", "DELETE", at, "")
	s.refuse(t, "ana", "GET", at, "", 404)
	s.refuse(t, "bo", "POST", at+"/restore", "", 404)
	if back := give[suiteAnswer](t, s, "ana", "POST", at+"/restore", ""); back.Version != 9 {
		t.Errorf("given back: %+v", back)
	}
	give[suiteAnswer](t, s, "ana", "GET", at, "")
}

// TestSuiteErrors: all errors are reported at once, each with its place, and nothing changes.
// TestSuiteSource: a text takes the place of a suite as a new version, which keeps the name where
// the text has none; one with errors changes nothing.
func TestSuiteSource(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	made := give[suiteAnswer](t, s, "ana", "POST", suites, weatherSuite)
	at := suites + "/" + made.ID
	_, text := s.ask(t, "ana", "GET", at+"/export?format=callvet&yaml=true", "")
	text = strings.Replace(text, "name: "+made.Name+"\n", "", 1)
	put := give[suiteAnswer](t, s, "ana", "PUT", at+"/source?format=callvet",
		strings.Replace(text, "Temperature in Tokyo", "Temperature in Kyoto", 1))
	if put.Version != 2 || put.Form != "callvet" || put.Name != made.Name || len(put.TestCases) != 3 {
		t.Errorf("put: %+v", put)
	}
	if _, now := s.ask(t, "ana", "GET", at, ""); !strings.Contains(now, "Temperature in Kyoto") {
		t.Errorf("the text is not there: %s", now)
	}
	for _, bad := range []string{
		"callvet: 1\ncases: [",
		strings.ReplaceAll(text, "get_weather", "get_wether") + "\nnosuch: 1\n", "",
	} {
		if code, answer := s.ask(t, "ana", "PUT", at+"/source", bad); code != http.StatusUnprocessableEntity &&
			code != http.StatusBadRequest {
			t.Errorf("%.40q: %d %s", bad, code, answer)
		}
	}
	if now := give[suiteAnswer](t, s, "ana", "GET", at, ""); now.Version != 2 {
		t.Errorf("a text with errors made version %d", now.Version)
	}
}

func TestSuiteErrors(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	made := give[suiteAnswer](t, s, "ana", "POST", suites, weatherSuite)
	at := suites + "/" + made.ID
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	for name, c := range map[string]struct {
		method, path, body string
		code               int
		places             []string
	}{
		"a tool that is not there": {
			"POST", at + "/cases", `{"prompt": "x y z", "expected_tool": "get_wether"}`, 422,
			[]string{"body.expected_tool"},
		},
		"one of several": {
			"POST", at + "/cases",
			`[{"prompt": "x y z", "expected_tool": "get_weather"}, {"prompt": "p", "expected_tool": "nosuch"}]`, 422,
			[]string{"body[1].expected_tool"},
		},
		"in a new suite": {
			"POST", suites,
			strings.Replace(weatherSuite, `"expected_tool": "get_weather"`, `"expected_tool": "nosuch"`, 1), 422,
			[]string{"body.test_cases[0].expected_tool"},
		},
		"an argument of a wrong type": {
			"PUT", at + "/cases/case-1",
			`{"prompt": "p", "expected_tool": "get_weather", "expected_params": {"city": 5}}`, 422,
			[]string{"body.expected_params.city"},
		},
		"no prompt": {
			"POST", at + "/cases", `{"expected_tool": "get_weather"}`, 422,
			[]string{"body.prompt"},
		},
		"unknown properties": {
			"POST", at + "/cases",
			`{"prompt": "p", "expected_tol": "get_weather", "expected_tool": null, "x": 1}`, 422,
			[]string{"body.expected_tol", "body.x"},
		},
		"types": {
			"PATCH", at, `{"name": 5, "tools": {}, "system_prompt": []}`, 422,
			[]string{"body.name", "body.system_prompt", "body.tools"},
		},
		"a key twice":      {"PATCH", at, `{"name": "a", "name": "b"}`, 400, []string{"body"}},
		"another case":     {"PATCH", at, `{"Name": "a"}`, 422, []string{"body"}},
		"not UTF-8":        {"PATCH", at, "{\"name\": \"\xff\"}", 400, []string{"body"}},
		"something behind": {"PATCH", at, `{"name": "a"} {}`, 400, []string{"body"}},
		"too deep": {
			"POST", at + "/cases",
			`{"prompt": "p", "expected_tool": "get_weather", "expected_params": ` + deep + `}`, 422,
			[]string{"body"},
		},
		"a tool that is in use": {
			"PATCH", at,
			`{"tools": [{"type": "function", "function": {"name": "other", "description": "d", "parameters": {"type": "object"}}}]}`, 422,
			[]string{"suite.test_cases[0].expected_tool", "suite.test_cases[1].expected_tool[0]", "suite.test_cases[1].expected_tool[1]"},
		},
		"a control character":      {"PATCH", at, `{"name": "a\u0000b"}`, 422, []string{"body.name"}},
		"a case that is not there": {"PUT", at + "/cases/case-9", `{"prompt": "p", "expected_tool": null}`, 404, nil},
		"an id twice": {
			"POST", at + "/cases", `{"id": "case-1", "prompt": "p", "expected_tool": null}`,
			422,
			[]string{"body.id"},
		},
		"another id": {
			"PUT", at + "/cases/case-1",
			`{"id": "case-7", "prompt": "p", "expected_tool": null}`, 422,
			[]string{"body.id"},
		},
		"a cursor":             {"GET", suites + "?cursor=abc", "", 422, []string{"body.cursor"}},
		"an unknown parameter": {"GET", suites + "?limti=3", "", 422, []string{"query.limti"}},
	} {
		t.Run(name, func(t *testing.T) {
			places, p := s.refuse(t, "ana", c.method, c.path, c.body, c.code)
			if c.places != nil && cmp.Diff(c.places, places) != "" {
				t.Errorf("%v: %+v", places, p)
			}
		})
	}
	if got := give[suiteAnswer](t, s, "ana", "GET", at, ""); cmp.Diff(made.ids(), got.ids()) != "" || got.Version != 1 {
		t.Errorf("changed: %+v", got)
	}
	give[any](t, s, "ana", "PATCH", at, `{"system_prompt": "x"}`)
	if cleared := give[suiteAnswer](t, s, "ana", "PATCH", at, `{"system_prompt": null}`); cleared.SystemPrompt != "" ||
		cleared.Hash != made.Hash {
		t.Errorf("null: %+v", cleared)
	}
}

// TestSuiteVersionsMeet: an edit for a version that is not the newest one changes nothing, and of
// many edits at once none is lost.
func TestSuiteVersionsMeet(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	made := give[suiteAnswer](t, s, "ana", "POST", suites, weatherSuite)
	at := suites + "/" + made.ID
	with := func(tag, method, path, body string) int {
		req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+account.TokenPrefix+"ana")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("If-Match", tag)
		res, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	for _, c := range []struct {
		tag, method, path, body string
		want                    int
	}{
		{`"2"`, "PATCH", at, `{"name": "b"}`, 412},
		{`"1"`, "PATCH", at, `{"name": "b"}`, 200},
		{`"1"`, "PUT", at + "/cases/case-1", `{"prompt": "p q", "expected_tool": null}`, 412},
		{`W/"2"`, "DELETE", at + "/cases/case-1", ``, 204},
		{`"1", "3"`, "POST", at + "/cases", `{"prompt": "p q", "expected_tool": null}`, 201},
		{`*`, "PATCH", at, `{"name": "c"}`, 200},
		{`"4"`, "DELETE", at, ``, 412},
	} {
		if got := with(c.tag, c.method, c.path, c.body); got != c.want {
			t.Errorf("%s %s for %s: %d, want %d", c.method, c.path, c.tag, got, c.want)
		}
	}
	const many = 6
	var group sync.WaitGroup
	for i := range many {
		group.Go(func() {
			give[any](t, s, "ana", "POST", at+"/cases",
				fmt.Sprintf(`{"id": "p-%d", "prompt": "question number %d", "expected_tool": null}`, i, i))
		})
	}
	group.Wait()
	if got := give[suiteAnswer](t, s, "ana", "GET", at, ""); got.Version != 5+many || len(got.TestCases) != 3+many {
		t.Errorf("version %d with %d cases", got.Version, len(got.TestCases))
	}
}

// TestSuitesOfOthers: what one may not read is not found, and what one may only read is not changed.
func TestSuitesOfOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	made := give[suiteAnswer](t, s, "ana", "POST", suites, weatherSuite)
	at := suites + "/" + made.ID
	routes := [][3]string{
		{"GET", at, ""},
		{"PUT", at, `{"name": "x"}`},
		{"PATCH", at, `{"name": "x"}`},
		{"DELETE", at, ""},
		{"GET", at + "/export", ""},
		{"GET", at + "/versions", ""},
		{"GET", at + "/versions/1", ""},
		{"GET", at + "/versions/1/diff", ""},
		{"POST", at + "/versions/1/restore", ""},
		{"GET", at + "/cases", ""},
		{"POST", at + "/cases", `{"prompt": "p", "expected_tool": null}`},
		{"GET", at + "/cases/case-1", ""},
		{"PUT", at + "/cases/case-1", `{"prompt": "p", "expected_tool": null}`},
		{"DELETE", at + "/cases/case-1", ""},
	}
	for _, r := range routes {
		s.refuse(t, "bo", r[0], r[1], r[2], 404)
		s.refuse(t, "", r[0], r[1], r[2], 401)
	}
	s.refuse(t, "vera", "POST", suites, weatherSuite, 403)
	give[any](t, s, "ana", "PATCH", at, `{"shared": true}`)
	for _, r := range routes {
		want := 403
		if r[0] == "GET" {
			want = 200
		}
		for _, as := range []string{"bo", "vera"} {
			if code, answer := s.ask(t, as, r[0], r[1], r[2]); code != want {
				t.Errorf("%s %s of a shared suite as %s: %d, want %d: %s", r[0], r[1], as, code, want, answer)
			}
		}
	}
	if got := give[suiteAnswer](t, s, "ana", "GET", at, ""); got.Version != 1 || !got.Shared {
		t.Errorf("changed by others: %+v", got)
	}
	type list struct {
		Suites []suiteAnswer `json:"items"`
	}
	if l := give[list](t, s, "bo", "GET", suites+"?search=WEATHER", ""); len(l.Suites) != 1 {
		t.Errorf("a shared suite: %+v", l)
	}
	if l := give[list](t, s, "bo", "GET", suites+"?search=100%25", ""); len(l.Suites) != 0 {
		t.Errorf("nothing is called so: %+v", l)
	}
	s.refuse(t, "bo", "GET", suites+"?all=true", "", 403)
	if l := give[list](t, s, "root", "GET", suites+"?all=true", ""); len(l.Suites) != 1 {
		t.Errorf("an admin: %+v", l)
	}
}
