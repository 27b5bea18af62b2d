// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"bufio"
	"bytes"
	"errors"
)

// ErrLongLine is the error of a line with more bytes than the limit.
var ErrLongLine = errors.New("the line is too long")

// ReadLine returns a line that a command wrote, without its line end; most bounds its length with
// the line end. The error is r's, or ErrLongLine for a line of more than most bytes. Text after the
// last line end is not a line.
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
