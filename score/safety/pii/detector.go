// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package pii

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Kind of a finding.
type Kind string

// The kinds that are found.
const (
	KindKey     Kind = "api_key"     // a key with a known prefix
	KindBearer  Kind = "bearer"      // the credential of an Authorization header
	KindJWT     Kind = "jwt"         // a signed token
	KindPrivate Kind = "private_key" // a PEM block
	KindSecret  Kind = "secret"      // the value of something named password, token, …
	KindEmail   Kind = "email"       //
	KindPhone   Kind = "phone"       // written internationally, or in groups with a bracket
	KindCard    Kind = "card"        // 13 to 19 digits that pass Luhn
	KindIBAN    Kind = "iban"        // passes modulo 97
	KindID      Kind = "national_id" // US SSN, Brazilian CPF, Spanish DNI, Swedish personal number
)

// Kinds are all of them.
func Kinds() []Kind {
	return []Kind{KindKey, KindBearer, KindJWT, KindPrivate, KindSecret, KindEmail, KindPhone, KindCard, KindIBAN, KindID}
}

// Config of a Detector. The zero Config finds every kind.
type Config struct {
	// Off names kinds that are left alone.
	Off []Kind `json:"off,omitempty"`
	// Keys are member names whose values are secrets, beside the built-in ones.
	Keys []string `json:"keys,omitempty"`
}

// Detector finds what its Config asks for. It is safe for concurrent use.
type Detector struct {
	off      map[Kind]bool
	keys     map[string]bool
	prefixes [256][]prefix
}

// New makes a Detector. The error wraps callvet.ErrInvalid when a kind is not known.
func New(c Config) (*Detector, error) {
	d := &Detector{off: map[Kind]bool{}, keys: map[string]bool{}, prefixes: prefixes()}
	for _, k := range c.Off {
		if !slices.Contains(Kinds(), k) {
			return nil, fmt.Errorf("redaction kind %q is not known; known are %v: %w", k, Kinds(), callvet.ErrInvalid)
		}
		d.off[k] = true
	}
	for _, k := range c.Keys {
		d.keys[strings.ToLower(k)] = true
	}
	return d, nil
}

// Finding is s[Start:End] of the text it was found in; End 0 means none.
type Finding struct {
	Start, End int
	Kind       Kind
}

// Next is the first finding that starts at from (0 or more) or later; ok is false
// when there is none. Texts of fewer than 6 bytes hold none.
func (d *Detector) Next(s string, from int) (f Finding, ok bool) {
	if len(s) < 6 {
		return Finding{}, false
	}
	for i := from; i < len(s); i++ {
		if f = d.at(s, i, from); f.End > i {
			return f, true
		}
	}
	return Finding{}, false
}

// at gives what starts at i, or, for an e-mail address, what has its @ there and
// starts at from or later.
func (d *Detector) at(s string, i, from int) Finding {
	c := s[i]
	switch {
	case c == '@':
		return d.allow(email(s, i, from))
	case c == '-' && strings.HasPrefix(s[i:], "-----BEGIN"):
		return d.allow(privateKey(s, i))
	case c == '+' || c == '(':
		return d.allow(phone(s, i))
	case c == ':' || c == '=':
		return d.allow(named(s, i))
	case i > 0 && wordByte(s[i-1]):
		return Finding{}
	case c >= '0' && c <= '9':
		return d.digits(s, i)
	case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
		return d.word(s, i)
	}
	return Finding{}
}

func (d *Detector) allow(f Finding) Finding {
	if d.off[f.Kind] {
		return Finding{}
	}
	return f
}

func (d *Detector) digits(s string, i int) Finding {
	for _, find := range []func(string, int) Finding{card, nationalID, phone} {
		if f := d.allow(find(s, i)); f.End > 0 {
			return f
		}
	}
	return Finding{}
}

func (d *Detector) word(s string, i int) Finding {
	var f Finding
	switch s[i] {
	case 'b', 'B':
		f = bearer(s, i)
	case 'e':
		f = jwt(s, i)
	}
	if f.End == 0 {
		f = d.apiKey(s, i)
	}
	if f = d.allow(f); f.End == 0 && upper(s[i]) {
		if f = d.allow(iban(s, i)); f.End == 0 {
			f = d.allow(dniWithLetter(s, i))
		}
	}
	return f
}

// SecretKey reports whether the scalars under a member of this name are secrets.
func (d *Detector) SecretKey(name string) bool {
	return !d.off[KindSecret] && (secretName(name) || len(d.keys) > 0 && d.keys[strings.ToLower(name)])
}

// Mark starts the word that a redacted value was replaced by; it is never a finding.
const Mark = "[REDACTED:"

// Redacted reports whether s is such a word.
func Redacted(s string) bool { return strings.HasPrefix(s, Mark) }

// Scalar is what a string or number is as a whole or holds: the first finding's
// kind, or KindSecret when secret tells that the name above it announces one.
func (d *Detector) Scalar(v value.Value, secret bool) (Kind, bool) {
	switch v.Kind() {
	case value.String:
		s := v.Str()
		if secret && s != "" && !Redacted(s) {
			return KindSecret, true
		}
		f, ok := d.Next(s, 0)
		return f.Kind, ok
	case value.Number:
		if secret {
			return KindSecret, true
		}
		if raw := v.Raw(); len(raw) >= 13 && len(raw) <= 19 {
			f, ok := d.Next(string(raw), 0)
			return f.Kind, ok
		}
	}
	return "", false
}

// Found is a finding inside a JSON value.
type Found struct {
	// Path names the scalar: "to[0].address"; "" for a value that is one.
	Path string
	Kind Kind
}

// Value finds in every scalar of v, names of members excepted; one finding per
// scalar, in the order of the text. Nil when there is none.
func (d *Detector) Value(v value.Value) []Found { return d.walk(nil, v, false) }

// walk names what it finds from the inside out, so that nothing is named in vain.
func (d *Detector) walk(out []Found, v value.Value, secret bool) []Found {
	n := 0
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		before := len(out)
		if v.Kind() == value.Object {
			key := e.Key()
			out = d.walk(out, e, secret || d.SecretKey(key))
			within(out[before:], key)
		} else {
			out = d.walk(out, e, secret)
			if len(out) > before {
				within(out[before:], fmt.Sprintf("[%d]", n))
			}
		}
		n++
	}
	if k, ok := d.Scalar(v, secret); ok {
		out = append(out, Found{"", k})
	}
	return out
}

func within(found []Found, name string) {
	for i := range found {
		if p := found[i].Path; p == "" || p[0] == '[' {
			found[i].Path = name + p
		} else {
			found[i].Path = name + "." + p
		}
	}
}
