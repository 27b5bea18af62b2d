// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"io"
)

// Reader returns the records of a trace file one after the other, in memory that does not depend
// on the file's size.
type Reader struct {
	blocks *Blocks
	scan   *Scanner
	rest   []byte
	line   int64
	buf    []byte
}

// Open starts reading trace lines from r, which may be compressed with gzip.
// The error wraps callvet.ErrInvalid.
func Open(r io.Reader, o Options) (*Reader, error) {
	b, err := NewBlocks(r, o)
	if err != nil {
		return nil, err
	}
	return &Reader{blocks: b, scan: NewScanner(o)}, nil
}

// Next returns the next record, or io.EOF. The View is valid until the next call; its Step or
// Task can be kept. Lines that are no record go to the Log, or end the reading when the reader is
// strict.
func (r *Reader) Next() (*View, error) {
	for {
		for len(r.rest) > 0 {
			v, rest, err := r.scan.one(r.line, r.rest)
			r.rest = rest
			r.line++
			if v != nil || err != nil {
				return v, err
			}
		}
		b, err := r.blocks.Next(r.buf)
		if err != nil {
			return nil, err
		}
		if b.skipped > 0 {
			if err := r.scan.Scan(b, nil); err != nil {
				return nil, err
			}
			continue
		}
		r.buf, r.rest, r.line, r.scan.folded = b.Data, b.Data, b.Line, b.folded
	}
}

// Log has the problems so far.
func (r *Reader) Log() *Log { return &r.scan.Log }
