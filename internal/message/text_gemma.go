// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strings"
)

// gemmaArgs reads the arguments of Gemma's calls, {key:<escape>text<escape>,n:3}: keys are not
// quoted, and texts are between marks. They become JSON.
type gemmaArgs struct{ python }

func (g *gemmaArgs) object(out []byte, depth int) ([]byte, bool) {
	if depth > maxPythonDepth || !g.eat('{') {
		return out, false
	}
	out = append(out, '{')
	seen := map[string]bool{}
	for !g.eat('}') {
		if len(seen) > 0 {
			out = append(out, ',')
		}
		key, ok := g.quoted()
		if !ok {
			end := strings.IndexAny(g.src[g.at:min(len(g.src), g.at+maxTag)], ":,{}<")
			if end <= 0 {
				return out, false
			}
			key = strings.Trim(g.src[g.at:g.at+end], " \t\r\n\"")
			g.at += end
		}
		if key == "" || seen[key] || !g.eat(':') {
			return out, false
		}
		seen[key] = true
		if out, ok = g.value(append(appendString(out, key), ':'), depth); !ok {
			return out, false
		}
		if !g.eat(',') && g.peek() != '}' {
			return out, false
		}
	}
	return append(out, '}'), true
}

func (g *gemmaArgs) list(out []byte, depth int) ([]byte, bool) {
	if depth > maxPythonDepth || !g.eat('[') {
		return out, false
	}
	out = append(out, '[')
	for n := 0; !g.eat(']'); n++ {
		if n > 0 {
			out = append(out, ',')
		}
		var ok bool
		if out, ok = g.value(out, depth); !ok {
			return out, false
		}
		if !g.eat(',') && g.peek() != ']' {
			return out, false
		}
	}
	return append(out, ']'), true
}

func (g *gemmaArgs) value(out []byte, depth int) ([]byte, bool) {
	g.space()
	if s, ok := g.quoted(); ok {
		return appendString(out, s), true
	}
	switch g.peek() {
	case '{':
		return g.object(out, depth+1)
	case '[':
		return g.list(out, depth+1)
	}
	from := g.at
	out, ok := g.literal(out, depth)
	return out, ok && g.at > from
}

// quoted reads a text between two marks.
func (g *gemmaArgs) quoted() (string, bool) {
	g.space()
	for _, q := range [...]string{"<escape>", `<|"|>`} {
		rest, ok := strings.CutPrefix(g.src[g.at:], q)
		if !ok {
			continue
		}
		s, _, ok := strings.Cut(rest, q)
		if !ok {
			return "", false
		}
		g.at += len(s) + 2*len(q)
		return s, true
	}
	return "", false
}
