// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
)

// part is an untrusted text with a trusted title.
type part struct {
	title, text string
	// rest is the result of a call that succeeded. It is the first to be shortened.
	rest string
	kind weight
	// tool is the called tool.
	tool string
	// last marks a part of the last turns, which are shown at length.
	last bool
}

// weight is the importance of a part in a summary.
type weight int8

const (
	talk   weight = iota // intermediate texts
	made                 // a call that succeeded
	failed               // a call that did not
	kept                 // question and answer: never left out
)

// evidence is the text for a judge about one attempt, call or turn.
type evidence struct {
	head  string // trusted text
	parts []part
}

func (e *evidence) add(title, text string) { e.parts = append(e.parts, part{title: title, text: text}) }

func (e *evidence) must(title, text string) {
	e.parts = append(e.parts, part{title: title, text: text, kind: kept})
}

// call adds a call with its result; the result of a failed call is shown in full.
func (e *evidence) call(title string, c *callvet.Call, result string) {
	p := part{title: title, text: c.Tool + " " + args(c), kind: made, tool: callvet.ToolName(c.Tool)}
	if c.Status != "" && c.Status != callvet.StatusOK {
		p.text += "\nstatus: " + string(c.Status)
	}
	switch {
	case result == "":
		p.text += "\nno result is recorded"
	case match.Failure(c) != "":
		p.kind, p.text = failed, p.text+"\nresult: "+result
	default:
		p.rest = "result: " + result
	}
	e.parts = append(e.parts, p)
}

// A summary of long evidence shows at least this many bytes of a text, and the last parts at
// length.
const (
	smallest  = 160
	lastParts = 6
)

// render writes the evidence in at most about limit bytes. Longer evidence is shortened by rule:
// first results of successful calls, then intermediate texts, then all texts. If that is still too
// long, parts between the beginning and the last turns are left out: first texts, then successful
// calls, then failed calls. Omissions are counted, also by tool, and reported outside the fences,
// where no foreign text can be.
func (e *evidence) render(limit int) string {
	parts := make([]part, len(e.parts))
	for i, p := range e.parts {
		p.text, p.rest, p.last = clean(p.text), clean(p.rest), i >= len(e.parts)-lastParts
		parts[i] = p
	}
	s := summary{
		parts: parts, limit: limit, head: e.head, text: limit, talk: limit, rest: limit, lastRest: limit,
		mark: markOf(parts),
	}
	s.shorten()
	s.leaveOut()
	return s.write()
}

// summary is shortened evidence. The numbers are the largest number of shown bytes for a text of
// each kind.
type summary struct {
	head, mark                 string
	parts                      []part
	limit                      int
	text, talk, rest, lastRest int
	left                       [kept]int // parts that are left out, by kind
	tools                      []string  // that were called in these parts
}

// most are the largest numbers of shown bytes of the text and of the rest of a part.
func (s *summary) most(p *part) (text, rest int) {
	text, rest = s.text, s.rest
	if p.kind == talk && !p.last {
		text = min(text, s.talk)
	}
	if p.last {
		rest = s.lastRest
	}
	return text, rest
}

func (s *summary) over() int {
	n := len(s.head)
	for i := range s.parts {
		p := &s.parts[i]
		text, rest := s.most(p)
		n += min(len(p.text), text) + min(len(p.rest), rest) + len(p.title) + 2*len(s.mark) + 64
	}
	return n - s.limit
}

// shorten shortens the texts, the least important first.
func (s *summary) shorten() {
	for _, of := range []struct {
		most  *int
		least int
	}{
		{&s.rest, smallest},
		{&s.talk, smallest},
		{&s.lastRest, 8 * smallest},
		{&s.text, 8 * smallest},
		{&s.rest, 0},
		{&s.lastRest, smallest},
		{&s.text, smallest},
	} {
		for *of.most > of.least && s.over() > 0 {
			if *of.most = *of.most * 3 / 4; *of.most < max(of.least, smallest/4) {
				*of.most = of.least
			}
		}
	}
}

// leaveOut leaves parts out, the least important first, and among these the nearest to the
// middle.
func (s *summary) leaveOut() {
	for _, last := range []bool{false, true} {
		for k := talk; k < kept; k++ {
			for s.over() > 0 {
				at := s.middle(k, last)
				if at < 0 {
					break
				}
				p := &s.parts[at]
				s.left[k]++
				if p.tool != "" {
					s.tools = append(s.tools, p.tool)
				}
				s.parts = append(s.parts[:at:at], s.parts[at+1:]...)
			}
		}
	}
}

// middle is the part of a kind nearest to the middle; -1: none.
func (s *summary) middle(k weight, last bool) int {
	best, n := -1, len(s.parts)
	for i := range s.parts {
		p := &s.parts[i]
		if d := abs(2*i - n); p.kind == k && p.last == last && (best < 0 || d < abs(2*best-n)) {
			best = i
		}
	}
	return best
}

func (s *summary) write() string {
	var b strings.Builder
	b.WriteString(s.head)
	if n := s.left[talk] + s.left[made] + s.left[failed]; n > 0 {
		fmt.Fprintf(&b,
			"\nTo keep this short, %d parts in the middle are not shown: %d messages, %d calls that succeeded, %d calls that failed. Do not take them for missing.",
			n, s.left[talk], s.left[made], s.left[failed])
	}
	if len(s.tools) > 0 {
		fmt.Fprintf(&b, "\n\nThe calls that are not shown, by tool:\n<<<%s\n%s\n%s>>>", s.mark,
			shortList(s.tools), s.mark)
	}
	for i := range s.parts {
		p := &s.parts[i]
		textMost, restMost := s.most(p)
		text, cut := shorten(p.text, textMost)
		rest, gone := shorten(p.rest, restMost)
		if rest != "" {
			text += "\n" + rest
		}
		fmt.Fprintf(&b, "\n\n%s", p.title)
		if cut+gone > 0 {
			fmt.Fprintf(&b, " (%d of %d bytes are not shown)", cut+gone, len(p.text)+len(p.rest))
		}
		fmt.Fprintf(&b, ":\n<<<%s\n%s\n%s>>>", s.mark, text, s.mark)
	}
	return b.String()
}

// shortList counts names, the most frequent first.
func shortList(names []string) string {
	const most = 20
	n := map[string]int{}
	for _, name := range names {
		n[name]++
	}
	order := slices.SortedFunc(maps.Keys(n),
		func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) })
	var out []string
	for _, name := range order[:min(most, len(order))] {
		short, _ := shorten(name, smallest/2)
		out = append(out, fmt.Sprintf("%s: %d", short, n[name]))
	}
	if len(order) > most {
		out = append(out, fmt.Sprintf("and %d more tools", len(order)-most))
	}
	return strings.Join(out, "\n")
}

func abs(n int) int { return max(n, -n) }

// markOf makes the mark of the fences: a hash of the fenced texts that occurs in none of them.
func markOf(parts []part) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p.text))
		h.Write([]byte(p.rest))
		h.Write([]byte{0})
	}
	sum := h.Sum(nil)
	for {
		mark := hex.EncodeToString(sum[:6])
		taken := false
		for _, p := range parts {
			taken = taken || strings.Contains(p.text, mark) || strings.Contains(p.rest, mark)
		}
		if !taken {
			return mark
		}
		next := sha256.Sum256(sum)
		sum = next[:]
	}
}

// shorten keeps the beginning and the end of a text; cut is the number of removed bytes.
func shorten(s string, most int) (_ string, cut int) {
	switch {
	case len(s) <= most:
		return s, 0
	case most == 0:
		return "", len(s)
	}
	head, tail := most*2/3, most/3
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	from := len(s) - tail
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[:head] + "\n[…]\n" + s[from:], from - head
}

// clean makes a text valid UTF-8 without control characters of terminals, and without text that
// looks like a fence.
func clean(s string) string {
	s = strings.NewReplacer("<<<", "< < <", ">>>", "> > >").Replace(s)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
			return -1
		case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200b || r == 0xfeff:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
