// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

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
func (r *reader) fields(n *doc.Node, known []string, f func(key string, v *doc.Node) bool) {
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

func (r *reader) unknownKey(name string, at int, keys []string) {
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

// number reads a finite number within bounds.
func (r *reader) number(n *doc.Node, low, high float64) (f float64, ok bool) {
	if n.Kind != doc.Number {
		r.wrongKind(n, "a number")
		return 0, false
	}
	f, err := strconv.ParseFloat(string(n.Raw), 64)
	switch {
	case err != nil || math.IsInf(f, 0):
		r.problem(n.At, "out-of-range", "", "%s is too large", n.Raw)
	case f < low:
		r.problem(n.At, "out-of-range", "", "%s is below %g", n.Raw, low)
	case f > high:
		r.problem(n.At, "out-of-range", "", "%s is above %g", n.Raw, high)
	default:
		return f, true
	}
	return 0, false
}

// integer reads a whole number within bounds.
func (r *reader) integer(n *doc.Node, low, high float64) (i int, ok bool) {
	if n.Kind != doc.Number {
		r.wrongKind(n, "a whole number")
		return 0, false
	}
	i, err := strconv.Atoi(string(n.Raw))
	switch {
	case err != nil:
		r.problem(n.At, "wrong-type", "", "expected a whole number, found %s", n.Raw)
	case float64(i) < low:
		r.problem(n.At, "out-of-range", "", "%d is below %g", i, low)
	case float64(i) > high:
		r.problem(n.At, "out-of-range", "", "%d is above %g", i, high)
	default:
		return i, true
	}
	return 0, false
}

// arguments reads a JSON object of arguments: null is nil.
func (r *reader) arguments(n *doc.Node) json.RawMessage {
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
	if s == "" || slices.Contains(words, s) {
		return s
	}
	fix := "one of: " + strings.Join(words, ", ")
	if best := callvet.Nearest(s, words); best != "" {
		fix = fmt.Sprintf("did you mean %q?", best)
	}
	r.problem(n.At, "unknown-value", fix, "unknown value %q", s)
	return ""
}

// groups reads a list of lists of texts.
func (r *reader) groups(n *doc.Node) [][]string {
	out := [][]string{}
	r.each(n, func(_ int, v *doc.Node) {
		if v.Kind != doc.List {
			r.problem(v.At, "wrong-type", "every member is a list of its own: [[a, b], [c]]",
				"expected a list of texts, found %s", doc.Clip(string(v.JSON()), 40))
			return
		}
		out = append(out, r.strs(v))
	})
	return out
}

// into reads n by the form of p's type in the schema.
func (r *reader) into(name string, n *doc.Node, p any) {
	r.read(forms()[name], n, reflect.ValueOf(p).Elem())
}

// read reads n by its form. A value that is not valid is checked and kept nowhere.
func (r *reader) read(f *form, n *doc.Node, into reflect.Value) (ok bool) {
	if n.Kind == doc.Null && f.null && f.name != "matcher" { // null is a value to compare with
		return false
	}
	at := into
	if at.IsValid() && at.Kind() == reflect.Pointer {
		at = reflect.New(into.Type().Elem()).Elem()
	}
	if ok = r.value(f, n, at); ok && at != into {
		into.Set(at.Addr())
	}
	return ok
}

// value reads n into a value that is no pointer; false: there is none.
func (r *reader) value(f *form, n *doc.Node, into reflect.Value) bool {
	var v any
	ok := true
	switch {
	case into.IsValid() && r.special(f, n, into):
		return true
	case f.kind == asKeys:
		r.members(f, n, into, nil)
		return true
	case f.kind == asList:
		r.list(f, n, into)
		return true
	case f.kind == asMap:
		r.mapping(f, n, into)
		return true
	case f.kind == asInteger:
		v, ok = r.integer(n, f.low, f.high)
	case f.kind == asNumber:
		v, ok = r.number(n, f.low, f.high)
	default:
		v = r.plain(f, n)
	}
	if ok && v != nil && into.IsValid() {
		into.Set(reflect.ValueOf(v).Convert(into.Type()))
	}
	return ok
}

func (r *reader) plain(f *form, n *doc.Node) any {
	switch f.kind {
	case asText:
		return r.str(n)
	case asLabel:
		return r.label(n)
	case asWord:
		return r.choice(n, f.words...)
	case asFlag:
		return r.boolean(n)
	case asTexts:
		return r.strs(n)
	case asOneOrMore:
		return r.oneOrMore(n)
	case asGroups:
		return r.groups(n)
	case asArguments:
		return r.arguments(n)
	}
	return n.JSON()
}

// ownKeys reads keys in another way than by their form, and returns whether it did.
type ownKeys func(key string, v *doc.Node) bool

// members reads a mapping into a struct. own may be nil; more are keys that it knows and the schema does not.
func (r *reader) members(f *form, n *doc.Node, into reflect.Value, own ownKeys, more ...string) {
	r.fields(n, append(f.known[:len(f.known):len(f.known)], more...), func(key string, v *doc.Node) bool {
		return own != nil && own(key, v) || r.member(f, key, v, into, own, more...)
	})
}

// member reads one key of a mapping; false: the form does not have it.
func (r *reader) member(f *form, key string, v *doc.Node, into reflect.Value, own ownKeys, more ...string) bool {
	k := f.key(key)
	switch {
	case k == nil:
		return false
	case k.flat && !(v.Kind == doc.Null && k.form.null):
		r.members(k.form, v, into, own, more...)
	case k.field != nil:
		r.read(k.form, v, into.FieldByIndex(k.field))
	case !k.flat:
		r.read(k.form, v, reflect.Value{})
	}
	return true
}

// list reads elements behind those that into has. A list without mappings is empty, not nil.
func (r *reader) list(f *form, n *doc.Node, into reflect.Value) {
	r.each(n, func(_ int, v *doc.Node) {
		var e reflect.Value
		if into.IsValid() {
			e = reflect.New(into.Type().Elem()).Elem()
		}
		if r.read(f.elem, v, e); into.IsValid() {
			into.Set(reflect.Append(into, e))
		}
	})
	empty := into.IsValid() && into.IsNil() && n.Kind == doc.List
	if empty && (into.Type().Elem().Kind() != reflect.Struct || f.name == "faults") { // [] takes those of the suite off
		into.Set(reflect.MakeSlice(into.Type(), 0, 0))
	}
}

// mapping reads names with values; without any it is nil.
func (r *reader) mapping(f *form, n *doc.Node, into reflect.Value) {
	r.fields(n, nil, func(key string, v *doc.Node) bool {
		var e reflect.Value
		if into.IsValid() {
			e = reflect.New(into.Type().Elem()).Elem()
		}
		ok := r.read(f.elem, v, e) || f.elem.kind != asNumber // a text may be empty, a number may not
		if ok && into.IsValid() {
			if into.IsNil() {
				into.Set(reflect.MakeMap(into.Type()))
			}
			into.SetMapIndex(reflect.ValueOf(key), e)
		}
		return true
	})
}

// special reads values that have forms or rules of their own, by what they are in Go.
func (r *reader) special(f *form, n *doc.Node, into reflect.Value) bool {
	switch p := into.Addr().Interface().(type) {
	case *string:
		if f.name != "toolChoice" {
			return false
		}
		*p = r.toolChoice(n)
	case *int:
		if f.name != "place" {
			return false
		}
		*p = r.place(n)
	case *callvet.MockState:
		r.mockState(f, n, p)
	case *[]callvet.Tool:
		r.tools(p, n)
	case *callvet.Matcher:
		*p = r.matcher(n)
	case *callvet.ToolParam:
		*p = r.toolParam(n)
	case *callvet.Expect:
		r.expect(f, n, p)
	case *callvet.Plan:
		r.plan(f, n, p)
	case *callvet.ExpectedCall:
		if n.Kind == doc.String { // - get_weather
			p.Tools = []string{n.Text()}
			return true
		}
		r.members(f, n, into, nil)
		r.namesTool(p, n)
	case *callvet.Harm:
		if n.Kind == doc.String {
			p.Call.Tools = []string{n.Text()}
			return true
		}
		r.members(f, n, into, nil)
		r.namesTool(&p.Call, n)
	case *callvet.Mock:
		r.mock(f, n, p)
	case *callvet.Turn:
		r.turn(f, n, p)
	case *callvet.Call:
		r.call(f, n, p)
	case *callvet.ToolNames:
		r.toolNames(f, n, p)
	default:
		return r.checked(f, n, into)
	}
	return true
}

// checked reads mappings whose keys have rules between them.
func (r *reader) checked(f *form, n *doc.Node, into reflect.Value) bool {
	var check func()
	switch p := into.Addr().Interface().(type) {
	case *callvet.RubricDimension:
		p.MaxScore = 1
	case *callvet.Unsupported:
		p.Reason = "nothing here evaluates it"
	case *callvet.RateLimit:
		check = func() { r.rateLimitFits(n, p) }
	case *callvet.MockReply:
		check = func() { r.replyFits(n, p) }
	case *callvet.CallCount:
		check = func() { r.countFits(n, p) }
	case *callvet.ToolFault:
		check = func() { r.faultFits(n, p) }
	case *callvet.Attack:
		check = func() { r.attackFits(n, p) }
	case *callvet.Plant:
		check = func() { r.plantFits(n, p) }
	case *callvet.Scorer:
		check = func() { r.scorerFits(n, p) }
	default:
		return false
	}
	if r.members(f, n, into, nil); check != nil && n.Kind == doc.Map {
		check()
	}
	return true
}
