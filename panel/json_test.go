// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/stats"
)

// TestMetricJSON: a metric is written as package json writes it, with all that it may have, and what JSON
// has no number for is an error.
func TestMetricJSON(t *testing.T) {
	t.Parallel()
	iv := stats.ClopperPearson(3, 4, 0.95, stats.TwoSided)
	half := 0.5
	full := Metric{
		Name: "arg_em", Title: "arguments <all>", Unit: UnitRate, Of: "calls", LowerIsBetter: true, Interval: iv,
		Values: 8, Excluded: 2, Unknown: 1,
		Coverage: &half, NotApplicable: 3, Labelled: &Labelled{Of: "calls", N: 400, Tasks: 90, Elsewhere: true},
		Informative: true,
		Lost:        &LostRange{N: 1, Of: 5, Low: iv, High: iv},
		Versus:      &Versus{Rest: 0.9, P: 0.01, Adjusted: 0.02, Worst: true, Best: true, Shrunken: &iv},
		Warnings:    []string{"one", "two"},
	}
	bare := full
	bare.Values, bare.Excluded, bare.Unknown, bare.Coverage, bare.NotApplicable, bare.Labelled, bare.Informative,
		bare.Lost, bare.Versus, bare.Warnings = 0, 0, 0, nil, 0, nil, false, nil, nil, nil
	plain := full
	plain.Labelled, plain.Versus, plain.Warnings = &Labelled{Of: "turns"}, &Versus{Rest: 0.9}, []string{"one"}
	for name, m := range map[string]*Metric{"full": &full, "bare": &bare, "without marks": &plain} {
		want, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.AppendJSON(nil)
		if d := cmp.Diff(string(want), string(got)); d != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
	none := iv
	none.Confidence = math.NaN()
	nan := math.NaN()
	for name, edit := range map[string]func(*Metric){
		"interval": func(m *Metric) { m.Interval = none },
		"coverage": func(m *Metric) { m.Coverage = &nan },
		"low":      func(m *Metric) { m.Lost = &LostRange{Low: none, High: iv} },
		"high":     func(m *Metric) { m.Lost = &LostRange{Low: iv, High: none} },
		"rest":     func(m *Metric) { m.Versus = &Versus{Rest: nan} },
		"adjusted": func(m *Metric) { m.Versus = &Versus{Adjusted: nan} },
		"shrunken": func(m *Metric) { m.Versus = &Versus{Shrunken: &none} },
	} {
		m := full
		edit(&m)
		if b, err := m.AppendJSON(nil); err == nil || b != nil {
			t.Errorf("%s: %v, %s", name, err, b)
		}
	}
}
