// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestNarrow: tables fit the width of the terminal, and name what they leave out.
func TestNarrow(t *testing.T) {
	t.Parallel()
	rows := [][]string{
		{"metric", "value", "n", ""},
		{"schema validity", "–", "0 calls", "no data; no tools were given"},
		{"executed", "99 %", "9 calls", ""},
	}
	slices := [][]string{
		{"Slices", "tasks", "a", "b", "c"},
		{"language=es-AR", "80", "42.5 % [31.5–54.1]", "100.0 %", "0.0 %"},
	}
	for width, want := range map[int]string{
		0: `metric           value  n        ` + `
──────────────────────────────────────────────────────────────
schema validity  –      0 calls  no data; no tools were given
executed         99 %   9 calls
Slices          tasks  a                   b        c
───────────────────────────────────────────────────────
language=es-AR  80     42.5 % [31.5–54.1]  100.0 %  0.0 %
0 left
`,
		42: `metric           value  n
────────────────────────────────
schema validity  –      0 calls
    no data; no tools were given
executed         99 %   9 calls
Slices          tasks  a
─────────────────────────────────────────
language=es-AR  80     42.5 % [31.5–54.1]
2 left
`,
	} {
		var b bytes.Buffer
		x := &text{w: bufio.NewWriter(&b), width: width}
		x.noted(rows)
		out, left := x.fitting(slices)
		x.table(out)
		x.line("%d left", left)
		if err := x.w.Flush(); err != nil {
			t.Fatal(err)
		}
		clean := func(s string) []string {
			var lines []string
			for l := range strings.Lines(s) {
				l = strings.TrimRight(l, " \n")
				if strings.HasPrefix(l, "─") {
					l = "─"
				}
				lines = append(lines, l)
			}
			return lines
		}
		if diff := cmp.Diff(clean(want), clean(b.String())); diff != "" {
			t.Errorf("width %d: (-want +got)\n%s", width, diff)
		}
		for _, l := range strings.Split(b.String(), "\n") {
			if width > 0 && utf8.RuneCountInString(l) > width {
				t.Errorf("%d columns: %q", utf8.RuneCountInString(l), l)
			}
		}
	}
}
