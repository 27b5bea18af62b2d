// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// ownID is the id for a call without one. Every provider accepts nine letters and digits.
func ownID(turn, call int) string { return fmt.Sprintf("c%04d%04d", turn%10000, call%10000) }

// isOwnID reports whether an id was made by ownID.
func isOwnID(id string) bool {
	if len(id) != 9 || id[0] != 'c' {
		return false
	}
	_, err := strconv.ParseUint(id[1:], 10, 32)
	return err == nil
}

// shortID is id if it has nine letters and digits, else nine made from its hash.
func shortID(id string) string {
	plain := func(c rune) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	if len(id) == 9 && !slices.ContainsFunc([]rune(id), func(c rune) bool { return !plain(c) }) {
		return id
	}
	h := fnv.New64a()
	h.Write([]byte(id))
	return fmt.Sprintf("%09s", strconv.FormatUint(h.Sum64()%101559956668416, 36)) // 36^9
}

// plainID makes ids of at most most letters, digits, _ and -. A changed id ends in a hash of the
// original, so that different ids stay different.
func plainID(most int) func(string) string {
	return func(id string) string {
		plain := strings.Map(func(c rune) rune {
			if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' {
				return c
			}
			return '_'
		}, id)
		if plain == id && len(id) <= most {
			return id
		}
		h := fnv.New32a()
		h.Write([]byte(id))
		return fmt.Sprintf("%s_%08x", plain[:min(len(plain), most-9)], h.Sum32())
	}
}

// asIs is for providers that accept any id.
func asIs(id string) string { return id }

// withIDs gives every call a unique id that the provider accepts, and every tool result the id of
// its call. A message that the provider wrote keeps its ids. The given turns are not changed, so
// that a trace keeps the original ids.
func withIDs(turns []callvet.Turn, fit func(string) string) []callvet.Turn {
	if !slices.ContainsFunc(turns,
		func(t callvet.Turn) bool { return t.Role == callvet.RoleTool || len(t.Calls) > 0 }) {
		return turns
	}
	out := slices.Clone(turns)
	taken := map[string]bool{}
	type asked struct{ as, id, tool string }
	var open []asked
	for i := range out {
		t := &out[i]
		switch {
		case t.Role == callvet.RoleAssistant:
			open = open[:0]
			t.Calls = slices.Clone(t.Calls)
			for j := range t.Calls {
				c := &t.Calls[j]
				as := c.ID
				switch {
				case len(t.Raw) > 0 && as != "":
				case as != "" && !taken[fit(as)]:
					c.ID = fit(as)
				default:
					c.ID = ownID(i, j)
				}
				taken[c.ID] = true
				open = append(open, asked{as, c.ID, c.Tool})
			}
		case t.Role == callvet.RoleTool:
			k := slices.IndexFunc(open, func(a asked) bool {
				return a.as == t.CallID || t.CallID == "" && (t.Tool == "" || a.tool == t.Tool)
			})
			if k < 0 {
				t.CallID = fit(t.CallID)
				continue
			}
			t.CallID, t.Tool = open[k].id, open[k].tool
			open = slices.Delete(open, k, k+1)
		}
	}
	return out
}
