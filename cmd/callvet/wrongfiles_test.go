// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/sys"
)

// goNames are terms of Go that the author of a file does not use.
var goNames = regexp.MustCompile(
	`Go (struct|value|string|type|int)|(^|[^.\w])json: |map\[string\]|interface \{\}|\[\]interface|struct field|strconv\.|unmarshal|reflect\.|\bmain\.|callvet\.[A-Z]|yaml\.`)

const (
	rightTrace = `{"task_id":"t","call_id":"c","tool":"pay","args":{},"status":"ok"}` + "\n" +
		`{"type":"task","task_id":"t","pass":true,"judged":[{"judge":"jj","pass":true}]}` + "\n"
	wrongTrace = `{"task_id":"t","call_id":"c","tool":"pay","args":{},"status":"ok"}` + "\n" +
		`{"type":"task","task_id":"t","pass":true,"judged":[{"judge":{"name":"jj"},"pass":true}]}` + "\n"
	zstd       = "\x28\xb5\x2f\xfd\x00\x00\x00"
	rightSuite = "name: s\ntools:\n  - {name: pay, description: Pay a bill of a customer., parameters: {type: object, properties: {}}}\ncases:\n  - {id: a, prompt: pay, expected_tool: pay}\n"
)

// TestWrongFiles gives every command that reads a file one with a value of the wrong kind. The
// message names the file, and the key if there is one; never a type of Go.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string // FILE is the wrong one
		text string
		says string
	}{
		{"score FILE", wrongTrace, `"judged[0].judge" is an object, not a string`},
		{"score FILE --strict", wrongTrace, `"judged[0].judge" is an object, not a string`},
		{"gate FILE --gates gates.yaml", wrongTrace, `FILE:2: "judged[0].judge" is an object, not a string`},
		{"diff FILE right.jsonl", wrongTrace, `FILE:2: "judged[0].judge" is an object, not a string`},
		{"diff right.jsonl FILE --judge jj", wrongTrace, `FILE:2: "judged[0].judge" is an object, not a string`},
		{"label next FILE", wrongTrace, `FILE:2: "judged[0].judge" is an object, not a string`},
		{
			"calibrate labels.jsonl --judge jj --run FILE", wrongTrace,
			`FILE:2: "judged[0].judge" is an object, not a string`,
		},
		{"trace import FILE", wrongTrace, `FILE:2: "judged[0].judge" is an object, not a string`},
		{"trace check FILE", wrongTrace, `FILE:2: "judged[0].judge" is an object, not a string`},
		{
			"plan --metric cost_per_attempt --bound 1 --from FILE", wrongTrace,
			`FILE:2: "judged[0].judge" is an object, not a string`,
		},
		{
			"calibrate FILE --judge jj", `{"task_id":"t","pass":true,"judged":[{"judge":{"name":"jj"}}]}`,
			`FILE:1: "judged[0].judge" is an object, not a string`,
		},
		{
			"label next right.jsonl --labels FILE", `{"task_id":7,"pass":true}`,
			`FILE:1: "task_id" is a number, not a string`,
		},
		{"label import FILE", `[{"task_id":"t","pass":true}]`, "an array, not an object"},
		{
			"label import FILE", `{"task_id":"t","pass":true,"judged":{"judge":"jj"}}`,
			`FILE:1: "judged" is an object, not an array`,
		},
		{
			"label import FILE --from langsmith", `[{"run_id":{"a":1},"key":"k","score":1}]`,
			`"run_id" is an object, not a string`,
		},
		{
			"label import FILE --from label-studio", `[{"id":1,"data":{"task_id":5},"annotations":[]}]`,
			`"data.task_id" is a number, not a string`,
		},
		{"score right.jsonl --safety FILE", `{"tools":"pay"}`, `FILE:1:2: "tools" is a string, not an array`},
		{
			"score right.jsonl --calibration FILE", `{"format":"callvet.calibration","version":"1"}`,
			`"version" is a string, not a whole number`,
		},
		{"score right.jsonl --tools FILE", `[{"name":{"a":1}}]`, "FILE"},
		{"score right.jsonl --suite FILE", "name: [1]\ntools: 5\ncases: x\n", "FILE"},
		{"gate right.jsonl --gates FILE", "gates: {a: 1}\n", "FILE"},
		{"lint FILE", "name: s\ntools: [{name: {a: 1}}]\ncases: [{id: [1], prompt: 5}]\n", "FILE"},
		{"lint FILE --from bfcl", `{"id":"a","question":{"a":1},"function":5}`, "FILE"},
		{
			"run suite.yaml -m offline/lexical --targets FILE", "targets: [{target: [1]}]\n",
			`"targets[0].target" is an array, not a string`,
		},
		{
			"run suite.yaml -m offline/lexical --prices FILE", `{"prices":{"a":1}}`,
			`FILE:1:11: "prices" is an object, not an array`,
		},
		{
			"run suite.yaml -m script:FILE", "rules: [{case: a, calls: [{tool: {a: 1}}]}]\n",
			`"rules[0].calls[0].tool" is an object, not a string`,
		},
		{
			"run suite.yaml -m recorded:FILE",
			`{"case_id":"a","target":"m","outcome":"called","turns":[{"role":"assistant","calls":[{"tool":{"a":1}}]}]}`,
			`"turns[0].calls[0].tool" is an object, not a string`,
		},
		{"select suite.yaml --tools FILE", `{"tools":[{"name":5,"description":[1]}]}`, "FILE"},
		{
			"select suite.yaml --tools catalogue.json --weights FILE", `{"composite":{"route":"much"}}`,
			`FILE:1:23: "composite.route" is a string, not a number`,
		},
		{
			"select suite.yaml --tools catalogue.json --routes FILE", `{"rules":[{"route":1,"patterns":"x"}]}`,
			`FILE:1:20: "rules[0].route" is a number, not a string`,
		},
		{"tools lint FILE", `{"tools":{"a":1}}`, "FILE"},
		{"tools apply catalogue.json --edits FILE -o new.json", `{"edits":5}`, "FILE"},
		{"score FILE", zstd, "try: zstd -dc"},
		{"score right.jsonl --tools FILE", zstd, "try: zstd -dc"},
		{"lint FILE", zstd, "try: zstd -dc"},
		{"lint FILE", "\x1f\x8b\x08\x00", "compressed with gzip"},
		{"run suite.yaml -m recorded:FILE", zstd, "try: zstd -dc"},
		{"select suite.yaml --tools FILE", zstd, "try: zstd -dc"},
		{"gate right.jsonl --gates FILE", strings.Repeat("#", 1<<20+9), "more than 1 MiB"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			name := "wrong.json"
			if strings.Contains(c.text, ": ") && !strings.HasPrefix(c.text, "{") {
				name = "wrong.yaml"
			} else if strings.HasPrefix(c.text, `{"task_id`) {
				name = "wrong.jsonl"
			}
			for file, text := range map[string]string{
				name: c.text, "right.jsonl": rightTrace, "suite.yaml": rightSuite,
				"gates.yaml":     "gates: [pass_rate >= 0.9]\n",
				"labels.jsonl":   `{"task_id":"t","pass":true}` + "\n",
				"catalogue.json": `{"tools":[{"name":"pay","description":"Pay a bill of a customer."}]}`,
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out, errs bytes.Buffer
			a := &cli{
				out: &out, err: &errs, dir: dir, now: time.Now, process: sys.UnwatchedProcess(&out, &errs),
				getenv: func(k string) string {
					return map[string]string{"CALLVET_DB": filepath.Join(dir, "runs.db")}[k]
				},
			}
			code := a.run(t.Context(), a.rootCommand(), strings.Fields(strings.ReplaceAll(c.args, "FILE", name)))
			said := out.String() + errs.String()
			if says := strings.ReplaceAll(c.says, "FILE", name); !strings.Contains(said, says) {
				t.Errorf("exit %d, does not say %s:\n%s", code, says, said)
			}
			if m := goNames.FindString(said); m != "" {
				t.Errorf("says %q:\n%s", m, said)
			}
		})
	}
}
