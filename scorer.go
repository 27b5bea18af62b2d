// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Limits of a scorer that a suite defines.
const (
	// DefaultScorerTimeout is how long one answer of a scorer without a timeout may take.
	DefaultScorerTimeout = 10 * time.Second
	// MaxScorerTimeout is the longest timeout of a scorer.
	MaxScorerTimeout = 10 * time.Minute
	// maxScorerName bounds names of scorers and of their values, in bytes.
	maxScorerName = 64
)

// Scorer is a rule that a suite defines to judge attempts. At most one of Expr, Exec, JavaScript
// and Python is set. Where none is, the program that embeds callvet has a scorer of that name
// (score.Config).
type Scorer struct {
	// Name consists of letters, digits, _ and -, and is unique within a case. The score is called
	// scorer.NAME.
	Name string `json:"name"`
	// Expr is an expression in the language of post-conditions over score.Attempt in its JSON form.
	// A number is a score in [0,1], true or false a verdict.
	Expr string `json:"expr,omitempty"`
	// Exec is a command that reads attempts from standard input, a line of JSON each, and writes a
	// line of JSON for each. Files are further files of the program; a change of them, or of a file
	// in the command, changes the scorer's version.
	Exec  string   `json:"exec,omitempty"`
	Files []string `json:"files,omitempty"`
	// JavaScript and Python are an expression, or the body of a function, of (output, context) as
	// in promptfoo. node and python3 run them.
	JavaScript string `json:"javascript,omitempty"`
	Python     string `json:"python,omitempty"`
	// Vars is a JSON object for the program: context.vars in JavaScript and Python.
	Vars json.RawMessage `json:"vars,omitempty"`
	// Timeout bounds one answer, such as "10s"; "": DefaultScorerTimeout.
	Timeout string `json:"timeout,omitempty"`
	// Threshold is the least score that passes, where the scorer returns no verdict itself. Nil:
	// such a score decides nothing.
	Threshold *float64 `json:"threshold,omitempty"`
	// Negated inverts the verdict. The score is unchanged.
	Negated bool `json:"negated,omitempty"`
	// Blind scorers are not shown what the case expects.
	Blind bool `json:"blind,omitempty"`
}

// ScorerPrefix is the prefix of the scores of a suite's own scorers.
const ScorerPrefix = "scorer."

// Metric is the name of its score.
func (s *Scorer) Metric() string { return ScorerPrefix + s.Name }

// Runs reports whether the scorer runs as a process.
func (s *Scorer) Runs() bool { return s.Exec != "" || s.JavaScript != "" || s.Python != "" }

// Command is a short form of the command that runs; "" where no process runs.
func (s *Scorer) Command() string {
	switch {
	case s.Exec != "":
		return s.Exec
	case s.JavaScript != "":
		return "node, with JavaScript of the suite"
	case s.Python != "":
		return "python3, with Python of the suite"
	}
	return ""
}

// Wait is how long one answer may take. The error wraps ErrInvalid.
func (s *Scorer) Wait() (time.Duration, error) {
	if s.Timeout == "" {
		return DefaultScorerTimeout, nil
	}
	d, err := time.ParseDuration(s.Timeout)
	switch {
	case err != nil:
		return 0, fmt.Errorf("timeout %q is no duration: %w", s.Timeout, ErrInvalid)
	case d <= 0 || d > MaxScorerTimeout:
		return 0, fmt.Errorf("timeout %s is not above 0 and at most %s: %w", s.Timeout, MaxScorerTimeout, ErrInvalid)
	}
	return d, nil
}

// ScorerName reports whether s can be the name of a scorer or of a value that one gives: 1 to
// 64 letters, digits, _ and -, of ASCII.
func ScorerName(s string) bool {
	if s == "" || len(s) > maxScorerName {
		return false
	}
	for _, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// Sum is the version of the scorer: 12 hexadecimal digits, a hash of its fields (name, threshold
// and timeout included) and of more, such as the content of its files.
func (s *Scorer) Sum(more ...string) string {
	h := sha256.New()
	b, err := json.Marshal(s)
	if err != nil { // only a number that is not finite cannot be encoded
		b = []byte(fmt.Sprintf("%+v", *s))
	}
	h.Write(b)
	for _, m := range more {
		_, _ = fmt.Fprintf(h, "\n%d:%s", len(m), m)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}

// Kind is one word for how the scorer judges.
func (s *Scorer) Kind() string {
	switch {
	case s.Expr != "":
		return "expr"
	case s.Exec != "":
		return "exec"
	case s.JavaScript != "":
		return "javascript"
	case s.Python != "":
		return "python"
	}
	return "go"
}

// Asks is what the scorer asks for, in the words of a report.
func (s *Scorer) Asks() string {
	how := cmp.Or(s.Expr, s.Exec, s.JavaScript, s.Python, "its Go code")
	if i := strings.IndexAny(how, "\r\n"); i >= 0 {
		how = how[:i] + " …"
	}
	if s.Threshold != nil {
		how = fmt.Sprintf("at least %g of %s", *s.Threshold, how)
	}
	if s.Negated {
		how = "not " + how
	}
	return how
}
