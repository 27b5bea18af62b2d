// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// maxProblems bounds the list for a file that is wrong in every line.
const maxProblems = 10_000

// reader reads values of one source and collects what is wrong with them.
type reader struct {
	src      *source
	opt      Options
	keys     map[string]string
	problems []callvet.Problem
	caseID   string
	// kept counts, per key, what an importer keeps without using it.
	kept  map[string]*keptKey
	order []string
}

type keptKey struct {
	at    callvet.Position
	cases int
	why   string
}

func newReader(src *source, opt Options) *reader {
	return &reader{src: src, opt: opt, keys: map[string]string{}, kept: map[string]*keptKey{}}
}

func (r *reader) report(off int, code, key, fix, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, callvet.Problem{
			Position: r.src.position(off), Code: code, Case: r.caseID, Key: key, Fix: fix, Message: fmt.Sprintf(format, args...),
		})
	}
}

func (r *reader) warn(off int, code, key, fix, format string, args ...any) {
	n := len(r.problems)
	r.report(off, code, key, fix, format, args...)
	if len(r.problems) > n {
		r.problems[n].Warning = true
	}
}

// notCarried warns of one thing in one place that the nouns cannot say.
func (r *reader) notCarried(off int, key, format string, args ...any) {
	r.warn(off, "not-carried", key, "", "%s is not carried: %s", key, fmt.Sprintf(format, args...))
}

// keep counts a key that is kept for export but not used; finish reports it
// once with the number of cases, at its first place.
func (r *reader) keep(off int, key, why string) {
	k := r.kept[key]
	if k == nil {
		k = &keptKey{at: r.src.position(off), why: why}
		r.kept[key] = k
		r.order = append(r.order, key)
	}
	k.cases++
}

func (r *reader) finish() []callvet.Problem {
	for _, key := range r.order {
		k := r.kept[key]
		n := ""
		if k.cases > 1 {
			n = fmt.Sprintf(" (%d times)", k.cases)
		}
		r.problems = append(r.problems, callvet.Problem{
			Position: k.at, Code: "not-carried", Warning: true, Key: key, Message: fmt.Sprintf("%s%s is not carried: %s", key, n, k.why),
		})
	}
	return r.problems
}

// object is a value's members by name, with its place.
type object struct {
	r    *reader
	node node
	list []member
}

// object reads a value that must be an object with no keys but the known ones.
func (r *reader) object(n node, what string, known ...string) object {
	o := object{r: r, node: n, list: n.members(r.keys)}
	if n.kind() != '{' {
		r.report(n.off, "wrong-type", what, "", "%s must be an object, not %s", what, kindName(n))
		return o
	}
	for _, m := range o.list {
		if !slices.Contains(known, m.name) {
			fix := ""
			if near := nearest(m.name, known); near != "" {
				fix = fmt.Sprintf("did you mean %q?", near)
			}
			r.report(m.off, "unknown-key", m.name, fix, "unknown key %q in %s", m.name, what)
		}
	}
	return o
}

// loose reads an object without looking at its keys.
func (r *reader) loose(n node) object {
	return object{r: r, node: n, list: n.members(r.keys)}
}

func (o object) get(key string) node {
	for i := range o.list {
		if o.list[i].name == key {
			return o.list[i].val
		}
	}
	return node{}
}

// first gives the value of the first key that is there, and the key.
func (o object) first(keys ...string) (node, string) {
	for _, k := range keys {
		if v := o.get(k); !v.absent() {
			return v, k
		}
	}
	return node{}, keys[0]
}

// at is where the key stands, or the object when it is absent.
func (o object) at(key string) int {
	for i := range o.list {
		if o.list[i].name == key {
			return o.list[i].off
		}
	}
	return o.node.off
}

func (o object) wrong(key, want string, v node) {
	o.r.report(v.off, "wrong-type", key, "", "%s must be %s, not %s", key, want, kindName(v))
}

// str reads a string; absent and null are "".
func (o object) str(key string) string {
	v := o.get(key)
	if !v.given() {
		return ""
	}
	s, ok := v.text()
	if !ok {
		o.wrong(key, "a string", v)
	}
	return s
}

// scalar reads a string, or a number or boolean as it is written.
func (o object) scalar(key string) string {
	v := o.get(key)
	switch v.kind() {
	case 0, 'n':
		return ""
	case '"':
		return unquote(v.raw)
	case '{', '[':
		o.wrong(key, "a single value", v)
		return ""
	}
	return string(v.raw)
}

// strs reads a list of strings; nil when absent or null, never nil otherwise.
func (o object) strs(key string) []string {
	v := o.get(key)
	if !v.given() {
		return nil
	}
	return o.r.strs(v, key)
}

func (r *reader) strs(v node, key string) []string {
	out := []string{}
	if v.kind() != '[' {
		r.report(v.off, "wrong-type", key, "", "%s must be a list of strings, not %s", key, kindName(v))
		return out
	}
	for _, e := range v.elements() {
		s, ok := e.text()
		if !ok {
			r.report(e.off, "wrong-type", key, "", "%s must be a list of strings; this is %s", key, kindName(e))
			continue
		}
		out = append(out, s)
	}
	return out
}

func (o object) boolean(key string) (value, given bool) {
	switch v := o.get(key); v.kind() {
	case 't':
		return true, true
	case 'f':
		return false, true
	case 0, 'n':
	default:
		o.wrong(key, "true or false", v)
	}
	return false, false
}

func (o object) number(key string) *float64 {
	v := o.get(key)
	if !v.given() {
		return nil
	}
	f, err := strconv.ParseFloat(string(v.raw), 64)
	if v.kind() != '0' || err != nil {
		o.wrong(key, "a number", v)
		return nil
	}
	return &f
}

func (o object) integer(key string) *int {
	v := o.get(key)
	if !v.given() {
		return nil
	}
	f, err := strconv.ParseFloat(string(v.raw), 64)
	if v.kind() != '0' || err != nil || f != float64(int(f)) || f > 1<<53 || f < 0 {
		o.wrong(key, "a whole number that is not negative", v)
		return nil
	}
	i := int(f)
	return &i
}

// list reads an array's elements; nil when absent.
func (o object) elements(key string) []node {
	v := o.get(key)
	if v.given() && v.kind() != '[' {
		o.wrong(key, "a list", v)
	}
	return v.elements()
}

func kindName(n node) string {
	switch n.kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	case '0':
		return "a number"
	}
	return "nothing"
}

// nearest is the known word closest to s, or "" when none is close.
func nearest(s string, known []string) string {
	best, limit := "", max(2, len(s)/3)+1
	fold := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	for _, k := range known {
		if d := distance(fold(s), fold(k)); d < limit {
			best, limit = k, d
		}
	}
	return best
}

// distance is Levenshtein's, over bytes; long words are not compared.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diag
			if a[i-1] != b[j-1] {
				cost++
			}
			diag = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

// copyRaw detaches a value from its source, for values that outlive it in a
// noun whose other parts are small.
func copyRaw(n node) json.RawMessage {
	if n.absent() {
		return nil
	}
	return slices.Clone(n.raw)
}
