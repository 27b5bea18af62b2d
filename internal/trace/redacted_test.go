// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/trace"
)

// TestNothingNeededStaysSo: gold without a step means that no call is needed, and gold without
// recorded steps means nothing; redacted gold means the same.
func TestNothingNeededStaysSo(t *testing.T) {
	t.Parallel()
	red, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for want, gold := range map[string]*trace.TaskGold{
		`"gold":{"steps":[]}`: {Steps: []trace.GoldStep{}},
		`"gold":{}`:           {},
	} {
		a := trace.Attempt{Trace: callvet.Trace{CaseID: "t"}, Gold: gold}
		hidden := a.Redacted(red)
		var b bytes.Buffer
		w := trace.NewWriter(&b)
		if err := w.Attempt(&hidden); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s, want %s", b.String(), want)
		}
	}
}
