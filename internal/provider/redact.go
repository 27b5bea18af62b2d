// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet/internal/redact"
)

const redacted = "[redacted]"

// redactor removes the key of the request from the answer, before the answer is truncated. Package
// redact removes other secrets from all answers.
type redactor struct {
	key string // "" when there is none, or one too short to be a secret
}

// newRedactor masks key. Keys under eight bytes ("none", "EMPTY") are stand-ins for local servers;
// hiding them would only damage texts.
func newRedactor(key string) redactor {
	if len(key) < 8 {
		key = ""
	}
	return redactor{key: key}
}

// text masks the key.
func (r redactor) text(s string) string {
	if r.key == "" {
		return s
	}
	return strings.ReplaceAll(s, r.key, redacted)
}

// bytes masks the key in a request.
func (r redactor) bytes(b []byte) []byte {
	if r.key == "" || !bytes.Contains(b, []byte(r.key)) {
		return b
	}
	return bytes.ReplaceAll(b, []byte(r.key), []byte(redacted))
}

// kept is an answer in its stored form: valid UTF-8, at most keptBody bytes, without the key.
func (r redactor) kept(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	cut := len(body) > keptBody
	// A part of the key must not remain at the truncation.
	if cut {
		body = body[:min(len(body), keptBody+len(r.key))]
	}
	s := string(body)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	s = r.text(s)
	if cut {
		s = redact.CutText(s, keptBody) + "…truncated"
	}
	return s
}
