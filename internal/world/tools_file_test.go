// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/world"
)

const good = `
tools:
  get_weather:
    read_only: true
    http: {method: GET, url: "https://api.example.com/v1/weather/{{args.city}}?key=${WEATHER_KEY}", headers: {X-Api-Key: "${WEATHER_KEY}"}}
    version: 2
  book: {read_only: false, http: {url: https://api.example.com/book, body: {where: "{{args.city}}", n: 1}}, timeout_ms: 500}
  run: {read_only: true, command: ./tool --json, max_bytes: 4096}
  list: {read_only: true, mcp: github}
servers:
  github: {url: "https://mcp.example.com/mcp", headers: {Authorization: "Bearer ${GITHUB}"}}
  files: {command: npx files}
exec_env: [DB_TOKEN]
`

func TestRead(t *testing.T) {
	t.Parallel()
	f, err := world.ReadTools("live.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"./tool --json"}, f.Commands()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"api.example.com", "mcp.example.com"}, f.Hosts()); d != "" {
		t.Error(d)
	}
	if name, tool := f.Find("GET_weather"); name != "get_weather" || tool == nil || tool.Version != "2" {
		t.Error(name, tool)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	tool := func(s string) string { return "tools:\n  a: {read_only: true, " + s + "}\n" }
	for text, want := range map[string]string{
		"":                                       "the file is empty",
		"tools: {}":                              "no tool is listed",
		"tools: {a: {http: {url: https://x.y}}}": "read_only",
		tool("http: {url: https://x.y}, command: b"):                    "exactly one way",
		"tools: {a: {read_only: true}}":                                 "exactly one way",
		tool("mcp: githb") + "servers: {github: {command: x}}":          `did you mean "github"?`,
		tool("mcp: g") + "servers: {g: {command: x, url: https://x.y}}": "a command or an address",
		tool("mcp: g") + "servers: {g: {url: ftp://x.y}}":               "is no address",
		tool("http: {url: 'https://{{args.host}}/x'}"):                  "no placeholder",
		tool("http: {url: 'https://${HOST}/x'}"):                        "no variable",
		tool(
			"http: {url: 'https://api.x.y/${KEY}/x'}"): "a variable stands in the path",
		tool("http: {url: 'file:///etc/passwd'}"):                                          "is no address",
		tool("http: {url: 'https://me:pw@x.y/'}"):                                          "user",
		tool("http: {url: 'https://x.y/?q={{args.q}}'}"):                                   "write query",
		tool("http: {url: 'https://x.y/a#b'}"):                                             "behind #",
		tool("http: {url: 'https://x.y/{{city}}'}"):                                        "write {{args.NAME}}",
		tool("http: {url: 'https://x.y/{{args.}}'}"):                                       "path is empty",
		tool("http: {url: 'https://x.y/{{args.a'}"):                                        "not closed",
		tool("http: {url: 'https://x.y/?api_key=abcdef'}"):                                 "spelled out",
		tool("http: {url: 'https://x.y/', headers: {Authorization: Bearer abc}}"):          "spelled out",
		tool("http: {url: 'https://x.y/', headers: {Host: z}}"):                            "the connection's own",
		tool("http: {url: 'https://x.y/', headers: {X-A: '{{args.a}}'}}"):                  "no argument",
		tool("http: {method: GET, url: 'https://x.y/', body: {a: 1}}"):                     "sends no body",
		tool("http: {url: 'https://x.y/', body: {a: '{{b}}'}}"):                            "unknown placeholder",
		tool("http: {url: 'https://x.y/', query: {a: '{{b}}'}}"):                           "unknown placeholder",
		tool("http: {method: TRACE, url: 'https://x.y/'}"):                                 "TRACE",
		tool("http: {url: 'https://x.y/', heders: {}}"):                                    "headers",
		tool("command: a, timeout_ms: -1"):                                                 "timeout_ms",
		"tools:\n  a: {read_only: true, command: x}\n  A: {read_only: true, command: x}\n": "differ in case only",
		strings.Repeat("#", world.MaxToolsFile+1):                                          "more than",
	} {
		_, err := world.ReadTools("live.yaml", []byte(text))
		var p callvet.Problem
		switch {
		case err == nil:
			t.Errorf("%.80s: it is taken", text)
		case !strings.Contains(err.Error(), want) && !(errors.As(err, &p) && strings.Contains(p.Fix, want)):
			t.Errorf("%.80s: %v, want %s", text, err, want)
		case errors.As(err, &p) && strings.HasPrefix(text, "tools:\n") && p.Line < 2:
			t.Errorf("%.80s: %+v has no place", text, p)
		}
	}
}

func FuzzLiveRead(f *testing.F) {
	f.Add(good)
	f.Add(`{"tools":{"a":{"read_only":true,"http":{"url":"http://x/{{args.a[0]}}"}}}}`)
	f.Fuzz(func(_ *testing.T, text string) {
		if file, err := world.ReadTools("f.yaml", []byte(text)); err == nil {
			file.Hosts()
			file.Commands()
		}
	})
}
