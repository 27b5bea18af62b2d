// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"bufio"
	"bytes"
	"errors"
)

// ErrLongLine is the error of a line that has more bytes than are read.
var ErrLongLine = errors.New("the line is too long")

// ReadLine reads a line that a command writes, without its end, which counts in its length. An error is
// that of r, or ErrLongLine for one of more than most bytes. Text after the last line end is not a
// line.
func ReadLine(r *bufio.Reader, most int64) ([]byte, error) {
	var out []byte
	for {
		part, err := r.ReadSlice('\n')
		if int64(len(out)+len(part)) > most {
			return nil, ErrLongLine
		}
		out = append(out, part...)
		switch {
		case err == nil:
			return bytes.TrimRight(out, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
