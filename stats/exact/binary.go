// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// ErrCorrupt is the error of Decode for bytes that AppendBinary does not write.
var ErrCorrupt = errors.New("decode sums: corrupt")

// maxCount bounds every count that is read, so that merging decoded sums cannot overflow.
const maxCount = 1 << 53

func (w wide) append(b []byte) []byte {
	// The sign is in the last bit, so that small negative numbers are short.
	s := uint64(int64(w.hi) >> 63)
	hi, lo := w.hi^s, w.lo^s
	hi, lo = hi<<1|lo>>63, lo<<1|s&1
	return binary.AppendUvarint(binary.AppendUvarint(b, lo), hi)
}

func (m *moments) append(b []byte) []byte { return m.yy.append(m.xy.append(m.xx.append(b))) }

// reader reads numbers from a buffer and records whether one was missing.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) uint64() uint64 {
	x, n := binary.Uvarint(r.b)
	// Only the shortest form is accepted, so that equal sums are equal bytes.
	if n <= 0 || n > 1 && r.b[n-1] == 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return x
}

// count is a number in 0..limit.
func (r *reader) count(limit int64) int64 {
	x := r.uint64()
	if x > uint64(min(limit, maxCount)) {
		r.bad = true
		return 0
	}
	return int64(x)
}

func (r *reader) wide() wide {
	lo, hi := r.uint64(), r.uint64()
	s := -(lo & 1)
	return wide{hi: hi>>1 ^ s, lo: (lo>>1 | hi<<63) ^ s}
}

func (r *reader) moments() moments { return moments{xx: r.wide(), xy: r.wide(), yy: r.wide()} }

func (r *reader) end(valid bool) ([]byte, error) {
	if r.bad || !valid {
		return nil, ErrCorrupt
	}
	return r.b, nil
}

// possible reports whether g tasks can have the sums x and y with the products m,
// where the products leave room to be merged.
func (m *moments) possible(g int64, x, y wide) bool {
	if g == 0 {
		return *m == moments{} && x == wide{} && y == wide{}
	}
	room := func(w wide) bool { return bits.LeadingZeros64(w.hi^uint64(int64(w.hi)>>63)) >= 4 }
	return m.coherent(int(g), x, y) && room(m.xx) && room(m.xy) && room(m.yy) && room(x) && room(y)
}

// AppendBinary appends the sums: the same tasks give the same bytes.
func (r *Rate) AppendBinary(b []byte) []byte {
	for _, x := range [...]int64{r.n, r.cases, r.yes, r.failing, r.succeeding, r.most} {
		b = binary.AppendUvarint(b, uint64(x))
	}
	return r.again.append(r.m.append(b))
}

// Decode replaces r by the sums that AppendBinary wrote at the start of b, and returns the bytes
// after them. Other bytes: ErrCorrupt, and r is unchanged.
func (r *Rate) Decode(b []byte) (rest []byte, err error) {
	d := reader{b: b}
	var o Rate
	o.n = d.count(maxCount)
	o.cases, o.yes = d.count(o.n), d.count(o.n)
	o.failing, o.succeeding, o.most = d.count(o.cases), d.count(o.cases), d.count(o.n)
	o.m = d.moments()
	o.again = d.repeats(o.cases, o.n, o.yes, &o.m)
	rest, err = d.end(!d.bad && (o.n == 0) == (o.most == 0) && (o.n == 0) == (o.cases == 0) &&
		o.m.possible(o.cases, integer(o.yes), integer(o.n)))
	if err == nil {
		*r = o
	}
	return rest, err
}

// AppendBinary appends the sums: the same tasks give the same bytes.
func (x *Mean) AppendBinary(b []byte) []byte {
	for _, n := range [...]int64{x.n, x.cases, x.sum, x.failing, x.succeeding} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	f := byte(0)
	if x.fractional {
		f = 1
	}
	return x.again.append(x.m.append(append(b, f)))
}

// maxValues bounds a Mean, so that its products fit.
const maxValues = 1 << 42

// Decode is as Rate.Decode.
func (x *Mean) Decode(b []byte) (rest []byte, err error) {
	d := reader{b: b}
	var o Mean
	o.n = d.count(maxValues)
	o.cases = d.count(o.n)
	sum := d.uint64()
	o.sum = int64(sum)
	o.failing, o.succeeding = d.count(o.cases), d.count(o.cases)
	o.fractional = d.count(1) == 1
	o.m = d.moments()
	d.bad = d.bad || sum > uint64(o.n)*Scale
	o.again = d.repeats(o.cases, o.n, o.sum, &o.m)
	rest, err = d.end(!d.bad && sum <= uint64(o.n)*Scale && (o.n == 0) == (o.cases == 0) &&
		o.m.possible(o.cases, integer(o.sum), integer(o.n)))
	if err == nil {
		*x = o
	}
	return rest, err
}

func (t *totals) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(t.cases))
	return t.m.append(t.den.append(t.num.append(b)))
}

func (r *reader) totals() totals {
	return totals{cases: r.count(maxCount), num: r.wide(), den: r.wide(), m: r.moments()}
}

func (t *totals) possible() bool { return t.m.possible(t.cases, t.num, t.den) }

// AppendBinary appends the sums: the same tasks give the same bytes.
func (r *Ratio) AppendBinary(b []byte) []byte { return r.cubes.append(r.totals.append(b)) }

// Decode is as Rate.Decode.
func (r *Ratio) Decode(b []byte) (rest []byte, err error) {
	d := reader{b: b}
	o := Ratio{totals: d.totals(), cubes: d.cubes()}
	rest, err = d.end(!d.bad && o.possible() && o.cubes.room() && (o.cases > 0 || o.cubes == cubes{}))
	if err == nil {
		*r = o
	}
	return rest, err
}

// AppendBinary appends the sums: the same tasks give the same bytes.
func (c *Count) AppendBinary(b []byte) []byte {
	b = c.totals.append(b)
	for _, n := range [...]int64{c.having, c.differ, c.k + 1} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return c.less.append(b)
}

// Decode is as Rate.Decode.
func (c *Count) Decode(b []byte) (rest []byte, err error) {
	d := reader{b: b}
	o := Count{totals: d.totals()}
	o.having, o.differ = d.count(o.cases), d.count(o.cases)
	o.k = d.count(maxCount) - 1
	o.less = d.totals()
	num, den := int64(o.num.hi), o.den
	rest, err = d.end(!d.bad && o.possible() && o.lessPossible() && num >= 0 && int64(den.hi) >= 0 &&
		(o.cases == 0) == (den == wide{}) &&
		(o.having == 0) == (o.num == wide{}))
	if err == nil {
		*c = o
	}
	return rest, err
}

// lessPossible reports whether the sums of one attempt a task can be smaller by c.less.
func (c *Count) lessPossible() bool {
	t := c.totals
	t.num.sub(c.less.num)
	t.den.sub(c.less.den)
	t.m.sub(&c.less.m)
	return c.less.cases == 0 && int64(t.num.hi) >= 0 && int64(t.den.hi) >= 0 &&
		(t.den == wide{}) == (c.den == wide{}) && t.possible()
}

// AppendBinary appends the bins in use: the same tasks give the same bytes.
func (q *Quantiles) AppendBinary(b []byte) []byte {
	bins := q.table.bins()
	for _, x := range [...]uint64{uint64(q.cases), uint64(len(bins))} {
		b = binary.AppendUvarint(b, x)
	}
	last := uint32(0)
	for _, x := range bins {
		b = x.append(binary.AppendUvarint(b, uint64(x.key-last)))
		last = x.key
	}
	b = q.cut.append(b)
	if q.cut.n > 0 {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(q.limit))
	}
	return b
}

func (x bin) append(b []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(b, x.n), x.ss), x.sm)
}

func (r *reader) bin(key uint32) bin {
	return bin{key: key, n: uint64(r.count(maxBin)), excess: excess{ss: r.uint64(), sm: r.uint64()}}
}

// Decode is as Rate.Decode. It allocates in proportion to len(b).
func (q *Quantiles) Decode(b []byte) (rest []byte, err error) {
	d := reader{b: b}
	var o Quantiles
	o.cases = d.count(maxCount)
	sums, key, first := running{}, uint64(0), true
	for i := d.count(maxCount); i > 0 && !d.bad; i-- {
		step := d.uint64()
		if key += step; key > maxKey || step > maxKey || step == 0 && !first {
			return nil, ErrCorrupt
		}
		first = false
		x := d.bin(uint32(key))
		if x.n == 0 || !sums.grow(x) {
			return nil, ErrCorrupt
		}
		o.table.add(x)
	}
	o.cut = d.bin(0)
	ok := sums.grow(o.cut)
	if o.cut.n > 0 {
		o.limit = d.limit()
	}
	o.n = int64(sums.n)
	rest, err = d.end(ok && o.possible(sums))
	if err == nil {
		*q = o
	}
	return rest, err
}

// grow adds a bin and reports whether the sums still fit.
func (r *running) grow(b bin) bool {
	*r = r.plus(b)
	return (b.ss|b.sm|r.ss|r.sm)>>62 == 0 && r.n <= maxCount && (b.n > 0 || b.excess == excess{})
}

// limit reads a finite number that is not below 0. The bits of such numbers have the same order as
// the numbers; the bits of all others, -0 included, are greater.
func (r *reader) limit() float64 {
	if len(r.b) < 8 {
		r.bad = true
		return 0
	}
	x := binary.BigEndian.Uint64(r.b)
	r.b = r.b[8:]
	r.bad = r.bad || x > math.Float64bits(math.MaxFloat64)
	return math.Float64frombits(x)
}

// possible reports whether tasks can have these sums of all bins.
func (q *Quantiles) possible(all running) bool {
	if q.n == 0 {
		return q.cases == 0
	}
	m := moments{xx: wide{lo: all.ss}, xy: wide{lo: all.sm}, yy: wide{lo: all.ss}}
	n := integer(q.n)
	return m.coherent(int(q.cases), n, n) && all.ss == all.sm && q.cases <= q.n && (q.cases == q.n) == (all.ss == all.n)
}
