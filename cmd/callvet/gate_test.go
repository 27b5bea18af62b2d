// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/sys"
)

// TestGateTrueSuccess: a gate on true success passes behind a good judge and is
// inconclusive, in words, behind one that guesses, one of another version, and
// without a calibration.
func TestGateTrueSuccess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, n int, line func(i int) string) {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i) + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	label := func(says func(i int) bool) func(i int) string {
		return func(i int) string {
			return fmt.Sprintf(
				`{"task_id":"l%d","by":"ana","pass":%v,"stratum":"random","judged":[{"judge":"j","model":"one","pass":%v}]}`, i, i%2 == 0, says(i))
		}
	}
	write("good.labels", 400, label(func(i int) bool { return i%2 == 0 && i%100 != 0 || i%40 == 1 }))
	write("guess.labels", 400, label(func(i int) bool { return i/2%2 == 0 }))
	for _, model := range []string{"one", "two"} {
		write(model+".jsonl", 400, func(i int) string {
			return fmt.Sprintf(`{"type":"task","task_id":"t%d","judged":[{"judge":"j","model":"%s","pass":%v}]}`, i,
				model, i%20 != 0)
		})
	}
	write("gates.yaml", 1, func(int) string { return "- true_success >= 0.85" })
	run := func(args ...string) (int, string) {
		var out bytes.Buffer
		a := &cli{
			in: strings.NewReader(""), out: &out, err: &out, dir: dir, getenv: func(string) string { return "" },
			now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		}
		return a.run(context.Background(), a.rootCommand(), args), out.String()
	}
	for _, name := range []string{"good", "guess"} {
		if code, text := run("calibrate", name+".labels", "--judge", "j", "-o", name+".json"); code != 0 {
			t.Fatal(code, text)
		}
	}
	for _, tc := range []struct {
		traces, calibration string
		code                int
		says                string
	}{
		{"one.jsonl", "good.json", 0, "passed: 1 of 1 check passed"},
		{"one.jsonl", "guess.json", 4, "the judge is no better than chance"},
		{"two.jsonl", "good.json", 4, "it was made for j@"},
		{"one.jsonl", "", 4, "or verdicts of a judge and a calibration of that judge"},
	} {
		args := []string{"gate", tc.traces, "--gates", "gates.yaml"}
		if tc.calibration != "" {
			args = append(args, "--calibration", tc.calibration)
		}
		if code, text := run(args...); code != tc.code || !strings.Contains(text, tc.says) {
			t.Errorf("%s with %q: exit %d, want %d and %q in\n%s", tc.traces, tc.calibration, code, tc.code,
				tc.says, text)
		}
	}
}

// TestUnracedGateTemplates: 600 perfect tasks pass the gate file that "gates init" writes, as a run
// and as a trace file, without a judge; a bad set fails it. The whole table passes if everything
// that it needs is there, and otherwise names what is missing. A baseline that was given is read,
// whether or not a gate is about it.
func TestUnracedGateTemplates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const contract = `"parameters":{"type":"object","additionalProperties":false,"properties":{"city":{"type":"string"}},"required":["city"]}`
	write("tools.json", `[{"name":"get_weather","description":"w","safety":{"pii_allowed":false},`+contract+`}]`)
	var suite, labels strings.Builder
	suite.WriteString(`{"callvet":1,"name":"s","tools":[{"name":"get_weather","description":"w",` + contract +
		`}],"cases":[`)
	rows, traces := map[string]*strings.Builder{"good": {}, "bad": {}},
		map[string]*strings.Builder{"good": {}, "bad": {}}
	for i := range 600 {
		language, silent := []string{"pt-BR", "es-AR"}[i%2], i%6 == 0
		expect, gold := fmt.Sprintf(`"expected_tool":"get_weather","expected_params":{"city":"c%d"}`, i),
			fmt.Sprintf(`{"needed":true,"tool":"get_weather","args":{"city":"c%d"}}`, i)
		if silent {
			expect, gold = `"should_call_tool":false`, `{"needed":false}`
		}
		fmt.Fprintf(&suite, `%s{"id":"t%d","prompt":"weather in c%d?",%s}`, strings.Repeat(",", min(i, 1)),
			i, i, expect)
		for name, b := range rows {
			city, wrong := fmt.Sprintf("c%d", i), name == "bad" && i%3 == 0
			if wrong {
				city = "Rome"
			}
			called := !silent || wrong
			row, call := `"text":"hello"`, ""
			if called {
				row = fmt.Sprintf(`"calls":[{"name":"get_weather","arguments":{"city":"%s"}}]`, city)
				call = fmt.Sprintf(
					`{"task_id":"t%d","call_id":"k%d","tool":"get_weather","args":{"city":"%s"},"status":"ok","latency_ms":{"exec":%d},"gold":%s}`+"\n", i, i, city, 100+i%50, gold)
			}
			fmt.Fprintf(b, `{"case_id":"t%d",%s}`+"\n", i, row)
			fmt.Fprintf(traces[name],
				`%s{"type":"task","task_id":"t%d","fields":{"language":"%s"},"judged":[{"judge":"j","model":"m","pass":%v}]}`+"\n", call, i, language, !wrong)
		}
		if i%3 == 0 {
			fmt.Fprintf(&labels,
				`{"task_id":"l%d","by":"ana","pass":%v,"stratum":"random","judged":[{"judge":"j","model":"m","pass":%v}]}`+"\n", i, i%2 == 0, i%2 == 0)
		}
	}
	write("suite.json", suite.String()+"]}")
	write("labels.jsonl", labels.String())
	for name := range rows {
		write(name+".rows.jsonl", rows[name].String())
		write(name+".jsonl", traces[name].String())
	}
	write("pass.yaml", "- pass_rate >= 0.9\n- tool_latency_p90 <= 1s\n")
	run := func(args ...string) (int, string) {
		var out bytes.Buffer
		a := &cli{
			in: strings.NewReader(""), out: &out, err: &out, dir: dir, process: sys.UnwatchedProcess(&out, &out),
			getenv: func(k string) string { return map[string]string{"CALLVET_DB": filepath.Join(dir, "x.db")}[k] },
			now:    func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		}
		code := a.run(context.Background(), a.rootCommand(), args)
		return code, out.String()
	}
	for _, tc := range []struct {
		args string
		code int
		says string
	}{
		{"gates init", 0, "wrote gates.yaml"},
		{"gates init table.yaml --template regression", 0, "wrote table.yaml"},
		{"gates init other.yaml --template nothing", 2, "basic or regression"},
		{"calibrate labels.jsonl --judge j -o judge.json", 0, ""},
		{"run suite.json -m recorded:good.rows.jsonl -q --name good", 0, ""},
		{"run suite.json -m recorded:bad.rows.jsonl -q --name bad", 0, ""},
		{"gate good --gates gates.yaml", 0, "passed: 3 of 3 checks passed"},
		{"gate bad --gates gates.yaml", 3, "arg_em 0.80"},
		{"gate good.jsonl --tools tools.json --gates gates.yaml", 0, "passed: 3 of 3 checks passed"},
		{"gate bad.jsonl --tools tools.json --gates gates.yaml", 3, "arg_em 0.80"},
		{"gate good.jsonl --tools tools.json --gates table.yaml", 4, "true_success: nothing here measures it"},
		{
			"gate good.jsonl --tools tools.json --gates table.yaml --calibration judge.json", 0,
			"passed: 9 of 9 checks passed",
		},
		{"gate bad.jsonl --tools tools.json --gates table.yaml --calibration judge.json", 3, "true_success"},
		{"gate bad --gates gates.yaml --baseline good", 3, "baseline: arg_em changed by -0.20"},
		{
			"gate bad.jsonl --tools tools.json --gates gates.yaml --baseline good.jsonl", 3,
			"baseline: arg_em changed by -0.20",
		},
		{"gate good --gates pass.yaml --baseline bad", 4, "baseline: pass_rate changed by +0.33"},
		{"gate bad --gates gates.yaml --baseline good.jsonl", 3, "baseline: arg_em changed by -0.20"},
		{"trace export good -o exported.jsonl", 0, ""},
		{"report bad --baseline exported.jsonl -o diff.txt", 0, ""},
		{"report bad --baseline none -o diff.txt", 2, "not found"},
		{"gate good --gates gates.yaml --baseline none", 2, "not found"},
		{"gate good.jsonl --gates gates.yaml --tools tools.json --baseline none.jsonl", 2, "none.jsonl"},
	} {
		code, text := run(strings.Fields(tc.args)...)
		if flat := strings.Join(strings.Fields(text), " "); code != tc.code || !strings.Contains(flat, tc.says) {
			t.Errorf("%s: exit code %d, want %d; should say %q:\n%.3000s", tc.args, code, tc.code, tc.says, text)
		}
	}
}

// TestGatesHideSecrets: a gate decides on a slice with a key as its value, and prints it nowhere.
func TestGatesHideSecrets(t *testing.T) {
	t.Parallel()
	dir, key := t.TempDir(), "sk-ant-api03-"+strings.Repeat("Zx81kQp02LmVt7RbYc45", 4)
	var lines strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, `{"type":"task","task_id":"t%d","pass":false,"fields":{"language":%q}}`+"\n", i, key)
	}
	writeFiles(t, dir, map[string]string{
		"t.jsonl": lines.String(),
		"g.yaml":  `[{metric: pass_rate, at_least: 0.9, slice: "language=*"}]`,
	})
	said := runApp(t, dir, nil, exitGateFailed, "gate", "t.jsonl", "--gates", "g.yaml", "-o", "g.json", "-o", "g.md",
		"-o", "g.xml")
	for name, text := range map[string]string{
		"the terminal": said, "JSON": string(readFile(t, dir, "g.json")),
		"Markdown": string(readFile(t, dir, "g.md")), "JUnit": string(readFile(t, dir, "g.xml")),
	} {
		if strings.Contains(text, key[:20]) || !strings.Contains(text, "REDACTED") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestGateOverCallsByTask: a gate on over_call_rate counts calls and tasks where tasks with more
// unneeded calls make more calls, of trace files, and of a baseline that makes no call.
func TestGateOverCallsByTask(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, task func(b *strings.Builder, i int)) {
		var b strings.Builder
		for i := range 120 {
			task(&b, i)
			fmt.Fprintf(&b, "{\"type\":\"task\",\"task_id\":\"t%d\",\"pass\":true,\"gold\":{\"steps\":[]}}\n", i)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	calls := func(b *strings.Builder, i, n, unneeded int) {
		for k := range n {
			fmt.Fprintf(b,
				"{\"task_id\":\"t%d\",\"call_id\":\"c%d\",\"tool\":\"pay\",\"args\":{\"a\":%d},\"status\":\"ok\",\"gold\":{\"needed\":%v}}\n", i, k, k, k < n-unneeded)
		}
	}
	write("more.jsonl", func(b *strings.Builder, i int) { // every third task: 7 calls, one of them unneeded
		if i%3 == 0 {
			calls(b, i, 7, 1)
		} else {
			calls(b, i, 1, 0)
		}
	})
	write("even.jsonl", func(b *strings.Builder, i int) { calls(b, i, 3, max(0, 1-i%3)) })
	write("none.jsonl", func(*strings.Builder, int) {})
	silent := strings.ReplaceAll(string(readFile(t, dir, "none.jsonl")), `,"gold":{"steps":[]}`, "")
	for name, text := range map[string]string{
		"silent.jsonl": silent, "bound.yaml": "- over_call_rate <= 0.2",
		"base.yaml": "- {metric: over_call_rate, baseline: {margin: 0.05}}",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		args []string
		code int
		says string
	}{
		{
			[]string{"more.jsonl", "--gates", "bound.yaml"},
			3,
			"over_call_rate 0.11 [0.08, 0.15], by 360 calls of 120 tasks",
		},
		{
			[]string{"more.jsonl", "--gates", "bound.yaml"},
			3,
			"; over_call_rate_by_task 0.33 [0.25, 0.43], by 120 tasks: the lower end 0.25 is above the bound 0.20: failed",
		},
		{[]string{"even.jsonl", "--gates", "bound.yaml"}, 0, "the upper end 0.15 is not above the bound 0.20: passed"},
		{
			[]string{"more.jsonl", "--gates", "base.yaml", "--baseline", "none.jsonl"},
			3,
			"it has no rate; over_call_rate_by_task changed by +0.33 ",
		},
		{
			[]string{"more.jsonl", "--gates", "base.yaml", "--baseline", "silent.jsonl"},
			4,
			"it has no rate: inconclusive",
		},
	} {
		if out := runApp(t, dir, nil, tc.code,
			append([]string{"gate"}, tc.args...)...); !strings.Contains(out, tc.says) {
			t.Errorf("%v: %q is not in\n%s", tc.args, tc.says, out)
		}
	}
}
