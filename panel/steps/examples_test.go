// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// task is one of a ranking: how many of its measurements are good, and how many of its attempts passed.
type rankedTask struct{ good, of, passed, judged int64 }

func several(n int, x rankedTask) (out []rankedTask) {
	for range n {
		out = append(out, x)
	}
	return out
}

// TestExtremes: a task is listed once. One without anything good, or that failed, is not high; one
// without anything bad, or that passed, is not low. It is named strongest or weakest only where its
// attempts show it.
func TestExtremes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tasks []rankedTask
		want  []string
	}{
		"all good": {[]rankedTask{{3, 3, 0, 0}, {3, 3, 0, 0}}, []string{"highest a", "highest b"}},
		"all bad":  {[]rankedTask{{0, 3, 0, 0}, {0, 3, 0, 0}}, []string{"lowest a", "lowest b"}},
		"between":  {[]rankedTask{{2, 3, 0, 0}}, []string{"highest a"}},
		"both": {
			[]rankedTask{{0, 3, 0, 0}, {3, 3, 0, 0}, {0, 3, 0, 0}, {3, 3, 0, 0}, {0, 3, 0, 0}, {3, 3, 0, 0}},
			[]string{"highest b", "highest d", "highest f", "lowest a", "lowest c", "lowest e"},
		},
		"a failed task is low, whatever its calls measure": {
			[]rankedTask{{2, 3, 1, 2}, {2, 3, 0, 2}, {1, 3, 2, 2}, {3, 3, 2, 2}},
			[]string{"highest d", "highest c", "lowest b", "lowest a"},
		},
		"a task that passed is not low, whatever its calls measure": {
			[]rankedTask{{2, 9, 1, 1}, {8, 9, 1, 1}},
			[]string{"highest b", "highest a"},
		},
		"one attempt names no task": {append(several(25, rankedTask{2, 2, 1, 1}),
			rankedTask{0, 2, 0, 1}), []string{"highest a", "highest b", "highest c", "lowest z"}},
		"attempts that agree everywhere are one": {
			append(several(25, rankedTask{9, 9, 8, 8}), rankedTask{0, 9, 0, 8}),
			[]string{"highest a", "highest b", "highest c", "lowest z"},
		},
		"a task far below the rest is the weakest": {
			append(several(24, rankedTask{9, 10, 9, 10}), rankedTask{1, 10, 1, 10}, rankedTask{8, 10, 8, 10}),
			[]string{"weakest y", "lowest z", "lowest a"},
		},
		"a task far above the rest is the strongest": {
			append(append(several(12, rankedTask{0, 10, 0, 10}), several(12, rankedTask{4, 10, 4, 10})...),
				rankedTask{20, 20, 20, 20}),
			[]string{"strongest y", "weakest a", "weakest b", "weakest c"},
		},
		"a task with failures far above the rest is not the weakest": {
			append(several(2, rankedTask{0, 20, 0, 20}), rankedTask{18, 20, 18, 20}),
			[]string{"weakest a", "weakest b", "lowest c"},
		},
		"none": {},
	} {
		var whole, parts Ranking
		for i, x := range c.tasks {
			at := Ranked{
				Good: x.good, Of: x.of, Line: int64(i + 1), Failed: x.judged - x.passed,
				Judged: x.judged, Seen: SeenOf(int(x.passed), int(x.judged)),
			}
			var part Ranking
			for _, r := range []*Ranking{&whole, &part} {
				if x.judged > 0 {
					r.Add(at.Seen, 1)
				}
				if r.Candidate(&at) {
					r.Offer(at, nil, fmt.Appendf(nil, "%c", 'a'+i))
				}
			}
			parts.Merge(&part)
		}
		for _, r := range []*Ranking{&whole, &parts} {
			var got []string
			for _, e := range New(Config{}).examples(r) {
				got = append(got, fmt.Sprintf("%s %s", e.Kind, e.Task))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}
