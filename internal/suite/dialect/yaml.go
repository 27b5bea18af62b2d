// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// maxYAMLJSON is how many bytes of JSON a YAML file may become, in addition to eight times its
// size. Each alias repeats its anchor's content, so that a small file can become a large one.
const maxYAMLJSON = 4 << 20

// readYAML rewrites YAML documents as JSON text with a table of positions.
func (s *Source) readYAML(data []byte) error {
	roots, dups, bad := doc.Documents(data)
	switch {
	case bad != nil:
		return s.yamlProblem(callvet.Position{Line: bad.Line, Column: bad.Column}, "syntax", bad.Message, bad.Fix)
	case len(roots) == 0:
		return fmt.Errorf("read suite: %w: %s is empty", callvet.ErrInvalid, Name(s.Path))
	case len(dups) > 0:
		first := (&doc.File{}).Position(dups[0].First)
		return s.yamlProblem((&doc.File{}).Position(dups[0].At), "duplicate-key",
			fmt.Sprintf("key %q is given twice, first on line %d", dups[0].Name, first.Line), "")
	}
	w := textWriter{limit: maxYAMLJSON + 8*len(data)}
	for i := range roots {
		w.value(&roots[i])
		w.out = append(w.out, '\n')
	}
	if len(w.out) > w.limit {
		return s.yamlProblem(w.file.Position(w.over), "syntax", "the aliases of the document make it too large", "")
	}
	s.Text, s.marks, s.Form = w.out, w.marks, "yaml"
	return s.validate()
}

func (s *Source) yamlProblem(at callvet.Position, code, message, fix string) error {
	if at.File = s.Path; fix == "" {
		fix = "correct the file at that position"
	}
	p := callvet.Problem{Position: at, Code: code, Message: message}
	return &callvet.Hinted{Err: fmt.Errorf("read suite: %w: %w", callvet.ErrInvalid, p), Hint: fix}
}

// textWriter writes trees as JSON text and notes where each piece came from.
type textWriter struct {
	file  doc.File // resolves places
	out   []byte
	marks []mark
	limit int
	over  int // the place at which the text exceeded the limit
}

func (w *textWriter) mark(at int) {
	p := w.file.Position(at)
	w.marks = append(w.marks, mark{len(w.out), p.Line, p.Column})
}

func (w *textWriter) value(n *doc.Node) {
	if len(w.out) > w.limit {
		return
	}
	w.over = n.At
	w.mark(n.At)
	if n.Kind != doc.List && n.Kind != doc.Map {
		w.out = n.AppendJSON(w.out)
		return
	}
	brackets := "[]"
	if n.Kind == doc.Map {
		brackets = "{}"
	}
	w.out = append(w.out, brackets[0])
	for i := range n.Items {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if n.Kind == doc.Map {
			w.mark(n.Names[i].At)
			w.out = append(doc.Quote(w.out, n.Names[i].Name), ':')
		}
		w.value(&n.Items[i])
	}
	w.out = append(w.out, brackets[1])
}
