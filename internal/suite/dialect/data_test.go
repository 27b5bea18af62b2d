// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/reference/formats.md")

// testdata is the directory of the shared test data, or a loud skip.
func testdata(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("CALLVET_TESTDATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("SKIPPED: no test data at %s (set CALLVET_TESTDATA)", dir)
	}
	return dir
}

type dataFile struct {
	family string
	path   string
	data   []byte
}

// dataFiles lists every file of the origins and of the interop formats.
func dataFiles(t testing.TB) []dataFile {
	t.Helper()
	data := testdata(t)
	var out []dataFile
	for _, root := range []string{filepath.Join(data, "origins"), filepath.Join(data, "..", "formats")} {
		err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			b, err := os.ReadFile(path)
			out = append(out, dataFile{familyOf(filepath.ToSlash(rel)), path, b})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// familyOf names the family of a file by the directory it is in.
func familyOf(rel string) string {
	names := map[string]string{
		"seed2": "Tool Selection Evaluation System", "seed3": "Tool Calling Evaluation",
		"seed4": "Eval Case Interfaces",
		"adk":   "Google ADK", "agentclash": "AgentClash", "agentevals": "agentevals",
		"anthropic": "Anthropic Messages",
		"atif":      "ATIF",
		"azure":     "Azure AI Evaluation conversations", "bfcl": "BFCL", "deepeval": "DeepEval",
		"docker-agent": "docker-agent", "evalview": "EvalView",
		"inspect": "Inspect", "jaeger": "Jaeger", "junit": "JUnit", "langfuse": "Langfuse", "langsmith": "LangSmith",
		"mcp": "MCP", "mcp-assert": "mcp-assert",
		"mcpchecker": "mcpchecker", "mlflow": "MLflow", "openai": "OpenAI", "openai-evals": "OpenAI Evals",
		"openinference": "OpenInference",
		"otel-genai":    "OpenTelemetry GenAI", "promptfoo": "promptfoo", "ragas": "Ragas", "sarif": "SARIF",
		"tau1": "tau-bench", "tau2": "tau2-bench",
		"tempo": "Grafana Tempo", "trpc-agent-go": "tRPC-Agent", "vertex": "Vertex AI", "waza": "Waza",
	}
	dir, _, found := strings.Cut(rel, "/")
	if n, ok := names[dir]; ok && found {
		return n
	}
	return "other files"
}

// bfclOutcome returns the outcome for the files that internal/suite/dialect and the recording
// reader take; their own tests check that they do.
func bfclOutcome(what string) (dialect, result, lost string) {
	switch what {
	case "a BFCL question file":
		return "bfcl", "loads, with the answers next to it or in it", ""
	case "a BFCL answer file":
		return "bfcl", "read with its questions", ""
	case "a BFCL multi-turn question file":
		return "bfcl", "refused: multi-turn cases need BFCL's simulated APIs", ""
	case "a file of recorded outputs":
		return "", "not a suite: evaluate it with `-m recorded:FILE`", ""
	}
	return "", "refused: is " + what, ""
}

// outcome is what happens to a file, in words for the table.
func outcome(f dataFile) (dialect, result, lost string) {
	dialect = Detect(f.data, f.path)
	if f.family == "BFCL" && dialect == "" {
		return bfclOutcome(strings.TrimPrefix(refusal(Refusal(f.data, f.path)), "refused: is "))
	}
	if dialect == "" {
		return "", refusal(Refusal(f.data, f.path)), ""
	}
	_, problems, err := Import(dialect, f.data, f.path, Options{})
	if err != nil {
		return dialect, refusal(err), ""
	}
	keys, errs := map[string]bool{}, map[string]bool{}
	for _, p := range problems {
		switch {
		case !p.Warning:
			errs[p.Code] = true
		case p.Code == "not-carried":
			keys["`"+p.Key+"`"] = true
		}
	}
	result = "loads"
	if len(errs) > 0 {
		result = "loads; errors named: " + strings.Join(slices.Sorted(maps.Keys(errs)), ", ")
	}
	return dialect, result, strings.Join(slices.Sorted(maps.Keys(keys)), ", ")
}

func refusal(err error) string {
	if err == nil {
		return "not refused"
	}
	var p callvet.Problem
	msg := err.Error()
	if errors.As(err, &p) {
		msg = p.Message
		if p.Code == "template" {
			msg = "template: placeholders are not filled in"
		}
	} else if _, after, ok := strings.Cut(msg, "invalid: "); ok {
		if i := strings.Index(after, " is "); i >= 0 {
			msg = after[i+1:]
		} else if i := strings.Index(after, " holds "); i >= 0 {
			msg = after[i+1:]
		}
	}
	return "refused: " + msg
}

// Every file of every family is either of a known dialect and loads, or is refused with a sentence
// about what it is; docs/reference/formats.md pins which.
func TestFamilies(t *testing.T) {
	t.Parallel()
	families := map[string]map[string]int{}
	for _, f := range dataFiles(t) {
		dialect, result, lost := outcome(f)
		if result == "not refused" || strings.Contains(result, "no suite format known") {
			t.Errorf("%s: %s", f.path, result)
		}
		if f.family == "other files" {
			continue
		}
		if dialect != "" {
			result = "`" + dialect + "` " + result
		}
		if lost != "" {
			result += " without " + lost
		}
		if families[f.family] == nil {
			families[f.family] = map[string]int{}
		}
		families[f.family][result]++
	}
	var lines []string
	for family, results := range families {
		var parts []string
		refused := false
		for _, result := range slices.Sorted(maps.Keys(results)) { // refusals are the last
			text := strings.TrimPrefix(result, "refused: is ")
			if text != result && !refused {
				refused, text = true, "refused: "+text
			}
			if n := results[result]; n > 1 {
				text = fmt.Sprintf("%s (%d files)", text, n)
			}
			parts = append(parts, text)
		}
		lines = append(lines, "- "+family+": "+strings.Join(parts, "; "))
	}
	sort.Slice(lines, func(i, j int) bool { return strings.ToLower(lines[i]) < strings.ToLower(lines[j]) })
	// The page above the mark is written by hand.
	path := filepath.Join("..", "..", "..", "docs", "reference", "formats.md")
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "<!-- families -->\n\n"
	above := strings.Index(string(want), mark)
	if above < 0 {
		t.Fatal("docs/reference/formats.md has no place for the families")
	}
	got := string(want[:above+len(mark)]) + strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/reference/formats.md differs; run with -update (-file +now):\n%s", diff)
	}
}

// Every file of the origins comes out as the document that went in, and a case
// edited in between is the only thing that changes.
func TestRoundTripOrigins(t *testing.T) {
	t.Parallel()
	n := 0
	for _, f := range dataFiles(t) {
		name := Detect(f.data, f.path)
		if name == "" || name == OpenAI || name == Promptfoo {
			continue
		}
		s, _, err := Import(name, f.data, f.path, Options{})
		if err != nil {
			continue // refused templates are pinned by TestFamilies
		}
		out, problems, err := Export(name, s)
		if err != nil {
			t.Errorf("%s: %v", f.path, err)
			continue
		}
		if diff := cmp.Diff(decode(t, f.data), decode(t, out)); diff != "" {
			t.Errorf("%s changed (-was +now):\n%s", f.path, diff)
		}
		if len(problems) > 0 {
			t.Errorf("%s: an unchanged suite loses %v", f.path, problems)
		}
		for i := range s.Cases {
			if c := &s.Cases[i]; c.Position.Line == 0 || !bytes.Contains(f.data, []byte{'\n'}) {
				t.Errorf("%s: case %s has no position", f.path, c.ID)
			}
		}
		last := &s.Cases[len(s.Cases)-1]
		last.Input[0].Content = "something else"
		if out, _, err = Export(name, s); err != nil {
			t.Errorf("%s: %v", f.path, err)
			continue
		}
		again, _, err := Import(name, out, f.path, Options{})
		if err != nil {
			t.Errorf("%s: %v", f.path, err)
			continue
		}
		ignore := cmp.FilterPath(func(p cmp.Path) bool {
			k := p.String()
			return strings.HasSuffix(k, "Position") || strings.HasSuffix(k, "Foreign")
		}, cmp.Ignore())
		if diff := cmp.Diff(compacted(s), compacted(again), ignore); diff != "" {
			t.Errorf("%s: the edited suite changed (-was +now):\n%s", f.path, diff)
		}
		n++
	}
	if n < 33 {
		t.Errorf("only %d files were checked", n)
	}
}
