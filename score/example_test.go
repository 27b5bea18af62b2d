// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// brief is a scorer in Go: the fewer words an answer has, the better.
type brief struct{ words int }

// Version changes with the rule, so that a comparison of runs can detect the change.
func (b brief) Version() string { return fmt.Sprintf("brief/1 of %d words", b.words) }

// Judge returns a score, and no verdict: the threshold in the case decides.
func (b brief) Judge(_ context.Context, a *score.Attempt) (score.Opinion, error) {
	n := len(strings.Fields(a.Trace.Answer))
	s := min(1, float64(b.words)/float64(max(n, 1)))
	return score.Opinion{Score: &s, Reason: fmt.Sprintf("%d words", n)}, nil
}

// A program that embeds callvet judges attempts by rules of its own in addition to those of the
// case.
func ExampleCustom() {
	least := 0.5
	c := callvet.Case{ID: "paris", Expect: callvet.Expect{Scorers: []callvet.Scorer{
		{Name: "brief", Threshold: &least},                    // in Go
		{Name: "rain", Expr: `lower(answer) contains "rain"`}, // an expression
	}}}
	rules := map[string]score.Custom{"brief": brief{words: 4}}
	scorer, _ := score.New(&callvet.Suite{}, score.Config{Custom: func(s *callvet.Scorer) (score.Custom, error) {
		if rule, ok := rules[s.Name]; ok {
			return rule, nil
		}
		return nil, fmt.Errorf("there is no rule %q", s.Name)
	}})
	compiled, problems := scorer.Compile(&c)
	fmt.Println(len(problems), "problems")

	t := callvet.Trace{
		Answer:  "Well, as you may know, I can tell you that it rains in Paris.",
		Outcome: callvet.OutcomeAbstained,
	}
	r, err := compiled.Judge(context.Background(), &t)
	fmt.Println(r.Verdict, r.Reason, err)
	for _, name := range []string{"scorer.brief", "scorer.rain"} {
		fmt.Printf("%s %.2f\n", name, r.Score(name).Value)
	}
	// Output:
	// 0 problems
	// fail scorer.brief: expected at least 0.5 of its Go code, got 0.285714: 14 words <nil>
	// scorer.brief 0.29
	// scorer.rain 1.00
}
