// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// maxProblems is how many problems one load or lint lists; the rest is counted.
const maxProblems = 500

// reader turns nodes into nouns and notes what it cannot accept, with place and
// path. Reading goes on after a problem, so that one run shows them all.
type reader struct {
	doc      *document
	problems []callvet.Problem
	dropped  int
	errors   int
	caseID   string
	path     []step
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
	if len(r.problems) >= maxProblems {
		r.dropped++
		return
	}
	r.problems = append(r.problems, p)
}

func (r *reader) problem(at int, code, fix, format string, args ...any) {
	r.add(callvet.Problem{Position: r.doc.position(at), Code: code, Case: r.caseID, Key: r.where(), Message: fmt.Sprintf(format, args...), Fix: fix})
}

func (r *reader) warn(at int, code, fix, format string, args ...any) {
	r.add(callvet.Problem{Position: r.doc.position(at), Code: code, Case: r.caseID, Key: r.where(), Message: fmt.Sprintf(format, args...), Fix: fix, Warning: true})
}

// duplicates reports the keys that the document repeats.
func (r *reader) duplicates() {
	for _, d := range r.doc.dups {
		first := r.doc.position(d.first)
		r.add(callvet.Problem{
			Position: r.doc.position(d.at), Code: "duplicate-key", Case: r.caseID, Key: d.name,
			Message: fmt.Sprintf("the key %q stands here for the second time, first on line %d", d.name, first.Line), Fix: "remove one",
		})
	}
	r.doc.dups = r.doc.dups[:0]
}

// fields calls f for every key of a mapping; f returns false for a key it does
// not know, and known lists the keys to suggest then.
func (r *reader) fields(n *node, known string, f func(key string, v *node) bool) {
	if n.kind != kindMap {
		r.wrongKind(n, "a mapping")
		return
	}
	for i := range n.items {
		name := n.names[i].name
		r.push(name)
		if !f(name, &n.items[i]) {
			r.unknownKey(name, n.names[i].at, known)
		}
		r.pop()
	}
}

func (r *reader) unknownKey(name string, at int, known string) {
	keys := strings.Fields(known)
	fix := "known keys: " + strings.Join(keys, ", ")
	if len(keys) > 12 {
		fix = "`callvet schema suite` lists the keys"
	}
	if best := nearest(name, keys); best != "" {
		fix = fmt.Sprintf("did you mean %q?", best)
	}
	r.problem(at, "unknown-key", fix, "unknown key %q", name)
}

// each calls f for every element of a list.
func (r *reader) each(n *node, f func(i int, v *node)) {
	if n.kind != kindList {
		r.wrongKind(n, "a list")
		return
	}
	r.doc.elements(n, func(i int, v *node) {
		r.index(i)
		f(i, v)
		r.pop()
	})
}

func (r *reader) wrongKind(n *node, want string) {
	got := n.kind.String()
	if n.kind == kindString || n.kind == kindNumber {
		got = clip(string(n.raw), 40)
	}
	r.problem(n.at, "wrong-type", "", "expected %s, found %s", want, got)
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// str reads text; null is "".
func (r *reader) str(n *node) string {
	switch n.kind {
	case kindString:
		return n.text()
	case kindNull:
		return ""
	case kindNumber, kindBool:
		r.problem(n.at, "wrong-type", "write it in quotes: \""+string(n.raw)+"\"", "expected text, found %s", n.raw)
	default:
		r.wrongKind(n, "text")
	}
	return ""
}

// label reads text that people write as a number too: an id, a version, a tag.
func (r *reader) label(n *node) string {
	if (n.kind == kindNumber && !n.odd) || n.kind == kindBool {
		return string(n.raw)
	}
	return r.str(n)
}

// strs reads a list of texts; null is nil, an empty list is empty.
func (r *reader) strs(n *node) []string {
	if n.kind == kindNull {
		return nil
	}
	if n.kind != kindList {
		r.wrongKind(n, "a list of texts")
		return nil
	}
	out := make([]string, 0, len(n.items))
	r.each(n, func(_ int, v *node) { out = append(out, r.label(v)) })
	return out
}

// oneOrMore reads a text or a list of texts.
func (r *reader) oneOrMore(n *node) []string {
	if n.kind == kindString {
		return []string{n.text()}
	}
	return r.strs(n)
}

func (r *reader) boolean(n *node) bool {
	if n.kind != kindBool {
		if n.kind == kindString {
			r.problem(n.at, "wrong-type", "write true or false without quotes", "expected true or false, found %s", clip(string(n.raw), 40))
		} else {
			r.wrongKind(n, "true or false")
		}
		return false
	}
	return n.raw[0] == 't'
}

func (r *reader) boolPtr(n *node) *bool {
	if n.kind == kindNull {
		return nil
	}
	b := r.boolean(n)
	return &b
}

// number reads a finite number of at least low; null is nil.
func (r *reader) number(n *node, low float64) *float64 {
	if n.kind == kindNull {
		return nil
	}
	if n.kind != kindNumber {
		r.wrongKind(n, "a number")
		return nil
	}
	f, err := strconv.ParseFloat(string(n.raw), 64)
	if err != nil || math.IsInf(f, 0) {
		r.problem(n.at, "out-of-range", "", "%s is too large", n.raw)
		return nil
	}
	if f < low {
		r.problem(n.at, "out-of-range", "", "%s is below %g", n.raw, low)
		return nil
	}
	return &f
}

// integer reads a whole number of at least low; null is nil.
func (r *reader) integer(n *node, low int) *int {
	if n.kind == kindNull {
		return nil
	}
	if n.kind != kindNumber {
		r.wrongKind(n, "a whole number")
		return nil
	}
	i, err := strconv.Atoi(string(n.raw))
	if err != nil {
		r.problem(n.at, "wrong-type", "", "expected a whole number, found %s", n.raw)
		return nil
	}
	if i < low {
		r.problem(n.at, "out-of-range", "", "%d is below %d", i, low)
		return nil
	}
	return &i
}

// count reads a whole number that is not a pointer in the nouns; 0 when absent.
func (r *reader) count(n *node, low int) int {
	if i := r.integer(n, low); i != nil {
		return *i
	}
	return 0
}

// object reads a JSON object of arguments: null is nil.
func (r *reader) object(n *node) json.RawMessage {
	switch n.kind {
	case kindNull:
		return nil
	case kindMap:
		return n.json()
	}
	r.wrongKind(n, "a mapping of argument names to values")
	return nil
}

// choice reads one of a few words.
func (r *reader) choice(n *node, words ...string) string {
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
	if best := nearest(s, words); best != "" {
		fix = fmt.Sprintf("did you mean %q?", best)
	}
	r.problem(n.at, "unknown-value", fix, "unknown value %q", s)
	return ""
}

// nearest returns the candidate that is closest to s in edits, or "" when none
// is close enough to be a slip of the pen.
func nearest(s string, candidates []string) string {
	best, distance := "", (len(s)+2)/3+1
	for _, c := range candidates {
		if d := edits(fold(s), fold(c)); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// fold removes what separates spellings of one name: case, underscores, dashes.
func fold(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c == '.' || c == ' ' {
			return -1
		}
		return c
	}, strings.ToLower(clip(s, 64)))
}

// edits is the Levenshtein distance between two short texts.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
