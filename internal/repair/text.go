// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package repair

import (
	"errors"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// FromText reads the calls that a model wrote into its answer. Use it only when tools
// were offered and no native call was made. Thinking (<think>…</think>) is not searched.
//
// A text counts as an attempt where all of it is calls: JSON objects or a list of them, or
// Python ([f(a=1)], and f(a=1) of an offered tool). Beside other text, calls count in
// a code fence of JSON and behind a mark (<tool_call>, [TOOL_CALLS], …). Anything else
// gives nil and false: prose with a call in it, the name of a tool, and JSON that is not
// call-shaped are an answer. unreadable is true when an attempt clearly meant a call that
// cannot be read strictly (cut off, single quotes, other syntax inside tags).
func FromText(text string, tools *callvet.Toolset) (calls []callvet.Call, unreadable bool) {
	if tools == nil || len(tools.Tools) == 0 || !strings.ContainsAny(text, "{[(") && !marked(text) {
		return nil, false
	}
	r := reader{tools: tools, text: withoutThinking(text)}
	r.budget = 16*len(r.text) + 1<<16
	if !r.readMarked() && !r.readWhole(trimFence(r.text), true) {
		r.readFences()
	}
	return r.calls, r.unreadable
}

// opens are the marks after which a call is due.
func opens() []string {
	return []string{
		"<tool_call>", "<tool_calls>", "<function_call>", "<function=", "[TOOL_CALLS]", "<|python_tag|>", "<|python_start|>", "<|tool_call|>",
	}
}

func marked(text string) bool {
	return slices.ContainsFunc(opens(), func(m string) bool { return strings.Contains(text, m) })
}

func withoutThinking(text string) string {
	const open, end = "<think>", "</think>"
	if i := strings.LastIndex(text, end); i >= 0 {
		return text[i+len(end):]
	}
	if i := strings.Index(text, open); i >= 0 {
		return text[:i]
	}
	return text
}

type reader struct {
	tools      *callvet.Toolset
	text       string
	doc        value.Doc
	calls      []callvet.Call
	unreadable bool
	// budget bounds the bytes looked at, so that a text of braces stays linear.
	budget int
}

// readMarked reads after every mark; false when the text has none that counts.
func (r *reader) readMarked() (found bool) {
	for at := 0; at < len(r.text); {
		i, mark := nextMark(r.text[at:])
		if i < 0 {
			break
		}
		at += i + len(mark)
		from := at
		if mark == "<function=" {
			at = r.readFunctionTag(at)
			found = found || at > from
			continue
		}
		next, ok := r.readMarkedValues(at)
		if !ok {
			continue
		}
		found, at = true, next
	}
	return found
}

func nextMark(s string) (at int, mark string) {
	at = -1
	for _, m := range opens() {
		if i := strings.Index(s, m); i >= 0 && (at < 0 || i < at) {
			at, mark = i, m
		}
	}
	return at, mark
}

// readMarkedValues reads the JSON values that follow a mark; ok is false when
// what follows is prose that only mentions the mark.
func (r *reader) readMarkedValues(at int) (next int, ok bool) {
	for {
		at = skip(r.text, at, " \t\r\n,;")
		if at >= len(r.text) || r.text[at] != '{' && r.text[at] != '[' {
			break
		}
		end, closed := r.balanced(at)
		if !closed || !r.take(r.text[at:end], true) {
			r.unreadable = true
			return max(end, at+1), true
		}
		at, ok = end, true
	}
	if ok {
		return at, true
	}
	rest := r.text[at:]
	if inside, _, _ := strings.Cut(rest, "<"); r.readPython(strings.TrimSpace(inside)) {
		return at + len(inside), true
	}
	if rest == "" || strings.HasPrefix(rest, "<function=") {
		r.unreadable = r.unreadable || rest == ""
		return at, rest == ""
	}
	if strings.HasPrefix(rest, "<") && !strings.HasPrefix(rest, "</") || strings.Contains(rest, "</tool_call>") {
		r.unreadable = true
		return at, true
	}
	return at, false
}

// readFunctionTag reads <function=NAME>{…}</function>; other syntax inside is unreadable.
func (r *reader) readFunctionTag(at int) (next int) {
	end := strings.IndexByte(r.text[at:], '>')
	if end < 0 {
		r.unreadable = true
		return len(r.text)
	}
	name := strings.Trim(r.text[at:at+end], " \"'")
	at = skip(r.text, at+end+1, " \t\r\n")
	stop, closed := at, false
	if at < len(r.text) && r.text[at] == '{' {
		stop, closed = r.balanced(at)
	}
	args, more := Args(r.text[at:stop])
	if !closed && !strings.HasPrefix(r.text[at:], "</function>") || args == nil {
		r.unreadable = true
		return max(stop, at)
	}
	r.calls = append(r.calls, callvet.Call{Tool: name, Args: args, Repairs: append([]string{InText}, more...)})
	return stop
}

// readWhole reads a text that is nothing but calls, or was meant to be; false leaves it as
// it is, an answer. Python is read where asked for.
func (r *reader) readWhole(text string, python bool) bool {
	text = strings.TrimSpace(text)
	if python && r.readPython(text) {
		return true
	}
	in := reader{tools: r.tools, text: text, budget: r.budget}
	defer func() { r.budget = in.budget }()
	others := 0
	for at := skip(text, 0, between); at < len(text); at = skip(text, at, between) {
		if text[at] != '{' && text[at] != '[' || in.budget <= 0 {
			return false
		}
		end, closed := in.balanced(at)
		n := len(in.calls)
		switch {
		case closed && in.take(text[at:end], false):
			if len(in.calls) == n {
				others++
			}
			at = end
		case text[at] == '[': // a list that cannot be read: its elements may
			at++
		case in.meant(text[at:end], !closed):
			in.unreadable, at = true, end
		default:
			return false
		}
	}
	if len(in.calls) == 0 && !in.unreadable {
		return false
	}
	r.calls = append(r.calls, in.calls...)
	r.unreadable = r.unreadable || in.unreadable || others > 0
	return true
}

// between is what may stand between calls that are not in one list.
const between = " \t\r\n,;]"

// readPython reads a text that is calls written as Python. Without brackets around them
// every name must be that of an offered tool: f(x) is common in prose of mathematics.
func (r *reader) readPython(text string) bool {
	list := PythonLike(text)
	p := python{src: strings.TrimPrefix(text, "[")}
	p.space()
	offered := r.tools.Find(p.name()) != nil
	if !list && !offered {
		return false
	}
	calls, err := PythonCalls(text, r.tools)
	if err != nil {
		meant := list && strings.HasSuffix(text, ")]") || offered && !errors.Is(err, errAfter) && (list || !strings.Contains(text, ")"))
		r.unreadable = r.unreadable || meant
		return meant
	}
	for i := range calls {
		c := &calls[i]
		if !list && r.tools.Find(c.Tool) == nil {
			return false
		}
		c.Repairs = append([]string{InText}, c.Repairs...)
	}
	r.calls = append(r.calls, calls...)
	return len(calls) > 0
}

// readFences reads the code fences of JSON in a text, each that is nothing but calls.
func (r *reader) readFences() {
	const fence = "```"
	for rest := r.text; r.budget > 0; {
		_, after, ok := strings.Cut(rest, fence)
		if !ok {
			return
		}
		info, body, ok := strings.Cut(after, "\n")
		if !ok || len(info) > 20 {
			rest = after
			continue
		}
		inside, next, _ := strings.Cut(body, fence)
		switch strings.ToLower(strings.TrimSpace(info)) {
		case "", "json", "jsonc", "python", "py", "tool", "tool_call", "tool_calls", "function_call":
			r.readWhole(inside, PythonLike(inside))
		}
		rest = next
	}
}

// take reads one JSON text. It reports whether the text is JSON that needs no
// further look: calls were taken, or it is plainly something else. must says
// that anything but calls is unreadable.
func (r *reader) take(text string, must bool) bool {
	if r.doc.Parse([]byte(text)) != nil {
		return false
	}
	root := r.doc.Root()
	for _, k := range [...]string{"tool_calls", "function_call", "tool_call"} {
		if m, ok := root.Get(k); ok && (m.Kind() == value.Array || m.Kind() == value.Object) {
			root = m
			break
		}
	}
	n := len(r.calls)
	if root.Kind() != value.Array {
		ok := r.takeOne(root, must)
		return ok || !must
	}
	others := 0
	for e, ok := root.First(); ok; e, ok = root.Next(e) {
		if !r.takeOne(e, must) {
			others++
		}
	}
	if others > 0 && len(r.calls) > n {
		r.unreadable = true
	}
	return others == 0 || !must
}

func (r *reader) takeOne(v value.Value, must bool) bool {
	s, ok := shapeOf(v)
	if !ok || !must && !s.isCall(r.tools) {
		return false
	}
	r.calls = append(r.calls, s.call(InText))
	return true
}

// balanced finds the end of the bracketed text that starts at at. closed is
// false when the text ends first.
func (r *reader) balanced(at int) (end int, closed bool) {
	depth, quoted := 0, false
	for i := at; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				r.budget -= i - at
				return i + 1, true
			}
		}
	}
	r.budget -= len(r.text) - at
	return len(r.text), false
}

// meant reports whether text that is not JSON was going to be a call: it names
// an offered tool and has arguments (or ends before they could come), or it has
// the very form {"name":…,"arguments":….
func (r *reader) meant(text string, cut bool) bool {
	if head := strings.TrimLeft(text[1:], " \t\r\n"); head == "" || head[0] != '"' && head[0] != '\'' {
		return false
	}
	for _, k := range nameKeys() {
		name, rest, ok := quotedAfter(text, k)
		if !ok {
			continue
		}
		known := r.tools.Find(name) != nil
		if known && cut && len(strings.Trim(rest, " \t\r\n,\"'")) < len("arguments") {
			return true
		}
		for _, a := range argsKeys() {
			if (known || a == "arguments" && k == "name") && hasKey(text, a) {
				return true
			}
		}
	}
	return false
}

// quotedAfter finds "key": "name" in either quotes.
func quotedAfter(text, key string) (name, rest string, ok bool) {
	for _, q := range [...]string{`"`, `'`} {
		_, after, found := strings.Cut(text, q+key+q)
		if !found {
			continue
		}
		after = strings.TrimLeft(after, " \t\r\n:")
		if after == "" || after[0] != '"' && after[0] != '\'' {
			continue
		}
		name, rest, found = strings.Cut(after[1:], after[:1])
		if found {
			return name, rest, true
		}
	}
	return "", "", false
}

func hasKey(text, key string) bool {
	return strings.Contains(text, `"`+key+`"`) || strings.Contains(text, `'`+key+`'`)
}

func skip(s string, at int, set string) int {
	for at < len(s) && strings.IndexByte(set, s[at]) >= 0 {
		at++
	}
	return at
}
