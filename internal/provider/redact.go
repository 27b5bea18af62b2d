// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"
)

const redacted = "[redacted]"

// secretForms are what credentials look like where a server quotes them.
var secretForms = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[a-z0-9._~+/=*-]{12,}`),
	regexp.MustCompile(`(?i)("?(?:x-api-key|api-key|api_key|x-goog-api-key|authorization)\\?"?\s*[:=]\s*\\?"?)[^\s"',}\\]{8,}`),
	regexp.MustCompile(`(?i)([?&]key=)[^&\s"]{8,}`),
	regexp.MustCompile(`(\b)sk-[A-Za-z0-9_*-]{8,}`),
}

// redactor takes a key out of whatever is kept.
type redactor struct {
	key string // "" when there is none, or one too short to be a secret
}

// newRedactor hides key. Keys under eight bytes ("none", "EMPTY") are stand-ins
// for local servers; hiding them would only damage texts.
func newRedactor(key string) redactor {
	if len(key) < 8 {
		key = ""
	}
	return redactor{key: key}
}

// text hides the key and everything that looks like a credential.
func (r redactor) text(s string) string {
	if r.key != "" {
		s = strings.ReplaceAll(s, r.key, redacted)
	}
	for _, re := range secretForms {
		s = re.ReplaceAllString(s, "${1}"+redacted)
	}
	return s
}

// bytes hides the key in a request of our own.
func (r redactor) bytes(b []byte) []byte {
	if r.key == "" || !bytes.Contains(b, []byte(r.key)) {
		return b
	}
	return bytes.ReplaceAll(b, []byte(r.key), []byte(redacted))
}

// kept is an answer as it is stored: valid UTF-8, at most keptBody bytes, no
// secret. An answer that went well is searched for the key and for bearer tokens
// only; one that did not may quote a request's headers in any form.
func (r redactor) kept(body []byte, status int) string {
	if len(body) == 0 {
		return ""
	}
	cut := len(body) > keptBody
	// A key must not survive because the cut goes through it.
	if cut {
		body = body[:min(len(body), keptBody+len(r.key))]
	}
	s := string(body)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if status != http.StatusOK || r.key != "" && strings.Contains(s, r.key) || strings.Contains(s, "earer ") || strings.Contains(s, "uthorization") {
		s = r.text(s)
	}
	if cut {
		s = strings.ToValidUTF8(s[:min(len(s), keptBody)], "") + "…truncated"
	}
	return s
}
