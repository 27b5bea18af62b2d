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
	latest [256]*known // the frequent ones, found without a map
	key    []byte
	tools  map[string]uint32
}

// maxCached bounds the texts that a Finder remembers the meaning of.
const maxCached = 1 << 14

// texts are all that a set is made of, and how long its target and tool are: both
// may hold the NUL that stands after each of them.
type texts struct {
	all          string
	target, tool int
}

// known is the set of certain texts.
type known struct {
	texts
	set *Set
}

// Finder makes a Finder that has seen nothing.
func (n *Names) Finder() Finder {
	return Finder{names: n, sets: map[texts]*known{}, tools: map[string]uint32{}}
}

func (k *known) is(target, tool, tags, fields []byte) bool {
	a := len(target) + 1
	b := a + len(tool) + 1
	c := b + len(tags) + 1
	s := k.all
	return len(s) == c+len(fields) && k.target == len(target) && k.tool == len(tool) && s[a:b-1] == string(tool) && (len(tags) == 0 || s[b:c-1] == string(tags)) &&
		(len(fields) == 0 || s[c:] == string(fields)) && (len(target) == 0 || s[:a-1] == string(target))
}

// Set is Names.Set.
func (f *Finder) Set(target, tool []byte, tags, fields value.Value) *Set {
	t, e := tags.Raw(), fields.Raw()
	at := &f.latest[(spot(tool)+3*spot(t)+5*spot(e)+7*spot(target))*0x9E3779B97F4A7C15>>56]
	if k := *at; k != nil && k.is(target, tool, t, e) {
		return k.set
	}
	key := append(f.key[:0], target...)
	key = append(append(key, 0), tool...)
	key = append(append(key, 0), t...)
	key = append(append(key, 0), e...)
	f.key = key
	k := f.sets[texts{string(key), len(target), len(tool)}]
	if k == nil {
		if len(f.sets) >= maxCached {
			clear(f.sets)
		}
		k = &known{texts{string(key), len(target), len(tool)}, f.names.Set(target, tool, tags, fields)}
		f.sets[k.texts] = k
	}
	*at = k
	return k.set
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
