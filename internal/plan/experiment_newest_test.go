// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/plan"
	"github.com/callvet/callvet/stats"
)

func TestNewest(t *testing.T) {
	t.Parallel()
	in := func(config, run string, status stats.Status) plan.ExperimentResult {
		return plan.ExperimentResult{Run: run, Config: config, Score: stats.Interval{N: 10, Status: status}}
	}
	for name, c := range map[string]struct {
		results []plan.ExperimentResult
		want    []string
	}{
		"none": {},
		"the newest run count": {[]plan.ExperimentResult{
			in("a", "new", stats.StatusOK), in("b", "new", stats.StatusOK),
			in("a", "old", stats.StatusOK),
		}, []string{"a new", "b new"}},
		"no score": {[]plan.ExperimentResult{
			in("a", "new", stats.StatusNoData),
			in("a", "old", stats.StatusOK),
		}, []string{"a old"}},
	} {
		var got []string
		for _, r := range plan.NewestResults(c.results) {
			got = append(got, r.Config+" "+r.Run)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
