// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// marked are command lines with the files of every kind that they read.
var marked = map[string][]string{
	"lint s.yaml":                   {"s.yaml"},
	"lint s.json":                   {"s.json"},
	"lint s.noname":                 {"s.noname"},
	"lint from.yaml":                {"from.yaml", "tools.json"},
	"lint folder-suite":             {"folder-suite/s.yaml"},
	"convert s.yaml --to toolsuite": {"s.yaml"},
	"convert s.json":                {"s.json"},
	"convert openai.jsonl":          {"openai.jsonl"},
	"convert toolsuite.json":        {"toolsuite.json"},
	"convert promptfoo.yaml":        {"promptfoo.yaml"},
	"convert tasks.json":            {"tasks.json"},
	"convert forge.json --seeds seeds.json --snapshots snapshots.json": {
		"forge.json",
		"seeds.json", "snapshots.json",
	},
	"run s.yaml -m script:script.yaml --no-cache --json": {"s.yaml", "script.yaml"},
	"run s.json -m recorded:recorded.jsonl --json": {
		"s.json",
		"recorded.jsonl",
	},
	"run s.json -m recorded:recorded.json --json":                          {"recorded.json"},
	"run s.json --targets targets.yaml --no-cache --json":                  {"targets.yaml"},
	"run s.json -m offline/lexical --prices prices.json --no-cache --json": {"prices.json"},
	"run bare.yaml --tools tools.json -m offline/lexical --no-cache --json": {
		"bare.yaml",
		"tools.json",
	},
	"score traces.jsonl --tools tools.json --safety safety.json --json": {
		"traces.jsonl",
		"tools.json", "safety.json",
	},
	"score traces.jsonl --tools folder --json":       {"folder/ping.v1.json"},
	"score traces.jsonl --suite s.yaml --json":       {"s.yaml"},
	"score traces.jsonl --calibration c.json --json": {"c.json"},
	"score traces.jsonl.gz --json":                   {"traces.jsonl.gz"},
	"score messages.jsonl --json":                    {"messages.jsonl"},
	"score spans.json --json":                        {"spans.json"},
	"trace import traces.jsonl":                      {"traces.jsonl"},
	"trace import spans.json":                        {"spans.json"},
	"trace import messages.jsonl":                    {"messages.jsonl"},
	"trace check check.jsonl":                        {"check.jsonl"},
	"diff traces.jsonl other.jsonl --json": {
		"traces.jsonl",
		"other.jsonl",
	},
	"gate traces.jsonl --gates gates.yaml": {
		"traces.jsonl",
		"gates.yaml",
	},
	"gate traces.jsonl --gates gates.json --baseline other.jsonl": {
		"gates.json",
		"other.jsonl",
	},
	"label export labels.jsonl":                         {"labels.jsonl"},
	"label import labels.csv --labels new.jsonl --by x": {"labels.csv"},
	"label import todo.jsonl --labels new.jsonl --by x": {"todo.jsonl"},
	"label next traces.jsonl --labels labels.jsonl --by y": {
		"traces.jsonl",
		"labels.jsonl",
	},
	"calibrate labels.jsonl --judge j --run traces.jsonl --json": {
		"labels.jsonl",
		"traces.jsonl",
	},
	"select questions.json --tools cat.json --json": {
		"questions.json",
		"cat.json",
	},
	"select query weather --tools cat.json --json":                                          {"cat.json"},
	"select query weather --tools cat.jsonl --json":                                         {"cat.jsonl"},
	"select query weather --tools cat.yaml --json":                                          {"cat.yaml"},
	"select query weather --tools cat.json --weights weights.json --json":                   {"weights.json"},
	"select query weather --tools cat.json --routes rules.json --json":                      {"rules.json"},
	"select query weather --tools cat.json --routes learned.json --json":                    {"learned.json"},
	"select query weather --tools cat.json --abstain 5% --abstain-on questions.json --json": {"questions.json"},
	"select routes learn examples.jsonl --test examples.json": {
		"examples.jsonl",
		"examples.json",
	},
	"select sweep questions.json --tools cat.json --json": {
		"questions.json",
		"cat.json",
	},
	"tools lint cat.json":       {"cat.json"},
	"tools confusable cat.json": {"cat.json"},
	"tools whatif cat.json --edits edits.yaml --suite questions.json": {
		"cat.json", "edits.yaml",
		"questions.json",
	},
}

// TestUnracedByteOrderMark: a file that begins with a byte order mark, as editors on Windows
// write it, is read as without it.
func TestUnracedByteOrderMark(t *testing.T) {
	t.Parallel()
	dir := markedFiles(t)
	run := func(line string) (int, string) {
		a, out, errs := newApp(dir, nil)
		_ = os.Remove(filepath.Join(dir, "new.jsonl"))
		a.dbPath = filepath.Join(t.TempDir(), "runs.db")
		code := a.run(t.Context(), a.rootCommand(), strings.Fields(line))
		if strings.HasPrefix(line, "run ") || strings.HasPrefix(line, "select questions") {
			stderr := errs.String()
			if code == exitOK {
				for _, p := range panelsOf(t, out.String()).Targets {
					stderr += fmt.Sprintln(p.Name, p.Overall.Verdicts)
				}
			}
			return code, stderr
		}
		return code, times.ReplaceAllString(out.String()+errs.String(), "")
	}
	for line, files := range marked {
		code, want := run(line)
		if code == exitError || code == exitUsage && !strings.HasPrefix(line, "trace check") {
			t.Errorf("%s: exit %d: %s", line, code, want)
			continue
		}
		for _, name := range files {
			plain := readFile(t, dir, name)
			rewrite := func(change func([]byte) []byte) (int, string) {
				text := plain
				if strings.HasSuffix(name, ".gz") {
					text = gunzip(t, text)
				}
				if text = change(text); strings.HasSuffix(name, ".gz") {
					text = gzipped(t, text)
				}
				writeFiles(t, dir, map[string]string{name: string(text)})
				defer writeFiles(t, dir, map[string]string{name: string(plain)})
				return run(line)
			}
			got, stderr := rewrite(func(b []byte) []byte { return append([]byte("\xef\xbb\xbf"), b...) })
			if d := cmp.Diff(want, stderr); d != "" || got != code {
				t.Errorf("%s with a mark in %s: exit %d, want %d: %s", line, name, got, code, d)
			}
		}
	}
}

// times are figures that no two runs have in common.
var times = regexp.MustCompile(`"[a-z_]*(ms|seconds)": ?[0-9.e-]+|[0-9.]+ m?s\b`)

func gzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gunzip(t *testing.T, b []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// markedFiles writes a file of every kind that callvet reads.
func markedFiles(t *testing.T) string {
	t.Helper()
	const tools = `[{"name":"ping","description":"Ping a host","parameters":{"type":"object","properties":{"host":{"type":"string"}},"required":["host"]}}]`
	const cases = `[{"id":"a","prompt":"ping the host x","expect":{"calls":[{"tool":"ping","args":{"host":"x"}}]}}]`
	const trace = `{"task_id":"a","tool":"ping","args":{"host":"x"},"status":"ok","result":{"ok":true},"gold":{"tool":"ping","args":{"host":"x"}}}
{"type":"task","task_id":"a","pass":true,"goal":"ping the host x","final_answer":"done","judged":[{"judge":"j","pass":true}]}
`
	const labels = `{"task_id":"a","by":"x","pass":true,"judged":[{"judge":"j","pass":true}]}` + "\n"
	const rules = `{"rules":[{"route":"action","patterns":["weather"]}]}`
	dir := t.TempDir()
	for _, sub := range []string{"folder", "folder-suite"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	examples := filepath.Join("..", "..", "examples", "select")
	catalogue := readFile(t, examples, "catalogue.json")
	suite := `{"callvet":1,"name":"s","tools":` + tools + `,"cases":` + cases + `}`
	gates := "gates:\n  - schema_valid >= 0.5\n"
	files := map[string]string{
		"s.json": suite, "s.noname": suite,
		"folder-suite/s.yaml": "callvet: 1\nname: s\ntools: " + tools + "\ncases: " + cases + "\n",
		"s.yaml":              "callvet: 1\nname: s\ntools: " + tools + "\ncases: " + cases + "\n",
		"bare.yaml":           "callvet: 1\nname: s\ncases: " + cases + "\n",
		"from.yaml":           "callvet: 1\nname: s\ntools_from: tools.json\ncases: " + cases + "\n",
		"tools.json":          tools,
		"folder/ping.v1.json": strings.Trim(tools, "[]"),
		"script.yaml":         "model: m\nrules:\n  - case: a\n    calls: [{tool: ping, args: {host: x}}]\n",
		"prices.json":         `{"prices": [{"provider": "openai", "model": "m", "effective": "2026-01-31", "input": 1, "output": 2}]}`,
		"recorded.jsonl":      `{"case_id":"a","calls":[{"name":"ping","args":{"host":"x"}}]}` + "\n",
		"recorded.json":       `[{"case_id":"a","calls":[{"name":"ping","args":{"host":"x"}}]}]`,
		"targets.yaml":        "targets:\n  - target: offline/lexical\n", "safety.json": `{}`, "traces.jsonl": trace,
		"other.jsonl": trace, "check.jsonl": trace,
		"gates.yaml": gates, "gates.json": `{"gates":["schema_valid >= 0.5"]}`, "labels.jsonl": labels,
		"todo.jsonl": labels, "labels.csv": "task_id,pass\na,true\n",
		"traces.jsonl.gz": string(gzipped(t, []byte(trace))),
		"questions.json":  string(readFile(t, examples, "suite.json")), "cat.json": string(catalogue),
		"cat.jsonl": `{"name":"smhi","description":"weather of cities"}` + "\n" +
			`{"name":"b","description":"trains"}` + "\n",
		"cat.yaml":   "tools:\n  - name: smhi\n    description: weather of cities\n  - name: b\n    description: trains\n",
		"rules.json": rules, "examples.jsonl": `{"query":"When do trains leave?","route":"action"}` + "\n" +
			`{"query":"Hello there","route":null}` + "\n" + `{"query":"What is a train?","route":"knowledge"}` + "\n",
		"examples.json": `[{"query":"Which trains are late?","route":"action"},{"query":"Good morning","route":null}]`,
		"weights.json":  `{"retrieval":{"vector":0.2}}`,
		"edits.yaml":    "edits:\n  - tool: smhi_prognos\n    status: accepted\n    description: Weather of the coming days.\n", "seeds.json": `{}`, "snapshots.json": `{}`,
	}
	writeFiles(t, dir, files)
	for name, line := range map[string]string{
		"openai.jsonl": "convert s.json --to openai", "toolsuite.json": "convert s.json --to toolsuite",
		"promptfoo.yaml": "convert s.json --to promptfoo", "tasks.json": "convert s.json --to tasks",
		"forge.json": "convert s.json --to forge", "spans.json": "trace import traces.jsonl --to otlp",
		"messages.jsonl": "trace import traces.jsonl --to messages",
		"learned.json":   "select routes learn examples.jsonl", "c.json": "calibrate labels.jsonl --judge j",
	} {
		a, _, errs := newApp(dir, nil)
		if code := a.run(t.Context(), a.rootCommand(), append(strings.Fields(line), "-o", name)); code != exitOK {
			t.Errorf("%s: exit %d: %s", line, code, errs)
		}
	}
	return dir
}
