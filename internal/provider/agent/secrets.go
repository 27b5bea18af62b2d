// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/redact"
)

// redacted replaces a secret in everything that is stored.
const redacted = "[redacted]"

// secrets fills in ${NAME} and masks the values in answers.
type secrets struct {
	lookup func(string) (string, bool)
	values []string
}

// expand replaces each ${NAME}; an unknown name is an error.
func (s *secrets) expand(text string) (string, error) {
	return redact.FillVariables(text, func(name string) (string, error) {
		v, known := "", false
		if s.lookup != nil {
			v, known = s.lookup(name)
		}
		if !known {
			return "", redact.EmptyVariable(name)
		}
		s.learn(v)
		return v, nil
	})
}

// expandJSON fills in the strings of a JSON value.
func (s *secrets) expandJSON(raw json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(raw, []byte("${")) {
		return raw, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	v, err := s.expandAny(v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func (s *secrets) expandAny(v any) (any, error) {
	var err error
	switch x := v.(type) {
	case string:
		return s.expand(x)
	case []any:
		for i := range x {
			if x[i], err = s.expandAny(x[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range x {
			if x[k], err = s.expandAny(x[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// learn records a value to mask; values of one or two letters would damage the text.
func (s *secrets) learn(v string) {
	if len(v) < 4 || slices.Contains(s.values, v) {
		return
	}
	s.values = append(s.values, v)
	if e := url.QueryEscape(v); e != v {
		s.values = append(s.values, e)
	}
	if b, err := json.Marshal(v); err == nil && string(b[1:len(b)-1]) != v {
		s.values = append(s.values, string(b[1:len(b)-1]))
	}
	slices.SortFunc(s.values, func(a, b string) int { return len(b) - len(a) })
}

func (s *secrets) learnURL(u *url.URL) {
	if p, ok := u.User.Password(); ok {
		s.learn(p)
	}
	for k, vs := range u.Query() {
		for _, v := range vs {
			if redact.CredentialName(k) {
				s.learn(v)
			}
		}
	}
}

func (s *secrets) learnHeaders(h http.Header) {
	for k, vs := range h {
		for _, v := range vs {
			if !redact.CredentialName(k) {
				continue
			}
			s.learn(v)
			if _, token, ok := strings.Cut(v, " "); ok {
				s.learn(token)
			}
		}
	}
}

// hide masks the known values in a text, before it is truncated. Package redact masks other secrets
// in all answers.
func (s *secrets) hide(text string) string {
	for _, v := range s.values {
		text = strings.ReplaceAll(text, v, redacted)
	}
	return text
}
