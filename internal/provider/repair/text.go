// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package repair

import (
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// FromText reads the calls that a model wrote into its answer: JSON objects or
// lists, fenced, bare or in <tool_call> tags. Use it only when tools were
// offered and no native call was made. Thinking (<think>…</think>) is not
// searched. unreadable is true when some part clearly meant a call and is not
// strict JSON (cut off, single quotes, other syntax inside tags). Prose and JSON
// that is not call-shaped give nil and false: they are an answer.
func FromText(text string, tools *callvet.Toolset) (calls []callvet.Call, unreadable bool) {
	if tools == nil || len(tools.Tools) == 0 || strings.IndexByte(text, '{') < 0 && !marked(text) {
		return nil, false
	}
	r := reader{tools: tools, text: withoutThinking(text)}
	r.budget = 16*len(r.text) + 1<<16
	if !r.readMarked() {
		r.readBare(0, len(r.text))
	}
	return r.calls, r.unreadable
}

// opens are the marks after which a call is due, closes what ends each of them.
func opens() []string {
	return []string{"<tool_call>", "<tool_calls>", "<function_call>", "<function=", "[TOOL_CALLS]", "<|python_tag|>", "<|tool_call|>"}
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

// readBare looks for call-shaped values between from and to.
func (r *reader) readBare(from, to int) {
	for at := from; at < to && r.budget > 0; {
		i := strings.IndexAny(r.text[at:to], "{[")
		if i < 0 {
			return
		}
		at += i
		end, closed := r.balanced(at)
		region := r.text[at:end]
		if closed && r.take(region, false) {
			at = end
			continue
		}
		if region[0] == '{' && r.meant(region, !closed) {
			r.unreadable = true
			at = end
			continue
		}
		at++
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
