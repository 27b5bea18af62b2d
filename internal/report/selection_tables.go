// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// Limits of the tables; the rest is counted in the note.
const (
	maxRows   = 30
	maxFailed = 20
)

// SelectionTables are the tables of a target that have rows.
func SelectionTables(t *panel.RoutingTarget) []Table {
	all := []Table{
		layers(t), strange(t), matches(t), metrics(t), selectionSlicesOf(t), patterns(t),
		matrix(t, "Routes", t.Routes), matrix(t, "Agents", t.Agents),
		pairs("Tools confused at the first place", t.Unit(), t.Tools), recommendations(t),
	}
	for i := range all {
		all[i].Folded = !slices.Contains([]string{"Layers", "Scores", "Tools given"}, all[i].Title)
	}
	return slices.DeleteFunc(all, func(t Table) bool { return len(t.Rows) == 0 })
}

// strange lists the notes on odd answers.
func strange(t *panel.RoutingTarget) Table {
	out := Table{Title: "Strange answers", Columns: texts("what is strange"), Prose: true}
	for _, n := range t.Notes {
		out.Rows = append(out.Rows, []string{plain.Line(n)})
	}
	return out
}

func layers(t *panel.RoutingTarget) Table {
	out := Table{Title: "Layers", Columns: texts("layer", "right [95 %]", t.Unit(), "p50", "p90")}
	for i := range t.Layers {
		l := &t.Layers[i]
		ms := func(m panel.Metric) string { return plain.Amount(&m) }
		name := strings.ReplaceAll(l.Layer, "_", "-")
		if l.Layer == callvet.SelectTools {
			name = "tools (all expected given)"
		}
		out.Rows = append(out.Rows, []string{
			name, plain.Amount(&l.Metric), plain.Thousands(l.Metric.Seen()),
			ms(panel.Metric{Unit: panel.UnitMS, Interval: l.P50}),
			ms(panel.Metric{Unit: panel.UnitMS, Interval: l.P90}),
		})
	}
	for i, c := range t.FirstWrong {
		if i == 0 {
			out.Note = "First wrong layer:"
			if t.Attempts > t.Cases {
				out.Note = "First wrong layer, by attempts:"
			}
		}
		out.Note += fmt.Sprintf(" %s %d,", strings.ReplaceAll(strings.TrimPrefix(c.Name, "wrong_"), "_", "-"), c.N)
	}
	out.Note = strings.TrimSpace(strings.TrimSuffix(out.Note, ",") + misses(t))
	return out
}

// misses counts the wrong tools that earlier layers blocked, and the tools that were wrong on
// their own.
func misses(t *panel.RoutingTarget) string {
	blocked, own, out := 0, 0, ""
	for _, c := range t.ToolMisses {
		if c.Name == callvet.SelectTools {
			own = c.N
			continue
		}
		blocked += c.N
		out += fmt.Sprintf(", %d blocked by %s", c.N, strings.ReplaceAll(c.Name, "_", "-"))
	}
	if own+blocked == 0 {
		return ""
	}
	return fmt.Sprintf(". Tools wrong: %d, of their own %d%s", own+blocked, own, out)
}

func matches(t *panel.RoutingTarget) Table {
	out := Table{Title: "Tools given", Columns: texts("match", t.Unit(), "share")}
	total := 0
	for _, m := range t.Matches {
		total += m.N
	}
	for _, m := range t.Matches {
		out.Rows = append(out.Rows,
			[]string{m.Name, plain.Thousands(m.N), plain.Percent(float64(m.N) / float64(max(total, 1)))})
	}
	if t.Unequal > 0 {
		out.Note = fmt.Sprintf(
			"In %d of %d %s another number of different tools was given than is expected: they cannot match exactly.",
			t.Unequal, t.Attempts, t.Unit())
	}
	return out
}

func metrics(t *panel.RoutingTarget) Table {
	out := Table{Title: "Scores", Columns: texts("score", "value [95 %]", "n")}
	for i := range t.Metrics {
		m := &t.Metrics[i]
		out.Rows = append(out.Rows, []string{m.Title, plain.Amount(m), plain.Thousands(m.Seen())})
	}
	if best := t.CompositeBest; best != nil && best.Interval.Defined() && best.Interval.Point < 1 {
		out.Note = fmt.Sprintf(
			"With as many tools as were given, a composite of %s was within reach: more tools than are expected are a partial match at best.", plain.Percent(best.Interval.Point))
	}
	if len(t.Weights) > 0 {
		out.Note = strings.TrimSpace(out.Note + " " + weights(t.Weights))
	}
	return out
}

func weights(ws []panel.RoutingWeight) string {
	var list []string
	for _, w := range ws {
		text := fmt.Sprintf("%s %.3g", strings.ReplaceAll(w.Layer, "_", "-"), w.Weight)
		if w.Exact+w.Acceptable > 0 {
			text += fmt.Sprintf(" (exact %.3g, acceptable %.3g)", w.Exact, w.Acceptable)
		}
		list = append(list, text)
	}
	return "The composite weighs " + strings.Join(list, ", ") + ", of the layers judged."
}

func selectionSlicesOf(t *panel.RoutingTarget) Table {
	out := Table{Title: "Slices", Columns: texts("slice", "cases")}
	var names []string
	for i := range t.Slices {
		for _, m := range t.Slices[i].Metrics {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
				out.Columns = append(out.Columns, Column{Title: m.Title})
			}
		}
	}
	for i := range t.Slices {
		s := &t.Slices[i]
		row := []string{plain.Limited(plain.Line(s.Key+"="+s.Value), 40), plain.Thousands(s.Cases)}
		for _, n := range names {
			at := slices.IndexFunc(s.Metrics, func(m panel.Metric) bool { return m.Name == n })
			if at < 0 {
				row = append(row, "–")
				continue
			}
			row = append(row, plain.Amount(&s.Metrics[at]))
		}
		out.Rows = append(out.Rows, row)
	}
	if n := t.TagsLeftOut; n > 0 && len(out.Rows) > 0 {
		out.Note = plain.Count(n, "tag", "tags") + " of fewer than 5 cases left out."
	}
	return out.more(maxRows, "slices")
}

func patterns(t *panel.RoutingTarget) Table {
	out := Table{
		Title:   "Failures by tag",
		Columns: texts("tag", "failed cases", "others failed", "lift", "p", "p over all tags"),
		Note:    "Fisher's exact test; over all tags by Benjamini and Hochberg.",
	}
	if t.Attempts > t.Cases {
		out.Note = "A case fails when most of its attempts do. " + out.Note
	}
	for _, p := range t.Patterns {
		out.Rows = append(out.Rows, []string{
			plain.Limited(plain.Line(p.Tag), 40), fmt.Sprintf("%d of %d", p.Failed, p.Of),
			fmt.Sprintf("%d of %d", p.RestFailed, p.Rest), fmt.Sprintf("%.2f", p.Lift), plain.P(p.P),
			plain.P(p.Adjusted),
		})
	}
	return out.more(10, "tags")
}

// maxLabels bounds the columns of a matrix; with more labels the wrong pairs are listed.
const maxLabels = 8

// matrix has a row for each expected label and a column for each chosen one.
func matrix(t *panel.RoutingTarget, title string, all []panel.Confused) Table {
	var want, got []string
	n := map[[2]string]int{}
	for _, c := range all {
		n[[2]string{c.Expected, c.Called}] += c.N
		want, got = append(want, c.Expected), append(got, c.Called)
	}
	want, got = slices.Compact(slices.Sorted(slices.Values(want))), slices.Compact(slices.Sorted(slices.Values(got)))
	if len(want) > maxLabels || len(got) > maxLabels {
		wrong := slices.DeleteFunc(slices.Clone(all), func(c panel.Confused) bool { return c.Expected == c.Called })
		return pairs(title+" taken for others", t.Unit(), wrong)
	}
	out := Table{
		Title: title, Columns: texts("expected"),
		Note: "Columns are what was chosen, by " + t.Unit() + ".",
	}
	for _, g := range got {
		out.Columns = append(out.Columns, Column{Title: plain.Line(g)})
	}
	for _, w := range want {
		row := []string{plain.Line(w)}
		for _, g := range got {
			cell := "–"
			if k := n[[2]string{w, g}]; k > 0 {
				cell = plain.Thousands(k)
			}
			row = append(row, cell)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func pairs(title, count string, list []panel.Confused) Table {
	out := Table{Title: title, Columns: texts("expected", "got", count)}
	for _, c := range list {
		out.Rows = append(out.Rows, []string{plain.Line(c.Expected), plain.Line(c.Called), plain.Thousands(c.N)})
	}
	return out.more(15, "pairs")
}

func recommendations(t *panel.RoutingTarget) Table {
	out := Table{Title: "What to look at", Columns: texts("recommendation", "evidence", ""), Prose: true}
	for _, r := range t.Recommendations {
		sure := "may be chance"
		switch {
		case r.Counted:
			sure = "counted"
		case r.Certain:
			sure = "beyond chance"
		}
		out.Rows = append(out.Rows, []string{plain.Line(r.Text), plain.Line(r.Evidence), sure})
	}
	return out
}

// SelectionFailure is a failed case as every face writes it.
type SelectionFailure struct {
	Title, Query string
	Lines        []string
}

// FailedSelections are the failed cases that are shown, at most the given number; 0 means the
// usual number, -1 all that are kept.
func FailedSelections(t *panel.RoutingTarget, most int) []SelectionFailure {
	switch {
	case most == 0:
		most = maxFailed
	case most < 0:
		most = len(t.Failed)
	}
	var out []SelectionFailure
	for i := range t.Failed[:min(len(t.Failed), most)] {
		f := &t.Failed[i]
		one := SelectionFailure{
			Title: plain.Line(f.Case) + ": " + panel.Word(string(f.Class)),
			Query: plain.Limited(plain.Line(f.Query), 300), Lines: []string{plain.Line(f.Reason)},
		}
		if len(f.Got.Tools) > 0 {
			line := "given: " + ranked(f.Got.Given())
			if n := len(f.Got.Tools) - len(f.Got.Given()); n > 0 {
				line += fmt.Sprintf("; %d more that were not asked for do not count", n)
			}
			one.Lines = append(one.Lines, line)
		}
		if f.Routed != "" {
			one.Lines = append(one.Lines, plain.Line(f.Routed))
		}
		for j := range f.Diagnose {
			one.Lines = append(one.Lines, diagnosis(&f.Diagnose[j])...)
		}
		out = append(out, one)
	}
	return out
}

// ranked writes up to five tools with their scores.
func ranked(tools []callvet.Ranked) string {
	var b strings.Builder
	for i, r := range tools {
		if i == 5 {
			fmt.Fprintf(&b, ", … %d more", len(tools)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %.3g", plain.Line(r.Tool), r.Score)
	}
	return b.String()
}

func diagnosis(d *panel.RoutingDiagnosis) []string {
	place := "not ranked"
	if d.Rank > 0 {
		place = fmt.Sprintf("rank %d", d.Rank)
	}
	out := []string{fmt.Sprintf("expected %s: %s, %.3g (%s)", plain.Line(d.Tool.Tool), place, d.Tool.Score,
		QuestionParts(d.Tool.Parts))}
	if d.Winner.Tool != "" && d.Winner.Tool != d.Tool.Tool {
		out = append(out, fmt.Sprintf("winner   %s: %.3g (%s)", plain.Line(d.Winner.Tool), d.Winner.Score,
			QuestionParts(d.Winner.Parts)))
	}
	for i, r := range d.Reasons {
		if i == 3 {
			break
		}
		out = append(out, "because "+plain.Line(r))
	}
	return out
}

// QuestionParts writes the terms of a score, and the terms that a reranker replaced.
func QuestionParts(parts []callvet.Part) string {
	if len(parts) == 0 {
		return "no terms"
	}
	var terms, before []string
	for _, p := range parts {
		if name, ok := strings.CutPrefix(p.Name, callvet.PartBefore); ok {
			before = append(before, fmt.Sprintf("%s %.3g", plain.Line(name), p.Value))
			continue
		}
		terms = append(terms, fmt.Sprintf("%s %.3g", plain.Line(p.Name), p.Value))
	}
	out := strings.Join(terms, " + ")
	if len(before) > 0 {
		out += "; before: " + strings.Join(before, ", ")
	}
	return out
}
