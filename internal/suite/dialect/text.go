// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Name is what messages call a file.
func Name(path string) string {
	if path == "" {
		return "the input"
	}
	return path
}

// Stem is the file's name without its directory and its first extension on.
func Stem(path string) string {
	base := filepath.Base(path)
	if path == "" || base == "." {
		return "suite"
	}
	if i := strings.IndexByte(base, '.'); i > 0 {
		base = base[:i]
	}
	return base
}

func yamlPath(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".yaml" || ext == ".yml"
}

func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n < 2 {
			return i
		}
		i += n
	}
	return -1
}

// bom is the byte order mark of UTF-8.
const bom = "\ufeff"

// blankBOM puts blanks in the place of a byte order mark, so that offsets stay.
func blankBOM(b []byte) []byte {
	if !bytes.HasPrefix(b, []byte(bom)) {
		return b
	}
	return append([]byte("   "), b[len(bom):]...)
}

// FirstByte is the first byte that is neither white space nor in a // or /* */
// comment; 0 when there is none.
func FirstByte(b []byte) byte {
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		case c == '/' && i+1 < len(b) && (b[i+1] == '/' || b[i+1] == '*'):
			i = commentEnd(b, i) - 1
		default:
			return c
		}
	}
	return 0
}

// commentEnd is the offset after the comment that starts at i.
func commentEnd(b []byte, i int) int {
	mark, skip := "\n", 0
	if b[i+1] == '*' {
		mark, skip = "*/", 2
	}
	if j := bytes.Index(b[i+2:], []byte(mark)); j >= 0 {
		return i + 2 + j + skip
	}
	return len(b)
}
