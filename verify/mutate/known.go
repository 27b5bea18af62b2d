// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// known are the survivors of the reviewed file: one on each line, as package, function,
// changed line of code and reason, with tabs between. # starts a comment.
type known struct {
	byKey map[string]*entry
	order []*entry
}

type entry struct {
	room, key string
	line      int
	seen      bool
}

func readKnown(path string) (*known, error) {
	k := &known{byKey: map[string]*entry{}}
	if path == "" {
		return k, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the known survivors: %w", err)
	}
	for i, line := range strings.Split(string(b), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 4 || strings.TrimSpace(cells[3]) == "" {
			return nil, fmt.Errorf("%s:%d: want package, function, changed line and reason with tabs between", path,
				i+1)
		}
		e := &entry{room: cells[0], key: strings.Join(cells[:3], "\t"), line: i + 1}
		if old := k.byKey[e.key]; old != nil {
			return nil, fmt.Errorf("%s:%d: is on line %d as well", path, i+1, old.line)
		}
		k.byKey[e.key], k.order = e, append(k.order, e)
	}
	return k, nil
}

// has reports whether a survivor is listed, and remembers that it was found.
func (k *known) has(m *mutant) bool {
	e := k.byKey[m.key()]
	if e != nil {
		e.seen = true
	}
	return e != nil
}

// gone prints the entries without a survivor in the checked packages, and counts them.
func (k *known) gone(out io.Writer, path string, looked func(room string) bool) (n int) {
	for _, e := range k.order {
		if looked(e.room) && !e.seen {
			n++
			fmt.Fprintf(out, "%s:%d: no such survivor any more, delete the line: %s\n", path, e.line, e.key)
		}
	}
	return n
}
