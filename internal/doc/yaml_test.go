// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"runtime"
	"strings"
	"testing"
)

// TestYAMLBombs: what would cost the parser gigabytes is refused at its line before it is
// parsed, in little memory; text is not counted, and what may be read is read.
func TestYAMLBombs(t *testing.T) { //nolint:paralleltest // it measures memory
	entries := "a:\n" + strings.Repeat("- {b: 1, c: [x, 'y']}\n", 150_000)
	for name, tt := range map[string]struct{ text, message string }{
		"flow list": {
			"a:\n- [" + strings.Repeat("a,", 8<<20) + "a]\n",
			"the YAML has more than 1048576 keys, elements, brackets and lines, which would take more than 1 GB of memory",
		},
		"block list":  {strings.Repeat("- a\n", 1<<20), "the YAML has more than 1048576 keys"},
		"empty lines": {"a: 1\n" + strings.Repeat("\n", 4<<20), "the YAML has more than 1048576 keys"},
		"entries":     {entries, "the YAML has more than 1048576 keys"},
		"keys alone": {
			"a: {" + strings.Repeat("a,", 1<<17) + "b: 1}",
			"the YAML has too many keys or empty values for its size; write it as JSON",
		},
		"empty values": {
			"a: {" + strings.Repeat("a: ,", 1<<17) + "b: 1}",
			"the YAML has too many keys or empty values for its size; write it as JSON",
		},
		"many bytes":     {"a: " + strings.Repeat("x", MaxYAML), "the YAML is larger than 32 MiB"},
		"a long text":    {"a: " + strings.Repeat("x.y ", 1<<18), ""},
		"under the mark": {entries[:1+strings.LastIndexByte(entries[:1<<18], 0x0a)], ""},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, bad := Read("a.yaml", []byte(tt.text))
		runtime.ReadMemStats(&after)
		got := ""
		if bad != nil {
			got = bad.Message
		}
		if tt.message == "" && got != "" || !strings.HasPrefix(got, tt.message) {
			t.Errorf("%s: %q", name, got)
		}
		if took := after.TotalAlloc - before.TotalAlloc; tt.message != "" &&
			!strings.Contains(tt.message, "for its size") && took > 64<<20 {
			t.Errorf("%s: %d MB were allocated", name, took>>20)
		}
	}
	if _, bad := Read("a.yaml", []byte(strings.Repeat("- a\n", 1<<20))); bad == nil || bad.Line != 1<<19+1 ||
		bad.Fix != "write it as JSON, or split it into files of one folder" {
		t.Errorf("%+v", bad)
	}
}
