// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
)

// CatalogAnswer writes the answer to one question.
func CatalogAnswer(w io.Writer, a *catalog.QueryAnswer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", plain.Line(a.Query))
	report.WriteDecision(&b, &a.Decision)
	if a.Route != nil {
		fmt.Fprintf(&b, "the route is %s\n", plain.Line(a.Route.Text))
	}
	for _, m := range a.Matched {
		b.WriteString(matched(&m))
	}
	for i := range a.Why {
		y := &a.Why[i]
		place := "is not ranked"
		if y.Rank > 0 {
			place = fmt.Sprintf("has rank %d", y.Rank)
		}
		fmt.Fprintf(&b, "expected %s %s: %.4g (%s)\n", plain.Line(y.Tool.Tool), place, y.Tool.Score,
			report.QuestionParts(y.Tool.Parts))
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
		if a.Reason != "" {
			fmt.Fprintf(&b, "    %s\n", plain.Line(a.Reason))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// matched lists the words, keywords and examples that a tool shares with the question.
func matched(m *catalog.Matched) string {
	if len(m.Words)+len(m.Keywords)+len(m.Examples) == 0 {
		return fmt.Sprintf("%s shares no word with the question\n", plain.Line(m.Tool))
	}
	var words []string
	for _, w := range m.Words {
		words = append(words, fmt.Sprintf("%s (%s)", w.Word, strings.Join(w.Fields, ", ")))
	}
	say := m.Tool + " has " + strings.Join(words, ", ")
	if len(words) == 0 {
		say = m.Tool + " has no single word"
	}
	for _, list := range []struct {
		what  string
		texts []string
	}{{"keywords", m.Keywords}, {"examples", m.Examples}} {
		if n := len(list.texts); n > 0 {
			say += fmt.Sprintf("; %s: %s", list.what, strings.Join(list.texts[:min(n, catalogsMaxShown)], ", "))
			if n > catalogsMaxShown {
				say += fmt.Sprintf(" and %d more", n-catalogsMaxShown)
			}
		}
	}
	return plain.Line(say) + "\n"
}

// catalogsMaxShown is how many keywords and examples of a tool are printed.
const catalogsMaxShown = 3
