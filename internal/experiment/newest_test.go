// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package experiment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/experiment"
	"github.com/callvet/callvet/stats"
)

func TestNewest(t *testing.T) {
	t.Parallel()
	in := func(config, run string, status stats.Status) experiment.Result {
		return experiment.Result{Run: run, Config: config, Score: stats.Interval{N: 10, Status: status}}
	}
	for name, c := range map[string]struct {
		results []experiment.Result
		want    []string
	}{
		"none":                 {},
		"the newest run count": {[]experiment.Result{in("a", "new", stats.StatusOK), in("b", "new", stats.StatusOK), in("a", "old", stats.StatusOK)}, []string{"a new", "b new"}},
		"no score":             {[]experiment.Result{in("a", "new", stats.StatusNoData), in("a", "old", stats.StatusOK)}, []string{"a old"}},
	} {
		var got []string
		for _, r := range experiment.Newest(c.results) {
			got = append(got, r.Config+" "+r.Run)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
