// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/value"
)

// Kind is the kind of a finding; the replacement contains it. The built-in kinds are the kinds of
// the detector; a Pattern adds its own.
type Kind = safety.DataKind

// Kinds are the built-in ones.
func Kinds() []Kind { return safety.DataKinds() }

// Pattern is a user-defined form: a text that matches the expression (RE2) is replaced by
// [REDACTED:name]. With a group named "secret" only this part is replaced.
type Pattern struct {
	Name string
	Expr string
}

// Config of a Redactor. The zero Config finds every built-in kind.
type Config struct {
	// Off names kinds that are not replaced.
	Off []Kind
	// Patterns are applied as well, before the built-in kinds.
	Patterns []Pattern
	// Keys are names of members with secret values, in addition to the built-in ones.
	Keys []string
	// Values are secrets that are known, such as the keys in the environment. They are replaced
	// at every place, including identifiers and names of members.
	Values []string
}

// Redactor replaces findings. It keeps counts and is not safe for concurrent use.
//
// Within one Begin (an attempt), equal values get equal replacements and different values different
// ones: [REDACTED:email], [REDACTED:email#2]. So equality and difference survive.
type Redactor struct {
	detect   *safety.Detector
	patterns []pattern
	values   []string
	seen     seen
	texts    []text // of the attempt
	// clean are short strings without findings, by their role, and names are names of members
	// without findings, with the role that each gives. Words of a protocol are in every attempt.
	clean map[safety.NameRole]map[string]bool
	names map[string]name
	// found counts all values that were found. left counts the values among them that stay
	// because the case contains them.
	found, left int
	// everything: no kind is off. usual: no pattern and no name was added. plain: known values have
	// only ASCII characters, and JSON must escape none of them.
	everything, usual, plain bool
	// known is true where only known values are searched, because everything else was removed
	// before.
	known   bool
	own     func() []byte // the text of the case, for Cell; nil elsewhere
	ownText []byte
	last    shown
	// Counts is how often each kind was replaced.
	Counts map[Kind]int64
}

// seen are the values of an attempt with their replacements.
type seen struct {
	by    map[slot]string
	next  map[slot]int // the number of replacements without a value
	order []slot
}

// name is the name of a member.
type name struct {
	text string
	role safety.NameRole
}

// text is a JSON text of an attempt with its value. An attempt contains the same text several
// times: the arguments of a call are in the message and in the raw answer.
type text struct {
	value value.Value
	clean bool // it has no findings
}

// maxTexts bounds the texts of an attempt that are kept.
const maxTexts = 32

// maxClean and maxCleanLen bound the strings that are known to be clean.
const (
	maxClean    = 1 << 10
	maxCleanLen = 64
)

// slot is a value of a kind. Numbers are counted separately from texts, so that a second pass,
// which skips the words for texts, counts them like the first pass.
type slot struct {
	kind   Kind
	number bool
	value  string
}

func newSeen() seen { return seen{by: map[slot]string{}, next: map[slot]int{}} }

func (s *seen) clone() seen {
	return seen{by: maps.Clone(s.by), next: maps.Clone(s.next), order: slices.Clone(s.order)}
}

// put returns the replacement of a value.
func (s *seen) put(at slot) string {
	if with, ok := s.by[at]; ok {
		return with
	}
	kind := at
	kind.value = ""
	s.next[kind]++
	with := safety.MarkOf(at.kind, s.next[kind])
	if at.number {
		with = safety.Nines(len(at.value), s.next[kind])
	}
	s.by[at] = with
	s.order = append(s.order, at)
	return with
}

type pattern struct {
	kind  Kind
	re    *regexp.Regexp
	group int
}

// New makes a Redactor. The error wraps callvet.ErrInvalid when an expression
// does not compile, a pattern has no name, or a kind is not known.
func New(c Config) (*Redactor, error) {
	d, err := safety.NewDetector(safety.DetectorConfig{Off: c.Off, Keys: c.Keys})
	if err != nil {
		return nil, err
	}
	r := &Redactor{
		detect: d, values: c.Values, Counts: map[Kind]int64{}, seen: newSeen(), everything: len(c.Off) == 0,
		usual: len(c.Patterns)+len(c.Keys) == 0, plain: true,
	}
	for _, v := range c.Values {
		r.plain = r.plain && !strings.ContainsFunc(v, func(c rune) bool {
			return c < ' ' || c > '~' || c == '"' || c == '\\'
		})
	}
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

// Fork is a Redactor of the same Config with counts of its own, for another goroutine.
func (r *Redactor) Fork() *Redactor {
	return &Redactor{
		detect: r.detect, patterns: r.patterns, values: r.values, Counts: map[Kind]int64{},
		seen: newSeen(), everything: r.everything, usual: r.usual, plain: r.plain,
	}
}

// spared reports whether a text or JSON value needs no search: only known values are searched,
// and it contains none in any spelling.
func spared[T ~string | ~[]byte](r *Redactor, raw T) bool {
	if !r.known {
		return false
	}
	for _, v := range r.values {
		if strings.Contains(string(raw), v) {
			return false
		}
	}
	return len(r.values) == 0 || !escapes(string(raw))
}

// escapes reports whether a JSON text spells an ordinary ASCII character as an escape, such as \u0041 or \/.
func escapes(s string) bool {
	for rest := s; ; {
		_, after, found := strings.Cut(rest, `\u00`)
		if !found {
			return strings.Contains(s, `\/`)
		}
		if after != "" && after[0] >= '2' && after[0] <= '7' {
			return true
		}
		rest = after
	}
}

// Total is how many replacements were made.
func (r *Redactor) Total() int64 {
	var n int64
	for _, k := range r.Counts {
		n += k
	}
	return n
}

// Begin starts an attempt: the numbers of replacements start again.
func (r *Redactor) Begin() {
	r.seen = newSeen()
	r.forget()
}

// forget drops the texts of the attempt.
func (r *Redactor) forget() {
	clear(r.texts)
	r.texts = r.texts[:0]
}

// Known replaces only the known secret values. It is for ids, which often look random like
// secrets.
func (r *Redactor) Known(s string) string {
	for _, v := range r.values {
		if strings.Contains(s, v) {
			s = strings.ReplaceAll(s, v, r.replace(safety.KindSecret, v))
		}
	}
	return s
}

// Name replaces the secrets in names of tools and models, and in a server's reason of one word.
// Numbers and personal data stay, because they may be a part of the name.
func (r *Redactor) Name(s string) string {
	if spared(r, s) {
		return s
	}
	s = r.Known(s)
	var b strings.Builder
	at := 0
	for f, ok := r.detect.Find(s, 0, safety.RoleID); ok; f, ok = r.detect.Find(s, f.End, safety.RoleID) {
		if !f.Kind.Secret() || r.owns(s[f.Start:f.End]) {
			continue
		}
		b.WriteString(s[at:f.Start])
		b.WriteString(r.replace(f.Kind, s[f.Start:f.End]))
		at = f.End
	}
	if at == 0 {
		return s
	}
	b.WriteString(s[at:])
	return b.String()
}

// Text replaces the findings in s, and returns the same string when there are none. An object or
// array as text is redacted like JSON, because its names mark secrets. Text in its strings has
// escapes of escapes, so that the recursion is never deep.
func (r *Redactor) Text(s string) string { return r.text(s, safety.RoleNone) }

func (r *Redactor) text(s string, role safety.NameRole) string {
	if spared(r, s) {
		return s
	}
	if trimmed := strings.Trim(s, space); trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') {
		if t, err := read(r, trimmed); err == nil {
			if out, changed := r.whole(t); changed {
				return string(out)
			}
			return s
		}
	}
	return r.words(s, role, false)
}

// space is the white space around a JSON value.
const space = " \t\r\n"

// read is a JSON text without space around it, which is parsed unless the attempt had it before.
// The error is the error of value.Parse.
func read[T ~string | ~[]byte](r *Redactor, raw T) (*text, error) {
	for i := range r.texts {
		if string(r.texts[i].value.Raw()) == string(raw) {
			return &r.texts[i], nil
		}
	}
	v, err := value.Parse([]byte(raw))
	if err != nil {
		return nil, err
	}
	return r.keep(v), nil
}

// keep stores a value for the text that it was parsed from.
func (r *Redactor) keep(v value.Value) *text {
	if r.texts == nil {
		r.texts = make([]text, 0, maxTexts) // it must not move: whole keeps a pointer
	}
	if len(r.texts) == maxTexts {
		return &text{value: v}
	}
	r.texts = append(r.texts, text{value: v})
	return &r.texts[len(r.texts)-1]
}

// whole is the redacted form of a text.
func (r *Redactor) whole(t *text) (out []byte, changed bool) {
	if t.clean {
		return nil, false
	}
	found := r.found
	out, changed = r.walk(make([]byte, 0, len(t.value.Raw())), t.value, safety.RoleNone)
	t.clean = !changed && r.found == found
	return out, changed
}

// learn keeps known, a fact about a string that has had no finding since found.
func learn[T any](r *Redactor, in map[string]T, s string, known T, found int) map[string]T {
	if r.found != found || len(s) > maxCleanLen || len(in) >= maxClean {
		return in
	}
	if in == nil {
		in = map[string]T{}
	}
	in[s] = known
	return in
}

// Check is Text of a condition on a result: a number stays a number, so that the condition can
// still be read and keeps its meaning.
func (r *Redactor) Check(s string) string { return r.words(s, safety.RoleNone, true) }

// words is Text for a text that is no object or array.
func (r *Redactor) words(s string, role safety.NameRole, numbers bool) string {
	if spared(r, s) {
		return s
	}
	s = r.Known(s)
	for _, p := range r.patterns {
		s = r.custom(s, p)
	}
	return r.builtin(s, role, numbers)
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
		if r.owns(s[from:to]) {
			b.WriteString(s[from:to])
		} else {
			b.WriteString(r.replace(p.kind, s[from:to]))
		}
		at = to
	}
	b.WriteString(s[at:])
	return b.String()
}

// nines returns the replacement digits of a number.
func (r *Redactor) nines(k Kind, v string) string {
	r.Counts[k]++
	r.found++
	return r.seen.put(slot{k, true, v})
}

// replace returns the replacement word of a value.
func (r *Redactor) replace(k Kind, v string) string {
	r.Counts[k]++
	r.found++
	return r.seen.put(slot{k, false, v})
}

func (r *Redactor) builtin(s string, role safety.NameRole, numbers bool) string {
	var b strings.Builder
	at := 0
	for f, ok := r.detect.Find(s, 0, role); ok; f, ok = r.detect.Find(s, f.End, role) {
		b.WriteString(s[at:f.Start])
		at = f.End
		if r.owns(s[f.Start:f.End]) {
			b.WriteString(s[f.Start:f.End])
			continue
		}
		if found := s[f.Start:f.End]; numbers && strings.Trim(found, "0123456789") == "" && !quotedAt(s, f.Start) {
			b.WriteString(r.nines(f.Kind, found))
		} else {
			b.WriteString(r.replace(f.Kind, found))
		}
	}
	if at == 0 {
		return s
	}
	b.WriteString(s[at:])
	return b.String()
}

// quotedAt reports whether i is inside quotes, in a condition on one line.
func quotedAt(s string, i int) bool {
	quote := byte(0)
	for j := range i {
		switch c := s[j]; {
		case quote != 0 && c == '\\':
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		}
	}
	return quote != 0
}

// JSON replaces the findings in every string of a JSON value and in names of members, and whole
// scalars under names of secrets. Types stay: a string becomes a word such as [REDACTED:email], a
// number becomes a number of as many digits, 99…9. Among numbers, only card numbers, national
// numbers and integers under a secret's name are replaced. raw is returned unchanged when there
// are no findings; text that is not JSON is redacted as text and returned as a JSON string.
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || spared(r, raw) {
		return raw
	}
	t, err := read(r, bytes.Trim(raw, space))
	if err != nil {
		return quote(nil, r.Text(string(raw)))
	}
	if out, changed := r.whole(t); changed {
		return out
	}
	return raw
}

// NamesSecret reports whether a member of raw, at any depth, has the name of a secret, whatever its
// value; false where raw is not JSON.
func (r *Redactor) NamesSecret(raw json.RawMessage) bool {
	if len(raw) == 0 {
		return false
	}
	v, err := value.Parse(raw)
	return err == nil && r.secretWithin(v)
}

// maxName is how far before a colon its name is searched, in bytes.
const maxName = 100

// Payload is Text of arguments as a model wrote them. The values in broken JSON cannot be
// separated: everything after the name of a secret is replaced.
func (r *Redactor) Payload(text string) string {
	if spared(r, text) {
		return text
	}
	if value.Valid([]byte(text)) {
		return r.Text(text)
	}
	for i := range len(text) {
		if text[i] != ':' {
			continue
		}
		name := strings.TrimRight(text[max(0, i-maxName):i], " \t\r\n\"'\\")
		if name = name[strings.LastIndexAny(name, "\"'{,\n\\")+1:]; r.detect.SecretKey(name) {
			if rest := text[i+1:]; !safety.IsRedacted(rest) || strings.IndexByte(rest, ']') < len(rest)-1 {
				return r.Text(text[:i+1]) + r.replace(safety.KindSecret, rest)
			}
			return r.Text(text[:i+1]) + text[i+1:] // as this function returned it
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

// walk appends the redacted value; role is the role from the name above it.
func (r *Redactor) walk(dst []byte, v value.Value, role safety.NameRole) (out []byte, changed bool) {
	switch v.Kind() {
	case value.String:
		return r.string(dst, v, role)
	case value.Number:
		return r.numeral(dst, v, role)
	case value.Array:
		return r.list(dst, v, role)
	case value.Object:
		return r.object(dst, v, role)
	}
	return append(dst, v.Raw()...), false
}

func (r *Redactor) list(dst []byte, v value.Value, role safety.NameRole) (out []byte, changed bool) {
	dst = append(dst, '[')
	first := true
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		var c bool
		dst, c = r.walk(dst, e, r.detect.Below(role, "", e))
		changed = changed || c
	}
	return append(dst, ']'), changed
}

func (r *Redactor) object(dst []byte, v value.Value, role safety.NameRole) (out []byte, changed bool) {
	dst = append(dst, '{')
	pair := r.detect.Announced(v)
	var names []string // of this object, once one was redacted
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		key, clean := r.names[string(e.KeyBytes())]
		if !clean {
			text := e.Key()
			key = name{text, r.detect.Role(text)}
		}
		inner := r.detect.Under(role, key.role, key.text, e)
		if pair != safety.RoleNone && key.text == "value" {
			inner = pair
		}
		shown := key.text
		if !clean {
			found := r.found
			if shown = r.words(key.text, safety.RoleID, false); shown != key.text {
				shown, changed = unused(shown, names), true
				names = append(names, shown)
			}
			r.names = learn(r, r.names, key.text, key, found)
		}
		dst = append(quote(dst, shown), ':')
		var c bool
		dst, c = r.walk(dst, e, inner)
		changed = changed || c
	}
	return append(dst, '}'), changed
}

// unused makes a name that no other member has.
func unused(name string, taken []string) string {
	for own, n := name, 2; ; n++ {
		if !slices.Contains(taken, name) {
			return name
		}
		name = fmt.Sprintf("%s#%d", own, n)
	}
}

func (r *Redactor) numeral(dst []byte, v value.Value, role safety.NameRole) ([]byte, bool) {
	raw := v.Raw()
	k, ok := r.detect.Number(raw, role)
	if !r.isKnown(string(raw)) && (!ok || r.owns(string(raw))) {
		return append(dst, raw...), false
	}
	if !ok {
		k = safety.KindSecret
	}
	masked := r.nines(k, string(raw))
	return append(dst, masked...), masked != string(raw)
}

func (r *Redactor) isKnown(s string) bool { return slices.Contains(r.values, s) }

func (r *Redactor) string(dst []byte, v value.Value, role safety.NameRole) ([]byte, bool) {
	if r.clean[role][string(v.Bytes())] {
		return append(dst, v.Raw()...), false
	}
	s, found := v.Str(), r.found
	if k, ok := r.detect.Whole(s, role); ok && !r.owns(s) {
		return quote(dst, r.replace(k, s)), true
	}
	if t := r.text(s, role); t != s {
		return quote(dst, t), true
	}
	if r.clean == nil {
		r.clean = map[safety.NameRole]map[string]bool{}
	}
	r.clean[role] = learn(r, r.clean[role], s, true, found)
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
