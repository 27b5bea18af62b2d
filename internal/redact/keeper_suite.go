// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/value"
)

// Suite says what a suite without its cases holds that must not be kept with a run: keys of
// this process, and what looks like a key in use. Test data stays: passwords of test users,
// tokens such as abc123xyz, personal data. Nil when there is nothing.
func (k *Keeper) Suite(s *callvet.Suite) []callvet.Problem {
	head := *s
	head.Cases = nil
	return k.inside(&head, callvet.Problem{})
}

// Case says the same of a case.
func (k *Keeper) Case(c *callvet.Case) []callvet.Problem {
	return k.inside(c, callvet.Problem{Position: c.Position, Case: c.ID})
}

func (k *Keeper) inside(what any, p callvet.Problem) []callvet.Problem {
	raw, err := json.Marshal(what)
	if err != nil {
		return nil // storing it returns the error
	}
	v, err := value.Parse(raw)
	if err != nil {
		return nil
	}
	d, err := k.detector()
	if err != nil {
		return nil
	}
	s := search{detect: d, known: k.Values()}
	if !s.value(v, safety.RoleNone) {
		return nil
	}
	p.Code, p.Key = "secret", s.path()
	p.Message = fmt.Sprintf("%s holds %s as it is, and what a suite says is kept with each run", p.Key, s.what)
	p.Fix = "take it out; --no-lint runs and keeps it all the same"
	return []callvet.Problem{p}
}

// search looks for the first secret that is in use.
type search struct {
	detect *safety.Detector
	known  []string
	what   string
	steps  []string // to it, the last one first
}

func (s *search) value(v value.Value, r safety.Role) bool {
	if v.Kind() == value.String {
		return s.text(v.Str(), r)
	}
	n := 0
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		key := ""
		if v.Kind() == value.Object {
			key = e.Key()
		}
		if s.value(e, s.detect.Below(r, key, e)) {
			if v.Kind() == value.Object {
				s.steps = append(s.steps, "."+key)
			} else {
				s.steps = append(s.steps, "["+strconv.Itoa(n)+"]")
			}
			return true
		}
		n++
	}
	return false
}

// path is where it was found: input[0].content.
func (s *search) path() (path string) {
	for _, step := range slices.Backward(s.steps) {
		path = strings.TrimPrefix(path+step, ".")
	}
	return path
}

func (s *search) text(text string, r safety.Role) bool {
	for _, known := range s.known {
		if strings.Contains(text, known) {
			s.what = "the value of a key in the environment"
			return true
		}
	}
	if k, ok := s.detect.Whole(text, r); ok {
		if safety.InUse(k, text) {
			s.what = kindWords(k)
			return true
		}
		return false
	}
	for f, ok := s.detect.Find(text, 0, r); ok; f, ok = s.detect.Find(text, f.End, r) {
		if f.Kind.Secret() && safety.InUse(f.Kind, text[f.Start:f.End]) {
			s.what = kindWords(f.Kind)
			return true
		}
	}
	return false
}
