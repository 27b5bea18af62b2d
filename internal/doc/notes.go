// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"fmt"
	"strings"

	"github.com/callvet/callvet"
)

// Notes are what a reader of small files cannot accept of one.
type Notes struct {
	File     *File
	Problems []callvet.Problem
}

// maxProblems is how many problems one file lists.
const maxProblems = 100

// Note notes a problem at a byte of the file; code and fix are those of
// callvet.Problem. Those beyond the hundredth are left out.
func (n *Notes) Note(at int, code, fix, format string, args ...any) {
	if len(n.Problems) < maxProblems {
		n.Problems = append(n.Problems,
			callvet.Problem{Position: n.File.Position(at), Code: code, Message: fmt.Sprintf(format, args...), Fix: fix})
	}
}

// Fields gives each member of a mapping to f, which tells whether it knows the key;
// known are the keys, with spaces between, for those that it does not.
func (n *Notes) Fields(in *Node, known string, f func(key string, v *Node) bool) {
	if in.Kind != Map {
		n.Note(in.At, "wrong-type", "", "expected a mapping, found %s", in.Shown())
		return
	}
	for i := range in.Items {
		name := in.Names[i].Name
		if f(name, &in.Items[i]) {
			continue
		}
		keys := strings.Fields(known)
		fix := "known keys: " + strings.Join(keys, ", ")
		if best := callvet.Nearest(name, keys); best != "" {
			fix = fmt.Sprintf("did you mean %q?", best)
		}
		n.Note(in.Names[i].At, "unknown-key", fix, "unknown key %q", Clip(name, 60))
	}
}

// Shown is a node in a few words: a short text or number itself, else its kind.
func (n *Node) Shown() string {
	switch {
	case n.Kind == String, n.Kind == Number:
		return Clip(string(n.Raw), 40)
	case n.Kind == Null && len(n.Raw) > 0 && n.Raw[0] != 'n': // see File.Elements
		return string(n.Raw)
	}
	return n.Kind.String()
}
