// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// StepInput is one step as handles into its line; a zero Value or null is "not
// recorded", nil bytes as well.
type StepInput struct {
	// Tool is "name@vN" or the name alone, exactly as in the line.
	Tool []byte
	// Args are the parsed or repaired arguments, ArgsRaw the payload as emitted, a string.
	Args, ArgsRaw value.Value
	Result, Error value.Value
	// Status is ok, rejected_by_contract, exec_error, timeout or nil.
	Status []byte
	// Needed is 1 or 0 as labeled, -1 when not.
	Needed                                      int
	GoldTool, GoldArgs, GoldResult, ResultCheck value.Value
	// GoldParams are matchers of single arguments, which Config.Matchers reads. GoldScoring is a
	// callvet.Comparison that takes precedence over Config.Scoring.
	GoldParams, GoldScoring value.Value
}

// StepConfig has the inputs for judging steps. The zero value knows no tools, and so no contract.
type StepConfig struct {
	// Tools are the catalog; several versions of a tool may be in it.
	Tools []callvet.Tool
	// Scoring has the comparison of arguments; the default is mode exact, and
	// any other is some ten times slower.
	Scoring callvet.Scoring
	// Matchers reads the matchers of single arguments from the object in a label, in the form of
	// a suite. Mistakes in them are problems, and the arguments of such a call are not compared.
	// Nil: no label has matchers.
	Matchers func(object []byte) (map[string]callvet.Matcher, []callvet.Problem)
	// Safe reports whether a call, of a tool "name@vN" with these arguments (the zero Value: not
	// recorded), breaks a safety rule. If no rule applies to it, known is false. Nil: safety is
	// not known. It has to be safe for concurrent use.
	Safe func(tool string, args value.Value) (safe, known bool)
}

// StepScorer scores steps. It is not safe for concurrent use; Fork returns another one that
// shares all compiled parts.
type StepScorer struct {
	shared  *shared
	tools   map[string]*contracted // by the text in the line
	recent  value.Recent[*contracted]
	checks  checks
	payload value.Doc
	text    []byte
	scratch match.Scratch
	unknown int
	endless int // steps that were not validated because it is too much work
	params  params
	rules   *match.Args // rules of the last call; nil: compared exactly
	args    value.Value // of the last call
	last    *contracted // its tool
	paired  bool        // scratch.Unlike is of args
}

// shared is the part that no step changes.
type shared struct {
	catalog  catalog
	settings match.Settings
	slow     bool // the settings differ from mode exact without extra arguments
	extra    callvet.ExtraArgs
	matchers func(object []byte) (map[string]callvet.Matcher, []callvet.Problem)
	rules    func(tool string, args value.Value) (safe, known bool)
}

// maxCached bounds the cached texts of lines: names of tools and conditions. Beyond it, texts are
// looked up again each time.
const maxCached = 1 << 12

// NewStepScorer compiles the configuration. Problems that are not warnings mean that a
// part of it is not applied: a schema that does not compile validates nothing, a
// mode that is not known compares exactly.
func NewStepScorer(cfg StepConfig) (*StepScorer, []callvet.Problem) {
	cat, ps := newCatalog(cfg.Tools, &cfg.Scoring)
	set, bad := match.FromScoring(&cfg.Scoring, nil)
	for _, p := range bad {
		ps = append(ps, callvet.Problem{Code: p.Code, Key: p.Key, Message: p.Message, Fix: p.Fix})
	}
	if len(bad) > 0 {
		set = match.Settings{}
	}
	if cfg.Scoring.Profile != "" {
		ps = append(ps, callvet.Problem{
			Code: "bad-profile", Key: "scoring.profile",
			Message: fmt.Sprintf("profile %q does not apply to steps of a trace", cfg.Scoring.Profile),
			Fix:     "leave it out",
		})
	}
	sh := &shared{
		catalog: cat, settings: set, extra: cfg.Scoring.ExtraArgs, rules: cfg.Safe, matchers: cfg.Matchers,
		slow: len(bad) == 0 && (cfg.Scoring.Mode != "" && cfg.Scoring.Mode != match.ModeExact ||
			cfg.Scoring.ExtraArgs != "" && cfg.Scoring.ExtraArgs != callvet.ExtraForbid),
	}
	return sh.scorer(), ps
}

func (sh *shared) scorer() *StepScorer {
	return &StepScorer{shared: sh, tools: map[string]*contracted{}, checks: newChecks(), params: newParams()}
}

// Fork returns a Scorer for another goroutine, with empty counts.
func (s *StepScorer) Fork() *StepScorer { return s.shared.scorer() }

// UnknownVersions is the number of steps with a tool that is in the catalog, but not in the
// version that was called: they were not validated.
func (s *StepScorer) UnknownVersions() int { return s.unknown }

// Endless is the number of steps that were not validated because it is too much work.
func (s *StepScorer) Endless() int { return s.endless }

// Problems lists the conditions and the matchers that could not be compiled, in the order of
// appearance; each distinct text once, as far as it is cached.
func (s *StepScorer) Problems() []callvet.Problem {
	return slices.Concat(s.checks.problems, s.params.problems)
}
