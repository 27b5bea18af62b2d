// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// fixed is a scorer that answers the same each time.
type fixed struct {
	opinion score.Opinion
	err     error
	waits   bool // until its time is over
	saw     func(*score.Attempt)
}

func (s fixed) Version() string { return "v1" }

func (s fixed) Judge(ctx context.Context, a *score.Attempt) (score.Opinion, error) {
	if s.saw != nil {
		s.saw(a)
	}
	if s.waits {
		<-ctx.Done()
		return score.Opinion{}, ctx.Err()
	}
	return s.opinion, s.err
}

func ptr[T any](v T) *T { return &v }

// scoredBy scores an answer by the scorers of a case.
func scoredBy(t *testing.T, by score.Custom, scorers ...callvet.Scorer) callvet.Result {
	t.Helper()
	c := &callvet.Case{
		ID: "c", Tags: []string{"eu"},
		Input:  []callvet.Turn{{Role: callvet.RoleUser, Content: "Weather in Paris?"}},
		Expect: callvet.Expect{ResponseNonEmpty: true, Scorers: scorers},
	}
	cfg := score.Config{Custom: func(*callvet.Scorer) (score.Custom, error) { return by, nil }}
	s, _ := score.New(&callvet.Suite{}, cfg)
	k, problems := s.Compile(c)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	tr := callvet.Trace{CaseID: "c", Answer: "It rains in Paris.", Turns: []callvet.Turn{
		{
			Role: callvet.RoleAssistant,
			Calls: []callvet.Call{{
				Tool: "weather", Args: json.RawMessage(`{"city":"Paris"}`),
				Result: json.RawMessage(`{"t":9}`), Status: callvet.StatusOK,
			}},
		},
		{Role: callvet.RoleAssistant, Content: "It rains in Paris."},
	}}
	tr.Classify("")
	r, err := k.Judge(t.Context(), &tr)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestOpinions: what an opinion makes of an attempt with another assertion that passed.
func TestOpinions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name           string
		by             fixed
		of             callvet.Scorer
		verdict        callvet.Verdict
		state          callvet.AssertionState // "": no assertion
		scored         bool
		score          float64
		reason, actual string
	}{
		{
			name: "pass", by: fixed{opinion: score.Opinion{Pass: ptr(true)}}, verdict: callvet.VerdictPass,
			state: callvet.AssertPassed, scored: true, score: 1, actual: "1",
		},
		{
			name: "fail", by: fixed{opinion: score.Opinion{Pass: ptr(false), Reason: "too rude"}},
			verdict: callvet.VerdictFail, state: callvet.AssertFailed, scored: true, actual: "0: too rude",
		},
		{
			name: "negated", by: fixed{opinion: score.Opinion{Pass: ptr(false)}}, of: callvet.Scorer{Negated: true},
			verdict: callvet.VerdictPass, state: callvet.AssertPassed, scored: true, actual: "0",
		},
		{
			name: "score alone measures", by: fixed{opinion: score.Opinion{Score: ptr(0.25)}}, verdict: callvet.VerdictPass,
			scored: true, score: 0.25,
		},
		{
			name: "at the threshold", by: fixed{opinion: score.Opinion{Score: ptr(0.5)}},
			of: callvet.Scorer{Threshold: ptr(0.5)}, verdict: callvet.VerdictPass, state: callvet.AssertPassed,
			scored: true, score: 0.5, actual: "0.5",
		},
		{
			name: "below the threshold", by: fixed{opinion: score.Opinion{Score: ptr(0.25)}},
			of: callvet.Scorer{Threshold: ptr(0.5)}, verdict: callvet.VerdictFail, state: callvet.AssertFailed,
			scored: true, score: 0.25, actual: "0.25",
		},
		{
			name: "its own verdict decides", by: fixed{opinion: score.Opinion{Score: ptr(0.25), Pass: ptr(true)}},
			of: callvet.Scorer{Threshold: ptr(0.5)}, verdict: callvet.VerdictPass, state: callvet.AssertPassed,
			scored: true, score: 0.25, actual: "0.25",
		},
		{
			name: "error", by: fixed{err: errors.New("no dictionary")}, verdict: callvet.VerdictPass,
			state: callvet.AssertNotEvaluated, reason: "no dictionary",
		},
		{
			name: "nothing said", verdict: callvet.VerdictPass, state: callvet.AssertNotEvaluated,
			reason: "it gave neither a score nor pass",
		},
		{
			name: "too high", by: fixed{opinion: score.Opinion{Score: ptr(1.5)}}, verdict: callvet.VerdictPass,
			state: callvet.AssertNotEvaluated, reason: "it gave the score 1.5, which is not in [0, 1]",
		},
		{
			name: "no number", by: fixed{opinion: score.Opinion{Score: ptr(math.NaN())}}, verdict: callvet.VerdictPass,
			state: callvet.AssertNotEvaluated, reason: "it gave the score NaN, which is not in [0, 1]",
		},
		{
			name: "bad value", by: fixed{opinion: score.Opinion{Pass: ptr(true), Values: map[string]float64{"x": -1}}},
			verdict: callvet.VerdictPass, state: callvet.AssertNotEvaluated,
			reason: "it gave x the value -1, which is not in [0, 1]",
		},
		{
			name: "bad name", by: fixed{opinion: score.Opinion{Pass: ptr(true), Values: map[string]float64{"a b": 1}}},
			verdict: callvet.VerdictPass, state: callvet.AssertNotEvaluated,
			reason: `it gave a value named "a b": names are of letters, digits, _ and -`,
		},
		{
			name: "too slow", by: fixed{waits: true}, of: callvet.Scorer{Timeout: "20ms"}, verdict: callvet.VerdictPass,
			state: callvet.AssertNotEvaluated, reason: "it did not answer within 20ms",
		},
	} {
		tc.of.Name = "tone"
		r := scoredBy(t, tc.by, tc.of)
		if r.Verdict != tc.verdict {
			t.Errorf("%s: %s %s, want %s", tc.name, r.Verdict, r.Reason, tc.verdict)
		}
		got := r.Score("scorer.tone")
		if got.Scored != tc.scored || got.Value != tc.score || !tc.scored && got.Reason != tc.reason {
			t.Errorf("%s: score %+v", tc.name, got)
		}
		var of callvet.Assertion
		for _, a := range r.Assertions {
			if a.Name == "scorer.tone" {
				of = a
			}
		}
		if of.State != tc.state || of.Reason != tc.reason || of.Actual != tc.actual || tc.state != "" &&
			of.Version != "v1" {
			t.Errorf("%s: %+v", tc.name, of)
		}
		if n := r.NotEvaluated; (n == 1) != (tc.state == callvet.AssertNotEvaluated) {
			t.Errorf("%s: %d assertions were not evaluated", tc.name, n)
		}
	}
}

func TestValuesAreScores(t *testing.T) {
	t.Parallel()
	r := scoredBy(t,
		fixed{opinion: score.Opinion{Score: ptr(0.5), Values: map[string]float64{"warm": 1, "brief": 0.25}}},
		callvet.Scorer{Name: "tone"})
	for name, want := range map[string]float64{"scorer.tone": 0.5, "scorer.tone.warm": 1, "scorer.tone.brief": 0.25} {
		if s := r.Score(name); !s.Scored || s.Value != want {
			t.Errorf("%s: %+v, want %g", name, s, want)
		}
	}
}

// TestBlind: a scorer that is blind does not see what is expected, and none sees the scorers.
func TestBlind(t *testing.T) {
	t.Parallel()
	for _, blind := range []bool{false, true} {
		var text string
		scoredBy(t, fixed{opinion: score.Opinion{Pass: ptr(true)}, saw: func(a *score.Attempt) {
			b, err := json.Marshal(a)
			if err != nil {
				t.Error(err)
			}
			text = string(b)
		}}, callvet.Scorer{Name: "tone", Blind: blind})
		if strings.Contains(text, "response_non_empty") == blind || strings.Contains(text, "tone") {
			t.Errorf("blind %t: %s", blind, text)
		}
		var got struct {
			Case  struct{ Prompt string }
			Calls []struct {
				Tool string
				Args map[string]string
			}
			Turns []struct{ Role string }
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Case.Prompt != "Weather in Paris?" ||
			len(got.Calls) != 1 || got.Calls[0].Args["city"] != "Paris" || len(got.Turns) != 2 {
			t.Errorf("%v %+v", err, got)
		}
	}
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{
		`answer contains case.prompt`:                              "fail",
		`answer contains "Paris" && "eu" in case.tags`:             "pass",
		`calls[0].args.city == "Paris" and calls[0].result.t < 10`: "pass",
		// a model does not pass by doing nothing
		`calls[1].args.city == "Paris"`:                                          "fail",
		`len(calls) == 1 && outcome == "called" && turns[1].role == "assistant"`: "pass",
		// measures 0.5, and decides nothing
		`count(calls, .tool == "weather") / 2`: "pass",
		`len(calls) + 1`:                       "not evaluated",
		`answer`:                               "not evaluated",
		`len(calls) / missing`:                 "not evaluated",
	} {
		r := scoredBy(t, nil, callvet.Scorer{Name: "rule", Expr: expr})
		got := string(r.Verdict)
		if r.NotEvaluated > 0 {
			got = "not evaluated"
		}
		if got != want {
			t.Errorf("%s: %s %s %+v, want %s", expr, got, r.Reason, r.Unevaluated(), want)
		}
	}
	if s := scoredBy(t, nil, callvet.Scorer{
		Name: "rule", Expr: `len(calls) / 2`,
		Threshold: ptr(0.6),
	}); s.Verdict != callvet.VerdictFail || s.Class != callvet.ClassAnswer ||
		s.Reason != "scorer.rule: expected at least 0.6 of len(calls) / 2, got 0.5" {
		t.Errorf("%+v", s)
	}
}

// TestScorersThatCannotBe: the mistakes of a scorer are reported when its case is compiled, and
// the scorer judges nothing.
func TestScorersThatCannotBe(t *testing.T) {
	t.Parallel()
	for want, list := range map[string][]callvet.Scorer{
		`scorers[0].expr: invalid: at character 9: unexpected token EOF`: {{Name: "a", Expr: "answer =="}},
		`scorers[0].name: "a b" cannot be the name of a scorer`:          {{Name: "a b", Expr: "true"}},
		`scorers[1].name: the name "a" is used twice`: {
			{Name: "a", Expr: "true"},
			{Name: "a", Expr: "false"},
		},
		`scorers[0]: expr and exec exclude each other`: {{
			Name: "a", Expr: "true",
			Exec: "x",
		}},
		`scorers[0].timeout: timeout 2h is not above 0 and at most 10m0s: invalid`: {{
			Name: "a", Expr: "true",
			Timeout: "2h",
		}},
		`scorers[0].threshold: the threshold 2 is not in [0, 1]`: {{
			Name: "a", Expr: "true",
			Threshold: ptr(2.0),
		}},
	} {
		s, _ := score.New(&callvet.Suite{}, score.Config{})
		_, problems := s.Compile(&callvet.Case{ID: "c", Expect: callvet.Expect{Scorers: list}})
		got := ""
		for _, p := range problems {
			got += p.Key + ": " + p.Message
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	s, problems := score.New(
		&callvet.Suite{Defaults: callvet.Defaults{Scorers: []callvet.Scorer{{Name: "a", Expr: "("}}}}, score.Config{})
	if len(problems) != 1 || problems[0].Key != "scorers[0].expr" {
		t.Error(problems)
	}
	k, _ := s.Compile(&callvet.Case{
		ID:     "c",
		Expect: callvet.Expect{Scorers: []callvet.Scorer{{Name: "a", Exec: "x"}, {Name: "b"}}},
	})
	tr := callvet.Trace{Answer: "x", Outcome: callvet.OutcomeAbstained}
	if r := k.Score(&tr); r.Verdict != callvet.VerdictNotRun || r.NotEvaluated != 2 ||
		r.Reason != "nothing could be evaluated: scorer.a: it runs a program, and nothing here does, and 1 more" {
		t.Errorf("%+v", r)
	}
}

// TestJudgeIsBrokenOff: an attempt is not half judged.
func TestJudgeIsBrokenOff(t *testing.T) {
	t.Parallel()
	s, _ := score.New(&callvet.Suite{},
		score.Config{Custom: func(*callvet.Scorer) (score.Custom, error) { return fixed{waits: true}, nil }})
	k, _ := s.Compile(&callvet.Case{ID: "c", Expect: callvet.Expect{Scorers: []callvet.Scorer{{Name: "a"}}}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Judge(ctx, &callvet.Trace{Outcome: callvet.OutcomeAbstained}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestMeasuringIsNoVerdict: a case that only measures reports what it lacks.
func TestMeasuringIsNoVerdict(t *testing.T) {
	t.Parallel()
	s, _ := score.New(&callvet.Suite{}, score.Config{})
	k, _ := s.Compile(&callvet.Case{
		ID:     "c",
		Expect: callvet.Expect{Scorers: []callvet.Scorer{{Name: "a", Expr: "0.5"}}},
	})
	if r := k.Score(&callvet.Trace{Outcome: callvet.OutcomeAbstained}); r.Verdict != callvet.VerdictNotRun ||
		!strings.Contains(r.Reason, "give a scorer a threshold") {
		t.Errorf("%+v", r)
	}
}
