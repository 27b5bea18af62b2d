// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strings"
)

// role is the meaning of a mark in a text.
type role byte

const (
	noMark role = iota
	// opens: a call follows it.
	opens
	// closes: it closes an opening mark.
	closes
	// joins: it is inside a call, between the name and the arguments, or after a call.
	joins
	// names: an element that has the name of a tool in it, such as <function=NAME>.
	names
	// header: the head of a message of harmony. A call follows it if it names a receiver.
	header
	// receiver: the receiver of a message of harmony, without its head.
	receiver
	// strays: the end of a call. It is part of a call where it follows one.
	strays
)

// piped are the marks <|NAME|>, by their names in lower case with _ for ▁. They are special
// tokens: no text has them by chance.
func piped(name string) role {
	switch name {
	case "python_tag", "python_start", "action_start", "start_action", "functioncallbegin", "tools_prefix",
		"tool_call", "tool_calls", "function_call", "function_calls", "toolcall", "tool_call_start", "tool_calls_start",
		"tool_call_begin", "tool_calls_begin", "tool_calls_section_begin", "tool_call_section_begin":
		return opens
	case "python_end", "action_end", "end_action", "functioncallend", "tools_suffix", "/tool_call", "/tool_calls",
		"/function_call", "/toolcall", "tool_call_end", "tool_calls_end", "tool_calls_section_end",
		"tool_call_section_end":
		return closes
	case "tool_sep", "tool_call_argument_begin", "tool_call_argument_end", "constrain", "message", "plugin",
		"eom_id", "eot_id", "im_end", "end", "return", "endoftext", "end_of_text", "end_of_sentence",
		"end_of_turn_token":
		return joins
	case "channel":
		return header
	case "call":
		return strays
	}
	return noMark
}

// elements are the marks <NAME>, by their names in lower case without a prefix (seed:tool_call,
// longcat_tool_call, |DSML|invoke).
func elements(name string) role {
	switch name {
	case "tool_call", "tool_calls", "toolcall", "toolcalls", "function_call", "function_calls", "functioncall",
		"functioncalls", "start_function_call", "tool_use", "use_mcp_tool":
		return opens
	case "invoke", "function":
		return names
	case "end_function_call", "tool_sep":
		return joins
	}
	return noMark
}

// literalMark is a mark of another form.
type literalMark struct {
	text string
	role role
}

func literal() []literalMark {
	return []literalMark{
		{"[TOOL_CALLS]", opens},
		{"[/TOOL_CALLS]", closes},
		{"[TOOL_REQUEST]", opens},
		{"[END_TOOL_REQUEST]", closes},
		{"<|tool_call>", opens},
		{"<tool_call|>", closes},
		{"<<function>>", opens},
		{"functools[", opens},
		{"functools [", opens},
		{"✿FUNCTION✿", opens},
		{"to=functions.", receiver},
		{"to=multi_tool_use.", receiver},
	}
}

// halfMark reports whether a text ends within the mark of a call.
func halfMark(text string) bool {
	i := strings.LastIndexAny(text, "<[")
	if i > 0 && text[i-1] == '<' {
		i--
	}
	if i < 0 || len(text)-i < minHalf || i > 0 && text[i-1] == '`' {
		return false
	}
	half := strings.ToLower(strings.NewReplacer("▁", "_", "｜", "|", "\ufffd",
		"").Replace(strings.ToValidUTF8(text[i:], "")))
	for _, whole := range [...]string{
		"<tool_calls>", "<tool_call>", "<toolcall>", "<function_calls>", "<function_call>", "<minimax:tool_call>",
		"<seed:tool_call>",
		"<longcat_tool_call>", "<start_function_call>", "<|python_tag|>", "<|python_start|>", "<|functioncallbegin|>",
		"<|tools_prefix|>", "<tool_use>", "<<function>>",
		"<|tool_calls_section_begin|>", "<|tool_calls_begin|>", "<|tool_call_begin|>", "<|tool_call_start|>",
		"<|tool_call|>",
		"<|dsml|function_calls>", "<|dsml|tool_calls>", "<|dsml|invoke name=", "<function=", "<invoke name=",
		"[tool_calls]", "[tool_request]",
	} {
		if strings.HasPrefix(whole, half) || strings.HasSuffix(whole, "=") && strings.HasPrefix(half, whole) &&
			!strings.ContainsAny(half, ">\n") {
			return true
		}
	}
	return false
}

// minHalf is how many bytes of a mark show that it is one.
const minHalf = 6

// thoughts are the marks around the thinking of a model. Thinking is not searched for calls.
func thoughts() []thought {
	return []thought{
		{"<think>", []string{"</think>"}},
		{"<thinking>", []string{"</thinking>"}},
		{"<thought>", []string{"</thought>"}},
		{"<seed:think>", []string{"</seed:think>"}},
		{"<longcat_think>", []string{"</longcat_think>"}},
		{"<reasoning>", []string{"</reasoning>"}},
		{"[THINK]", []string{"[/THINK]"}},
		{"◁think▷", []string{"◁/think▷"}},
		{"<|START_THINKING|>", []string{"<|END_THINKING|>"}},
		{"<|inner_prefix|>", []string{"<|inner_suffix|>"}},
		{"<|channel>thought", []string{"<channel|>"}},
		{"<|channel|>analysis<|message|>", []string{"<|end|>", "<|start|>", "<|channel|>", "<|return|>"}},
	}
}

// thought is the mark that begins a thought, and those that end it.
type thought struct {
	open string
	ends []string
}

// mark is a mark in a text.
type mark struct {
	role     role
	at, end  int
	element  *tag // of a mark of the form <NAME>
	keyed    bool // calls after it are {NAME: arguments}
	pythonic bool // calls after it are Python, a method "call" of the tool's name
	// bracket: the mark's last byte begins the list of calls.
	bracket bool
}

// maxMark bounds the length of a mark <|NAME|>, and maxTag that of the content of a tag.
const (
	maxMark = 48
	maxTag  = 400
)

// markAt is the mark that begins at a byte of the text; role noMark where there is none.
func markAt(s string, at int) mark {
	if m, ok := literalAt(s, at); ok {
		return m
	}
	if s[at] != '<' {
		return mark{}
	}
	if name, n := pipedAt(s[at:]); n > 0 {
		return mark{
			role: piped(name), at: at, end: at + n, keyed: name == "tools_prefix",
			pythonic: name == "python_tag",
		}
	}
	e, ok := elementAt(s, at)
	if !ok {
		return mark{}
	}
	return e.mark(s)
}

// literalAt is the mark of another form at a byte of the text.
func literalAt(s string, at int) (m mark, ok bool) {
	for _, l := range literal() {
		rest, ok := strings.CutPrefix(s[at:], l.text)
		if !ok {
			continue
		}
		m = mark{role: l.role, at: at, end: at + len(l.text)}
		switch {
		case strings.HasPrefix(l.text, "functools"):
			if t := strings.TrimLeft(rest, " \t\r\n"); t != "" && t[0] != '{' {
				return mark{}, false
			}
			m.bracket = true
		case strings.HasPrefix(l.text, "✿"):
			m.end = skip(s, m.end, " :")
		}
		return m, true
	}
	return m, false
}

// mark is what a tag does in the text.
func (e tag) mark(s string) mark {
	out := mark{role: elements(e.name), at: e.at, end: e.end, element: &e}
	switch {
	case out.role == opens && (e.closing || e.closed):
		out.role = closes
	case out.role == names && e.closing:
		out.role = joins
	case out.role == names && e.called == "" && e.name == "invoke" && s[e.at+1:e.end-1] == e.raw:
		out.role = opens
	case out.role == names && e.called == "":
		return mark{} // <function> and <invoke method="…"> are elements of other languages, too
	case out.role == opens && e.called != "":
		out.role = names
	}
	return out
}

// pipedAt reads <|NAME|> with its bars and underscores in any width. n is 0 where there is none.
func pipedAt(s string) (name string, n int) {
	at, ok := bar(s, 1)
	if !ok {
		return "", 0
	}
	var b strings.Builder
	for at < len(s) && at < maxMark {
		if end, ok := bar(s, at); ok {
			if end < len(s) && s[end] == '>' {
				return b.String(), end + 1
			}
			return "", 0
		}
		c := s[at]
		switch {
		case strings.HasPrefix(s[at:], "▁"):
			b.WriteByte('_')
			at += len("▁")
			continue
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c == '<' || c == '>' || c == '\n' || c == ' ':
			return "", 0
		}
		b.WriteByte(c)
		at++
	}
	return "", 0
}

// bar is the byte after the bar at a byte of s.
func bar(s string, at int) (end int, ok bool) {
	switch {
	case at < len(s) && s[at] == '|':
		return at + 1, true
	case at < len(s) && strings.HasPrefix(s[at:], "｜"):
		return at + len("｜"), true
	}
	return at, false
}

// tag is a tag: <NAME>, </NAME>, <NAME=VALUE> or <NAME name="VALUE">.
type tag struct {
	raw     string // prefix and name as written, for the tag that closes it
	prefix  string
	name    string // in lower case, without the prefix
	called  string // the value after = or of the attribute name
	str     string // the attribute string of DSML
	closing bool   // </NAME>
	closed  bool   // <NAME/>
	at, end int
}

// elementAt reads the tag that begins at a byte of s. A tag that is not closed is none.
func elementAt(s string, at int) (e tag, ok bool) {
	i := at + 1
	if i < len(s) && s[i] == '/' {
		e.closing = true
		i++
	}
	from := i
	if i, ok = afterBars(s, i); !ok {
		return e, false
	}
	e.prefix = s[from:i]
	word := i
	for i < len(s) && i-word < maxMark && (isLetter(s[i]) || i > word && inTag(s[i])) {
		i++
	}
	if i == word || i >= len(s) {
		return e, false
	}
	e.raw, e.name = s[from:i], strings.ToLower(s[word:i])
	if c := strings.LastIndexByte(e.name, ':'); c >= 0 && e.prefix == "" {
		e.prefix, e.name = e.name[:c], e.name[c+1:]
	}
	if rest, is := strings.CutPrefix(e.name, "longcat_"); is {
		e.prefix, e.name = "longcat_", rest
	}
	e.at = at
	return e, e.attributes(s, i)
}

// afterBars passes the prefix of <｜DSML｜invoke; it is not ok where the prefix does not end.
func afterBars(s string, at int) (after int, ok bool) {
	word, ok := bar(s, at)
	if !ok {
		return at, true
	}
	for word < len(s) && word-at < maxMark && isLetter(s[word]) {
		word++
	}
	return bar(s, word)
}

// attributes reads what follows a tag's name, up to and with the >.
func (e *tag) attributes(s string, at int) bool {
	limit := min(len(s), at+maxTag)
	if at < limit && s[at] == '=' { // <function=NAME>
		end := strings.IndexAny(s[at:limit], ">\n<")
		if end < 0 || s[at+end] != '>' {
			return false
		}
		e.called, e.end = strings.Trim(s[at+1:at+end], " \t\"'"), at+end+1
		return e.called != ""
	}
	for at < limit {
		at = skip(s, at, " \t\r\n")
		switch {
		case at >= limit:
			return false
		case s[at] == '>':
			e.end = at + 1
			return true
		case strings.HasPrefix(s[at:], "/>"):
			e.closed, e.end = true, at+2
			return true
		}
		key, val, next := attribute(s[:limit], at)
		if at = next; key == "" {
			return false
		}
		switch strings.ToLower(key) {
		case "name":
			e.called = val
		case "string":
			e.str = val
		}
	}
	return false
}

// attribute reads KEY="VALUE" in any quotes or none; key is "" where there is none.
func attribute(s string, at int) (key, val string, next int) {
	from := at
	for at < len(s) && inTag(s[at]) {
		at++
	}
	key = s[from:at]
	if at = skip(s, at, " \t\r\n"); at >= len(s) || s[at] != '=' {
		return "", "", at
	}
	if at = skip(s, at+1, " \t\r\n"); at >= len(s) {
		return "", "", at
	}
	if s[at] == '"' || s[at] == '\'' {
		end := strings.IndexByte(s[at+1:], s[at])
		if end < 0 {
			return "", "", at
		}
		return key, s[at+1 : at+1+end], at + end + 2
	}
	end := strings.IndexAny(s[at:], " \t\r\n>")
	if end <= 0 {
		return "", "", at
	}
	return key, s[at : at+end], at + end
}

// inTag reports whether a byte may be in the name of a tag or of an attribute.
func inTag(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '_' || c == '-' || c == '.' || c == ':'
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
