// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

// Counter counts up to 255 of each of 16 kinds at once: kind i in byte i.
type Counter struct{ lo, hi uint64 }

// spread moves bit i of a byte to the lowest bit of byte i: the multiplication
// copies the byte to all eight, the mask leaves one bit in each, and the sum
// carries it to the top of its byte.
func spread(bits uint16) uint64 {
	const each, low = 0x0101010101010101, 0x7F7F7F7F7F7F7F7F
	x := uint64(bits) * each & 0x8040201008040201
	return (x&low + low | x) >> 7 & each
}

// Spread is 1 for each kind whose bit is set.
func Spread(bits uint16) Counter { return Counter{spread(bits & 0xFF), spread(bits >> 8)} }

// Add adds another Counter; no kind may go beyond 255.
func (c *Counter) Add(o Counter) {
	c.lo += o.lo
	c.hi += o.hi
}

// At is the count of kind i.
func (c Counter) At(i int) int {
	if i < 8 {
		return int(c.lo >> (8 * i) & 0xFF)
	}
	return int(c.hi >> (8 * (i - 8)) & 0xFF)
}
