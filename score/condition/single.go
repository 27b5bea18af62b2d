// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package condition

import "github.com/callvet/callvet/value"

// single is the comparison of one member of the result with a number, which most
// conditions are.
type single struct {
	key    *value.Names // the member's name alone
	number value.Value
	// whole is the number, where it is a whole one that fits.
	whole int64
	known bool
	// holds is the result for a member that is less than the number, equal, or greater.
	holds [3]bool
}

func newCondition(root *expression) *Condition { return &Condition{root, singleOf(root)} }

// singleOf returns nil for an expression of a different form.
func singleOf(e *expression) *single {
	if e.left.kind != fromPath || len(e.left.path) != 1 || !e.left.path[0].isKey || e.right.kind != fromLiteral ||
		e.right.literal.Kind() != value.Number {
		return nil
	}
	s := &single{key: value.NamesOf([]string{e.left.path[0].key}), number: e.right.literal}
	s.whole, s.known = s.number.Member().Whole()
	switch e.op {
	case opEqual:
		s.holds = [3]bool{1: true}
	case opUnequal:
		s.holds = [3]bool{0: true, 2: true}
	case opLess:
		s.holds = [3]bool{0: true}
	case opLessEqual:
		s.holds = [3]bool{0: true, 1: true}
	case opMore:
		s.holds = [3]bool{2: true}
	case opMoreEqual:
		s.holds = [3]bool{1: true, 2: true}
	default:
		return nil
	}
	return s
}

// order is 0 where a is less than b, 1 where they are equal, and 2 where it is more; it has no
// branch, because the processor could not predict one.
func order(a, b int64) int64 { return 1 + (a-b)>>63 - (b-a)>>63 }
