// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// TestDocsPlaces writes the list of places in docs/DOCUMENTS.md out of testdata/places.txt: each term, default,
// endpoint and command of the four documents, where it is, and the test that holds it. Each place and test has
// to exist; defaults are read from where they stand. What is not built has no place, and the list says so.
func TestDocsPlaces(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "places.txt"))
	if err != nil {
		t.Fatal(err)
	}
	p := placesOf(t)
	var out strings.Builder
	built, missing := 0, 0
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "# "); ok {
			out.WriteString("\n**" + title + "**\n\n" + tableRow("there", "here", "held by") + tableRow("---", "---", "---"))
			continue
		}
		if line == "" {
			continue
		}
		cells := strings.Split(line, " | ")
		if len(cells) != 3 {
			t.Errorf("%q has %d cells", line, len(cells))
			continue
		}
		if cells[1] == "-" {
			missing++
			out.WriteString(tableRow(cells[0], "**not built**", cells[2]))
			continue
		}
		built++
		var places []string
		for _, place := range strings.Split(cells[1], "; ") {
			places = append(places, p.place(t, place))
		}
		out.WriteString(tableRow(cells[0], strings.Join(places, ", "), p.tests(t, cells[0], cells[2])))
	}
	if built < 90 {
		t.Errorf("only %d places are listed", built)
	}
	const begin, end = "<!-- places -->\n", "\n<!-- end of places -->"
	text := document(t, "docs/DOCUMENTS.md")
	before, rest, found := strings.Cut(text, begin)
	old, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("docs/DOCUMENTS.md has no place for the list of places")
	}
	d := cmp.Diff(old, out.String())
	switch {
	case d == "":
	case !*update:
		t.Errorf("the list of places (-doc +computed); -update writes it:\n%s", d)
	default:
		if err := os.WriteFile(filepath.Join("..", "..", "docs", "DOCUMENTS.md"), []byte(before+begin+out.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// places are what a place may name.
type places struct {
	root      *cobra.Command
	endpoints map[string]bool // METHOD /path
	metrics   string
	all       map[string]string
}

func placesOf(t *testing.T) *places {
	t.Helper()
	a, described, errs := plainApp()
	if code := a.run(t.Context(), a.rootCommand(), []string{"schema", "openapi"}); code != exitOK {
		t.Fatal(errs)
	}
	var api struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(described.Bytes(), &api); err != nil {
		t.Fatal(err)
	}
	p := &places{root: new(cli).rootCommand(), endpoints: map[string]bool{}, all: allTests(t)}
	p.metrics = document(t, "docs/METRICS.md") + document(t, "docs/TRACES.md")
	for path, verbs := range api.Paths {
		for verb := range verbs {
			p.endpoints[strings.ToUpper(verb)+" "+path] = true
		}
	}
	return p
}

// flag is a flag of a command, with its default where that is asked for.
var flagPlace = regexp.MustCompile(`^callvet ([a-z -]+?)(?: --([a-z-]+))?( =)?$`)

// place checks a place and gives it as the document shows it. There are commands with or without a flag, and "="
// for its default; endpoints; files of the project; keys that a document of the project explains, "key NAME FILE";
// and metrics.
func (p *places) place(t *testing.T, place string) string {
	t.Helper()
	kind, rest, _ := strings.Cut(place, " ")
	switch {
	case kind == "callvet":
		m := flagPlace.FindStringSubmatch(place)
		if m == nil {
			t.Errorf("%q is no command", place)
			return place
		}
		words := strings.Fields(m[1])
		c, left, err := p.root.Find(words)
		if err != nil || len(left) > 0 || c == p.root {
			t.Errorf("there is no command %s", m[1])
			return place
		}
		if m[2] == "" {
			return code("callvet " + m[1])
		}
		f := c.Flag(m[2])
		if f == nil {
			t.Errorf("callvet %s has no flag --%s", m[1], m[2])
			return place
		}
		if m[3] != "" && f.DefValue != "" {
			return code("callvet "+m[1]+" --"+m[2]) + " (" + f.DefValue + ")"
		}
		return code("callvet " + m[1] + " --" + m[2])
	case slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, kind):
		if !p.endpoints[place] {
			t.Errorf("there is no endpoint %s", place)
		}
		return code(place)
	case kind == "key":
		key, file, _ := strings.Cut(rest, " ")
		if !strings.Contains(document(t, file), key) {
			t.Errorf("%s does not tell of %s", file, key)
		}
		return code(strings.Trim(key, "`")) + " in [" + filepath.Base(file) + "](" + strings.TrimPrefix("../"+file, "../docs/") + ")"
	case kind == "metric":
		if !strings.Contains(p.metrics, "`"+rest+"`") {
			t.Errorf("there is no metric %s", rest)
		}
		return code(rest)
	}
	if _, err := os.Stat(filepath.Join("..", "..", place)); err != nil {
		t.Errorf("there is no file %s", place)
	}
	return "[" + filepath.Base(place) + "](" + strings.TrimPrefix("../"+place, "../docs/") + ")"
}

// tests checks the tests that hold a term: TestScript/NAME is a script.
func (p *places) tests(t *testing.T, of, list string) string {
	t.Helper()
	var out []string
	for _, name := range strings.Split(list, "; ") {
		top, script, sub := strings.Cut(name, "/")
		if _, there := p.all[top]; !there {
			t.Errorf("%s: there is no test %s", of, name)
		}
		if sub && top == "TestScript" {
			if _, err := os.Stat(filepath.Join("testdata", "script", script+".txtar")); err != nil {
				t.Errorf("%s: %v", of, err)
			}
		}
		out = append(out, code(name))
	}
	return strings.Join(out, ", ")
}
