// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bfcl

import (
	"github.com/callvet/callvet/value"
)

// Name is the expected function name.
func (e *Expectation) Name() string { return e.name }

// NameMatches compares a called name. callvet sends names with underscores to providers that
// refuse dots, so that this form counts as well.
func (e *Expectation) NameMatches(got string) bool { return got == e.name || got == e.dotless }

// Match judges one call. The checks come in the leaderboard's order (name, required parameters,
// each argument in the call's order, parameters left out), and the first that fails is the
// verdict. It does not allocate for Python values without escapes.
func (e *Expectation) Match(name string, args value.Value) ErrorType {
	if !e.NameMatches(name) {
		return WrongName
	}
	if args.Kind() != value.Object {
		return NotAnObject
	}
	var at [maxParams]int8
	if args.Len() > maxParams {
		return Unexpected
	}
	var seen uint64
	n := 0
	for x, ok := args.First(); ok; x, ok = args.Next(x) {
		at[n] = int8(e.find(x, n))
		if at[n] >= 0 {
			seen |= 1 << at[n]
		}
		n++
	}
	for i := range e.required {
		r := &e.required[i]
		if r.at < 0 {
			if _, ok := args.Get(r.name); !ok {
				return MissingRequired
			}
		} else if seen>>r.at&1 == 0 {
			return MissingRequired
		}
	}
	n = 0
	for x, ok := args.First(); ok; x, ok = args.Next(x) {
		if bad := e.argument(int(at[n]), x); bad != OK {
			return bad
		}
		n++
	}
	if e.answered&^seen != 0 {
		return MissingOptional
	}
	return OK
}

// find is the parameter with a member's name, tried first at the member's position; -1: none.
func (e *Expectation) find(x value.Value, guess int) int {
	if guess < len(e.params) && x.KeyIs(e.params[guess].name) {
		return guess
	}
	for i := range e.params {
		if x.KeyIs(e.params[i].name) {
			return i
		}
	}
	return -1
}

// maxLiteral bounds the source texts that are read; longer ones stay texts.
const maxLiteral = 1 << 16

func (e *Expectation) argument(at int, v value.Value) ErrorType {
	if at < 0 {
		return Unexpected
	}
	p := &e.params[at]
	if !p.declared || !p.answered {
		return Unexpected
	}
	if e.literal == nil {
		return p.match(v, e.rules)
	}
	if v.Kind() != value.String {
		if e.rules.Language == Java {
			return WrongJava
		}
		return WrongJavaScript
	}
	text := v.Raw()
	if len(text) <= maxLiteral {
		var err error
		if text, err = e.literal(nil, v.Str(), p.decl, p.inner); err != nil {
			return WrongType
		}
	}
	x, err := value.Parse(text)
	if err != nil {
		return WrongType
	}
	return p.match(x, e.rules)
}

// match compares one value, converted from its language's literal if necessary.
func (p *param) match(v value.Value, r Rules) ErrorType {
	t := typeOf(v)
	asFloat := r.Language == Python && p.typ == pyFloat && t == pyInt
	if asFloat {
		t = pyFloat
	}
	if bad := p.matchType(t, v); bad != OK {
		return bad
	}
	// An answer of a different type names a variable, which is compared literally.
	if p.first == pyUnset || p.first == p.typ {
		switch {
		case p.typ == pyDict:
			return matchDict(v, p.answers, r.Edition)
		case p.typ == pyList && p.nested == pyDict:
			return p.matchDicts(v, r.Edition)
		case p.typ == pyStr:
			return p.matchText(v)
		case p.typ == pyList:
			return p.matchList(v)
		}
	}
	for i := range p.answers {
		if equal(p.answers[i].v, v, asFloat) {
			return OK
		}
	}
	return WrongOther
}

// matchType accepts the declared type or the type of the first answer.
func (p *param) matchType(t pyType, v value.Value) ErrorType {
	switch {
	case t == p.typ && (p.nested == pyUnset || p.nestedTypes(v)):
		return OK
	case t == p.typ && p.first == t:
		return WrongNested
	case p.first != pyUnset && t == p.first:
		return OK
	}
	return WrongType
}

// nestedTypes checks the elements' types against the declared one or, where the
// answer names a variable, against the answer's. An answer that is not a list
// accepts any elements.
func (p *param) nestedTypes(v value.Value) bool {
	for i := range p.answers {
		a := &p.answers[i]
		if a.typ != pyList {
			return true
		}
		alt := pyUnset
		for k := range a.list {
			if x := &a.list[k]; x.typ != pyStr || len(x.v.Raw()) != 2 {
				alt = x.typ
				break
			}
		}
		ok := true
		for x, more := v.First(); more && ok; x, more = v.Next(x) {
			t := typeOf(x)
			ok = t == p.nested || alt != pyUnset && t == alt
		}
		if ok {
			return true
		}
	}
	return false
}

func (p *param) matchText(v value.Value) ErrorType {
	got := v.Bytes()
	for i := range p.answers {
		if p.answers[i].typ == pyStr && sameText(got, p.answers[i].text) {
			return OK
		}
	}
	return WrongString
}

func (p *param) matchList(v value.Value) ErrorType {
	for i := range p.answers {
		a := &p.answers[i]
		if a.typ == pyStr { // a string is the list of its letters
			if sameLetters(v, a.v.Str()) {
				return OK
			}
			continue
		}
		if a.typ == pyList && sameList(v, a.list) {
			return OK
		}
	}
	return WrongList
}

func sameLetters(v value.Value, s string) bool {
	rs := []rune(s)
	if v.Len() != len(rs) {
		return false
	}
	i := 0
	for x, ok := v.First(); ok; x, ok = v.Next(x) {
		if x.Kind() != value.String || !sameText(x.Bytes(), standardize(string(rs[i]))) {
			return false
		}
		i++
	}
	return true
}

func sameList(v value.Value, want []answer) bool {
	if v.Len() != len(want) {
		return false
	}
	i := 0
	for x, ok := v.First(); ok; x, ok = v.Next(x) {
		if !sameItem(x, &want[i]) {
			return false
		}
		i++
	}
	return true
}

// sameItem compares an element or a dictionary's value: strings in their
// standard form, everything else literally.
func sameItem(x value.Value, want *answer) bool {
	if x.Kind() == value.String || want.typ == pyStr {
		return x.Kind() == value.String && want.typ == pyStr && sameText(x.Bytes(), want.text)
	}
	return equal(want.v, x, false)
}

// matchDict accepts a dictionary that fits one of the answers; else the error
// of the last answer tried.
func matchDict(v value.Value, answers []answer, ed Edition) ErrorType {
	bad := UnclearDict
	for i := range answers {
		a := &answers[i]
		if a.typ == pyStr && len(a.v.Raw()) == 2 {
			continue
		}
		if bad = a.matchMembers(v, ed); bad == OK {
			return OK
		}
	}
	return bad
}

func (a *answer) matchMembers(v value.Value, ed Edition) ErrorType {
	if v.Kind() != value.Object {
		return UnclearDict
	}
	if ed == V1 && v.Len() != len(a.dict) {
		return WrongDictItems
	}
	bad := OK
	for x, ok := v.First(); ok && bad == OK; x, ok = v.Next(x) {
		bad = a.matchMember(x, ed)
	}
	if ed == V1 {
		return bad
	}
	for i := range a.dict {
		if _, has := v.Get(a.dict[i].name); !has && !a.dict[i].optional {
			return WrongDictKey
		}
	}
	return bad
}

func (a *answer) matchMember(x value.Value, ed Edition) ErrorType {
	for i := range a.dict {
		en := &a.dict[i]
		if !x.KeyIs(en.name) {
			continue
		}
		if en.sub != nil {
			return en.sub.matchMembers(x, ed)
		}
		for k := range en.values {
			if sameItem(x, &en.values[k]) {
				return OK
			}
		}
		return WrongDictValue
	}
	return WrongDictKey
}

// matchDicts compares a list of dictionaries with each answer in order.
func (p *param) matchDicts(v value.Value, ed Edition) ErrorType {
	bad := UnclearListDict
	for i := range p.answers {
		a := &p.answers[i]
		if v.Len() != len(a.list) {
			bad = WrongListCount
			continue
		}
		k, all := 0, true
		for x, ok := v.First(); ok && all; x, ok = v.Next(x) {
			if bad = matchDict(x, a.list[k:k+1], ed); bad != OK {
				all = false
			}
			k++
		}
		if all {
			return OK
		}
	}
	return bad
}
