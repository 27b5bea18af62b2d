// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// DataKind of a finding.
type DataKind string

// The kinds that are found.
const (
	KindKey     DataKind = "api_key"     // a key with a known prefix
	KindBearer  DataKind = "bearer"      // the credential of an Authorization header
	KindJWT     DataKind = "jwt"         // a signed token
	KindPrivate DataKind = "private_key" // a PEM block
	KindSecret  DataKind = "secret"      // the value of something named password, token, …, or of a URL's user
	KindEmail   DataKind = "email"       //
	KindPhone   DataKind = "phone"       // written internationally, in groups, or after a word such as "phone"
	KindCard    DataKind = "card"        // passes Luhn and starts as an issuer's numbers do
	KindIBAN    DataKind = "iban"        // passes modulo 97
	KindID      DataKind = "national_id" // US SSN, Brazilian CPF, Spanish DNI, Swedish personal number
)

// DataKinds are all of them.
func DataKinds() []DataKind {
	return []DataKind{
		KindKey, KindBearer, KindJWT, KindPrivate, KindSecret, KindEmail, KindPhone, KindCard,
		KindIBAN, KindID,
	}
}

// Secret reports whether a finding of the kind grants access; the other kinds identify a person.
func (k DataKind) Secret() bool {
	switch k {
	case KindKey, KindBearer, KindJWT, KindPrivate, KindSecret:
		return true
	}
	return false
}

// DetectorConfig are the settings of a Detector. The zero value finds every kind.
type DetectorConfig struct {
	// Off names kinds that are not searched.
	Off []DataKind `json:"off,omitempty"`
	// Keys are names of members with secret values, in addition to the built-in ones.
	Keys []string `json:"keys,omitempty"`
}

// Detector finds the kinds of its DetectorConfig. It is safe for concurrent use.
type Detector struct {
	off      map[DataKind]bool
	keys     map[string]bool
	prefixes [256][]prefix
}

// NewDetector makes a Detector. The error wraps callvet.ErrInvalid when a kind is not known.
func NewDetector(c DetectorConfig) (*Detector, error) {
	d := &Detector{off: map[DataKind]bool{}, keys: map[string]bool{}, prefixes: prefixes()}
	for _, k := range c.Off {
		if !slices.Contains(DataKinds(), k) {
			return nil, fmt.Errorf("redaction kind %q is not known; known are %v: %w", k, DataKinds(), callvet.ErrInvalid)
		}
		d.off[k] = true
	}
	for _, k := range c.Keys {
		d.keys[strings.ToLower(k)] = true
	}
	return d, nil
}

// DataFinding is s[Start:End] of the text it was found in; End 0 means none.
type DataFinding struct {
	Start, End int
	Kind       DataKind
}

// Next is the first finding that starts at from (0 or more) or later; ok is false
// when there is none. Texts of fewer than 6 bytes hold none.
func (d *Detector) Next(s string, from int) (f DataFinding, ok bool) {
	return d.Find(s, from, RoleNone)
}

// Find is Next for a text that is the value of a member with that role. It does not report a value
// of RoleSecret; Whole does.
func (d *Detector) Find(s string, from int, r NameRole) (f DataFinding, ok bool) {
	if len(s) < 6 {
		return DataFinding{}, false
	}
	if r == RoleID && strings.ContainsAny(s, " \t\n") {
		r = RoleNone // prose, whatever its name is
	}
	for i := from; i < len(s); i++ {
		if f = d.at(s, i, from, r); f.End > i {
			return f, true
		}
	}
	return DataFinding{}, false
}

// at returns the finding that starts at i. For an e-mail address and a URL's user, i is the place
// of the @ or colon, and the finding starts at from or later.
func (d *Detector) at(s string, i, from int, r NameRole) DataFinding {
	c := s[i]
	switch {
	case c == '@':
		return d.allow(email(s, i, from))
	case c == '-':
		return d.dash(s, i)
	case c == '+' || c == '(':
		if r == RoleID {
			return DataFinding{}
		}
		return d.allow(phone(s, i, r))
	case c == ':' || c == '=':
		if f := d.allow(userinfo(s, i)); f.End > 0 {
			return f
		}
		return d.allow(named(s, i))
	case i > 0 && wordByte(s[i-1]):
		return DataFinding{}
	case c >= '0' && c <= '9':
		return d.digits(s, i, r)
	case letter(c):
		return d.word(s, i)
	}
	return DataFinding{}
}

func (d *Detector) allow(f DataFinding) DataFinding {
	if d.off[f.Kind] {
		return DataFinding{}
	}
	return f
}

// digits classifies the number that starts at i. Digits after a decimal point, in a UUID and in a
// longer word are part of something else.
func (d *Detector) digits(s string, i int, r NameRole) DataFinding {
	if f := d.allow(telegramToken(s, i)); f.End > 0 {
		return f
	}
	if f := d.allow(d.apiKey(s, i)); f.End > 0 {
		return f
	}
	if r == RoleID {
		return DataFinding{}
	}
	if !sevenDigits(s, i) || inUUID(s, i) {
		return DataFinding{}
	}
	if r == RoleNone {
		if r = d.announced(s, i); r == RoleID {
			return DataFinding{}
		}
	}
	for _, find := range []func(string, int, NameRole) DataFinding{card, nationalID, phone} {
		if f := d.allow(find(s, i, r)); f.End > 0 {
			return f
		}
	}
	return DataFinding{}
}

func (d *Detector) word(s string, i int) DataFinding {
	var f DataFinding
	switch s[i] {
	case 'b', 'B':
		if f = bearer(s, i); f.End == 0 {
			f = basic(s, i)
		}
	case 'e':
		f = jwt(s, i)
	case 'h':
		f = webhook(s, i)
	}
	if f.End == 0 {
		f = d.apiKey(s, i)
	}
	if f.End == 0 {
		f = hexKey(s, i)
	}
	if f = d.allow(f); f.End == 0 {
		if f = d.allow(iban(s, i)); f.End == 0 {
			f = d.allow(dniWithLetter(s, i))
		}
	}
	return f
}

func (d *Detector) dash(s string, i int) DataFinding {
	if strings.HasPrefix(s[i:], "-----BEGIN") {
		return d.allow(privateKey(s, i))
	}
	if strings.HasPrefix(s[i:], "--") && (i == 0 || !wordByte(s[i-1]) && s[i-1] != '-') {
		return d.allow(option(s, i))
	}
	return DataFinding{}
}

// Whole reports whether a text is a secret as a whole because of its member's name. Placeholders
// ("<password>", "${TOKEN}", "***") and redacted texts are no secrets.
func (d *Detector) Whole(s string, r NameRole) (DataKind, bool) {
	switch {
	case s == "" || d.off[KindSecret] || IsRedacted(s):
	case r == RoleSecret && !placeholder(s), r == RoleToken && !strings.ContainsAny(s, " \t\n") && drawn(s):
		return KindSecret, true
	}
	return "", false
}

// Number classifies a JSON number. It is a card number or a national number when it is an integer
// (no sign, no fraction, no exponent) of that length that passes the check. It is a secret when
// it is an integer with a name for secrets. Other numbers are no findings.
func (d *Detector) Number(raw []byte, r NameRole) (DataKind, bool) {
	for _, c := range raw {
		if !digit(c) {
			return "", false
		}
	}
	if r == RoleSecret {
		return KindSecret, !d.off[KindSecret]
	}
	if len(raw) < 9 || len(raw) > 19 {
		return "", false
	}
	s := string(raw)
	f := d.digits(s, 0, r)
	if f.Kind == KindCard && network(s) == 0 {
		return "", false
	}
	return f.Kind, f.End == len(raw) && (f.Kind == KindCard || f.Kind == KindID)
}

// RedactionMark is the beginning of the word that replaces a redacted text; it is never a
// finding. Numbers are replaced by Nines.
const RedactionMark = "[REDACTED:"

// IsRedacted reports whether s is such a word.
func IsRedacted(s string) bool { return strings.HasPrefix(s, RedactionMark) }

// MarkOf is the word for the nth different value of a kind, from 1.
func MarkOf(k DataKind, n int) string {
	if n > 1 {
		return fmt.Sprintf("%s%s#%d]", RedactionMark, k, n)
	}
	return RedactionMark + string(k) + "]"
}

// marked is the kind of the first mark in s; ok is false without one.
func marked(s string) (k DataKind, ok bool) {
	_, rest, ok := strings.Cut(s, RedactionMark)
	if !ok {
		return "", false
	}
	kind, _, ok := strings.Cut(rest, "]")
	kind, _, _ = strings.Cut(kind, "#")
	return DataKind(kind), ok
}

// Nines is the replacement of the nth different number (from 1) of that many digits: 99…9, 99…8.
// No card and no national number has this form.
func Nines(digits, n int) string {
	b := []byte(strings.Repeat("9", digits))
	for i, rest := digits-1, n-1; i > 0; i, rest = i-1, rest/10 {
		b[i] -= byte(rest % 10)
	}
	return string(b)
}

// nines reports whether a number has been replaced before. Shorter numbers of that form are
// also written by people, for "no limit".
func nines(raw []byte) bool {
	if len(raw) < minCard {
		return false
	}
	for _, c := range raw[:len(raw)-3] {
		if c != '9' {
			return false
		}
	}
	return true
}

// UnknownValue reports whether a value was redacted, as a whole or in part: it cannot be compared with
// anything.
func UnknownValue(v value.Value) bool {
	switch v.Kind() {
	case value.String:
		return strings.Contains(v.Str(), RedactionMark)
	case value.Number:
		return nines(v.Raw())
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if UnknownValue(e) {
			return true
		}
	}
	return false
}

// DataFound is a finding inside a JSON value.
type DataFound struct {
	// Path names the scalar: "to[0].address"; "" for a value that is one.
	Path string
	Kind DataKind
}

// Value finds in every scalar of v, names of members excepted; one finding per scalar, in the order
// of the text. Nil when there is none. A redacted value is still a finding, of the kind in its
// mark: the call contained it.
func (d *Detector) Value(v value.Value) []DataFound { return d.walk(nil, v, RoleNone) }

// walk builds the paths of findings from the inside out, so that no path is built without a
// finding.
func (d *Detector) walk(out []DataFound, v value.Value, r NameRole) []DataFound {
	if k, ok := d.scalar(v, r); ok {
		return append(out, DataFound{"", k})
	}
	n, pair := 0, d.Announced(v)
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		before, key := len(out), ""
		if v.Kind() == value.Object {
			key = e.Key()
		}
		if pair != RoleNone && key == "value" {
			out = d.walk(out, e, pair)
		} else {
			out = d.walk(out, e, d.Below(r, key, e))
		}
		if len(out) != before {
			if v.Kind() == value.Array {
				key = fmt.Sprintf("[%d]", n)
			}
			within(out[before:], key)
		}
		n++
	}
	return out
}

// scalar is the kind of a whole string or number, or else the first finding in it.
func (d *Detector) scalar(v value.Value, r NameRole) (DataKind, bool) {
	switch v.Kind() {
	case value.String:
		s := v.Str()
		if k, ok := d.Whole(s, r); ok {
			return k, true
		}
		if f, ok := d.Find(s, 0, r); ok {
			return f.Kind, true
		}
		if k, ok := marked(s); ok && !d.off[k] {
			return k, true
		}
	case value.Number:
		if k, ok := d.Number(v.Raw(), r); ok {
			return k, true
		}
		if r != RoleID && nines(v.Raw()) && !d.off[KindCard] {
			return KindCard, true
		}
	}
	return "", false
}

func within(found []DataFound, name string) {
	for i := range found {
		if p := found[i].Path; p == "" || p[0] == '[' {
			found[i].Path = name + p
		} else {
			found[i].Path = name + "." + p
		}
	}
}
