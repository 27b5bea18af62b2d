// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"strings"
)

// Asked is a request to a tool: its name, and a hash of the arguments.
type Asked struct {
	Tool string
	Args uint64
}

// Answered keeps the answers of tools at a case of a target: hashes of the first result of each
// call.
func (l *Ledger) Answered(target int, id string, results map[Asked]uint64) {
	i, known := l.index[id]
	if !known || len(results) == 0 {
		return
	}
	if l.answers == nil {
		l.answers = map[[2]int]map[Asked]uint64{}
	}
	l.answers[[2]int{target, i}] = results
}

// unsteady is finding S7 of a comparison: both sides of a pair of targets make the same call at the
// same case, and the results differ. It is "" where there is no such call. Source: Evaluating Tool
// Calling, §7.
func unsteady(base, cand *Ledger, pairs, common [][2]int) string {
	count, of, tools := 0, 0, map[string]int{}
	for _, t := range pairs {
		for _, p := range common {
			now := cand.answers[[2]int{t[1], p[1]}]
			for call, was := range base.answers[[2]int{t[0], p[0]}] {
				is, both := now[call]
				if !both {
					continue
				}
				if of++; is != was {
					count++
					tools[call.Tool]++
				}
			}
		}
	}
	if count == 0 {
		return ""
	}
	play := Playbook("S7")
	calls := plural(of, "call that both sides make at a case", "calls that both sides make at a case")
	return fmt.Sprintf("%s: %s, in %d of %s (tools hit most: %s). A difference may be that of the tools. %s",
		play.Code, strings.ToLower(play.Title), count, calls, MostOf(tools), play.Fix)
}
