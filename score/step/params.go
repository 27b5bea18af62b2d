// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package step

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// params are the matchers of labels by their text as it stands in a line.
type params struct {
	byText   map[string]*matched
	problems []callvet.Problem
}

// matched is such a text; unread tells that the matchers cannot be used.
type matched struct {
	matchers map[string]callvet.Matcher
	unread   bool
}

func newParams() params { return params{byText: map[string]*matched{}} }

// compile makes the rules of a label. Nil: they cannot be used, and a problem says why.
func (s *Scorer) compile(t *contracted, in *Input) *match.Args {
	var want []byte
	if in.GoldArgs.Kind() == value.Object {
		want = in.GoldArgs.Raw()
	}
	if in.GoldParams.Kind() != value.Object {
		rules, _ := match.Compile(want, nil, t.params, s.shared.settings, s.shared.extra)
		return rules
	}
	text := string(in.GoldParams.Raw())
	m := s.params.byText[text]
	if m == nil {
		m = s.read1(text)
	}
	if m.unread {
		return nil
	}
	rules, bad := match.Compile(want, m.matchers, t.params, s.shared.settings, s.shared.extra)
	if len(bad) > 0 {
		m.unread = true
		s.params.note(text, bad[0].Key, bad[0].Message)
		return nil
	}
	return rules
}

// read1 reads matchers that were not met before.
func (s *Scorer) read1(text string) *matched {
	m := &matched{unread: true}
	if s.shared.matchers == nil {
		s.params.note(text, "", "nothing here reads matchers")
	} else {
		var bad []callvet.Problem
		if m.matchers, bad = s.shared.matchers([]byte(text)); len(bad) == 0 {
			m.unread = false
		} else {
			s.params.note(text, bad[0].Key, bad[0].Message)
		}
	}
	if len(s.params.byText) < maxCached {
		s.params.byText[text] = m
	}
	return m
}

func (p *params) note(text, key, why string) {
	if len(p.problems) >= maxCached {
		return
	}
	at := "gold.params"
	if key != "" {
		at += "." + key
	}
	p.problems = append(p.problems, callvet.Problem{
		Code: "bad-matcher", Key: at, Message: fmt.Sprintf("the matchers %s cannot be used: %s: the arguments of such calls are not scored", clip([]byte(text)), why),
	})
}

// Rules are those that the arguments of the last call were compared by; nil where they were
// compared exactly. Valid where Args is.
func (s *Scorer) Rules() *match.Args { return s.rules }
