// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/console"
	"github.com/callvet/callvet/internal/sys"
)

// argv is a command line as a shell takes it apart, without the program's name.
func argv(t *testing.T, line string) []string {
	t.Helper()
	out, err := sys.SplitCommand(line)
	if err != nil || len(out) < 2 || out[0] != "callvet" {
		t.Fatalf("%q is no command: %v", line, err)
	}
	return out[1:]
}

// When a run is suggested, every flag of the commands that start runs is repeated with its value,
// or it is one of those that do not change a run.
func TestEveryFlagIsRepeated(t *testing.T) {
	t.Parallel()
	a, _, _ := newApp(t.TempDir(), nil)
	of := func(name string) *cobra.Command {
		c, _, err := a.rootCommand().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	values := func(fs *pflag.FlagSet) map[string]string {
		out := map[string]string{}
		fs.Visit(func(f *pflag.Flag) { out[f.Name] = f.Value.String() })
		return out
	}
	for _, name := range []string{"run", "select"} {
		var names []string
		of(name).Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		for _, n := range names {
			set := false
			for _, v := range []string{
				"0.5", "1m30s", "7", "it's \"quoted\", $HOME=`x`", "false", "true",
				"none", "a=b: c",
			} {
				c := of(name)
				if v == c.Flags().Lookup(n).DefValue || c.Flags().Set(n, v) != nil {
					continue
				}
				set = true
				line := console.RunAgain(&results.Manifest{
					Path:   "my suite.yaml",
					Origin: app.Origin{Command: name, Flags: given(c.Flags())},
				}, nil)
				args := argv(t, line)
				fresh := of(name)
				if err := fresh.ParseFlags(args[1:]); err != nil {
					t.Errorf("%s: %v", line, err)
					continue
				}
				if rest := fresh.Flags().Args(); !slices.Equal(rest, []string{"my suite.yaml"}) || args[0] != name {
					t.Errorf("%s asks %q about %q", line, args[0], rest)
				}
				want := values(c.Flags())
				if slices.Contains(once(), n) {
					want = map[string]string{}
				}
				if d := cmp.Diff(want, values(fresh.Flags())); d != "" {
					t.Errorf("%s --%s %s (-given +repeated):\n%s", name, n, v, d)
				}
			}
			if !set {
				t.Fatalf("%s: no value for --%s", name, n)
			}
		}
	}
}

// A suggested command after a run works unchanged: it asks the same server the same questions, with
// the same limits, and finds the run.
func TestSuggestionsDoTheSame(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	server := func(name string) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			asked = append(asked, name+" "+r.Header.Get("Authorization")+" "+r.URL.RequestURI()+" "+string(body))
			mu.Unlock()
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w,
				`{"model":"m","choices":[{"message":{"content":"no"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`)
		}))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	own, company := server("own"), server("company")
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"s.json":      `{"name":"s","cases":[{"id":"a b","prompt":"hello","expected_tool":"ping"},{"id":"c","prompt":"you","expected_tool":"ping"}]}`,
		"tools.json":  `[{"name":"ping","parameters":{"type":"object"}}]`,
		"prices.json": `{"prices":[{"provider":"openai","model":"m","input":1,"output":1,"effective":"2026-01-01"}]}`,
		"prompt.txt":  "Be brief.",
	})
	env := map[string]string{
		"OPENAI_API_KEY": "the-key-of-the-company", "OPENAI_BASE_URL": company + "/v1",
		"LOCAL_KEY": "the-key-of-this-server",
	}
	take := func() []string {
		mu.Lock()
		defer mu.Unlock()
		out := asked
		asked = nil
		slices.Sort(out)
		return out
	}
	runApp(t, dir, env, exitOK, "run", "s.json", "-m", "openai/m", "--base-url", own+"/v1?deployment=a",
		"--api-key-env", "LOCAL_KEY", "--tools", "tools.json", "--set", `user="it's me"`,
		"--system", "@prompt.txt", "--temperature", "0.5", "--stream", "--prices", "prices.json", "--no-cache",
		"--max-cost", "1", "--db", "my runs.db", "-o", "out.json", "-q")
	first := take()
	if len(first) != 2 {
		t.Fatalf("%d requests", len(first))
	}
	var doc report.Document
	if err := json.Unmarshal(readFile(t, dir, "out.json"), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Next) != 3 {
		t.Fatalf("suggested: %q", doc.Next)
	}
	for _, line := range doc.Next {
		args := argv(t, line)
		if strings.Contains(line, "the-key") || !strings.Contains(line, "--db 'my runs.db'") {
			t.Errorf("%s", line)
		}
		runApp(t, dir, env, exitOK, args...)
		if again := take(); args[0] == "run" {
			if d := cmp.Diff(first, again); d != "" {
				t.Errorf("%s asks otherwise (-first +again):\n%s", line, d)
			}
		} else if len(again) > 0 {
			t.Errorf("%s asks for %q", line, again)
		}
	}
	// A run that stopped at its limit suggests how to continue, and continues with the same server.
	stderr := runApp(t, dir, env, exitBudget,
		argv(t, strings.Replace(doc.Next[1], " --failed-from "+doc.Run, " --max-calls 1 --concurrency 1", 1))...)
	_, line, _ := strings.Cut(stderr, "try: ")
	if line = strings.TrimSpace(line); !strings.Contains(line, "--max-calls 2") {
		t.Fatalf("a run that stopped at its limit: %s", stderr)
	}
	runApp(t, dir, env, exitOK, argv(t, line)...)
	if d := cmp.Diff(first, take()); d != "" {
		t.Errorf("%s asks otherwise (-first +again):\n%s", line, d)
	}
	// Errors about missing runs name the same store.
	if stderr := runApp(t, dir, env, exitUsage, "show", "nobody", "--db", "my runs.db"); !strings.Contains(stderr,
		"try: callvet runs --db 'my runs.db' lists") {
		t.Errorf("a run that is not there: %s", stderr)
	}
}
