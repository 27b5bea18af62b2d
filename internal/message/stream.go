// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Piece is the part of a call in one event of a stream. A server may leave any member out.
type Piece struct {
	// Index is the position of the call in the answer; the zero Value without one.
	Index    value.Value
	ID, Name string
	// Args is the text of the arguments in this event.
	Args string
	// Alone is a piece that no other piece belongs to: an element that is no object.
	Alone bool
	// Custom is a piece of a call of a custom tool: Args is a text, not JSON.
	Custom bool
	index  int // Index, read; -1: none
}

// Calls puts the calls of a streamed answer together, for all wires and agents. The zero value
// is ready.
//
// Servers differ in what they send. The pieces of a call have the same id, else the same index,
// else they follow each other. A different id with a name is a different call, even under the
// same index. Names and arguments arrive in parts, or each piece repeats the earlier parts.
type Calls struct {
	parts []Piece
}

// joined is a call under construction.
type joined struct {
	index  int
	id     string
	names  []string
	args   Pieces
	custom bool
}

// Add adds the next piece.
func (s *Calls) Add(p Piece) {
	p.index, p.Index = indexOf(p.Index), value.Value{} // its memory is reused
	s.parts = append(s.parts, p)
}

// indexOf reads an index, which some servers write as a text.
func indexOf(v value.Value) int {
	const most = 1 << 20
	switch v.Kind() {
	case value.Number:
		if f, ok := v.Float(); ok && f >= 0 && f < most {
			return int(f)
		}
	case value.String:
		if n, err := strconv.Atoi(strings.TrimSpace(v.Str())); err == nil && n >= 0 && n < most {
			return n
		}
	}
	return -1
}

// List returns the calls, in the order of their indexes. tools are the offered tools: their names
// decide where a name in several pieces can be read in two ways; nil: unknown.
func (s *Calls) List(tools *callvet.Toolset) []callvet.Call {
	l := known{tools: tools, places: map[place]*joined{}, ids: map[string]*joined{}}
	indexed := true
	for i := range s.parts {
		p := &s.parts[i]
		c := l.find(p)
		if c == nil {
			c = &joined{index: p.index, id: p.ID}
			l.list = append(l.list, c)
			indexed = indexed && p.index >= 0
		}
		c.add(p)
		l.places[place{c.id, c.index}], l.places[place{"", c.index}], l.ids[c.id] = c, c, c
	}
	if indexed {
		slices.SortStableFunc(l.list, func(a, b *joined) int { return a.index - b.index })
	}
	var out []callvet.Call
	for _, c := range l.list {
		read := NewCall
		if c.custom {
			read = NewCustomCall
		}
		out = append(out, read(c.id, nameOf(c.names, tools), c.args.Text()))
	}
	return out
}

// ChatCalls puts the calls of the chunks of a chat completion together, also those in the older form
// function_call. The zero value is ready.
type ChatCalls struct{ list, old Calls }

// Add adds the delta of a chunk, and returns the number of its pieces. A value in place of the
// list is one piece.
func (s *ChatCalls) Add(delta value.Value) (pieces int) {
	list := first(delta, "tool_calls")
	switch {
	case list.Kind() == value.Array:
		for e, ok := list.First(); ok; e, ok = list.Next(e) {
			s.element(e)
		}
		pieces = list.Len()
	case !Empty(list):
		s.element(list)
		pieces = 1
	}
	if f := first(delta, "function_call"); !Empty(f) {
		s.old.Add(Piece{Name: first(f, "name").Str(), Args: argsText(first(f, "arguments"))})
		pieces++
	}
	return pieces
}

// Take adds a piece of a call from elsewhere.
func (s *ChatCalls) Take(p Piece) { s.list.Add(p) }

// element adds an element of tool_calls. Some servers write an empty custom call next to the
// function of every call.
func (s *ChatCalls) element(e value.Value) {
	p := Piece{Index: first(e, "index"), ID: first(e, "id").Str()}
	f, in := first(e, "function"), first(e, "custom")
	p.Name, p.Args, p.Alone = first(f, "name").Str(), argsText(first(f, "arguments")), e.Kind() != value.Object
	if name := first(in, "name").Str(); !Empty(in) && (name != "" || p.Name == "") {
		p.Name, p.Args, p.Custom = name, argsText(first(in, "input")), true
	}
	s.list.Add(p)
}

// List returns the calls, as Calls.List does.
func (s *ChatCalls) List(tools *callvet.Toolset) []callvet.Call {
	return MergeCalls(s.list.List(tools), s.old.List(tools))
}

// known holds the calls so far.
type known struct {
	tools  *callvet.Toolset
	list   []*joined
	places map[place]*joined // the newest call of an id and an index; without an id, of an index
	ids    map[string]*joined
}

type place struct {
	id    string
	index int
}

func (c *joined) add(p *Piece) {
	const mostNames = 256
	if c.id == "" {
		c.id = p.ID
	}
	if c.index < 0 {
		c.index = p.index
	}
	// A name that comes after arguments is a repetition.
	if p.Name != "" && (c.args.Empty() || len(c.names) == 0) && len(c.names) < mostNames {
		c.names = append(c.names, p.Name)
	}
	c.args.Add(p.Args)
	c.custom = c.custom || p.Custom
}

// find is the call that a piece belongs to; nil for a new one.
func (l *known) find(p *Piece) *joined {
	if p.Alone || len(l.list) == 0 {
		return nil
	}
	if c := l.byID(p); c != nil {
		if p.Name != "" && c.args.whole() && begins(p.Args) && !c.args.grows(p.Args) {
			return nil // the same id again, for another call
		}
		return c
	}
	near := l.list[len(l.list)-1]
	if p.index >= 0 {
		switch c := l.places[place{"", p.index}]; {
		case c != nil:
			near = c
		case near.index >= 0 || p.Name != "":
			return nil
		}
	}
	if near.takes(p, l.tools) {
		return near
	}
	return nil
}

func (l *known) byID(p *Piece) *joined {
	switch {
	case p.ID == "":
		return nil
	case p.index < 0:
		return l.ids[p.ID]
	}
	if c := l.places[place{p.ID, p.index}]; c != nil {
		return c
	}
	return l.places[place{p.ID, -1}]
}

// takes reports whether a piece with a different id continues the call.
func (c *joined) takes(p *Piece, tools *callvet.Toolset) bool {
	another := p.ID != "" && c.id != "" // some servers make a new id for every piece
	if p.Name == "" {
		return !another || !c.args.whole() || c.args.grows(p.Args)
	}
	named := p.Name == nameOf(c.names, tools) || p.Name == nameOf(c.names, nil)
	switch {
	case another:
		return named && !c.args.whole() && !c.args.Empty() && !begins(p.Args)
	case named && c.args.whole():
		return !begins(p.Args) || p.index >= 0 && c.args.grows(p.Args)
	case named:
		return true
	case !c.args.Empty():
		return false
	}
	return len(c.names) == 0 || p.index >= 0 || goesOn(nameOf(c.names, nil)+p.Name, c.names, tools)
}

// goesOn reports whether a text begins the name of an offered tool, and the names so far are
// no name of one.
func goesOn(text string, names []string, tools *callvet.Toolset) bool {
	if tools == nil || tools.Find(nameOf(names, nil)) != nil {
		return false
	}
	return slices.ContainsFunc(tools.Tools, func(t callvet.Tool) bool { return strings.HasPrefix(t.Name, text) })
}

// begins reports whether a text can be the beginning of arguments.
func begins(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text == "" || text[0] == '{' || text[0] == '"'
}

// nameOf is the name from several pieces: all of them joined, or the last piece, where each
// repeats the earlier pieces.
func nameOf(names []string, tools *callvet.Toolset) string {
	all := strings.Join(names, "")
	if len(names) < 2 || tools != nil && tools.Find(all) != nil {
		return all
	}
	last := names[len(names)-1]
	if repeats(names, last) || all == last+last {
		return last
	}
	return all
}

// repeats reports whether a text begins with each of some others.
func repeats(texts []string, last string) bool {
	return !slices.ContainsFunc(texts, func(t string) bool { return !strings.HasPrefix(last, t) })
}

// Pieces puts the arguments of one call together. The zero value is ready.
type Pieces struct {
	texts []string
	all   brackets // of all texts, one after the other
	one   brackets // of the newest text
	chain bool     // every text begins with the one before it
	over  bool     // something follows the end that is no repetition
}

// Add adds the next piece.
func (a *Pieces) Add(text string) {
	if text == "" {
		return
	}
	if strings.TrimSpace(text) != "" && a.all.closed() && !a.over {
		if a.over = !a.grows(text); !a.over {
			*a = Pieces{} // only a repetition can follow the end
		}
	}
	n := len(a.texts)
	a.chain = n == 0 || a.chain && strings.HasPrefix(text, a.texts[n-1])
	a.texts = append(a.texts, text)
	a.all.read(text)
	a.one = brackets{}
	a.one.read(text)
}

// Text are the arguments: the joined pieces, if they are JSON. Otherwise it is the last piece, if
// this is JSON and repeats the earlier pieces. Otherwise it is the joined pieces, which cannot be
// read.
func (a *Pieces) Text() string { return join(a.texts, a.chain) }

func join(texts []string, chain bool) string {
	all := strings.Join(texts, "")
	n := len(texts)
	if n < 2 || value.Valid([]byte(all)) {
		return all
	}
	last := texts[n-1]
	if chain && value.Valid([]byte(last)) {
		return last
	}
	if after, err := value.Parse([]byte(last)); err == nil && after.Kind() == value.Object {
		if !slices.ContainsFunc(texts[:n-1], func(t string) bool { return !growsTo(t, last, after) }) {
			return last
		}
	}
	return all
}

// Empty reports whether no piece came.
func (a *Pieces) Empty() bool { return len(a.texts) == 0 }

// whole reports whether the arguments so far have an end.
func (a *Pieces) whole() bool {
	return a.all.closed() || a.chain && a.one.closed()
}

// grows reports whether a text repeats the arguments so far, or adds nothing to them.
func (a *Pieces) grows(text string) bool {
	if strings.TrimSpace(text) == "" || len(a.texts) == 0 {
		return true
	}
	switch first := a.texts[0]; {
	case a.over:
		return false
	case a.chain && strings.HasPrefix(text, a.texts[len(a.texts)-1]):
		return true
	case len(a.texts) == 1 && strings.TrimSpace(first) == "{}": // which is only a placeholder for the arguments
		return begins(text)
	}
	after, err := value.Parse([]byte(text))
	return err == nil && growsTo(a.Text(), text, after)
}

// growsTo reports whether before is an earlier state of text. after is the value of text.
func growsTo(before, text string, after value.Value) bool {
	if strings.HasPrefix(text, before) {
		return true
	}
	b, err := value.Parse([]byte(before))
	return err == nil && b.Kind() == value.Object && grown(b, after)
}

// grown reports whether b is an earlier state of a: a contains everything in b, and texts and
// lists may be longer.
func grown(b, a value.Value) bool {
	if b.Kind() != a.Kind() {
		return b.Kind() == value.Null
	}
	switch b.Kind() {
	case value.Object:
		for m, ok := b.First(); ok; m, ok = b.Next(m) {
			if n, is := a.Get(m.Key()); !is || !grown(m, n) {
				return false
			}
		}
		return true
	case value.Array:
		n, more := a.First()
		for m, ok := b.First(); ok; m, ok = b.Next(m) {
			if !more || !grown(m, n) {
				return false
			}
			n, more = a.Next(n)
		}
		return true
	case value.String:
		return strings.HasPrefix(a.Str(), b.Str())
	}
	return bytes.Equal(b.Raw(), a.Raw())
}

// brackets counts the open brackets of JSON text that arrives in parts.
type brackets struct {
	depth              int
	begun, text, slash bool
}

func (b *brackets) read(s string) {
	for i := range len(s) {
		c := s[i]
		switch {
		case b.slash:
			b.slash = false
		case b.text:
			b.slash, b.text = c == '\\', c != '"'
		case c == '"':
			b.text, b.begun = true, true
		case c == '{' || c == '[':
			b.depth, b.begun = b.depth+1, true
		case c == '}' || c == ']':
			b.depth--
		}
	}
}

func (b *brackets) closed() bool { return b.begun && !b.text && b.depth <= 0 }
