// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/value"
)

// Suite returns an error if a suite, its cases left out, contains a secret that must not be
// stored with a run: a key of this process, or a text that looks like a key in use. Test data is
// allowed: passwords of test users, tokens such as abc123xyz, personal data.
func (k *Keeper) Suite(s *callvet.Suite) []callvet.Problem {
	head := *s
	head.Cases = nil
	return k.inside(&head, callvet.Problem{})
}

// Case is like Suite, for a case.
func (k *Keeper) Case(c *callvet.Case) []callvet.Problem {
	return k.inside(c, callvet.Problem{Position: c.Position, Case: c.ID})
}

func (k *Keeper) inside(what any, p callvet.Problem) []callvet.Problem {
	raw, err := json.Marshal(what)
	if err != nil {
		return nil // storing it returns the error
	}
	s := SuiteSearch{keeper: k}
	return s.text(raw, p)
}

// SuiteSearch finds secrets in the cases of a suite. It caches the common parts of cases, and is
// not safe for concurrent use.
type SuiteSearch struct {
	keeper *Keeper
	search search
	doc    value.Doc
}

// Search returns a SuiteSearch.
func (k *Keeper) Search() *SuiteSearch { return &SuiteSearch{keeper: k} }

// Case is Keeper.Case of a case that is stored as a text.
func (s *SuiteSearch) Case(c *callvet.Case, text []byte) []callvet.Problem {
	if len(c.Tools) > 0 { // the text contains their schemas twice, once as a string
		return s.keeper.Case(c)
	}
	return s.text(text, callvet.Problem{Position: c.Position, Case: c.ID})
}

func (s *SuiteSearch) text(raw []byte, p callvet.Problem) []callvet.Problem {
	d, err := s.keeper.detector()
	if err != nil {
		return nil // storing it returns the error
	}
	f := &s.search
	if known := s.keeper.Values(); f.detect == nil || len(known) != len(f.known) { // values are only added
		*f = search{detect: d, known: known, names: map[string]name{}, clean: map[safety.NameRole]map[string]bool{}}
	}
	f.steps = f.steps[:0]
	if s.doc.Parse(raw) != nil { // arguments in it may have a repeated name: it is searched as text
		if !f.text(string(raw), safety.RoleNone) {
			return nil
		}
	} else if !f.value(s.doc.Root(), safety.RoleNone) {
		return nil
	}
	p.Code, p.Key = "secret", f.path()
	p.Message = fmt.Sprintf("%s holds %s as it is, and the text of a suite is kept with each run",
		cmp.Or(p.Key, "the text"), f.what)
	p.Fix = "take it out; --no-lint runs and keeps it all the same"
	return []callvet.Problem{p}
}

// search finds the first secret that is in use.
type search struct {
	detect *safety.Detector
	known  []string
	what   string
	steps  []string // to it, the last one first
	// names are names of members, and clean are short strings without a secret by their role: cases
	// have many in common.
	names map[string]name
	clean map[safety.NameRole]map[string]bool
}

func (s *search) value(v value.Value, r safety.NameRole) bool {
	if v.Kind() == value.String {
		return s.string(v, r)
	}
	n := 0
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		var key name
		if v.Kind() == value.Object {
			key = s.name(e)
		}
		if s.value(e, s.detect.Under(r, key.role, key.text, e)) {
			if v.Kind() == value.Object {
				s.steps = append(s.steps, "."+key.text)
			} else {
				s.steps = append(s.steps, "["+strconv.Itoa(n)+"]")
			}
			return true
		}
		n++
	}
	return false
}

// name is the name of a member.
func (s *search) name(member value.Value) name {
	key, ok := s.names[string(member.KeyBytes())]
	if !ok {
		text := member.Key()
		key = name{text, s.detect.Role(text)}
		if len(text) <= maxCleanLen && len(s.names) < maxClean {
			s.names[text] = key
		}
	}
	return key
}

func (s *search) string(v value.Value, r safety.NameRole) bool {
	if s.clean[r][string(v.Bytes())] {
		return false
	}
	text := v.Str()
	if s.text(text, r) {
		return true
	}
	if s.clean[r] == nil {
		s.clean[r] = map[string]bool{}
	}
	if len(text) <= maxCleanLen && len(s.clean[r]) < maxClean {
		s.clean[r][text] = true
	}
	return false
}

// path is the place of the finding: input[0].content.
func (s *search) path() (path string) {
	for _, step := range slices.Backward(s.steps) {
		path = strings.TrimPrefix(path+step, ".")
	}
	return path
}

func (s *search) text(text string, r safety.NameRole) bool {
	for _, known := range s.known {
		if strings.Contains(text, known) {
			s.what = "the value of a key in the environment"
			return true
		}
	}
	if k, ok := s.detect.Whole(text, r); ok {
		if safety.SecretInUse(k, text) {
			s.what = kindWords(k)
			return true
		}
		return false
	}
	for f, ok := s.detect.Find(text, 0, r); ok; f, ok = s.detect.Find(text, f.End, r) {
		if f.Kind.Secret() && safety.SecretInUse(f.Kind, text[f.Start:f.End]) {
			s.what = kindWords(f.Kind)
			return true
		}
	}
	return false
}
