// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet_test

import (
	"testing"

	"github.com/callvet/callvet"
)

func TestDeliveries(t *testing.T) {
	t.Parallel()
	type record struct {
		content  uint64
		corrects bool
	}
	for name, c := range map[string]struct {
		in                                    []record
		counts, merged, replaced, of, against int
	}{
		"one":                        {[]record{{1, false}}, 0, 0, 0, 0, 0},
		"one that corrects":          {[]record{{1, true}}, 0, 0, 0, 0, 0},
		"a copy":                     {[]record{{1, false}, {1, false}, {1, false}}, 0, 2, 0, 0, 0},
		"a conflict":                 {[]record{{1, false}, {1, false}, {2, false}}, -1, 1, 0, 0, 2},
		"a correction":               {[]record{{1, false}, {2, true}}, 1, 0, 1, 1, 0},
		"a conflict that is settled": {[]record{{1, false}, {2, false}, {3, true}}, 2, 0, 1, 2, 0},
		"the old one once more":      {[]record{{1, false}, {2, true}, {1, false}}, 1, 1, 1, 1, 0},
		"a conflict after that":      {[]record{{1, false}, {2, true}, {3, false}}, -1, 0, 1, 1, 2},
	} {
		var d callvet.Deliveries
		for _, r := range c.in {
			d.Add(r.content, r.corrects)
		}
		if d.Counts != c.counts || d.Merged != c.merged || d.Replaced != c.replaced || d.Conflict() != (c.counts < 0) ||
			d.Of != c.of || d.Against != c.against {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if (&callvet.Deliveries{}).Conflict() {
		t.Error("no records are a conflict")
	}
}
