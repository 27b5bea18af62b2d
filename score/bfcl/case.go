// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bfcl

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Call is an actual call with its parsed arguments.
type Call struct {
	Name string
	Args value.Value
}

// Case is a whole compiled case: the expected calls, or whether any call is expected. It is
// immutable and safe for concurrent use.
type Case struct {
	calls []*Expectation
	count ErrorType // of a wrong number of calls
	group group
	mode  mode
}

type group uint8

const (
	simple group = iota
	multiple
	parallel
)

type mode uint8

const (
	ast mode = iota
	noCall
	someCall
)

// Verdict is the leaderboard's judgement of an attempt.
type Verdict struct {
	OK    bool
	Error ErrorType
	// Pairs contains, for every expected call, the position of the call that answers it, or -1.
	// Calls are paired greedily, in the order of the answer.
	Pairs []int
	// Expected and Actual are the calls with the error; -1: the case as a whole.
	Expected, Actual int
	// Sub is the error of the pair where Error is NoMatch.
	Sub ErrorType
}

// CompileCase compiles a case's only plan with the case's tools. A case without
// a plan that asks for at least one call is a relevance case; a plan without
// calls is an irrelevance case. Errors wrap callvet.ErrInvalid.
func CompileCase(c *callvet.Case, tools []callvet.Tool, r Rules) (*Case, error) {
	out := &Case{}
	e := &c.Expect
	switch {
	case len(e.Plans) == 0 && e.MinToolCalls != nil && *e.MinToolCalls > 0:
		out.mode = someCall
		return out, nil
	case len(e.Plans) != 1:
		return nil, errors.Join(callvet.ErrInvalid, errors.New("the bfcl profile needs exactly one plan"))
	case len(e.Plans[0].Calls) == 0:
		out.mode = noCall
		return out, nil
	}
	var errs []error
	for i := range e.Plans[0].Calls {
		want := &e.Plans[0].Calls[i]
		x, err := Compile(findTool(tools, want.Tools), want, r)
		errs = append(errs, err)
		out.calls = append(out.calls, x)
	}
	out.group, out.count = groupOf(c.Fields["category"], len(out.calls), r.Edition)
	return out, errors.Join(errs...)
}

func findTool(tools []callvet.Tool, names []string) *callvet.Tool {
	for _, n := range names {
		for i := range tools {
			if tools[i].Name == n {
				return &tools[i]
			}
		}
	}
	return nil
}

// groupOf returns the checker that the leaderboard uses. In its first edition "multiple" went
// through the parallel one.
func groupOf(category string, calls int, ed Edition) (group, ErrorType) {
	switch {
	case strings.Contains(category, "parallel"), category == "" && calls > 1:
		return parallel, CountParallel
	case strings.Contains(category, "multiple") && ed == V1:
		return parallel, CountParallel
	case strings.Contains(category, "multiple"):
		return multiple, CountMultiple
	}
	return simple, CountSimple
}

// Expectations are the expected calls; nil when no call or any call is expected.
func (c *Case) Expectations() []*Expectation { return c.calls }

// Check judges the calls of an attempt. pairs is scratch space for
// Verdict.Pairs and may be nil; with enough of it nothing is allocated.
func (c *Case) Check(calls []Call, pairs []int) Verdict {
	v := Verdict{Expected: -1, Actual: -1}
	switch {
	case c.mode == noCall:
		v.OK = len(calls) == 0
		if !v.OK {
			v.Error, v.Actual = CalledAnyway, 0
		}
		return v
	case c.mode == someCall:
		v.OK = len(calls) > 0
		if !v.OK {
			v.Error = NotCalled
		}
		return v
	case len(calls) != len(c.calls):
		v.Error = c.count
		return v
	}
	pairs = pairs[:0]
	for i, e := range c.calls {
		at, bad, first := -1, OK, -1
		for k := range calls {
			if taken(pairs, k) {
				continue
			}
			got := e.Match(calls[k].Name, calls[k].Args)
			if got == OK {
				at = k
				break
			}
			// The most useful error is the error of a call with the right name.
			if first < 0 || bad == WrongName && got != WrongName {
				bad, first = got, k
			}
		}
		pairs = append(pairs, at)
		if at >= 0 {
			continue
		}
		v.Error, v.Expected, v.Actual, v.Pairs = bad, i, first, pairs
		if c.group == parallel {
			v.Error, v.Sub = NoMatch, bad
		}
		return v
	}
	v.OK, v.Pairs = true, pairs
	return v
}

func taken(pairs []int, k int) bool {
	for _, p := range pairs {
		if p == k {
			return true
		}
	}
	return false
}

// Diffs compares expected and actual values for every parameter, in the order of their names, each
// with the rule that decided.
func (e *Expectation) Diffs(args value.Value) []callvet.ArgDiff {
	var out []callvet.ArgDiff
	for i := range e.params {
		p := &e.params[i]
		got, has := args.Get(p.name)
		if !has && (!p.answered || p.optional && !e.requires(p.name)) {
			continue
		}
		d := callvet.ArgDiff{Path: p.name, Expected: p.raw, Rule: "any_of (bfcl)"}
		switch {
		case !has && e.requires(p.name):
			d.Note = string(MissingRequired)
		case !has:
			d.Note = string(MissingOptional)
		default:
			d.Actual = append(json.RawMessage(nil), got.Raw()...)
			bad := e.argument(i, got)
			d.Matched, d.Note = bad == OK, string(bad)
		}
		out = append(out, d)
	}
	for x, ok := args.First(); ok; x, ok = args.Next(x) {
		if e.find(x, 0) < 0 {
			out = append(out, callvet.ArgDiff{
				Path: x.Key(), Actual: append(json.RawMessage(nil), x.Raw()...),
				Rule: "any_of (bfcl)", Note: string(Unexpected),
			})
		}
	}
	slices.SortStableFunc(out, func(a, b callvet.ArgDiff) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func (e *Expectation) requires(name string) bool {
	for i := range e.required {
		if e.required[i].name == name {
			return true
		}
	}
	return false
}

// Example is an object of acceptable arguments: for every required parameter, the first answer
// that is not "".
func (e *Expectation) Example() json.RawMessage {
	var d dict
	for i := range e.params {
		p := &e.params[i]
		if !p.answered || p.optional && !e.requires(p.name) {
			continue
		}
		for k := range p.answers {
			a := &p.answers[k]
			if a.typ == pyStr && len(a.v.Raw()) == 2 && k+1 < len(p.answers) {
				continue
			}
			d.set(p.name, a.example(nil, true))
			break
		}
	}
	return d.append(nil)
}

func (a *answer) example(dst []byte, top bool) []byte {
	switch {
	case a.typ == pyDict:
		var d dict
		for i := range a.dict {
			if en := &a.dict[i]; en.sub != nil {
				d.set(en.name, en.sub.example(nil, false))
			} else if len(en.values) > 0 && !(en.optional && len(en.values[0].v.Raw()) == 2) {
				d.set(en.name, append([]byte(nil), en.values[0].v.Raw()...))
			}
		}
		return d.append(dst)
	case a.typ == pyList && top:
		dst = append(dst, '[')
		for i := range a.list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = a.list[i].example(dst, false)
		}
		return append(dst, ']')
	}
	return append(dst, a.v.Raw()...)
}

func sortedKeys(m map[string]callvet.Matcher) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
