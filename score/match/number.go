// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"math"
	"math/big"
	"strconv"

	"github.com/callvet/callvet/value"
)

// roundingULPs is how many representable float64 steps two fractions may lie
// apart and still be the same number: 0.1+0.2 is 0.3. Integers are exact.
const roundingULPs = 4

// sameNumber compares two JSON number literals: by exact decimal value, and
// fractions up to float64 rounding.
func sameNumber(a, b value.Value) bool {
	if value.CompareNumbers(a.Raw(), b.Raw()) == 0 {
		return true
	}
	if a.IsInteger() && b.IsInteger() {
		return false
	}
	x, okx := a.Float()
	y, oky := b.Float()
	return okx && oky && x != 0 && y != 0 && (x < 0) == (y < 0) && ulps(x, y) <= roundingULPs
}

func ulps(x, y float64) uint64 {
	i, j := math.Float64bits(math.Abs(x)), math.Float64bits(math.Abs(y))
	if i < j {
		i, j = j, i
	}
	return i - j
}

// within reports |want-got| <= max(epsilon, relative·|want|), decided in exact
// decimals where float64 could round the wrong way.
func within(want, got []byte, epsilon, relative float64) bool {
	if value.CompareNumbers(want, got) == 0 {
		return true
	}
	x, errx := strconv.ParseFloat(string(want), 64)
	y, erry := strconv.ParseFloat(string(got), 64)
	if errx != nil || erry != nil { // beyond float64: only equality, decided above
		return false
	}
	tol := math.Max(epsilon, relative*math.Abs(x))
	diff := math.Abs(x - y)
	slack := 4e-16*(math.Abs(x)+math.Abs(y)) + 1e-9*tol
	switch {
	case diff > tol+slack:
		return false
	case diff < tol-slack:
		return true
	}
	return withinExactly(want, got, epsilon, relative)
}

func withinExactly(want, got []byte, epsilon, relative float64) bool {
	a, oka := rational(string(want))
	b, okb := rational(string(got))
	eps, oke := rational(strconv.FormatFloat(epsilon, 'g', -1, 64))
	rel, okr := rational(strconv.FormatFloat(relative, 'g', -1, 64))
	if !oka || !okb || !oke || !okr {
		return false
	}
	diff := new(big.Rat).Sub(a, b)
	diff.Abs(diff)
	rel.Mul(rel, new(big.Rat).Abs(a))
	return diff.Cmp(eps) <= 0 || diff.Cmp(rel) <= 0
}

// rational reads a JSON number of modest size; float64's range keeps the
// exponent, and a length limit the digits, from making it huge.
func rational(lit string) (*big.Rat, bool) {
	f, err := strconv.ParseFloat(lit, 64)
	if err != nil || len(lit) > 4096 || f == 0 && len(lit) > 400 {
		return nil, false
	}
	if f == 0 {
		return new(big.Rat), true
	}
	return new(big.Rat).SetString(lit)
}

// numberText returns the literal of a JSON number, or of a string that holds exactly one;
// "1_000", "0x10", "nan" and " 5" are not numbers.
func numberText(v value.Value) (lit []byte, quoted, ok bool) {
	switch v.Kind() {
	case value.Number:
		return v.Raw(), false, true
	case value.String:
		b := v.Bytes()
		if len(b) == 0 || len(b) > 4096 {
			return nil, true, false
		}
		n, err := value.Parse(b)
		if err != nil || n.Kind() != value.Number || len(n.Raw()) != len(b) {
			return nil, true, false
		}
		return b, true, true
	}
	return nil, false, false
}

// numberSimilarity is 1 - |a-b| ÷ max(|a|,|b|), at least 0; 1 for equal numbers.
func numberSimilarity(a, b value.Value) float64 {
	if sameNumber(a, b) {
		return 1
	}
	x, okx := a.Float()
	y, oky := b.Float()
	if !okx || !oky {
		return 0
	}
	m := math.Max(math.Abs(x), math.Abs(y))
	if m == 0 {
		return 0
	}
	// Dividing first keeps huge operands of opposite sign from overflowing.
	sim := 1 - math.Abs(x/m-y/m)
	return math.Min(math.Max(sim, 0), math.Nextafter(1, 0))
}
