// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// part is a text that somebody else wrote, with a title of our own.
type part struct {
	title, text string
	// keep tells a part that is never left out: what was asked, what was answered.
	keep bool
}

// evidence is what a judge is shown of one thing.
type evidence struct {
	head  string // of our own words
	parts []part
}

func (e *evidence) add(title, text string) { e.parts = append(e.parts, part{title: title, text: text}) }

func (e *evidence) must(title, text string) {
	e.parts = append(e.parts, part{title: title, text: text, keep: true})
}

// smallest is what is left of a part before whole parts are left out, in bytes.
const smallest = 160

// render writes the evidence in at most about limit bytes. Long parts are cut in their middle
// and then parts in the middle are left out; both is said outside the fences, where no text
// can say it.
func (e *evidence) render(limit int) string {
	parts := make([]part, len(e.parts))
	for i, p := range e.parts {
		p.text = clean(p.text)
		parts[i] = p
	}
	mark := markOf(parts)
	over := func(most int) int {
		n := len(e.head)
		for _, p := range parts {
			n += min(len(p.text), most) + len(p.title) + 2*len(mark) + 64
		}
		return n - limit
	}
	most := limit
	for most > smallest && over(most) > 0 {
		most = max(smallest, most*3/4)
	}
	left := 0
	for over(most) > 0 {
		at := middle(parts)
		if at < 0 {
			break
		}
		parts = append(parts[:at:at], parts[at+1:]...)
		left++
	}
	var b strings.Builder
	b.WriteString(e.head)
	if left > 0 {
		fmt.Fprintf(&b, "\n%d parts in the middle are not shown, to keep this short: do not take them for missing.", left)
	}
	for _, p := range parts {
		text, cut := shorten(p.text, most)
		fmt.Fprintf(&b, "\n\n%s", p.title)
		if cut > 0 {
			fmt.Fprintf(&b, " (%d of %d bytes are not shown)", cut, len(p.text))
		}
		fmt.Fprintf(&b, ":\n<<<%s\n%s\n%s>>>", mark, text, mark)
	}
	return b.String()
}

// middle is the part nearest to the middle that may be left out; -1: none.
func middle(parts []part) int {
	best := -1
	for i := range parts {
		if d := abs(2*i - len(parts)); !parts[i].keep && (best < 0 || d < abs(2*best-len(parts))) {
			best = i
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// markOf makes the mark of the fences. It is a hash of all that is fenced, and stands in none
// of it.
func markOf(parts []part) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p.text))
		h.Write([]byte{0})
	}
	sum := h.Sum(nil)
	for {
		mark := hex.EncodeToString(sum[:6])
		taken := false
		for _, p := range parts {
			taken = taken || strings.Contains(p.text, mark)
		}
		if !taken {
			return mark
		}
		next := sha256.Sum256(sum)
		sum = next[:]
	}
}

// shorten keeps the beginning and the end of a text; cut is how many bytes went.
func shorten(s string, most int) (_ string, cut int) {
	if len(s) <= most {
		return s, 0
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

// clean makes a text valid UTF-8 without characters that only a terminal would heed, and
// without what looks like a fence.
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
