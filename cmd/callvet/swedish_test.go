// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/callvet/callvet/panel/routing"
)

// TestSwedishReasons: every sentence of a report of the selection lab over the shipped suites has a Swedish one in
// web/src/text/sv/told.json: evidence, notes, and why a test failed and a tool lost. Each has as many places for
// values as the English one.
func TestSwedishReasons(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "web", "src", "text", "sv", "told.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list [][2]string
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	var patterns []*regexp.Regexp
	for _, s := range list {
		if strings.Count(s[0], "{}") != strings.Count(s[1], "{}") {
			t.Errorf("%q and %q have not as many values", s[0], s[1])
		}
		patterns = append(patterns, regexp.MustCompile("^(?s:"+strings.ReplaceAll(regexp.QuoteMeta(s[0]), `\{\}`, `.*?`)+")$"))
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
				Selection struct{ Targets []routing.Target }
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
func sentencesOf(target *routing.Target, check func(string)) {
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
