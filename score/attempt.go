// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// maxPooledCalls bounds the memory that a reused scratch keeps.
const maxPooledCalls = 64

// scratch is the working memory of one judgment; it is reused.
type scratch struct {
	k         *Compiled
	t         *callvet.Trace // under the names that its calls count as
	called    []callvet.Call // as they were called
	calls     []actual
	fit       fit // of the plan that won
	other     fit // of the plan under trial
	sol       match.Assignment
	pairs     []pair // by expected × actual, of the plan under trial
	may       []bool // which calls may answer the expectation at hand
	messages  []int  // which message made each call of the trace
	first     []int  // by call, see firsts; empty: not known yet
	spare     value.Doc
	ground    match.Grounder
	earlier   match.Corpus // sources with the results of earlier calls
	without   *actual      // earlier and ground leave out the result of this call; nil: none
	assertion []callvet.Assertion
	skipped   int
	opinions  []scorerResult // by the suite's own scorers
	facts     facts
	usual     int                 // scores of earlier attempts, at most
	explained []callvet.CallMatch // while a failure is classified
}

// actual is one call of the attempt.
type actual struct {
	src  *callvet.Call
	at   int   // position among the calls of the attempt
	tool *tool // nil when the case does not offer it
	doc  value.Doc
	args value.Value // absent when unknown
	// unknown arguments were not recorded; broken ones are not JSON.
	unknown, broken bool
	valid           bool // keeps the contract
	checked         bool // valid was decided
}

func (w *scratch) begin(k *Compiled, t *callvet.Trace) {
	w.called = t.Calls()
	calls := w.called
	if named := k.naming.Trace(t); named != t {
		t, calls = named, named.Calls()
	}
	w.k, w.t, w.calls = k, t, resize(w.calls, len(calls))
	w.fit.match, w.fit.pairs = w.fit.match[:0], w.fit.pairs[:0] // of another case
	w.assertion, w.skipped, w.first = nil, 0, w.first[:0]
	n := 0
	for i := range calls {
		if k.scoring.FailedCalls == "ignore" && match.Failure(&calls[i]) != "" {
			continue
		}
		w.calls[n].read(k, &calls[i])
		w.calls[n].at = i
		n++
	}
	w.calls = w.calls[:n]
	w.facts, w.without = facts{}, nil
}

func (a *actual) read(k *Compiled, c *callvet.Call) {
	a.src, a.tool, a.args = c, nil, value.Value{}
	a.unknown, a.broken, a.valid, a.checked = false, false, false, false
	if k.tools != nil {
		a.tool = k.find(c.Tool)
	}
	v, known := c.Parsed.Of(c.Args)
	switch {
	case known:
		a.args = v
	case c.Args == nil && c.ArgsRaw == "":
		a.unknown = true
	case c.Args == nil || a.doc.Parse(c.Args) != nil:
		a.broken = true
	default:
		a.args = a.doc.Root()
	}
	if a.args.Kind() == value.Null { // "no arguments"
		a.broken = a.doc.Parse([]byte("{}")) != nil
		a.args = a.doc.Root()
	}
	if !k.contract || a.unknown || a.tool == nil {
		return
	}
	switch {
	case a.broken:
		a.checked = a.tool.schema != nil
	case a.tool.schema != nil:
		a.valid, a.checked = a.tool.schema.Decide(a.args)
	}
}

func (a *actual) violations(k *Compiled) []callvet.Violation {
	switch {
	case k.tools == nil || a.unknown:
		return nil
	case a.tool == nil:
		message := "the case offers no tool of this name"
		if a.src.Nameless() {
			message = "the call names no tool"
		}
		return []callvet.Violation{{Keyword: "tool", Actual: a.src.Tool, Message: message}}
	case a.broken:
		return []callvet.Violation{{
			Keyword: "json", Expected: "one JSON object",
			Message: callvet.Unreadable(payload(a.src)),
		}}
	case a.tool.schema == nil:
		return []callvet.Violation{callvet.Unverified(a.tool.bad.Error())}
	}
	return a.tool.schema.Check(a.args)
}

// pair is the comparison of one expected with one actual call.
type pair struct {
	tally match.Tally
	near  float64 // 1 exactly when the arguments pass
	pass  bool
}

func (w *scratch) compare(e *expected, a *actual) pair {
	switch {
	case e.args == nil || a.unknown:
		return pair{near: 1, pass: true}
	case a.broken:
		p := pair{tally: e.args.Tally(value.Value{})}
		p.tally = match.Tally{
			Expected: max(p.tally.Expected, 1), Gold: p.tally.Gold, Union: p.tally.Gold + 1,
			Emitted: 1, Extra: 1,
		}
		return p
	case e.foreign != nil:
		return compareForeign(e, a)
	}
	p := pair{tally: e.args.Tally(a.args)}
	p.pass = e.args.Pass(&p.tally)
	p.near = e.args.Nearness(&p.tally)
	return p
}
