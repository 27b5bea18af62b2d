// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/stats"
)

// Lesson writes the counts of examples and routes, and how often the learned routes were right.
func Lesson(w io.Writer, l *catalog.Lesson) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s learned", plain.Count(l.Examples, "example", "examples"),
		plain.Count(len(l.Routes), "route", "routes"))
	if l.None > 0 {
		fmt.Fprintf(&b, ", %d of them of none", l.None)
	}
	if l.Repeated > 0 {
		fmt.Fprintf(&b, "; %d were there twice", l.Repeated)
	}
	b.WriteString("\n")
	measured(&b, &l.Held, "Held out, one in five of each route, learned without them")
	if l.Test != nil {
		measured(&b, l.Test, "Test, with all examples learned")
	}
	if l.None == 0 {
		b.WriteString("No example belongs to no route: no question will be refused.\n")
	}
	if l.File != "" {
		fmt.Fprintf(&b, "callvet select SUITE --tools CATALOGUE --routes %s\n", plain.Line(l.File))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func measured(b *strings.Builder, m *catalog.TuningMeasured, head string) {
	fmt.Fprintf(b, "%s: %s", head, plain.Count(m.Questions, "question", "questions"))
	if m.Seen > 0 {
		fmt.Fprintf(b, " (%d more were examples, and say nothing)", m.Seen)
	}
	b.WriteString("\n")
	for _, r := range []struct {
		what string
		x, n int
	}{
		{"right route", m.Route, m.InScope},
		{"right sub-route", m.SubRoute, m.WithSub},
		{"given no route, wrongly", m.Lost, m.InScope},
		{"given no route, rightly", m.Refused, m.Outside},
	} {
		if r.n > 0 {
			iv := stats.Wilson(r.x, r.n, 0.95, stats.TwoSided)
			fmt.Fprintf(b, "  %-24s %d of %d, %s [%.1f–%.1f]\n", r.what, r.x, r.n,
				plain.Percent(float64(r.x)/float64(r.n)), 100*iv.Lower, 100*iv.Upper)
		}
	}
}
