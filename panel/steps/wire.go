// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"encoding/binary"
	"errors"
	"math"
)

// errDamaged reports that bytes do not come from a writer.
var errDamaged = errors.New("the partial result is damaged")

// wireWriter appends numbers and texts one after the other; a wireReader reads them in the same
// order. The format has no tags.
type wireWriter struct{ b []byte }

// Uint appends a number in as few bytes as it needs.
func (w *wireWriter) Uint(n uint64) { w.b = binary.AppendUvarint(w.b, n) }

// Int is Uint for numbers with a sign.
func (w *wireWriter) Int(n int64) { w.b = binary.AppendVarint(w.b, n) }

// Fixed appends a number in eight bytes.
func (w *wireWriter) Fixed(n uint64) { w.b = binary.LittleEndian.AppendUint64(w.b, n) }

// Float appends a number to the last bit.
func (w *wireWriter) Float(f float64) { w.Fixed(math.Float64bits(f)) }

// Bool appends a byte.
func (w *wireWriter) Bool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	w.b = append(w.b, b)
}

// Text appends a text with its length.
func (w *wireWriter) Text(s string) {
	w.Uint(uint64(len(s)))
	w.b = append(w.b, s...)
}

// Texts appends a list.
func (w *wireWriter) Texts(list []string) {
	w.Uint(uint64(len(list)))
	for _, s := range list {
		w.Text(s)
	}
}

// wireReader reads the output of a wireWriter, from untrusted bytes. After the first error, which
// err keeps, it returns zeros.
type wireReader struct {
	b   []byte
	err error
}

// Fail ends the reading with errDamaged.
func (r *wireReader) Fail() {
	if r.err == nil {
		r.err = errDamaged
	}
	r.b = nil
}

// Uint reads what wireWriter.Uint wrote.
func (r *wireReader) Uint() uint64 {
	n, k := binary.Uvarint(r.b)
	if k <= 0 {
		r.Fail()
		return 0
	}
	r.b = r.b[k:]
	return n
}

// Int reads what wireWriter.Int wrote.
func (r *wireReader) Int() int64 {
	n, k := binary.Varint(r.b)
	if k <= 0 {
		r.Fail()
		return 0
	}
	r.b = r.b[k:]
	return n
}

// Count reads the length of a list. Each member takes at least one byte, so that a length beyond
// the input is an error.
func (r *wireReader) Count() int {
	n := r.Uint()
	if n > uint64(len(r.b)) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Text reads what wireWriter.Text wrote.
func (r *wireReader) Text() string {
	n := r.Count()
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

// Texts reads what wireWriter.Texts wrote.
func (r *wireReader) Texts() []string {
	out := make([]string, 0, 8)
	for range r.Count() {
		out = append(out, r.Text())
	}
	return out
}

// Fixed reads what wireWriter.Fixed wrote.
func (r *wireReader) Fixed() uint64 {
	if len(r.b) < 8 {
		r.Fail()
		return 0
	}
	n := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return n
}

// Float reads what wireWriter.Float wrote.
func (r *wireReader) Float() float64 { return math.Float64frombits(r.Fixed()) }

// Bool reads what wireWriter.bool wrote.
func (r *wireReader) Bool() bool {
	if len(r.b) == 0 {
		r.Fail()
		return false
	}
	v := r.b[0] == 1
	r.b = r.b[1:]
	return v
}

// Number reads the position of a member of a list and returns the member.
func (r *wireReader) Number(list []uint32) uint32 { return member(r, list) }

// member is Number for any list.
func member[T any](r *wireReader, list []T) (x T) {
	n := r.Uint()
	if n >= uint64(len(list)) {
		r.Fail()
		return x
	}
	return list[n]
}
