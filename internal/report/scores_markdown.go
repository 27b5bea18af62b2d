// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// ScoresMarkdown writes a comment for a pull request, at most 60 kB; what is left out
// is said.
func ScoresMarkdown(w io.Writer, v *ScoresView) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### %s: %s\n\n", plain.Markdown(strings.Join(v.Files, ", ")), plain.Markdown(v.sentence()))
	for _, x := range v.Panels.Warnings {
		fmt.Fprintf(&b, "> **Warning:** %s\n\n", plain.Markdown(x))
	}
	fmt.Fprintf(&b, "%s\n\n", v.Population())
	sheetMdFindings(&b, v.Panels.Findings)
	for i := range v.Panels.Targets {
		if i == 8 {
			fmt.Fprintf(&b, "… and %d more targets\n\n", len(v.Panels.Targets)-i)
			break
		}
		mdTarget(&b, &v.Panels.Targets[i])
	}
	for _, n := range v.Notes() {
		fmt.Fprintf(&b, "%s\n\n", plain.Markdown(n))
	}
	mdCalls(&b, v)
	if b.Len() < plain.MaxMarkdown {
		mdExamples(&b, v)
	}
	out := b.Bytes()
	if len(out) > plain.MaxMarkdown {
		cut := bytes.LastIndexByte(out[:plain.MaxMarkdown], '\n')
		out = append(out[:cut:cut], "\n\n… cut; the HTML report has all of it\n"...)
	}
	_, err := w.Write(out)
	return err
}

func mdTarget(b *bytes.Buffer, t *panel.TargetPanel) {
	if t.Name != "" {
		fmt.Fprintf(b, "**%s**\n\n", plain.Markdown(t.Name))
	}
	calls, tasks, hidden := shortRows(&t.Overall)
	below := sharedNotes(slices.Concat(calls, tasks))
	mdRows(b, "step, by call", calls, below, true)
	mdRows(b, "task", tasks, below, false)
	for _, n := range below {
		fmt.Fprintf(b, "%s\n\n", plain.Markdown(n.String()))
	}
	if hidden > 0 {
		fmt.Fprintf(b, "<details><summary>%s</summary>\n\n", plain.Count(hidden, "more measure", "more measures"))
		shown := shortMeasures(&t.Overall)
		again := func(r row) bool { return shown[r.Metric.Name] }
		calls, tasks = sheetSteps(&t.Overall)
		calls, tasks = slices.DeleteFunc(calls, again), slices.DeleteFunc(tasks, again)
		below = sharedNotes(slices.Concat(calls, tasks))
		mdRows(b, "step, by call", calls, below, true)
		mdRows(b, "task", tasks, below, false)
		for _, n := range below {
			fmt.Fprintf(b, "%s\n\n", plain.Markdown(n.String()))
		}
		b.WriteString("</details>\n\n")
	}
	sheetMdSlices(b, t)
	mdConfusion(b, t)
}

// mdRows is a table of measures, those of calls with their companion by task.
func mdRows(b *bytes.Buffer, title string, rows []row, below []plain.Shared, companion bool) {
	if len(rows) == 0 {
		return
	}
	head, line := "| "+title+" | value | n |", "|---|---|---|"
	if companion {
		head, line = head+" tasks all right |", line+"---|"
	}
	b.WriteString(head + " notes |\n" + line + "---|\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s | %s | %s |", plain.Markdown(r.Metric.Title), r.Amount(), r.N())
		if companion {
			fmt.Fprintf(b, " %s |", r.Companion())
		}
		fmt.Fprintf(b, " %s |\n", plain.Markdown(strings.Join(r.Notes(below), "; ")))
	}
	b.WriteString("\n")
}

func sheetMdSlices(b *bytes.Buffer, t *panel.TargetPanel) {
	names := sliced(t)
	if len(t.Slices) == 0 || len(names) == 0 {
		return
	}
	b.WriteString("<details><summary>Slices</summary>\n\n| slice | tasks |")
	for _, n := range names {
		fmt.Fprintf(b, " %s |", plain.Markdown(t.Overall.Metric(n).Title))
	}
	b.WriteString("\n|---|---:|" + strings.Repeat("---|", len(names)) + "\n")
	for i := range t.Slices[:min(len(t.Slices), 60)] {
		s := &t.Slices[i]
		fmt.Fprintf(b, "| %s=%s | %d |", plain.Markdown(s.Key), plain.Markdown(s.Value), s.Cases)
		for _, n := range names {
			m := s.Metric(n)
			fmt.Fprintf(b, " %s%s |", plain.Amount(m), strings.ReplaceAll(mark(m), "*", `\*`))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "\n%s\n\n</details>\n\n", plain.Markdown(sheetDiffers))
}

func mdConfusion(b *bytes.Buffer, t *panel.TargetPanel) {
	rows := confused(t)
	if len(rows) == 0 {
		return
	}
	b.WriteString("<details><summary>Confused tools</summary>\n\n| expected | called | calls |\n|---|---|---:|\n")
	for _, c := range rows[:min(len(rows), 40)] {
		fmt.Fprintf(b, "| %s | %s | %d |\n", plain.Markdown(c.Expected), plain.Markdown(c.Called), c.N)
	}
	b.WriteString("\n</details>\n\n")
}

func sheetMdFindings(b *bytes.Buffer, list []panel.Finding) {
	for i := range list {
		f := &list[i]
		fmt.Fprintf(b, "- **%s %s**: %s.", f.Code, plain.Markdown(f.Title), plain.FindingCount(f))
		for _, e := range f.Evidence {
			fmt.Fprintf(b, " %s.", plain.Markdown(strings.TrimSuffix(e, ".")))
		}
		fmt.Fprintf(b, "\n  Test: %s\n  Fix: %s\n", plain.MarkdownCode(f.Test), plain.MarkdownCode(f.Fix))
	}
	if len(list) > 0 {
		b.WriteString("\n")
	}
}

// mdCalls shows the calls that findings point to, where they can be read again.
func mdCalls(b *bytes.Buffer, v *ScoresView) {
	const most = 3          // of a finding: a comment has a limit
	var all strings.Builder // escaped
	for i := range v.Panels.Findings {
		f := &v.Panels.Findings[i]
		for _, e := range f.Examples[:min(len(f.Examples), most)] {
			text := strings.TrimSpace(v.excerpt(e))
			if text == "" {
				continue
			}
			text = preformatted(fmt.Sprintf("%s: %s\n%s\n\n", f.Code, v.Where(e), plain.Limited(text, 1000)))
			if all.Len()+len(text) < plain.MaxMarkdown/3 {
				all.WriteString(text)
			}
		}
	}
	if all.Len() > 0 {
		fmt.Fprintf(b,
			"<details><summary>Calls that the findings point to</summary>\n\n<pre>%s</pre>\n\n</details>\n\n",
			strings.ReplaceAll(strings.TrimSpace(all.String()), "\n\n", "\n&#10;"))
	}
}

func mdExamples(b *bytes.Buffer, v *ScoresView) {
	for _, e := range v.Panels.Examples {
		fmt.Fprintf(b, "<details><summary>%s: %s, %s %s</summary>\n\n<pre>%s</pre>\n\n</details>\n\n", e.Kind,
			plain.HTML(v.Where(e)), plain.Percent(e.Score),
			plain.HTML(e.Why), strings.ReplaceAll(preformatted(plain.Limited(v.excerpt(e), 3000)), "\n\n", "\n&#10;"))
	}
}

// preformatted escapes a text of several lines for a pre element in Markdown.
func preformatted(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "&#64;&#8203;", "#", "&#35;&#8203;",
			"://", "&#58;//").Replace(l)
	}
	return strings.Join(lines, "\n")
}
