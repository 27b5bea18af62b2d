// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package child

import (
	"bufio"
	"bytes"
	"errors"
)

// ErrLong is the error of a line that has more bytes than are read.
var ErrLong = errors.New("the line is too long")

// Line reads a line that a command writes, without its end, which counts in its length. An error is
// that of r, or ErrLong for one of more than most bytes. Text after the last line end is not a
// line.
func Line(r *bufio.Reader, most int64) ([]byte, error) {
	var out []byte
	for {
		part, err := r.ReadSlice('\n')
		if int64(len(out)+len(part)) > most {
			return nil, ErrLong
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
