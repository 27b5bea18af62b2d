// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"sort"
	"strconv"
	"strings"

	"github.com/callvet/callvet/value"
)

// decimal is mantissa ÷ 10^scale.
type decimal struct {
	mantissa int64
	scale    int
}

// smallDecimal reads a literal of up to 18 digits without an exponent.
func smallDecimal(lit []byte) (d decimal, ok bool) {
	neg := len(lit) > 0 && lit[0] == '-'
	if neg {
		lit = lit[1:]
	}
	if len(lit) == 0 || len(lit) > 19 {
		return d, false
	}
	dot := -1
	for i, c := range lit {
		switch {
		case c >= '0' && c <= '9':
			if d.mantissa > math.MaxInt64/10-10 {
				return d, false
			}
			d.mantissa = d.mantissa*10 + int64(c-'0')
		case c == '.' && dot < 0:
			dot = i
		default:
			return d, false
		}
	}
	if dot >= 0 {
		d.scale = len(lit) - dot - 1
	}
	if neg {
		d.mantissa = -d.mantissa
	}
	return d, true
}

// align brings both to one scale; ok is false when that overflows.
func align(a, b decimal) (x, y int64, ok bool) {
	for a.scale < b.scale {
		if a.mantissa > math.MaxInt64/10 || a.mantissa < math.MinInt64/10 {
			return 0, 0, false
		}
		a.mantissa *= 10
		a.scale++
	}
	for b.scale < a.scale {
		if b.mantissa > math.MaxInt64/10 || b.mantissa < math.MinInt64/10 {
			return 0, 0, false
		}
		b.mantissa *= 10
		b.scale++
	}
	return a.mantissa, b.mantissa, true
}

func (r *numberRules) valid(lit []byte) bool {
	if r.span.has(lit) {
		return true
	}
	d, ok := smallDecimal(lit)
	return (r.min == nil || r.min.compare(lit, d, ok) >= 0) &&
		(r.max == nil || r.max.compare(lit, d, ok) <= 0) &&
		(r.above == nil || r.above.compare(lit, d, ok) > 0) &&
		(r.below == nil || r.below.compare(lit, d, ok) < 0) &&
		(r.multiple == nil || r.multiple.divides(lit, d, ok))
}

// compare compares the number with the bound.
func (b *bound) compare(lit []byte, d decimal, small bool) int {
	if small && b.ok {
		if x, y, ok := align(d, b.small); ok {
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		}
	}
	return value.CompareNumbers(lit, b.lit)
}

// divides reports whether the number is a multiple of the bound. A number with
// an exponent beyond MaxExponent is none.
func (b *bound) divides(lit []byte, d decimal, small bool) bool {
	if small && b.ok {
		if x, y, ok := align(d, b.small); ok && y != 0 {
			return x%y == 0
		}
	}
	if wildExponent(lit) {
		return false
	}
	r, ok := new(big.Rat).SetString(string(lit))
	return ok && r.Quo(r, b.rat).IsInt()
}

// canonical writes a text that is the same for two values exactly when they are
// equal.
func canonical(w *strings.Builder, v value.Value) {
	switch v.Kind() {
	case value.Number:
		w.WriteString(canonicalNumber(v.Raw()))
	case value.String:
		fmt.Fprintf(w, "%q", v.Bytes())
	case value.Array:
		w.WriteByte('[')
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			canonical(w, e)
			w.WriteByte(',')
		}
		w.WriteByte(']')
	case value.Object:
		members := make([]value.Value, 0, v.Len())
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			members = append(members, e)
		}
		sort.Slice(members, func(i, j int) bool { return members[i].Key() < members[j].Key() })
		w.WriteByte('{')
		for _, e := range members {
			fmt.Fprintf(w, "%q:", e.Key())
			canonical(w, e)
			w.WriteByte(',')
		}
		w.WriteByte('}')
	default:
		w.Write(v.Raw())
	}
}

// canonicalNumber is sign, digits without outer zeros, and the exponent of the last digit.
func canonicalNumber(lit []byte) string {
	neg := lit[0] == '-'
	digits := bytes.TrimPrefix(lit, []byte("-"))
	exp := new(big.Int)
	if e := bytes.IndexAny(digits, "eE"); e >= 0 {
		exp.SetString(strings.TrimPrefix(string(digits[e+1:]), "+"), 10)
		digits = digits[:e]
	}
	if dot := bytes.IndexByte(digits, '.'); dot >= 0 {
		exp.Sub(exp, big.NewInt(int64(len(digits)-dot-1)))
		digits = append(append([]byte(nil), digits[:dot]...), digits[dot+1:]...)
	}
	t := bytes.TrimRight(digits, "0")
	exp.Add(exp, big.NewInt(int64(len(digits)-len(t))))
	if t = bytes.TrimLeft(t, "0"); len(t) == 0 {
		return "0"
	}
	return strconv.FormatBool(neg) + string(t) + "e" + exp.String()
}
