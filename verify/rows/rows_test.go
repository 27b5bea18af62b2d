// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package rows

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func documents(t *testing.T) []Document {
	t.Helper()
	list, err := Documents()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestRowsHaveChecks: every row has the computation of its values, compares something, and uses each command,
// flag, endpoint, metric and key that it names as the place.
func TestRowsHaveChecks(t *testing.T) {
	t.Parallel()
	list := documents(t)
	if len(list) != len(due) {
		t.Fatalf("%d documents, want %d", len(list), len(due))
	}
	for i := range list {
		d := &list[i]
		if d.Title != due[i].document || len(d.Rows) != due[i].rows {
			t.Errorf("%s has %d rows, and %d of %s are due", d.Title, len(d.Rows), due[i].rows, due[i].document)
		}
		for j := range d.Rows {
			r := &d.Rows[j]
			checks := 0
			for _, s := range r.Steps {
				for _, e := range s.Expect {
					if e.Checks() {
						checks++
					}
				}
			}
			if checks == 0 || r.Hand == "" || len(r.Places) == 0 {
				t.Errorf("%s: %s: %d checks, %d places, by hand %q", d.Title, r.Term, checks, len(r.Places), r.Hand)
			}
			for _, place := range r.Places {
				if !uses(d, r, place) {
					t.Errorf("%s: %s: no step uses %s", d.Title, r.Term, place)
				}
			}
		}
	}
}

// shorts are the short forms of flags.
var shorts = map[string]string{"--output": "-o", "--quiet": "-q", "--model": "-m"}

// uses reports whether the steps of a row use a place.
func uses(d *Document, r *Row, place string) bool {
	kind, rest, _ := strings.Cut(place, " ")
	step := func(request bool, holds func(line string) bool) bool {
		return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Request == request && holds(s.Line) })
	}
	switch kind {
	case "callvet":
		command, flag, _ := strings.Cut(strings.TrimSuffix(place, " ="), " --")
		return step(false, func(line string) bool {
			_, args, found := strings.Cut(line, command)
			return found && (flag == "" || strings.Contains(args, "--"+flag) || shorts["--"+flag] != "" &&
				strings.Contains(args, shorts["--"+flag]))
		})
	case "GET", "POST", "PUT", "PATCH", "DELETE":
		pattern := regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllString(rest, "*")
		return step(true, func(line string) bool {
			method, target, _ := strings.Cut(strings.TrimPrefix(line, "anonymous "), " ")
			target, _, _ = strings.Cut(target, " ")
			target, _, _ = strings.Cut(target, "?")
			ok, err := path.Match(pattern, target)
			return method == kind && ok && err == nil
		})
	case "metric":
		return slices.ContainsFunc(r.Steps, func(s Step) bool {
			return slices.ContainsFunc(s.Expect, func(e Expectation) bool {
				return e.At == rest ||
					strings.Contains(e.At, "name="+rest+".")
			})
		})
	case "key":
		key, _, _ := strings.Cut(rest, " docs/")
		return strings.Contains(words(d), strings.Trim(key, "`:"))
	}
	return true // a file: TestDocsPlaces looks for it
}

// words are all words of a document's table.
func words(d *Document) string {
	var b strings.Builder
	for i := range d.Rows {
		r := &d.Rows[i]
		b.WriteString(r.Term + "\n" + r.Without + "\n" + r.Hand + "\n")
		for _, s := range r.Steps {
			b.WriteString(s.Line + "\n")
			for _, e := range s.Expect {
				b.WriteString(e.At + " " + e.Want + "\n")
			}
		}
	}
	for name, text := range d.Files {
		b.WriteString(name + "\n" + text + "\n")
	}
	return b.String()
}

// TestTermsAreRows requires every listed term of the documents in a row of that document or in a file that its
// rows read.
func TestTermsAreRows(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "cmd", "callvet", "testdata", "documents.txt"))
	if err != nil {
		t.Fatal(err)
	}
	text, n := map[string]string{}, 0
	for _, d := range documents(t) {
		text[d.Title] = words(&d)
	}
	of := ""
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "# "); ok {
			of = title
			continue
		}
		if line == "" || text[of] == "" {
			continue
		}
		n++
		if !regexp.MustCompile(`(?i)(^|[^A-Za-z_])` + regexp.QuoteMeta(line) + `($|[^A-Za-z_])`).MatchString(text[of]) {
			t.Errorf("no row of %s has %s", of, line)
		}
	}
	if n < 150 {
		t.Errorf("only %d terms", n)
	}
}

// TestSame: an expected number is exact, a fraction, or rounded to its last digit.
func TestSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seen any
		want string
		same bool
	}{
		{json.Number("0.75"), "3/4", true},
		{json.Number("0.75"), "0.75", true},
		{json.Number("0.7501"), "0.75", false},
		{json.Number("0.8941"), "~0.894", true},
		{json.Number("0.8946"), "~0.894", false},
		{json.Number("1"), "true", false},
		{true, "true", true},
		{"done", "done", true},
		{"2", "2", true},
		{nil, "null", true},
		{[]any{"a", json.Number("1")}, `["a",1]`, true},
	} {
		if got := same(c.seen, c.want); got != c.same {
			t.Errorf("%v, expected %s: %v", c.seen, c.want, got)
		}
	}
}

// TestAnswer: paths and metrics are found in an answer, and missing ones are not.
func TestAnswer(t *testing.T) {
	t.Parallel()
	a := answerOf(
		[]byte(
			`{"list": [{"name": "a", "n": 1}, {"name": "b", "n": 2, "interval": {"point": 0.5}}], "deep": {"metrics": [{"name": "b", "interval": {"point": 0.25}}]}}`), "", 0)
	for place, want := range map[string]string{
		"list.name=b.n": "2", "list.0.n": "1",
		"deep.metrics.0.interval.point": "0.25",
	} {
		if got, ok := at(a.doc, place); !ok || written(got) != want {
			t.Errorf("%s: %v, %v", place, got, ok)
		}
	}
	for _, place := range []string{"list.name=c", "list.7", "list.-1", "none", "list.name.n"} {
		if got, ok := at(a.doc, place); ok {
			t.Errorf("%s: %v", place, got)
		}
	}
	if got, ok := metric(a.doc, "b"); !ok || written(got) != "0.5" {
		t.Errorf("metric: %v, %v", got, ok)
	}
	if _, ok := metric(a.doc, "none"); ok {
		t.Error("a metric that is not there was found")
	}
}

// TestParse: a line that is no row is an error with its line number.
func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# D\n$ callvet\n":                           "line 2: ",
		"# D\n## a\n## a\n":                          "line 3: the row",
		"# D\n## a\nhas x\n":                         "line 3: has x: there is no step",
		"# D\n## a\n$ callvet\nvalue x\n":            "line 4: value x: nothing is expected",
		"# D\n## a\n$ callvet\nmatches x\n":          "line 4: \"matches\" is no kind",
		"# D\n## a\n$ callvet\nhas x\n-- f --\n# \n": "",
	} {
		got := ""
		if _, err := parse([]byte(text)); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
