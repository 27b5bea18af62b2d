// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider/retriever"
	"github.com/callvet/callvet/panel/routing"
	"github.com/callvet/callvet/retrieve"
)

// An index that does not give what a stored run was given gives no reasons for it.
func TestExplainStored(t *testing.T) {
	t.Parallel()
	c := &retrieve.Catalogue{Entries: []retrieve.Entry{
		{Tool: callvet.Tool{Name: "trains", Description: "delays of trains"}}, {Tool: callvet.Tool{Name: "sky", Description: "the weather of tomorrow"}},
	}}
	r, _, err := Over(t.Context(), c, Settings{K: 1, Routes: "none"}, "r", nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	const question = "delays tomorrow of trains"
	d, err := r.Decide(t.Context(), question)
	if err != nil || len(d.Tools) != 1 {
		t.Fatal(d, err)
	}
	for name, c := range map[string]struct {
		nudge             float64
		stored, explained bool
	}{"as it was": {0, true, true}, "another score": {0.01, true, false}, "of this run": {0.01, false, true}} {
		got := *d
		got.Tools = []callvet.Ranked{{Tool: d.Tools[0].Tool, Score: d.Tools[0].Score + c.nudge}}
		s := &routing.Section{Targets: []routing.Target{{Failures: 1, Failed: []routing.Failure{{Query: question + "\n", Want: callvet.Selection{Tools: []string{"sky"}}, Got: got}}}}}
		Explain(t.Context(), s, map[int]*retriever.Retriever{0: r}, c.stored)
		one := &s.Targets[0]
		if (len(one.Failed[0].Diagnose) == 1) != c.explained || (one.Unexplained == "") != c.explained {
			t.Errorf("%s: %+v", name, one)
		}
	}
}
