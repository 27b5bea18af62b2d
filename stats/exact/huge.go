// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// huge is a signed integer of 192 bits in two's complement.
type huge struct{ hi, mid, lo uint64 }

// by is w*x.
func (w wide) by(x int64) huge {
	negative := int64(w.hi) < 0
	if negative {
		w = wide{hi: ^w.hi, lo: ^w.lo}
		w.add(wide{lo: 1})
	}
	m := uint64(x)
	if x < 0 {
		negative, m = !negative, -m
	}
	c, lo := bits.Mul64(w.lo, m)
	hi, mid := bits.Mul64(w.hi, m)
	mid, carry := bits.Add64(mid, c, 0)
	h := huge{hi: hi + carry, mid: mid, lo: lo}
	if negative {
		h = h.minus()
	}
	return h
}

func (h huge) minus() huge {
	n := huge{hi: ^h.hi, mid: ^h.mid, lo: ^h.lo}
	n.add(huge{lo: 1})
	return n
}

func (h *huge) add(o huge) {
	var carry uint64
	h.lo, carry = bits.Add64(h.lo, o.lo, 0)
	h.mid, carry = bits.Add64(h.mid, o.mid, carry)
	h.hi, _ = bits.Add64(h.hi, o.hi, carry)
}

func (h huge) big() *big.Int {
	x := new(big.Int).SetInt64(int64(h.hi))
	x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(h.mid))
	return x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(h.lo))
}

// room reports whether h may be merged without an overflow.
func (h huge) room() bool { return bits.LeadingZeros64(h.hi^uint64(int64(h.hi)>>63)) >= 4 }

func (h huge) append(b []byte) []byte {
	// The sign is in the last bit, so that small negative numbers are short.
	s := uint64(int64(h.hi) >> 63)
	hi, mid, lo := h.hi^s, h.mid^s, h.lo^s
	b = binary.AppendUvarint(b, lo<<1|s&1)
	b = binary.AppendUvarint(b, mid<<1|lo>>63)
	return binary.AppendUvarint(b, hi<<1|mid>>63)
}

func (r *reader) huge() huge {
	lo, mid, hi := r.uint64(), r.uint64(), r.uint64()
	s := -(lo & 1)
	return huge{hi: hi>>1 ^ s, mid: (mid>>1 | hi<<63) ^ s, lo: (lo>>1 | mid<<63) ^ s}
}

// cubes are the sums of the products of three of two numbers a task has, x and y.
type cubes struct{ xxx, xxy, xyy, yyy huge }

// cube returns the cubes of one task with the squares m.
func (m *moments) cube(x, y int64) cubes {
	return cubes{xxx: m.xx.by(x), xxy: m.xx.by(y), xyy: m.yy.by(x), yyy: m.yy.by(y)}
}

func (c *cubes) add(o *cubes) {
	c.xxx.add(o.xxx)
	c.xxy.add(o.xxy)
	c.xyy.add(o.xyy)
	c.yyy.add(o.yyy)
}

// central are the products about the means of g tasks with sums x and y and squares
// m, rounded once from the exact value.
func (c *cubes) central(g int, x, y wide, m *moments) (xxx, xxy, xyy, yyy float64) {
	sx, sy, xx, xy, yy := x.big(), y.big(), m.xx.big(), m.xy.big(), m.yy.big()
	return third(g, c.xxx, sx, sx, sx, xx, xx, xx), third(g, c.xxy, sx, sx, sy, xx, xy, xy),
		third(g, c.xyy, sx, sy, sy, xy, xy, yy), third(g, c.yyy, sy, sy, sy, yy, yy, yy)
}

// third is sum((a-mean a)(b-mean b)(c-mean c)) over g tasks from the sums of abc, of
// a, b and c, and of ab, ac and bc.
func third(g int, abc huge, a, b, c, ab, ac, bc *big.Int) float64 {
	n := big.NewInt(int64(g))
	sum := new(big.Int).Mul(ab, c)
	sum.Add(sum, new(big.Int).Mul(ac, b)).Add(sum, new(big.Int).Mul(bc, a)).Mul(sum, n)
	all := new(big.Int).Mul(n, n)
	all.Mul(all, abc.big()).Sub(all, sum)
	product := new(big.Int).Mul(a, b)
	all.Add(all, product.Mul(product, c).Lsh(product, 1))
	f, _ := new(big.Float).SetInt(all).Float64()
	return f / (float64(g) * float64(g))
}

func (c *cubes) append(b []byte) []byte {
	return c.yyy.append(c.xyy.append(c.xxy.append(c.xxx.append(b))))
}

func (r *reader) cubes() cubes {
	return cubes{xxx: r.huge(), xxy: r.huge(), xyy: r.huge(), yyy: r.huge()}
}

func (c *cubes) room() bool { return c.xxx.room() && c.xxy.room() && c.xyy.room() && c.yyy.room() }
