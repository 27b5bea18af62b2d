// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// SelectionTerminal writes aligned tables and the failed cases, at most the given number of them
// (0: the usual number), as plain text.
func SelectionTerminal(w io.Writer, s *panel.RoutingSection, most int) error {
	var b strings.Builder
	for i := range s.Targets {
		t := &s.Targets[i]
		fmt.Fprintf(&b, "\nSelection: %s, %s\n", plain.Line(t.Name), asked(t))
		for _, table := range SelectionTables(t) {
			fmt.Fprintf(&b, "\n%s\n", table.Title)
			Aligned(&b, table.lines(false))
			if table.Note != "" {
				fmt.Fprintf(&b, "%s\n", table.Note)
			}
		}
		if t.Unexplained != "" {
			fmt.Fprintf(&b, "\nNo reasons are given why tools lost: %s\n", plain.Line(t.Unexplained))
		}
		failed := FailedSelections(t, most)
		if len(failed) > 0 {
			fmt.Fprintf(&b, "\nFailed cases (%d of %d shown)\n", len(failed), t.Failures)
		}
		for _, f := range failed {
			fmt.Fprintf(&b, "  %s  %q\n", f.Title, f.Query)
			for _, l := range f.Lines {
				fmt.Fprintf(&b, "      %s\n", l)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// asked returns the number of cases and, if it is larger, of attempts.
func asked(t *panel.RoutingTarget) string {
	out := plain.Count(t.Cases, "case", "cases")
	if t.Attempts > t.Cases {
		out += ", " + plain.Count(t.Attempts, "attempt", "attempts")
	}
	return out
}

// WriteDecision writes one decision: the tools with the terms of their scores, and the time of each
// layer.
func WriteDecision(b *strings.Builder, d *callvet.Decision) {
	if d.Decides(callvet.SelectRoute) || d.Decides(callvet.SelectSubRoute) {
		fmt.Fprintf(b, "  route %s, sub-route %s\n", orNone(d.Route), orNone(d.SubRoute))
	}
	if d.Decides(callvet.SelectAgents) {
		fmt.Fprintf(b, "  agents %s\n", orNone(strings.Join(d.Agents, ", ")))
	}
	var rows [][]string
	for i, t := range d.Given() {
		rows = append(rows,
			[]string{fmt.Sprintf("%d.", i+1), plain.Line(t.Tool), fmt.Sprintf("%.4g", t.Score), QuestionParts(t.Parts)})
	}
	Aligned(b, rows)
	if behind := d.Tools[len(d.Given()):]; len(behind) > 0 {
		fmt.Fprintf(b, "  asked for %d; %d more given that do not count: %s\n", d.Asked, len(behind), ranked(behind))
	}
	for _, o := range d.Odd {
		fmt.Fprintf(b, "  strange: %s\n", plain.Line(o))
	}
	switch {
	case len(d.Tools) > 0:
	case d.Abstained:
		b.WriteString("  no tool was good enough\n")
	case d.Decides(callvet.SelectTools):
		b.WriteString("  no tool fits\n")
	}
	var times []string
	for _, l := range d.Layers {
		if l.MS > 0 {
			times = append(times, strings.ReplaceAll(l.Layer, "_", "-")+" "+plain.Millis(l.MS))
		}
	}
	if len(times) > 0 {
		fmt.Fprintf(b, "  took: %s\n", plain.Line(strings.Join(times, ", ")))
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return plain.Line(s)
}

// SelectionMarkdown writes tables, folded away but for the layers and the scores.
func SelectionMarkdown(w io.Writer, s *panel.RoutingSection) error {
	var b strings.Builder
	for i := range s.Targets {
		t := &s.Targets[i]
		fmt.Fprintf(&b, "#### Selection: %s\n\n", plain.Markdown(t.Name))
		for _, table := range SelectionTables(t) {
			table.markdown(&b)
		}
		if t.Unexplained != "" {
			fmt.Fprintf(&b, "No reasons are given why tools lost: %s\n\n", plain.Markdown(t.Unexplained))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const selectionPage = `{{range .Targets}}<section class="selection"><h2>Selection: {{clean .Name}}, {{asked .}}</h2>
{{range tables .}}<h3>{{.Title}}</h3><div class="scroll{{if .Prose}} prose{{end}}" tabindex="0" role="region" aria-label="{{.Title}}"><table><thead><tr>{{range .Columns}}<th scope="col">{{clean .Title}}</th>{{end}}</tr></thead>
<tbody>{{range .Rows}}<tr>{{range .}}{{with lines .}}<td>{{index . 0}}{{with index . 1}}<small>{{.}}</small>{{end}}</td>{{end}}{{end}}</tr>{{end}}</tbody></table></div>{{with .Note}}<p class="soft">{{clean .}}</p>{{end}}{{end}}
{{with .Unexplained}}<p class="soft">No reasons are given why tools lost: {{clean .}}</p>{{end}}
{{with failed .}}<h3>Failed cases</h3>{{range .}}<details><summary><b>{{clean .Title}}</b> {{clean .Query}}</summary><ul>{{range .Lines}}<li>{{clean .}}</li>{{end}}</ul></details>{{end}}{{end}}
</section>{{end}}`

// maxHTMLFailed is how many failed cases a page shows.
const maxHTMLFailed = 100

// lines puts the interval of a number on a line of its own.
func lines(cell string) [2]string {
	two := plain.Lines(plain.Line(cell))
	if strings.IndexAny(two[1], "0123456789-+") != 0 {
		return [2]string{plain.Line(cell)}
	}
	return two
}

// SelectionHTML writes the section as a part of a page, without style or script.
func SelectionHTML(s *panel.RoutingSection) (template.HTML, error) {
	t, err := template.New("selection").Funcs(template.FuncMap{
		"clean": plain.Line, "tables": func(t panel.RoutingTarget) []Table { return SelectionTables(&t) },
		"failed": func(t panel.RoutingTarget) []SelectionFailure { return FailedSelections(&t, maxHTMLFailed) },
		"asked":  func(t panel.RoutingTarget) string { return asked(&t) }, "lines": lines,
	}).Parse(selectionPage)
	if err != nil {
		return "", fmt.Errorf("parse page: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, s); err != nil {
		return "", fmt.Errorf("write page: %w", err)
	}
	return template.HTML(b.String()), nil
}
