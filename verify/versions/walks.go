// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package versions

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A walk is a list of command lines that run one after the other in a separate folder. {} in a
// command line is the walk's input.
type walk struct {
	name, input string
	lines       []string
}

// ofSuite are the command lines for a suite.
var ofSuite = []string{
	"lint {}", "lint {} --json",
	"convert {} -o own.yaml", "convert {} -o own.json",
	"convert {} --to toolsuite -o toolsuite.json", "convert {} --to promptfoo -o promptfoo.yaml",
	"convert {} --to openai -o openai.jsonl",
	"run {} -m offline/lexical -r 2 -c 1 --name first",
	"run {} -m offline/lexical -m offline/keyword -c 1 --name second --json",
	"runs", "runs --json", "show last", "show first", "show first --json", "show first --scores",
	"report first -o r.json -o r.md -o r.xml -o r.csv -o r.jsonl -o r.txt -o r.html",
	"score first", "score first --json", "gates init", "gate first", "gate first --gates gates.yaml",
	"gate first --gates gates.yaml --baseline second --json",
	"diff first second", "diff first second --json", "trace export first -o t.jsonl", "score t.jsonl",
	"score t.jsonl --suite {} --json",
	"trace check t.jsonl", "label next first --n 3 -o todo.jsonl", "plan --run first", "stale {}", "case coverage {}",
	"tools lint {}",
	"prompt tool-caller {}", "replay first",
}

// ofTraces are the command lines for a file that may contain traces.
var ofTraces = []string{
	"trace import {} -o t.jsonl", "score {}", "score {} --json", "score t.jsonl -o r.json -o r.md -o r.html -o r.xml",
	"trace check t.jsonl",
	"score t.jsonl --slice target --json", "gates init", "gate t.jsonl --gates gates.yaml",
	"diff t.jsonl t.jsonl --json", "label next t.jsonl --n 3 -o todo.jsonl",
	"lint {}",
}

// ofCatalogue are the command lines for a catalogue of tools.
var ofCatalogue = []string{
	"tools lint {}", "tools lint {} --json", "tools confusable {}", "tools show {}", "select query weather --tools {}",
	"select query weather --tools {} --json",
}

// walks lists the walks: over the shipped examples, and over the files of folders with data.
func walks(examples string, data []string) ([]walk, error) {
	all := []walk{
		{"program", "", []string{
			"--help", "version", "prices", "targets", "judge list", "schema",
			"drill -m offline/lexical -c 1", "init", "lint suite.yaml", "runs", "show last", "gate last",
		}},
		{"selection", filepath.Join(examples, "select"), []string{
			"select {}/suite.json --tools {}/catalogue.json --json", "select {}/suite.json --tools {}/catalogue.json",
			"select query trafikstörningar --tools {}/catalogue.json --json", "tools lint {}/catalogue.json",
			"tools confusable {}/catalogue.json",
		}},
		{"labelled", filepath.Join(examples, "labelled-set"), []string{
			"run {} -m script:{}/scripts/gold.yaml -c 1 --name gold --slice language,intent", "score gold --json",
			"report gold -o r.json",
		}},
	}
	for _, name := range []string{"suite", "gates", "report", "traces", "labels", "openapi"} {
		all[0].lines = append(all[0].lines, "schema "+name)
	}
	for _, dir := range append([]string{examples}, data...) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if info, err := d.Info(); err != nil || info.Size() > 2<<20 || !info.Mode().IsRegular() {
				return err
			}
			lines, err := linesFor(path)
			if len(lines) > 0 {
				all = append(all, walk{path, path, lines})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all[3:], func(a, b walk) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// linesFor chooses the command lines for a file by its beginning. A file that is neither a suite nor a
// catalogue is read as traces: a refusal is compared, too.
func linesFor(path string) ([]string, error) {
	switch filepath.Ext(path) {
	case ".json", ".jsonl", ".yaml", ".yml", ".ndjson":
	default:
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	head := string(text[:min(len(text), 64<<10)])
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(head, n) })
	}
	switch {
	case has("cases:", `"cases"`, `"test_cases"`, "tests:", `"expected_tool"`, `"goldens"`):
		return ofSuite, nil
	case has(`"tools"`, `"inputSchema"`, `"parameters"`) && !has(`"messages"`, `"spans"`, `"tool_calls"`):
		return slices.Concat(ofCatalogue, ofTraces), nil
	}
	return ofTraces, nil
}
