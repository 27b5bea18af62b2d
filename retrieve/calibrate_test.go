// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"testing"

	"github.com/callvet/callvet/retrieve"
)

// A search gives the confidence that its evidence has; the shipped preset refuses
// nothing unless asked to.
func TestConfidence(t *testing.T) {
	t.Parallel()
	o := retrieve.Default()
	x := newIndex(t, o, entries())
	fits, none := "aktuella störningar i trafiken", "xylophone qwerty zzz"
	obs, err := x.Observe(t.Context(), "s", []retrieve.Question{{Text: fits, Tools: []string{"a"}}, {Text: none}})
	if err != nil || !obs[0].Fits || obs[1].Fits {
		t.Fatal(obs, err)
	}
	r := search(t, x, fits, 3)
	if got := o.Confidence.Probability(obs[0].Evidence); r.Confidence != got || !r.Calibrated || got < 0.8 {
		t.Errorf("confidence %v, evidence says %v", r.Confidence, got)
	}
	if p := o.Confidence.Probability(obs[1].Evidence); p >= retrieve.DefaultMinConfidence {
		t.Errorf("confidence %v in a question for nobody: %+v", p, obs[1])
	}
	if o.MinConfidence != 0 {
		t.Errorf("the preset refuses under %v", o.MinConfidence)
	}
}
