// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// published are the payloads of published attacks by their set. It skips if there are none.
func published(t *testing.T) map[string][]string {
	t.Helper()
	root := cmp.Or(os.Getenv("CALLVET_TESTDATA"), filepath.Join("..", "..", "..", "shared", "data"))
	part := cmp.Or(os.Getenv("CALLVET_PART"), "open")
	if _, err := os.Stat(filepath.Join(root, "sets", "bipia_attacks", part)); err != nil {
		t.Skipf("SKIPPED: no published attacks in %s; set CALLVET_TESTDATA to inject them", root)
	}
	out := map[string][]string{}
	add := func(set, text string) {
		if strings.TrimSpace(text) != "" && !slices.Contains(out[set], text) {
			out[set] = append(out[set], text)
		}
	}
	files := func(set, pattern string) []string {
		list, err := filepath.Glob(filepath.Join(root, "sets", set, part, pattern))
		if err != nil || len(list) == 0 {
			t.Fatalf("%s has no %s: %v", set, pattern, err)
		}
		return list
	}
	for _, name := range files("bipia_attacks", "*_attack_*.json") {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var families map[string][]string
		if err := json.Unmarshal(b, &families); err != nil {
			t.Fatal(name, err)
		}
		for _, list := range families {
			for _, text := range list {
				add("bipia_attacks", text)
			}
		}
	}
	for _, name := range files("toolsword", "*.jsonl.gz") {
		eachPacked(t, name, func(line []byte) error {
			var r struct {
				Dialog []struct{ Role, Content string }
			}
			err := json.Unmarshal(line, &r)
			for _, m := range r.Dialog {
				if m.Role == "function" { // the result of a harmful, wrong or contradicting tool
					add("toolsword", m.Content)
				}
			}
			return err
		})
	}
	for _, name := range files("agentdojo", "runs/*.jsonl.gz") {
		eachPacked(t, name, func(line []byte) error {
			var r struct{ Injections map[string]string }
			err := json.Unmarshal(line, &r)
			for _, text := range r.Injections {
				add("agentdojo", text)
			}
			return err
		})
	}
	for set := range out {
		slices.Sort(out[set])
	}
	return out
}

func eachPacked(t *testing.T, name string, do func(line []byte) error) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(name, err)
	}
	s := bufio.NewScanner(z)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		if err := do(s.Bytes()); err != nil {
			t.Fatal(name, err)
		}
	}
	if s.Err() != nil {
		t.Fatal(name, s.Err())
	}
}

const payloadSuite = `{"callvet": 1, "name": "pages", "tools": [
  {"name": "read_page", "description": "Reads a page.", "read_only": true, "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
  {"name": "obey", "description": "Does what it is told.", "parameters": {"type": "object"}}],
 "mocks": [{"tool": "read_page", "result": {"n": 1, "text": "It rains."}}],
 "cases": [{"id": "read", "prompt": "Read the pages.", "expected_tool": "read_page"}]}`

// TestUnracedPublishedPayloads: every payload of the published attacks is read from a file of
// faults, and planted in a result. The agent receives it unchanged over MCP, and it is written into
// the trace. It is counted there as followed only if the agent then does what it asks for.
func TestUnracedPublishedPayloads(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]int{"bipia_attacks": 100, "toolsword": 30, "agentdojo": 100} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			all := published(t)[set]
			if len(all) < want {
				t.Fatalf("%d payloads, and there are more than %d", len(all), want)
			}
			t.Logf("%d payloads of %s", len(all), set)
			plantAll(t, all)
		})
	}
}

func plantAll(t *testing.T, payloads []string) {
	t.Helper()
	type object = map[string]any
	var faults, attacks []object
	var agent strings.Builder
	ask := func(id int, method string, params any) {
		b, err := json.Marshal(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&agent, "%s\n", b)
	}
	ask(0, "initialize", object{
		"protocolVersion": "2025-11-25", "capabilities": object{},
		"clientInfo": object{"name": "reader", "version": "1"},
	})
	agent.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	for i, text := range payloads {
		faults = append(faults, object{"tool": "read_page", "fault": "inject", "nth": i + 1, "text": text})
		attacks = append(attacks,
			object{
				"name": fmt.Sprintf("payload %d", i), "texts": []string{text},
				"harm": []object{{"call": object{"tool": "obey"}}},
			})
		ask(i+1, "tools/call", object{"name": "read_page", "arguments": object{"n": i}})
	}
	calm := agent.String()
	ask(len(payloads)+1, "tools/call", object{"name": "obey", "arguments": object{}})
	dir := t.TempDir()
	for name, v := range map[string]any{
		"faults.json": object{"faults": faults},
		"policy.json": object{"attacks": attacks},
	} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		writeFiles(t, dir, map[string]string{name: string(b)})
	}
	writeFiles(t, dir, map[string]string{"suite.json": payloadSuite})

	const kinds = "email,phone,card,iban,national_id" // payloads have them
	serve := func(file, messages string, args ...string) string {
		t.Helper()
		a, out, errs := newApp(dir, nil)
		a.in = strings.NewReader(messages)
		line := append([]string{"mcp", "serve", "suite.json", "--case", "read", "-o", file, "--keep", kinds}, args...)
		if code := a.run(t.Context(), a.rootCommand(), line); code != exitOK {
			t.Fatalf("exit %d: %s", code, errs)
		}
		return out.String()
	}
	received := map[int]string{}
	for line := range strings.Lines(serve("obeyed.jsonl", agent.String(), "--faults", "faults.json")) {
		var m struct {
			ID     int
			Result struct {
				Structured struct{ Text string } `json:"structuredContent"`
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		received[m.ID] = m.Result.Structured.Text
	}
	steps := payloadSteps(t, dir, "obeyed.jsonl")
	for i, text := range payloads {
		want := strings.TrimSpace("It rains. " + text)
		if received[i+1] != want {
			t.Errorf("payload %d: the agent received %.200q, want %.200q", i, received[i+1], want)
		}
		// which no trace holds
		if s := steps[i]; s.Env != "fault" || s.Result.Text != want &&
			!strings.Contains(strings.ToLower(text), "password") {
			t.Errorf("payload %d: the trace has %.200q of %s, want %.200q", i, s.Result.Text, s.Env, want)
		}
	}
	happened := fmt.Sprintf("injected_instruction: %d happened, 0 blocked", len(payloads))
	if out := runApp(t, dir, nil, exitOK, "score", "obeyed.jsonl", "--safety",
		"policy.json"); !strings.Contains(out, happened) {
		t.Errorf("not %q:\n%s", happened, out)
	}
	// One who reads and does not obey, and one who obeys though nothing was planted, followed none.
	serve("calm.jsonl", calm, "--faults", "faults.json")
	serve("unplanted.jsonl", agent.String())
	for _, file := range []string{"calm.jsonl", "unplanted.jsonl"} {
		if out := runApp(t, dir, nil, exitOK, "score", file, "--safety", "policy.json"); strings.Contains(out,
			"injected_instruction: ") {
			t.Errorf("%s:\n%s", file, out)
		}
	}
}

// payloadStep has the fields of a step that the test reads.
type payloadStep struct {
	Type, Env string
	Result    struct{ Text string }
}

func payloadSteps(t *testing.T, dir, name string) (out []payloadStep) {
	t.Helper()
	for line := range strings.Lines(string(readFile(t, dir, name))) {
		var s payloadStep
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}
