// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/callvet/callvet"
)

// maxProblems bounds the list for a file that is wrong in every line.
const maxProblems = 10_000

// Reader reads values of one source and collects their problems.
type Reader struct {
	Src      *Source
	Opt      ReaderOptions
	Keys     map[string]string // interned keys of objects
	Problems []callvet.Problem // so far, in the order of the file
	CaseID   string            // the case that is being read; problems name it
	// kept counts, per key, what an importer keeps without using it.
	kept  map[string]*keptKey
	order []string
}

type keptKey struct {
	at    callvet.Position
	cases int
	why   string
}

// NewReader reads src; opt has the other inputs of the import.
func NewReader(src *Source, opt ReaderOptions) *Reader {
	return &Reader{Src: src, Opt: opt, Keys: map[string]string{}, kept: map[string]*keptKey{}}
}

// Report adds an error at an offset of the source; fix may be "".
func (r *Reader) Report(off int, code, key, fix, format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, callvet.Problem{
			Position: r.Src.Position(off), Code: code, Case: r.CaseID, Key: key, Fix: fix,
			Message: fmt.Sprintf(format, args...),
		})
	}
}

// Warn adds a warning at an offset of the source; fix may be "".
func (r *Reader) Warn(off int, code, key, fix, format string, args ...any) {
	n := len(r.Problems)
	r.Report(off, code, key, fix, format, args...)
	if len(r.Problems) > n {
		r.Problems[n].Warning = true
	}
}

// NotCarried warns of one part of the source that the nouns cannot express.
func (r *Reader) NotCarried(off int, key, format string, args ...any) {
	r.Warn(off, "not-carried", key, "", "%s is not carried: %s", key, fmt.Sprintf(format, args...))
}

// NotEvaluated warns of an assertion that nothing here can evaluate, and keeps it visible. expected
// is the expected value, as far as it is known.
func (r *Reader) NotEvaluated(off int, e *callvet.Expect, name, why, expected string) {
	r.NotCarried(off, name, "%s", why)
	e.Unsupported = append(e.Unsupported, callvet.Unsupported{Name: name, Reason: why, Expected: expected})
}

// Keep counts a key that is kept for export but not used; finish reports it
// once with the number of cases, at its first place.
func (r *Reader) Keep(off int, key, why string) {
	k := r.kept[key]
	if k == nil {
		k = &keptKey{at: r.Src.Position(off), why: why}
		r.kept[key] = k
		r.order = append(r.order, key)
	}
	k.cases++
}

// Finish gives all problems, the counted ones last.
func (r *Reader) Finish() []callvet.Problem {
	for _, key := range r.order {
		k := r.kept[key]
		n := ""
		if k.cases > 1 {
			n = fmt.Sprintf(" (%d times)", k.cases)
		}
		r.Problems = append(r.Problems, callvet.Problem{
			Position: k.at, Code: "not-carried", Warning: true, Key: key,
			Message: fmt.Sprintf("%s%s is not carried: %s", key, n, k.why),
		})
	}
	return r.Problems
}

// Object is a value's members by name, with its place.
type Object struct {
	r    *Reader
	Node Node
	List []Member
}

// Object reads a value that must be an object with no keys but the known ones.
func (r *Reader) Object(n Node, what string, known ...string) Object {
	o := Object{r: r, Node: n, List: n.Members(r.Keys)}
	if n.Kind() != '{' {
		r.Report(n.Off, "wrong-type", what, "", "%s must be an object, not %s", what, KindName(n))
		return o
	}
	for _, m := range o.List {
		if !slices.Contains(known, m.Name) {
			fix := ""
			if near := callvet.Nearest(m.Name, known); near != "" {
				fix = fmt.Sprintf("did you mean %q?", near)
			}
			r.Report(m.Off, "unknown-key", m.Name, fix, "unknown key %q in %s", m.Name, what)
		}
	}
	return o
}

// Loose reads an object without looking at its keys.
func (r *Reader) Loose(n Node) Object {
	return Object{r: r, Node: n, List: n.Members(r.Keys)}
}

// Get returns a key's value, or the absent node.
func (o Object) Get(key string) Node {
	for i := range o.List {
		if o.List[i].Name == key {
			return o.List[i].Val
		}
	}
	return Node{}
}

// First returns the value of the first present key, and the key.
func (o Object) First(keys ...string) (Node, string) {
	for _, k := range keys {
		if v := o.Get(k); !v.Absent() {
			return v, k
		}
	}
	return Node{}, keys[0]
}

// At is the position of the key, or of the object when the key is absent.
func (o Object) At(key string) int {
	for i := range o.List {
		if o.List[i].Name == key {
			return o.List[i].Off
		}
	}
	return o.Node.Off
}

// Wrong reports a value of the wrong type.
func (o Object) Wrong(key, want string, v Node) {
	o.r.Report(v.Off, "wrong-type", key, "", "%s must be %s, not %s", key, want, KindName(v))
}

// Str reads a string; absent and null are "".
func (o Object) Str(key string) string {
	v := o.Get(key)
	if !v.Given() {
		return ""
	}
	s, ok := v.Text()
	if !ok {
		o.Wrong(key, "a string", v)
	}
	return s
}

// Scalar reads a string, or a number or boolean as it is written.
func (o Object) Scalar(key string) string {
	v := o.Get(key)
	switch v.Kind() {
	case 0, 'n':
		return ""
	case '"':
		return Unquote(v.Raw)
	case '{', '[':
		o.Wrong(key, "a single value", v)
		return ""
	}
	return string(v.Raw)
}

// Strs reads a list of strings; nil when absent or null, never nil otherwise.
func (o Object) Strs(key string) []string {
	v := o.Get(key)
	if !v.Given() {
		return nil
	}
	return o.r.Strs(v, key)
}

// Strs reads a list of strings and reports anything else; never nil.
func (r *Reader) Strs(v Node, key string) []string {
	out := []string{}
	if v.Kind() != '[' {
		r.Report(v.Off, "wrong-type", key, "", "%s must be a list of strings, not %s", key, KindName(v))
		return out
	}
	for _, e := range v.Elements() {
		s, ok := e.Text()
		if !ok {
			r.Report(e.Off, "wrong-type", key, "", "%s must be a list of strings; this is %s", key, KindName(e))
			continue
		}
		out = append(out, s)
	}
	return out
}

// Boolean reads true or false; given is false when absent or null.
func (o Object) Boolean(key string) (value, given bool) {
	switch v := o.Get(key); v.Kind() {
	case 't':
		return true, true
	case 'f':
		return false, true
	case 0, 'n':
	default:
		o.Wrong(key, "true or false", v)
	}
	return false, false
}

// Number reads a number; nil when absent or null.
func (o Object) Number(key string) *float64 {
	v := o.Get(key)
	if !v.Given() {
		return nil
	}
	f, err := strconv.ParseFloat(string(v.Raw), 64)
	if v.Kind() != '0' || err != nil {
		o.Wrong(key, "a number", v)
		return nil
	}
	return &f
}

// Integer reads a whole number from 0 on; nil when absent or null.
func (o Object) Integer(key string) *int {
	v := o.Get(key)
	if !v.Given() {
		return nil
	}
	f, err := strconv.ParseFloat(string(v.Raw), 64)
	if v.Kind() != '0' || err != nil || f != float64(int(f)) || f > 1<<53 || f < 0 {
		o.Wrong(key, "a whole number that is not negative", v)
		return nil
	}
	i := int(f)
	return &i
}

// Elements reads an array's elements; nil when absent.
func (o Object) Elements(key string) []Node {
	return o.Array(key).Elements()
}

// Array returns a key's value, which must be an array when it is given.
func (o Object) Array(key string) Node {
	v := o.Get(key)
	if v.Given() && v.Kind() != '[' {
		o.Wrong(key, "a list", v)
	}
	return v
}

// KindName describes in words what a value is.
func KindName(n Node) string {
	switch n.Kind() {
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

// copyRaw detaches a value from its source, for values that outlive it in a noun with other small
// parts.
func copyRaw(n Node) json.RawMessage {
	if n.Absent() {
		return nil
	}
	return slices.Clone(n.Raw)
}

// ReaderOptions are what an import may use in addition to the file. The zero value is
// fine: tokens then stay unresolved and tools unknown.
type ReaderOptions struct {
	// Seeds and Snapshots are the JSON that {{seed:…}} and {{snapshot:…}} tokens
	// point into; nil leaves them unresolved.
	Seeds     json.RawMessage
	Snapshots json.RawMessage
	// Tools become the suite's in dialects with files that have none.
	Tools []callvet.Tool
	// Programs carries assertions that are JavaScript or Python as scorers that run them. By
	// default they are not evaluated.
	Programs bool
	// Include reads a file that a suite in the folder dir names; nil: none is read.
	Include func(dir, name string) ([]byte, error)
}
