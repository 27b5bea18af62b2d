// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package condition

import "github.com/callvet/callvet/value"

// single is the comparison of one member of the result with a number, which most
// conditions are.
type single struct {
	key    string
	number value.Value
	// Whether it holds of a member that is less than the number, equal, or more.
	less, equal, more bool
}

func newCondition(root *expression) *Condition { return &Condition{root, singleOf(root)} }

// singleOf gives nil for an expression of another form.
func singleOf(e *expression) *single {
	if e.left.kind != fromPath || len(e.left.path) != 1 || !e.left.path[0].isKey || e.right.kind != fromLiteral || e.right.literal.Kind() != value.Number {
		return nil
	}
	s := &single{key: e.left.path[0].key, number: e.right.literal}
	switch e.op {
	case opEqual:
		s.equal = true
	case opUnequal:
		s.less, s.more = true, true
	case opLess:
		s.less = true
	case opLessEqual:
		s.less, s.equal = true, true
	case opMore:
		s.more = true
	case opMoreEqual:
		s.more, s.equal = true, true
	default:
		return nil
	}
	return s
}

// against tells whether the condition holds of a number.
func (s *single) against(v value.Value) bool {
	switch value.Compare(v, s.number) {
	case -1:
		return s.less
	case 0:
		return s.equal
	}
	return s.more
}
