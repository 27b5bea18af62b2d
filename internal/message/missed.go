// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// missed returns the fault of a record with a call that was not read: it is then unknown what was
// called, which is different from "no call". Where some calls were read, a further call is found
// only if it has its own id and no call of its tool was read.
func (d *decoder) missed(form Form, v value.Value) *callvet.Fault {
	if form == FormBFCL && has(v, "decoded") || form == FormBFCLTurns || d.resp.Unreadable {
		return nil // their own decoder decides what is called
	}
	if d.orphan() {
		return malformed("the record holds the result of a call, and not the call")
	}
	if d.answeredTwice() {
		return malformed("the record holds two results of one call")
	}
	read := called(d.resp.Turns)
	if form == FormMessages && (read || v.Kind() == value.Array) {
		return nil // they may contain calls of the input; messages checked the other records
	}
	h := holder{tools: d.o.Tools, texts: !read, said: form == FormMessages}
	h.value(v)
	for _, c := range h.calls {
		if c.Counted > 0 && !read {
			return malformed(fmt.Sprintf("the record counts calls of tools (%d), and none is listed", c.Counted))
		}
		if !read || c.ID != "" && c.Tool != "" && !d.readOne(c) {
			return malformed("the record holds a call in a form that is not known")
		}
	}
	return nil
}

// answeredTwice reports whether one call has two different results: it is then unknown which of
// them is right.
func (d *decoder) answeredTwice() bool {
	said := map[string]string{}
	for i := range d.resp.Turns {
		t := &d.resp.Turns[i]
		if t.Role == callvet.RoleAssistant && len(t.Calls) > 0 {
			clear(said) // ids may be reused
		}
		if t.Role != callvet.RoleTool || t.CallID == "" {
			continue
		}
		if before, ok := said[t.CallID]; ok && before != t.Content {
			return true
		}
		said[t.CallID] = t.Content
	}
	return false
}

// orphan reports whether a tool answered a call that is not there.
func (d *decoder) orphan() bool {
	for i := range d.resp.Turns {
		t := &d.resp.Turns[i]
		if t.Role == callvet.RoleTool &&
			(t.CallID == "" && !called(d.resp.Turns) || t.CallID != "" &&
				!d.readOne(Held{ID: t.CallID, Tool: t.Tool})) {
			return true
		}
	}
	return false
}

func (d *decoder) readOne(h Held) bool {
	for i := range d.resp.Turns {
		for j := range d.resp.Turns[i].Calls {
			if c := &d.resp.Turns[i].Calls[j]; c.ID == h.ID || c.Tool == h.Tool {
				return true
			}
		}
	}
	return false
}

func called(turns []callvet.Turn) bool {
	return slices.ContainsFunc(turns, func(t callvet.Turn) bool { return len(t.Calls) > 0 })
}

// HoldsCall reports whether a value contains a call anywhere, not counting JSON inside texts.
// tools are the offered tools; nil: unknown.
func HoldsCall(v value.Value, tools *callvet.Toolset) bool { return len(Holds(v, tools)) > 0 }

// Held is a call somewhere in a value, with the parts that could be read. Counted are calls of
// which only the number is known.
type Held struct {
	ID, Tool string
	Counted  int
}

// Holds lists the calls anywhere in a value, in a known form or a similar one. These are lists of
// calls that are not empty, wrappers of a call, and objects with the type of a call. Objects with
// a tool's name and arguments, in any spelling, are calls too. The input and the offered tools
// are not searched.
func Holds(v value.Value, tools *callvet.Toolset) []Held {
	h := holder{tools: tools}
	h.value(v)
	return h.calls
}

// holder searches for calls.
type holder struct {
	tools *callvet.Toolset
	texts bool // search texts that are JSON, too
	said  bool // messages were checked already
	depth int  // of texts in texts
	calls []Held
}

func (h *holder) value(v value.Value) {
	switch v.Kind() {
	case value.Array:
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			h.value(e)
		}
	case value.Object:
		h.object(v)
	case value.String:
		h.text(v.Bytes())
	}
}

// text searches a text that is JSON as a whole.
func (h *holder) text(s []byte) {
	const deepest = 3
	if !h.texts || h.depth == deepest || !bracketed(s) {
		return
	}
	var doc value.Doc
	if _, err := doc.Read(s); err == nil {
		h.depth++
		h.value(doc.Root())
		h.depth--
	}
}

// bracketed reports whether a text may be the JSON of more than a word or a number.
func bracketed(s []byte) bool {
	for i, c := range s {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{', '[', '"':
			return len(s)-i > 1
		}
		return false
	}
	return false
}

func (h *holder) object(v value.Value) {
	if h.isCall(v) {
		h.calls = append(h.calls, naming(v))
		return
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if n := counted(e); n > 0 {
			h.calls = append(h.calls, Held{Counted: n})
			continue
		}
		switch word := wordOf(e); {
		case word == callsWord && (e.Kind() == value.Array || e.Kind() == value.Object || e.Kind() == value.String):
			h.list(e)
		case (word == callWord || word == codeWord) && e.Kind() == value.Object:
			if !Empty(e) {
				h.calls = append(h.calls, naming(e))
			}
		case word == endWord && h.texts && (&callvet.Response{FinishReason: e.Str()}).LostCall():
			h.calls = append(h.calls, Held{})
		case word == askedWord, word == inputWord, h.said && word == messagesWord:
		default:
			h.value(e)
		}
	}
}

// counted is how many calls a member counts: {"tool_calls": 2}, {"tools": {"totalCalls": 2}}.
func counted(m value.Value) int {
	n := m
	if total, ok := m.Get("totalCalls"); ok && m.KeyIs("tools") {
		n = total
	} else if word := wordOf(m); word != counterWord && (word != callsWord || m.KeyIs("calls")) {
		return 0
	}
	if n.Kind() != value.Number {
		return 0
	}
	return max(0, intOf(n))
}

// list reads a value where calls are expected.
func (h *holder) list(v value.Value) {
	switch v.Kind() {
	case value.Array:
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			h.calls = append(h.calls, naming(e))
		}
	default:
		if v.Len() > 0 || v.Str() != "" {
			h.calls = append(h.calls, naming(v))
		}
	}
}

// isCall reports whether an object is a call. It has the type of a call, or a tool's name and
// arguments, or the only name in it is the name of an offered tool.
func (h *holder) isCall(v value.Value) bool {
	if e, ok := v.First(); ok && v.Len() == 1 && e.Kind() == value.Object && h.tools.Find(e.Key()) != nil {
		return true // {name: arguments}
	}
	var s signs
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		s.add(e, h.tools)
	}
	return s.called || s.named && s.args || s.nameless && s.given || s.offered && s.input && !s.describes
}

// signs distinguish a call from other objects.
type signs struct {
	called    bool // one member is enough
	named     bool // with anything
	offered   bool // with the name of an offered tool
	nameless  bool // the name is empty, or no text
	args      bool
	given     bool // the arguments are not empty
	input     bool // possible arguments
	describes bool // it describes the parameters of a tool
}

// add reads a member of the object.
func (s *signs) add(e value.Value, tools *callvet.Toolset) {
	text := e.Kind() == value.String && len(e.Raw()) > len(`""`)
	switch wordOf(e) {
	case typeWord:
		set(&s.called, text && callType(e.Str()))
	case nameWord:
		set(&s.named, text)
		set(&s.nameless, !text)
		set(&s.offered, text && tools.Find(e.Str()) != nil)
	case toolWord:
		set(&s.named, text || has(e, "name"))
		set(&s.called, text && tools.Find(e.Str()) != nil)
	case toolNameWord:
		set(&s.called, text)
	case argsWord:
		set(&s.args, true)
		set(&s.given, text || e.Kind() != value.Null && e.Kind() != value.String)
	case inputWord:
		set(&s.input, text || e.Kind() == value.Object)
		set(&s.describes, has(e, "properties") || has(e, "type") || has(e, "$schema"))
	case describesWord:
		set(&s.describes, true)
	}
}

func set(sign *bool, is bool) { *sign = *sign || is }

// word is what the name of a member means, in any spelling.
type word int

const (
	otherWord word = iota
	typeWord
	nameWord     // a name of anything
	toolWord     // a tool that is called or only mentioned
	toolNameWord // a tool that is called
	argsWord
	inputWord // arguments, or the input of anything else
	describesWord
	callWord  // it contains one call
	codeWord  // code that a provider ran by itself
	callsWord // it contains calls
	counterWord
	askedWord // the input of a model, not its answer
	messagesWord
	endWord // why an answer ended
)

func wordOf(e value.Value) word {
	var buf [20]byte
	switch string(spelled(buf[:0], e.KeyBytes())) {
	case "type":
		return typeWord
	case "name":
		return nameWord
	case "tool", "toolused", "function", "functionname", "action":
		return toolWord
	case "toolname", "toolcallname", "recipientname":
		return toolNameWord
	case "arguments", "args", "toolinput", "toolargs", "toolarguments", "toolparameters", "actioninput", "kwargs",
		"argument", "inputparameters", "parametersjson":
		return argsWord
	case "input", "parameters", "params":
		return inputWord
	case "description", "inputschema":
		return describesWord
	case "functioncall", "tooluse", "toolcall", "toolinvocation":
		return callWord
	case "executablecode":
		return codeWord
	case "calls", "toolcalls", "toolscalled", "functioncalls", "actualtoolcalls", "actualtools",
		"predictedtrajectory", "tooluses",
		"toolinvocations", "toolsused", "calledtools", "usedtools", "invalidtoolcalls":
		return callsWord
	case "toolcallcount", "toolcallscount", "numtoolcalls", "totaltoolcalls", "ntoolcalls", "toolusecount":
		return counterWord
	case "tools", "functions", "inputs", "request", "prompt", "vars", "testcase", "expected", "expect", "reference",
		"gold", "gradingresult", "provider", "assert", "question", "query":
		return askedWord
	case "finishreason", "stopreason":
		return endWord
	case "messages":
		return messagesWord
	}
	return otherWord
}

// spelled writes a name in one form for all spellings: tool_calls, toolCalls, tool-calls and Tool
// Calls are equal. A name that is too long for to is cut.
func spelled(to, name []byte) []byte {
	for _, c := range name {
		if c == '_' || c == '-' || c == ' ' || c == '.' {
			continue
		}
		if len(to) == cap(to) {
			return to[:0] // no known name
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

// naming returns the id and the name of a call.
func naming(v value.Value) Held {
	d := decoder{}
	c, _ := d.call(v)
	if c.Tool == "" {
		n, _ := firstOf(v, "toolCallName")
		c.Tool = n.Str()
	}
	return Held{ID: c.ID, Tool: c.Tool}
}

func truthy(v value.Value) bool {
	switch v.Kind() {
	case value.Invalid, value.Null:
		return false
	case value.Bool:
		return v.Bool()
	case value.String:
		return v.Str() != ""
	}
	return true
}

// Empty reports whether a value is empty: absent, null, a blank text, {} or [], or an object of
// such values.
func Empty(v value.Value) bool {
	switch v.Kind() {
	case value.Invalid, value.Null:
		return true
	case value.String:
		s := strings.TrimSpace(v.Str())
		return s == "" || s == "{}"
	case value.Array:
		return v.Len() == 0
	case value.Object:
		for m, ok := v.First(); ok; m, ok = v.Next(m) {
			if !Empty(m) {
				return false
			}
		}
		return true
	}
	return false
}
