// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/plan"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// TestNotesOfVerdicts: the notes are below a verdict that did not pass. They are also below each
// verdict of a gate with a setting that changes how its numbers are counted.
func TestNotesOfVerdicts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		verdict gate.Verdict
		gate    gates.Gate
		want    bool
	}{
		"passed":               {gate.Pass, gates.Gate{}, false},
		"failed":               {gate.Fail, gates.Gate{}, true},
		"ignores what is lost": {gate.Pass, gates.Gate{Lost: gates.LostIgnore}, true},
		"its own correlation":  {gate.Pass, gates.Gate{Correlation: gates.CorrelationMeasured}, true},
	} {
		c.gate.Metric = "arg_em"
		r := &gates.Report{
			Verdict:  c.verdict,
			Verdicts: []gates.Verdict{{Gate: c.gate, Verdict: c.verdict, Sentence: "s", Notes: []string{"the note"}}},
		}
		var b bytes.Buffer
		if err := report.GatesTerminal(&b, r, report.GatesOptions{Width: 100}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "note: the note") != c.want {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}

// TestMarkdownList: exactly one empty line precedes the warnings and notes.
func TestMarkdownList(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]gates.Report{
		"the end.\n":                              {},
		"the end.\n\n- warning: w1\n":             {Warnings: []string{"w1"}},
		"the end.\n\n- warning: w1\n- note: n1\n": {Warnings: []string{"w1"}, Notes: []string{"n1"}},
		"the end.\n\n- note: n1\n- note: n2\n":    {Notes: []string{"n1", "n2"}},
	} {
		r.Verdict, r.Sentence = gate.Pass, "the end."
		var b bytes.Buffer
		if err := report.GatesMarkdown(&b, &r); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(b.String(), want) {
			t.Errorf("%q does not end with %q", b.String(), want)
		}
	}
}

// TestPairedPlan: a loss of an amount is a share of the baseline, one of a rate is points.
func TestPairedPlan(t *testing.T) {
	t.Parallel()
	for want, sd := range map[string]float64{
		"a loss of 5.0 % of the baseline fails the gate in": 0.3,
		"a loss of 5.0 points fails: all alike":             0,
	} {
		var b bytes.Buffer
		p := &plan.Plan{
			Metric: "m", Power: 0.8,
			Paired: &plan.Paired{
				Diff: 0.05, Margin: 0.05, SD: sd,
				Rows: []plan.PairedRow{{Attempts: 1, Fails: 100, Passes: 200}},
			},
		}
		if err := report.Plan(&b, p); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}
