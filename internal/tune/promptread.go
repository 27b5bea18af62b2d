// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/report/plain"
)

// FailureKind is why an answer did not become a candidate.
type FailureKind string

// The kinds. NothingNew applies to a generation: none of its answers became a candidate.
const (
	FailureNoAnswer   FailureKind = "no_answer"
	FailureUnreadable FailureKind = "unreadable"
	FailureEmpty      FailureKind = "empty"
	FailureTooLong    FailureKind = "too_long"
	FailureBaseCopy   FailureKind = "copy_of_base"
	FailureCopy       FailureKind = "copy"
	FailurePlanted    FailureKind = "planted_instructions"
	FailureExpected   FailureKind = "holds_expected_value"
	FailureNothingNew FailureKind = "nothing_new"
)

// Failure is an answer that cannot be used, or a generation without a new candidate. The search
// continues with the existing candidates.
type Failure struct {
	Generation int         `json:"generation"`
	Question   string      `json:"question,omitempty"`
	Kind       FailureKind `json:"kind"`
	Detail     string      `json:"detail"`
	// Again: the question is asked once more, with the mistake.
	Again bool `json:"again,omitempty"`
}

// Answer is the text of a model's answer, or why there is none.
type Answer struct{ Text, Why string }

// read reads an answer to a question. The failure has a kind if the answer cannot be used.
func (e *Evolution) read(q *asked, a Answer) (c Candidate, f Failure) {
	fail := func(kind FailureKind, format string, args ...any) (Candidate, Failure) {
		return Candidate{}, Failure{
			Generation: q.Generation, Question: q.ID, Kind: kind, Detail: fmt.Sprintf(format, args...),
		}
	}
	if strings.TrimSpace(a.Text) == "" && a.Why != "" {
		return fail(FailureNoAnswer, "the model gave no answer: %s", plain.Limited(plain.Line(a.Why), 300))
	}
	text, mended, wrong := judge.ReadText(a.Text, "prompt", "system_prompt")
	if wrong != "" {
		return fail(FailureUnreadable, "%s", plain.Limited(plain.Line(wrong), 300))
	}
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) < 2 {
		return fail(FailureEmpty, "the prompt is empty")
	}
	if n := utf8.RuneCountInString(text); n > e.limit {
		return fail(FailureTooLong, "the prompt has %s characters, more than %s", plain.Thousands(n),
			plain.Thousands(e.limit))
	}
	at := slices.IndexFunc(e.all, func(c Candidate) bool { return fold(c.Prompt) == fold(text) })
	switch {
	case at == 0:
		return fail(FailureBaseCopy, "the prompt is the present one, the base")
	case at > 0:
		return fail(FailureCopy, "the prompt is a copy of prompt %d", at)
	}
	if what := planted(text, e.all[0].Prompt); what != "" {
		return fail(FailurePlanted, "the prompt %s", what)
	}
	if e.expected(q, text) {
		return fail(FailureExpected,
			"the prompt holds a value that one of the tasks expects: give rules, and no values of "+
				"single tasks")
	}
	note, _, _ := judge.ReadText(a.Text, "note")
	return Candidate{
		Prompt: text, Parent: q.Parent, Mutation: q.Mutation, Generation: q.Generation,
		Note: plain.Limited(plain.Line(note), 300), Mended: mended,
	}, Failure{}
}

// expected reports whether a prompt contains a value that a task of the question's evidence
// expects. Values in the prompts that the question shows, and in the definitions of the tools, do
// not count.
func (e *Evolution) expected(q *asked, text string) bool {
	text = fold(text)
	for _, ev := range q.evidence {
		for _, g := range ev.gold {
			if strings.Contains(text, g) && !strings.Contains(q.given, g) && !strings.Contains(e.definitions, g) {
				return true
			}
		}
	}
	return false
}

// plantedPatterns find parts of a prompt that were copied from a text with injected instructions:
// marks of other parts of a conversation, orders to ignore earlier rules, secrecy towards the user,
// files with keys. Orders alone are not unusual in a system prompt.
var plantedPatterns = []*regexp.Regexp{
	regexp.MustCompile(`(?i)<\|[^|\n]{0,40}\|>|\[/?INST\]|</?(system|assistant|user|important|secret|hidden)>|<!--`),
	regexp.MustCompile(`(?i)\b(ignore|disregard|forget|override)\s+(all\s+|any\s+|the\s+|your\s+|these\s+|my\s+)*` +
		`(previous|prior|above|earlier|preceding)\b`),
	regexp.MustCompile(`(?i)\b(do not|don't|never|without)\s+(ever\s+)?(tell|telling|inform|informing|alert|alerting|` +
		`notify|notifying)\s+(the\s+)?(user|human|anyone|anybody)\b`),
	regexp.MustCompile(`(?i)~/\.(ssh|aws|config|netrc)\b|\bid_rsa\b`),
}

// planted describes such parts of a prompt that are not in the base; "" for none.
func planted(text, base string) string {
	for _, r := range text {
		if r != '\n' && r != '\t' && r != '\r' &&
			unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) &&
			r != '\u200d' && !strings.ContainsRune(base, r) {
			return fmt.Sprintf("has a character that is not shown (U+%04X)", r)
		}
	}
	for _, p := range plantedPatterns {
		if found := p.FindString(text); found != "" && !p.MatchString(base) {
			return fmt.Sprintf("has what reads like a planted instruction: %q", plain.Limited(found, 80))
		}
	}
	return ""
}
