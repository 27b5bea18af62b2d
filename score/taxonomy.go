// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// classify returns the first error class that applies to a failed attempt and a sentence with the
// reason.
func (w *scratch) classify(planned bool, calls []callvet.CallMatch) (callvet.Class, string) {
	w.explained = calls
	for _, step := range [...]func(bool) (callvet.Class, string){
		w.classRead, w.classRouting, w.classArguments, w.classSequence, w.classAssertions,
	} {
		if c, reason := step(planned); c != "" {
			return c, reason
		}
	}
	return callvet.ClassIncomplete, "the attempt did not do what the case expects"
}

// classRead: calls that cannot be read, or name no tool.
func (w *scratch) classRead(bool) (callvet.Class, string) {
	f := &w.facts
	switch {
	case f.broken:
		for i := range w.calls {
			if a := &w.calls[i]; a.broken {
				return callvet.ClassUnparseable, fmt.Sprintf("%s: %s: %s",
					callvet.ToolName(a.src.Tool), a.src.Unreadable(payload(a.src)), match.Clip(payload(a.src)))
			}
		}
		return callvet.ClassUnparseable, w.t.Reason.Sentence()
	case f.repaired:
		return callvet.ClassUnparseable, "the call had to be repaired and the case wants native calls"
	case f.unknownTool > 0:
		name := w.calls[f.unknownTool-1].src.Tool
		return callvet.ClassUnknownTool, callvet.ToolName(name) + " is not one of the case's tools" +
			prefixed(name, w.k.offered())
	}
	return "", ""
}

// classRouting: calls that are missing, unexpected, or of the wrong tool.
func (w *scratch) classRouting(planned bool) (callvet.Class, string) {
	if !planned {
		return w.classNames()
	}
	f, called := &w.fit, len(w.calls)
	want := w.firstMissing()
	switch {
	case f.selection == 1:
		return "", ""
	case called == 0:
		return callvet.ClassMissedCall, "expected " + want + ", nothing was called"
	case w.wantsNone():
		return callvet.ClassUnneededCall, "no call was expected, got " + callvet.ToolName(w.calls[0].src.Tool)
	case f.missing > 0 && f.extra > 0 && w.k.multi == nil:
		name := w.calls[w.firstExtra()].src.Tool
		return callvet.ClassWrongTool, "expected " + want + ", got " + callvet.ToolName(name) +
			prefixed(name, []string{want})
	case f.missing > 0:
		return "", "" // incomplete, unless something earlier in the taxonomy applies
	case w.repeats():
		return "", "" // a loop
	}
	return callvet.ClassUnneededCall, callvet.ToolName(w.calls[w.firstExtra()].src.Tool) +
		" was called and not expected"
}

// prefixed is the remark that a name is one of some names with a prefix; "" when it is none of
// them.
func prefixed(name string, known []string) string {
	same := callvet.Unprefixed(name, known)
	if same == "" {
		return ""
	}
	return ": it is " + same + " behind a prefix, and names are compared whole"
}

func (w *scratch) firstMissing() string {
	for i, j := range w.fit.match {
		if e := &w.fit.plan.calls[i]; j < 0 && !e.src.Optional {
			return strings.Join(e.src.Tools, " or ")
		}
	}
	return "no call"
}

func (w *scratch) firstExtra() int {
	for j := range w.calls {
		tolerated := w.k.multi != nil && w.k.multi.tolerates(w.k, w.fit.plan, &w.calls[j])
		if !answers(w.fit.match, j) && !tolerated {
			return j
		}
	}
	return 0
}

// repeats reports whether every extra call is identical to another one.
func (w *scratch) repeats() bool {
	first, made := w.firsts(), make([]int, len(w.calls))
	for _, i := range first {
		made[i]++
	}
	for j := range w.calls {
		if answers(w.fit.match, j) || w.k.multi != nil && w.k.multi.tolerates(w.k, w.fit.plan, &w.calls[j]) {
			continue
		}
		if made[first[j]] == 1 {
			return false
		}
	}
	return true
}

// classNames is routing for cases without plans: it uses the assertions on names.
func (w *scratch) classNames() (callvet.Class, string) {
	for _, a := range w.assertion {
		if a.Layer != callvet.LayerRouting || a.State != callvet.AssertFailed || aboutResults(a.Name) {
			continue
		}
		reason := fmt.Sprintf("%s: expected %s, got %s", a.Name, a.Expected, a.Actual)
		switch {
		case len(w.calls) == 0:
			return callvet.ClassMissedCall, reason
		case a.Name == "max_same_calls":
			return callvet.ClassLoop, reason
		case w.wantsNone() || forbids(a.Name):
			return callvet.ClassUnneededCall, reason
		case a.Name == "min_tool_calls":
			return "", ""
		case a.Name == "tools_acceptable":
			if class := w.setClass(); class != callvet.ClassIncomplete {
				return class, reason
			}
			return "", ""
		}
		return callvet.ClassWrongTool, reason
	}
	return "", ""
}

// setClass distinguishes a missing tool from an extra one, where an acceptable set contains the
// other tools.
func (w *scratch) setClass() callvet.Class {
	names, sets := w.checkedNames(), w.k.src.Expect.ToolsAcceptable
	switch {
	case slices.ContainsFunc(sets, names.Only):
		return callvet.ClassIncomplete
	case slices.ContainsFunc(sets, names.All):
		return callvet.ClassUnneededCall
	}
	return callvet.ClassWrongTool
}

// classArguments: contract, then arguments that the tool does not have, then wrong ones.
func (w *scratch) classArguments(planned bool) (callvet.Class, string) {
	if j := w.facts.invalid - 1; j >= 0 {
		a := &w.calls[j]
		return callvet.ClassContract, violationSentence(a.src.Tool, a.violations(w.k))
	}
	if planned && w.fit.full < w.fit.paired {
		return w.classDiffs()
	}
	if f := &w.facts.flow; f.failed != "" && w.fit.missing == 0 {
		if f.skipped != "" {
			return callvet.ClassMissingPrereq, f.failed + ": " + f.skipped + " was not called before"
		}
		return callvet.ClassWrongArgs, f.failed
	}
	return "", ""
}

// classDiffs decides between an argument that the tool does not have and a wrong one, and returns
// the sentence about the first argument of the decisive kind.
func (w *scratch) classDiffs() (callvet.Class, string) {
	for c := range w.explained {
		m := &w.explained[c]
		if m.State != callvet.StatePartial {
			continue
		}
		var first *callvet.ArgDiff
		for i := range m.Args {
			d := &m.Args[i]
			if d.Matched {
				continue
			}
			if first == nil {
				first = d
			}
			if undeclared(&w.calls[m.Actual], d) {
				return callvet.ClassUnknownArg, argSentence(m.Got, d)
			}
		}
		if first != nil {
			sentence := argSentence(m.Got, first)
			if w.sourceless(&w.calls[m.Actual], first) {
				sentence += ", which neither the conversation nor a result contains"
			}
			return callvet.ClassWrongArgs, sentence
		}
		return callvet.ClassWrongArgs, m.Got + ": the arguments are not the expected ones"
	}
	return "", ""
}

// undeclared reports whether the tool's schema does not declare a key.
func undeclared(a *actual, d *callvet.ArgDiff) bool {
	if d.Actual == nil || a.tool == nil || len(a.tool.props) == 0 {
		return false
	}
	top, _, _ := strings.Cut(strings.ReplaceAll(d.Path, "[", "."), ".")
	return !a.tool.schema.HasProperty(d.Path) && !a.tool.schema.HasProperty(top)
}

// sourceless reports whether neither the schema nor any text or earlier result contains a value.
// Without texts it is false, because nothing is known.
func (w *scratch) sourceless(a *actual, d *callvet.ArgDiff) bool {
	if d.Actual == nil || d.Expected == nil || w.k.sources.Empty() || w.spare.Parse(d.Actual) != nil {
		return false
	}
	v := w.spare.Root()
	if a.tool != nil && a.tool.schema != nil && a.tool.offers(d.Path, v) {
		return false
	}
	g := &w.ground
	if w.without != a {
		w.without = a
		w.earlier.Set(&w.k.sources)
		for j := range w.calls {
			if &w.calls[j] != a {
				w.earlier.Add(w.calls[j].src.Result)
			}
		}
		g.Begin(&w.earlier)
	}
	g.Found, g.Total = 0, 0
	g.Walk(v)
	return g.Found < g.Total
}

// offers reports whether the schema itself contains the value, in an enum or as the default.
func (t *tool) offers(path string, v value.Value) bool {
	p := t.schema.Property(path)
	if p == nil {
		if p = t.schema.Lookup(path); p == nil {
			return false
		}
	}
	same := func(raw json.RawMessage) bool {
		k, err := value.Parse(raw)
		return err == nil && value.Equal(k, v)
	}
	return slices.ContainsFunc(p.Enum, same) || same(p.Default)
}

// classSequence: prerequisites, order, loops, attempts that stopped too early.
func (w *scratch) classSequence(planned bool) (callvet.Class, string) {
	f := &w.facts
	switch {
	case f.prereqs.missing != "":
		return callvet.ClassMissingPrereq, f.prereqs.missing + " had to be called first and was not"
	case f.prereqs.disorder:
		return callvet.ClassWrongOrder, "the required prerequisites were called in the wrong order"
	case planned && !w.fit.inOrder && w.fit.missing == 0:
		return callvet.ClassWrongOrder, w.orderSentence()
	case planned && w.fit.selection < 1 && (f.redundant > 0 || w.fit.missing == 0): // else it was an unneeded call
		return callvet.ClassLoop, w.loopSentence()
	case planned && w.fit.missing > 0:
		return callvet.ClassIncomplete, "expected " + w.firstMissing() + ", which was not called"
	case !planned:
		for _, a := range w.assertion {
			if a.State == callvet.AssertFailed && a.Name == "min_tool_calls" {
				return callvet.ClassIncomplete, fmt.Sprintf("at least %s calls were expected, got %s",
					a.Expected, a.Actual)
			}
		}
	}
	return "", ""
}

func (w *scratch) loopSentence() string {
	for j, i := range w.firsts() {
		if i < j {
			return w.calls[j].src.Tool + " was called again with the same arguments"
		}
	}
	return "calls were repeated without new arguments"
}

func (w *scratch) orderSentence() string {
	p := w.fit.plan
	for i, j := range w.fit.match {
		for b, first := range w.fit.match {
			if j >= 0 && first > j && (p.waits(i, b) || p.sequence.Total && b < i) {
				return w.calls[j].src.Tool + " was called before " + w.calls[first].src.Tool
			}
		}
	}
	return "other calls stand between the expected ones"
}

func (p *plan) waits(i, before int) bool {
	return p.sequence.After != nil && slices.Contains(p.sequence.After[i], before)
}

// classAssertions: the remaining failures when calls, arguments and order are right.
func (w *scratch) classAssertions(bool) (callvet.Class, string) {
	for _, layer := range [...]callvet.Layer{
		callvet.LayerRouting, callvet.LayerArguments, callvet.LayerSafety,
		callvet.LayerBudget, callvet.LayerResponse,
	} {
		for _, a := range w.assertion {
			if a.Layer != layer || a.State != callvet.AssertFailed {
				continue
			}
			reason := fmt.Sprintf("%s: expected %s, got %s", a.Name, a.Expected, quoteEmpty(a.Actual))
			switch layer {
			case callvet.LayerRouting:
				return w.routingClass(a.Name), reason
			case callvet.LayerArguments:
				return callvet.ClassWrongArgs, reason
			case callvet.LayerSafety:
				return callvet.ClassPolicy, "safety: " + a.Actual
			case callvet.LayerBudget:
				return callvet.ClassBudget, reason
			}
			return callvet.ClassAnswer, reason
		}
	}
	return "", ""
}

func quoteEmpty(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func (w *scratch) routingClass(name string) callvet.Class {
	switch name {
	case "tools_acceptable":
		return w.setClass()
	case "no_tool_errors", "postcondition", "min_tool_calls":
		return callvet.ClassIncomplete
	case "max_same_calls":
		return callvet.ClassLoop
	}
	if forbids(name) {
		return callvet.ClassUnneededCall
	}
	return callvet.ClassWrongTool
}

// forbids reports whether an assertion is failed by calls that were made, not by those
// that were not.
func forbids(name string) bool {
	return name == "max_tool_calls" || name == "counts.max" || name == "not"
}
