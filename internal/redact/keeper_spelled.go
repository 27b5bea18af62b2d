// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/value"
)

// Setting is a part of a target's settings as written, which is stored with the run.
type Setting struct {
	// Name is its name for a person: "--set user", "the command".
	Name string
	// Text is searched as plain text, unless it is JSON: then names of members count, too, and
	// Key is the name of the whole. In Prose only a secret in use counts, as in a suite.
	Text  string
	Key   string
	JSON  []byte
	Prose string
	// Command: Text is a command line. The value of an option such as --token is a secret, whatever
	// its form.
	Command bool
	// Hint explains what to write instead.
	Hint string
}

// Spelled refuses settings with a literal secret, because they are stored with the run and shown
// in reports. The error wraps callvet.ErrInvalid, names the setting and repeats no value.
func (k *Keeper) Spelled(settings []Setting) error {
	d, err := safety.NewDetector(safety.DetectorConfig{})
	if err != nil {
		return err
	}
	for i := range settings {
		s := &settings[i]
		if what := k.holds(d, s); what != "" {
			return &callvet.Hinted{Err: fmt.Errorf(
				"open target: %w: %s holds %s as it is, and settings are kept with the run", callvet.ErrInvalid, s.Name,
				what), Hint: s.Hint}
		}
	}
	return nil
}

// holds describes the secret in a setting; "" for none.
func (k *Keeper) holds(d *safety.Detector, s *Setting) string {
	text := s.Text + s.Prose
	if s.JSON != nil {
		text = string(s.JSON)
	}
	for _, known := range k.Values() {
		if strings.Contains(text, known) {
			return "the value of a key in the environment"
		}
	}
	text = WithoutVariables(text)
	if s.JSON != nil {
		if v, err := value.Parse([]byte(text)); err == nil {
			return inJSON(d, v, d.Below(safety.RoleNone, s.Key, v))
		}
	}
	if s.Command && secretOption(text) {
		return "a secret"
	}
	if what := s.inText(d, text); what != "" {
		return what
	}
	_, query, _ := strings.Cut(text, "?") // of an address
	for pair := range strings.SplitSeq(query, "&") {
		if plain, err := url.QueryUnescape(pair); err == nil && plain != pair {
			if what := s.inText(d, plain); what != "" {
				return what
			}
		}
	}
	return ""
}

func (s *Setting) inText(d *safety.Detector, text string) string {
	for f, ok := d.Next(text, 0); ok; f, ok = d.Next(text, f.End) {
		if f.Kind.Secret() && (s.Prose == "" || safety.SecretInUse(f.Kind, text[f.Start:f.End])) {
			return kindWords(f.Kind)
		}
	}
	return ""
}

// secretOption reports whether a command line has an option that is named like a secret, with a
// value that may be one: 8 bytes or more with a digit among them.
func secretOption(line string) bool {
	words := strings.Fields(line)
	for i, w := range words {
		name, v, ok := strings.Cut(strings.TrimLeft(w, "-"), "=")
		if !strings.HasPrefix(w, "-") || !CredentialName(name) {
			continue
		}
		if !ok && i+1 < len(words) {
			v = words[i+1]
		}
		if v = strings.Trim(v, `"'`); len(v) >= minSecret && strings.ContainsAny(v, "0123456789") &&
			!strings.HasPrefix(v, "-") {
			return true
		}
	}
	return false
}

func inJSON(d *safety.Detector, v value.Value, r safety.NameRole) string {
	if v.Kind() == value.String {
		s := v.Str()
		if k, ok := d.Whole(s, r); ok {
			return kindWords(k)
		}
		for f, ok := d.Find(s, 0, r); ok; f, ok = d.Find(s, f.End, r) {
			if f.Kind.Secret() {
				return kindWords(f.Kind)
			}
		}
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		key := ""
		if v.Kind() == value.Object {
			key = e.Key()
		}
		if what := inJSON(d, e, d.Below(r, key, e)); what != "" {
			return what
		}
	}
	return ""
}

// kindWords is a kind in words for a sentence.
func kindWords(k safety.DataKind) string {
	switch k {
	case safety.KindPrivate:
		return "a private key"
	case safety.KindJWT, safety.KindBearer:
		return "a token"
	case safety.KindKey:
		return "a key"
	}
	return "a secret"
}
