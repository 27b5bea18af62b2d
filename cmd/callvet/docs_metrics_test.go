// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
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

// metricEntries reads the metrics' names and comments from the constants in the block of the named
// constant.
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

// metricList writes entries as a list. "↓" marks a metric where less is better. A title other than
// the name, a unit other than a rate and a count over anything but attempts follow in brackets.
func metricList(b *strings.Builder, entries []metricEntry) {
	for _, e := range entries {
		var names, quoted, notes []string
		for _, n := range e.names {
			m := panel.Describe(n)
			show, title := n, m.Title
			if n == panel.MetricPassAt || n == panel.MetricPassHat || strings.HasSuffix(n, "@") {
				show, title = n+"k", n+"k"
			}
			quoted = append(quoted, "`"+n+"`")
			if title != strings.ReplaceAll(show, "_", " ") {
				notes = append(notes, "*"+title+"*")
			}
			if show = "`" + show + "`"; m.LowerIsBetter {
				show += " ↓"
			}
			names = append(names, show)
		}
		d := panel.Describe(e.names[0])
		if d.Unit != panel.UnitRate {
			notes = append(notes, string(d.Unit))
		}
		if d.Of != "attempts" {
			notes = append(notes, "of "+d.Of)
		}
		b.WriteString("- " + strings.Join(names, ", "))
		if len(notes) > 0 {
			b.WriteString(" (" + strings.Join(notes, ", ") + ")")
		}
		last := len(quoted) - 1
		what := e.definition
		for _, prefix := range []string{
			quoted[0] + " is ", quoted[0] + " is, ", quoted[0] + ", ", strings.Join(quoted[:last], ", ") + " and " + quoted[last] + " are ",
			strings.Join(quoted[:last], ", ") + " and " + quoted[last] + " ",
		} {
			what = strings.TrimPrefix(what, prefix)
		}
		b.WriteString(": " + what)
		if e.source != "" {
			b.WriteString(" Source: " + e.source + ".")
		}
		b.WriteString("\n")
	}
}

const metricsHead = `# Metrics

Look up what a metric counts, and what an empty case gives. ↓: lower is better. In brackets: the name
in reports, the unit (none: in [0,1]), and what it is counted over (none: attempts).

A score of an attempt is unscored where it does not apply; a report averages it over the judged
attempts that have it. Attempts that ended in an infrastructure error or did not run are in no mean. An undefined metric is ` + "`null` in JSON and – in tables" + `, never 0.

| of | 95 % interval, two-sided; a case with all its attempts is one cluster (Cochran 1977) |
|---|---|
| rates | exact binomial (Clopper and Pearson 1934) on the effective sample size (Korn and Graubard 1998) |
| mean amounts (cost, tokens) | t interval that reaches farther towards a long tail (Johnson 1978). Where few cases are much dearer than the rest, a sample needs at least three of them |
| mean counts (calls by attempt) | exact Poisson (Garwood 1936) on the effective number of attempts. After no event in 60 attempts, 0.12 by attempt is still possible |
| quantiles | the values of a case count as one |

One case alone has no interval. An amount that is equal in every case has none either, and a gate on
it is inconclusive. [ADR 6](../design/adr/0006-intervals.md) has the reasons. The metrics of calls,
in runs and trace files, are in [traces](../guides/traces.md#what-is-measured).

`

// TestDocsMetrics compares docs/reference/metrics.md with the source, and the metrics that the
// examples give against both.
func TestDocsMetrics(t *testing.T) {
	t.Parallel()
	scores, own := metricEntries(t, "score", "ToolSelection"), metricEntries(t, "panel", "MetricPass")
	decisions := metricEntries(t, "score", "Composite")
	var b strings.Builder
	b.WriteString(metricsHead + "## Scores of an attempt\n\n")
	metricList(&b, scores)
	b.WriteString(
		"\n## Scores of a decision\n\nOf routers and retrievers ([catalogues.md](../guides/catalogues.md)).\n\n")
	metricList(&b, decisions)
	b.WriteString("\n## Metrics of a target or slice\n\n")
	metricList(&b, own)
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
