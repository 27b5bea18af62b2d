// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package slicing

import (
	"encoding/binary"
	"math/bits"

	"github.com/callvet/callvet/value"
)

// Finder gives what Names gives for one goroutine, and remembers it by the texts
// of lines: most lines say what an earlier one said.
type Finder struct {
	names  *Names
	sets   map[texts]*known
	latest [1 << latestBits]*known // the frequent ones, found without a map
	key    []byte
	tools  map[string]uint32
	// expecting are the last answers of Expecting.
	expecting []expecting
}

// maxCached bounds the texts that a Finder remembers the meaning of.
const maxCached = 1 << 14

const latestBits = 11

// texts are all that a set is made of, and how long its target and tool are: both
// may hold the NUL that stands after each of them.
type texts struct {
	all          string
	target, tool int
}

// known is the set of certain texts.
type known struct {
	set *Set
	// What Recent tells it by: how long tool and tags are, and their ends; 0 where it
	// does not.
	sizes              uint64
	toolEnds, tagsEnds ends
	tool               string
	tags               string
	others             uint64 // how long target and fields are
	target             string
	fields             string
}

// ends are the first eight bytes of a text, the last eight, and eight between them:
// all there is of a text of eight to 24.
type ends struct{ first, last, mid uint64 }

func endsOf(s []byte) ends {
	n := len(s)
	e := ends{first: binary.LittleEndian.Uint64(s), last: binary.LittleEndian.Uint64(s[n-8:])}
	if n > 16 {
		e.mid = binary.LittleEndian.Uint64(s[8:])
	}
	return e
}

func (e ends) hash() uint64 { return e.first ^ bits.RotateLeft64(e.last, 21) + e.mid }

// brief reports that a text has ends, and that there is no more to it.
func brief(s []byte) bool { return uint(len(s)-8) <= 16 }

// place is where to find those of two texts with these ends.
func place(a, b ends) uint64 {
	return (a.hash() + 3*b.hash()) * odd >> (64 - latestBits)
}

const odd = 0x9E3779B97F4A7C15

// Finder makes a Finder that has seen nothing.
func (n *Names) Finder() Finder {
	return Finder{names: n, sets: map[texts]*known{}, tools: map[string]uint32{}, expecting: make([]expecting, 1<<latestBits)}
}

// Recent is Set of texts that it was asked for of late, if there is neither a target nor
// fields, as in most lines; nil says nothing. It calls nothing, and so has its arguments in
// registers.
func (f *Finder) Recent(target, tool []byte, tags, fields value.Value) *Set {
	if len(target) > 0 || fields.Kind() != value.Invalid || !brief(tool) {
		return nil
	}
	t := tags.Raw()
	if !brief(t) {
		return nil
	}
	a, b := endsOf(tool), endsOf(t)
	k := f.latest[place(a, b)]
	if k == nil || k.sizes != uint64(len(tool))<<32|uint64(len(t)) || k.toolEnds != a || k.tagsEnds != b {
		return nil
	}
	return k.set
}

// Set is Names.Set.
func (f *Finder) Set(target, tool []byte, tags, fields value.Value) *Set {
	t, e := tags.Raw(), fields.Raw()
	if len(target) == 0 && fields.Kind() == value.Invalid && brief(tool) && brief(t) {
		k := f.known(target, tool, tags, fields)
		k.sizes, k.toolEnds, k.tagsEnds = uint64(len(tool))<<32|uint64(len(t)), endsOf(tool), endsOf(t)
		f.latest[place(k.toolEnds, k.tagsEnds)] = k
		return k.set
	}
	h, others := spot(tool)+3*spot(t), uint64(len(target))<<32|uint64(len(e))
	if others != 0 {
		h += 5*spot(e) + 7*spot(target)
	}
	at := &f.latest[h*odd>>(64-latestBits)]
	if k := *at; k != nil && k.others == others && k.tool == string(tool) && k.tags == string(t) &&
		(others == 0 || k.fields == string(e) && k.target == string(target)) {
		return k.set
	}
	k := f.known(target, tool, tags, fields)
	k.others = others
	*at = k
	return k.set
}

// known finds texts that are not among the latest.
func (f *Finder) known(target, tool []byte, tags, fields value.Value) *known {
	t := tags.Raw()
	key := append(f.key[:0], target...)
	key = append(append(key, 0), tool...)
	key = append(append(key, 0), t...)
	key = append(append(key, 0), fields.Raw()...)
	f.key = key
	k := f.sets[texts{string(key), len(target), len(tool)}]
	if k == nil {
		if len(f.sets) >= maxCached {
			clear(f.sets)
		}
		all := string(key)
		a := len(target) + 1
		b := a + len(tool) + 1
		c := b + len(t) + 1
		k = &known{set: f.names.Set(target, tool, tags, fields), target: all[:a-1], tool: all[a : b-1], tags: all[b : c-1], fields: all[c:]}
		f.sets[texts{all, len(target), len(tool)}] = k
	}
	return k
}

// spot is a hash of a text's ends.
func spot(s []byte) uint64 {
	n := len(s)
	if n < 8 {
		if n == 0 {
			return 0
		}
		return uint64(s[0])<<16 | uint64(s[n-1])<<8 | uint64(n)
	}
	return binary.LittleEndian.Uint64(s) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(s[n-8:]), 21) + uint64(n)
}

// Tool is Names.Tool.
func (f *Finder) Tool(name []byte) uint32 {
	if n, ok := f.tools[string(name)]; ok {
		return n
	}
	if len(f.tools) >= maxCached {
		clear(f.tools)
	}
	n := f.names.Tool(name)
	f.tools[string(name)] = n
	return n
}
