// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/callvet/callvet/panel"
)

// richTraces has at least one line for every metric of trace files.
func richTraces() string {
	var b strings.Builder
	for i := range 40 {
		for attempt := range 2 {
			fmt.Fprintf(&b,
				`{"task_id":"t%d","attempt":%d,"turn_id":1,"call_id":"c%d-%d","tool":"pay@v1","args":{"to":"a","n":%d},"args_raw":"{\"to\":\"a\",\"n\":%d}","accept_time_ms":5,`+
					`"result":{"ok":true},"status":"ok","latency_ms":{"queue":1,"exec":%d},"gold":{"needed":true,"tool":"pay","args":{"to":"a","n":1},"result":{"ok":true},"result_check":"ok == true"}}`+"\n", i, attempt, i, attempt, i%2, i%2, i)
			fmt.Fprintf(&b,
				`{"type":"task","task_id":"t%d","attempt":%d,"pass":%v,"judged":[{"judge":"j","pass":true}],"usage":{"input_tokens":5,"output_tokens":2},"cost_usd":0.01,"wall_ms":%d,`+
					`"gold":{"steps":[{"tool":"pay"},{"tool":"book"}]},"safety":[{"rule":"pii","blocked":%v}]}`+"\n", i,
				attempt, i%3 > 0, 10+i, i > 1)
		}
	}
	return b.String()
}

// TestDocsTraceMetrics compares the table of docs/guides/traces.md with the output of score.
func TestDocsTraceMetrics(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"t.jsonl": richTraces(),
		"tools.json": `[{"name":"pay","version":"v1","safety":{"domains":["shop.example"]},"latency_budget":{"p50":10,"p90":30},
			"parameters":{"type":"object","properties":{"to":{"type":"string"},"n":{"type":"integer"}}}}]`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	a := &cli{out: &out, err: &errs, dir: dir, getenv: func(string) string { return "" }}
	if code := a.run(t.Context(), a.rootCommand(),
		[]string{"score", "t.jsonl", "--tools", "tools.json", "--json"}); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	var p panel.Panels
	if err := json.Unmarshal(out.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	prefix := ""
	for _, line := range strings.Split(document(t, "docs/guides/traces.md"), "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cell, _, _ := strings.Cut(line[2:], " | ")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
			name := m[1]
			if strings.HasPrefix(name, "_") { // "tool_latency_p50", "_p90"
				name = strings.TrimSuffix(prefix, "_p50") + name
			}
			prefix, documented[name] = name, true
		}
	}
	kinds := regexp.MustCompile(`^(pass[@^])\d+$`)
	given := map[string]bool{"true_success": true} // needs a calibration
	for _, of := range []string{
		panel.MetricJudgedCalls, panel.MetricJudgedTurns, panel.MetricTrueCalls,
		panel.MetricTrueTurns,
	} {
		given[of+"NAME"] = true // need labels; the script step_judges.txtar has them
	}
	for _, m := range p.Targets[0].Overall.Metrics {
		name := kinds.ReplaceAllString(m.Name, "${1}k")
		name, _, _ = strings.Cut(name, ":")
		given[name] = true
		if !documented[name] {
			t.Errorf("docs/guides/traces.md does not mention %s", m.Name)
		}
	}
	for name := range documented {
		if !given[name] {
			t.Errorf("docs/guides/traces.md tells of %s, which score did not give", name)
		}
	}
}
