// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/sys"

	"github.com/spf13/cobra"
)

// TestToolsFolder gives a folder with one NAME.vN.json for each tool, two versions of one
// of them, to every command that has a flag --tools. A command that is not in the table
// fails.
func TestToolsFolder(t *testing.T) {
	t.Parallel()
	says := map[string][2]string{ // by command: its arguments, and what shows that the tools were read
		"callvet run":             {"suite.json -m offline/lexical", "2 tools"},
		"callvet lint":            {"suite.json", "1 case, no errors"},
		"callvet case add":        {"rg.json bug.json", "added and locked: rg-a-001"},
		"callvet case from-trace": {"asked.jsonl t1 --tier golden --expect get_refund", "locked: gs-get-refund-001"},
		"callvet case new":        {"--tier golden --prompt refund? --expect get_refund", "locked: gs-get-refund-001"},
		"callvet case coverage":   {"suite.json", "1 case over 2 tools"},
		"callvet case lock":       {"bug.json", "locked 1 case of 1"},
		"callvet convert":         {"suite.json", "version: v10"},
		"callvet drill":           {"drills.json -m offline/lexical", "no incident in 1 case"},
		"callvet label apply": {
			"gold.yaml asked.jsonl -o labelled.jsonl --suite gold-suite.yaml",
			"labelled.jsonl",
		},
		"callvet select":           {"suite.json", "2 tools"},
		"callvet select decisions": {"production.jsonl", "1 decision of production"},
		"callvet select query":     {"refund", "get_refund"},
		"callvet select sweep":     {"suite.json", "all          2 "},
		"callvet select tune":      {"suite.json -o w.json", "different sets of right tools"},
		"callvet score":            {"traces.jsonl", "schema validity       50.0 %"},
		"callvet gate":             {"traces.jsonl --gates gates.yaml", "schema_valid 0.50"},
		"callvet tune params": {
			"suite.json -m script:judge.yaml --preset temperature --dry-run", "older version of tools left out",
		},
		"callvet tune prompt": {
			"suite.json -m script:judge.yaml --meta script:judge.yaml --dry-run", "older version of tools left out",
		},
		"callvet stale":     {"bug.json", "not recorded: how the cases were made"},
		"callvet mcp serve": {"suite.json", "0 conversations, 0 calls"},
	}
	found := 0
	var walk func(*cobra.Command)
	says["callvet label next"] = [2]string{"asked.jsonl --unit call --by ana", "The refund policy of a country."}
	says["callvet judge run"] = [2]string{"traces.jsonl --judge necessity -m script:judge.yaml", "2 of 2 pass"}
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.Flags().Lookup("tools") == nil || c.RunE == nil {
			return
		}
		found++
		name := c.CommandPath()
		want, ok := says[name]
		if !ok {
			t.Errorf("%s has --tools and is not tried", name)
			return
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range map[string]string{
				"tools/get_refund.v9.json":  `{"name":"get_refund","description":"The refund policy as it was.","args":{"type":"object","properties":{}}}`,
				"tools/get_refund.v10.json": `{"name":"get_refund","description":"The refund policy of a country.","args":{"type":"object","properties":{"country":{"type":"string"}},"required":["country"]}}`,
				"tools/read_order.v1.yaml":  "name: read_order\ndescription: Where an order is.\nargs: {type: object, properties: {}}\n",
				"tools/NOTES.md":            "not a tool",
				"suite.json":                `{"cases":[{"id":"a","prompt":"What is the refund policy in Sweden?","expected_tool":"get_refund"}]}`,
				"bug.json":                  `[{"id":"rg-a-001","description":"d","difficulty":"regression","createdAt":"2026-03-01","bugRef":"#1","input":{"message":"m"},"expect":{"toolsCalled":["get_refund"]}}]`,
				"judge.yaml":                "rules:\n  - contains: Where an order is.\n    text: '{\"needed\": true, \"best_tool\": \"get_refund\", \"rationale\": \"-\"}'\n",
				"drills.json":               `{"cases":[{"id":"a","prompt":"What is the refund policy in Sweden?","expected_tool":"get_refund","safety":{}}]}`,
				"gold.yaml":                 "callvet_gold: 1\ntasks:\n  - task: t1\n    turns:\n      - needed: true\n        calls: [{tool: get_refund, args: {country: SE}, check: none}]\n      - {needed: false, calls: []}\n",
				"asked.jsonl": `{"type":"task","task_id":"t1","goal":"What is the refund policy in Sweden?"}` + "\n" +
					`{"task_id":"t1","tool":"get_refund@v10","args":{"country":"SE"},"status":"ok"}` + "\n",
				"production.jsonl": `{"query": "refund", "tools": ["get_refund"]}` + "\n",
				"gates.yaml":       "gates: [schema_valid >= 0.4]\n",
				"traces.jsonl": `{"task_id":"t1","tool":"get_refund@v10","args":{"country":"SE"},"status":"ok"}` +
					"\n" +
					`{"task_id":"t2","tool":"get_refund@v10","args":{},"status":"ok"}` + "\n",
			} {
				path := filepath.Join(dir, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out, errs bytes.Buffer
			a := &cli{
				in: strings.NewReader(""), out: &out, err: &errs, dir: dir, now: time.Now,
				process: sys.UnwatchedProcess(&out, &errs), getenv: func(k string) string {
					return map[string]string{"CALLVET_DB": filepath.Join(dir, "runs.db")}[k]
				},
			}
			args := append(strings.Fields(strings.TrimPrefix(name, "callvet ")+" "+want[0]), "--tools", "tools")
			a.run(t.Context(), a.rootCommand(), args)
			said := out.String() + errs.String()
			if !strings.Contains(said, want[1]) || strings.Contains(said, "is a directory") {
				t.Errorf("%s does not say %q:\n%s", strings.Join(args, " "), want[1], said)
			}
		})
	}
	walk(new(cli).rootCommand())
	if found != len(says) {
		t.Errorf("%d commands have --tools, and %d are in the table", found, len(says))
	}
}
