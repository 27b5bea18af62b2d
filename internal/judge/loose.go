// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind of a node.
type kind uint8

const (
	textNode kind = iota
	wordNode      // true, false, null, yes, a number: any text without quotes
	listNode
	objectNode
)

// node is one value of a text that is JSON, or nearly. An object may have a key twice.
type node struct {
	kind kind
	text string
	keys []string // of an object, as written
	kids []node   // of an object and a list
	// cut: the text ended before the value.
	cut bool
}

// maxLoose bounds how deep values nest.
const maxLoose = 64

// loose reads JSON as models write it: single quotes, unquoted words, superfluous or missing
// commas, quotes within a text, a missing end. It never fails: an invalid value becomes an empty
// word.
type loose struct {
	s string
	i int
	// strict ends a text at its next quote; else a quote ends it only where a text can end.
	strict bool
}

// looseObject reads the object that begins at i of s and returns its end.
func looseObject(s string, i int, strict bool) (node, int) {
	p := loose{s: s, i: i, strict: strict}
	n := p.value(0)
	return n, p.i
}

func (p *loose) space() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *loose) value(depth int) node {
	p.space()
	if p.i >= len(p.s) || depth > maxLoose {
		p.i = len(p.s)
		return node{kind: wordNode, cut: true}
	}
	switch p.s[p.i] {
	case '{':
		return p.object(depth)
	case '[':
		return p.list(depth)
	}
	if q := p.quote(); q != "" {
		text, cut := p.quoted(q)
		return node{kind: textNode, text: text, cut: cut}
	}
	word, cut := p.word(",}]\n\"")
	return node{kind: wordNode, text: word, cut: cut}
}

func (p *loose) object(depth int) node {
	n := node{kind: objectNode}
	for p.i++; ; {
		p.skip(",")
		if p.i >= len(p.s) {
			n.cut = true
			return n
		}
		if p.s[p.i] == '}' {
			p.i++
			return n
		}
		start := p.i
		key, cut := p.key()
		p.space()
		if cut || p.i >= len(p.s) {
			n.cut = true
			return n
		}
		if p.s[p.i] != ':' { // no member: continue after it
			if p.i == start {
				p.i++
			}
			continue
		}
		p.i++
		n.keys, n.kids = append(n.keys, key), append(n.kids, p.value(depth+1))
	}
}

func (p *loose) list(depth int) node {
	n := node{kind: listNode}
	for p.i++; ; {
		p.skip(",")
		if p.i >= len(p.s) {
			n.cut = true
			return n
		}
		if p.s[p.i] == ']' {
			p.i++
			return n
		}
		start := p.i
		v := p.value(depth + 1)
		if p.i == start { // not a value
			p.i++
			continue
		}
		n.kids = append(n.kids, v)
	}
}

// skip passes over spaces and the characters of set.
func (p *loose) skip(set string) {
	for p.space(); p.i < len(p.s) && strings.IndexByte(set, p.s[p.i]) >= 0; p.space() {
		p.i++
	}
}

func (p *loose) key() (string, bool) {
	if q := p.quote(); q != "" {
		return p.quoted(q)
	}
	return p.word(":,}\n\"")
}

// quote is the closing quote of the text that begins here; "" where none does.
func (p *loose) quote() string {
	for _, pair := range [...][2]string{{`"`, `"`}, {"'", "'"}, {"“", "”"}, {"`", "`"}} {
		if strings.HasPrefix(p.s[p.i:], pair[0]) {
			p.i += len(pair[0])
			return pair[1]
		}
	}
	return ""
}

// quoted reads up to the closing quote.
func (p *loose) quoted(end string) (text string, cut bool) {
	var b strings.Builder
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == '\\' && p.i+1 < len(p.s):
			p.escape(&b)
		case strings.HasPrefix(p.s[p.i:], end) && (p.strict || p.ends(p.i+len(end))):
			p.i += len(end)
			return b.String(), false
		default:
			b.WriteByte(c)
			p.i++
		}
	}
	return b.String(), true
}

// ends reports whether a text may end before i, judged by the text after it.
func (p *loose) ends(i int) bool {
	rest := strings.TrimLeft(p.s[i:], " \t\r\n")
	return rest == "" || strings.IndexByte(",:}]", rest[0]) >= 0
}

func (p *loose) escape(b *strings.Builder) {
	c := p.s[p.i+1]
	p.i += 2
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r', 'b', 'f':
	case 'u':
		if p.i+4 <= len(p.s) {
			if r, err := strconv.ParseUint(p.s[p.i:p.i+4], 16, 32); err == nil {
				b.WriteRune(rune(r))
				p.i += 4
			}
		}
	default:
		b.WriteByte(c)
	}
}

// word reads an unquoted word. A word at the end of the text may be incomplete: it counts as cut.
func (p *loose) word(until string) (string, bool) {
	from := p.i
	for p.i < len(p.s) && strings.IndexByte(until, p.s[p.i]) < 0 {
		p.i++
	}
	return strings.TrimFunc(p.s[from:p.i], unicode.IsSpace), p.i >= len(p.s)
}

// objects finds the objects of a text, the outer ones only.
func objects(text string) []node {
	if whole := strings.TrimSpace(text); json.Valid([]byte(whole)) {
		n, _ := looseObject(whole, 0, true)
		switch n.kind {
		case objectNode:
			return []node{n}
		case listNode:
			var out []node
			for _, k := range n.kids {
				if k.kind == objectNode {
					out = append(out, k)
				}
			}
			return out
		case textNode: // JSON within a text
			if strings.HasPrefix(strings.TrimSpace(n.text), "{") {
				return objects(n.text)
			}
		}
		return nil
	}
	var out []node
	for i := 0; i < len(text) && len(out) < maxObjects; {
		at := strings.IndexByte(text[i:], '{')
		if at < 0 {
			break
		}
		i += at
		n, end := strictObject(text, i)
		out = append(out, n)
		i = end
	}
	return out
}

// maxObjects is how many objects of one answer are read.
const maxObjects = 64

// strictObject reads an object by the rules of JSON if it follows them, and loosely otherwise.
func strictObject(text string, i int) (node, int) {
	d := json.NewDecoder(strings.NewReader(text[i:]))
	var raw json.RawMessage
	if d.Decode(&raw) == nil {
		n, _ := looseObject(string(raw), 0, true)
		return n, i + int(d.InputOffset())
	}
	return looseObject(text, i, false)
}

// get returns the values of a key in any case and spelling: fail_reasons and "Fail Reasons" are
// one. It omits values that were cut off.
func (n *node) get(names ...string) []*node {
	var out []*node
	for i := range n.keys {
		for _, name := range names {
			if folded(n.keys[i]) == folded(name) && !(n.kids[i].cut && n.kids[i].kind != listNode) {
				out = append(out, &n.kids[i])
			}
		}
	}
	return out
}

// folded is a name without case, spaces and punctuation.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// texts are the texts of a list, or the one text in its place.
func (n *node) texts() []string {
	if n.kind != listNode {
		if t := strings.TrimSpace(n.text); n.kind != objectNode && t != "" && !empty(t) {
			return []string{t}
		}
		return nil
	}
	var out []string
	for i := range n.kids {
		if t := strings.TrimSpace(n.kids[i].text); t != "" && !empty(t) {
			out = append(out, t)
		}
	}
	return out
}

// empty are the words for nothing.
func empty(s string) bool {
	switch strings.ToLower(s) {
	case "null", "none", "nil", "n/a", "[]", "-":
		return true
	}
	return false
}

// append writes the node as JSON.
func (n *node) append(b []byte) []byte {
	switch n.kind {
	case objectNode:
		b = append(b, '{')
		for i := range n.kids {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, n.keys[i]), ':')
			b = n.kids[i].append(b)
		}
		return append(b, '}')
	case listNode:
		b = append(b, '[')
		for i := range n.kids {
			if i > 0 {
				b = append(b, ',')
			}
			b = n.kids[i].append(b)
		}
		return append(b, ']')
	case wordNode:
		switch w := strings.ToLower(n.text); w {
		case "true", "false", "null":
			return append(b, w...)
		case "none":
			return append(b, "null"...)
		}
		if json.Valid([]byte(n.text)) {
			return append(b, n.text...)
		}
	}
	return appendText(b, n.text)
}

func appendText(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	q, err := json.Marshal(s)
	if err != nil { // texts always encode
		return append(b, `""`...)
	}
	return append(b, q...)
}
