// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/value"
)

func TestDiffering(t *testing.T) {
	t.Parallel()
	quick, _ := score.NewStepScorer(score.StepConfig{})
	slow, _ := score.NewStepScorer(score.StepConfig{Scoring: callvet.Scoring{Mode: "strict"}})
	for _, c := range []struct{ gold, args, want string }{
		{`{"a":1,"b":2}`, `{"a":1,"b":2}`, ""},
		{`{"a":1,"b":2}`, `{"b":2,"a":1.0}`, ""},
		{`{"a":1,"b":2,"c":3}`, `{"c":3,"a":2,"b":2}`, "a"},
		{`{"a":1,"b":2,"c":3}`, `{"a":1,"c":4}`, "b c"},
		{`{"b":2}`, `{"a":1,"b":2,"c":3}`, "a c"},
		{`{"a":1}`, `{"\u0061":2}`, "a"},
		{`{"a":{"x":1,"y":[1]}}`, `{"a":{"y":[1.0],"x":1}}`, ""},
		{`{"":1,"a":1}`, `[1,2]`, " a"},
		{`{}`, `{"a":1}`, "a"},
		{`{"a":1}`, `{}`, "a"},
	} {
		gold, err := value.Parse([]byte(c.gold))
		if err != nil {
			t.Fatal(err)
		}
		args, err := value.Parse([]byte(c.args))
		if err != nil {
			t.Fatal(err)
		}
		for i, scorer := range []*score.StepScorer{quick, slow} {
			w := newWorker(&run{cfg: Config{Scorer: scorer}, sheet: steps.New(steps.Config{})})
			var scorer callvet.StepScore
			w.scorer.Score(&score.StepInput{Tool: []byte("x"), Args: args, Needed: -1, GoldArgs: gold}, &scorer)
			got := w.differing(&trace.View{Call: trace.Call{GoldArgs: gold}})
			if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
				t.Errorf("%d: %s of %s: %s", i, c.args, c.gold, d)
			}
		}
	}
}
