// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/callvet/callvet"
)

// peerSuites are suites for tests of peers without a suite in the data, or with a suite of a different
// meaning. The attempts are ours.
//
//go:embed peers_said.jsonl
var peerSuites string

// saying is a suite for one kind of test, with attempts and the right verdict of each.
type saying struct {
	// Peer names one peer and Test is a pattern of names of its tests, with * for any text. Kind is a
	// pattern of the reason why the data have no suite for the test. Without Kind the saying replaces
	// the suite of a row.
	Peer, Test, Kind string
	Case             map[string]json.RawMessage
	Attempts         []suiteAttempt

	kind *regexp.Regexp
}

type suiteAttempt struct {
	Actual json.RawMessage
	// Case replaces the case of the saying.
	Case map[string]json.RawMessage
	// Verdict is pass, fail, error, "not evaluated" or "refused: " with a part of the suite's error.
	Verdict string
}

type sayings []saying

func readSayings(text string) (sayings, error) {
	var out sayings
	for line := range strings.Lines(text) {
		var s saying
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			return nil, fmt.Errorf("read the suites for tests of peers: %w", err)
		}
		if s.Kind != "" {
			var err error
			if s.kind, err = regexp.Compile("(?i)" + s.Kind); err != nil {
				return nil, fmt.Errorf("read the suites for tests of peers: %w", err)
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// of returns the first saying that fits a row; nil if there is none or the row has a suite.
func (w sayings) of(r *peerRow) *saying {
	for i := range w {
		s := &w[i]
		if s.Peer != "" && s.Peer != r.Peer || s.Test != "" && !callvet.NameFits(s.Test, r.Test, true) {
			continue
		}
		if s.kind == nil || r.Suite == nil && s.kind.MatchString(r.Unsaid) {
			return s
		}
	}
	return nil
}

// suiteDiffers describes why no suite expresses a row, and the reason of principle.
func (r *peerRow) suiteDiffers(ctx context.Context, words sayings) (differs, why string) {
	s := words.of(r)
	if s == nil {
		return "no suite expresses it: " + r.Unsaid, r.unsayable()
	}
	return s.differs(ctx), ""
}

// differs describes the attempts with a wrong verdict.
func (s *saying) differs(ctx context.Context) string {
	var out []string
	for i := range s.Attempts {
		a := &s.Attempts[i]
		if got := a.verdict(ctx, s.Case); got != a.Verdict &&
			(!strings.HasPrefix(a.Verdict, refused) || !strings.HasPrefix(got, refused) ||
				!strings.Contains(got, strings.TrimPrefix(a.Verdict, refused))) {
			out = append(out, fmt.Sprintf("attempt %d: wanted %s, got %s", i+1, a.Verdict, got))
		}
	}
	return strings.Join(out, "; ")
}

const refused = "refused: "

func (a *suiteAttempt) verdict(ctx context.Context, of map[string]json.RawMessage) string {
	if a.Case != nil {
		of = a.Case
	}
	row := peerRow{Route: ownRoute, Suite: &peerSuite{Case: of, Actual: a.Actual}}
	result, err := row.scored(ctx, nil)
	switch {
	case errors.Is(err, callvet.ErrInvalid):
		return refused + err.Error()
	case err != nil:
		return err.Error()
	case result.NotEvaluated > 0 && result.Verdict != callvet.VerdictFail:
		return "not evaluated"
	}
	return strings.TrimSpace(string(result.Verdict))
}
