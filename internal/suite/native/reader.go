// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// MaxProblems is how many problems one load or lint lists; the rest is counted.
const MaxProblems = 500

// reader turns nodes into nouns and notes what it cannot accept, with place and
// path. Reading goes on after a problem, so that one run shows them all.
type reader struct {
	doc      *doc.File
	problems []callvet.Problem
	dropped  int
	errors   int
	caseID   string
	path     []step
	// format is the schema whose name a hint gives; "" is the suite's.
	format string
	// beside tells that the file has tools only, and is kept beside a suite.
	beside bool
}

// step is one key or list position on the way to a value.
type step struct {
	key string
	pos int
}

func (r *reader) push(key string) { r.path = append(r.path, step{key: key}) }
func (r *reader) index(i int)     { r.path = append(r.path, step{pos: i}) }
func (r *reader) pop()            { r.path = r.path[:len(r.path)-1] }

// where renders the path: expect.calls[0].tool.
func (r *reader) where() string {
	var b strings.Builder
	for _, s := range r.path {
		switch {
		case s.key == "":
			fmt.Fprintf(&b, "[%d]", s.pos)
		case b.Len() == 0:
			b.WriteString(s.key)
		default:
			b.WriteString("." + s.key)
		}
	}
	return b.String()
}

func (r *reader) add(p callvet.Problem) {
	if !p.Warning {
		r.errors++
	}
	if len(r.problems) >= MaxProblems {
		r.dropped++
		return
	}
	r.problems = append(r.problems, p)
}

func (r *reader) problem(at int, code, fix, format string, args ...any) {
	r.add(callvet.Problem{
		Position: r.doc.Position(at), Code: code, Case: r.caseID, Key: r.where(),
		Message: fmt.Sprintf(format, args...), Fix: fix,
	})
}

func (r *reader) warn(at int, code, fix, format string, args ...any) {
	r.add(callvet.Problem{
		Position: r.doc.Position(at), Code: code, Case: r.caseID, Key: r.where(),
		Message: fmt.Sprintf(format, args...), Fix: fix, Warning: true,
	})
}

// duplicates reports the keys that the document repeats.
func (r *reader) duplicates() {
	for _, d := range r.doc.Dups {
		first := r.doc.Position(d.First)
		r.add(callvet.Problem{
			Position: r.doc.Position(d.At), Code: "duplicate-key", Case: r.caseID, Key: d.Name,
			Message: fmt.Sprintf("the key %q stands here for the second time, first on line %d", d.Name, first.Line),
			Fix:     "remove one",
		})
	}
	r.doc.Dups = r.doc.Dups[:0]
}

// fields calls f for every key of a mapping; f returns false for a key it does
// not know, and known lists the keys to suggest then.
func (r *reader) fields(n *doc.Node, known string, f func(key string, v *doc.Node) bool) {
	if n.Kind != doc.Map {
		r.wrongKind(n, "a mapping")
		return
	}
	for i := range n.Items {
		name := n.Names[i].Name
		r.push(name)
		if !f(name, &n.Items[i]) {
			r.unknownKey(name, n.Names[i].At, known)
		}
		r.pop()
	}
}

func (r *reader) unknownKey(name string, at int, known string) {
	keys := strings.Fields(known)
	fix := "known keys: " + strings.Join(keys, ", ")
	if len(keys) > 12 {
		fix = "`callvet schema " + cmp.Or(r.format, "suite") + "` lists the keys"
	}
	if best := callvet.Nearest(name, keys); best != "" {
		fix = fmt.Sprintf("did you mean %q?", best)
	}
	r.problem(at, "unknown-key", fix, "unknown key %q", name)
}

// each calls f for every element of a list.
func (r *reader) each(n *doc.Node, f func(i int, v *doc.Node)) {
	if n.Kind != doc.List {
		r.wrongKind(n, "a list")
		return
	}
	r.doc.Elements(n, func(i int, v *doc.Node) {
		r.index(i)
		f(i, v)
		r.pop()
	})
}

func (r *reader) wrongKind(n *doc.Node, want string) {
	r.problem(n.At, "wrong-type", "", "expected %s, found %s", want, n.Shown())
}

// str reads text; null is "".
func (r *reader) str(n *doc.Node) string {
	switch n.Kind {
	case doc.String:
		return n.Text()
	case doc.Null:
		return ""
	case doc.Number, doc.Bool:
		r.problem(n.At, "wrong-type", "write it in quotes: \""+string(n.Raw)+"\"", "expected text, found %s", n.Raw)
	default:
		r.wrongKind(n, "text")
	}
	return ""
}

// label reads text that people write as a number too: an id, a version, a tag.
func (r *reader) label(n *doc.Node) string {
	if (n.Kind == doc.Number && !n.Odd) || n.Kind == doc.Bool {
		return string(n.Raw)
	}
	return r.str(n)
}

// strs reads a list of texts; null is nil, an empty list is empty.
func (r *reader) strs(n *doc.Node) []string {
	if n.Kind == doc.Null {
		return nil
	}
	if n.Kind != doc.List {
		r.wrongKind(n, "a list of texts")
		return nil
	}
	out := make([]string, 0, len(n.Items))
	r.each(n, func(_ int, v *doc.Node) { out = append(out, r.label(v)) })
	return out
}

// oneOrMore reads a text or a list of texts.
func (r *reader) oneOrMore(n *doc.Node) []string {
	if n.Kind == doc.String {
		return []string{n.Text()}
	}
	return r.strs(n)
}

func (r *reader) boolean(n *doc.Node) bool {
	if n.Kind != doc.Bool {
		if n.Kind == doc.String {
			r.problem(n.At, "wrong-type", "write true or false without quotes", "expected true or false, found %s",
				doc.Clip(string(n.Raw), 40))
		} else {
			r.wrongKind(n, "true or false")
		}
		return false
	}
	return n.Raw[0] == 't'
}

func (r *reader) boolPtr(n *doc.Node) *bool {
	if n.Kind == doc.Null {
		return nil
	}
	b := r.boolean(n)
	return &b
}

// number reads a finite number of at least low; null is nil.
func (r *reader) number(n *doc.Node, low float64) *float64 {
	if n.Kind == doc.Null {
		return nil
	}
	if n.Kind != doc.Number {
		r.wrongKind(n, "a number")
		return nil
	}
	f, err := strconv.ParseFloat(string(n.Raw), 64)
	if err != nil || math.IsInf(f, 0) {
		r.problem(n.At, "out-of-range", "", "%s is too large", n.Raw)
		return nil
	}
	if f < low {
		r.problem(n.At, "out-of-range", "", "%s is below %g", n.Raw, low)
		return nil
	}
	return &f
}

// integer reads a whole number of at least low; null is nil.
func (r *reader) integer(n *doc.Node, low int) *int {
	if n.Kind == doc.Null {
		return nil
	}
	if n.Kind != doc.Number {
		r.wrongKind(n, "a whole number")
		return nil
	}
	i, err := strconv.Atoi(string(n.Raw))
	if err != nil {
		r.problem(n.At, "wrong-type", "", "expected a whole number, found %s", n.Raw)
		return nil
	}
	if i < low {
		r.problem(n.At, "out-of-range", "", "%d is below %d", i, low)
		return nil
	}
	return &i
}

// count reads a whole number that is not a pointer in the nouns; 0 when absent.
func (r *reader) count(n *doc.Node, low int) int {
	if i := r.integer(n, low); i != nil {
		return *i
	}
	return 0
}

// object reads a JSON object of arguments: null is nil.
func (r *reader) object(n *doc.Node) json.RawMessage {
	switch n.Kind {
	case doc.Null:
		return nil
	case doc.Map:
		return n.JSON()
	}
	r.wrongKind(n, "a mapping of argument names to values")
	return nil
}

// choice reads one of a few words.
func (r *reader) choice(n *doc.Node, words ...string) string {
	s := r.str(n)
	if s == "" {
		return ""
	}
	for _, w := range words {
		if s == w {
			return s
		}
	}
	fix := "one of: " + strings.Join(words, ", ")
	if best := callvet.Nearest(s, words); best != "" {
		fix = fmt.Sprintf("did you mean %q?", best)
	}
	r.problem(n.At, "unknown-value", fix, "unknown value %q", s)
	return ""
}
