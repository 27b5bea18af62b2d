// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/sys"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/suite"
)

// TestToolCallerPromptOnShippedSuites writes the prompt of each shipped suite and runs its scripted
// models with and without it. Nothing of a case is in the prompt, and the verdicts on a model are
// the same.
func TestToolCallerPromptOnShippedSuites(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields("weather travel refunds parallel smart-home abstention") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join("..", "..", "examples", name+".yaml")
			do := func(args ...string) (string, int) {
				var out, errs bytes.Buffer
				wd, err := os.Getwd()
				if err != nil {
					t.Fatal(err)
				}
				a := &cli{
					out: &out, err: &errs, dir: wd, now: time.Now, process: sys.UnwatchedProcess(&out, &errs),
					getenv: func(k string) string {
						return map[string]string{"CALLVET_DB": filepath.Join(dir, "runs.db")}[k]
					},
				}
				code := a.run(t.Context(), a.rootCommand(), args)
				if code > exitOK && code != exitGateFailed {
					t.Errorf("%v: exit %d: %s", args, code, errs.String())
				}
				return out.String(), code
			}
			text, _ := do("prompt", "tool-caller", file, "--json")
			var p app.PromptResult
			if err := json.Unmarshal([]byte(text), &p); err != nil || p.Tools == 0 {
				t.Fatalf("%v: %s", err, text)
			}
			s, _, err := suite.Load(file, suite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range s.Cases {
				if q := c.Question(); len(q) > 8 && strings.Contains(p.Text, q) {
					t.Errorf("the prompt has the question of %s", c.ID)
				}
			}
			for i := range s.Tools {
				if !strings.Contains(p.Catalogue, "- "+s.Tools[i].Name+"(") {
					t.Errorf("%s is not on the page", s.Tools[i].Name)
				}
			}
			prompt := filepath.Join(dir, "prompt.txt")
			if err := os.WriteFile(prompt, []byte(p.Text), 0o600); err != nil {
				t.Fatal(err)
			}
			scripts, err := filepath.Glob(filepath.Join("..", "..", "examples", "scripts", name+"-*.yaml"))
			if err != nil || len(scripts) == 0 {
				t.Fatalf("%v %v", scripts, err)
			}
			for _, script := range scripts {
				plain, _ := do("run", file, "-m", "script:"+script, "--json")
				stderr, _ := do("run", file, "-m", "script:"+script, "--json", "--system", "@"+prompt)
				if a, b := summary(t, plain), summary(t, stderr); a == "" || a != b {
					t.Errorf("%s: %q without the prompt, %q with it", script, a, b)
				}
			}
		})
	}
}

func summary(t *testing.T, report string) string {
	t.Helper()
	var r struct{ Summary string }
	if err := json.Unmarshal([]byte(report), &r); err != nil {
		t.Fatalf("%v: %s", err, report)
	}
	return r.Summary
}
