// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Diff compares expected and actual arguments, one entry per key of the union in the expected
// order; a key with failures inside its value has one entry per failing place. A nil Args lists
// the actual arguments without judging them.
func (a *Args) Diff(actual value.Value) []callvet.ArgDiff {
	if k := actual.Kind(); k != value.Object && k != value.Null && k != value.Invalid {
		return []callvet.ArgDiff{{
			Path: "", Actual: raw(actual), Rule: ModeType,
			Note: "the arguments are a JSON " + k.String() + ", not an object",
		}}
	}
	actual = composed(actual)
	out := make([]callvet.ArgDiff, 0, len(a.root.members))
	for i := range a.root.members {
		m := &a.root.members[i]
		v, _ := actual.Get(m.key)
		out = m.diff(out, m.key, v)
	}
	out = a.diffPatterns(out, actual)
	return a.root.diffExtras(out, "", actual, a.extra, a.patterns...)
}

// raw is a view of the value's text, which belongs to the case or the trace.
func raw(v value.Value) json.RawMessage { return v.Raw() }

func (m *member) diff(out []callvet.ArgDiff, path string, v value.Value) []callvet.ArgDiff {
	if v.Kind() != value.Invalid || m.rule.op == opAbsent {
		return m.rule.diff(out, path, v)
	}
	d := callvet.ArgDiff{Path: path, Expected: raw(m.rule.want), Rule: m.rule.name}
	switch {
	case m.optional:
		d.Matched, d.Note = true, "optional, left out"
	case m.omittable:
		d.Matched, d.Note = true, "left out; the schema's default is the expected value"
	default:
		d.Note = "missing"
	}
	return append(out, d)
}

func (r *Rule) diff(out []callvet.ArgDiff, path string, v value.Value) []callvet.ArgDiff {
	ok, sim := r.Match(v)
	if !ok {
		if deeper := r.inside(nil, path, v); len(deeper) > 0 {
			return append(out, deeper...)
		}
	}
	d := callvet.ArgDiff{
		Path: path, Expected: raw(r.want), Actual: raw(v), Matched: ok, Rule: r.name,
		Note: r.note(ok, v),
	}
	switch r.op {
	case opFuzzyText, opFuzzyNumber, opSemantic:
		d.Similarity = &sim
	case opObject, opArray, opAnyOf:
		if sim > 0 && sim < 1 && r.set != nil && (r.set.Leaf == ModeFuzzy || r.set.Leaf == ModeSemantic) {
			d.Similarity = &sim
		}
	}
	return append(out, d)
}

// inside explains a failed structure by its failed places.
func (r *Rule) inside(out []callvet.ArgDiff, path string, v value.Value) []callvet.ArgDiff {
	switch {
	case r.op == opObject && v.Kind() == value.Object:
		for i := range r.members {
			m := &r.members[i]
			e, has := v.Get(m.key)
			if !has && (m.optional || m.omittable) {
				continue
			}
			if ok, _ := m.rule.Match(e); !ok {
				out = m.diff(out, path+"."+m.key, e)
			}
		}
		if !r.loose {
			out = r.diffExtras(out, path+".", v, callvet.ExtraForbid)
		}
	case r.op == opArray && !r.shuffled && v.Kind() == value.Array && v.Len() == len(r.rules):
		i := 0
		for e, more := v.First(); more; e, more = v.Next(e) {
			if ok, _ := r.rules[i].Match(e); !ok {
				out = r.rules[i].diff(out, fmt.Sprintf("%s[%d]", path, i), e)
			}
			i++
		}
	}
	return out
}

func (r *Rule) diffExtras(out []callvet.ArgDiff, prefix string, v value.Value, extra callvet.ExtraArgs,
	patterns ...pattern,
) []callvet.ArgDiff {
	if v.Kind() != value.Object {
		return out
	}
	for e, more := v.First(); more; e, more = v.Next(e) {
		if r.expects(e) ||
			slices.ContainsFunc(patterns, func(p pattern) bool { return callvet.NameFits(p.name, e.Key(), true) }) {
			continue
		}
		d := callvet.ArgDiff{Path: prefix + e.Key(), Actual: raw(e), Rule: "extra_args", Note: "not expected"}
		switch {
		case r.isDefault(e):
			d.Matched, d.Note = true, "not expected, but the schema's default"
		case extra == callvet.ExtraIgnore:
			d.Matched, d.Note = true, "not expected; extra arguments are ignored"
		case extra == callvet.ExtraPenalize:
			d.Matched, d.Note = true, "not expected; extra arguments lower the score"
		}
		out = append(out, d)
	}
	return out
}

func (r *Rule) expects(e value.Value) bool {
	for i := range r.members {
		if e.KeyIs(r.members[i].key) {
			return true
		}
	}
	return false
}

func (r *Rule) isDefault(e value.Value) bool {
	for i := range r.defaults {
		if e.KeyIs(r.defaults[i].key) {
			return value.Equal(r.defaults[i].value, e)
		}
	}
	return false
}

// note is a remark that the rule's name does not show.
func (r *Rule) note(ok bool, v value.Value) string {
	switch {
	case r.op == opAbsent && !ok:
		return "must be absent"
	case ok && r.op == opNumber && value.CompareNumbers(r.want.Raw(), v.Raw()) != 0:
		return "equal within float64 rounding"
	case !ok && r.want.Kind() != value.Invalid && v.Kind() != value.Invalid && r.want.Kind() != v.Kind() &&
		r.op <= opFoldCase:
		return "a " + v.Kind().String() + ", not a " + r.want.Kind().String()
	case ok && r.op == opAnyOf && r.name == ModeAnyOf:
		return "one of the acceptable values"
	case r.op == opFuzzyText, r.op == opSemantic:
		return r.similarityNote(v)
	case !ok && r.op == opBytes && r.name == ModeExact && foldsTo(v.Bytes(), Fold(nil, r.text)):
		return "the schema makes the spelling matter, by a pattern, a format or an enum of values that differ in it only"
	}
	return ""
}

func (r *Rule) similarityNote(v value.Value) string {
	s := fmt.Sprintf("threshold %g", r.set.Threshold)
	if r.op != opSemantic || r.set.Similarity == nil {
		return s
	}
	_, by, err := r.set.Similarity(r.want.Str(), v.Str())
	if err != nil {
		return "similarity unknown: " + err.Error()
	}
	return s + ", by " + by
}
