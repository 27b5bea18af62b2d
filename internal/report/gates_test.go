// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// verdictSample is a report with each verdict, a hostile slice value and a place in a file.
func verdictSample(t *testing.T, policy gate.Policy) *gates.Report {
	t.Helper()
	rate := func(name string, tasks, fails int) panel.Metric {
		var c stats.Clusters
		for i := range tasks {
			c.Add(float64(min(1, max(0, i-fails+1))), 1, true)
		}
		return panel.Metric{
			Name: name, Unit: panel.UnitRate, Of: "calls",
			Interval: c.Interval(0.95, stats.DefaultRho0),
		}
	}
	empty := panel.Metric{
		Name:     "true_success",
		Interval: stats.Interval{Point: math.NaN(), Confidence: 0.95, Status: stats.StatusNoGold},
	}
	adjusted := 0.004
	slice := rate("arg_em", 40, 20)
	slice.Versus = &panel.Versus{Rest: 0.95, P: 0.001, Adjusted: adjusted}
	p := &panel.Panels{Confidence: 0.95, Warnings: []string{"2 lines could not be read"}, Examples: []panel.Example{
		{Kind: "weakest", Task: "refund-7", File: "traces.jsonl", Line: 1204, Why: "wrong amount"},
	}, Targets: []panel.TargetPanel{{
		Name: "agent",
		Overall: panel.Slice{
			Cases: 200,
			Metrics: []panel.Metric{
				rate("schema_valid", 200, 0), rate("arg_em", 200, 40),
				rate("over_call_rate", 200, 186), empty,
			},
		},
		Slices: []panel.Slice{{
			Key: "language", Value: "es\x1b[31m|<b>,:%\n::error::x", Cases: 40,
			Metrics: []panel.Metric{slice},
		}},
	}}}
	p.Targets[0].Overall.Metrics[2].LowerIsBetter = true
	at := func(line int) callvet.Position {
		return callvet.Position{File: "ci/gates,1.yaml", Line: line, Column: 3}
	}
	r, problems := gates.Evaluate(gates.Input{Panels: p, Policy: policy, Task: "task"}, []gates.Gate{
		{Metric: "schema_valid", Direction: gate.AtLeast, Bound: 0.98, Position: at(3)},
		{Metric: "arg_em", Direction: gate.AtLeast, Bound: 0.9, Position: at(4), Name: "arguments, 100% exact: all"},
		{
			Metric: "arg_em", Direction: gate.AtLeast, Bound: 0.9, Key: "language", Value: "*", Severity: gates.Soft,
			Position: at(5),
		},
		{Metric: "over_call_rate", Direction: gate.AtMost, Bound: 0.1, Position: at(6)},
		{Metric: "true_success", Direction: gate.AtLeast, Bound: 0.85},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r.Subject, r.Baseline = "run 1a2b", "run main"
	return r
}

func TestVerdictFaces(t *testing.T) {
	t.Parallel()
	for name, face := range map[string]report.GatesFace{
		"strict.txt": func(b io.Writer, r *gates.Report) error {
			return report.GatesTerminal(b, r, report.GatesOptions{Width: 100})
		},
		"strict.md": report.GatesMarkdown, "strict.xml": report.GatesJUnit,
		"strict.annotations": report.GatesAnnotations, "strict.json": report.GatesJSON,
		"lenient.txt": func(b io.Writer,
			r *gates.Report,
		) error {
			return report.GatesTerminal(b, r, report.GatesOptions{})
		},
		"lenient.md": report.GatesMarkdown, "lenient.xml": report.GatesJUnit,
		"lenient.annotations": report.GatesAnnotations,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := verdictSample(t, gate.Strict)
			if strings.HasPrefix(name, "lenient") {
				r = verdictSample(t, gate.Lenient)
				r.Verdicts = append(r.Verdicts[:1], r.Verdicts[2:]...) // without the hard failure
				r.Verdict, r.Blocks, r.Sentence = gate.Inconclusive, false,
					"inconclusive: 2 of 4 checks cannot be decided"
			}
			var b bytes.Buffer
			if err := face(&b, r); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name)
			if *report.Update {
				if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), b.String()); d != "" {
				t.Error(d)
			}
			if strings.Contains(b.String(), "\x1b") {
				t.Error("an escape sequence passed through")
			}
		})
	}
}

// TestAnnotationsCannotBeForged: whatever a name holds, there is one workflow
// command a line, and its properties stay its own.
func TestAnnotationsCannotBeForged(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := report.GatesAnnotations(&b, verdictSample(t, gate.Strict)); err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(b.String()) {
		if !strings.HasPrefix(l, "::error ") && !strings.HasPrefix(l, "::warning ") {
			t.Errorf("a line of its own: %q", l)
		}
		properties, _, _ := strings.Cut(l[2:], "::")
		if n := strings.Count(properties, "title="); n != 1 || strings.Count(properties, ",") > 2 {
			t.Errorf("properties %q", properties)
		}
	}
}

func TestMachineFacesParse(t *testing.T) {
	t.Parallel()
	r := verdictSample(t, gate.Strict)
	var b bytes.Buffer
	if err := report.GatesJUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Type string `xml:"type,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &suites); err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, c := range suites.Suites[0].Cases {
		if c.Failure != nil {
			types = append(types, c.Failure.Type)
		}
	}
	if d := cmp.Diff([]string{"failed", "inconclusive", "inconclusive"}, types); d != "" || suites.Failures != 3 ||
		suites.Skipped != 1 {
		t.Errorf("failures %d, skipped %d, types:\n%s", suites.Failures, suites.Skipped, d)
	}
	b.Reset()
	if err := report.GatesJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Format string
		gates.Report
	}
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Format != "callvet.gates" ||
		len(back.Verdicts) != len(r.Verdicts) {
		t.Errorf("%v: %s", err, b.String())
	}
	if strings.Contains(b.String(), "NaN") {
		t.Error("NaN in JSON")
	}
	if _, err := report.GatesByPath("gates.html"); err == nil {
		t.Error("an unknown extension passed")
	}
}
