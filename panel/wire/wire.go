// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package wire answers one question: how are numbers and texts written one after the
// other, and read again from bytes that nobody vouches for? A Writer appends, a Reader
// takes off. It knows no format: who writes and who reads agree on the order.
package wire

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrDamaged tells that bytes are not what a Writer wrote.
var ErrDamaged = errors.New("the partial result is damaged")

// Writer appends to B.
type Writer struct{ B []byte }

// Uint appends a number in as few bytes as it needs.
func (w *Writer) Uint(n uint64) { w.B = binary.AppendUvarint(w.B, n) }

// Int is Uint for numbers with a sign.
func (w *Writer) Int(n int64) { w.B = binary.AppendVarint(w.B, n) }

// Fixed appends a number in eight bytes.
func (w *Writer) Fixed(n uint64) { w.B = binary.LittleEndian.AppendUint64(w.B, n) }

// Float appends a number to the last bit.
func (w *Writer) Float(f float64) { w.Fixed(math.Float64bits(f)) }

// Bool appends a byte.
func (w *Writer) Bool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	w.B = append(w.B, b)
}

// Text appends a text with its length.
func (w *Writer) Text(s string) {
	w.Uint(uint64(len(s)))
	w.B = append(w.B, s...)
}

// Texts appends a list.
func (w *Writer) Texts(list []string) {
	w.Uint(uint64(len(list)))
	for _, s := range list {
		w.Text(s)
	}
}

// Reader takes off B what a Writer appended. After the first error, which Err
// keeps, it gives zeros.
type Reader struct {
	B   []byte
	Err error
}

// Fail ends the reading with ErrDamaged.
func (r *Reader) Fail() {
	if r.Err == nil {
		r.Err = ErrDamaged
	}
	r.B = nil
}

// Uint reads what Writer.Uint wrote.
func (r *Reader) Uint() uint64 {
	n, k := binary.Uvarint(r.B)
	if k <= 0 {
		r.Fail()
		return 0
	}
	r.B = r.B[k:]
	return n
}

// Int reads what Writer.Int wrote.
func (r *Reader) Int() int64 {
	n, k := binary.Varint(r.B)
	if k <= 0 {
		r.Fail()
		return 0
	}
	r.B = r.B[k:]
	return n
}

// Count reads the length of a list, each member of which takes a byte at least.
func (r *Reader) Count() int {
	n := r.Uint()
	if n > uint64(len(r.B)) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Text reads what Writer.Text wrote.
func (r *Reader) Text() string {
	n := r.Count()
	s := string(r.B[:n])
	r.B = r.B[n:]
	return s
}

// Texts reads what Writer.Texts wrote.
func (r *Reader) Texts() []string {
	out := make([]string, 0, 8)
	for range r.Count() {
		out = append(out, r.Text())
	}
	return out
}

// Fixed reads what Writer.Fixed wrote.
func (r *Reader) Fixed() uint64 {
	if len(r.B) < 8 {
		r.Fail()
		return 0
	}
	n := binary.LittleEndian.Uint64(r.B)
	r.B = r.B[8:]
	return n
}

// Float reads what Writer.Float wrote.
func (r *Reader) Float() float64 { return math.Float64frombits(r.Fixed()) }

// Bool reads what Writer.Bool wrote.
func (r *Reader) Bool() bool {
	if len(r.B) == 0 {
		r.Fail()
		return false
	}
	v := r.B[0] == 1
	r.B = r.B[1:]
	return v
}

// Number reads the position of a member of a list and gives the member.
func Number[T any](r *Reader, list []T) (x T) {
	n := r.Uint()
	if n >= uint64(len(list)) {
		r.Fail()
		return x
	}
	return list[n]
}
