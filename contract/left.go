// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"math"
	"math/big"

	"github.com/callvet/callvet/value"
)

// left is what a node has to look at in a value once its kind is known. Most
// nodes say little, so that one step decides where a dozen questions would.
type left uint8

const (
	leftAll left = iota
	leftNothing
	leftRefused
	leftMembers
	leftLength
	leftWord
	leftFigure
	leftWhole
)

func (n *node) leftOf(k value.Kind) left {
	switch {
	case n.never || n.slow != nil || n.ref != nil || n.combined:
		return leftAll
	case n.types != maskAny && n.types>>k&1 == 0:
		return either(k == value.Number && n.types&maskInteger != 0, either(n.hasEnum, leftAll, leftWhole), leftRefused)
	case n.hasEnum:
		return either(k != value.String || n.strings == nil || n.str != nil || n.format != nil, leftAll, leftWord)
	}
	switch k {
	case value.Object:
		return either(n.obj != nil, leftMembers, leftNothing)
	case value.Array:
		return either(n.arr != nil, leftAll, leftNothing)
	case value.String:
		if n.format != nil || n.str != nil && n.str.re != nil {
			return leftAll
		}
		return either(n.str != nil, leftLength, leftNothing)
	case value.Number:
		return either(n.num != nil, leftFigure, leftNothing)
	}
	return leftNothing
}

func either(is bool, one, other left) left {
	if is {
		return one
	}
	return other
}

// quick is a summary of a property's value, in the 64 bytes of a cache line. It decides most values
// without a read of the property's node.
type quick struct {
	n       *node // nil: left decides alone
	bit     uint64
	left    [8]left      // by kind
	length  span         // of strings as written, with quotes, that are surely long enough and not too long
	figures span         // whole numbers that are within the bounds
	words   *value.Names // of an enum
}

// quickOf gives what it takes to look at values of a property; those that are only
// required may not be there at all where closed is set.
func quickOf(p *prop, closed bool) quick {
	q := quick{n: p.n, bit: p.bit}
	n := p.n
	if n == nil {
		for k := range q.left {
			q.left[k] = either(closed && !p.declared, leftRefused, leftNothing)
		}
		return q
	}
	q.left, q.words, q.figures = n.left, n.words, span{math.MinInt64, math.MaxInt64}
	if n.num != nil {
		q.figures = n.num.span
	}
	if n.str != nil {
		q.length = n.str.sure
	}
	return q
}

// span are whole numbers, both ends included, that lie within all bounds; none
// when low is above high. How close they are to the bounds does not matter.
type span struct{ low, high int64 }

func (s span) holds(n int64) bool { return s.low <= n && n <= s.high }

// maxEscaped is how many bytes a code point takes at most: two escapes.
const maxEscaped = len(`\ud83d\ude00`)

// sureOf returns the written lengths, quotes included, that are certainly within the string's
// limits. A code point takes one to twelve bytes.
func (s *stringRules) sureOf() span {
	const quotes, most = 2, math.MaxInt32
	sure := span{0, most}
	if s.min > 0 {
		sure.low = int64(maxEscaped)*int64(min(s.min, most)-1) + 1 + quotes
	}
	if s.max >= 0 {
		sure.high = int64(min(s.max, most)) + quotes
	}
	return sure
}

// spanOf gives the whole numbers that r allows.
func (r *numberRules) spanOf() span {
	s := span{math.MinInt64, math.MaxInt64}
	if r.multiple != nil {
		return span{1, 0}
	}
	for _, b := range []struct {
		at           *bound
		lower, apart bool
	}{{r.min, true, false}, {r.above, true, true}, {r.max, false, false}, {r.below, false, true}} {
		if b.at == nil {
			continue
		}
		whole := new(big.Int).Div(b.at.rat.Num(), b.at.rat.Denom()) // rounds down
		if !whole.IsInt64() || whole.Int64() > math.MaxInt64-2 || whole.Int64() < math.MinInt64+2 {
			return span{1, 0}
		}
		at := whole.Int64()
		switch exact := b.at.rat.IsInt(); {
		case b.lower && (b.apart || !exact):
			s.low = max(s.low, at+1)
		case b.lower:
			s.low = max(s.low, at)
		case b.apart && exact:
			s.high = min(s.high, at-1)
		default:
			s.high = min(s.high, at)
		}
	}
	return s
}

// has reports that a number is surely within the bounds. It reads up to 18 digits and only the
// presence of a fraction. The integer part, and the integer part plus one, have to be within the
// bounds.
func (s span) has(lit []byte) bool {
	n := int64(0)
	for i, c := range lit {
		if c -= '0'; c <= 9 {
			n = n*10 + int64(c)
			continue
		}
		return i > 0 && i <= 18 && lit[i] == '.' && allDigits(lit[i+1:]) && s.low <= n && n < s.high
	}
	return len(lit) <= 18 && s.low <= n && n <= s.high
}

func allDigits(s []byte) bool {
	for _, c := range s {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}
