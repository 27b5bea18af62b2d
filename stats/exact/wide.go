// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import (
	"math"
	"math/big"
	"math/bits"
)

// wide is a signed integer of 128 bits in two's complement.
type wide struct{ hi, lo uint64 }

func integer(x int64) wide { return wide{hi: uint64(x >> 63), lo: uint64(x)} }

// mul is x*y.
func mul(x, y int64) wide {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	// In the unsigned product a negative factor is 2^64 too large.
	hi -= uint64(x>>63)&uint64(y) + uint64(y>>63)&uint64(x)
	return wide{hi: hi, lo: lo}
}

func (w *wide) add(o wide) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, o.lo, 0)
	w.hi, _ = bits.Add64(w.hi, o.hi, carry)
}

func (w *wide) sub(o wide) {
	var borrow uint64
	w.lo, borrow = bits.Sub64(w.lo, o.lo, 0)
	w.hi, _ = bits.Sub64(w.hi, o.hi, borrow)
}

// addSmall adds a number of 64 bits; a carry is rare.
func (w *wide) addSmall(x uint64) {
	if w.lo += x; w.lo < x {
		w.hi++
	}
}

// times is w*n.
func (w wide) times(n uint64) wide {
	hi, lo := bits.Mul64(w.lo, n)
	return wide{hi: hi + w.hi*n, lo: lo}
}

// over is w/d for a w that is not negative and a quotient below 2^63.
func (w wide) over(d uint64) int64 {
	q, _ := bits.Div64(w.hi%d, w.lo, d)
	return int64(q)
}

// int64 is w, or the nearest end of the range.
func (w wide) int64() int64 {
	switch {
	case w.hi == uint64(int64(w.lo)>>63):
		return int64(w.lo)
	case int64(w.hi) < 0:
		return -1 << 63
	}
	return 1<<63 - 1
}

func (w wide) big() *big.Int {
	x := new(big.Int).SetInt64(int64(w.hi))
	return x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(w.lo))
}

// float is the nearest float64 to w, the even one of two.
func (w wide) float() float64 {
	if w.small() {
		return float64(int64(w.lo))
	}
	sign := 1.0
	if int64(w.hi) < 0 {
		var borrow uint64
		w.lo, borrow = bits.Sub64(0, w.lo, 0)
		w.hi, _ = bits.Sub64(0, w.hi, borrow)
		sign = -1
	}
	n := bits.LeadingZeros64(w.hi)
	first := w.hi<<n | w.lo>>(64-n)
	if w.lo<<n != 0 { // the dropped bits only decide the rounding
		first |= 1
	}
	return sign * math.Ldexp(float64(first), 64-n)
}

// centered is g times the product about the means: g*sum(a*b) - sum(a)*sum(b)
// over g cases.
func centered(g int, product, a, b wide) *big.Int {
	x := product.big()
	x.Mul(x, big.NewInt(int64(g)))
	return x.Sub(x, new(big.Int).Mul(a.big(), b.big()))
}

// rounded is centered, rounded once. 128 bits are nearly always enough.
func rounded(g int, product, a, b wide) float64 {
	// A negative g or product has its first bit set and takes the slow path.
	if bits.Len64(product.hi)+bits.Len(uint(g)) <= 62 && a.small() && b.small() {
		x, less := product.times(uint64(g)), mul(int64(a.lo), int64(b.lo))
		x.add(wide{hi: ^less.hi, lo: ^less.lo})
		x.add(wide{lo: 1})
		return x.float()
	}
	f, _ := new(big.Float).SetInt(centered(g, product, a, b)).Float64()
	return f
}

// small reports whether w is an int64.
func (w wide) small() bool { return w.hi == uint64(int64(w.lo)>>63) }

// moments are the sums of the products of two numbers a task has, x and y.
type moments struct{ xx, xy, yy wide }

func (m *moments) add(o *moments) {
	m.xx.add(o.xx)
	m.xy.add(o.xy)
	m.yy.add(o.yy)
}

func (m *moments) sub(o *moments) {
	m.xx.sub(o.xx)
	m.xy.sub(o.xy)
	m.yy.sub(o.yy)
}

// central are the products about the means of g cases with sums x and y, rounded
// once from the exact value.
func (m *moments) central(g int, x, y wide) (xx, xy, yy float64) {
	n := float64(g)
	return rounded(g, m.xx, x, x) / n, rounded(g, m.xy, x, y) / n, rounded(g, m.yy, y, y) / n
}

// coherent is false for impossible products.
func (m *moments) coherent(g int, x, y wide) bool {
	a, b, c := centered(g, m.xx, x, x), centered(g, m.xy, x, y), centered(g, m.yy, y, y)
	return a.Sign() >= 0 && c.Sign() >= 0 && new(big.Int).Mul(b, b).Cmp(new(big.Int).Mul(a, c)) <= 0
}
