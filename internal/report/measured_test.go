// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// Every face shows the paired changes of metrics, with amounts as shares of the baseline, and
// leaves out metrics that no case has.
func TestMeasured(t *testing.T) {
	t.Parallel()
	iv := func(p float64) stats.Interval {
		return stats.Interval{Point: p, Lower: p - 0.05, Upper: p + 0.05, N: 7, Clusters: 7, Status: stats.StatusOK}
	}
	side := panel.Difference{
		Cases: 7, Baseline: iv(0.5), Candidate: iv(0.25), Change: iv(-0.25), P: 0.04,
		Verdict: panel.ChangeWorse,
	}
	cost := side
	cost.Verdict = panel.ChangeBetter
	v := &View{ID: "now", Diff: &panel.Comparison{Baseline: "before", Targets: []panel.TargetComparison{{
		Baseline: "m", Candidate: "m", Overall: side, Measured: []panel.Measured{
			{Pairing: panel.Pairing{Metric: "mrr", Unit: panel.UnitRate}, Overall: side},
			{Pairing: panel.Pairing{Metric: panel.MetricCost, Unit: panel.UnitUSD, Relative: true}, Overall: cost},
			{Pairing: panel.Pairing{Metric: panel.MetricTokens, Unit: panel.UnitTokens, Relative: true}},
		},
	}}}}
	var term, md, html bytes.Buffer
	if err := Comparison(&term, v.Diff, TerminalOptions{Width: 160}); err != nil {
		t.Fatal(err)
	}
	mdDiff(&md, v.Diff)
	if err := HTML(&html, v); err != nil {
		t.Fatal(err)
	}
	for face, text := range map[string]string{
		"terminal": term.String(),
		"markdown": strings.ReplaceAll(md.String(), `\`, ""), "html": html.String(),
	} {
		for _, want := range []string{
			"MRR", "-25.0 pp", "-25.0 %", "0.040", "worse", "better",
			"not adjusted for the number of metrics",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", face, want, text)
			}
		}
		if strings.Contains(text, "okens") {
			t.Errorf("%s tells of tokens that nobody used", face)
		}
	}
}

// An unbounded interval is not printed.
func TestAmountWithoutEnds(t *testing.T) {
	t.Parallel()
	for want, iv := range map[string]stats.Interval{
		"4.0 ms [no interval]": {Point: 4, Lower: 0, Upper: math.Inf(1), N: 1, Status: stats.StatusOK},
		"4.0 ms [3.0–∞]":       {Point: 4, Lower: 3, Upper: math.Inf(1), N: 9, Status: stats.StatusOK},
	} {
		if got := plain.Amount(&panel.Metric{Unit: panel.UnitMS, Interval: iv}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNothingCompared: without a case that both runs judged there is no p value.
func TestNothingCompared(t *testing.T) {
	t.Parallel()
	c := &panel.Comparison{
		Baseline: "before",
		Targets:  []panel.TargetComparison{{Baseline: "m", Candidate: "m", Overall: panel.Difference{P: 1}}},
	}
	var screen, md bytes.Buffer
	if err := Comparison(&screen, c, TerminalOptions{}); err != nil {
		t.Fatal(err)
	}
	mdDiff(&md, c)
	for _, text := range []string{screen.String(), md.String()} {
		if !strings.Contains(text, "no case was judged in both runs") || strings.Contains(text, "p =") {
			t.Error(text)
		}
	}
}
