// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"maps"
	"math"
	"slices"

	"github.com/callvet/callvet/stats"
)

func tallies() map[string]Method {
	return map[string]Method{
		"confusion_matrix":  {Run: with(confusion)},
		"selection_table":   {Run: with(selection)},
		"overcall_rate":     {Run: with(overcalls)},
		"match_and_jaccard": {Run: with(match)},
		"retrieval_metrics": {Run: with(retrieval)},
		"composite_score":   {Run: with(composite)},
		"multi_turn_score":  {Run: with(multiTurn)},
	}
}

func confusion(in struct {
	Expected  []string `json:"expected_labels"`
	Predicted []string `json:"predicted_labels"`
},
) Fields {
	c, ok := stats.Confuse(in.Expected, in.Predicted)
	if !ok {
		return rejected("length_mismatch")
	}
	status := stats.StatusOK
	if len(in.Expected) == 0 {
		status = stats.StatusNoData
	}
	return Fields{
		"labels": c.Labels, "matrix": c.Matrix, "accuracy": c.Accuracy, "precision": c.Precision, "recall": c.Recall,
		"f1": c.F1, "macro_f1_all_labels": c.MacroF1, "macro_recall_supported": c.MacroRecall,
		"weighted_f1": c.WeightedF1, "mcc": c.MCC, "status": status,
	}
}

func need(b *bool) stats.Need {
	switch {
	case b == nil:
		return stats.Unknown
	case *b:
		return stats.Needed
	}
	return stats.NotNeeded
}

func selection(in struct {
	Decisions []struct {
		Needed     *bool
		Acceptable []string `json:"acceptable_tools"`
		Called     string
	}
},
) Fields {
	var s stats.Selection
	for _, d := range in.Decisions {
		s.Add(stats.Decision{Need: need(d.Needed), Acceptable: d.Acceptable, Called: d.Called})
	}
	return Fields{
		"counts": Fields{
			"right": s.Right, "wrong_tool": s.WrongTool, "missed": s.Missed, "spurious": s.Spurious,
			"correct_abstain": s.CorrectAbstain, "unlabelled": s.Unlabelled,
		},
		"decision_accuracy": s.Accuracy(), "recall_needed": s.Recall(), "precision_calls": s.Precision(),
		"abstention_accuracy": s.Abstention(), "tool_given_call": s.ToolGivenCall(), "balanced_accuracy": s.Balanced(),
	}
}

func overcalls(in struct {
	Flags [][]*bool `json:"needed_flags_by_task"`
},
) Fields {
	var o stats.Overcalls
	for _, task := range in.Flags {
		calls := make([]stats.Need, len(task))
		for i, f := range task {
			calls[i] = need(f)
		}
		o.Add(calls)
	}
	return Fields{
		"rate": o.Rate(), "unnecessary": o.Unnecessary, "labelled_calls": o.Labelled, "total_calls": o.Total,
		"label_coverage": o.Coverage(), "macro_rate": o.MacroRate(), "unnecessary_per_task": o.PerTask(),
		"tasks_without_calls": o.WithoutCalls,
	}
}

func match(in struct{ Expected, Acceptable, Selected []string }) Fields {
	return Fields{
		"jaccard": stats.Jaccard(in.Expected, in.Selected),
		"match":   string(stats.Compare(in.Expected, in.Acceptable, in.Selected)),
	}
}

func retrieval(in struct {
	Expected, Retrieved []string
	K                   int
},
) Fields {
	r, ok := stats.Rank(in.Expected, in.Retrieved, in.K)
	if !ok {
		if in.K < 1 {
			return rejected("invalid_input")
		}
		return Fields{"status": stats.StatusNoGold}
	}
	return Fields{
		"recall": r.Recall, "precision_at_k": r.Precision, "mrr": r.MRR, "ndcg": r.NDCG, "ap": r.AP, "hit": r.Hit,
		"status": stats.StatusOK,
	}
}

func composite(in struct {
	Weights map[string]float64
	Scores  map[string]*float64
},
) Fields {
	var weights, scores []float64
	for _, layer := range slices.Sorted(maps.Keys(in.Weights)) {
		weights = append(weights, in.Weights[layer])
		scores = append(scores, orNaN(in.Scores[layer]))
	}
	mean, used, ok := stats.Composite(weights, scores)
	if !ok {
		return rejected("invalid_input")
	}
	return Fields{"composite": mean, "weight_used": used}
}

func orNaN(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

func multiTurn(in struct {
	Tool      float64  `json:"tool_score"`
	Param     *float64 `json:"param_score"`
	Optimal   int      `json:"optimal_hops"`
	Actual    int      `json:"actual_hops"`
	Redundant int
	Detours   int
},
) Fields {
	m := stats.ScoreTurns(in.Tool, orNaN(in.Param), in.Optimal, in.Actual, in.Redundant, in.Detours)
	return Fields{"completion": m.Completion, "efficiency": m.Efficiency, "overall": m.Overall}
}
