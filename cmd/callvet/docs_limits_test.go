// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// limitRows are the rows of docs/reference/limits.md by how they begin, with the constants of the
// values in the column of limits, in that order. A constant is named by its room.
var limitRows = []struct {
	what      string
	constants []string
}{
	{"anything compressed with gzip", []string{"internal/doc.maxRatio", "internal/doc.freeBytes"}},
	{"zstd, xz, bzip2", nil},
	{"a suite, a folder's file", []string{"internal/suite.DefaultLimit"}},
	{
		"near-duplicates that `lint`",
		[]string{
			"internal/suite.alikeCases", "internal/suite.alikeRunes", "internal/suite.alikeSteps",
			"internal/suite.alikeNamed",
		},
	},
	{"a suite or any other file in YAML", []string{"internal/doc.MaxYAML", "internal/doc.maxMarks"}},
	{"aliases in YAML", []string{"internal/doc.maxExpanded"}},
	{"a suite, tools or gates in JSON", []string{"internal/doc.maxExpanded"}},
	{"any other JSON text", []string{"value.MaxValues", "value.manyValues", "value.valueBytes"}},
	{"a file of `--tools`", []string{"internal/suite.ToolFileLimit", "internal/suite.MaxFiles"}},
	{"a catalogue, examples for routes", []string{"retrieve.MaxCatalogueBytes"}},
	{"prices, targets, rules of safety", []string{"internal/app.MaxSettings"}},
	{"values of tokens", []string{"internal/app.MaxTokens"}},
	{"a gate file", []string{"internal/suite.MaxGatesBytes", "internal/suite.MaxGates"}},
	{"edits of texts", []string{"internal/suite.MaxEditsBytes", "internal/suite.MaxEdits"}},
	{
		"labels; a calibration",
		[]string{"internal/labels.maxFile", "internal/labels.maxLine", "internal/labels.MaxCalibrationBytes"},
	},
	{
		"what a judge is shown of one thing",
		[]string{"internal/judge.DefaultEvidence", "internal/judge.MinEvidence", "internal/judge.MaxEvidence"},
	},
	{"a judge's answer", []string{"internal/judge.maxAnswer", "internal/judge.maxObjects"}},
	{"one judging", []string{"internal/app/results.MaxQuestions"}},
	{"a space of parameters", []string{"internal/tune.MaxSpaceBytes", "internal/tune.MaxCombinations"}},
	{"a prompt that is kept", []string{"internal/app/tunes.MaxPromptBytes", "internal/tune.DefaultPromptLength"}},
	{
		"failed attempts in a question",
		[]string{
			"internal/tune.questionAttempts", "internal/tune.questionText", "internal/tune.evidenceCalls",
			"internal/tune.evidenceTurns",
		},
	},
	{"callvet's trace lines", []string{"internal/trace.maxLine", "internal/trace.maxValues"}},
	{
		"traces of other tools",
		[]string{
			"internal/trace/foreign.maxLine", "internal/trace/foreign.maxValues",
			"internal/trace/foreign.maxDocument", "internal/trace/foreign.MaxMessage",
		},
	},
	{"spans that make attempts only together", []string{"internal/trace/foreign.maxHeld"}},
	{"attempts of trace lines that are open", []string{"internal/trace.Window", "internal/trace.maxOpen"}},
	{"recorded answers", []string{
		"internal/provider/offline.maxRows", "internal/provider/offline.maxLine",
		"internal/provider/offline.maxUnpacked",
	}},
	{"recordings of tools", []string{"internal/world.MaxRecordings", "internal/world.MaxRecording"}},
	{"partial results of `score`", []string{"internal/app/traces.maxPartial"}},
	{
		"an answer over HTTP or from a process",
		[]string{
			"internal/provider.defaultMaxBody", "internal/provider/agent.DefaultMaxBytes",
			"internal/catalog.MaxAnswerBytes", "internal/provider.embedMaxBody",
		},
	},
	{"one answer", []string{"internal/run.maxAnswerCalls", "internal/run.maxAnswerValues"}},
	{
		"one attempt in a report",
		[]string{
			"internal/report.maxCalls", "internal/report.maxArguments", "internal/report.maxViolations",
			"internal/report.maxTurns",
		},
	},
	{
		"a page",
		[]string{"internal/report.maxHTMLBytes", "internal/report.maxHTMLFailures", "internal/report.maxHTMLPasses"},
	},
	{"a Markdown report", []string{"internal/report/plain.MaxMarkdown"}},
}

// alsoLimits are constants that a row of limits mentions in addition to the one that limitRows
// names.
var alsoLimits = map[string]string{
	"internal/suite/dialect.maxFile":      "internal/suite.DefaultLimit",
	"internal/provider/offline.maxScript": "internal/app.MaxSettings",
}

// written is a number of the column of limits; GB are of the memory of the process, which is
// no limit of a file.
var written = regexp.MustCompile(`(\d+(?:,\d{3})*)( KiB| MiB| GiB| GB)?`)

// TestDocsLimits: every number of docs/reference/limits.md equals its constant, in the unit of the
// page; -update writes them.
func TestDocsLimits(t *testing.T) {
	t.Parallel()
	const page = "docs/reference/limits.md"
	values := map[string]map[string]int64{}
	value := func(name string) int64 {
		room, short, _ := strings.Cut(name, ".")
		if values[room] == nil {
			values[room] = constants(t, room)
		}
		n, ok := values[room][short]
		if !ok {
			t.Fatalf("there is no constant %s", name)
		}
		return n
	}
	old, row := document(t, page), 0
	var b strings.Builder
	for l := range strings.Lines(old) {
		cells := strings.Split(l, "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "what" {
			b.WriteString(l)
			continue
		}
		if row >= len(limitRows) || !strings.HasPrefix(strings.TrimSpace(cells[1]), limitRows[row].what) {
			t.Fatalf("%s: row %d, %q, is not in the table of this test", page, row+1, cells[1])
		}
		names := limitRows[row].constants
		cells[2] = written.ReplaceAllStringFunc(cells[2], func(number string) string {
			m := written.FindStringSubmatch(number)
			if m[2] == " GB" {
				return number
			}
			if len(names) == 0 {
				t.Fatalf("%s: %q has a number without a constant: %s", page, limitRows[row].what, number)
			}
			n := value(names[0])
			names = names[1:]
			return limitText(n, m[2])
		})
		if len(names) > 0 {
			t.Errorf("%s: %q has no number for %v", page, limitRows[row].what, names)
		}
		row++
		b.WriteString(strings.Join(cells, "|"))
	}
	if row != len(limitRows) {
		t.Errorf("%s has %d rows, and the table here %d", page, row, len(limitRows))
	}
	if d := cmp.Diff(old, b.String()); d != "" {
		if !*update {
			t.Errorf("%s (-doc +constants); -update writes it:\n%s", page, d)
		} else if err := os.WriteFile(filepath.Join("..", "..", page), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for other, name := range alsoLimits {
		if value(other) != value(name) {
			t.Errorf("%s is %d and %s is %d, and %s names one of them", other, value(other), name, value(name), page)
		}
	}
}

// limitText writes a number in a unit, or in a smaller one where it is no multiple of that.
func limitText(n int64, unit string) string {
	shift := map[string]int{"": 0, " KiB": 10, " MiB": 20, " GiB": 30}[unit]
	for shift > 0 && n&(1<<shift-1) != 0 {
		shift -= 10
	}
	digits := strconv.FormatInt(n>>shift, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits + map[int]string{0: "", 10: " KiB", 20: " MiB", 30: " GiB"}[shift]
}

// constants are the whole numbers among the constants of a room, by name.
func constants(t *testing.T, room string) map[string]int64 {
	t.Helper()
	dir := filepath.Join("..", "..", filepath.FromSlash(room))
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
	}
	// What other rooms declare is not needed for numbers, and unknown: errors are expected.
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := conf.Check(room, fset, files, nil)
	out := map[string]int64{}
	for _, name := range pkg.Scope().Names() {
		c, ok := pkg.Scope().Lookup(name).(*types.Const)
		if !ok || c.Val().Kind() != constant.Int {
			continue
		}
		if n, exact := constant.Int64Val(c.Val()); exact {
			out[name] = n
		}
	}
	return out
}

// noImports finds no package.
type noImports struct{}

// Import implements types.Importer.
func (noImports) Import(string) (*types.Package, error) {
	return nil, errors.New("not needed")
}
