// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"iter"

	"github.com/callvet/callvet/value"
)

const (
	// maxUsed bounds how many values of a result are searched in an answer.
	maxUsed = 1 << 10
	// maxUsedWords is the length in words up to which an answer must quote a text to use it. An
	// answer may use a longer text without quoting it.
	maxUsedWords = 12
)

// Used reports whether an answer has any string or number of a call's result. Values in known do
// not count, because the answer may have taken them from there. decided is false where no other
// value is left.
func Used(result value.Value, known, answer *Corpus) (used, decided bool) {
	u := usage{known: Grounder{Sources: known}, answer: Grounder{Sources: answer}}
	u.walk(result)
	return u.used, u.decided
}

type usage struct {
	known, answer Grounder
	seen          int
	used, decided bool
}

func (u *usage) walk(v value.Value) {
	switch v.Kind() {
	case value.Object, value.Array:
		for e, ok := v.First(); ok && !u.used; e, ok = v.Next(e) {
			u.walk(e)
		}
	case value.String, value.Number:
		text := v.Bytes()
		if u.seen++; u.seen > maxUsed || v.Kind() == value.String && len(text) == 0 || u.known.has(v) {
			return
		}
		u.used = u.answer.has(v)
		u.decided = u.decided || u.used || v.Kind() == value.Number || !longer(wordsOf(text), maxUsedWords)
	}
}

// longer reports whether there are more than n words.
func longer(words iter.Seq[[]byte], n int) bool {
	for range words {
		if n--; n < 0 {
			return true
		}
	}
	return false
}
