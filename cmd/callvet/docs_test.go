// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/suite"
)

// fence is a fenced block of a document.
type fence struct {
	lang string
	file string // named by a comment above: <!-- file: NAME -->
	body string
	line int
}

func fences(t *testing.T, doc string) []fence {
	t.Helper()
	var out []fence
	var open *fence
	named := ""
	for i, l := range strings.Split(document(t, doc), "\n") {
		switch lang, isFence := strings.CutPrefix(l, "```"); {
		case isFence && open == nil:
			open = &fence{lang: lang, file: named, line: i + 1}
			named = ""
		case isFence:
			out = append(out, *open)
			open = nil
		case open != nil:
			open.body += l + "\n"
		case strings.HasPrefix(l, "<!-- file: "):
			named = strings.TrimSuffix(strings.TrimPrefix(l, "<!-- file: "), " -->")
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: the block has no end", doc, open.line)
	}
	return out
}

func document(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDocsCommands runs the console blocks of the documents with the real binary. Each line after
// "$ " must end with 0, or with N if "# exit N" follows it. It must print the lines below it, in
// that order.
func TestDocsCommands(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("make unit runs the documents, and make docs them alone")
	}
	for doc, text := range docPages(t) {
		if !strings.HasPrefix(doc, "docs/") || !strings.Contains(text, "\n```console\n") {
			continue
		}
		t.Run(doc, func(t *testing.T) {
			t.Parallel()
			dir := docsFolder(t)
			for _, f := range fences(t, doc) {
				writeFence(t, dir, f)
				if f.lang == "console" {
					consoleBlock(t, dir, fmt.Sprintf("%s:%d", doc, f.line), f.body)
				}
			}
		})
	}
}

// TestDocsOutputs runs the blocks "console exact" and compares every line of their output with the page;
// -update writes it. Ids of runs, dates and durations are different each time.
func TestDocsOutputs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("make unit runs the documents, and make docs them alone")
	}
	for _, doc := range []string{"README.md", "docs/start/tutorial.md"} {
		t.Run(doc, func(t *testing.T) {
			t.Parallel()
			dir := docsFolder(t)
			old := document(t, doc)
			text := old
			for _, f := range fences(t, doc) {
				writeFence(t, dir, f)
				if f.lang != "console exact" {
					continue
				}
				got := transcript(t, dir, fmt.Sprintf("%s:%d", doc, f.line), f.body)
				if d := cmp.Diff(steady(f.body), steady(got)); d != "" {
					if !*update {
						t.Errorf("%s:%d (-doc +program); -update writes it:\n%s", doc, f.line, d)
					}
					text = strings.Replace(text, "```console exact\n"+f.body, "```console exact\n"+got, 1)
				}
			}
			if text == old {
				return
			}
			if err := os.WriteFile(filepath.Join("..", "..", doc), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// transcript runs the commands of a block, and writes them with their output.
func transcript(t *testing.T, dir, where, body string) string {
	t.Helper()
	var b strings.Builder
	for l := range strings.Lines(body) {
		if command, ok := strings.CutPrefix(strings.TrimRight(l, "\n"), "$ "); ok {
			b.WriteString(l + docsCommand(t, dir, where, command))
		}
	}
	return b.String()
}

var changing = regexp.MustCompile(`\d{4}-\d\d-\d\d( \d\d:\d\d)?|\d+(\.\d+)? m?s\b|[ ─]{2,}`)

var runID = regexp.MustCompile(`(?m)(?:· run |^gates for run )([a-z0-9]{10})\b`)

// steady replaces the parts that differ each time a block is run.
func steady(body string) string {
	for _, m := range runID.FindAllStringSubmatch(body, -1) {
		body = strings.ReplaceAll(body, m[1], "RUN")
	}
	return changing.ReplaceAllString(runsColumn.ReplaceAllString(body, "RUN "), "·")
}

// runsColumn is the first column of the table of runs.
var runsColumn = regexp.MustCompile(`(?m)^[a-z0-9]{10} `)

// docsFolder is a folder for the commands of a page, with the examples.
func docsFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join("..", "..", "examples"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// writeFence writes a block that has the name of a file.
func writeFence(t *testing.T, dir string, f fence) {
	t.Helper()
	if f.file == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, f.file), []byte(f.body), 0o600); err != nil {
		t.Fatal(err)
	}
}

var exitNote = regexp.MustCompile(`\s+# exit (\d+)$`)

func consoleBlock(t *testing.T, dir, where, body string) {
	t.Helper()
	rest, command := "", ""
	for l := range strings.Lines(body) {
		l = strings.TrimRight(l, "\n")
		if !strings.HasPrefix(l, "$ ") {
			_, after, ok := strings.Cut(rest, strings.TrimSpace(l))
			if !ok {
				t.Errorf("%s: %s does not say %q in what is left of its output:\n%s", where, command, l, rest)
			}
			rest = after
			continue
		}
		command = strings.TrimPrefix(l, "$ ")
		if _, err := exec.LookPath("jq"); err != nil && strings.Contains(command, "| jq ") {
			t.Logf("SKIPPED: no jq on the path: %s", command)
			rest = body
			continue
		}
		rest = docsCommand(t, dir, where, command)
	}
}

// docsCommand runs a command of a page, and checks its exit code: 0, or N where "# exit N" follows it.
func docsCommand(t *testing.T, dir, where, command string) string {
	t.Helper()
	want := "0"
	if m := exitNote.FindStringSubmatch(command); m != nil {
		want, command = m[1], strings.TrimSuffix(command, m[0])
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "CALLVET_DB="+filepath.Join(dir, "runs.db"), "COLUMNS=")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("%s: %s: %v", where, command, err)
	}
	if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != want {
		t.Errorf("%s: %s: exit %s, want %s\n%s", where, command, got, want, out)
	}
	return string(out)
}

// shown is a command of a plain block.
type shown struct{ text, where string }

// commands lists the commands of the plain blocks of a document; " · " separates commands that
// share a line.
func commands(t *testing.T, doc string) []shown {
	t.Helper()
	var out []shown
	for _, f := range fences(t, doc) {
		for l := range strings.Lines(f.body) {
			if f.lang == "console" || !strings.HasPrefix(l, "callvet ") {
				continue
			}
			l, _, _ = strings.Cut(l, "  #")
			for part := range strings.SplitSeq(strings.TrimSpace(l), " · ") {
				out = append(out,
					shown{"callvet " + strings.TrimPrefix(part, "callvet "), fmt.Sprintf("%s:%d", doc, f.line)})
			}
		}
	}
	return out
}

// TestDocsExamplesParse compares every other command in the documents with the commands and flags
// that exist: those that need a key or a server cannot run here.
func TestDocsExamplesParse(t *testing.T) {
	t.Parallel()
	for doc := range docPages(t) {
		for _, c := range commands(t, doc) {
			if err := parses(strings.TrimPrefix(c.text, "callvet ")); err != nil {
				t.Errorf("%s: %s: %v", c.where, c.text, err)
			}
		}
	}
}

// parses checks a command line as far as it goes without running it.
func parses(text string) error {
	cmd, args, err := new(cli).rootCommand().Find(strings.Fields(strings.NewReplacer("'", "", `"`, "").Replace(text)))
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(args); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// TestDocsSuites loads and lints the whole suites that the documents show.
func TestDocsSuites(t *testing.T) {
	t.Parallel()
	whole := 0
	for _, doc := range []string{"docs/start/tutorial.md", "docs/guides/suites.md", "docs/reference/formats.md"} {
		for _, f := range fences(t, doc) {
			if f.lang != "yaml" || !strings.Contains("\n"+f.body, "\ntools:") || !strings.Contains(f.body, "\ncases:") {
				continue
			}
			whole++
			path := filepath.Join(t.TempDir(), "suite.yaml")
			if err := os.WriteFile(path, []byte(f.body), 0o600); err != nil {
				t.Fatal(err)
			}
			_, problems, err := suite.Check(t.Context(), path, suite.Options{}, suite.LintOptions{Source: os.ReadFile})
			if err != nil || len(problems) > 0 {
				t.Errorf("%s:%d: %v %v", doc, f.line, err, problems)
			}
		}
	}
	if whole == 0 {
		t.Error("no whole suite is shown")
	}
}

var (
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	word     = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
)

// TestDocsSuiteKeys compares docs/guides/suites.md with the JSON Schema of suites.
func TestDocsSuiteKeys(t *testing.T) {
	t.Parallel()
	var schema any
	if err := json.Unmarshal(suite.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	doc, keys, documented := document(t, "docs/guides/suites.md"), map[string]bool{}, map[string]bool{}
	schemaKeys(schema, keys)
	for _, f := range fences(t, "docs/guides/suites.md") {
		for _, w := range word.FindAllString(f.body, -1) {
			documented[w] = true
		}
	}
	for l := range strings.Lines(doc) {
		for _, m := range codeSpan.FindAllStringSubmatch(l, -1) {
			for _, w := range word.FindAllString(m[1], -1) {
				documented[w] = true
			}
		}
		// The first column of the tables of keys holds keys only.
		if cells := strings.Split(l, "|"); len(cells) > 3 && !strings.Contains(cells[1], "mode") {
			for _, m := range codeSpan.FindAllStringSubmatch(cells[1], -1) {
				for _, w := range word.FindAllString(m[1], -1) {
					if !keys[w] && !modes(schema)[w] && w != "true" {
						t.Errorf("docs/guides/suites.md tells of the key %s, which the schema does not have", w)
					}
				}
			}
		}
	}
	var missing []string
	for k := range keys {
		if !documented[k] {
			missing = append(missing, k)
		}
	}
	slices.Sort(missing)
	if d := cmp.Diff([]string(nil), missing); d != "" {
		t.Errorf("keys of the schema that docs/guides/suites.md does not mention (-want +got):\n%s", d)
	}
}

// schemaKeys gathers the names of all properties.
func schemaKeys(v any, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		if p, ok := v["properties"].(map[string]any); ok {
			for k := range p {
				into[k] = true
			}
		}
		for _, x := range v {
			schemaKeys(x, into)
		}
	case []any:
		for _, x := range v {
			schemaKeys(x, into)
		}
	}
}

// modes are the values of the schema's enumeration of matching modes.
func modes(schema any) map[string]bool {
	out := map[string]bool{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				if s, ok := x.(string); ok {
					out[s] = true
				}
				walk(x)
			}
		}
	}
	defs, _ := schema.(map[string]any)["$defs"].(map[string]any)
	walk(defs["mode"])
	return out
}
