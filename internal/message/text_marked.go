// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// state is the result of reading one call.
type state byte

const (
	none   state = iota // nothing that was meant as a call
	read                // a call
	broken              // meant as a call, but cannot be read strictly
)

// readMarked reads after every mark; false where the text has none that counts.
//
//	prose … MARK call call … END prose … MARK call …
//
// A call must follow an opening mark. Other content there is unreadable.
func (r *reader) readMarked() (found bool) {
	var s marking
	for at := 0; at < len(r.text) && !s.over; {
		at = r.step(&s, at)
	}
	r.Unreadable = r.Unreadable || s.due
	if s.stray && !s.found {
		r.readClosed()
	}
	return s.found || s.stray
}

// marking is the state of readMarked.
type marking struct {
	open  mark // the opening mark that is not closed
	due   bool // no call followed it yet
	found bool // there was a mark
	stray bool // there was a closing mark without an opening one
	over  bool
}

// step reads the next mark, or the next call after the open mark.
func (r *reader) step(s *marking, at int) (next int) {
	m := r.markHere(skip(r.text, at, between))
	if at = skip(r.text, at, between); s.open.role == noMark {
		m = r.nextMark(at)
		s.over = m.role == noMark
		at = max(m.at, at)
	}
	if s.over = s.over || at >= len(r.text); s.over {
		return at
	}
	switch m.role {
	case opens:
		s.open, s.due, s.found = m, true, true
		if m.bracket {
			return m.end - 1
		}
		return m.end
	case closes:
		r.Unreadable = r.Unreadable || s.due
		s.stray = s.stray || s.open.role == noMark
		s.open, s.due = mark{}, false
		return m.end
	case strays, joins:
		s.stray = s.stray || m.role == strays && s.open.role == noMark
		return m.end
	}
	next, st := r.afterMark(m, s.open, at, s.due)
	s.found = s.found || st != none || s.open.role != noMark
	if st != read {
		r.Unreadable = r.Unreadable || st == broken || s.due || s.open.role != noMark && r.closesLater(at)
		s.open = mark{}
	}
	s.due = false
	if r.budget <= 0 {
		r.Unreadable, s.over = true, true
	}
	return max(at, next)
}

// afterMark reads one call at a byte of the text: of a mark that names it, or after an opening
// mark.
func (r *reader) afterMark(m, open mark, at int, due bool) (next int, st state) {
	switch m.role {
	case names:
		return r.element(*m.element)
	case header, receiver:
		return r.received(m)
	}
	if strings.HasPrefix(r.text[at:], fence) {
		n := skip(r.text, at, "`")
		label, _ := lineAt(r.text, n, maxInfo)
		if strings.TrimLeft(label, "abcdefghijklmnopqrstuvwxyz_") == "" {
			n += len(label)
		}
		n = skip(r.text, n, between)
		switch {
		case n == len(r.text) && due:
			return n, broken
		case n == len(r.text) || markAt(r.text, n).role != noMark: // the end of a fence
			return n, read
		}
		at = n
	}
	return r.item(at, open, due)
}

// readClosed reads a text with a mark that closes a call, and none that opens it.
func (r *reader) readClosed() {
	in := reader{tools: r.tools, known: r.known, text: r.withoutMarks(), budget: r.budget}
	if !in.readWhole(in.text) {
		in.readProse()
	}
	r.Reading = in.Reading
	r.Unreadable = r.Unreadable || !in.done()
}

// maxInfo is how long the label of a code fence may be.
const maxInfo = 20

// closesLater reports whether the next mark closes the open one, so that what is before it
// belongs to a call.
func (r *reader) closesLater(at int) bool { return r.nextMark(at).role == closes }

// withoutMarks is the text without its marks.
func (r *reader) withoutMarks() string {
	var out strings.Builder
	at := 0
	for at < len(r.text) {
		m := r.nextMark(at)
		if m.role == noMark {
			break
		}
		out.WriteString(r.text[at:m.at])
		at = m.end
	}
	out.WriteString(r.text[at:])
	return out.String()
}

// nextMark finds the next mark that is not quoted as code.
func (r *reader) nextMark(at int) mark {
	for at < len(r.text) {
		pos := r.nextAny("<[`~", at)
		for _, word := range [...]string{
			"functools[", "functools [", "to=functions.", "to=multi_tool_use.",
			"✿FUNCTION✿",
		} {
			if i := r.next(word, at); i >= 0 && (pos < 0 || i < pos) {
				pos = i
			}
		}
		if pos < 0 {
			return mark{}
		}
		if r.text[pos] == '`' || r.text[pos] == '~' {
			at = afterCode(r.text, pos)
			continue
		}
		if m := markAt(r.text, pos); m.role != noMark {
			return m
		}
		at = pos + 1
	}
	return mark{}
}

// next finds a word at or after a byte, or -1. It remembers the place, so that asking for
// each byte in turn costs one pass.
func (r *reader) next(word string, at int) int { return r.place(word, at, strings.Index) }

// nextAny finds any of some characters, as next finds a word.
func (r *reader) nextAny(set string, at int) int { return r.place(set, at, strings.IndexAny) }

func (r *reader) place(what string, at int, find func(s, what string) int) int {
	if i, ok := r.places[what]; ok && (i < 0 || i >= at) {
		return i
	}
	i := find(r.text[at:], what)
	if i >= 0 {
		i += at
	}
	if r.places == nil {
		r.places = map[string]int{}
	}
	r.places[what] = i
	return i
}

// item reads one call, or a list of calls, in any of the spellings.
func (r *reader) item(at int, open mark, due bool) (next int, st state) {
	switch r.text[at] {
	case '[':
		if p := (python{src: r.text, at: at + 1, tools: r.tools}); p.begins() {
			return r.pythons(at)
		}
		fallthrough
	case '{':
		end, closed := r.balanced(at)
		n := len(r.Calls)
		if closed && r.take(r.text[at:end], true, open.keyed) {
			return end, read
		}
		if due || len(r.Calls) > n || r.meant(r.text[at:end], !closed) {
			return at + 1, broken
		}
		return at + 1, none
	case '<':
		e, ok := elementAt(r.text, at)
		if !ok || !due || e.closing || e.closed {
			return at + 1, none
		}
		return r.namedInside(e)
	}
	return r.named(at, open, due)
}

// pythons reads a list of calls written as Python.
func (r *reader) pythons(at int) (next int, st state) {
	p := python{src: r.text, at: at, tools: r.tools}
	calls, err := p.calls()
	if err != nil {
		r.budget -= len(r.text) - at
		return at + 1, broken
	}
	r.budget -= p.at - at
	r.pythonCalls(calls...)
	return p.at, read
}

// named reads a call that begins with the tool's name: NAME{…}, NAME<sep>{…}, NAME[ARGS]{…},
// NAME and a fence of JSON, NAME and pairs of keys and values, NAME(…), call:NAME{…}. Where no
// call is due the name must be that of an offered tool.
func (r *reader) named(at int, open mark, due bool) (next int, st state) {
	from := at
	gemma := strings.HasPrefix(r.text[at:], "call:")
	if gemma {
		at += len("call:")
	}
	end := nameEnd(r.text, at)
	name := r.text[at:end]
	if name == "" || !due && !r.follows(name, end) {
		return at, none
	}
	if end < len(r.text) && r.text[end] == '(' && !gemma {
		return r.pythonCall(from, open)
	}
	at = r.afterName(end)
	if name == "function" && at > end { // the kind of the call; its name comes after it
		if e, ok := r.tag(at); ok && e.called != "" {
			return r.element(e)
		}
		if n := nameEnd(r.text, at); n > at {
			name = r.text[at:n]
			at = r.afterName(n)
		}
	}
	switch {
	case at >= len(r.text):
		return at, broken
	case r.text[at] == '{' && gemma:
		g := gemmaArgs{python{src: r.text, at: at}}
		args, ok := g.object(nil, 0)
		r.budget -= max(g.at-at, 0)
		if !ok {
			return at, broken
		}
		return r.named1(name, args, g.at)
	case r.text[at] == '{':
		return r.object(name, at)
	case r.text[at] == '<':
		return r.pairs(name, at, true)
	}
	return at, none
}

// follows reports whether a name after a call begins another: it is that of an offered tool or,
// where those are not known, arguments come right after it.
func (r *reader) follows(name string, end int) bool {
	return r.offers(name) || !r.known && end < len(r.text) && (r.text[end] == '{' || r.text[end] == '(')
}

// object reads the arguments of a tool that are an object.
func (r *reader) object(name string, at int) (next int, st state) {
	stop, closed := r.balanced(at)
	args, more := RepairArgs(r.text[at:stop])
	if !closed || args == nil {
		return at + 1, broken
	}
	r.call(name, args, "", append([]string{InText}, more...)...)
	return stop, read
}

func (r *reader) named1(name string, args json.RawMessage, next int) (int, state) {
	r.call(name, args, "", InText)
	return next, read
}

// afterName passes the text between a tool's name and its arguments.
func (r *reader) afterName(at int) int {
	for {
		n := skip(r.text, at, " \t\r\n")
		if n == len(r.text) {
			return n
		}
		rest := r.text[n:]
		switch {
		case strings.HasPrefix(rest, "[ARGS]"):
			at = n + len("[ARGS]")
		case strings.HasPrefix(rest, "[CALL_ID]"):
			at = nameEnd(r.text, n+len("[CALL_ID]"))
		case strings.HasPrefix(rest, "✿ARGS✿"):
			at = skip(r.text, n+len("✿ARGS✿"), " :")
		case strings.HasPrefix(rest, fence+"json"):
			at = n + len(fence+"json")
		case strings.HasPrefix(rest, fence):
			at = n + len(fence)
		case rest[0] == '<':
			m := markAt(r.text, n)
			if m.role != joins || m.element != nil && m.element.closing {
				return n
			}
			if at = m.end; strings.HasPrefix(r.text[at:], "json") {
				at += len("json")
			}
		default:
			return n
		}
	}
}

// pythonCall reads NAME(…).
func (r *reader) pythonCall(at int, open mark) (next int, st state) {
	p := python{src: r.text, at: at, tools: r.tools}
	c, err := p.call()
	if err != nil {
		r.budget -= len(r.text) - at
		return at + 1, broken
	}
	r.budget -= p.at - at
	if name, is := strings.CutSuffix(c.Tool, ".call"); is && open.pythonic && r.tools.Find(c.Tool) == nil {
		c.Tool = name
	}
	r.pythonCalls(c)
	return p.at, read
}

// received reads a message of harmony to a tool: to=NAME and its arguments after the head. A
// head without a receiver is that of a text. Without special tokens around, to=functions.NAME
// is a call where an object follows.
func (r *reader) received(m mark) (next int, st state) {
	at, special := m.at, m.role == header
	if special {
		head := r.text[m.end:min(len(r.text), m.end+maxHead)]
		if i := strings.Index(head, "<|message|>"); i >= 0 {
			head = head[:i]
		}
		i := strings.Index(head, "to=")
		if i < 0 {
			return m.end, none
		}
		at = m.end + i
	}
	at += len("to=")
	end := nameEnd(r.text, at)
	name := r.text[at:end]
	at, tokens := r.afterReceiver(end)
	special = special || tokens
	after := r.markHere(at)
	switch {
	case name != "" && at < len(r.text) && r.text[at] == '{':
		stop, st := r.object(name, at)
		if k := r.markHere(skip(r.text, stop, " \t\r\n")); st == read && k.role == strays {
			stop = k.end
		}
		return stop, st
	case special && name != "" && after.role == strays:
		return r.named1(name, json.RawMessage("{}"), after.end)
	case special || at == len(r.text) && strings.TrimSpace(r.text[:m.at]) == "":
		return at, broken
	}
	return max(end, m.end), none
}

// afterReceiver skips everything from the receiver of a message to the text of the message. tokens
// reports whether special tokens are among it.
func (r *reader) afterReceiver(at int) (next int, tokens bool) {
	for {
		at = skip(r.text, at, " \t\r\n")
		if k := r.markHere(at); k.role == joins || k.role == header {
			at, tokens = k.end, true
			continue
		}
		word := nameEnd(r.text, at)
		if !slices.Contains([]string{"commentary", "analysis", "json", "code", "assistant"}, r.text[at:word]) {
			return at, tokens
		}
		at = word
	}
}

// maxHead bounds the head of a message of harmony.
const maxHead = 240

func (r *reader) markHere(at int) mark {
	if at >= len(r.text) {
		return mark{}
	}
	return markAt(r.text, at)
}

// nameEnd is the byte after the name of a tool that begins at a byte.
func nameEnd(s string, at int) int {
	for at < len(s) {
		c := s[at]
		if !isLetter(c) && !isDigit(c) && c < 128 && c != '_' && c != '.' && c != '-' && c != ':' && c != '/' {
			break
		}
		at++
	}
	return at
}

// offers reports whether a tool of that name, or of the name that is meant by it, was offered.
func (r *reader) offers(name string) bool { return r.tools.Find(r.name(name)) != nil }

// name is the tool that a name means: functions.NAME:0 and default_api.NAME are NAME, unless a
// tool has the longer name.
func (r *reader) name(name string) string {
	name = strings.TrimSpace(name)
	if r.tools.Find(name) != nil {
		return name
	}
	short := name
	for _, space := range [...]string{"functions.", "default_api.", "tools."} {
		short = strings.TrimPrefix(short, space)
	}
	if i := strings.LastIndexByte(short, ':'); i > 0 && strings.Trim(short[i+1:], "0123456789") == "" {
		short = short[:i]
	}
	if short != name && (!r.known || r.tools.Find(short) != nil || strings.HasPrefix(name, "functions.")) {
		return short
	}
	return name
}

// parallel is the tool of OpenAI's that calls others.
const parallel = "multi_tool_use.parallel"

// call takes a call. Those of the tool that calls others are taken one by one.
func (r *reader) call(name string, args json.RawMessage, raw string, repairs ...string) {
	if name == parallel && args != nil {
		in := reader{tools: r.tools, known: r.known}
		if in.take(string(args), true, false) && !in.Unreadable {
			r.Calls = append(r.Calls, in.Calls...)
			return
		}
	}
	r.Calls = append(r.Calls, callvet.Call{Tool: r.name(name), Args: args, ArgsRaw: raw, Repairs: repairs})
}

// pythonCalls takes calls that are written as Python.
func (r *reader) pythonCalls(calls ...callvet.Call) {
	for i := range calls {
		r.call(calls[i].Tool, calls[i].Args, "", InText, InPython)
	}
}
