// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// TestUnracedAgentSettings: every setting of --agent in the help is accepted, and changes the
// request or the reading of the answer as described.
func TestUnracedAgentSettings(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		asked = string(b)
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w,
			`{"zz": {"said": "gone", "did": [{"fn": "ping", "with": {"host": "a"}, "gave": 7, "bad": "down"}]}, "tools": ["a"]}`)
	}))
	defer server.Close()
	dir := t.TempDir()
	suite := filepath.Join(dir, "s.yaml")
	if err := os.WriteFile(suite, []byte(`callvet: 1
name: s
version: "1"
system_prompt: Be kind.
tools: [{name: ping, description: d, parameters: {type: object, properties: {host: {type: string}}}}]
cases:
  - {id: c, prompt: Hello, mocks: [{tool: ping, result: {ok: true}}], expect: {calls: [{tool: ping, args: {host: a}}]}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	answer := []string{"--agent", "calls=zz.did", "--agent", "name=fn", "--agent", "args=with"}
	wants := map[string]struct{ value, sent, shown string }{
		"preset":  {"ag-ui", `"threadId":`, ""},
		"body":    {`{"model":"m"}`, `"model":"m"`, ""},
		"input":   {"a.0.b", `{"a":[{"b":"Hello"}]}`, ""},
		"session": {"sess", `"sess":"callvet-`, ""},
		"history": {"past", `"past":[{"role":"user"`, ""},
		"system":  {"sys", `"sys":"Be kind."`, ""},
		"tools":   {"t", `"t":[{"type":"function"`, ""},
		"stubs":   {"st", `"st":[{"tool":"ping"`, ""},
		"text":    {"zz.said", "", `"gone"`},
		"calls":   {"zz.did", "", `"ping"`},
		"name":    {"fn", "", `"ping"`},
		"args":    {"with", "", `"host":"a"`},
		"result":  {"gave", "", "7"},
		"error":   {"bad", "", "down"},
	}
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "callvet", args...)
		var out bytes.Buffer
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
		cmd.Env = append(cmd.Environ(), "CALLVET_DB="+filepath.Join(dir, "runs.db"), "HOME="+dir)
		_ = cmd.Run() // the cases may fail
		return out.String()
	}
	named := regexp.MustCompile(`SETTING=VALUE for agents: ([a-z, ]*);`).FindStringSubmatch(
		strings.Join(strings.Fields(run("run", "--help")), " "))
	if named == nil {
		t.Fatal("the help names no settings")
	}
	for _, name := range strings.Split(named[1], ", ") {
		want, ok := wants[name]
		if !ok {
			t.Errorf("no test of --agent %s", name)
			continue
		}
		delete(wants, name)
		said := run(append([]string{"run", suite, "-m", server.URL, "--name", name, "--agent", name + "=" + want.value},
			answer...)...)
		mu.Lock()
		if !strings.Contains(asked, want.sent) {
			t.Errorf("--agent %s=%s: asked %s\n%s", name, want.value, asked, said)
		}
		asked = ""
		mu.Unlock()
		if shown := run("show", name, "c", "--json", "--full"); !strings.Contains(strings.Join(strings.Fields(shown), ""),
			want.shown) {
			t.Errorf("--agent %s=%s: read %s", name, want.value, shown)
		}
	}
	if len(wants) > 0 {
		t.Errorf("the help does not name %v", wants)
	}
}
