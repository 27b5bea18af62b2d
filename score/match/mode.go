// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"fmt"
	"strings"
	"time"

	"github.com/callvet/callvet"
)

// The modes and per-parameter matchers of the scoring rules.
const (
	ModeExact           = "exact"
	ModeStrict          = "strict"
	ModeCaseInsensitive = "case_insensitive"
	ModeContains        = "contains"
	ModeFuzzy           = "fuzzy"
	ModeNumeric         = "numeric_tolerance"
	ModeDate            = "date"
	ModeRegex           = "regex"
	ModeSemantic        = "semantic"
	ModeAnyOf           = "any_of"
	ModePresent         = "present"
	ModeAbsent          = "absent"
	ModeType            = "type"
	ModeUnordered       = "unordered"
	ModeSubset          = "subset"
	ModePartial         = "partial"
	ModeText            = "text"
)

// Defaults of the settings that a suite may leave out.
const (
	DefaultThreshold = 0.85 // fuzzy and semantic similarity, inclusive
	DefaultEpsilon   = 0.01 // numeric_tolerance, absolute, inclusive
)

// Modes lists every mode name, those for whole cases first.
func Modes() []string {
	return []string{
		ModeExact, ModeStrict, ModeCaseInsensitive, ModeContains, ModeFuzzy, ModeNumeric,
		ModeDate, ModeRegex, ModeSemantic, ModeAnyOf, ModePresent, ModeText, ModeUnordered, ModeSubset, ModePartial,
		ModeAbsent, ModeType,
	}
}

// Similarity returns the similarity of two texts in [0,1], with the name of the embedder or judge
// that computed it. It must be safe for concurrent use.
type Similarity func(want, got string) (sim float64, by string, err error)

// Settings are the comparison rules in force. The zero value is exact mode with
// the documented defaults.
type Settings struct {
	// Leaf is the mode for scalars: one of exact, strict, case_insensitive,
	// contains, fuzzy, numeric_tolerance, date, regex, semantic, any_of, present, text.
	Leaf string
	// Unordered compares arrays as multisets; Subset lets the actual value have
	// more members and elements than expected, Partial more members only.
	Unordered, Subset, Partial bool
	Threshold                  float64 // 0: DefaultThreshold
	Epsilon                    float64
	Relative                   float64 // 0: none
	Tolerance                  time.Duration
	Unanchored                 bool
	Similarity                 Similarity

	hasEpsilon bool
}

// Problem is a mistake in an expectation. Key is the argument's path.
type Problem struct {
	Code, Key, Message, Fix string
}

// FromScoring reads the settings of a case. The second result lists their mistakes.
func FromScoring(s *callvet.Scoring, sim Similarity) (Settings, []Problem) {
	set := Settings{Leaf: ModeExact, Epsilon: DefaultEpsilon, Threshold: DefaultThreshold, Similarity: sim}
	if s.Mode == ModeAbsent || s.Mode == ModeType {
		return set, []Problem{{
			"bad-mode", "scoring.mode", fmt.Sprintf("mode %q compares single parameters only", s.Mode),
			"use it in matchers",
		}}
	}
	ps := set.overlay(callvet.Matcher{
		Mode: s.Mode, Epsilon: s.Epsilon, Relative: s.Relative, Threshold: s.Threshold,
		Tolerance: s.Tolerance, Unanchored: s.Unanchored,
	}, "scoring")
	if s.Mode == ModeAnyOf {
		set.Leaf = ModeAnyOf
	}
	return set, ps
}

// overlay returns the settings in force with a matcher's own settings applied.
func (set *Settings) overlay(m callvet.Matcher, key string) []Problem {
	var ps []Problem
	switch m.Mode {
	case "":
	case ModeExact, ModeStrict, ModeCaseInsensitive, ModeContains, ModeFuzzy, ModeNumeric, ModeDate, ModeRegex,
		ModePresent, ModeText:
		set.Leaf = m.Mode
	case ModeSemantic:
		set.Leaf = m.Mode
		if set.Similarity == nil {
			ps = append(ps, Problem{
				"no-embedder", key, "mode semantic needs an embedder and none is configured",
				"name a model for the run (embedder, such as openai/text-embedding-3-small), or use fuzzy",
			})
		}
	case ModeUnordered:
		set.Unordered = true
	case ModeSubset:
		set.Subset = true
	case ModePartial:
		set.Partial = true
	case ModeAnyOf, ModeAbsent, ModeType:
	default:
		p := Problem{
			"unknown-mode", key, fmt.Sprintf("mode %q is not known", m.Mode),
			"use one of " + strings.Join(Modes(), ", "),
		}
		ps = append(ps, p)
	}
	set.Unordered = set.Unordered || m.Unordered
	set.Unanchored = set.Unanchored || m.Unanchored
	return append(ps, set.overlayNumbers(m, key)...)
}

func (set *Settings) overlayNumbers(m callvet.Matcher, key string) []Problem {
	var ps []Problem
	bad := func(code, what, fix string) { ps = append(ps, Problem{code, key, what, fix}) }
	if m.Epsilon != nil {
		if !(*m.Epsilon >= 0) || *m.Epsilon > 1e308 {
			bad("bad-epsilon", fmt.Sprintf("epsilon %v is not a number of at least 0", *m.Epsilon), "give 0 or more")
		}
		set.Epsilon, set.hasEpsilon = *m.Epsilon, true
	}
	if m.Relative != nil {
		if !(*m.Relative >= 0 && *m.Relative < 1) {
			bad("bad-relative", fmt.Sprintf("relative tolerance %v is not in [0,1)", *m.Relative),
				"0.01 is one percent")
		}
		set.Relative = *m.Relative
		// A relative tolerance alone is not widened by the default epsilon.
		if !set.hasEpsilon {
			set.Epsilon = 0
		}
	}
	if m.Threshold != nil {
		if !(*m.Threshold > 0 && *m.Threshold <= 1) {
			bad("bad-threshold", fmt.Sprintf("threshold %v is not in (0,1]", *m.Threshold), "0.85 is the default")
		}
		set.Threshold = *m.Threshold
	}
	if m.Tolerance != "" {
		d, err := parseTolerance(m.Tolerance)
		if err != nil {
			bad("bad-tolerance", fmt.Sprintf("tolerance %q is not a duration", m.Tolerance),
				"write 90s, 30m, 24h or 2d")
		}
		set.Tolerance = d
	}
	return ps
}

func parseTolerance(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		d, err := time.ParseDuration(days + "h")
		if err != nil || d < 0 || d > 100*365*time.Hour {
			return 0, fmt.Errorf("parse days %q", s)
		}
		return d * 24, nil
	}
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("negative tolerance %q", s)
	}
	return d, err
}
