// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"strings"
	"testing"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// TestRowCounts: the numbers of tasks and of independent values are printed if they are known and
// differ from the count.
func TestRowCounts(t *testing.T) {
	t.Parallel()
	for want, iv := range map[string]stats.Interval{
		"40 calls":                       {N: 40, Clusters: 40},
		"40 calls ":                      {N: 40},
		"40 calls of 20 tasks":           {N: 40, Clusters: 20},
		"40 calls of 20 tasks ":          {N: 40, Clusters: 20, NEff: 40},
		"40 calls of 20 tasks (n_eff 9)": {N: 40, Clusters: 20, NEff: 8.6},
	} {
		if got := (row{Metric: &panel.Metric{Of: "calls", Interval: iv}}).N(); got != strings.TrimSpace(want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestState: warnings and lost records warn, and findings fail.
func TestState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		panels panel.Panels
		want   string
	}{
		{panel.Panels{}, "pass"},
		{panel.Panels{Warnings: []string{"w"}}, "warn"},
		{panel.Panels{Lost: &panel.Lost{Count: 1}}, "warn"},
		{panel.Panels{Lost: &panel.Lost{Count: 1}, Findings: []panel.Finding{{}}}, "fail"},
	} {
		if got := (&ScoresView{Panels: &c.panels}).State(); got != c.want {
			t.Errorf("%+v: %s", c.panels, got)
		}
	}
}
