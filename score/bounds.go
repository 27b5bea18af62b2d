// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// callCount is a compiled entry of counts.
type callCount struct {
	src  *callvet.CallCount
	call expected
}

// bounds compiles what a case says of calls beside its plans.
func (k *compiled) bounds(set match.Settings, ps *problems) {
	e := &k.src.Expect
	k.counts = make([]callCount, len(e.Counts))
	for i := range e.Counts {
		k.counts[i].src = &e.Counts[i]
		k.expected(&k.counts[i].call, &e.Counts[i].Call, set, fmt.Sprintf("counts[%d]", i), ps)
	}
	for i := range e.Not {
		p := k.plan(&e.Not[i], set, fmt.Sprintf("not[%d]", i), ps)
		if e.Not[i].MaxExtraCalls == nil && len(p.calls) > 0 && e.Not[i].Order != callvet.OrderStrict {
			p.maxExtra = -1 // what else is called makes it no better
		}
		k.not = append(k.not, p)
	}
	if e.ResponseJSON != nil {
		rule, bad := match.One("response_json", *e.ResponseJSON, set)
		ps.from("", bad)
		k.answer = rule
	}
	for _, name := range sortedKeys(e.MinScores) {
		k.graded = k.graded || e.MinScores[name] > 0
		if !risesWithQuality(name) {
			ps.add("unknown-score", "min_scores."+name, fmt.Sprintf("%q is no score that can have a least value", name), "for example tool_f1, call_f1, sequence_f1, arg_accuracy")
		}
	}
	k.asserts = k.asserts || k.graded
}

// mayAnswer reports whether call j may answer an expectation, by its name and its place.
func (w *scratch) mayAnswer(e *expected, j int) bool {
	if !w.k.accepts(e, w.calls[j].src.Tool) {
		return false
	}
	if e.src.Nth == 0 && e.src.Message == 0 {
		return true
	}
	before, all := 0, 0
	for i := range w.calls {
		if w.k.accepts(e, w.calls[i].src.Tool) {
			all++
			before += truth(i < j)
		}
	}
	message, messages := w.messageOf(w.calls[j].at)
	return isPlace(e.src.Nth, before+1, all) && isPlace(e.src.Message, message, messages)
}

// isPlace reports whether the n-th of so many is the one asked for, from the end below 0.
func isPlace(asked, n, of int) bool { return asked == 0 || asked == n || asked == n-of-1 }

// messageOf gives which message that calls made a call of the trace, and how many do.
func (w *scratch) messageOf(call int) (n, of int) {
	for i := range w.t.Turns {
		made := len(w.t.Turns[i].Calls)
		if made == 0 {
			continue
		}
		of++
		if call >= 0 {
			n = of
		}
		call -= made
	}
	return n, of
}

func (w *scratch) assertBounds(e *callvet.Expect) {
	for i := range w.k.counts {
		w.assertCount(&w.k.counts[i])
	}
	for i := range w.k.not {
		p := &w.k.not[i]
		w.assign(p)
		w.judgePlan(p, &w.other)
		w.record("not", callvet.LayerRouting, !w.other.pass, "not "+cmp.Or(p.src.Name, p.described()), w.madeCalls())
	}
	if e.MaxSameCalls != nil {
		n, name := w.mostRepeated()
		w.record("max_same_calls", callvet.LayerRouting, n <= *e.MaxSameCalls, strconv.Itoa(*e.MaxSameCalls), strings.TrimSpace(strconv.Itoa(n)+" "+name))
	}
	if e.MaxRequests != nil {
		w.assertRequests(*e.MaxRequests)
	}
}

// assertCount counts the calls that fit, each bound for itself. Where arguments were not
// recorded nothing is known.
func (w *scratch) assertCount(c *callCount) {
	n, named := 0, 0
	for j := range w.calls {
		if !w.mayAnswer(&c.call, j) {
			continue
		}
		named++
		if c.call.args != nil && w.calls[j].unknown {
			w.skip("counts", callvet.LayerArguments, "the call's arguments were not recorded", c.call.described())
			return
		}
		p := w.compare(&c.call, &w.calls[j])
		n += truth(p.pass)
	}
	least := c.src.Min
	if least == nil && c.src.Max == nil {
		one := 1
		least = &one
	}
	got := fmt.Sprintf("%d of %d calls", n, len(w.calls))
	layer := callvet.LayerRouting
	if c.call.args != nil && named > 0 {
		layer = callvet.LayerArguments
	}
	if least != nil {
		w.record("counts.min", layer, n >= *least, fmt.Sprintf("at least %d of %s", *least, c.call.described()), got)
	}
	if c.src.Max != nil {
		w.record("counts.max", callvet.LayerRouting, n <= *c.src.Max, fmt.Sprintf("at most %d of %s", *c.src.Max, c.call.described()), got)
	}
}

func (e *expected) described() string {
	s := strings.Join(e.src.Tools, " or ")
	if e.src.Args != nil {
		s += " " + short(e.src.Args)
	}
	return s
}

func (p *plan) described() string {
	out := make([]string, len(p.calls))
	for i := range p.calls {
		out[i] = p.calls[i].described()
	}
	if p.sequence.Total {
		return strings.Join(out, ", then ")
	}
	return strings.Join(out, ", ")
}

// madeCalls lists what was called.
func (w *scratch) madeCalls() string {
	if len(w.calls) == 0 {
		return "no call"
	}
	return strings.Join(w.names(), ", ")
}

// mostRepeated is how often the call that is made most often is made, and its tool.
func (w *scratch) mostRepeated() (most int, name string) {
	for i := range w.calls {
		n := 1
		for j := range i {
			n += truth(w.identical(&w.calls[i], &w.calls[j]))
		}
		if n > most {
			most, name = n, w.calls[i].src.Tool
		}
	}
	return most, name
}

// assertRequests counts the answers of the model, of which each took a request.
func (w *scratch) assertRequests(limit int) {
	n := 0
	for i := range w.t.Turns {
		n += truth(w.t.Turns[i].Role == callvet.RoleAssistant)
	}
	want := "at most " + strconv.Itoa(limit)
	if n == 0 {
		w.skip("max_requests", callvet.LayerBudget, "not measured", want)
		return
	}
	w.record("max_requests", callvet.LayerBudget, n <= limit, want, strconv.Itoa(n))
}

// assertJSON reads the answer as JSON, also where it stands in a code fence.
func (w *scratch) assertJSON(m *callvet.Matcher) {
	want := strings.TrimSpace(m.Mode + " " + short(m.Value))
	v, err := value.Parse([]byte(unfenced(w.t.Answer)))
	if err != nil {
		w.record("response_json", callvet.LayerResponse, false, want, "no JSON: "+short([]byte(w.t.Answer)))
		return
	}
	ok, _ := w.k.answer.Match(v)
	w.record("response_json", callvet.LayerResponse, ok, want, short(v.Raw()))
}

// unfenced takes the code fence off a text that is nothing else.
func unfenced(s string) string {
	s = strings.TrimSpace(s)
	inside, ok := strings.CutPrefix(s, "```")
	if !ok {
		return s
	}
	_, inside, _ = strings.Cut(inside, "\n") // the language
	return strings.TrimSpace(strings.TrimSuffix(inside, "```"))
}
