// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"testing"

	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/panel"
)

// TestNothingJudged: the error separates attempts that ran without a verdict from those that did not
// run, as the sentence of the report does.
func TestNothingJudged(t *testing.T) {
	t.Parallel()
	of := func(unjudged ...int) *panel.Panels {
		p := &panel.Panels{Targets: make([]panel.TargetPanel, len(unjudged))}
		for i, n := range unjudged {
			p.Targets[i].Overall.NotEvaluated.Unjudged = n
		}
		return p
	}
	for _, c := range []struct {
		errs, notRun int
		panels       *panel.Panels
		want         string
	}{
		{2, 0, of(0), "nothing was judged: 2 attempts ended in an error, 0 did not run"},
		{0, 3, of(0, 0), "nothing was judged: 0 attempts ended in an error, 3 did not run"},
		{1, 4, of(1, 2), "nothing was judged: 1 attempt ended in an error, 3 ran and could not be judged, 1 did not run"},
	} {
		if got := nothingJudged(run.Summary{Totals: run.Totals{Error: c.errs, NotRun: c.notRun}}, c.panels).Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
