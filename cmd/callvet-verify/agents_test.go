// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/cmd/callvet-verify/proof"
)

// TestCaptures: the captures of a folder that are answers of agents are compared with the
// script that all of them follow, each with its stream cut off after every event.
func TestCaptures(t *testing.T) {
	t.Parallel()
	events := []string{
		`{"type":"start-step"}`,
		`{"type":"tool-input-available","toolCallId":"1","toolName":"get_weather","input":{"city":"Paris"}}`, `{"type":"tool-input-available","toolCallId":"2","toolName":"get_weather","input":{"city":"Oslo"}}`,
		`{"type":"tool-output-available","toolCallId":"1","output":18}`, `{"type":"tool-output-available","toolCallId":"2","output":9}`,
		`{"type":"start-step"}`, `{"type":"tool-input-available","toolCallId":"3","toolName":"book_flight","input":{"from":"Oslo","to":"Paris","seat":"12A"}}`, `{"type":"tool-output-error","toolCallId":"3","errorText":"seat taken"}`,
		`{"type":"start-step"}`, `{"type":"text-delta","delta":"Paris is 18 degrees; booking failed."}`, `{"type":"finish"}`,
	}
	stream := func(events ...string) string { return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n" }
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a stream, telemetry, and lines": {map[string]string{
			"a.sse": stream(events...), "b.json": `{"resourceSpans":[]}`, "c.jsonl": "{}\n{}\n", "d.pb": "\x0a\x00",
		}, "agents: 11 of 11 compared agree"},
		"a result is missing":       {map[string]string{"a.txt": stream(append(append([]string{}, events[:4]...), events[5:]...)...)}, "agents: 9 of 10 compared agree, 1 not explained"},
		"JSON that is no answer":    {map[string]string{"a": `{"ok":true}`}, "agents: 0 of 1 compared agree, 1 not explained"},
		"a stream that was cut off": {map[string]string{"a": stream(events[:9]...)}, "agents: 0 of 1 compared agree, 1 not explained"},
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
