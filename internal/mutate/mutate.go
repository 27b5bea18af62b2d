// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package mutate changes JSON documents for tests: each member and element is left out, and
// replaced by values of other types, empty ones and huge ones.
package mutate

import (
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/callvet/callvet/value"
)

// Change is a document with one change.
type Change struct {
	// Path is where the change is, What is the new value, "" for none.
	Path, What string
	Text       []byte
}

// String names the change.
func (c *Change) String() string {
	what := c.What
	if len(what) > 40 {
		what = what[:20] + "… of " + strconv.Itoa(len(what)) + " bytes"
	}
	if what == "" {
		what = "left out"
	}
	return c.Path + " = " + what
}

// Values are what a value is replaced by; huge is the length of the longest text.
func Values(huge int) []string {
	return []string{
		"null", `""`, `" "`, `"x"`, "0", "-1", "7.5", "1e400", "-1e400", "true", "false",
		"[]", "{}", "[null]", `[{}]`, `["x"]`, `{"x":null}`, "[[[]]]",
		`"` + strings.Repeat("y", huge) + `"`,
	}
}

// Some gives n changes of a document, the same ones for a seed. Every second one is made of a
// document that was changed already.
func Some(doc []byte, n, huge int, seed uint64) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		r := rand.New(rand.NewPCG(seed, uint64(len(doc))))
		for i := range n {
			c, ok := one(doc, r, huge)
			if !ok {
				return
			}
			if i%2 == 1 {
				if more, ok := one(c.Text, r, huge); ok {
					more.Path = c.String() + ", " + more.Path
					c = more
				}
			}
			if !yield(c) {
				return
			}
		}
	}
}

func one(doc []byte, r *rand.Rand, huge int) (Change, bool) {
	root, err := value.Parse(doc)
	if err != nil {
		return Change{}, false
	}
	list := paths(root, nil, nil)
	path := list[r.IntN(len(list))]
	values := Values(huge)
	what := ""
	switch k := r.IntN(len(values) + 1); {
	case k == len(values)-1 && r.IntN(16) > 0: // long ones take most of the time
		what = Values(100)[k]
	case k < len(values):
		what = values[k]
	}
	if len(path) == 0 && what == "" {
		what = "null"
	}
	return Change{Path: strings.Join(path, "."), What: what, Text: render(nil, root, path, what)}, true
}

// paths lists the places of a value and of all in it, the value first.
func paths(v value.Value, at []string, to [][]string) [][]string {
	to = append(to, at)
	i := 0
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		name := strconv.Itoa(i)
		if v.Kind() == value.Object {
			name = e.Key()
		}
		to = paths(e, append(at[:len(at):len(at)], name), to)
		i++
	}
	return to
}

// render writes a value with another one at a place, or without it.
func render(b []byte, v value.Value, path []string, what string) []byte {
	if len(path) == 0 {
		return append(b, what...)
	}
	ends := [2]byte{'[', ']'}
	if v.Kind() == value.Object {
		ends = [2]byte{'{', '}'}
	}
	b = append(b, ends[0])
	i, some := 0, false
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		name := strconv.Itoa(i)
		if v.Kind() == value.Object {
			name = e.Key()
		}
		i++
		here := name == path[0]
		if here && len(path) == 1 && what == "" {
			continue
		}
		if some {
			b = append(b, ',')
		}
		some = true
		if v.Kind() == value.Object {
			b = append(strconv.AppendQuote(b, name), ':')
		}
		if here {
			b = render(b, e, path[1:], what)
		} else {
			b = append(b, e.Raw()...)
		}
	}
	return append(b, ends[1])
}

// Count is how many changes a test makes: usual, or the number in the variable CALLVET_RECORDS
// of the environment, as getenv gives it.
func Count(getenv func(string) string, usual int) int {
	if n, err := strconv.Atoi(getenv("CALLVET_RECORDS")); err == nil && n > 0 {
		return n
	}
	return usual
}

// Huge is the length of the longest text for so many changes.
func Huge(changes int) int {
	if changes >= 2000 {
		return 1 << 20
	}
	return 64 << 10
}
