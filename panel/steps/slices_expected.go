// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"encoding/binary"
	"slices"

	"github.com/callvet/callvet"
)

func (n *SliceNames) expecting(set *SliceSet, tool string) *SliceSet {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, _ := callvet.SplitTool(tool)
	b := builder{n: n, target: set.Target}
	b.want(callvet.SliceExpectedTool, name, false)
	return n.with(set, b.ids)
}

// Both is the number of the union of two sets of slices by expected tools, given as numbers.
func (n *SliceNames) Both(a, b uint32) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.expectsOf(append(slices.Clone(n.expects[a]), n.expects[b]...))
}

// Expecting is a set extended by the slices by expected tools with the number expects.
func (n *SliceNames) Expecting(set *SliceSet, expects uint32) *SliceSet {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.with(set, n.expects[expects])
}

// with is a set extended by more slices and their crosses.
func (n *SliceNames) with(set *SliceSet, more []uint32) *SliceSet {
	ids := slices.Clone(set.IDs)
	for _, id := range more {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == len(set.IDs) {
		return set
	}
	slices.Sort(ids[1:])
	return n.Same(&SliceSet{Target: set.Target, Tool: set.Tool, IDs: n.crosses(ids)})
}

// expectsOf is the number of the slices by expected tools among ids; 0 for none.
func (n *SliceNames) expectsOf(ids []uint32) uint32 {
	if !n.expected {
		return 0
	}
	var own []uint32
	for _, id := range ids {
		if n.Slices[id].Key == callvet.SliceExpectedTool {
			own = append(own, id)
		}
	}
	if own == nil {
		return 0
	}
	slices.Sort(own)
	own = slices.Compact(own)
	var key []byte
	for _, id := range own {
		key = binary.LittleEndian.AppendUint32(key, id)
	}
	number, known := n.byExpects[string(key)]
	if !known {
		number = uint32(len(n.expects))
		n.expects, n.byExpects[string(key)] = append(n.expects, own), number
	}
	return number
}
