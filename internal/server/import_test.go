// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/server/assets"
)

// send sends a form with a file, as curl -F does.
func (s *site) send(t *testing.T, as, path, field, name string, text []byte) (code int, answer string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile(field, name)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write(text)
	_ = w.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, &b)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	req.Header.Set("Authorization", "Bearer "+account.TokenPrefix+as)
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(out)
}

type importAnswer struct {
	SuiteID   string `json:"suite_id"`
	Name      string
	Form      string
	Hash      string
	ToolCount int `json:"tool_count"`
	CaseCount int `json:"test_case_count"`
	Warnings  []map[string]any
}

const importPath = "/api/tool-eval/import"

// TestImport: the shipped example comes in without a word of the linter, and a suite that goes out
// comes in again as the same one.
func TestImport(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, example := s.ask(t, "ana", "GET", importPath+"/example", "")
	got := give[importAnswer](t, s, "ana", "POST", importPath, example)
	if got.ToolCount != 3 || got.CaseCount != 4 || len(got.Warnings) != 0 || got.Form != "toolsuite" {
		t.Errorf("the example: %+v", got)
	}
	_, out := s.ask(t, "ana", "GET", suites+"/"+got.SuiteID+"/export", "")
	again := give[importAnswer](t, s, "ana", "POST", importPath, out)
	_, same := s.ask(t, "ana", "GET", suites+"/"+again.SuiteID+"/export", "")
	if d := cmp.Diff(out, same); d != "" || again.Hash != got.Hash {
		t.Error(d)
	}
	_, yaml := s.ask(t, "ana", "GET", suites+"/"+got.SuiteID+"/export?format=callvet&yaml=true", "")
	code, answer := s.send(t, "ana", importPath, "file", `C:\suites\weather.yaml`, []byte(yaml))
	if code != 201 || !strings.Contains(answer, `"form":"callvet"`) ||
		!strings.Contains(answer, `"test_case_count":4`) {
		t.Errorf("yaml in a form: %d %s", code, answer)
	}
	for _, c := range []struct {
		field, text, place string
		want               int
	}{
		{"other", example, "body", 422},
		{"file", "", "body", 422},
		{"file", "[1, 2", "body", 422},
		{
			"file", strings.Replace(example, `"expected_tool": "get_weather"`, `"expected_tool": "get_rain"`, 1),
			"body.test_cases[0].expected_tool", 422,
		},
		{"file", strings.Replace(example, `{
  "name"`, `{
  "callvet": 1, "tools_from": "other.json", "name"`, 1), "body", 422},
	} {
		code, answer := s.send(t, "ana", importPath, c.field, "x.json", []byte(c.text))
		var p problem
		if err := json.Unmarshal([]byte(answer), &p); err != nil || code != c.want {
			t.Errorf("%.80s: %d %s", c.text, code, answer)
			continue
		}
		if len(p.Errors) > 0 && p.Errors[0].Location != c.place {
			t.Errorf("%.80s: %s", c.text, answer)
		}
	}
	if code, answer := s.send(t, "vera", importPath, "file", "x.json", []byte(example)); code != 403 {
		t.Errorf("a viewer: %d %s", code, answer)
	}
	const scored = `{"callvet": 1, "name": "n", "tools": [], "cases": [{"prompt": "a question", "expect": {"scorers": [{"name": "a", "exec": "sh check.sh"}]}}]}`
	if code, answer := s.ask(t, "ana", "POST", importPath, scored); code != 403 ||
		!strings.Contains(answer, "may not run commands") {
		t.Errorf("a scorer that is a command: %d %s", code, answer)
	}
}

// TestImportOfDocuments: the suites that the documents come with are kept whole.
func TestImportOfDocuments(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("CALLVET_TESTDATA")
	if dir == "" {
		t.Skip("SKIPPED: no public data: set CALLVET_TESTDATA")
	}
	s := newSite(t)
	for file, want := range map[string]int{
		"origins/seed3/smart_home_suite.json":      55,
		"origins/seed2/full_pipeline_eval_v1.json": 80,
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Skip("SKIPPED: ", err)
		}
		code, answer := s.send(t, "ana", importPath, "file", filepath.Base(file), text)
		var got importAnswer
		if err := json.Unmarshal([]byte(answer), &got); err != nil || code != 201 || got.CaseCount != want {
			t.Errorf("%s: %d %.500s", file, code, answer)
			continue
		}
		a := give[suiteAnswer](t, s, "ana", "GET", suites+"/"+got.SuiteID, "")
		if len(a.TestCases) != want || got.Form == "toolsuite" && len(a.Tools) == 0 {
			t.Errorf("%s: %d cases, %d tools", file, len(a.TestCases), len(a.Tools))
		}
	}
}

// TestLintRoute: an editor gets every problem with its place, and nothing is kept.
func TestLintRoute(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	type lint struct {
		OK        bool
		Form      string
		CaseCount int `json:"test_case_count"`
		Problems  []struct {
			Location, Code, Message string
			Line, Column            int
		}
	}
	ask := func(text string) lint {
		b, _ := json.Marshal(map[string]string{"text": text})
		return give[lint](t, s, "vera", "POST", "/api/lint", string(b))
	}
	if got := ask(weatherSuite); !got.OK || got.CaseCount != 3 || got.Form != "toolsuite" {
		t.Errorf("%+v", got)
	}
	got := ask(strings.Replace(weatherSuite, `"expected_params": {}`, `"expected_params": 5`, 1))
	if got.OK || len(got.Problems) == 0 || got.Problems[0].Location != "test_cases[1].expected_params" ||
		got.Problems[0].Line != 6 {
		t.Errorf("%+v", got)
	}
	for _, text := range []string{"", "nonsense", "[1", "{}", "callvet: 1\ncases: [", "\x00"} {
		if got := ask(text); got.OK || len(got.Problems) == 0 {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if p := ask("{\n  \"callvet\": 1,\n  \"cases\": [}\n}").Problems; len(p) != 1 || p[0].Line != 3 ||
		p[0].Column == 0 || p[0].Message == "" {
		t.Errorf("a text that is neither JSON nor YAML: %+v", p)
	}
	if l := give[struct{ Items []any }](t, s, "root", "GET", suites+"?all=true", ""); len(l.Items) != 0 {
		t.Errorf("kept: %+v", l)
	}
}

// TestForms: the API returns the data for an editor of suites: the forms and the words of a schema.
func TestForms(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	f := give[assets.SuiteForms](t, s, "vera", "GET", "/api/tool-eval/forms", "")
	if len(f.Write) == 0 || f.Write[0] != "toolsuite" || !slices.Contains(f.Write, "callvet") ||
		!slices.Contains(f.Read, "bfcl") {
		t.Errorf("%+v", f)
	}
	want, err := app.Schema("suite")
	if err != nil {
		t.Fatal(err)
	}
	if code, got := s.ask(t, "vera", "GET", "/api/schemas/suite", ""); code != http.StatusOK || got != string(want) {
		t.Errorf("%d: %.80s", code, got)
	}
	if code, _ := s.ask(t, "vera", "GET", "/api/schemas/nosuch", ""); code != http.StatusNotFound {
		t.Errorf("a schema that is not there: %d", code)
	}
}

// TestHashOfRun: a run of the text of a version keeps the suite under the hash of the version.
func TestHashOfRun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a, err := s.srv.AppOf(t.Context(), "user_ana")
	if err != nil {
		t.Fatal(err)
	}
	_, example := s.ask(t, "ana", "GET", importPath+"/example", "")
	for _, text := range []string{weatherSuite, example, own} {
		made := give[importAnswer](t, s, "ana", "POST", importPath, text)
		_, kept := s.ask(t, "ana", "GET", suites+"/"+made.SuiteID+"/export?format="+made.Form, "")
		run, err := runs.Start(t.Context(), a,
			app.RunRequest{
				SuiteRequest: app.SuiteRequest{Text: []byte(kept), Format: made.Form},
				Targets:      []app.TargetSpec{{Target: "offline/lexical"}},
			}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if run.Stored.SuiteHash != made.Hash {
			t.Errorf("%s: the run has the hash %s, the version %s", made.Name, run.Stored.SuiteHash, made.Hash)
		}
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	}
}

const own = `{"callvet": 1, "name": "cities", "tools": [{"name": "weather_now", "description": "Current weather of a city.", "parameters": {"type": "object"}}],
 "cases": [{"prompt": "How is Oslo?", "expected_tool": "weather_now"}, {"id": "tone", "prompt": "How is Rome?", "expect": {"tools_called": ["weather_now"], "response": {"contains": "Rome"}}}]}`
