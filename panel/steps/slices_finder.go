// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"encoding/binary"

	"github.com/callvet/callvet/value"
)

// SliceFinder is a cache of SliceNames for one goroutine, by the texts of lines: most lines have the same
// texts as an earlier one.
type SliceFinder struct {
	names     *SliceNames
	sets      map[string]*SliceSet // by the key of a line
	key       []byte
	tools     map[string]uint32
	expecting map[expected]*SliceSet
}

// expected is the set of a line, and a tool that its task expects.
type expected struct {
	set  *SliceSet
	tool string
}

// maxCached bounds the texts in the cache of a SliceFinder.
const maxCached = 1 << 14

// Finder makes an empty SliceFinder.
func (n *SliceNames) Finder() SliceFinder {
	return SliceFinder{
		names: n, sets: map[string]*SliceSet{}, tools: map[string]uint32{}, expecting: map[expected]*SliceSet{},
	}
}

// Set is SliceNames.Set.
func (f *SliceFinder) Set(target, tool []byte, tags, fields value.Value) *SliceSet {
	f.key = f.key[:0]
	for _, text := range [...][]byte{target, tool, tags.Raw(), fields.Raw()} {
		f.key = append(binary.AppendUvarint(f.key, uint64(len(text))), text...)
	}
	if set := f.sets[string(f.key)]; set != nil {
		return set
	}
	if len(f.sets) >= maxCached {
		clear(f.sets)
	}
	set := f.names.Set(target, tool, tags, fields)
	f.sets[string(f.key)] = set
	return set
}

// Expecting is a set extended by the slice of an expected tool.
func (f *SliceFinder) Expecting(set *SliceSet, tool []byte) *SliceSet {
	if !f.names.expected {
		return set
	}
	if out := f.expecting[expected{set, string(tool)}]; out != nil {
		return out
	}
	if len(f.expecting) >= maxCached {
		clear(f.expecting)
	}
	out := f.names.expecting(set, string(tool))
	f.expecting[expected{set, string(tool)}] = out
	return out
}

// Tool is SliceNames.Tool.
func (f *SliceFinder) Tool(name []byte) uint32 {
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
