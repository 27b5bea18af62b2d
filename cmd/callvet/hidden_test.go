// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/report/plain"
)

// TestUnracedNothingHidden: a text with C1 controls, direction overrides and invisible
// characters, wherever it comes in, is shown in everything that callvet writes, and
// formats with escapes keep it.
func TestUnracedNothingHidden(t *testing.T) {
	t.Parallel()
	const evil = "x\u009b31m\u202eabc\u200b\x7f\ufeff\u2066y\U000e0041"
	dir := t.TempDir()
	lines := func(values ...any) string {
		var b bytes.Buffer
		e := json.NewEncoder(&b) // which escapes none of it
		for _, v := range values {
			if err := e.Encode(v); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	type object = map[string]any
	schema := object{
		"type": "object",
		"properties": object{
			"host":     object{"type": "string", "description": evil},
			"k" + evil: object{"type": "string"},
		},
	}
	tools := []any{
		object{"name": "ping", "description": "Ping " + evil, "parameters": schema},
		object{"name": "pong", "description": "Pong", "parameters": object{"type": "object"}},
	}
	writeFiles(t, dir, map[string]string{
		"suite.json": lines(object{
			"callvet": 1, "name": "s" + evil, "version": "1" + evil, "description": "d" + evil,
			"system_prompt": "two\nlines " + evil, "tools": tools,
			"cases": []any{
				object{
					"id": "c" + evil, "prompt": "do\n" + evil, "tags": []string{"t" + evil},
					"fields": object{"f" + evil: "v" + evil},
					"expect": object{"calls": []any{object{
						"tool": "ping",
						"args": object{"host": "a" + evil, "k" + evil: "z"},
					}}},
				},
				object{
					"id": "d" + evil, "prompt": "do " + evil,
					"expect": object{"calls": []any{object{"tool": "ping", "args": object{"host": "a" + evil}}}},
				},
			},
		}),
		"recorded.jsonl": lines(
			object{
				"case_id": "c" + evil, "text": "answer" + evil,
				"calls": []any{object{"name": "ping", "args": object{"host": "b" + evil}}},
			},
			object{
				"case_id": "d" + evil, "text": "answer" + evil,
				"calls": []any{object{"name": "pi" + evil, "args": object{"host": evil}}},
			}),
		"traces.jsonl": lines(
			object{
				"task_id": "t" + evil, "target": "g" + evil, "tool": "ping", "args": object{"host": evil},
				"status": "exec_error", "error": "e" + evil,
				"gold": object{"tool": "ping", "args": object{"host": "q" + evil}}, "tags": []string{"t" + evil},
				"fields": object{"f" + evil: "v" + evil},
			},
			object{
				"type": "task", "task_id": "t" + evil, "target": "g" + evil, "pass": false, "goal": "g" + evil,
				"final_answer": "f" + evil, "judged": []any{object{"judge": "j", "pass": true}},
			},
			object{
				"task_id": "u" + evil, "target": "g" + evil, "tool": "pi" + evil, "args": object{"host": evil},
				"status": "ok", "result": object{"r": evil},
				"gold": object{"tool": "ping", "args": object{"host": evil}},
			}),
		"bad.jsonl": "{\"task_id\":\"" + evil + "\n",
		"labels.jsonl": lines(object{
			"task_id": "t" + evil, "target": "g" + evil, "by": "me" + evil, "pass": true,
			"note": "n" + evil, "judged": []any{object{"judge": "j", "pass": true}},
		}),
		"tools.json": lines(
			object{"tools": []any{object{
				"name": "a" + evil, "description": "weather of " + evil,
				"keywords": []string{"k" + evil},
			}, object{"name": "b", "description": "weather of cities " + evil}}}),
	})
	given := map[string]bool{}
	for _, name := range []string{
		"suite.json", "recorded.jsonl", "traces.jsonl", "bad.jsonl", "labels.jsonl",
		"tools.json",
	} {
		given[name] = true
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range []string{
		"run suite.json -m recorded:recorded.jsonl -m offline/lexical --name r --no-lint -o r.html -o r.md -o r.xml -o r.csv -o r.json -o r.jsonl -o r.txt",
		"lint suite.json", "lint suite.json --json", "show r", "show r --json", "runs", "runs --json", "diff r r",
		"diff r r --json",
		"convert suite.json", "convert suite.json -o own.yaml", "convert suite.json -o own.json",
		"convert suite.json --to promptfoo", "convert suite.json --to toolsuite", "convert suite.json --to openai",
		"convert suite.json --to tasks",
		"score traces.jsonl --tools suite.json -o s.md -o s.html -o s.csv -o s.json -o s.txt",
		"score traces.jsonl --json", "score bad.jsonl",
		"trace import traces.jsonl", "trace import traces.jsonl -o i.jsonl", "trace import traces.jsonl --to otlp",
		"trace import traces.jsonl --to messages", "trace import bad.jsonl", "trace check traces.jsonl",
		"label next traces.jsonl --labels none.jsonl", "label export labels.jsonl",
		"label export labels.jsonl --to jsonl", "label import labels.jsonl --labels l2.jsonl", "label import bad.jsonl",
		"calibrate labels.jsonl --judge j -o c.json", "calibrate labels.jsonl --judge " + evil + " --json",
		"gates init g.yaml", "gate r --gates g.yaml -o v.md -o v.xml -o v.json",
		"gate traces.jsonl --gates g.yaml --json",
		"tools lint tools.json", "tools lint tools.json --json", "tools confusable tools.json",
		"select query weather --tools tools.json", "select query weather --tools tools.json --json",
		"diff traces.jsonl traces.jsonl", "diff traces.jsonl traces.jsonl --json", "show " + evil, "lint none" + evil,
		"run suite.json -m " + evil,
	} {
		cmd := exec.Command(self)
		cmd.Args = append([]string{"callvet", "--db", filepath.Join(dir, "runs.db")}, strings.Fields(line)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
		out, _ := cmd.CombinedOutput() // of either exit code
		if len(out) == 0 && !strings.Contains(line, " -o ") || bytes.Contains(out, []byte("has a bug")) {
			t.Errorf("callvet %q gave %q", line, out)
		}
		writeFiles(t, dir, map[string]string{"out" + string(rune('A'+i)): string(out)})
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if given[e.Name()] || strings.HasPrefix(e.Name(), "runs.db") {
			continue
		}
		text := readFile(t, dir, e.Name())
		if at := bytes.IndexFunc(text, plain.Hidden); at >= 0 || !utf8.Valid(text) {
			t.Errorf("%s has %+q", e.Name(), text[max(0, at-60):min(len(text), max(at, 0)+20)])
		}
	}
	for name, want := range map[string]string{"own.json": "do\n" + evil, "r.json": "c" + evil, "i.jsonl": "f" + evil} {
		quoted, _ := json.Marshal(want)
		if text := readFile(t, dir, name); !bytes.Contains(text, plain.Visible(quoted)) {
			t.Errorf("%s lacks %s", name, plain.Visible(quoted))
		}
	}
	body := func(name string) string { // without the warnings, which name the file
		out, _, _ := strings.Cut(runApp(t, dir, nil, exitOK, "convert", name, "--to", "toolsuite"), "warning: ")
		return out
	}
	if d := cmp.Diff(body("own.json"), body("own.yaml")); d != "" || !strings.Contains(body("own.yaml"), evil) {
		t.Errorf("YAML and JSON hold other texts: %s", d)
	}
}
