// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strings"
	"unicode"

	"github.com/callvet/callvet"
)

// Thoughts moves the text of a turn to its reasoning if it contains only thoughts, for example
// when the model stopped while thinking. Such a text is no answer.
func Thoughts(t *callvet.Turn) {
	if len(t.Calls) > 0 || strings.TrimSpace(t.Content) == "" || strings.TrimSpace(withoutThinking(t.Content)) != "" {
		return
	}
	if t.Reasoning != "" {
		t.Reasoning += "\n"
	}
	t.Reasoning, t.Content = t.Reasoning+t.Content, ""
}

// withoutThinking is a text without the model's thinking. A thought without an end hides the rest
// of the text. Some models begin a thought before the recorded answer: an end mark without a
// beginning hides the text before it.
func withoutThinking(text string) string {
	if !strings.ContainsAny(text, "<[◁") {
		return text
	}
	for _, end := range [...]string{"</think>", "[/THINK]", "◁/think▷", "</thinking>"} {
		open := strings.Replace(end, "/", "", 1)
		i := strings.Index(text, end)
		if i < 0 || i > 0 && text[i-1] == '`' {
			continue
		}
		if b := strings.Index(text, open); b < 0 || b > i {
			text = text[i+len(end):]
		}
	}
	var out strings.Builder
	from := 0
	for {
		at, t := nextThought(text, from)
		if at < 0 {
			break
		}
		out.WriteString(text[from:at])
		out.WriteByte('\n')
		end, after := firstEnd(text[at+len(t.open):], t.ends)
		if end < 0 {
			return out.String()
		}
		if from = at + len(t.open) + end; strings.HasPrefix(text[from:], t.ends[0]) {
			from = at + len(t.open) + after
		}
	}
	if from == 0 {
		return text
	}
	out.WriteString(text[from:])
	return out.String()
}

// withoutTurn is a text without the tokens that begin and end the turn of a model, which servers
// leave in an answer.
func withoutTurn(text string) string {
	for {
		text = strings.TrimFunc(text, func(c rune) bool { return unicode.IsSpace(c) || c == '\ufeff' })
		begin, end := turnMark(text), max(strings.LastIndexByte(text, '<'), 0)
		switch {
		case begin > 0: // its role may follow
			text = strings.TrimPrefix(text[begin:], string(callvet.RoleAssistant))
		case end > 0 && turnMark(text[end:]) == len(text)-end:
			text = text[:end]
		default:
			return text
		}
	}
}

// turnMark is the length of the token of a turn at the beginning of a text; 0 where there is none.
func turnMark(text string) int {
	if !strings.HasPrefix(text, "<") {
		return 0
	}
	for _, plain := range [...]string{"<s>", "</s>", "<bos>", "<eos>", "<end_of_turn>", "<end_code>"} {
		if strings.HasPrefix(text, plain) {
			return len(plain)
		}
	}
	name, n := pipedAt(text)
	switch name {
	case "begin_of_text", "start_header_id", "end_header_id", "im_start", "im_end", "eom_id", "eot_id",
		"endoftext", "end_of_text", "begin_of_sentence", "end_of_sentence", "end_of_turn_token":
		return n
	}
	return 0
}

// nextThought finds the next mark that begins a thought and is not quoted.
func nextThought(text string, from int) (at int, t thought) {
	for at = from; ; at++ {
		i := strings.IndexAny(text[at:], "<[◁`~")
		if i < 0 {
			return -1, t
		}
		if at += i; text[at] == '`' || text[at] == '~' {
			at = afterCode(text, at) - 1
			continue
		}
		for _, t = range thoughts() {
			if strings.HasPrefix(text[at:], t.open) {
				return at, t
			}
		}
	}
}

// firstEnd finds the first of some marks in a text, and the byte after it. All begin alike, so
// that one pass finds the first.
func firstEnd(text string, ends []string) (at, after int) {
	first := ends[0][:1]
	for at = 0; ; at++ {
		i := strings.Index(text[at:], first)
		if i < 0 {
			return -1, 0
		}
		at += i
		for _, e := range ends {
			if strings.HasPrefix(text[at:], e) {
				return at, at + len(e)
			}
		}
	}
}

const fence = "```"

// maxInline is how long inline code may be, in bytes.
const maxInline = 2000

// afterCode returns the index after the quoted code that begins at a backtick or a tilde. That is
// a fence up to the fence that closes it or the end, or inline code in one paragraph. Backticks
// that quote nothing are skipped alone.
func afterCode(s string, at int) int {
	n := at
	for n < len(s) && s[n] == s[at] {
		n++
	}
	ticks := s[at:n]
	if s[at] == '~' && len(ticks) < len(fence) {
		return n
	}
	if len(ticks) >= len(fence) && lineStart(s, at) {
		if i := strings.Index(s[n:], "\n"+ticks); i >= 0 {
			return n + i + 1 + len(ticks)
		}
		if i := strings.Index(s[n:], ticks); i >= 0 {
			return n + i + len(ticks)
		}
		return len(s)
	}
	inside := s[n:min(len(s), n+maxInline)]
	if i := strings.Index(inside, "\n\n"); i >= 0 {
		inside = inside[:i]
	}
	for from := 0; ; {
		i := strings.Index(inside[from:], ticks)
		if i < 0 {
			return n
		}
		end := from + i + len(ticks)
		if end == len(inside) || inside[end] != '`' {
			return n + end
		}
		for end < len(inside) && inside[end] == '`' {
			end++
		}
		from = end
	}
}

// lineStart reports whether only white space is before a byte on its line.
func lineStart(s string, at int) bool {
	near := s[max(0, at-maxMargin):at]
	nl := strings.LastIndexByte(near, '\n')
	if nl < 0 && at > maxMargin {
		return false
	}
	return strings.TrimLeft(near[nl+1:], " \t>*-") == ""
}

// maxMargin is how much white space may surround a call on its own line. The bound prevents
// quadratic time on a long line.
const maxMargin = 64

// lineEnd reports whether only white space and an end of a sentence follow on the line.
func lineEnd(s string, at int) bool {
	line, whole := lineAt(s, at, maxMargin)
	return whole && strings.Trim(line, " \t\r.;,") == ""
}

// lineAt is the rest of the line at a byte, up to a limit; whole is false where it continues.
func lineAt(s string, at, limit int) (line string, whole bool) {
	near := s[at:min(len(s), at+limit)]
	if i := strings.IndexByte(near, '\n'); i >= 0 {
		return near[:i], true
	}
	return near, len(s) == at+len(near)
}

// block is one code fence.
type block struct {
	label  string
	inside string
	// from and to are the bytes of the whole fence.
	from, to int
	closed   bool
}

// blocks are the code fences of a text.
func blocks(s string) []block {
	var out []block
	quotes := reader{text: s}
	for at := 0; ; {
		i, tildes := quotes.next(fence, at), quotes.next("~~~", at)
		if i < 0 {
			return out
		}
		if tildes >= 0 && tildes < i { // the content of another fence is quoted
			at = afterCode(s, tildes)
			continue
		}
		if at = i; !lineStart(s, at) {
			// A fence that a model opens after words on the same line is one, too, where a line
			// follows it.
			if line, whole := lineAt(s, at+len(fence), 20); !whole || at+len(fence)+len(line) == len(s) {
				at = skip(s, at, "`")
				continue
			}
		}
		b := block{from: at}
		n := skip(s, at, "`")
		ticks := s[at:n]
		label, whole := lineAt(s, n, 40)
		body := min(len(s), n+len(label)+1)
		if !whole || strings.ContainsAny(label, "[({`<") { // all on one line
			label, body = "", n
		}
		b.label = strings.ToLower(strings.TrimSpace(label))
		end := strings.Index(s[body:], ticks)
		if end < 0 {
			b.inside, b.to = strings.TrimRight(s[body:], "`"), len(s)
			return append(out, b)
		}
		b.inside, b.to, b.closed = s[body:body+end], skip(s, body+end+len(ticks), "`"), true
		out = append(out, b)
		at = b.to
	}
}

// unfenced is the text inside of an answer that is code fences and nothing else.
func unfenced(s string) (inside string, ok bool) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, fence) {
		return s, false
	}
	var parts []string
	at := 0
	for _, b := range blocks(s) {
		if strings.TrimSpace(s[at:b.from]) != "" {
			return s, false
		}
		parts, at = append(parts, strings.TrimSpace(b.inside)), b.to
	}
	if strings.TrimSpace(s[at:]) != "" {
		return s, false
	}
	return strings.Join(parts, "\n"), true
}
