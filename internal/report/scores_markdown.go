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

// ScoresMarkdown writes a comment for a pull request, at most 60 kB, with a note on what is left
// out.
func ScoresMarkdown(w io.Writer, v *ScoresView) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### %s: %s\n\n", plain.Markdown(strings.Join(v.Files, ", ")), plain.Markdown(v.sentence()))
	for _, x := range v.Panels.Warnings {
		fmt.Fprintf(&b, "> **Warning:** %s\n\n", plain.Markdown(x))
	}
	fmt.Fprintf(&b, "%s\n", v.Population())
	mdFindings(&b, v.Panels.Findings)
	b.WriteString("\n")
	for i := range v.Panels.Targets {
		if i == 8 {
			fmt.Fprintf(&b, "… and %d more targets\n\n", len(v.Panels.Targets)-i)
			break
		}
		mdTarget(&b, v, &v.Panels.Targets[i])
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

func mdTarget(b *bytes.Buffer, v *ScoresView, t *panel.TargetPanel) {
	if t.Name != "" {
		fmt.Fprintf(b, "**%s**\n\n", plain.Markdown(t.Name))
	}
	calls, tasks, hidden := shortRows(&t.Overall)
	mdMeasures(b, v, calls, tasks)
	if len(hidden) > 0 {
		fmt.Fprintf(b, "<details><summary>%s</summary>\n\n", hidden)
		again := func(r row) bool { _, left := hidden[r.Metric.Name]; return !left }
		calls, tasks = sheetSteps(&t.Overall)
		mdMeasures(b, v, slices.DeleteFunc(calls, again), slices.DeleteFunc(tasks, again))
		b.WriteString("</details>\n\n")
	}
	for _, x := range []Table{slicesTable(t, 60), confusedTable(t, 40)} {
		x.markdown(b)
	}
}

// mdMeasures writes the tables of the rows, and the notes below them.
func mdMeasures(b *bytes.Buffer, v *ScoresView, calls, tasks []row) {
	tables, below := v.measureTables(calls, tasks)
	for i := range tables {
		tables[i].markdown(b)
	}
	for _, n := range below {
		fmt.Fprintf(b, "%s\n\n", plain.Markdown(n.String()))
	}
}

// mdCalls shows the calls that findings point to, where they can be read.
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
