// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Reading are the calls found in a text.
type Reading struct {
	Calls []callvet.Call
	// Unreadable: the text has the mark of a call that cannot be read strictly (cut off, single
	// quotes, another syntax).
	Unreadable bool
	// Unknown: the text looks like a call, but whether it is one depends on the offered tools,
	// which are not known.
	Unknown bool
}

// done reports whether the text was decided.
func (g *Reading) done() bool { return len(g.Calls) > 0 || g.Unreadable || g.Unknown }

// CallsFromText reads the calls that a model wrote into its answer. Use it only where no native
// call was made. Thinking (<think>…</think>) is not searched.
//
// A special token of a model (text_marks.go) is the mark of a call at any place, unless it is
// quoted as code. A text that consists only of JSON of calls is a call, too, and so is a list of
// calls written as Python. Next to other text, and in any other spelling, a call must name an
// offered tool. Where the offered tools are not known (tools is nil or empty), such a text is
// Unknown if it is nothing else. Anything else is an answer: prose that names a tool, code, JSON,
// XML.
func CallsFromText(text string, tools *callvet.Toolset) Reading {
	if !strings.ContainsAny(text, "{[(<`✿") && !hasAction(text) {
		return Reading{}
	}
	seen := withoutTurn(withoutThinking(text))
	r := reader{tools: tools, known: tools != nil && len(tools.Tools) > 0, text: seen}
	r.budget = 16*len(r.text) + 1<<16
	if inside, ok := unfenced(seen); ok {
		r.text = inside
	}
	if inside, ok := within(r.text, "<tools>", "</tools>"); ok {
		r.text = inside
	}
	if !r.readMarked() && !r.readWhole(trimFence(r.text)) {
		r.text, r.places = seen, nil
		r.readProse()
	}
	r.Unreadable = r.Unreadable || !r.done() && halfMark(seen)
	if len(r.Calls) > 0 || r.Unreadable {
		r.Unknown = false
	}
	return r.Reading
}

// within is the text between two marks that are around all of it.
func within(text, open, end string) (inside string, ok bool) {
	inside, begins := strings.CutPrefix(strings.TrimSpace(text), open)
	inside, ends := strings.CutSuffix(inside, end)
	return inside, begins && ends
}

type reader struct {
	Reading
	tools *callvet.Toolset
	known bool // which tools were offered
	// prose: there is other text, so that a call must name an offered tool.
	prose bool
	text  string
	doc   value.Doc
	// places are where words were found (next).
	places map[string]int
	// budget bounds the bytes looked at, so that a text of braces stays linear.
	budget int
}

// readWhole reads a text that is nothing but calls, or was meant to be; false leaves it as
// it is, an answer.
func (r *reader) readWhole(text string) bool {
	text = strings.TrimRight(strings.TrimSpace(text), ".")
	if r.readPython(statement(text)) || r.readNamed(text) {
		return true
	}
	text, cut := unquoted(text)
	in := reader{tools: r.tools, known: r.known, prose: r.prose, text: text, budget: r.budget}
	others, ok := in.objects()
	r.budget = in.budget
	switch {
	case !ok || !in.done():
		return false
	case cut:
		r.Unreadable = true
		return true
	}
	r.Calls = append(r.Calls, in.Calls...)
	r.Unreadable = r.Unreadable || in.Unreadable || others > 0 && len(in.Calls) > 0
	r.Unknown = r.Unknown || in.Unknown
	return true
}

// objects reads a text of objects and lists; others is how many of them are no calls. It is not ok
// where the text has anything else.
func (r *reader) objects() (others int, ok bool) {
	for at := skip(r.text, 0, between); at < len(r.text); at = skip(r.text, at, between) {
		switch c := r.text[at]; {
		case c == '}' && len(r.Calls) > 0: // one brace too many
			r.Unreadable = true
			at++
			continue
		case c != '{' && c != '[' || r.budget <= 0:
			return others, false
		}
		end, closed := r.balanced(at)
		n := len(r.Calls)
		switch {
		case closed && r.take(r.text[at:end], false, false):
			if len(r.Calls) == n {
				others++
			}
			at = end
		case r.text[at] == '[': // a list that cannot be read: its elements may
			at++
		case r.meant(r.text[at:end], !closed), !closed && len(r.Calls) > 0:
			r.Unreadable, at = true, end
		default:
			r.Calls, r.Unreadable = nil, false
			return others, r.Unknown
		}
	}
	return others, true
}

// unquoted is the text that a JSON string holds, where that is an object or a list. cut: the
// string is no JSON, and this is what it would hold.
func unquoted(text string) (inside string, cut bool) {
	for range maxNesting {
		if !strings.HasPrefix(text, `"`) {
			break
		}
		v, err := value.Parse([]byte(text))
		if err != nil {
			return strings.TrimRight(strings.ReplaceAll(text[1:], `\"`, `"`), `\`), true
		}
		text = strings.TrimSpace(v.Str())
	}
	return text, false
}

// statement is the call that a line of Python prints, waits for or assigns; any other text as it is.
func statement(text string) string {
	if name, val, ok := strings.Cut(text, "="); ok &&
		nameEnd(strings.TrimSpace(name), 0) == len(strings.TrimSpace(name)) {
		text = strings.TrimSpace(val)
	}
	text = strings.TrimPrefix(text, "await ")
	if in, ok := strings.CutPrefix(text, "print("); ok && strings.HasSuffix(in, "))") {
		return in[:len(in)-1]
	}
	return text
}

// readNamed reads a text that is nothing but calls of the form NAME{…}, as GLM and Mistral write
// them when their tokens are left out. Further marks may be between the name and its object.
func (r *reader) readNamed(text string) bool {
	in := reader{tools: r.tools, known: r.known, text: text, budget: r.budget}
	for at := skip(text, 0, between); at < len(text); at = skip(text, at, between) {
		end := nameEnd(text, at)
		name := text[at:end]
		if end == at || r.known && !in.offers(name) || !r.known && r.prose {
			return false
		}
		at = in.afterName(end)
		var st state
		switch {
		case at < len(text) && text[at] == '{':
			at, st = in.object(name, at)
		case strings.HasPrefix(text[at:], "python\ntool_call("): // ChatGLM
			if at, st = in.pythonCall(at+len("python\n"), mark{}); st == read {
				in.Calls[len(in.Calls)-1].Tool = in.name(name)
				at = skip(text, at, "` \n")
			}
		}
		if st != read {
			return false
		}
	}
	r.budget = in.budget
	if !r.known {
		r.Unknown = r.Unknown || len(in.Calls) > 0
		return len(in.Calls) > 0
	}
	r.Calls = append(r.Calls, in.Calls...)
	return len(in.Calls) > 0
}

// between are the characters that may be between calls that are not in one list.
const between = " \t\r\n,;]"

// readPython reads a text that is calls written as Python. Without brackets around them, and next
// to other text, every name must be the name of an offered tool: f(x) is common in mathematics.
func (r *reader) readPython(text string) bool {
	list := PythonLike(text)
	p := python{src: strings.TrimPrefix(text, "[")}
	p.space()
	name := p.name()
	offered := r.offers(name)
	if !offered && (r.known && !list || r.prose) || !list && p.peek() != '(' {
		return false
	}
	calls, err := pythonCalls(text, python{tools: r.meantBy(name), own: true})
	switch {
	case !r.known:
		likely := len(calls) > 0 && (list || strings.ContainsAny(name, "_.") || len(calls[0].Args) > len("{}") &&
			!placed(calls[0].Args))
		r.Unknown = r.Unknown || likely
		return likely
	case err != nil:
		meant := pythonMeant(text, err, list, offered)
		r.Unreadable = r.Unreadable || meant
		return meant
	}
	for i := range calls {
		if (!list || r.prose) && !r.offers(calls[i].Tool) {
			return false
		}
	}
	r.pythonCalls(calls...)
	return len(calls) > 0
}

// placed reports whether arguments are positional, with numbers for names.
func placed(args json.RawMessage) bool { return strings.HasPrefix(string(args), `{"0":`) }

// pythonMeant reports whether unreadable Python was meant as calls.
func pythonMeant(text string, err error, list, offered bool) bool {
	if list && strings.HasSuffix(text, ")]") {
		return true
	}
	return offered && !errors.Is(err, errAfter) && (list || !strings.Contains(text, ")"))
}

// take reads one JSON text. It reports whether the text is JSON that needs no further reading: it
// contains calls, or it is clearly something else. must: anything except calls is unreadable.
// keyed: calls are {NAME: arguments}, for any tool.
func (r *reader) take(text string, must, keyed bool) bool {
	if r.doc.Parse([]byte(text)) != nil {
		return false
	}
	root := r.doc.Root()
	for _, k := range wrappers() {
		if m, ok := root.Get(k); ok && (m.Kind() == value.Array || m.Kind() == value.Object) {
			root = m
			break
		}
	}
	n := len(r.Calls)
	if root.Kind() != value.Array {
		ok := r.takeOne(root, must, keyed)
		return ok || !must
	}
	others := 0
	for e, ok := root.First(); ok; e, ok = root.Next(e) {
		if !r.takeOne(e, must, keyed) {
			others++
		}
	}
	if others > 0 && len(r.Calls) > n {
		r.Unreadable = true
	}
	return others == 0 || !must
}

// wrappers are the members that contain calls.
func wrappers() []string {
	return []string{"tool_calls", "function_call", "tool_call", "tool_uses", "functionCall", "toolUse", "tool_use"}
}

func (r *reader) takeOne(v value.Value, must, keyed bool) bool {
	if must && v.Kind() == value.Object && v.Len() == 1 {
		if e, _ := v.First(); e.Kind() == value.Object && (keyed || r.offers(e.Key())) && e.Key() != "function" {
			r.call(e.Key(), json.RawMessage(e.Raw()), "", InText)
			return true
		}
	}
	s, ok := shapeOf(v)
	switch {
	case !ok:
		return false
	case !must && !s.isCall(r.offers(s.name), !r.prose):
		r.Unknown = r.Unknown || !r.known && !r.prose && s.couldCall()
		return false
	}
	c := s.call(InText)
	r.call(s.name, c.Args, c.ArgsRaw, c.Repairs...)
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

// meant reports whether text that is not JSON was meant as a call. Either it names an offered
// tool and has arguments (or ends before them), or it has exactly the form
// {"name":…,"arguments":….
func (r *reader) meant(text string, cut bool) bool {
	if head := strings.TrimLeft(text[1:], " \t\r\n"); head == "" || head[0] != '"' && head[0] != '\'' {
		return false
	}
	for _, k := range textNameKeys() {
		name, rest, ok := quotedAfter(text, k)
		if !ok {
			continue
		}
		known := r.offers(name)
		if known && cut && slices.ContainsFunc(textArgsKeys(), beginsWith(strings.Trim(rest, " \t\r\n,\"'"))) {
			return true
		}
		for _, a := range textArgsKeys() {
			if (known || !r.prose && a == "arguments" && k == "name") && hasKey(text, a) {
				return true
			}
		}
	}
	return false
}

func beginsWith(cut string) func(string) bool {
	return func(s string) bool { return strings.HasPrefix(s, cut) }
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
