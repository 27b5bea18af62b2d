// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/verify/proof"
)

// TestCaptures: captured answers of agents are compared with their script, also with the stream
// cut off after every event.
func TestCaptures(t *testing.T) {
	t.Parallel()
	events := []string{
		`{"type":"start-step"}`,
		`{"type":"tool-input-available","toolCallId":"1","toolName":"get_weather","input":{"city":"Paris"}}`,
		`{"type":"tool-input-available","toolCallId":"2","toolName":"get_weather","input":{"city":"Oslo"}}`,
		`{"type":"tool-output-available","toolCallId":"1","output":18}`,
		`{"type":"tool-output-available","toolCallId":"2","output":9}`,
		`{"type":"start-step"}`,
		`{"type":"tool-input-available","toolCallId":"3","toolName":"book_flight","input":{"from":"Oslo","to":"Paris","seat":"12A"}}`, `{"type":"tool-output-error","toolCallId":"3","errorText":"seat taken"}`,
		`{"type":"start-step"}`, `{"type":"text-delta","delta":"Paris is 18 degrees; booking failed."}`,
		`{"type":"finish"}`,
	}
	stream := func(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a stream, telemetry, and lines": {map[string]string{
			"a.sse": stream(events...), "b.json": `{"resourceSpans":[]}`, "c.jsonl": "{}\n{}\n", "d.pb": "\x0a\x00",
		}, "agents: 11 of 11 compared agree"},
		"a result is missing": {map[string]string{"a.txt": stream(append(append([]string{}, events[:4]...),
			events[5:]...)...)}, "agents: 9 of 10 compared agree, 1 not explained"},
		"JSON that is no answer": {
			map[string]string{"a": `{"ok":true}`},
			"agents: 0 of 1 compared agree, 1 not explained",
		},
		"a stream that was cut off": {
			map[string]string{"a": stream(events[:9]...)},
			"agents: 0 of 1 compared agree, 1 not explained",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range tt.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			files, err := capturesOverHTTP(dir)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			c := proof.New(&out, "agents", proof.DefaultPart, nil)
			c.Due(theCaptures, len(files), dir)
			for _, f := range files {
				readCapture(c, f)
			}
			c.Close()
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if d := cmp.Diff(tt.want, lines[len(lines)-1]); d != "" {
				t.Errorf("%s\n%s", d, out.String())
			}
		})
	}
}

// checked returns the report of readCaptures about a folder.
func checked(t *testing.T, dir string) string {
	t.Helper()
	var out bytes.Buffer
	c := proof.New(&out, "agents", proof.DefaultPart, nil)
	c.Problem(readCaptures(c, dir))
	c.Close()
	return out.String()
}

// TestTelemetryCaptures: a capture of every dialect is read as one task. With deleted attributes it
// is never read as an attempt without calls.
func TestTelemetryCaptures(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "internal", "trace", "foreign", "testdata", "sdk")
	out := checked(t, dir)
	if !regexp.MustCompile(`agents: (\d+) of (\d+) compared agree\n$`).MatchString(out) ||
		strings.Contains(out, "DIFFERS") {
		t.Error(out)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.Contains(out, "\n"+f.Name()) && f.Name() != "otel-logs.otlp.jsonl" { // it belongs to another capture
			t.Errorf("%s is not in the table", f.Name())
		}
	}
}

// TestTelemetryCapturesDiffer: a capture that differs from the script fails, and so does a folder
// without captures.
func TestTelemetryCapturesDiffer(t *testing.T) {
	t.Parallel()
	span := func(id, name, attributes string) string {
		return `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"ab","spanId":"` + id + `","name":"` + name +
			`","startTimeUnixNano":"` + id + `","endTimeUnixNano":"9","attributes":[` + attributes + `]}]}]}]}` + "\n"
	}
	attribute := func(key, text string) string {
		return `{"key":"` + key + `","value":{"stringValue":` + strconv.Quote(text) + `}}`
	}
	tool := func(id, name, args, result string) string {
		return span(id, "execute_tool "+name, attribute("gen_ai.operation.name", "execute_tool")+","+
			attribute("gen_ai.tool.call.arguments", args)+","+attribute("gen_ai.tool.call.result", result))
	}
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"two calls, in two files, which are one task": {map[string]string{
			"a.jsonl": tool("1", "get_weather", `{"city":"Paris"}`, `{"temp":18}`),
			"b.jsonl": tool("2", "get_weather", `{"city":"Oslo"}`, `{"temp":18}`),
		}, `a.jsonl and 1 more`},
		"a call that was not made": {map[string]string{"a.jsonl": tool("1", "get_weather", `{"city":"Rome"}`,
			`{"temp":18}`)}, `got get_weather {"city":"Rome"}`},
		"no call, and the names of tools": {map[string]string{
			"a.jsonl": span("1", "chat",
				attribute("gen_ai.operation.name", "chat")+","+
					attribute("gen_ai.input.messages", `[{"role":"user","content":"get_weather?"}]`)+","+
					attribute("gen_ai.output.messages", `[{"role":"assistant","content":"hello"}]`)),
		}, "an attempt abstained"},
		"no capture": {map[string]string{"a.txt": "hello"}, "holds none that is known"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range tt.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if out := checked(t, dir); !strings.Contains(out, tt.want) || !strings.Contains(out, ", ") {
				t.Error(out)
			}
		})
	}
}

// TestScriptedModel: each API serves the same script, and the results in a request decide the next step.
func TestScriptedModel(t *testing.T) {
	t.Parallel()
	s := scriptedModel()
	defer s.Close()
	for _, name := range []string{"openai", "openai-responses", "anthropic"} {
		for _, stream := range []bool{false, true} {
			if name == "anthropic" && stream {
				continue // no agent requests it
			}
			m, _, err := provider.Open(name+"/m", provider.Config{BaseURL: s.URL, Stream: stream, APIKey: "k"})
			if err != nil {
				t.Fatal(err)
			}
			turns := []callvet.Turn{{Role: callvet.RoleUser, Content: "?"}}
			tools := callvet.NewToolset(
				[]callvet.Tool{{Name: "get_weather", Parameters: json.RawMessage(`{"type":"object"}`)}})
			var got []string
			for range 3 {
				resp, err := m.Generate(t.Context(), &callvet.Request{Turns: turns, Tools: tools})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				got = append(got, responseText(resp)+fmt.Sprintf(" %d %d", resp.Usage.InputTokens, resp.Usage.OutputTokens))
				turns = append(turns, resp.Turns...)
				for _, call := range resp.Turns[0].Calls {
					turns = append(turns,
						callvet.Turn{Role: callvet.RoleTool, CallID: call.ID, Tool: call.Tool, Content: "18"})
				}
			}
			c := scriptedCalls()
			want := []string{
				"\n" + c[0] + "\n" + c[1] + " 120 30", "\n" + c[2] + " 120 30",
				scriptedText + " because the seat is taken. 120 30",
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, streamed %v: %s", name, stream, d)
			}
		}
	}
}
