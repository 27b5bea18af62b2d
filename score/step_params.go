// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// params are the matchers and the settings of labels by their exact text in a line, and the rules
// compiled from them.
type params struct {
	byText   map[string]*matched
	settings map[string]*compared
	rules    map[string]*match.Args
	key      []byte
	problems []callvet.Problem
}

// matched are the matchers of one text; unread: they cannot be used.
type matched struct {
	matchers map[string]callvet.Matcher
	unread   bool
}

// compared are settings that arguments are compared by; unread reports that they cannot be used.
type compared struct {
	settings match.Settings
	extra    callvet.ExtraArgs
	unread   bool
}

func newParams() params {
	return params{byText: map[string]*matched{}, settings: map[string]*compared{}, rules: map[string]*match.Args{}}
}

// compile makes the rules of a label. Nil: they cannot be used, and a problem contains why.
func (s *StepScorer) compile(t *contracted, in *StepInput) *match.Args {
	var want, matchers, scoring []byte
	if in.GoldArgs.Kind() == value.Object {
		want = in.GoldArgs.Raw()
	}
	if in.GoldParams.Kind() == value.Object {
		matchers = in.GoldParams.Raw()
	}
	if in.GoldScoring.Kind() == value.Object {
		scoring = in.GoldScoring.Raw()
	}
	key := s.params.key[:0] // of JSON texts: none of their bytes is 0
	for _, part := range [...][]byte{in.Tool, want, matchers, scoring} {
		key = append(append(key, part...), 0)
	}
	s.params.key = key
	if rules, known := s.params.rules[string(key)]; known {
		return rules
	}
	rules := s.rulesOf(t, want, matchers, scoring)
	if len(s.params.rules) < maxCached {
		s.params.rules[string(key)] = rules
	}
	return rules
}

// rulesOf makes the rules of a new label.
func (s *StepScorer) rulesOf(t *contracted, want, matchers, scoring []byte) *match.Args {
	set, m := s.setting(scoring), &matched{}
	if matchers != nil {
		m = s.matchersOf(string(matchers))
	}
	if set.unread || m.unread {
		return nil
	}
	// The rules are kept and refer to the text, but the memory of a line is reused.
	rules, bad := match.Compile(bytes.Clone(want), m.matchers, t.params, set.settings, set.extra)
	if matchers != nil && len(bad) > 0 {
		m.unread = true
		s.params.note("params", string(matchers), bad[0].Key, bad[0].Message)
		return nil
	}
	return rules
}

// matchersOf reads the matchers of a text.
func (s *StepScorer) matchersOf(text string) *matched {
	if m := s.params.byText[text]; m != nil {
		return m
	}
	m := &matched{unread: true}
	if s.shared.matchers == nil {
		s.params.note("params", text, "", "nothing here reads matchers")
	} else {
		var bad []callvet.Problem
		if m.matchers, bad = s.shared.matchers([]byte(text)); len(bad) == 0 {
			m.unread = false
		} else {
			s.params.note("params", text, bad[0].Key, bad[0].Message)
		}
	}
	if len(s.params.byText) < maxCached {
		s.params.byText[text] = m
	}
	return m
}

// setting reads the settings of a text; nil means the settings of the configuration.
func (s *StepScorer) setting(text []byte) *compared {
	if text == nil {
		return &compared{settings: s.shared.settings, extra: s.shared.extra}
	}
	if c := s.params.settings[string(text)]; c != nil {
		return c
	}
	var own callvet.Comparison
	c := &compared{}
	if err := json.Unmarshal(text, &own); err != nil {
		c.unread = true
		s.params.note("scoring", string(text), "", err.Error())
	} else {
		all := own.Scoring()
		var bad []match.Problem
		if c.settings, bad = match.FromScoring(&all, nil); len(bad) > 0 {
			c.unread = true
			s.params.note("scoring", string(text), bad[0].Key, bad[0].Message)
		}
		c.extra = own.ExtraArgs
	}
	if len(s.params.settings) < maxCached {
		s.params.settings[string(text)] = c
	}
	return c
}

func (p *params) note(what, text, key, why string) {
	if len(p.problems) >= maxCached {
		return
	}
	code, kind, at := "bad-matcher", "matchers", "gold."+what
	if what == "scoring" {
		code, kind = "bad-scoring", "settings"
	}
	if key != "" {
		at += "." + key
	}
	p.problems = append(p.problems, callvet.Problem{
		Code: code, Key: at,
		Message: fmt.Sprintf("the %s %s cannot be used: %s: the arguments of such calls are not scored", kind,
			clip([]byte(text)), why),
	})
}

// Rules are the rules for the arguments of the last call; nil where they were compared exactly.
// Valid where Args is.
func (s *StepScorer) Rules() *match.Args { return s.rules }
