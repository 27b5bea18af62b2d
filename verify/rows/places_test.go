// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package rows

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the places into docs/design/documents.md")

// TestDocsPlaces writes the list of places in docs/design/documents.md from the rows of make verify-rows: each
// term, default, endpoint and command of the four documents, its place, and the commands and expectations
// of its check. Each place must exist; defaults are read from the program. Missing features are marked,
// with their replacement.
func TestDocsPlaces(t *testing.T) {
	t.Parallel()
	list := documents(t)
	p := placesOf(t)
	var out strings.Builder
	for i := range list {
		d := &list[i]
		out.WriteString("\n**" + d.Title + "**\n\n" + tableRow("there", "here") + tableRow("---", "---"))
		for j := range d.Rows {
			out.WriteString(p.row(t, &d.Rows[j]))
		}
	}
	const begin, end = "<!-- places -->\n", "\n<!-- end of places -->"
	text := document(t, "docs/design/documents.md")
	before, rest, found := strings.Cut(text, begin)
	old, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("docs/design/documents.md has no place for the list of places")
	}
	d := cmp.Diff(old, out.String())
	switch {
	case d == "":
	case !*update:
		t.Errorf("the list of places (-doc +computed); -update writes it:\n%s", d)
	default:
		if err := os.WriteFile(filepath.Join("..", "..", "docs", "design", "documents.md"),
			[]byte(before+begin+out.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// row writes one row: the term and its places. A row without a check is an error.
func (p *places) row(t *testing.T, r *Row) string {
	t.Helper()
	var here []string
	for _, place := range r.Places {
		here = append(here, p.place(t, place))
	}
	where := strings.Join(here, ", ")
	if r.Without != "" {
		where = "**not built**: " + r.Without + "; " + where
	}
	for _, s := range r.Steps {
		for _, e := range s.Expect {
			if e.Checks() {
				return tableRow(strings.ReplaceAll(r.Term, "|", "\\|"), where)
			}
		}
	}
	t.Errorf("%s has no check", r.Term)
	return ""
}

// places has the objects that a place may name.
type places struct {
	binary    string
	help      map[string]string // of a command
	endpoints map[string]bool   // METHOD /path
	metrics   string
}

func placesOf(t *testing.T) *places {
	t.Helper()
	p := &places{binary: filepath.Join(t.TempDir(), "callvet"), help: map[string]string{}, endpoints: map[string]bool{}}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-o", p.binary,
		"./cmd/callvet").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	described, err := exec.CommandContext(t.Context(), p.binary, "schema", "openapi").Output()
	if err != nil {
		t.Fatal(err)
	}
	var api struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(described, &api); err != nil {
		t.Fatal(err)
	}
	p.metrics = document(t, "docs/reference/metrics.md") + document(t, "docs/guides/traces.md")
	for path, verbs := range api.Paths {
		for verb := range verbs {
			p.endpoints[strings.ToUpper(verb)+" "+path] = true
		}
	}
	return p
}

// helpOf returns the help of a command, "" for an unknown command.
func (p *places) helpOf(t *testing.T, words string) string {
	t.Helper()
	help, known := p.help[words]
	if known {
		return help
	}
	out, err := exec.CommandContext(t.Context(), p.binary, append(strings.Fields(words), "--help")...).Output()
	if help = string(out); err != nil || !strings.Contains(help, "\n  callvet "+words) {
		help = ""
	}
	p.help[words] = help
	return help
}

// document returns the text of a file of the project.
func document(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func tableRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func code(s string) string { return "`" + s + "`" }

// flagPlace matches a command with or without a flag, and "=" for its default.
var flagPlace = regexp.MustCompile(`^callvet ([a-z -]+?)(?: --([a-z-]+))?( =)?$`)

// place checks a place and returns its text in the document. There are commands with or without a flag, and "="
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
		help := p.helpOf(t, m[1])
		if help == "" {
			t.Errorf("there is no command %s", m[1])
			return place
		}
		if m[2] == "" {
			return code(m[1])
		}
		option := regexp.MustCompile(`(?m)^ +(?:-., )?--` + m[2] + `\b(?:.*\(default (.*)\))?`).FindStringSubmatch(help)
		if option == nil {
			t.Errorf("callvet %s has no flag --%s", m[1], m[2])
			return place
		}
		if m[3] != "" && option[1] != "" {
			return code(m[1]+" --"+m[2]) + " (" + strings.Trim(option[1], `"`) + ")"
		}
		return code(m[1] + " --" + m[2])
	case slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, kind):
		if !p.endpoints[place] {
			t.Errorf("there is no endpoint %s", place)
		}
		return code(place)
	case kind == "key":
		key, file, _ := strings.Cut(rest, " ")
		if !strings.Contains(document(t, file), strings.Trim(key, "`")) {
			t.Errorf("%s does not contain %s", file, key)
		}
		return "[" + code(strings.Trim(key, "`")) + "](" + fromDesign(file) + ")"
	case kind == "metric":
		median := regexp.MustCompile(`_p90$`).ReplaceAllString(rest, "_p50") // tables list p90 after p50
		if !strings.Contains(p.metrics, "`"+rest+"`") && !strings.Contains(p.metrics, "`"+median+"`") {
			t.Errorf("there is no metric %s", rest)
		}
		return code(rest)
	}
	if _, err := os.Stat(filepath.Join("..", "..", place)); err != nil {
		t.Errorf("there is no file %s", place)
	}
	return "[" + filepath.Base(place) + "](" + fromDesign(place) + ")"
}

// fromDesign returns the path of a file of the project relative to the folder of the page.
func fromDesign(file string) string {
	if inDocs, ok := strings.CutPrefix(file, "docs/"); ok {
		return strings.TrimPrefix("../"+inDocs, "../design/")
	}
	return "../../" + file
}
