// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// strangeNames counts what is unusual in answers but no error.
type strangeNames struct {
	more        int // answers with more tools than were asked for
	most, asked int
	unknown     int // answers with tools that the catalog does not have
	tools       []string
	words       []string // oddities in the order of their first answer
	odd         map[string]int
}

// maxStrangeNamed is how many unknown tools are named, maxStrangeUnknown how many are counted.
const (
	maxStrangeNamed   = 5
	maxStrangeUnknown = 10_000
)

func (s *strangeNames) add(d *callvet.Decision) {
	given := d.Given()
	if n := len(d.Tools); n > len(given) {
		s.more++
		s.most, s.asked = max(s.most, n), len(given)
	}
	for _, w := range d.Odd {
		if s.odd == nil {
			s.odd = map[string]int{}
		}
		if s.odd[w]++; s.odd[w] == 1 {
			s.words = append(s.words, w)
		}
	}
}

// names keeps the tools that count and that no catalog has.
func (s *strangeNames) names(d *callvet.Decision, known func(string) bool) {
	some := false
	for _, t := range d.Given() {
		if known(t.Tool) {
			continue
		}
		some = true
		if at, seen := slices.BinarySearch(s.tools, t.Tool); !seen && len(s.tools) < maxStrangeUnknown {
			s.tools = slices.Insert(s.tools, at, t.Tool)
		}
	}
	if some {
		s.unknown++
	}
}

// notes lists what was unusual in the given number of answers.
func (s *strangeNames) notes(answers int) []string {
	var out []string
	say := func(n int, format string, args ...any) {
		if n > 0 {
			out = append(out, fmt.Sprintf("%d of %d answers: ", n, answers)+fmt.Sprintf(format, args...))
		}
	}
	say(s.more, "the service gave up to %d tools where %d were asked for; those behind do not count", s.most, s.asked)
	named := s.tools[:min(len(s.tools), maxStrangeNamed)]
	rest := ""
	if len(s.tools) > len(named) {
		rest = ", …"
	}
	say(s.unknown, "they name %s that the catalogue does not have (%s%s)", anyTools(len(s.tools)),
		strings.Join(named, ", "), rest)
	for _, w := range s.words {
		say(s.odd[w], "%s", w)
	}
	return out
}

func anyTools(n int) string {
	if n == 1 {
		return "1 tool"
	}
	return fmt.Sprintf("%d tools", n)
}
