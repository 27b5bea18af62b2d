// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/safety/pii"
	"github.com/callvet/callvet/value"
)

// Kind of a finding; it stands in the replacement. The built-in kinds are those of
// the detector; a Pattern adds its own.
type Kind = pii.Kind

// Pattern is a form of one's own: what matches the expression (RE2) is replaced
// by [REDACTED:name]. With a group named "secret" only that part is.
type Pattern struct {
	Name string
	Expr string
}

// Config of a Redactor. The zero Config finds every built-in kind.
type Config struct {
	// Off names kinds that are left alone.
	Off []Kind
	// Patterns are looked for as well, before the built-in kinds.
	Patterns []Pattern
	// Keys are member names whose values are secrets, beside the built-in ones.
	Keys []string
}

// Redactor replaces findings. It keeps counts and is not safe for concurrent use.
type Redactor struct {
	detect   *pii.Detector
	patterns []pattern
	doc      value.Doc
	// Counts is how often each kind was replaced.
	Counts map[Kind]int64
}

type pattern struct {
	kind  Kind
	re    *regexp.Regexp
	group int
}

// New makes a Redactor. The error wraps callvet.ErrInvalid when an expression
// does not compile, a pattern has no name, or a kind is not known.
func New(c Config) (*Redactor, error) {
	d, err := pii.New(pii.Config{Off: c.Off, Keys: c.Keys})
	if err != nil {
		return nil, err
	}
	r := &Redactor{detect: d, Counts: map[Kind]int64{}}
	for _, p := range c.Patterns {
		if p.Name == "" {
			return nil, fmt.Errorf("redaction pattern %q has no name: %w", p.Expr, callvet.ErrInvalid)
		}
		re, err := regexp.Compile(p.Expr)
		if err != nil {
			return nil, fmt.Errorf("read redaction pattern %q: %w: %w", p.Name, callvet.ErrInvalid, err)
		}
		r.patterns = append(r.patterns, pattern{Kind(p.Name), re, max(re.SubexpIndex("secret"), 0)})
	}
	return r, nil
}

// Text replaces the findings in s. The same string comes back when there are none. An
// object or array as text is redacted as JSON does: names tell secrets there too. What
// is in its strings again takes escapes of escapes, so that it is never deep.
func (r *Redactor) Text(s string) string {
	if trimmed := strings.TrimSpace(s); trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') {
		if v, err := value.Parse([]byte(s)); err == nil {
			if out, changed := r.walk(nil, v, false); changed {
				return string(out)
			}
			return s
		}
	}
	return r.words(s)
}

// words is Text of what is no object or array.
func (r *Redactor) words(s string) string {
	for _, p := range r.patterns {
		s = r.custom(s, p)
	}
	return r.builtin(s)
}

func (r *Redactor) custom(s string, p pattern) string {
	locs := p.re.FindAllStringSubmatchIndex(s, -1)
	if locs == nil {
		return s
	}
	var b strings.Builder
	at := 0
	for _, l := range locs {
		from, to := l[2*p.group], l[2*p.group+1]
		if from < at || to <= from {
			continue
		}
		b.WriteString(s[at:from])
		b.WriteString(r.replace(p.kind))
		at = to
	}
	b.WriteString(s[at:])
	return b.String()
}

func (r *Redactor) replace(k Kind) string {
	r.Counts[k]++
	return pii.Mark + string(k) + "]"
}

func (r *Redactor) builtin(s string) string {
	var b strings.Builder
	at := 0
	for f, ok := r.detect.Next(s, 0); ok; f, ok = r.detect.Next(s, f.End) {
		b.WriteString(s[at:f.Start])
		b.WriteString(r.replace(f.Kind))
		at = f.End
	}
	if at == 0 {
		return s
	}
	b.WriteString(s[at:])
	return b.String()
}

// JSON replaces the findings in every string of a JSON value, names of members
// excepted, and whole scalars under names that tell a secret. raw comes back as
// it is when there are none; text that is not JSON is redacted as text and given
// as a JSON string.
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	if err := r.doc.Parse(raw); err != nil {
		return quote(nil, r.Text(string(raw)))
	}
	out, changed := r.walk(make([]byte, 0, len(raw)), r.doc.Root(), false)
	if !changed {
		return raw
	}
	return out
}

// TellsSecret reports whether a member of raw, at any depth, has a name that tells a
// secret, whatever its value; false where raw is not JSON.
func (r *Redactor) TellsSecret(raw json.RawMessage) bool {
	return len(raw) > 0 && r.doc.Parse(raw) == nil && r.secretWithin(r.doc.Root())
}

// maxName is how far before a colon its name is looked for, in bytes.
const maxName = 100

// Payload is Text of arguments as a model wrote them. The values in broken JSON cannot be
// told from one another: all that comes after a name that tells a secret is replaced.
func (r *Redactor) Payload(text string) string {
	if value.Valid([]byte(text)) {
		return r.Text(text)
	}
	for i := range len(text) {
		if text[i] != ':' {
			continue
		}
		name := strings.TrimRight(text[max(0, i-maxName):i], " \t\r\n\"'\\")
		if name = name[strings.LastIndexAny(name, "\"'{,\n\\")+1:]; r.detect.SecretKey(name) {
			return r.Text(text[:i+1]) + r.replace(pii.KindSecret)
		}
	}
	return r.Text(text)
}

func (r *Redactor) secretWithin(v value.Value) bool {
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if v.Kind() == value.Object && r.detect.SecretKey(e.Key()) || r.secretWithin(e) {
			return true
		}
	}
	return false
}

// walk appends the redacted value; secret tells that the name above was one.
func (r *Redactor) walk(dst []byte, v value.Value, secret bool) (out []byte, changed bool) {
	switch v.Kind() {
	case value.String, value.Number:
		return r.scalar(dst, v, secret)
	case value.Array, value.Object:
	default:
		return append(dst, v.Raw()...), false
	}
	open, shut := byte('['), byte(']')
	if v.Kind() == value.Object {
		open, shut = '{', '}'
	}
	dst = append(dst, open)
	first := true
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		inner := secret
		if v.Kind() == value.Object {
			dst = append(quote(dst, e.Key()), ':')
			inner = secret || r.detect.SecretKey(e.Key())
		}
		var c bool
		dst, c = r.walk(dst, e, inner)
		changed = changed || c
	}
	return append(dst, shut), changed
}

func (r *Redactor) scalar(dst []byte, v value.Value, secret bool) ([]byte, bool) {
	if secret && (v.Kind() == value.Number || v.Str() != "" && !pii.Redacted(v.Str())) {
		return quote(dst, r.replace(pii.KindSecret)), true
	}
	if v.Kind() == value.Number {
		if raw := string(v.Raw()); len(raw) >= 13 && len(raw) <= 19 {
			if t := r.Text(raw); t != raw {
				return quote(dst, t), true
			}
		}
		return append(dst, v.Raw()...), false
	}
	s := v.Str()
	if t := r.Text(s); t != s {
		return quote(dst, t), true
	}
	return append(dst, v.Raw()...), false
}

func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

func quote(dst []byte, s string) []byte {
	if plain(s) {
		return append(append(append(dst, '"'), s...), '"')
	}
	b, err := json.Marshal(s)
	if err != nil { // a string always marshals
		return append(dst, '"', '"')
	}
	return append(dst, b...)
}
