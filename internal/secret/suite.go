// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package secret

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/safety/pii"
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
		return nil // whoever stores it tells
	}
	v, err := value.Parse(raw)
	if err != nil {
		return nil
	}
	d, err := pii.New(pii.Config{})
	if err != nil {
		return nil
	}
	s := search{detect: d, known: k.Values()}
	if !s.value("", v, pii.RoleNone) {
		return nil
	}
	p.Code, p.Key = "secret", s.path
	p.Message = fmt.Sprintf("%s holds %s as it is, and what a suite says is kept with each run", s.path, s.what)
	p.Fix = "take it out; --no-lint runs and keeps it all the same"
	return []callvet.Problem{p}
}

// search looks for the first secret that is in use.
type search struct {
	detect     *pii.Detector
	known      []string
	path, what string
}

func (s *search) value(path string, v value.Value, r pii.Role) bool {
	if v.Kind() == value.String {
		return s.text(path, v.Str(), r)
	}
	n := 0
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		key, at := "", fmt.Sprintf("%s[%d]", path, n)
		if v.Kind() == value.Object {
			key = e.Key()
			at = strings.TrimPrefix(path+"."+key, ".")
		}
		n++
		if s.value(at, e, s.detect.Below(r, key, e)) {
			return true
		}
	}
	return false
}

func (s *search) text(path, text string, r pii.Role) bool {
	for _, known := range s.known {
		if strings.Contains(text, known) {
			s.path, s.what = path, "the value of a key in the environment"
			return true
		}
	}
	if k, ok := s.detect.Whole(text, r); ok {
		if pii.InUse(k, text) {
			s.path, s.what = path, said(k)
			return true
		}
		return false
	}
	for f, ok := s.detect.Find(text, 0, r); ok; f, ok = s.detect.Find(text, f.End, r) {
		if f.Kind.Secret() && pii.InUse(f.Kind, text[f.Start:f.End]) {
			s.path, s.what = path, said(f.Kind)
			return true
		}
	}
	return false
}
