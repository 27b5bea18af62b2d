// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"strings"
	"sync"
)

// tailBytes is how much of standard error is shown.
const tailBytes = 2 << 10

// OutputTail keeps the end of its input. It keeps more than it shows, because the shown part may
// begin in the middle of a secret. It is safe for concurrent use.
type OutputTail struct {
	mu sync.Mutex
	b  []byte
}

// Write implements io.Writer; it never fails.
func (t *OutputTail) Write(p []byte) (int, error) {
	const kept = 2 * tailBytes
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[max(0, len(p)-kept):]...)
	if n := len(t.b); n > kept {
		t.b = append(t.b[:0], t.b[n-kept:]...)
	}
	return len(p), nil
}

// String returns the kept end as valid UTF-8; "" if nothing was written.
func (t *OutputTail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(tail(strings.ToValidUTF8(string(t.b), "\uFFFD"), tailBytes))
}

// longestWord is how far tail looks for the end of the first word, in bytes.
const longestWord = 512

// tail is the end of a text, of at most most bytes, from the beginning of a word: a part of a secret
// would not be recognized and masked. It is valid UTF-8 if s is.
func tail(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = strings.ToValidUTF8(s[len(s)-most:], "")
	if i := strings.IndexAny(s, " \t\r\n\"',;"); i >= 0 && i <= longestWord {
		s = s[i+1:]
	}
	return s
}
