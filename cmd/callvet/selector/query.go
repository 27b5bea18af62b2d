// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider/retriever"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/report/selection"
	"github.com/callvet/callvet/panel/routing"
	rules "github.com/callvet/callvet/score/selection"
)

// Answer is what one question got.
type Answer struct {
	Format   string           `json:"format"`
	Version  int              `json:"version"`
	Query    string           `json:"query"`
	Decision callvet.Decision `json:"decision"`
	// Verdict and Scores hold the decision against the expected tools, where there
	// are any; Why has each expected tool that is not first.
	Verdict callvet.Verdict     `json:"verdict,omitempty"`
	Scores  []callvet.Score     `json:"scores,omitempty"`
	Why     []routing.Diagnosis `json:"why,omitempty"`
	// Models are those that were asked for vectors and orders.
	Models []report.ModelUse `json:"models,omitempty"`
}

// Query asks one question.
func Query(ctx context.Context, r *retriever.Retriever, question string, expect []string, k int) (*Answer, error) {
	d, err := r.Decide(ctx, question)
	if err != nil {
		return nil, err
	}
	a := &Answer{Format: "callvet.query", Version: 1, Query: question, Decision: *d}
	if expect == nil {
		return a, nil
	}
	for _, tool := range expect {
		e, err := r.Explain(ctx, question, tool)
		if err != nil {
			return nil, &callvet.Hinted{Err: err, Hint: "an expected tool is named as the catalogue names it"}
		}
		if e.Tool.Rank != 1 && e.Winner != nil {
			a.Why = append(a.Why, Diagnosis(e))
		}
	}
	set := rules.Defaults()
	set.K = Depths(k)
	res := rules.Judge(&callvet.Selection{Tools: expect}, d, set)
	a.Verdict, a.Scores = res.Verdict, res.Scores
	return a, nil
}

// JSON writes an answer.
func (a *Answer) JSON(w io.Writer) error { return json.NewEncoder(w).Encode(a) }

// Text writes an answer for people.
func (a *Answer) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", plain.Line(a.Query))
	selection.Decision(&b, &a.Decision)
	for i := range a.Why {
		y := &a.Why[i]
		place := "is not ranked"
		if y.Rank > 0 {
			place = fmt.Sprintf("has rank %d", y.Rank)
		}
		fmt.Fprintf(&b, "expected %s %s: %.4g (%s)\n", plain.Line(y.Tool.Tool), place, y.Tool.Score, selection.Parts(y.Tool.Parts))
		for _, r := range y.Reasons {
			fmt.Fprintf(&b, "    because %s\n", plain.Line(r))
		}
	}
	if a.Verdict != "" {
		fmt.Fprintf(&b, "%s:", a.Verdict)
		for _, s := range a.Scores {
			fmt.Fprintf(&b, " %s %.3g", s.Name, s.Value)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
