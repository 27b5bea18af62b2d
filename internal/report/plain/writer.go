// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Writer makes every character of a text visible on a terminal. Hidden characters from DEL on
// become \u escapes of JSON; C1 controls and direction overrides are among them. In JSON, and
// within double quotes of YAML, that is the same text. Texts of a format without escapes have
// passed through Clean before. Bytes below DEL pass: terminals need them for color, and JSON
// escapes them itself. Safe for concurrent use.
type Writer struct {
	// W receives the text.
	W io.Writer

	mu   sync.Mutex
	part []byte // the begin of a character
}

// Write implements io.Writer. A character that is cut off at the end waits for the
// rest of it, or for Flush.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.part) == 0 && ascii(b) {
		return w.W.Write(b)
	}
	text := append(w.part, b...)
	end := len(text)
	for i := max(0, end-utf8.UTFMax); i < end; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			end = i
			break
		}
	}
	w.part = bytes.Clone(text[end:])
	if _, err := w.W.Write(Visible(text[:end])); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush writes the bytes of a character that was cut off.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.part) == 0 {
		return nil
	}
	w.part = nil
	_, err := io.WriteString(w.W, string(utf8.RuneError))
	return err
}

// Visible is a text as a Writer passes it on.
func Visible(b []byte) []byte {
	if ascii(b) {
		return b
	}
	out := make([]byte, 0, len(b)+16)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		out, b = appendVisible(out, r, b[:n]), b[n:]
	}
	return out
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= 0x7f {
			return false
		}
	}
	return true
}

// appendVisible appends text, the bytes of a visible character, or the escape of a hidden one.
func appendVisible(out []byte, r rune, text []byte) []byte {
	switch {
	case r == utf8.RuneError && len(text) == 1:
		return append(out, "\uFFFD"...)
	case r < 0x7f || !Hidden(r):
		return append(out, text...)
	case r > 0xffff:
		a, b := utf16.EncodeRune(r)
		return fmt.Appendf(out, `\u%04x\u%04x`, a, b)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}
