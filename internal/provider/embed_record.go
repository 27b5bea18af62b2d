// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"

	"github.com/callvet/callvet/retrieve"
)

// A record is: mark, checksum of all that follows, length of the model's name, number
// of floats, hash of the text, name, floats. Numbers are little-endian.
const (
	mark       = "\xfeCV1"
	atSum      = len(mark)
	atName     = atSum + 4
	atFloats   = atName + 2
	atHash     = atFloats + 4
	recordHead = atHash + 32

	maxName   = 1 << 10
	maxFloats = 1 << 16
)

// appendRecord writes one; the vector must have at most maxFloats numbers.
func appendRecord(b []byte, k retrieve.VectorKey, v []float32) []byte {
	from := len(b)
	b = append(b, mark...)
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(k.Model)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
	b = append(b, k.Text[:]...)
	b = append(b, k.Model...)
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	binary.LittleEndian.PutUint32(b[from+atSum:], checksum(b[from:]))
	return b
}

func checksum(record []byte) uint32 {
	return crc32.Checksum(record[atName:], crc32.MakeTable(crc32.Castagnoli))
}

// sizeOf is the length of the record that begins with head; 0 if head begins no record.
func sizeOf(head []byte) int {
	if len(head) < recordHead || string(head[:atSum]) != mark {
		return 0
	}
	name, floats := int(binary.LittleEndian.Uint16(head[atName:])), int(binary.LittleEndian.Uint32(head[atFloats:]))
	if name > maxName || floats > maxFloats {
		return 0
	}
	return recordHead + name + 4*floats
}

// parse reads a whole record; ok is false for a damaged one. model is part of b.
func parse(b []byte) (text [32]byte, model, floats []byte, ok bool) {
	n := sizeOf(b)
	if n == 0 || n != len(b) || binary.LittleEndian.Uint32(b[atSum:]) != checksum(b) {
		return text, nil, nil, false
	}
	name := recordHead + int(binary.LittleEndian.Uint16(b[atName:]))
	return [32]byte(b[atHash:recordHead]), b[recordHead:name], b[name:], true
}

func readFloats(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

// scan calls found with every valid record of r and its offset, counted from at. It skips damaged
// bytes up to the next mark.
func scan(r io.Reader, at int64, found func(at int64, record []byte)) error {
	in := bufio.NewReaderSize(r, recordHead+maxName+4*maxFloats)
	for {
		head, err := in.Peek(recordHead)
		if err != nil && err != io.EOF {
			return err
		}
		if len(head) < recordHead {
			return nil // the end, or a head cut off
		}
		skip := 0
		if n := sizeOf(head); n > 0 {
			record, err := in.Peek(n)
			if err != nil && err != io.EOF {
				return err
			}
			if _, _, _, ok := parse(record); ok {
				found(at, record)
				skip = n
			}
		}
		if skip == 0 {
			window, _ := in.Peek(min(in.Size(), max(recordHead, in.Buffered())))
			if skip = bytes.Index(window[1:], []byte(mark)) + 1; skip == 0 {
				skip = len(window) - len(mark) + 1 // a mark may be cut in two
			}
		}
		n, err := in.Discard(skip)
		at += int64(n)
		if err != nil {
			return err
		}
	}
}
