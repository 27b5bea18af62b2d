// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/callvet/callvet/verify/proof"
)

// TestCountMocked: a cell agrees if it is stored once and passed. An error agrees only if the mock
// makes faults, a failure never agrees, and a missing cell makes the count short.
func TestCountMocked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faulty bool
		cells  map[string]tally
		want   string
	}{
		"all passed": {
			false,
			map[string]tally{"a/0": {n: 1, verdict: "pass"}, "b/0": {n: 1, verdict: "pass"}},
			"agents: 2 of 2 compared agree",
		},
		"an error for no fault": {
			false,
			map[string]tally{"a/0": {n: 1, verdict: "pass"}, "b/0": {n: 1, verdict: "error"}},
			"agents: 1 of 2 compared agree, 1 not explained",
		},
		"an error for a fault": {
			true,
			map[string]tally{"a/0": {n: 1, verdict: "pass"}, "b/0": {n: 1, verdict: "error"}},
			"agents: 2 of 2 compared agree",
		},
		"a failure for a fault": {
			true,
			map[string]tally{"a/0": {n: 1, verdict: "fail"}, "b/0": {n: 1, verdict: "error"}},
			"agents: 1 of 2 compared agree, 1 not explained",
		},
		"stored twice": {
			true,
			map[string]tally{"a/0": {n: 2, verdict: "pass"}, "b/0": {n: 1, verdict: "pass"}},
			"agents: 1 of 2 compared agree, 1 not explained",
		},
		"one is missing": {
			true,
			map[string]tally{"a/0": {n: 1, verdict: "pass"}},
			"agents: 1 of 2 compared agree, 1 not compared",
		},
	} {
		var out bytes.Buffer
		check := proof.New(&out, "agents", proof.DefaultPart, nil)
		check.Due(theChaos, 2, "two cells")
		countMocked(check, theChaos, "m", c.cells, c.faulty)
		check.Close()
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if got := lines[len(lines)-1]; got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
