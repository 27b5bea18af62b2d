// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/callvet/callvet"
)

const (
	// maxRatio is the highest ratio of unpacked to packed size. JSON of real traces has 5 to 60, of
	// tests that repeat one line up to 300. A file of zeros, the content of a zip bomb, has 1030.
	maxRatio = 500
	// freeBytes may be unpacked before the ratio is checked, because so few bytes are harmless.
	freeBytes = 64 << 20
	// bufferSize is the buffer of a stream; this many bytes can be inspected before they are
	// read.
	bufferSize = 64 << 10
)

// Unpack returns a stream without gzip compression; packed reports that it had one. limit is the
// highest number of bytes, 0: no limit. Reading beyond it returns an error that wraps
// callvet.ErrLimited; a stream that is cut off returns one that wraps callvet.ErrInvalid.
func Unpack(r io.Reader, limit int64) (plain *bufio.Reader, packed bool, err error) {
	in := &counter{r: r}
	br := bufio.NewReaderSize(in, bufferSize)
	head, err := br.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	packed, err = Packed(head)
	if err != nil {
		return nil, true, err
	}
	if !packed {
		if limit == 0 {
			return br, false, nil
		}
		return bufio.NewReaderSize(&bounded{r: br, limit: limit}, bufferSize), false, nil
	}
	z, err := gzip.NewReader(br)
	if err != nil {
		return nil, true, fmt.Errorf("read gzip: %w: %w", callvet.ErrInvalid, err)
	}
	return bufio.NewReaderSize(&bounded{r: z, limit: limit, packed: in}, bufferSize), true, nil
}

// Packed reports by the first bytes of a stream (six are enough) whether it is compressed with
// gzip. A different compression is an error with the command that unpacks it.
func Packed(head []byte) (gzip bool, err error) {
	for name, magic := range map[string]string{"zstd": "\x28\xb5\x2f\xfd", "xz": "\xfd7zXZ", "bzip2": "BZh"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return false, &callvet.Hinted{
				Err:  fmt.Errorf("it is compressed with %s, which is not read: %w", name, callvet.ErrInvalid),
				Hint: name + " -dc FILE unpacks it; gzip is read as it is",
			}
		}
	}
	return bytes.HasPrefix(head, []byte{0x1f, 0x8b}), nil
}

// ReadAll returns data without gzip compression; uncompressed data is unchanged. name is for
// errors, which are the errors of Unpack.
func ReadAll(name string, data []byte, limit int64) ([]byte, error) {
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("read %s: %w", name, tooMuch(limit))
	}
	if packed, err := Packed(data); err == nil && !packed {
		return data, nil
	}
	plain, _, err := Unpack(bytes.NewReader(data), limit)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	out, err := ReadWhole(plain, limit)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return out, nil
}

// ReadFile reads a whole file unchanged. Reading an endless device ends at the limit.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := ReadWhole(f, limit)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return b, nil
}

// ReadWhole reads a stream into memory of its size, of at most limit bytes: while it is read it
// is in memory at most twice. With an error of reading, the data before the error is returned,
// too.
func ReadWhole(r io.Reader, limit int64) ([]byte, error) {
	const least, most = 64 << 10, 16 << 20
	var parts [][]byte
	total := int64(0)
	for size := least; ; size = min(2*size, most) {
		part := make([]byte, size)
		n, err := io.ReadFull(r, part)
		parts, total = append(parts, part[:n]), total+int64(n)
		if total > limit {
			return nil, tooMuch(limit)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return joined(parts, total), nil
		}
		if err != nil {
			return joined(parts, total), err
		}
	}
}

func joined(parts [][]byte, total int64) []byte {
	if len(parts) == 1 {
		return parts[0]
	}
	out := make([]byte, 0, total)
	for i, p := range parts {
		out, parts[i] = append(out, p...), nil
	}
	return out
}

func tooMuch(limit int64) error {
	return fmt.Errorf("more than %s: %w", SizeText(limit), callvet.ErrLimited)
}

// SizeText writes a number of bytes for a person: 64 MiB, 1000 bytes.
func SizeText(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// counter counts what was read of a compressed stream.
type counter struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded ends a stream with an error at its limit, or where it unpacks to too many bytes.
type bounded struct {
	r      io.Reader
	n      int64
	limit  int64    // 0: none
	packed *counter // nil: it is not compressed
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	switch {
	case b.limit > 0 && b.n > b.limit:
		return 0, tooMuch(b.limit)
	case b.packed != nil && b.n > freeBytes && b.n/maxRatio > b.packed.n:
		return 0, fmt.Errorf("it unpacks to more than %d times its size (%d bytes to more than %s): %w", maxRatio,
			b.packed.n, SizeText(b.n>>20<<20), callvet.ErrLimited)
	case b.packed != nil && errors.Is(err, io.ErrUnexpectedEOF):
		return n, &callvet.Hinted{
			Err:  fmt.Errorf("the gzip stream is cut off: %w", callvet.ErrInvalid),
			Hint: "copy the file again; `gzip -dc FILE | callvet score -` scores what is there",
		}
	case b.packed != nil && err != nil && !errors.Is(err, io.EOF):
		return n, fmt.Errorf("read gzip: %w: %w", callvet.ErrInvalid, err)
	}
	return n, err
}
