// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/panel"
)

// metricEntry is a group of metrics that one comment in the source explains.
type metricEntry struct {
	names      []string
	definition string
	source     string
}

var (
	metricSource = regexp.MustCompile(`\s*Source[^:]*: (.*?)\.?$`)
	identifier   = regexp.MustCompile(`\b[A-Z][A-Za-z0-9]+\b`)
)

// metricEntries reads the metrics' names and comments out of the constants that
// stand in one block with the constant named.
func metricEntries(t *testing.T, dir, constant string) []metricEntry {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST &&
				slices.ContainsFunc(g.Specs,
					func(s ast.Spec) bool { return s.(*ast.ValueSpec).Names[0].Name == constant }) {
				return blockEntries(t, g)
			}
		}
	}
	t.Fatalf("%s has no constant %s", dir, constant)
	return nil
}

func blockEntries(t *testing.T, g *ast.GenDecl) []metricEntry {
	t.Helper()
	var out []metricEntry
	values := map[string]string{}
	for _, s := range g.Specs {
		v := s.(*ast.ValueSpec)
		name, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		values[v.Names[0].Name] = name
		if v.Doc != nil {
			text := strings.Join(strings.Fields(v.Doc.Text()), " ")
			e := metricEntry{}
			if m := metricSource.FindStringSubmatch(text); m != nil {
				e.source, text = m[1], strings.TrimSuffix(text, m[0])
			}
			e.definition = text
			out = append(out, e)
		}
		if len(out) == 0 {
			t.Fatalf("%s has no comment", name)
		}
		last := &out[len(out)-1]
		last.names = append(last.names, name)
	}
	for i := range out {
		out[i].definition = identifier.ReplaceAllStringFunc(out[i].definition, func(w string) string {
			if n, ok := values[w]; ok {
				return "`" + n + "`"
			}
			return w
		})
	}
	return out
}

// metricTable writes entries as a table.
func metricTable(b *strings.Builder, entries []metricEntry) {
	b.WriteString(
		"| metric | called in reports | range | best | counted over | definition, and what an empty case gives | source |\n|---|---|---|---|---|---|---|\n")
	for _, e := range entries {
		d := panel.Describe(e.names[0])
		var names, titles, bests []string
		for _, n := range e.names {
			m := panel.Describe(n)
			best := "high"
			if m.LowerIsBetter {
				best = "low"
			}
			show, title := "`"+n+"`", m.Title
			if n == panel.MetricPassAt || n == panel.MetricPassHat || strings.HasSuffix(n, "@") {
				show, title = "`"+n+"k`", n+"k"
			}
			names, titles = append(names, show), append(titles, title)
			if !slices.Contains(bests, best) || len(e.names) > 1 {
				bests = append(bests, best)
			}
		}
		if len(slices.Compact(slices.Clone(bests))) == 1 {
			bests = bests[:1]
		}
		span := "[0,1]"
		if d.Unit != panel.UnitRate {
			span = "≥ 0 " + string(d.Unit)
		}
		what := strings.TrimPrefix(e.definition, "`"+e.names[0]+"` is ")
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", strings.Join(names, "<br>"),
			strings.Join(titles, "<br>"), span, strings.Join(bests, "<br>"), d.Of, what, e.source)
	}
}

const metricsHead = `# Metrics

Generated from the comments in ` + "`score` and `panel`" + ` by ` + "`go test ./cmd/callvet -run TestDocsMetrics -update`" + `; a test compares the two.

Scores belong to one attempt and are in [0,1], or unscored with a reason. A report averages a score over the judged attempts that carry it; the number of those that do not is shown next to
it. Attempts that ended in an infrastructure error or did not run are in no mean. A metric that nothing carries is undefined (` + "`null` in JSON, – in tables" + `), never 0.

Every rate has a two-sided 95 % interval: exact binomial (Clopper and Pearson 1934) on the effective sample size, with all attempts at a case as one cluster (Korn and Graubard 1998), so that
repeats of a case do not pass for new evidence. The intervals of amounts and counts treat cases as clusters too (Cochran 1977), and those of quantiles count the values of a case as one. One case alone has no interval.

Mean amounts (cost, tokens) have a t interval that reaches farther on the side of a long tail (Johnson 1978): its upper end holds in 96 % of samples of 20 cases whose logarithms vary by 1, and in 93 % where they vary by 1.5. Where few cases are
much dearer than the rest, at least three of them are to be expected in a sample. An amount that is the same in every case has no interval, and a gate on it is inconclusive. Mean counts (calls by attempt) have the exact interval of Poisson events (Garwood 1936) on
the effective number of attempts; where fewer than five cases have an event, events are taken to come two at a time: after no event in 60 attempts, 0.12 by attempt is still possible. A gate on a count passes falsely in at most 4 % of samples unless events come three at a time or counts
vary more than threefold. How these were chosen, and what else was tried: [ADR 6](../design/adr/0006-intervals.md).

The metrics of calls, of runs and of trace files alike, are described in [traces.md](../guides/traces.md).

`

// TestDocsMetrics holds docs/reference/metrics.md against the source, and the metrics that
// the examples give against both.
func TestDocsMetrics(t *testing.T) {
	t.Parallel()
	scores, own := metricEntries(t, "score", "ToolSelection"), metricEntries(t, "panel", "MetricPass")
	decisions := metricEntries(t, "score", "Composite")
	var b strings.Builder
	b.WriteString(metricsHead + "## Scores of an attempt\n\n")
	metricTable(&b, scores)
	b.WriteString(
		"\n## Scores of a decision\n\nOf routers and retrievers ([catalogues.md](../guides/catalogues.md)).\n\n")
	metricTable(&b, decisions)
	b.WriteString("\n## Metrics of a target or slice\n\n")
	metricTable(&b, own)
	path := filepath.Join("..", "..", "docs", "reference", "metrics.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(document(t, "docs/reference/metrics.md"), b.String()); d != "" {
		t.Errorf("docs/reference/metrics.md is not what the source says (-doc +source); -update writes it:\n%s", d)
	}
	known := map[string]bool{}
	for _, e := range slices.Concat(scores, own) {
		for _, n := range e.names {
			known[n] = true
		}
	}
	for _, m := range regexp.MustCompile("`([a-z0-9_]+)`").FindAllStringSubmatch(document(t, "docs/guides/traces.md"),
		-1) {
		known[m[1]] = true // of calls, which runs have as well
		if name, ok := strings.CutSuffix(m[1], "_p50"); ok {
			known[name+"_p90"] = true
		}
	}
	seen := exampleMetrics(t)
	for n := range seen {
		if !known[n] {
			t.Errorf("the examples give the metric %s, which no constant tells of", n)
		}
	}
	if len(seen) < 25 {
		t.Errorf("the examples give only %d metrics", len(seen))
	}
}

// exampleMetrics runs the example suites and gathers the names of all metrics.
func exampleMetrics(t *testing.T) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	suites, err := filepath.Glob(filepath.Join("..", "..", "examples", "*.yaml"))
	if err != nil || len(suites) < 6 {
		t.Fatalf("%d examples, %v", len(suites), err)
	}
	for _, path := range suites {
		args := []string{"run", path, "--json", "-q", "--repeat", "2", "-m", "offline/lexical"}
		scripts, _ := filepath.Glob(filepath.Join("..", "..", "examples", "scripts",
			strings.TrimSuffix(filepath.Base(path), ".yaml")+"-*.yaml"))
		for _, s := range scripts {
			args = append(args, "-m", "script:"+s)
		}
		cmd := exec.Command("callvet", args...)
		cmd.Env = append(os.Environ(), "CALLVET_DB="+filepath.Join(t.TempDir(), "runs.db"))
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var doc struct {
			Panels panel.Panels
			Cells  []struct{ Scores []struct{ Name string } }
		}
		if err := json.Unmarshal(out, &doc); err != nil {
			t.Fatal(err)
		}
		for i := range doc.Panels.Targets {
			for _, m := range doc.Panels.Targets[i].Overall.Metrics {
				for _, prefix := range []string{panel.MetricPassAt, panel.MetricPassHat} {
					if strings.HasPrefix(m.Name, prefix) {
						m.Name = prefix
					}
				}
				seen[m.Name] = true
			}
		}
		for _, c := range doc.Cells {
			for _, s := range c.Scores {
				seen[s.Name] = true
			}
		}
	}
	return seen
}
