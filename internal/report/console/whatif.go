// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
)

// How many entries are listed, and how many bytes of a question are shown.
const (
	maxListed   = 20
	maxQuestion = 120
)

// WhatIf writes the changes that edits would make.
func WhatIf(to io.Writer, w *catalog.WhatIfResult) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s over %s", plain.Count(len(w.Edits), "edit", "edits"), plain.Names(w.Edits),
		plain.Count(w.Cases, "case", "cases"))
	if w.Left > 0 {
		fmt.Fprintf(&b, "; %s of another status left out", plain.Count(w.Left, "edit", "edits"))
	}
	b.WriteString("\n")
	if w.LeftOut > 0 {
		fmt.Fprintf(&b, "%s out: no tools are expected, or one that the catalogue does not have\n",
			plain.Count(w.LeftOut, "case is left", "cases are left"))
	}
	if w.Seen > 0 {
		fmt.Fprintf(&b, "%s out: the edits were made of that part of the suite (--all-cases takes them too)\n",
			plain.Count(w.Seen, "case is left", "cases are left"))
		if w.Sorted {
			b.WriteString(
				"the other part has sorted the suggestions: its figures for those that stayed are a little " +
					"too good, and fresh questions measure better\n")
		}
	}
	for _, old := range slices.Sorted(maps.Keys(w.Renamed)) {
		fmt.Fprintf(&b, "%s would be called %s; it has its old name here\n", plain.Line(old),
			plain.Line(w.Renamed[old]))
	}
	leaks(&b, w)
	for _, c := range w.Comparisons {
		comparison(&b, c)
	}
	alone(&b, w)
	few(&b, w)
	_, err := io.WriteString(to, b.String())
	return err
}

func leaks(b *strings.Builder, w *catalog.WhatIfResult) {
	if len(w.Leaks) == 0 {
		return
	}
	fmt.Fprintf(b, "%s out, because an edit says what they ask:\n",
		plain.Count(len(w.Leaks), "case is left", "cases are left"))
	for i, l := range w.Leaks {
		if i == maxListed {
			fmt.Fprintf(b, "  … and %d more\n", len(w.Leaks)-i)
			break
		}
		fmt.Fprintf(b, "  %s, in the edit of %s: %q\n", plain.Line(l.Case), plain.Line(l.Tool), betterShort(l.Text))
	}
}

func betterShort(s string) string { return plain.Limited(plain.Line(s), maxQuestion) }

// spoken are the names of the measures for people.
func spoken(measure string) string {
	return map[string]string{
		catalog.FirstRight: "first tool right", catalog.SomeRight: "a right tool among k",
		catalog.AllRight: "tools right", catalog.MRR: "MRR", catalog.ChosenRight: "right tools called",
	}[measure]
}

func comparison(b *strings.Builder, c *catalog.Comparison) {
	fmt.Fprintf(b, "\n%s\n", plain.Line(c.By))
	rows := [][]string{{"", "as it is [95 %]", "edited [95 %]", "change [95 %]", "p"}}
	for i := range c.Rates {
		r := &c.Rates[i]
		rows = append(rows, []string{
			spoken(r.Measure), plain.Rate(r.Baseline), plain.Rate(r.Candidate),
			plain.Change(r.Change), plain.P(r.P),
		})
	}
	if m := c.MRR; m != nil {
		rows = append(rows, []string{
			spoken(catalog.MRR), plain.Percent(m.Before), plain.Percent(m.After),
			plain.Change(m.Change), plain.P(m.P),
		})
	}
	if c.Adjusted != nil {
		rows[0], rows[1] = append(rows[0], "p over models (Holm)"), append(rows[1], plain.P(*c.Adjusted))
	}
	report.Aligned(b, rows)
	fmt.Fprintf(b, "%s\n", c.Sentence)
	if u := c.Usage; u != nil {
		usage(b, u)
	}
	if c.Same > 0 {
		fmt.Fprintf(b, "for %s the model would be shown the very same tools on both sides, and was asked once\n",
			plain.Count(c.Same, "case", "cases"))
	}
	if n := len(c.Unjudged); n > 0 {
		fmt.Fprintf(b, "%s not judged on both sides: %s\n", plain.Count(n, "case was", "cases were"),
			plain.Names(c.Unjudged))
	}
	changed(b, "newly right", c.Right)
	changed(b, "newly wrong", c.Wrong)
	rows = [][]string{{"tool", "", "cases", "newly right", "newly wrong", "lost to", "took from others"}}
	for i := range c.Tools {
		t := &c.Tools[i]
		edited := ""
		if t.Edited {
			edited = "edited"
		}
		lost, took := "", ""
		if len(t.LostTo) > 0 {
			lost = plain.Names(t.LostTo)
		}
		if len(t.Took) > 0 {
			took = plain.Names(t.Took)
		}
		rows = append(rows, []string{
			plain.Line(t.Tool), edited, plain.Thousands(t.Cases),
			plain.Thousands(len(t.Right)), plain.Thousands(len(t.Wrong)), lost, took,
		})
		if i == maxListed {
			break
		}
	}
	report.Aligned(b, rows)
	if n := len(c.Tools) - maxListed - 1; n > 0 {
		fmt.Fprintf(b, "… and %d more tools with changed questions: --json has all\n", n)
	}
}

func changed(b *strings.Builder, title string, list []catalog.ChangedAnswer) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "%s (%d)\n", title, len(list))
	for i, c := range list {
		if i == maxListed {
			fmt.Fprintf(b, "  … and %d more: --json has all\n", len(list)-i)
			break
		}
		expected := plain.Names(c.Right)
		if len(c.Acceptable) > 0 {
			expected += " or " + plain.Names(c.Acceptable)
		}
		fmt.Fprintf(b, "  %s %q: expected %s, was %s, would be %s\n", plain.Line(c.Case), betterShort(c.Question),
			expected, plain.Names(c.Before), plain.Names(c.After))
	}
}

func alone(b *strings.Builder, w *catalog.WhatIfResult) {
	if len(w.Edits) > catalog.MaxAlone {
		fmt.Fprintf(b, "\nMore than %d edits: none is measured alone.\n", catalog.MaxAlone)
	}
	if len(w.Alone) == 0 {
		return
	}
	b.WriteString("\nEach edit alone, first tool right by the retriever\n")
	rows := [][]string{{
		"edit of", "newly right", "newly wrong", "change [95 %]", "p", "p over all (Holm)",
		"took from others",
	}}
	for i := range w.Alone {
		a := &w.Alone[i]
		took := ""
		if len(a.Took) > 0 {
			took = plain.Names(a.Took)
		}
		rows = append(rows,
			[]string{
				plain.Line(a.Tool), plain.Thousands(a.All.NewlyPassing), plain.Thousands(a.All.NewlyFailing),
				plain.Change(a.All.Change), plain.P(a.All.P), plain.P(a.Adjusted), took,
			})
	}
	report.Aligned(b, rows)
}

// usage prints the tokens and the cost of models.
func usage(b *strings.Builder, u *catalog.EffectUsage) {
	fmt.Fprintf(b, "%s", plain.Count(u.Requests, "request", "requests"))
	if u.Reused > 0 {
		fmt.Fprintf(b, " and %s of earlier runs", plain.Count(u.Reused, "answer", "answers"))
	}
	switch in, out := plain.Thousands(u.InputTokens), plain.Thousands(u.OutputTokens); {
	case u.Known:
		fmt.Fprintf(b, "; %s tokens in, %s out, ", in, out)
	case u.InputTokens+u.OutputTokens > 0:
		fmt.Fprintf(b, "; at least %s tokens in, %s out, ", in, out)
	default:
		b.WriteString("; tokens not known, ")
	}
	if u.CostUSD != nil {
		b.WriteString(plain.Dollars(*u.CostUSD))
	} else {
		b.WriteString("cost not known")
	}
	if u.Run != "" {
		fmt.Fprintf(b, "; kept as run %s", plain.Line(u.Run))
	}
	b.WriteString("\n")
}

// fewCases is the least number of changed cases that can show an effect: by chance all of them
// change in one direction once in 32 times.
const fewCases = 5

// few names the edited tools with too few cases in the suite.
func few(b *strings.Builder, w *catalog.WhatIfResult) {
	var tools []string
	for _, t := range w.Comparisons[0].Tools {
		if t.Edited && t.Cases < fewCases {
			tools = append(tools, t.Tool)
		}
	}
	if len(tools) > 0 {
		fmt.Fprintf(b,
			"\nFewer than %d cases ask for %s: too few to show that an edit is good for its own questions, even if "+
				"all of them changed.\n", fewCases, plain.Names(tools))
	}
}
