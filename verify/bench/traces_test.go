// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLineEnd(t *testing.T) {
	t.Parallel()
	const text = "ab\ncd\n\nlast"
	for at, want := range map[int64]int64{1: 3, 2: 3, 3: 3, 4: 6, 6: 6, 7: 7, 11: 11, 99: 11} {
		if got, err := lineEnd(strings.NewReader(text), at, int64(len(text))); err != nil || got != want {
			t.Errorf("lineEnd(%d) = %d, %v, want %d", at, got, err, want)
		}
	}
	if _, err := lineEnd(strings.NewReader(text), 9, int64(len(text))); err == nil {
		t.Error("no line ends after 9, and there is no error")
	}
}

// Without node the rows of DuckDB are left out with the reason, and nothing is installed.
func TestDuckNeedsNode(t *testing.T) {
	t.Setenv("PATH", "")
	cache := filepath.Join(t.TempDir(), "cache")
	if _, err := installDuck(t.Context(), cache); err == nil || err.Error() != "node is not installed" {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(cache); !os.IsNotExist(err) {
		t.Errorf("the cache folder was made: %v", err)
	}
}

func TestNPMReason(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]string{
		"npm warn x\nnpm error code ENOTFOUND\nnpm error see the log": "code ENOTFOUND",
		"signal: killed\n": "signal: killed",
		"":                 "",
	} {
		if got := npmReason(out); got != want {
			t.Errorf("npmReason(%q) = %q, want %q", out, got, want)
		}
	}
}

func TestBars(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := traceBench{bench: &bench{out: &out}}
	run := func(name string, cores int, walls ...float64) *entrant {
		e := &entrant{name: name, cores: cores}
		for _, w := range walls {
			e.runs = append(e.runs, measured{wall: seconds(w), cpu: seconds(w)})
		}
		return e
	}
	b.against(run("callvet, everything", 2, 9, 1.5, 6), run("DuckDB", 2, 1, 2, 8), 1)
	b.against(run("callvet, everything", 1, 9), run("DuckDB", 1, 1), 1) // no limit on one core
	if b.short != 0 || !strings.Contains(out.String(), "0.75") {
		t.Errorf("the turns' 9, 0.75 and 0.75 miss a bar of 1:\n%s", out.String())
	}
	b.against(run("callvet, no validation", 2, 1.6), run("DuckDB", 2, 2), 0.77)
	if b.short != 1 {
		t.Errorf("0.80 passes a bar of 0.77:\n%s", out.String())
	}
}
