// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"encoding/hex"
	"strings"
)

// longestID is how many bytes of an id a UUID has room for.
const longestID = 14

// EvalUUID is the id of a run as a UUID of version 8, with the id in its free bits: RunOf reads it
// back. An id of more than 14 bytes has no UUID and stays as it is. Source: RFC 9562, section 5.8;
// Eval Case Interfaces, "EvalSuiteResult".
func EvalUUID(id string) string {
	if len(id) > longestID || id == "" {
		return id
	}
	var text [longestID]byte
	copy(text[:], id)
	var b [16]byte
	copy(b[:6], text[:6])
	b[6], b[7], b[8] = 0x80|byte(len(id)), text[6], 0x80
	copy(b[9:], text[7:])
	h := hex.EncodeToString(b[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// EvalRunOf is the inverse of EvalUUID; ok is false for a text that EvalUUID did not make.
func EvalRunOf(uuid string) (id string, ok bool) {
	b, err := hex.DecodeString(strings.ReplaceAll(uuid, "-", ""))
	if err != nil || len(b) != 16 {
		return "", false
	}
	n := int(b[6] & 0x0f)
	text := string(b[:6]) + string(b[7:8]) + string(b[9:])
	if n > longestID {
		return "", false
	}
	id = text[:n]
	return id, EvalUUID(id) == strings.ToLower(uuid)
}
