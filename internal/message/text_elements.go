// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"encoding/json"
	"strings"
)

// element reads a call with the tool's name in its tag:
//
//	<function=NAME> <parameter=KEY> value </parameter> </function>
//	<invoke name="NAME"> <parameter name="KEY">value</parameter> </invoke>
//	<function=NAME>{…}</function>
//
// The tag that closes it, or the mark around it, must be there: parameters could be missing
// otherwise.
func (r *reader) element(e tag) (next int, st state) {
	if e.closed {
		return r.named1(e.called, json.RawMessage("{}"), e.end)
	}
	at := skip(r.text, e.end, " \t\r\n")
	if at < len(r.text) && r.text[at] == '{' {
		stop, st := r.object(e.called, at)
		if c, ok := r.tag(skip(r.text, stop, " \t\r\n")); st == read && ok && c.closing && c.raw == e.raw {
			stop = c.end
		}
		return stop, st
	}
	return r.pairs(e.called, at, false)
}

// namedInside reads a call with the name in an element: <name>NAME</name> and
// <arguments>{…}</arguments>, or <parameters> with an element for each.
func (r *reader) namedInside(e tag) (next int, st state) {
	switch e.name {
	case "name", "tool_name", "function_name", "function", "tool":
	default:
		return e.end, none
	}
	name, at, ok := r.inner(e)
	if name = strings.TrimSpace(name); !ok || name == "" || nameEnd(name, 0) != len(name) {
		return e.end, broken
	}
	return r.pairs(name, skip(r.text, at, " \t\r\n"), false)
}

// pairs reads arguments that are elements, up to the tag that closes the call. A bare name could
// be any word: without arguments it must be the name of an offered tool.
func (r *reader) pairs(name string, at int, bare bool) (next int, st state) {
	f := r.fieldsOf(r.name(name))
	for {
		at = skip(r.text, at, " \t\r\n")
		e, ok := r.tag(at)
		if !ok {
			if at < len(r.text) && r.text[at] == '<' && markAt(r.text, at).role == closes {
				break
			}
			return at, broken
		}
		if e.closing || e.name == "end_function_call" || markAt(r.text, at).role == opens {
			break
		}
		if at, ok = r.pair(f, e); !ok {
			return max(at, e.end), broken
		}
	}
	args := f.args()
	if args == nil || len(args) == 2 && bare && r.known && !r.offers(name) {
		return at, broken
	}
	if e, ok := r.tag(at); ok && e.closing && elements(e.name) == names {
		at = e.end
	}
	return r.named1(name, args, at)
}

// pair reads one argument, or all arguments from one element.
func (r *reader) pair(f *fields, e tag) (next int, ok bool) {
	text, next, ok := r.inner(e)
	if !ok {
		return next, false
	}
	switch e.name {
	case "parameter", "param", "arg", "argument":
		if e.called == "" {
			return next, false
		}
		switch e.str {
		case "true":
			f.text(e.called, text)
		case "false":
			f.json(e.called, text)
		default:
			f.add(e.called, text)
		}
		return next, true
	case "arg_key":
		at := skip(r.text, next, " \t\r\n")
		v, ok := r.tag(at)
		if !ok || v.name != "arg_value" || v.closing {
			return next, false
		}
		val, next, ok := r.inner(v)
		f.add(strings.TrimSpace(text), val)
		return next, ok
	case "parameters", "arguments", "args", "params", "input", "tool_input":
		return next, f.all(text)
	}
	return next, false
}

// all reads the arguments in one element: an object, or an element for each.
func (f *fields) all(text string) bool {
	if t := strings.TrimSpace(text); t == "" || t[0] == '{' {
		args, _ := RepairArgs(t)
		if args == nil || len(f.out) > 1 {
			return false
		}
		f.out = append(f.out, strings.TrimSuffix(string(args[1:]), "}")...)
		return true
	}
	return f.children(text, nil) > 0
}

// children reads elements without attributes, each one argument. It returns their number, or -1
// where there is anything else. expected, if not nil, reports whether the tool has an argument of
// a name.
func (f *fields) children(text string, expected func(name string) bool) int {
	in := reader{text: text}
	n := 0
	for at := skip(text, 0, " \t\r\n"); at < len(text); at = skip(text, at, " \t\r\n") {
		e, ok := in.tag(at)
		if !ok || e.closing || e.called != "" || expected != nil && !expected(e.raw) {
			return -1
		}
		if e.closed {
			f.add(e.raw, "")
			at = e.end
			n++
			continue
		}
		end := in.next("</"+e.raw+">", e.end)
		if end < 0 {
			return -1
		}
		f.add(e.raw, trimLine(text[e.end:end]))
		at = end + len("</"+e.raw+">")
		n++
	}
	return n
}

// tag is the tag at a byte of the text.
func (r *reader) tag(at int) (tag, bool) {
	if at >= len(r.text) || r.text[at] != '<' {
		return tag{}, false
	}
	return elementAt(r.text, at)
}

// inner is the text of an element and the byte after it. An element that is not closed ends
// where the next one of its kind begins, or where the call ends; it is not ok where the text
// ends first.
func (r *reader) inner(e tag) (text string, next int, ok bool) {
	if e.closed {
		return "", e.end, true
	}
	end := r.next("</"+e.raw, e.end)
	again := e.raw
	if e.name == "arg_value" {
		again = strings.TrimSuffix(e.raw, "value") + "key"
	}
	begins := r.first(e.end, "<"+again+"=", "<"+again+" ", "<"+again+">")
	closed := end >= 0 && (begins < 0 || end < begins)
	if !closed {
		end = r.first(e.end, "</function>", "</invoke>", "</tool_call>", "</"+e.prefix+"invoke>")
		if end < 0 || begins >= 0 && begins < end {
			end = begins
		}
	}
	if end < 0 {
		return "", e.end, false
	}
	text = trimLine(r.text[e.end:end])
	if !closed {
		return text, end, true
	}
	c, ok := r.tag(end)
	return text, c.end, ok
}

// first is the place of the first of some words at or after a byte, or -1.
func (r *reader) first(at int, words ...string) int {
	first := -1
	for _, w := range words {
		if i := r.next(w, at); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// trimLine removes one line break at each end.
func trimLine(s string) string {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "\r"), "\n")
	return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
}
