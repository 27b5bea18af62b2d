// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"regexp"
	"slices"
	"strings"
)

// Word reads a verdict in one or a few words, as judges spell it: "PASS", "yes", "satisfactory",
// "partially satisfied". known is false where it is neither a pass nor a fail, such as "unknown".
func Word(s string) (pass, known bool) {
	s = strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), " ")
	switch {
	case slices.Contains(passWords(), s):
		return true, true
	case slices.Contains(failWords(), s):
		return false, true
	}
	// A partial success is no pass.
	for _, half := range [...]string{"partially ", "partly ", "mostly ", "partial "} {
		if rest, ok := strings.CutPrefix(s, half); ok {
			if _, known = Word(rest); known || rest == "success" {
				return false, true
			}
		}
	}
	if rest, ok := strings.CutPrefix(s, "not "); ok {
		if pass, known = Word(rest); known {
			return !pass, true
		}
	}
	return false, false
}

func passWords() []string {
	return []string{
		"pass", "passed", "passes", "true", "yes", "y", "1", "ok", "okay", "success", "successful", "succeeded",
		"successfully completed", "satisfied", "satisfactory", "compliant",
		"correct", "right", "acceptable", "accepted", "approved", "good", "complete", "completed", "achieved", "valid",
	}
}

func failWords() []string {
	return []string{
		"fail", "failed", "fails", "failure", "false", "no", "n", "0", "unsuccessful", "unsatisfied", "dissatisfied",
		"unsatisfactory", "noncompliant", "non compliant",
		"incorrect", "wrong", "unacceptable", "rejected", "bad", "incomplete", "partial", "partially",
		"invalid", "marginal",
	}
}

// labelled finds "Status: failure", "**Verdict** - pass" and the like. The text after the label
// is a verdict of at most three words up to the end of the line or sentence.
var labelled = regexp.MustCompile(
	"(?im)(?:^|[\\s*_#>(])(?:final\\s+|overall\\s+)?(?:status|verdict|result|judge?ment|decision|outcome|conclusion|answer|grade|pass)[\\s*_\"'`]*(?:(?:\\bis\\b\\s*)?(?::|=|—|–|->)|\\bis\\b)[\\s*_\"'`“”\\[(]*([\\pL\\pN][\\pL\\pN_-]*(?:[ _][\\pL\\pN_-]+){0,2}?)[\\s*_\"'`“”\\])]*(?:[.,;!)]|$)")

// prose finds the verdicts in a text that is no JSON. A text of at most four words is one
// itself.
func prose(text string) []bool {
	trimmed := strings.Trim(strings.TrimSpace(text), "*_#`\"'.!“” \t\n")
	if len(strings.Fields(trimmed)) <= 4 {
		if pass, known := Word(trimmed); known {
			return []bool{pass}
		}
	}
	var out []bool
	for _, m := range labelled.FindAllStringSubmatch(text, -1) {
		if pass, known := Word(m[1]); known {
			out = append(out, pass)
		}
	}
	return out
}

// thought is the text that reasoning models write before their answer. A thought without an end
// was cut off: no answer follows it.
var thought = regexp.MustCompile(`(?is)<think(?:ing)?>.*?(?:</think(?:ing)?>|\z)`)

// thoughtEnd ends a thought that began in the prompt.
var thoughtEnd = regexp.MustCompile(`(?is)\A.*</think(?:ing)?>`)

// unthought is an answer without the thoughts before it.
func unthought(text string) string {
	return thoughtEnd.ReplaceAllString(thought.ReplaceAllString(text, " "), " ")
}

// refusal matches the texts of models that refuse to judge.
var refusal = regexp.MustCompile(
	`(?i)\b(?:I(?:'m| am) sorry|I can(?:'|no)t (?:help|assist|comply|do|provide|evaluate|judge)|I(?:'m| am) (?:unable|not able)|I (?:won't|will not|must decline)|as an AI)\b`)
