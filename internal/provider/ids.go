// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/callvet/callvet"
)

// ownID names a call that came without an id. Nine letters and digits are what
// every provider takes.
func ownID(turn, call int) string { return fmt.Sprintf("c%04d%04d", turn%10000, call%10000) }

// isOwnID tells the ids of ownID from those that a provider gave.
func isOwnID(id string) bool {
	if len(id) != 9 || id[0] != 'c' {
		return false
	}
	_, err := strconv.ParseUint(id[1:], 10, 32)
	return err == nil
}

// shortID is id where it has nine letters and digits, else nine made from it.
func shortID(id string) string {
	plain := func(c rune) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	if len(id) == 9 && !slices.ContainsFunc([]rune(id), func(c rune) bool { return !plain(c) }) {
		return id
	}
	h := fnv.New64a()
	h.Write([]byte(id))
	return fmt.Sprintf("%09s", strconv.FormatUint(h.Sum64()%101559956668416, 36)) // 36^9
}

// withIDs gives every call an id and every tool result the id of the call it
// answers, where a conversation from a suite has none.
func withIDs(turns []callvet.Turn) []callvet.Turn {
	if !slices.ContainsFunc(turns, lacksID) {
		return turns
	}
	out := slices.Clone(turns)
	var open []callvet.Call
	for i := range out {
		t := &out[i]
		switch {
		case t.Role == callvet.RoleAssistant:
			t.Calls = slices.Clone(t.Calls)
			for j := range t.Calls {
				if t.Calls[j].ID == "" {
					t.Calls[j].ID = ownID(i, j)
				}
			}
			open = slices.Clone(t.Calls)
		case t.Role == callvet.RoleTool:
			k := slices.IndexFunc(open, func(c callvet.Call) bool {
				return c.ID == t.CallID || t.CallID == "" && (t.Tool == "" || c.Tool == t.Tool)
			})
			if k >= 0 {
				t.CallID, t.Tool = open[k].ID, open[k].Tool
				open = slices.Delete(open, k, k+1)
			}
		}
	}
	return out
}

func lacksID(t callvet.Turn) bool {
	if t.Role == callvet.RoleTool {
		return t.CallID == "" || t.Tool == ""
	}
	return slices.ContainsFunc(t.Calls, func(c callvet.Call) bool { return c.ID == "" })
}
