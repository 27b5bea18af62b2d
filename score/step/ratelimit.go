// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package step

import (
	"github.com/callvet/callvet/score/check"
	"github.com/callvet/callvet/value"
)

// isError reports whether an error is recorded; an empty text is none.
func isError(v value.Value) bool {
	switch v.Kind() {
	case value.Invalid, value.Null:
		return false
	case value.String:
		return len(v.Raw()) > 2
	case value.Bool:
		return v.Bool()
	}
	return true
}

// maxErrorDepth is how deep in an error a code or message is looked for.
const maxErrorDepth = 4

// said are texts of late that name no rate limit: services say the same few things again
// and again.
type said struct {
	texts [8][]byte
	next  uint8 // the oldest
}

// maxSaid bounds a text that is kept, in bytes.
const maxSaid = 256

// tellsRateLimit reports whether an error says that the caller was too fast: HTTP
// status 429 or the usual names of it, in a text, a code or a message.
func (o *said) tellsRateLimit(v value.Value) bool { return o.limited(v, maxErrorDepth) }

func (o *said) limited(v value.Value, depth int) bool {
	switch v.Kind() {
	case value.String:
		return o.limitText(v.Raw())
	case value.Object:
		if depth == 0 {
			return false
		}
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			if e.Kind() == value.Number {
				if string(e.Raw()) == "429" && check.IsStatusKey(e.KeyBytes()) {
					return true
				}
			} else if o.limited(e, depth-1) {
				return true
			}
		}
	case value.Array:
		for e, ok := v.First(); ok && depth > 0; e, ok = v.Next(e) {
			if o.limited(e, depth-1) {
				return true
			}
		}
	}
	return false
}

func (o *said) limitText(s []byte) bool {
	for i := range o.texts {
		if string(o.texts[i]) == string(s) {
			return false
		}
	}
	if check.SaysRateLimit(s) {
		return true
	}
	if len(s) <= maxSaid {
		at := &o.texts[o.next]
		*at = append((*at)[:0], s...)
		o.next = (o.next + 1) % uint8(len(o.texts))
	}
	return false
}
