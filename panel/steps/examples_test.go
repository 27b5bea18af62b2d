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
		good []int64 // of 3, by task
		want []string
	}{
		"all good": {[]int64{3, 3}, []string{"strongest a", "strongest b"}},
		"all bad":  {[]int64{0, 0}, []string{"weakest a", "weakest b"}},
		"between":  {[]int64{2}, []string{"strongest a"}},
		"both":     {[]int64{0, 3, 0, 3, 0, 3}, []string{"strongest b", "strongest d", "strongest f", "weakest a", "weakest c", "weakest e"}},
		"none":     {},
	} {
		var r findings.Ranking
		for i, good := range c.good {
			r.Offer(findings.Ranked{Good: good, Of: 3, Line: int64(i + 1)}, nil, []byte{byte('a' + i)})
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
