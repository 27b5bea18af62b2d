// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// same compares scores, where NaN means undefined.
var same = cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateApprox(0, 1e-15)}

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		expected, acceptable, selected []string
		want                           Match
		jaccard                        float64
	}{
		{nil, nil, nil, Exact, 1},
		{[]string{"a"}, nil, nil, None, 0},
		{[]string{"a", "b"}, nil, []string{"b", "a", "a"}, Exact, 1},
		{[]string{"a"}, []string{"b"}, []string{"b"}, Acceptable, 0},
		{[]string{"a", "b"}, nil, []string{"a", "c"}, Partial, 1.0 / 3},
		{[]string{"a"}, []string{"b"}, []string{"b", "c"}, Partial, 0},
		{[]string{"a"}, []string{"b"}, []string{"c"}, None, 0},
		{nil, []string{"b"}, []string{"b", "c"}, Partial, 0},
	} {
		if got := Compare(tc.expected, tc.acceptable, tc.selected); got != tc.want {
			t.Errorf("%v or %v, selected %v: %s, want %s", tc.expected, tc.acceptable, tc.selected, got, tc.want)
		}
		if got := Jaccard(tc.expected, tc.selected); got != tc.jaccard {
			t.Errorf("Jaccard of %v and %v: %g", tc.expected, tc.selected, got)
		}
	}
}

func TestNothingIsNaN(t *testing.T) {
	t.Parallel()
	c, ok := Confuse(nil, nil)
	if !ok {
		t.Fatal("nothing was rejected")
	}
	mean, used, _ := Composite([]float64{1}, []float64{math.NaN()})
	for name, x := range map[string]float64{
		"accuracy": c.Accuracy, "mcc": c.MCC, "macro f1": c.MacroF1, "overcall": Overcalls{}.Rate(),
		"recall":   Selection{}.Recall(),
		"balanced": Selection{Right: 1}.Balanced(), "composite": mean,
	} {
		if !math.IsNaN(x) {
			t.Errorf("%s of nothing is %g", name, x)
		}
	}
	if used != 0 {
		t.Errorf("weight %g", used)
	}
	if _, ok := Rank(nil, []string{"a"}, 1); ok {
		t.Error("a ranking for nothing")
	}
	if _, ok := Confuse([]string{"a"}, nil); ok {
		t.Error("slices of different length")
	}
	if _, _, ok := Composite([]float64{-1}, []float64{1}); ok {
		t.Error("a negative weight")
	}
}

func TestConfuse(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for name, tc := range map[string]struct {
		expected, predicted []string
		want                Confusion
	}{
		"d is never expected and e never predicted": {
			[]string{"a", "b", "a", "e", "a", "b"},
			[]string{"a", "d", "a", "d", "b", "b"},
			Confusion{
				Labels:    []string{"a", "b", "d", "e"},
				Matrix:    [][]int{{2, 1, 0, 0}, {0, 1, 1, 0}, {0, 0, 0, 0}, {0, 0, 1, 0}},
				Accuracy:  3.0 / 6,
				Precision: []float64{1, 1.0 / 2, 0, nan},
				Recall:    []float64{2.0 / 3, 1.0 / 2, nan, 0},
				F1:        []float64{4.0 / 5, 1.0 / 2, 0, 0},
				MacroF1:   1.3 / 4, WeightedF1: (3*0.8 + 2*0.5) / 6, MacroRecall: (2.0/3 + 1.0/2) / 3,
				// Rows have 3, 2, 0 and 1 cases, columns 2, 2, 2 and 0.
				MCC: (3*6 - 10) / math.Sqrt((36-14)*(36-12)),
			},
		},
		"two labels as in the fourfold table": {
			[]string{"no", "no", "no", "yes", "yes", "yes", "yes"},
			[]string{"no", "no", "yes", "yes", "yes", "yes", "no"},
			Confusion{
				Labels: []string{"no", "yes"}, Matrix: [][]int{{2, 1}, {1, 3}}, Accuracy: 5.0 / 7,
				Precision: []float64{2.0 / 3, 3.0 / 4}, Recall: []float64{2.0 / 3, 3.0 / 4},
				F1:      []float64{2.0 / 3, 3.0 / 4},
				MacroF1: 17.0 / 24, WeightedF1: 5.0 / 7, MacroRecall: 17.0 / 24,
				MCC: (3.0*2 - 1*1) / math.Sqrt(4*4*3*3),
			},
		},
		"what is expected never varies": {
			[]string{"a", "a"},
			[]string{"a", "b"},
			Confusion{
				Labels: []string{"a", "b"}, Matrix: [][]int{{1, 1}, {0, 0}}, Accuracy: 0.5,
				Precision: []float64{1, 0}, Recall: []float64{0.5, nan}, F1: []float64{2.0 / 3, 0},
				MacroF1: 1.0 / 3, WeightedF1: 2.0 / 3, MacroRecall: 0.5, MCC: 0,
			},
		},
		"all is wrong": {
			[]string{"a", "b"},
			[]string{"b", "a"},
			Confusion{
				Labels: []string{"a", "b"}, Matrix: [][]int{{0, 1}, {1, 0}},
				Precision: []float64{0, 0}, Recall: []float64{0, 0}, F1: []float64{0, 0}, MCC: -1,
			},
		},
	} {
		got, ok := Confuse(tc.expected, tc.predicted)
		if d := cmp.Diff(tc.want, got, same); d != "" || !ok {
			t.Errorf("%s: ok %t\n%s", name, ok, d)
		}
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	second := 1 / math.Log2(3) // the discount of rank 2; that of rank 3 is 1/2
	for name, tc := range map[string]struct {
		expected, retrieved []string
		k                   int
		want                Ranking
		ok                  bool
	}{
		"repeated tools count once and take no rank": {
			[]string{"a", "b", "c", "a"},
			[]string{"x", "a", "a", "x", "b", "y", "c"},
			4,
			Ranking{
				Recall: 2.0 / 3, Precision: 2.0 / 4, MRR: 1.0 / 2, AP: (1.0/2 + 2.0/3) / 3,
				NDCG: (second + 1.0/2) / (1 + second + 1.0/2), Hit: true,
			},
			true,
		},
		"k is smaller than what is expected": {
			[]string{"a", "b", "c"},
			[]string{"a", "b", "c"},
			2,
			Ranking{Recall: 2.0 / 3, Precision: 1, MRR: 1, AP: 1, NDCG: 1, Hit: true},
			true,
		},
		"fewer are retrieved than k": {
			[]string{"a", "b"},
			[]string{"b"},
			5,
			Ranking{Recall: 1.0 / 2, Precision: 1.0 / 5, MRR: 1, AP: 1.0 / 2, NDCG: 1 / (1 + second), Hit: true},
			true,
		},
		"the first alone":     {[]string{"a"}, []string{"b", "a"}, 1, Ranking{}, true},
		"nothing is found":    {[]string{"a"}, []string{"b", "c"}, 2, Ranking{}, true},
		"nothing retrieved":   {[]string{"a"}, nil, 2, Ranking{}, true},
		"none of the list":    {[]string{"a"}, []string{"a"}, 0, Ranking{}, false},
		"nothing is expected": {nil, []string{"a"}, 1, Ranking{}, false},
	} {
		got, ok := Rank(tc.expected, tc.retrieved, tc.k)
		if d := cmp.Diff(tc.want, got, same); d != "" || ok != tc.ok {
			t.Errorf("%s: ok %t\n%s", name, ok, d)
		}
	}
}

func TestComposite(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	type result struct {
		Mean, Used float64
		OK         bool
	}
	for name, tc := range map[string]struct {
		weights, scores []float64
		want            result
	}{
		"a layer that was not evaluated leaves its weight to the others": {
			[]float64{2, 1, 3},
			[]float64{1, nan, 0.5},
			result{0.7, 5, true},
		},
		"a weight of 0 is allowed": {
			[]float64{0, 2},
			[]float64{1, 0.5},
			result{0.5, 2, true},
		},
		"no weight at all": {
			[]float64{0},
			[]float64{1},
			result{nan, 0, true},
		},
		"nothing evaluated": {
			[]float64{1},
			[]float64{nan},
			result{nan, 0, true},
		},
		"a negative weight": {
			[]float64{-1},
			[]float64{1},
			result{nan, 0, false},
		},
		"a negative weight of an unevaluated score": {
			[]float64{-1},
			[]float64{nan},
			result{nan, 0, false},
		},
		"a weight that is no number": {
			[]float64{nan},
			[]float64{1},
			result{nan, 0, false},
		},
		"more weights than scores": {
			[]float64{1, 2},
			[]float64{1},
			result{nan, 0, false},
		},
		"more scores than weights": {
			[]float64{1},
			[]float64{1, 1},
			result{nan, 0, false},
		},
	} {
		mean, used, ok := Composite(tc.weights, tc.scores)
		if d := cmp.Diff(tc.want, result{mean, used, ok}, same); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestScoreTurns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tools, parameters                   float64
		optimal, actual, redundant, detours int
		want                                MultiTurn
	}{
		"all parts":                   {0.75, 1, 4, 5, 2, 3, MultiTurn{0.85, 0.8, 0.18}},
		"parameters weigh less":       {0.5, 0.25, 1, 1, 0, 0, MultiTurn{0.4, 1, 0.4}},
		"without parameters":          {0.75, math.NaN(), 2, 4, 1, 0, MultiTurn{0.75, 0.5, 0.275}},
		"fewer hops than the optimum": {1, 1, 3, 2, 0, 0, MultiTurn{1, 1, 1}},
		"none was needed, none made":  {1, 1, 0, 0, 0, 0, MultiTurn{1, 1, 1}},
		"none was needed, one made":   {1, 1, 0, 1, 0, 0, MultiTurn{1, 0, 0}},
		"some were needed, none made": {1, 1, 2, 0, 0, 0, MultiTurn{1, 0, 0}},
		"never below 0":               {0.5, 0.5, 1, 1, 4, 2, MultiTurn{0.5, 1, 0}},
	} {
		got := ScoreTurns(tc.tools, tc.parameters, tc.optimal, tc.actual, tc.redundant, tc.detours)
		if d := cmp.Diff(tc.want, got, cmpopts.EquateApprox(0, 1e-15)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	choice := []string{"a", "b"}
	var s Selection
	for d, times := range map[*Decision]int{
		{Need: Needed, Acceptable: choice, Called: "b"}:    7,
		{Need: Needed, Acceptable: choice, Called: "c"}:    4,
		{Need: Needed, Called: "c"}:                        1,
		{Need: Needed, Acceptable: choice}:                 3,
		{Need: NotNeeded, Acceptable: choice, Called: "a"}: 2,
		{Need: NotNeeded, Acceptable: choice}:              11,
		{Acceptable: choice, Called: "a"}:                  12,
		{}:                                                 1,
	} {
		for range times {
			s.Add(*d)
		}
	}
	want := Selection{Right: 7, WrongTool: 5, Missed: 3, Spurious: 2, CorrectAbstain: 11, Unlabelled: 13}
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
	for name, tc := range map[string]struct{ got, want float64 }{
		"accuracy":              {want.Accuracy(), 18.0 / 28},
		"recall":                {want.Recall(), 7.0 / 15},
		"precision":             {want.Precision(), 7.0 / 14},
		"right tool of calls":   {want.ToolGivenCall(), 7.0 / 12},
		"abstention":            {want.Abstention(), 11.0 / 13},
		"balanced":              {want.Balanced(), (7.0/15 + 11.0/13) / 2},
		"accuracy of nothing":   {Selection{Unlabelled: 3}.Accuracy(), math.NaN()},
		"no case without need":  {Selection{Right: 3}.Abstention(), math.NaN()},
		"no call":               {Selection{Missed: 3, CorrectAbstain: 1}.Precision(), math.NaN()},
		"no call that was due":  {Selection{Missed: 3, Spurious: 1}.ToolGivenCall(), math.NaN()},
		"no case with any need": {Selection{CorrectAbstain: 3}.Balanced(), math.NaN()},
	} {
		if d := cmp.Diff(tc.want, tc.got, same); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestOvercalls(t *testing.T) {
	t.Parallel()
	type rates struct {
		Tasks, WithoutCalls, Unnecessary, Labelled, Total int
		Rate, Coverage, MacroRate, PerTask                float64
	}
	nan := math.NaN()
	for name, tc := range map[string]struct {
		tasks [][]Need
		want  rates
	}{
		"no task": {nil, rates{Rate: nan, Coverage: nan, MacroRate: nan, PerTask: nan}},
		"a task without calls": {
			[][]Need{{}},
			rates{Tasks: 1, WithoutCalls: 1, Rate: nan, Coverage: nan, MacroRate: nan},
		},
		"an unlabelled task": {[][]Need{{Unknown, Unknown}}, rates{Tasks: 1, Total: 2, Rate: nan, MacroRate: nan}},
		"all kinds": {
			[][]Need{{Needed, NotNeeded, Unknown}, {}, {Unknown}, {NotNeeded, Needed, Needed, Needed}, {Needed}},
			rates{5, 1, 2, 7, 9, 2.0 / 7, 7.0 / 9, (1.0/2 + 1.0/4) / 3, 2.0 / 5},
		},
	} {
		var o Overcalls
		for _, calls := range tc.tasks {
			o.Add(calls)
		}
		got := rates{
			o.Tasks, o.WithoutCalls, o.Unnecessary, o.Labelled, o.Total, o.Rate(), o.Coverage(), o.MacroRate(),
			o.PerTask(),
		}
		if d := cmp.Diff(tc.want, got, same); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
