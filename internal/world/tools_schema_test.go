// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/value"
)

// TestSchemaHasEveryKey holds the published schema against the types that files are read into.
func TestSchemaHasEveryKey(t *testing.T) {
	t.Parallel()
	type node struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var s struct {
		node
		Defs map[string]node `json:"$defs"`
	}
	if err := json.Unmarshal(world.ToolsSchema(), &s); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of reflect.Type
		at node
	}{
		"file":   {reflect.TypeFor[world.ToolsFile](), s.node},
		"tool":   {reflect.TypeFor[world.LiveTool](), s.Defs["tool"]},
		"http":   {reflect.TypeFor[world.HTTPTool](), s.Defs["http"]},
		"server": {reflect.TypeFor[world.ToolServer](), s.Defs["server"]},
	} {
		var has, keys []string
		for k := range c.at.Properties {
			has = append(has, k)
		}
		for _, f := range reflect.VisibleFields(c.of) {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			keys = append(keys, key)
		}
		slices.Sort(has)
		slices.Sort(keys)
		if diff := cmp.Diff(keys, has); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestSchemaTakesWhatIsRead: what is read keeps the schema, and what is refused for its form breaks it.
func TestSchemaTakesWhatIsRead(t *testing.T) {
	t.Parallel()
	s, err := contract.Compile(world.ToolsSchema())
	if err != nil {
		t.Fatal(err)
	}
	check := func(text string, want bool) {
		t.Helper()
		if _, err := world.ReadTools("f", []byte(text)); (err == nil) != want {
			t.Errorf("%s: read: %v", text, err)
		}
		d, bad := doc.Read("f", []byte(text))
		if bad != nil {
			t.Fatal(bad)
		}
		v, err := value.Parse(d.Root.JSON())
		if err != nil {
			t.Fatal(err)
		}
		if broken := s.Check(v); (len(broken) == 0) != want {
			t.Errorf("%s: schema: %v", text, broken)
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "live", "live.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	check(string(text), true)
	for text, want := range map[string]bool{
		`tools: {a: {read_only: true, command: ./a}}`:                                                                                                    true,
		`tools: {a: {read_only: true, command: ./a, version: 2, timeout_ms: 1.5, max_bytes: 7}}`:                                                         true,
		`tools: {a: {read_only: true, command: ./a, http: null, mcp: ""}}`:                                                                               true,
		`{tools: {a: {read_only: true, command: ./a}}, servers: null, exec_env: null}`:                                                                   true,
		`tools: {a: {read_only: false, http: {url: "https://h/{{args.a}}", query: {q: "{{args.b}}"}, headers: {X: "${K}"}, body: {a: ["{{args.a}}"]}}}}`: true,
		`tools: {a: {read_only: true, http: {url: "https://h/", body: null, query: null, headers: null}}}`:                                               true,
		`{tools: {a: {read_only: true, mcp: s}}, servers: {s: {url: "https://h/mcp", transport: sse, protocol: 2025-11-25, timeout_ms: 5}}}`:             true,
		`{tools: {a: {read_only: true, mcp: s}}, servers: {s: {command: npx s}}, exec_env: [A_KEY, "B_*"]}`:                                              true,
		`tools: {}`: false,
		`tools: {a: {read_only: true, command: ./a, version: null}}`:    false,
		`tools: {a: {read_only: true, command: ./a, timeout_ms: null}}`: false,
		`tools: {a: null}`: false,
		`{tools: {a: {read_only: true, command: ./a}}, servers: {s: null}}`: false,
		`servers: {}`:                                                                               false,
		`tools: {a: {command: ./a}}`:                                                                false,
		`tools: {a: {read_only: null, command: ./a}}`:                                               false,
		`tools: {a: {read_only: true}}`:                                                             false,
		`tools: {a: {read_only: true, command: ""}}`:                                                false,
		`tools: {a: {read_only: true, command: ./a, http: {url: "https://h/"}}}`:                    false,
		`tools: {a: {read_only: true, comand: ./a}}`:                                                false,
		`tools: {a: {read_only: true, command: ./a, timeout_ms: 600001}}`:                           false,
		`tools: {a: {read_only: true, command: ./a, timeout_ms: -1}}`:                               false,
		`tools: {a: {read_only: true, command: ./a, max_bytes: 1.5}}`:                               false,
		`tools: {a: {read_only: true, command: ./a, version: {}}}`:                                  false,
		`tools: {a: {read_only: true, http: {method: GET}}}`:                                        false,
		`tools: {a: {read_only: true, http: {url: ""}}}`:                                            false,
		`tools: {a: {read_only: true, http: {url: "ftp://h/"}}}`:                                    false,
		`tools: {a: {read_only: true, http: {url: "https://h/", method: FETCH}}}`:                   false,
		`tools: {a: {read_only: true, http: {url: "https://h/", query: {q: 5}}}}`:                   false,
		`{tools: {a: {read_only: true, mcp: s}}, servers: {s: {}}}`:                                 false,
		`{tools: {a: {read_only: true, mcp: s}}, servers: {s: {url: "https://h/", command: x}}}`:    false,
		`{tools: {a: {read_only: true, mcp: s}}, servers: {s: {url: "https://h/", transport: ws}}}`: false,
		`{tools: {a: {read_only: true, command: ./a}}, exec_env: A}`:                                false,
	} {
		check(text, want)
	}
}
