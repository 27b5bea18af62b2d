// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/callvet/callvet/panel"
)

// swedishPlace matches a placeholder of the pairs in sv/server: a value, a number, another sentence or a kind of error.
var swedishPlace = regexp.MustCompile(`\{(?:#|\*|kind)?\}`)

// swedish reads the pairs of an English and a Swedish sentence of the page.
func swedish(t *testing.T) [][2]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "web", "src", "text", "sv", "server", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("the page has no Swedish sentences", err)
	}
	var all [][2]string
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list [][2]string
		if err := json.Unmarshal(raw, &list); err != nil {
			t.Fatal(file, err)
		}
		all = append(all, list...)
	}
	return all
}

// TestSwedishPairs: no sentence has two pairs, and each Swedish one has every value of the English one.
func TestSwedishPairs(t *testing.T) {
	t.Parallel()
	numbered := regexp.MustCompile(`\{(\d*)\}`)
	seen := map[string]bool{}
	for _, s := range swedish(t) {
		if seen[s[0]] {
			t.Errorf("%q is there twice", s[0])
		}
		seen[s[0]] = true
		want := 0
		for _, place := range swedishPlace.FindAllString(s[0], -1) {
			if place != "{kind}" {
				want++
			}
		}
		used := map[string]bool{}
		for i, place := range numbered.FindAllStringSubmatch(s[1], -1) {
			used[cmp.Or(place[1], strconv.Itoa(i+1))] = true
		}
		for n := range want {
			if !used[strconv.Itoa(n+1)] {
				t.Errorf("%q has a value that %q leaves out", s[0], s[1])
			}
		}
		if len(used) > want {
			t.Errorf("%q has values that %q does not have", s[1], s[0])
		}
	}
}

// TestSwedishSource: every sentence in the source of the lab, and of refusals of a request, has a
// pair.
func TestSwedishSource(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, s := range swedish(t) {
		all.WriteString("\x00" + strings.ReplaceAll(swedishPlace.ReplaceAllString(s[0], "{}"), "{{}}", "{}") + "\x00")
	}
	pairs := all.String()
	n := 0
	for _, from := range sentenceFiles {
		files, err := filepath.Glob(filepath.Join("..", "..", from.files))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files: %v", from.files, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || from.leaves(filepath.Base(file)) {
				continue
			}
			for place, text := range sentencesIn(t, file, from.all) {
				n++
				// of a sentence that is put together
				part := from.all && strings.Contains(pairs, strings.TrimSpace(text))
				if !part && !strings.Contains(pairs, "\x00"+text+"\x00") && !from.unsaid(text) {
					t.Errorf("%s: there is no Swedish sentence for %q", place, text)
				}
			}
		}
	}
	if n < 600 {
		t.Errorf("only %d sentences were found", n)
	}
}

// TestSwedishReasons: every sentence of a report of the selection lab over the shipped suites has a pair:
// evidence, notes, and why a test failed and a tool lost.
func TestSwedishReasons(t *testing.T) {
	t.Parallel()
	var patterns []*regexp.Regexp
	for _, s := range swedish(t) {
		parts := swedishPlace.Split(s[0], -1)
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		patterns = append(patterns, regexp.MustCompile("^(?s:"+strings.Join(parts, ".*?")+")$"))
	}
	sentences := 0
	check := func(text string) {
		sentences++
		for _, p := range patterns {
			if p.MatchString(text) {
				return
			}
		}
		t.Errorf("there is no Swedish sentence for %q", text)
	}
	examples := filepath.Join("..", "..", "examples", "select")
	for _, suite := range []string{"suite.json", "every-tool.json"} {
		for _, settings := range [][]string{
			{"--preset", "default"},
			{"--preset", "bigtool"},
			{"--agent-gate", "1"},
			{"--abstain", "0.6"},
			{"--threshold", "0.5", "--abstain-route", "smalltalk"},
		} {
			a, out, errs := plainApp()
			a.dir = t.TempDir()
			args := append([]string{
				"select", absolute(t, examples, suite), "--tools",
				absolute(t, examples, "catalogue.json"), "--db", filepath.Join(a.dir, "x.db"), "--json", "-q",
			}, settings...)
			if code := a.run(t.Context(), a.rootCommand(), args); code != exitOK {
				t.Fatalf("%v: %d %s", args, code, errs)
			}
			var doc struct {
				Selection struct{ Targets []panel.RoutingTarget }
			}
			if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
				t.Fatal(err)
			}
			for i := range doc.Selection.Targets {
				sentencesOf(&doc.Selection.Targets[i], check)
			}
		}
	}
	if sentences < 200 {
		t.Errorf("only %d sentences were looked at", sentences)
	}
}

// sentencesOf gives all sentences of a target that the lab shows.
func sentencesOf(target *panel.RoutingTarget, check func(string)) {
	for _, n := range target.Notes {
		check(n)
	}
	for _, r := range target.Recommendations {
		check(r.Evidence)
	}
	for i := range target.Failed {
		f := &target.Failed[i]
		check(f.Reason)
		for _, d := range f.Diagnose {
			for _, reason := range d.Reasons {
				check(reason)
			}
		}
	}
}

func absolute(t *testing.T, parts ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
