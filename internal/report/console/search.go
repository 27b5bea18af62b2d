// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/report/plain"
)

// printFigure prints an estimated figure in a form with its value, or why it is not known.
func printFigure(w io.Writer, name, form string, e *runs.Estimate) {
	if e.Value != nil {
		fmt.Fprintf(w, "%s: "+form+", by %s\n", name, *e.Value, plain.Line(e.Basis))
	} else {
		fmt.Fprintf(w, "%s: not known: %s\n", name, plain.Line(e.Reason))
	}
}

// SearchEstimate writes the requests of a planned search.
func SearchEstimate(out io.Writer, e *tunes.SearchEstimate) error {
	w := &bytes.Buffer{}
	printCases(w, &e.Cases)
	for i := range e.Models {
		m := &e.Models[i]
		if m.Matrix == nil {
			fmt.Fprintf(w, "%s: at most %s\n", plain.Line(m.Model), plain.Count(m.Tried, "prompt", "prompts"))
			continue
		}
		fmt.Fprintf(w, "%s: %s, %d of them different; %d are tried, with what you have\n", plain.Line(m.Model),
			plain.Count(m.Combinations, "combination", "combinations"), m.Candidates-1, m.Tried)
		printMatrix(w, m.Names, m.Matrix)
	}
	fmt.Fprintf(w,
		"at most %s: %d of the search, %d questions to the model that writes prompts, %d of the confirmation\n",
		plain.Count(e.Calls, "attempt", "attempts"), e.Attempts, e.Questions, e.Confirm)
	printFigure(w, "cost", "at most about $%.4f", &e.CostUSD)
	printFigure(w, "time", "at most about %.0f s", &e.Seconds)
	for _, u := range e.Unkeyed {
		fmt.Fprintf(w, "%s cannot be asked now: %s is missing\n", plain.Line(u.Target), u.Variable)
	}
	if e.Exceeds {
		fmt.Fprintln(w, "the limits may end the search earlier; the confirmation is kept free")
	}
	fmt.Fprintln(w, "nothing was asked or kept")
	_, err := w.WriteTo(out)
	return err
}

// mostRows is how many combinations are listed that cannot be sent unchanged.
const mostRows = 10

// printMatrix writes the combinations that cannot be sent unchanged, with the reason.
func printMatrix(w io.Writer, names []string, m *tunes.Matrix) {
	left := 0
	for i := range m.Rows {
		row := &m.Rows[i]
		if row.Status == tunes.StatusKept {
			continue
		}
		if left++; left > mostRows {
			continue
		}
		why := row.Why
		for _, adj := range row.Adjustments {
			if why != "" {
				why += "; "
			}
			why += fmt.Sprintf("%s %s: %s", adj.Param, adj.Action, adj.Reason)
		}
		fmt.Fprintf(w, "  %s: %s: %s\n", row.Status, tunes.CombinationName(names, row.Values), plain.Line(why))
	}
	if left > mostRows {
		fmt.Fprintf(w, "  … and %d more\n", left-mostRows)
	}
}

func printCases(w io.Writer, c *tunes.Cases) {
	fmt.Fprintf(w, "%s to search with (%s), %s held out (%s)\n", plain.Count(c.Train, "case", "cases"),
		plain.Count(c.TrainFamilies, "family", "families"), plain.Count(c.Holdout, "case", "cases"),
		plain.Count(c.HoldoutFamilies, "family", "families"))
	if c.Regressions > 0 {
		fmt.Fprintf(w, "%s: a winner passes those that pass now\n",
			plain.Count(c.Regressions, "regression case", "regression cases"))
	}
	if c.Skipped+c.Rubrics > 0 {
		fmt.Fprintf(w, "left out: %d skipped, %d that only a judge decides\n", c.Skipped, c.Rubrics)
	}
	if c.Few != "" {
		fmt.Fprintf(w, "no winner can be promoted: %s\n", c.Few)
	}
}

// Search writes a search. line is a command line about it.
func Search(out io.Writer, t *tunes.Tune, line func(verb, search string) string) error {
	w := &bytes.Buffer{}
	what, to := "parameters", " --targets targets.yaml"
	if t.Kind == tunes.Prompt {
		what, to = "prompts", " --suite suite.yaml"
		if t.Request != nil && t.Request.Run.Suite != "" && t.Request.SuiteID == "" {
			to = " --suite " + plain.ShellQuote(t.Request.Run.Suite)
		}
	}
	fmt.Fprintf(w, "search for %s %s, suite %s: %s\n", what, t.ID, plain.Line(t.Suite), t.State)
	printCases(w, &t.Cases)
	for _, n := range t.Notes {
		fmt.Fprintln(w, plain.Line(n))
	}
	for i := range t.Models {
		printModel(w, t, &t.Models[i])
	}
	fmt.Fprintf(w, "\n%s, %s\n", plain.Count(t.Spent.Requests, "request", "requests"), spentBy(t))
	if t.Problem != "" {
		fmt.Fprintf(w, "problem: %s\n", plain.Line(t.Problem))
	}
	if t.State != tunes.Done {
		fmt.Fprintf(w, "go on with: %s\n", line("resume", t.ID))
	}
	for i := range t.Models {
		if t.Models[i].Winner() != nil {
			fmt.Fprintf(w, "apply it with: %s\n", line("apply", t.ID)+to)
			break
		}
	}
	_, err := w.WriteTo(out)
	return err
}

// spentBy is the cost of a search, as far as it is known.
func spentBy(t *tunes.Tune) string {
	usd := plain.Dollars(t.Spent.USD)
	for i := range t.Models {
		for k := range t.Models[i].Candidates {
			if c := &t.Models[i].Candidates[k]; c.CostUSD == nil && c.Attempts > c.Lost {
				return usd + " and costs that are not known"
			}
		}
	}
	return usd
}

// mostCandidates is how many candidates are listed.
const mostCandidates = 15

func printModel(w io.Writer, t *tunes.Tune, m *tunes.ModelSearch) {
	fmt.Fprintf(w, "\n%s\n", plain.Line(m.Model))
	if m.Matrix != nil && m.Matrix.Dropped+m.Matrix.Clamped > 0 {
		fmt.Fprintf(w, "%d combinations: %d kept, %d clamped, %d dropped\n", len(m.Matrix.Rows), m.Matrix.Kept,
			m.Matrix.Clamped,
			m.Matrix.Dropped)
		printMatrix(w, m.Names, m.Matrix)
	}
	list := byScore(m.Candidates)
	for i := range list[:min(len(list), mostCandidates)] {
		c := &list[i]
		mark := " "
		switch {
		case c.N == m.Best:
			mark = "*"
		case slices.Contains(m.Alike, c.N):
			mark = "="
		}
		score := "–"
		if c.Score != nil {
			score = plain.Rate(*c.Score)
		}
		fmt.Fprintf(w, "%s %-22s %s%s\n", mark, score, plain.Line(c.Name), remark(c))
	}
	if n := len(list) - mostCandidates; n > 0 {
		fmt.Fprintf(w, "  … and %d more: --json has all\n", n)
	}
	if len(m.Alike) > 1 {
		fmt.Fprintf(w, "* best on the training cases; = %d that cannot be distinguished from it\n", len(m.Alike)-1)
	}
	printFailures(w, m)
	if m.Ended != "" {
		fmt.Fprintf(w, "the search ended early, by %s\n", m.Ended)
	}
	if m.Sentence != "" {
		fmt.Fprintf(w, "%s\n", plain.Line(m.Sentence))
	}
	if c := m.Confirmation; c != nil {
		fmt.Fprintf(w, "compared on %s with new attempts: %s now, %s with %s; use %d of the held-out cases\n",
			plain.Count(c.Cases, "held-out case", "held-out cases"), plain.Percent(c.Base), plain.Percent(c.Candidate),
			plain.Line(m.CandidateOf(m.Best).Name), c.Use)
	}
}

// printFailures counts the unusable answers of the prompt-writing model, by reason.
func printFailures(w io.Writer, m *tunes.ModelSearch) {
	var kinds []string
	count, detail := map[string]int{}, map[string]string{}
	for _, f := range m.Failures {
		kind := string(f.Kind)
		if count[kind]++; count[kind] == 1 {
			kinds, detail[kind] = append(kinds, kind), f.Detail
		}
	}
	for _, kind := range kinds {
		fmt.Fprintf(w, "not used, %s: %s\n", plain.Count(count[kind], "time", "times"), plain.Line(detail[kind]))
	}
}

// remark is the remark on a candidate.
func remark(c *tunes.Candidate) string {
	switch {
	case c.Broken != "":
		return "  out: " + plain.Line(c.Broken)
	case c.Dropped != nil && c.Dropped.Ranked:
		return fmt.Sprintf("  left after %d cases: not among the best third", c.Tasks)
	case c.Dropped != nil:
		return fmt.Sprintf("  left after %d cases: worse", c.Tasks)
	case c.N == 0:
		return "  what you have"
	}
	return ""
}

// byScore are candidates in the order of their scores, those with all cases first.
func byScore(list []tunes.Candidate) []tunes.Candidate {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y tunes.Candidate) int {
		return cmp.Or(cmp.Compare(y.Tasks, x.Tasks), cmp.Compare(scoreForOrder(&y), scoreForOrder(&x)))
	})
	return list
}

func scoreForOrder(c *tunes.Candidate) float64 {
	if c.Score == nil {
		return -1
	}
	return c.Score.Point
}
