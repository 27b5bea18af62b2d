// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"encoding/binary"
	"fmt"
	"hash/crc64"

	"github.com/callvet/callvet"
)

// seal appends a checksum to a partial result: a result damaged in transit from another machine may
// still look valid.
func seal(b []byte) []byte {
	return binary.LittleEndian.AppendUint64(b, crc64.Checksum(b, crc64.MakeTable(crc64.ECMA)))
}

// unseal checks and removes the checksum. The error wraps callvet.ErrInvalid.
func unseal(b []byte) ([]byte, error) {
	n := len(b) - 8
	if n < 0 || crc64.Checksum(b[:n], crc64.MakeTable(crc64.ECMA)) != binary.LittleEndian.Uint64(b[n:]) {
		return nil, fmt.Errorf("read partial result: it was damaged or cut off: %w", callvet.ErrInvalid)
	}
	return b[:n], nil
}
