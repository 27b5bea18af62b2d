// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/safety"
)

// Version is the version of the redaction of an attempt. It rises when more is found than before:
// attempts from an earlier version are redacted again where they are shown.
const Version = 1

// Cell removes the secrets and personal data that an attempt received, in place, after scoring:
// no verdict and no figure changes. Text of the case stays (a test user's address, a password in
// a prompt), and so does the text of the rest of the suite, as JSON. The suite is kept as its
// author wrote it; only known values are removed there. changed reports whether turns, answer or
// decision changed: such an attempt must not be reused from a cache.
func (r *Redactor) Cell(of *callvet.Case, rest []byte, cell *callvet.Cell) (changed bool) {
	r.Begin()
	r.own = func() []byte { return append(caseText(of), rest...) }
	defer func() {
		r.own, r.ownText = nil, nil
		r.forget()
	}()
	before := r.Total()
	r.left = 0
	trace, changed := r.trace(&cell.Trace)
	result := r.Result(&cell.Result)
	if r.Total() > before {
		// Redact again, with the values of the case numbered first: when the case is shown, its
		// values are replaced, too, and must not get the same words.
		counts := maps.Clone(r.Counts)
		own := r.own
		r.own = nil
		r.Begin()
		r.JSON(bytes.TrimSpace(caseText(of)))
		r.own, r.left = own, 0
		trace, changed = r.trace(&cell.Trace)
		result = r.Result(&cell.Result)
		r.Counts = counts
	}
	cell.Trace, cell.Result, cell.Redacted = trace, result, 0
	if r.everything && r.left == 0 {
		cell.Redacted = Version
	}
	return changed
}

// caseText is all text of a case, without tools, as JSON without the escapes of HTML.
func caseText(c *callvet.Case) []byte {
	own := *c
	own.Tools = nil
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(&own); err != nil {
		return []byte{' '}
	}
	return b.Bytes()
}

// minOwn is the least length of a value that is searched anywhere in the case's text; a shorter
// value must be a whole string or number in it.
const minOwn = 6

// owns reports whether the case itself contains a value.
func (r *Redactor) owns(v string) bool {
	if r.own == nil {
		return false
	}
	if r.ownText == nil {
		r.ownText = r.own()
	}
	quoted := quoteText(v)
	own := bytes.Contains(r.ownText, quoted[1:len(quoted)-1])
	if len(v) < minOwn {
		own = bytes.Contains(r.ownText, quoted) || bytes.Contains(r.ownText, []byte(":"+v+",")) ||
			bytes.Contains(r.ownText, []byte(":"+v+"}"))
	}
	if own {
		r.found++
		r.left++
	}
	return own
}

// quoteText is v as a JSON string without the escapes of HTML.
func quoteText(v string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // a string always encodes
		return []byte(`""`)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// Row returns a case and an attempt for display: all findings are removed, also in the case
// itself. Id, tags, fields and tools of the case stay, because they identify rows and tables. The
// input is not changed.
func (r *Redactor) Row(of *callvet.Case, cell *callvet.Cell) (callvet.Case, callvet.Cell) {
	if r.last.of != of || of == nil {
		r.Begin()
		r.last.of, r.last.redacted = of, r.Case(of)
		r.last.seen = r.seen.clone()
	} else {
		r.seen = r.last.seen.clone()
	}
	r.seen.skip(cell)
	r.forget() // they were read with other replacements in force
	defer r.forget()
	out := *cell
	// Texts of the attempt are searched once. The result may have new sentences since then, from
	// judges and about the case.
	r.known = cell.Redacted == Version && r.usual && r.plain
	out.Trace, _ = r.trace(&cell.Trace)
	r.known = false
	out.Result = r.Result(&cell.Result)
	return r.last.redacted, out
}

var mark = regexp.MustCompile(regexp.QuoteMeta(safety.RedactionMark) + `([a-z_]+)(?:#(\d+))?\]`)

// skip reserves the words that an attempt already contains, so that no other value gets them.
func (s *seen) skip(cell *callvet.Cell) {
	for i := range cell.Trace.Turns {
		t := &cell.Trace.Turns[i]
		s.skipText(t.Content, t.Reasoning, t.CallID, t.Tool, string(t.Raw))
		for j := range t.Calls {
			c := &t.Calls[j]
			s.skipText(c.ID, c.Tool, c.Version, string(c.Args), c.ArgsRaw, string(c.Result), c.Error, c.Note,
				string(c.Env))
			for k := range c.Guard {
				s.skipText(c.Guard[k].Detail)
			}
		}
	}
}

func (s *seen) skipText(texts ...string) {
	for _, text := range texts {
		if !strings.Contains(text, safety.RedactionMark) {
			continue
		}
		for _, m := range mark.FindAllStringSubmatch(text, -1) {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				n = 1
			}
			at := slot{kind: Kind(m[1])}
			s.next[at] = max(s.next[at], n)
		}
	}
}

// shown is a cache of the last shown case, because attempts are shown case by case.
type shown struct {
	of       *callvet.Case
	redacted callvet.Case
	seen     seen
}

// Case is a case for display.
func (r *Redactor) Case(c *callvet.Case) callvet.Case {
	if c == nil {
		return callvet.Case{}
	}
	raw := caseText(c)
	hidden := r.JSON(bytes.TrimSpace(raw))
	if bytes.Equal(hidden, bytes.TrimSpace(raw)) {
		return *c
	}
	var out callvet.Case
	if err := json.Unmarshal(hidden, &out); err != nil { // types did not change, so that it can be read
		return callvet.Case{ID: c.ID, Description: "the case cannot be shown: " + err.Error()}
	}
	out.ID, out.Tags, out.Fields, out.Tools, out.ToolNames, out.Position = c.ID, c.Tags, c.Fields, c.Tools,
		c.ToolNames, c.Position
	return out
}

// Result is the result of scoring an attempt, without the values that were redacted in the
// attempt itself.
func (r *Redactor) Result(in *callvet.Result) callvet.Result {
	out := *in
	out.Calls = append([]callvet.CallMatch(nil), in.Calls...)
	for i := range out.Calls {
		r.match(&out.Calls[i])
	}
	out.Reason = r.sentence(in.Reason)
	out.Scores = append([]callvet.Score(nil), in.Scores...)
	for i := range out.Scores {
		out.Scores[i].Reason = r.sentence(out.Scores[i].Reason)
	}
	out.Assertions = append([]callvet.Assertion(nil), in.Assertions...)
	for i := range out.Assertions {
		a := &out.Assertions[i]
		a.Name, a.Reason, a.Expected, a.Actual = r.sentence(a.Name), r.sentence(a.Reason), r.sentence(a.Expected),
			r.sentence(a.Actual)
	}
	out.Incidents = append([]callvet.Incident(nil), in.Incidents...)
	for i := range out.Incidents {
		out.Incidents[i].Note = r.sentence(out.Incidents[i].Note)
	}
	out.Names = append([]callvet.Counted(nil), in.Names...)
	for i := range out.Names {
		out.Names[i].Name, out.Names[i].As = r.Name(out.Names[i].Name), r.Name(out.Names[i].As)
	}
	return out
}

func (r *Redactor) match(m *callvet.CallMatch) {
	m.Got, m.As = r.Name(m.Got), r.Name(m.As)
	m.WantArgs, m.GotArgs, m.Note = r.JSON(m.WantArgs), r.JSON(m.GotArgs), r.sentence(m.Note)
	m.Args = append([]callvet.ArgDiff(nil), m.Args...)
	for i := range m.Args {
		d := &m.Args[i]
		role := r.roleAt(d.Path)
		d.Expected, d.Actual, d.Note = r.member(d.Expected, role), r.member(d.Actual, role), r.sentence(d.Note)
		d.Path = r.words(d.Path, safety.RoleID, false)
	}
	m.Violations = append([]callvet.Violation(nil), m.Violations...)
	for i := range m.Violations {
		v := &m.Violations[i]
		if r.roleAt(v.Path) == safety.RoleSecret && v.Keyword != "type" && v.Keyword != "required" {
			// The contract of a secret may contain its value, too.
			v.Expected, v.Actual, v.Message = "", "", "the value at "+v.Path+" breaks "+v.Keyword
			continue
		}
		v.Expected, v.Actual, v.Message = r.sentence(v.Expected), r.sentence(v.Actual), r.sentence(v.Message)
		v.Path = r.words(v.Path, safety.RoleID, false)
	}
}

// roleAt is the role of a value at a path such as auth.password, /auth/password or users[0].
func (r *Redactor) roleAt(path string) safety.NameRole {
	role := safety.RoleNone
	for _, name := range strings.FieldsFunc(path,
		func(c rune) bool { return c == '.' || c == '/' || c == '[' || c == ']' }) {
		if strings.Trim(name, "0123456789") == "" {
			continue // an item has the role of its list
		}
		if own := r.detect.Role(name); own == safety.RoleSecret || role != safety.RoleSecret {
			role = own
		}
	}
	return role
}

// member is JSON of the value of a member with that role.
func (r *Redactor) member(raw json.RawMessage, role safety.NameRole) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	if role == safety.RoleNone {
		return r.JSON(raw)
	}
	t, err := read(r, bytes.Trim(raw, space))
	if err != nil {
		return r.JSON(raw)
	}
	out, changed := r.walk(make([]byte, 0, len(raw)), t.value, role)
	if !changed {
		return raw
	}
	return out
}

// replaceApart replaces old by with, but not where its digits are part of a longer number.
func replaceApart(s, old, with string) string {
	digit := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
	var b strings.Builder
	done := 0
	for at := 0; ; {
		i := strings.Index(s[at:], old)
		if i < 0 {
			break
		}
		i += at
		end := i + len(old)
		at = end
		if digit(i) && (digit(i-1) || i > 0 && s[i-1] == '.' && digit(i-2)) || digit(end-1) &&
			(digit(end) || end < len(s) && s[end] == '.' && digit(end+1)) {
			at = i + 1
			continue
		}
		b.WriteString(s[done:i])
		b.WriteString(with)
		done = end
	}
	b.WriteString(s[done:])
	return b.String()
}

// sentence is Text for a sentence that quotes values: values that were replaced because of their
// names are also replaced in the sentence, which may not contain the names.
func (r *Redactor) sentence(s string) string {
	if s == "" {
		return s
	}
	order := slices.Clone(r.seen.order)
	// a value may be part of another
	slices.SortStableFunc(order, func(a, b slot) int { return cmp.Compare(len(b.value), len(a.value)) })
	for _, at := range order {
		if r.owns(at.value) {
			continue
		}
		with := r.seen.by[at]
		if len(at.value) >= minOwn {
			s = replaceApart(s, at.value, with)
			continue
		}
		for _, q := range [...]string{`"`, "'", "`"} {
			s = strings.ReplaceAll(s, q+at.value+q, q+with+q)
		}
	}
	return r.words(s, safety.RoleNone, true)
}
