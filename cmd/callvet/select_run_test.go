// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callvet/callvet/panel"
)

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// No key of a service is in the store, in whatever way it was given.
func TestSelectKeepsNoSecret(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("api_key") != "hunter22 &" {
			http.Error(w, "who are you? "+r.URL.RawQuery, http.StatusForbidden)
			return
		}
		fmt.Fprint(w, `{"tools":["trains_secret_gold"]}`)
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"s.json": selectSuite})
	env := map[string]string{"API_KEY": "hunter22 &", "OTHER": "hunter23"}
	for _, args := range [][]string{
		{"select", "s.json", "--via", srv.URL + "?api_key=hunter22"},
		{"select", "s.json", "--via", srv.URL, "--header", "Authorization: Bearer hunter22"},
		{"run", "s.json", "-m", "retrieve:" + srv.URL + "?token=hunter22"},
		{"run", "s.json", "-m", srv.URL + "?token=hunter22"},
	} {
		if out := runApp(t, dir, nil, exitUsage, args...); !strings.Contains(out, "spelled out") ||
			strings.Contains(out, "hunter22") {
			t.Errorf("callvet %v: %s", args, out)
		}
	}
	out := runApp(t, dir, env, exitOK, "select", "s.json", "--via", srv.URL+"?api_key=${API_KEY}", "--name", "own")
	out += runApp(t, dir, env, exitError, "select", "s.json", "--via", srv.URL+"?api_key=${OTHER}", "--retries", "0",
		"--name", "refused")
	out += runApp(t, dir, env, exitOK, "show", "own", "--json")
	if strings.Contains(out, "hunter2") || !strings.Contains(out, `'`+srv.URL+`?api_key=${API_KEY}'`) {
		t.Error(out)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) < 2 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("hunter2")) {
			t.Errorf("%s holds the key", name)
		}
	}
}

// Reasons come from the run's catalogue; otherwise the report names why there are none.
func TestReasonsOfStoredRun(t *testing.T) {
	t.Parallel()
	const catalogue = `[{"name":"trains","description":"delays of trains on the line"},{"name":"sky","description":"the weather of tomorrow, sun and rain"}]`
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"c.json": catalogue,
		"s.json": `{"name":"s","categories":[{"category_id":"c","category_name":"C","test_cases":[{"id":"a","query":"rain over the trains tomorrow","expected_tools":["trains"]},{"id":"b","query":"delays","expected_tools":["sky"]}]}]}`,
	})
	shown := func() string { return runApp(t, dir, nil, exitOK, "show", "r") }
	first := runApp(t, dir, nil, exitOK, "select", "s.json", "--tools", "c.json", "--k", "1", "--name", "r")
	if out := shown(); !strings.Contains(first, "because ") || !strings.Contains(out, "because ") ||
		strings.Contains(out, "No reasons") {
		t.Errorf("the same catalogue gives no reasons:\n%s\n%s", first, out)
	}
	writeFiles(t, dir,
		map[string]string{"c.json": strings.Replace(catalogue, "delays of", "delays and departures of", 1)})
	if out := shown(); strings.Contains(out, "because ") ||
		!strings.Contains(out,
			"No reasons are given why tools lost: the catalogue, or the rules of routes, changed since this run") {
		t.Errorf("an edited catalogue:\n%s", out)
	}
	runApp(t, dir, nil, exitOK, "report", "r", "-o", "r.html")
	if page := string(readFile(t, dir, "r.html")); !strings.Contains(page, "No reasons are given") {
		t.Error("the page does not say why it gives no reasons")
	}
	if out := runApp(t, dir, nil, exitError, "run", "--resume", "r"); !strings.Contains(out, "changed since this run") {
		t.Errorf("a run over two catalogues: %s", out)
	}
	if err := os.Remove(filepath.Join(dir, "c.json")); err != nil {
		t.Fatal(err)
	}
	if out := shown(); strings.Contains(out, "because ") ||
		!strings.Contains(out, "No reasons are given why tools lost") || !strings.Contains(out, "c.json") {
		t.Errorf("a catalogue that is gone:\n%s", out)
	}
}

// Two selection runs are compared by their ranks too, case by case. A note reports that catalogues
// of one name are not the same.
func TestDiffOfSelections(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	suite, tools := strings.Builder{}, strings.Builder{}
	for i := range 12 {
		if i > 0 {
			suite.WriteString(",")
			tools.WriteString(",")
		}
		fmt.Fprintf(&suite, `{"id":"c%[1]d","query":"please frob%[1]d","expected_tools":["t%[1]d"]}`, i)
		fmt.Fprintf(&tools, `{"name":"t%[1]d","description":"frob%[1]d of things"}`, i)
	}
	writeFiles(t, dir, map[string]string{
		"c.json": "[" + tools.String() + "]",
		"s.json": `{"name":"s","categories":[{"category_id":"c","category_name":"C","test_cases":[` +
			suite.String() + `]}]}`,
	})
	pick := func(name string) {
		runApp(t, dir, nil, exitOK, "select", "s.json", "--tools", "c.json", "--k", "3", "--name", name, "-q")
	}
	pick("a")
	writeFiles(t, dir,
		map[string]string{"c.json": "[" + strings.NewReplacer("frob0 ", "nothing ", "frob1 ", "frob0 ", "frob2 ",
			"frob0 frob1 ").Replace(tools.String()) + "]"})
	pick("b")
	out := runApp(t, dir, nil, exitOK, "diff", "a", "b", "--json")
	var doc struct {
		panel.Comparison
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	tested := map[string]panel.Difference{}
	for _, m := range doc.Targets[0].Measured {
		tested[m.Metric] = m.Overall
		if (len(m.Slices) == 0) != (m.Overall.Cases == 0) ||
			slices.ContainsFunc(m.Slices, func(d panel.Difference) bool { return d.PHolm == nil }) {
			t.Errorf("%s: %d slices, and not all adjusted", m.Metric, len(m.Slices))
		}
	}
	for _, name := range []string{"composite", "precision@1", "mrr", "ndcg@3", "recall@3"} {
		if d, ok := tested[name]; !ok || d.Cases != 12 || d.Test == "" || !d.Change.Usable() ||
			(d.Fell > 0) != (name != "composite" && name != "recall@3") {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if len(doc.Warnings) != 2 || !strings.Contains(doc.Warnings[0], "did not read the same files") ||
		!strings.Contains(doc.Warnings[1], "tools of the suite are not the same") {
		t.Errorf("warnings %q", doc.Warnings)
	}
	if out := runApp(t, dir, nil, exitOK, "diff", "a", "b"); !strings.Contains(out, "MRR") ||
		!strings.Contains(out, "did not read the same files") {
		t.Error(out)
	}
}

// The options of the run are applied and printed: the number of tries, one attempt for targets with
// fixed answers, and the place of the warnings.
func TestSelectAsksAsTold(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		http.Error(w, "slow down", http.StatusTooManyRequests)
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"c d.json": `[{"name":"trains","description":"delays of trains","parameters":{"properties":{"n":{"type":"number","exclusiveMinimum":true}}}},{"name":"sky","description":"weather"}]`,
		"s.json":   `{"name":"s","categories":[{"category_id":"c","category_name":"C","test_cases":[{"id":"a","query":"delays","expected_tools":["trains"]}]}]}`,
	})
	runApp(t, dir, nil, exitError, "select", "s.json", "--via", srv.URL, "--retries", "1", "-q")
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests, want a first and a second", n)
	}
	out := runApp(t, dir, nil, exitOK, "select", "s.json", "--tools", "c d.json", "-r", "3", "--name", "r")
	for _, want := range []string{"note: a catalogue gives the same every time: each case is asked once, and not 3 times", "note: lint has 1 warning: callvet lint s.json --tools 'c d.json'"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	out = runApp(t, dir, nil, exitOK, "select", "s.json", "--tools", "c d.json", "-v", "-q")
	if !strings.Contains(out, "warning: bad-schema: c d.json") {
		t.Error(out)
	}
}
