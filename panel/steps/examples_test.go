// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/panel/findings"
)

// TestExtremes: a task is told once; one without anything good is not strong, one without anything
// bad is not weak.
func TestExtremes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		good   []int64 // of 3, by task
		want   []string
		failed []int64 // of 2 attempts, by task
	}{
		"all good": {[]int64{3, 3}, []string{"strongest a", "strongest b"}, nil},
		"all bad":  {[]int64{0, 0}, []string{"weakest a", "weakest b"}, nil},
		"between":  {[]int64{2}, []string{"strongest a"}, nil},
		"both":     {[]int64{0, 3, 0, 3, 0, 3}, []string{"strongest b", "strongest d", "strongest f", "weakest a", "weakest c", "weakest e"}, nil},
		"a failed task is weak, whatever its calls measure": {
			[]int64{2, 2, 1, 1, 1, 3}, []string{"strongest f", "strongest c", "strongest d", "weakest b", "weakest a"}, []int64{1, 2, 0, 0, 0, 0},
		},
		"none": {},
	} {
		var r findings.Ranking
		for i, good := range c.good {
			at := findings.Ranked{Good: good, Of: 3, Line: int64(i + 1), Judged: 2}
			if c.failed != nil {
				at.Failed = c.failed[i]
			}
			if r.Candidate(&at) {
				r.Offer(at, nil, []byte{byte('a' + i)})
			}
		}
		var got []string
		for _, e := range New(Config{}).examples(&r) {
			got = append(got, e.Kind+" "+e.Task)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
