// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestJudges(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("CALLVET_TESTDATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "sets", "tau2_judges")); err != nil {
		t.Skipf("SKIPPED: published verdicts of judges not found in %s; set CALLVET_TESTDATA to check against them", dir)
	}
	var out bytes.Buffer
	c := &judgeCheck{out: &out}
	if err := c.tau2(filepath.Join(dir, "sets", "tau2_judges", "open")); err != nil {
		t.Fatal(err)
	}
	if c.figures == 0 || c.equal != c.figures || c.chance == 0 || c.refused != c.chance {
		t.Errorf("%+v\n%s", c, out.String())
	}
	if !strings.Contains(out.String(), "refused: the judge is no better than chance (J = sensitivity + specificity - 1 = -0.169)") {
		t.Error(out.String())
	}
}

// TestJudgesTellsWhatIsWrong: a figure that does not come out is no success.
func TestJudgesTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := &judgeCheck{out: &out}
	c.figure("judge", "J", 0.1234, 0.1235, 4)
	c.figure("judge", "J", 0.12346, 0.1235, 4)
	if c.figures != 2 || c.equal != 1 || !strings.Contains(out.String(), "WRONG judge J: 0.1234, published 0.1235") {
		t.Errorf("%+v %s", c, out.String())
	}
	if ok, err := judges(&out, t.TempDir()); ok || err == nil {
		t.Error("nothing to check is no success")
	}
}
