// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// MaxProblems is how many problems one load or lint lists; the rest is counted.
const MaxProblems = 500

// Reader turns nodes into nouns and notes invalid values, with place and path. It continues after
// a problem, so that one run reports all problems.
type Reader struct {
	File     *File
	Problems []callvet.Problem
	// Case is the case that is being read; problems name it.
	Case string
	// Format is the name of the schema for hints; "" is the suite's.
	Format string
	// Own reads values that have forms or rules of their own; false: it did not. It may be nil.
	Own     func(s *Shape, n *Node, into reflect.Value) bool
	dropped int
	errors  int
	path    []step
}

// step is one key or list position on the way to a value.
type step struct {
	key string
	pos int
}

// Push enters a key: later problems get its path until Pop.
func (r *Reader) Push(key string) { r.path = append(r.path, step{key: key}) }
func (r *Reader) index(i int)     { r.path = append(r.path, step{pos: i}) }

// Pop leaves a key.
func (r *Reader) Pop() { r.path = r.path[:len(r.path)-1] }

// where renders the path: expect.calls[0].tool.
func (r *Reader) where() string {
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

func (r *Reader) add(p callvet.Problem) {
	if !p.Warning {
		r.errors++
	}
	if len(r.Problems) >= MaxProblems {
		r.dropped++
		return
	}
	r.Problems = append(r.Problems, p)
}

// Note notes a problem at a place of the file; code and fix are those of callvet.Problem.
func (r *Reader) Note(at int, code, fix, format string, args ...any) {
	r.add(callvet.Problem{
		Position: r.File.Position(at), Code: code, Case: r.Case, Key: r.where(),
		Message: fmt.Sprintf(format, args...), Fix: fix,
	})
}

// Warn notes a warning.
func (r *Reader) Warn(at int, code, fix, format string, args ...any) {
	r.add(callvet.Problem{
		Position: r.File.Position(at), Code: code, Case: r.Case, Key: r.where(),
		Message: fmt.Sprintf(format, args...), Fix: fix, Warning: true,
	})
}

// Duplicates reports the keys that the document repeats.
func (r *Reader) Duplicates() {
	for _, d := range r.File.Dups {
		first := r.File.Position(d.First)
		r.add(callvet.Problem{
			Position: r.File.Position(d.At), Code: "duplicate-key", Case: r.Case, Key: d.Name,
			Message: fmt.Sprintf("the key %q stands here for the second time, first on line %d", d.Name, first.Line),
			Fix:     "remove one",
		})
	}
	r.File.Dups = r.File.Dups[:0]
}

// Fields calls f for every key of a mapping; f returns false for a key it does
// not know, and known lists the keys to suggest then.
func (r *Reader) Fields(n *Node, known []string, f func(key string, v *Node) bool) {
	if n.Kind != Map {
		r.WrongKind(n, "a mapping")
		return
	}
	for i := range n.Items {
		name := n.Names[i].Name
		r.Push(name)
		if !f(name, &n.Items[i]) {
			r.unknownKey(name, n.Names[i].At, known)
		}
		r.Pop()
	}
}

func (r *Reader) unknownKey(name string, at int, keys []string) {
	fix := "known keys: " + strings.Join(keys, ", ")
	if len(keys) > 12 {
		fix = "`callvet schema " + cmp.Or(r.Format, "suite") + "` lists the keys"
	}
	if best := callvet.Nearest(name, keys); best != "" {
		fix = fmt.Sprintf("did you mean %q?", best)
	}
	r.Note(at, "unknown-key", fix, "unknown key %q", Clip(name, 60))
}

// Each calls f for every element of a list.
func (r *Reader) Each(n *Node, f func(i int, v *Node)) {
	if n.Kind != List {
		r.WrongKind(n, "a list")
		return
	}
	r.File.Elements(n, func(i int, v *Node) {
		r.index(i)
		f(i, v)
		r.Pop()
	})
}

// WrongKind notes a value of the wrong kind.
func (r *Reader) WrongKind(n *Node, want string) {
	r.Note(n.At, "wrong-type", "", "expected %s, found %s", want, n.Shown())
}

// Str reads text; null is "".
func (r *Reader) Str(n *Node) string {
	switch n.Kind {
	case String:
		return n.Text()
	case Null:
		return ""
	case Number, Bool:
		r.Note(n.At, "wrong-type", "write it in quotes: \""+string(n.Raw)+"\"", "expected text, found %s", n.Raw)
	default:
		r.WrongKind(n, "text")
	}
	return ""
}

// Label reads text that people write as a number too: an id, a version, a tag.
func (r *Reader) Label(n *Node) string {
	if (n.Kind == Number && !n.Odd) || n.Kind == Bool {
		return string(n.Raw)
	}
	return r.Str(n)
}

// Texts reads a list of texts; null is nil, an empty list is empty.
func (r *Reader) Texts(n *Node) []string {
	if n.Kind == Null {
		return nil
	}
	if n.Kind != List {
		r.WrongKind(n, "a list of texts")
		return nil
	}
	out := make([]string, 0, len(n.Items))
	r.Each(n, func(_ int, v *Node) { out = append(out, r.Label(v)) })
	return out
}

// OneOrMore reads a text or a list of texts.
func (r *Reader) OneOrMore(n *Node) []string {
	if n.Kind == String {
		return []string{n.Text()}
	}
	return r.Texts(n)
}

// Bool reads true or false.
func (r *Reader) Bool(n *Node) bool {
	if n.Kind != Bool {
		if n.Kind == String {
			r.Note(n.At, "wrong-type", "write true or false without quotes", "expected true or false, found %s",
				Clip(string(n.Raw), 40))
		} else {
			r.WrongKind(n, "true or false")
		}
		return false
	}
	return n.Raw[0] == 't'
}

// Number reads a finite number within bounds.
func (r *Reader) Number(n *Node, low, high float64) (f float64, ok bool) {
	if n.Kind != Number {
		r.WrongKind(n, "a number")
		return 0, false
	}
	f, err := strconv.ParseFloat(string(n.Raw), 64)
	switch {
	case err != nil || math.IsInf(f, 0):
		r.Note(n.At, "out-of-range", "", "%s is too large", n.Raw)
	case f < low:
		r.Note(n.At, "out-of-range", "", "%s is below %g", n.Raw, low)
	case f > high:
		r.Note(n.At, "out-of-range", "", "%s is above %g", n.Raw, high)
	default:
		return f, true
	}
	return 0, false
}

// Integer reads a whole number within bounds.
func (r *Reader) Integer(n *Node, low, high float64) (i int, ok bool) {
	if n.Kind != Number {
		r.WrongKind(n, "a whole number")
		return 0, false
	}
	i, err := strconv.Atoi(string(n.Raw))
	switch {
	case err != nil:
		r.Note(n.At, "wrong-type", "", "expected a whole number, found %s", n.Raw)
	case float64(i) < low:
		r.Note(n.At, "out-of-range", "", "%d is below %g", i, low)
	case float64(i) > high:
		r.Note(n.At, "out-of-range", "", "%d is above %g", i, high)
	default:
		return i, true
	}
	return 0, false
}

// Arguments reads a JSON object of arguments: null is nil.
func (r *Reader) Arguments(n *Node) json.RawMessage {
	switch n.Kind {
	case Null:
		return nil
	case Map:
		return n.JSON()
	}
	r.WrongKind(n, "a mapping of argument names to values")
	return nil
}

// Choice reads one of a few words.
func (r *Reader) Choice(n *Node, words ...string) string {
	s := r.Str(n)
	if s == "" || slices.Contains(words, s) {
		return s
	}
	fix := "one of: " + strings.Join(words, ", ")
	if best := callvet.Nearest(s, words); best != "" {
		fix = fmt.Sprintf("did you mean %q?", best)
	}
	r.Note(n.At, "unknown-value", fix, "unknown value %q", s)
	return ""
}

// groups reads a list of lists of texts.
func (r *Reader) groups(n *Node) [][]string {
	out := [][]string{}
	r.Each(n, func(_ int, v *Node) {
		if v.Kind != List {
			r.Note(v.At, "wrong-type", "every member is a list of its own: [[a, b], [c]]",
				"expected a list of texts, found %s", Clip(string(v.JSON()), 40))
			return
		}
		out = append(out, r.Texts(v))
	})
	return out
}

// Read reads n by its form. An invalid into means that the value is only checked.
func (r *Reader) Read(s *Shape, n *Node, into reflect.Value) (ok bool) {
	if n.Kind == Null && s.null && s.Name != "matcher" { // null is a value to compare with
		return false
	}
	at := into
	if at.IsValid() && at.Kind() == reflect.Pointer {
		at = reflect.New(into.Type().Elem()).Elem()
	}
	if ok = r.value(s, n, at); ok && at != into {
		into.Set(at.Addr())
	}
	return ok
}

// value reads n into a value that is no pointer; false: n has no value.
func (r *Reader) value(s *Shape, n *Node, into reflect.Value) bool {
	var v any
	ok := true
	switch {
	case into.IsValid() && r.Own != nil && r.Own(s, n, into):
		return true
	case s.reading == readKeys:
		r.Members(s, n, into, nil)
		return true
	case s.reading == readList:
		r.list(s, n, into)
		return true
	case s.reading == readMap:
		r.mapping(s, n, into)
		return true
	case s.reading == readInteger:
		v, ok = r.Integer(n, s.low, s.high)
	case s.reading == readNumber:
		v, ok = r.Number(n, s.low, s.high)
	default:
		v = r.plain(s, n)
	}
	if ok && v != nil && into.IsValid() {
		into.Set(reflect.ValueOf(v).Convert(into.Type()))
	}
	return ok
}

func (r *Reader) plain(s *Shape, n *Node) any {
	switch s.reading {
	case readText:
		return r.Str(n)
	case readLabel:
		return r.Label(n)
	case readWord:
		return r.Choice(n, s.Words...)
	case readFlag:
		return r.Bool(n)
	case readTexts:
		return r.Texts(n)
	case readOneOrMore:
		return r.OneOrMore(n)
	case readGroups:
		return r.groups(n)
	case readArguments:
		return r.Arguments(n)
	}
	return n.JSON()
}

// OwnKeys reads keys in a way other than by their form, and returns whether it did.
type OwnKeys func(key string, v *Node) bool

// Members reads a mapping into a struct. own may be nil; more are keys that own reads and the
// schema does not have.
func (r *Reader) Members(s *Shape, n *Node, into reflect.Value, own OwnKeys, more ...string) {
	r.Fields(n, append(s.Known[:len(s.Known):len(s.Known)], more...), func(key string, v *Node) bool {
		return own != nil && own(key, v) || r.Member(s, key, v, into, own, more...)
	})
}

// Member reads one key of a mapping; false: the form does not have it.
func (r *Reader) Member(s *Shape, key string, v *Node, into reflect.Value, own OwnKeys, more ...string) bool {
	k := s.Key(key)
	switch {
	case k == nil:
		return false
	case k.Flat && !(v.Kind == Null && k.Shape.null):
		r.Members(k.Shape, v, into, own, more...)
	case k.Field != nil:
		r.Read(k.Shape, v, into.FieldByIndex(k.Field))
	case !k.Flat:
		r.Read(k.Shape, v, reflect.Value{})
	}
	return true
}

// list appends elements to into. A list without mappings is empty, not nil.
func (r *Reader) list(s *Shape, n *Node, into reflect.Value) {
	r.Each(n, func(_ int, v *Node) {
		var e reflect.Value
		if into.IsValid() {
			e = reflect.New(into.Type().Elem()).Elem()
		}
		if r.Read(s.Elem, v, e); into.IsValid() {
			into.Set(reflect.Append(into, e))
		}
	})
	empty := into.IsValid() && into.IsNil() && n.Kind == List
	if empty && (into.Type().Elem().Kind() != reflect.Struct || s.Name == "faults") { // [] takes those of the suite off
		into.Set(reflect.MakeSlice(into.Type(), 0, 0))
	}
}

// mapping reads names with values; without any it is nil.
func (r *Reader) mapping(s *Shape, n *Node, into reflect.Value) {
	r.Fields(n, nil, func(key string, v *Node) bool {
		var e reflect.Value
		if into.IsValid() {
			e = reflect.New(into.Type().Elem()).Elem()
		}
		ok := r.Read(s.Elem, v, e) || s.Elem.reading != readNumber // a text may be empty, a number may not
		if ok && into.IsValid() {
			if into.IsNil() {
				into.Set(reflect.MakeMap(into.Type()))
			}
			into.SetMapIndex(reflect.ValueOf(key), e)
		}
		return true
	})
}

// Done returns the problems, with a last one that counts the omitted problems.
func (r *Reader) Done() []callvet.Problem {
	r.Duplicates()
	slices.SortStableFunc(r.Problems, func(a, b callvet.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if r.dropped > 0 {
		r.Problems = append(r.Problems, callvet.Problem{
			Position: callvet.Position{File: r.File.Name}, Code: "more-problems", Warning: r.errors == 0,
			Message: fmt.Sprintf("%d more problems are not listed", r.dropped),
			Fix:     "mend the first ones and look again",
		})
	}
	return r.Problems
}
