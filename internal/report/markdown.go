// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// Markdown writes a comment for a pull request: a verdict, a table, and the failed attempts folded
// away; at most 60 kB, with a note on what is left out.
func Markdown(w io.Writer, v *View) error {
	var b bytes.Buffer
	mark := map[string]string{"pass": "✅", "fail": "❌", "warn": "⚠️"}[v.State()]
	fmt.Fprintf(&b, "### %s %s: %s\n\n", mark, plain.Markdown(v.Suite.Name), plain.Markdown(v.Sentence()))
	if v.Diff != nil {
		mdDiff(&b, v.Diff)
	}
	mdTargets(&b, v)
	if v.Selection != nil {
		if err := SelectionMarkdown(&b, v.Selection); err != nil {
			return err
		}
	} else {
		mdSlices(&b, v)
	}
	for _, x := range v.warnings() {
		fmt.Fprintf(&b, "> **Warning:** %s\n", plain.Markdown(x))
	}
	fmt.Fprintf(&b, "\n%s\n", v.population())
	if v.Panels != nil && v.Panels.Assumed != "" {
		fmt.Fprintf(&b, "\n%s\n", plain.Markdown(v.Panels.Assumed))
	}
	mdOpen(&b, v)
	mdFindings(&b, v.findings())
	mdJudges(&b, v)
	tail := mdTail(v)
	if err := mdFailures(&b, v, plain.MaxMarkdown-len(tail)-200); err != nil {
		return err
	}
	b.WriteString(tail)
	_, err := w.Write(b.Bytes())
	return err
}

// mdOpen lists the assertions that were not evaluated.
func mdOpen(b *bytes.Buffer, v *View) {
	for i, p := range v.Open() {
		if i == 0 {
			b.WriteString("\nNot evaluated:\n\n")
		}
		for _, k := range p.NotEvaluated[:min(len(p.NotEvaluated), maxKinds)] {
			fmt.Fprintf(b, "- %s: %s\n", plain.Markdown(p.Name), plain.Markdown(plain.Limited(kindText(k), 300)))
		}
		if left := len(p.NotEvaluated) - maxKinds; left > 0 {
			fmt.Fprintf(b, "- %s: %s\n", plain.Markdown(p.Name), moreOf(left, "kind", "kinds"))
		}
	}
}

// mdFindings writes the issues that most runs share, with their fixes.
func mdFindings(b *bytes.Buffer, list []panel.Finding) {
	for i, f := range list {
		if i == 0 {
			b.WriteString("\nFindings:\n\n")
		}
		fmt.Fprintf(b, "- **%s** %s: %s\n", f.Code, plain.Markdown(f.Title), plain.FindingCount(&f))
		for _, e := range f.Evidence[:min(len(f.Evidence), maxKinds)] {
			fmt.Fprintf(b, "  - %s\n", plain.Markdown(plain.Limited(plain.Line(e), 300)))
		}
		if left := len(f.Evidence) - maxKinds; left > 0 {
			fmt.Fprintf(b, "  - %s\n", moreOf(left, "piece of evidence", "pieces of evidence"))
		}
		fmt.Fprintf(b, "  - Test: %s\n  - Fix: %s\n", plain.MarkdownCode(f.Test), plain.MarkdownCode(f.Fix))
	}
}

// mdJudges writes the reports of judges on whole targets, as much as leaves room for the rest.
func mdJudges(b *bytes.Buffer, v *View) {
	const most = plain.MaxMarkdown / 2
	for i := range v.JudgeReports {
		if b.Len() > most {
			fmt.Fprintf(b, "\n%s\n", moreOf(len(v.JudgeReports)-i, "report of a judge", "reports of judges"))
			return
		}
		r := &v.JudgeReports[i]
		fmt.Fprintf(b, "\n%s grades %s: %s\n\n", plain.Markdown(r.Judge), plain.Markdown(r.Target),
			plain.Markdown(r.Grade))
		for _, l := range r.parts(10, 300) {
			if b.Len() > most {
				fmt.Fprintln(b, "- …")
				break
			}
			fmt.Fprintf(b, "- %s\n", plain.Markdown(l.Title))
			for _, text := range l.Texts {
				fmt.Fprintf(b, "  - %s\n", plain.Markdown(text))
			}
			if l.More != "" {
				fmt.Fprintf(b, "  - %s\n", l.More)
			}
		}
	}
}

func mdTail(v *View) string {
	var b strings.Builder
	for i, n := range v.Next {
		if i == 0 {
			b.WriteString("\nNext:\n\n")
		}
		fmt.Fprintf(&b, "    %s\n", plain.Limited(plain.Line(n), 300))
	}
	fmt.Fprintf(&b, "\n<sub>run %s · %s · %s · intervals in brackets, cases as clusters</sub>\n", plain.Markdown(v.ID),
		plain.Count(v.Suite.Cases, "case", "cases"), cmp.Or(v.RepeatText(), "1 repeat"))
	return b.String()
}

// mdTargetColumns are the columns of the table of targets.
var mdTargetColumns = []int{0, 1, 2, 3, 5, 6, 7, 9}

func mdTargets(b *bytes.Buffer, v *View) {
	ps := v.panels()
	if len(ps) == 0 {
		return
	}
	t := Table{Columns: texts("target")}
	note := v.RankNote()
	if note != "" {
		t.Columns, t.Note = append(t.Columns, Column{Title: "rank", Kind: FigureColumn}), note+"."
	}
	for _, c := range mdTargetColumns {
		t.Columns = append(t.Columns, Column{Title: targetColumns[c].title, Kind: FigureColumn})
	}
	for i := range ps {
		r := []string{targetLabel(&ps[i])}
		if note != "" {
			r = append(r, rankOf(&ps[i]))
		}
		for _, c := range mdTargetColumns {
			r = append(r, targetColumns[c].value(&ps[i].Overall))
		}
		t.Rows = append(t.Rows, r)
	}
	t = t.more(40, "targets")
	t.markdown(b)
	for i := range ps {
		if ps[i].Floor {
			fmt.Fprintf(b, "%s is the baseline: a caller without a language model; any model must beat this.\n\n",
				plain.Markdown(ps[i].Name))
		}
	}
}

func mdSlices(b *bytes.Buffer, v *View) {
	ps := v.panels()
	shown := ps[:min(len(ps), 8)]
	t := Table{Title: "Pass rate by slice", Columns: append(texts("slice"), Column{Title: "cases", Kind: CountColumn}), Folded: true}
	for i := range shown {
		t.Columns = append(t.Columns, Column{Title: targetLabel(&shown[i]), Kind: FigureColumn})
	}
	for _, of := range sliceRows(shown) {
		r := []string{of.name(), of.cases()}
		for j := range shown {
			r = append(r, plain.Amount(of.metric(j, panel.MetricPass)))
		}
		t.Rows = append(t.Rows, r)
	}
	t = t.more(40, "slices")
	t.markdown(b)
}

func mdDiff(b *bytes.Buffer, c *panel.Comparison) {
	fmt.Fprintf(b, "**Against %s.** ", plain.Markdown(baselineOf(c)))
	for i := range c.Targets {
		t := &c.Targets[i]
		p := ""
		if t.Overall.Cases > 0 {
			p = fmt.Sprintf(" (p = %s)", plain.P(t.Overall.P))
		}
		fmt.Fprintf(b, "%s%s.\n", plain.Markdown(difference(t)), p)
		if table := measuredTable(t); len(table.Rows) > 0 {
			b.WriteString("\n")
			table.markdown(b)
		}
		for k, ch := range t.Changes {
			if k == 20 {
				fmt.Fprintf(b, "- … and %d more\n", len(t.Changes)-k)
				break
			}
			fmt.Fprintf(b, "- %s\n", plain.Markdown(changeText(ch)))
		}
	}
	b.WriteString("\n")
	if c.Population == panel.ThisSuite {
		fmt.Fprintf(b, "%s\n\n", c.Population.Sentence())
	}
	if c.Assumed != "" {
		fmt.Fprintf(b, "%s\n\n", plain.Markdown(c.Assumed))
	}
	for _, l := range append(leftOut(c), c.Warnings...) {
		fmt.Fprintf(b, "> %s\n", plain.Markdown(l))
	}
	b.WriteString("\n")
}

// mdFailures folds failed attempts away, as many as fit into room bytes.
func mdFailures(b *bytes.Buffer, v *View, room int) error {
	groups, rest, err := sampleFailures(v, 10, 60, maxScan)
	if err != nil {
		return err
	}
	if len(groups) > 0 {
		b.WriteString("\n")
	}
	for _, g := range groups {
		for i, r := range g.Rows {
			text := mdFailure(v, r, g.Repeats[i])
			if b.Len()+len(text) > room {
				rest += 1 + g.Repeats[i]
				continue
			}
			b.WriteString(text)
		}
	}
	if rest > 0 {
		where := ""
		if v.All != "" { // a server has no line of a shell for them
			where = ": `" + codeText(v.All) + "`"
		}
		fmt.Fprintf(b, "\n… and %s more that did not pass%s\n", plain.Thousands(rest), where)
	}
	return nil
}

func mdFailure(v *View, r Row, more int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary><b>%s</b>%s · %s · %s</summary>\n\n", plain.HTML(attemptName(r, v.repeats())),
		alike(more), plain.HTML(v.targetName(r.Cell.Target)), plain.HTML(className(classOf(r))))
	if q := plain.Line(question(r.Case)); q != "" {
		fmt.Fprintf(&b, "> %s\n\n", plain.Markdown(plain.Limited(q, 400)))
	}
	if s := because(r); s != "" && !alreadyShown(r) {
		fmt.Fprintf(&b, "%s\n\n", plain.Markdown(plain.Limited(s, 600)))
	}
	for _, n := range r.Cell.Trace.Notes {
		fmt.Fprintf(&b, "note: %s\n\n", plain.Markdown(plain.Limited(plain.Line(n), 300)))
	}
	var d strings.Builder
	list, more := diffs(r)
	for _, c := range list {
		mdCall(&d, c)
	}
	if more > 0 {
		fmt.Fprintf(&d, "  %s\n", moreOf(more, "call", "calls"))
	}
	for _, a := range failedAssertions(&r.Cell.Result) {
		fmt.Fprintf(&d, "! %s\n", plain.Limited(assertionText(a), 600))
	}
	if d.Len() > 0 {
		fence := fenceFor(d.String())
		fmt.Fprintf(&b, "%sdiff\n  - expected, + actual\n%s%s\n\n", fence, d.String(), fence)
	}
	b.WriteString("</details>\n")
	return b.String()
}

// mdCall writes the comparison of one call as lines of a diff.
func mdCall(b *strings.Builder, c callDiff) {
	switch c.State {
	case callvet.StateMissing:
		fmt.Fprintf(b, "- %s   # not called\n", plain.Limited(c.Lines[0].Expected, 800))
	case callvet.StateExtra:
		fmt.Fprintf(b, "+ %s   # not expected\n", plain.Limited(c.Lines[0].Actual, 800))
	default:
		fmt.Fprintf(b, "  %s\n", c.Title)
	}
	for _, l := range c.Lines {
		if l.Mark == "=" || l.Whole {
			continue
		}
		fmt.Fprintf(b, "- %s: %s\n+ %s: %s", l.Path, plain.Limited(l.Expected, 800), l.Path,
			plain.Limited(l.Actual, 800))
		if l.Rule != "" || l.Note != "" {
			fmt.Fprintf(b, "   # %s", strings.TrimSpace(l.Rule+" "+l.Note))
		}
		b.WriteString("\n")
	}
	for _, x := range c.Violations {
		fmt.Fprintf(b, "! schema %s\n", plain.Limited(x, 400))
	}
	if c.More != "" {
		fmt.Fprintf(b, "  %s\n", c.More)
	}
}

// fenceFor is a code fence longer than any run of backticks in the text.
func fenceFor(s string) string {
	longest, run := 2, 0
	for _, r := range s {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return strings.Repeat("`", longest+1)
}

// codeText is a text that may be between single backticks.
func codeText(s string) string { return strings.ReplaceAll(plain.Line(s), "`", "'") }
