// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/callvet/callvet"
)

// Stored data has a checksum, so that damage of the file is found when it is read, and never
// changes a verdict. A text has it at its end, after a mark; the columns of a cell have it in the
// flags. Rows of earlier versions have none, and are read unchecked.

// sumMark precedes the checksum of a text. JSON contains no such byte, and no damaged bit makes a
// space of it.
const sumMark = 0x13

const sumBytes = 5 // with the mark

// castagnoli is the table of the polynomial that processors support.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// ErrDamaged means that a text or a row has a wrong checksum. It wraps callvet.ErrInvalid.
var ErrDamaged = fmt.Errorf("its checksum is another: the store is damaged: %w", callvet.ErrInvalid)

// seal appends its checksum to a text, which begins at from.
func seal(b []byte, from int) []byte {
	sum := crc32.Checksum(b[from:], castagnoli())
	return binary.LittleEndian.AppendUint32(append(b, sumMark), sum)
}

// sealed is a text with its checksum.
func sealed(text []byte) []byte {
	return seal(append(make([]byte, 0, len(text)+sumBytes), text...), 0)
}

// unseal returns a text without its checksum; the error is ErrDamaged.
func unseal(b []byte) ([]byte, error) {
	at := len(b) - sumBytes
	if at < 0 || b[at] != sumMark {
		return b, nil // of an earlier version
	}
	if crc32.Checksum(b[:at], castagnoli()) != binary.LittleEndian.Uint32(b[at+1:]) {
		return nil, ErrDamaged
	}
	return b[:at], nil
}

// The flags column has the flags in its lowest byte, the checksum above it, and a mark in its
// highest byte. If a damaged bit moves columns, another value in its place is not as small as flags
// without a checksum.
const (
	sumShift  = 16
	markShift = 56
	flagsMark = int64(0x5a)
)

// columns are the small columns of a cell: its place, its result, and its cost.
type columns struct {
	run                             number
	at                              place
	outcome, verdict, class, caseID word
	overall, cost, requests         number
	flags                           bits
	scratch                         []byte
}

// bits is the flags column: -1 if it does not contain a whole number.
type bits int64

// Scan takes a value.
func (b *bits) Scan(v any) error {
	*b = -1
	if n, ok := v.(int64); ok {
		*b = bits(n)
	}
	return nil
}

// word is a text column: the database may contain any type in it.
type word string

// Scan reads a value; a value that is not a text is empty.
func (w *word) Scan(v any) error {
	switch v := v.(type) {
	case string:
		*w = word(v)
	case []byte:
		*w = word(v)
	default:
		*w = ""
	}
	return nil
}

// columnNames are columns in their order.
const columnNames = "run,case_ix,target_ix,repeat,outcome,verdict,class,case_id,overall,cost,requests,flags"

// fields returns the destinations of a row.
func (c *columns) fields() []any {
	return []any{
		&c.run, &c.at[0], &c.at[1], &c.at[2], &c.outcome, &c.verdict, &c.class, &c.caseID, &c.overall, &c.cost,
		&c.requests, &c.flags,
	}
}

// flag returns the flags without the checksum.
func (c *columns) flag() int { return int(c.flags & 0xff) }

// old reports whether the columns are from an earlier version, without a checksum.
func (c *columns) old() bool { return c.flags>>8 == 0 }

// sum returns the checksum of the columns.
func (c *columns) sum() uint32 {
	b := c.scratch[:0]
	for _, n := range []int{
		c.run.whole(), c.at[0].whole(), c.at[1].whole(), c.at[2].whole(),
		c.requests.whole(), c.flag(),
	} {
		b = binary.AppendVarint(b, int64(n))
	}
	for _, n := range []*number{&c.overall, &c.cost} {
		if !n.known {
			b = append(b, 0)
			continue
		}
		b = binary.LittleEndian.AppendUint64(append(b, 1), math.Float64bits(n.f+0)) // SQLite keeps no -0
	}
	for _, s := range []word{c.outcome, c.verdict, c.class, c.caseID} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	c.scratch = b
	return crc32.Checksum(b, castagnoli())
}

// check returns ErrDamaged if the columns differ from the written ones.
func (c *columns) check() error {
	if c.old() || int64(c.flags) == c.summed() {
		return nil
	}
	return ErrDamaged
}

// summed returns the flags with the checksum.
func (c *columns) summed() int64 {
	return int64(c.flag()) | int64(c.sum())<<sumShift | flagsMark<<markShift
}
