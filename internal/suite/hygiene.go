// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/callvet/callvet"
)

// hygieneNamed is how many findings of one kind are named; the rest is counted.
const hygieneNamed = 20

// Hygiene finds cases with questions that contain their answer, and old labels. The zero value
// finds only the cases.
type Hygiene struct {
	// MaxAge is how many months old a label may be, by Now; 0: any age.
	MaxAge int
	Now    time.Time
	// Tools are the tools of the suite. If a tool's version is a date, older labels are reported.
	Tools []callvet.Tool

	found []callvet.Problem
	count map[string]int
	file  string
}

// Look checks the next case.
func (h *Hygiene) Look(c *callvet.Case) {
	if c.Skip != "" && !c.Selectable {
		return
	}
	if h.file == "" {
		h.file = c.Position.File
	}
	names := rightTools(c)
	for _, name := range names {
		if namesTool(c, name) {
			h.warn(c, "names-tool", "ask as a user would, who does not know the names of tools",
				"the prompt names the tool %s, which the case expects: it tests reading, not choosing", name)
			break
		}
	}
	h.age(c, names)
}

// age reports a label that is too old.
func (h *Hygiene) age(c *callvet.Case, names []string) {
	key, day := "as_of", c.AsOf
	if day == "" {
		key, day = FieldCreatedAt, c.Fields[FieldCreatedAt]
	}
	made, ok := Date(day)
	if !ok {
		return
	}
	fix := "look at it again and write the new day"
	if c.Tier == callvet.TierRegression {
		fix = "callvet case archive takes it out when it does not apply any more"
	}
	for i := range h.Tools {
		t := &h.Tools[i]
		since, dated := Date(strings.TrimPrefix(t.Version, "v"))
		if dated && made.Before(since) && named(names, t.Name) {
			h.warn(c, "old-label", fix, "the label is of %s (%s), and the tool %s of %s", made.Format(time.DateOnly),
				key, t.Name, since.Format(time.DateOnly))
			return
		}
	}
	if h.MaxAge > 0 && made.Before(h.Now.AddDate(0, -h.MaxAge, 0)) {
		h.warn(c, "old-label", fix, "the label is of %s (%s), more than %d months ago", made.Format(time.DateOnly),
			key, h.MaxAge)
	}
}

func named(names []string, tool string) bool {
	for _, n := range names {
		if callvet.NameFits(n, tool, false) {
			return true
		}
	}
	return false
}

func (h *Hygiene) warn(c *callvet.Case, code, fix, format string, args ...any) {
	if h.count == nil {
		h.count = map[string]int{}
	}
	if h.count[code]++; h.count[code] <= hygieneNamed {
		h.found = append(h.found,
			callvet.Problem{
				Position: c.Position, Code: code, Case: c.ID, Warning: true, Fix: fix,
				Message: fmt.Sprintf(format, args...),
			})
	}
}

// Problems are the findings, all of them warnings.
func (h *Hygiene) Problems() []callvet.Problem {
	out := h.found
	for _, code := range []string{"names-tool", "old-label"} {
		if more := h.count[code] - hygieneNamed; more > 0 {
			out = append(out, callvet.Problem{
				Position: callvet.Position{File: h.file}, Code: code, Warning: true,
				Message: fmt.Sprintf("the same holds for %d more cases", more),
			})
		}
	}
	return out
}

// namesTool reports whether the user uses the name of a tool. A name that is one word of small
// letters (search, weather) is also used without its tool being meant, so that it does not count.
func namesTool(c *callvet.Case, name string) bool {
	if callvet.NamePattern(name) || strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLower(r) }) < 0 {
		return false
	}
	if strings.IndexFunc(name,
		func(r rune) bool { return r == '_' || r == '-' || r == '.' || unicode.IsDigit(r) }) < 0 && !inner(name) {
		return false // Weather
	}
	for i := range c.Input {
		if c.Input[i].Role == callvet.RoleUser && holds(strings.ToLower(c.Input[i].Content), strings.ToLower(name)) {
			return true
		}
	}
	return false
}

// inner reports whether a capital letter follows a small one: getWeather.
func inner(name string) bool {
	small := false
	for _, r := range name {
		if small && unicode.IsUpper(r) {
			return true
		}
		small = unicode.IsLower(r)
	}
	return false
}

// holds reports whether a text contains a word, by itself.
func holds(text, word string) bool {
	part := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		if !part(before) && !part(after) { // at an end there is no character, so no letter
			return true
		}
		from = i + len(word)
	}
}
