// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package library

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/suite/dialect"
)

// The stored forms of a suite.
const (
	FormOwn       = "callvet"
	FormToolsuite = dialect.Toolsuite
)

// Document is the text of a suite as JSON, which is edited value by value. Unedited values keep
// their bytes: models read those of a tool's schema.
type Document struct {
	// Form is FormToolsuite or FormOwn.
	Form    string
	members []suiteMember
	// Cases are the texts of the cases, in their order.
	Cases []jsontext.Value
}

type suiteMember struct {
	name string
	raw  jsontext.Value
}

// list returns the key of the cases.
func (d *Document) list() string {
	if d.Form == FormToolsuite {
		return "test_cases"
	}
	return "cases"
}

// errOtherForm: a text is not a JSON object with cases, although the loader may read it.
var errOtherForm = errors.New("not a JSON object with cases")

// parseDocument reads a text of a form; the error is errOtherForm if it has a different form.
func parseDocument(text []byte, form string) (*Document, error) {
	d := &Document{Form: form}
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	if dec.PeekKind() != '{' || form != FormToolsuite && form != FormOwn {
		return nil, errOtherForm
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, errOtherForm
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, errOtherForm
		}
		key := name.String()
		raw, err := dec.ReadValue()
		if err != nil {
			return nil, errOtherForm
		}
		if key != d.list() {
			d.members = append(d.members, suiteMember{key, raw.Clone()})
			continue
		}
		if err := jsonx.Unmarshal(raw, &d.Cases); err != nil {
			return nil, errOtherForm
		}
	}
	if _, err := dec.ReadToken(); err != nil || len(bytes.TrimSpace(dec.UnreadBuffer())) > 0 {
		return nil, errOtherForm
	}
	for _, c := range d.Cases {
		if c.Kind() != '{' {
			return nil, errOtherForm
		}
	}
	if d.Form == FormOwn && d.Get("test_cases") != nil {
		return nil, errOtherForm // the loader accepts the other key of the list, too
	}
	return d, nil
}

// Clone returns an independent copy.
func (d *Document) Clone() *Document {
	return &Document{d.Form, slices.Clone(d.members), slices.Clone(d.Cases)}
}

// converted writes a suite in callvet's own form.
func converted(s *callvet.Suite) (*Document, error) {
	text, err := suite.Export(s, "json")
	if err != nil {
		return nil, fmt.Errorf("convert suite: %w", err)
	}
	d, err := parseDocument(text, FormOwn)
	if err != nil {
		return nil, fmt.Errorf("convert suite: %w: %w", callvet.ErrInvalid, err)
	}
	return d, nil
}

// Get returns the text of a value of the suite; nil if there is none.
func (d *Document) Get(name string) jsontext.Value {
	for _, m := range d.members {
		if m.name == name {
			return m.raw
		}
	}
	return nil
}

// Text returns a text of the suite, such as its name; "" if there is none.
func (d *Document) Text(name string) string {
	var s string
	if raw := d.Get(name); raw.Kind() == '"' && jsonx.Unmarshal(raw, &s) == nil {
		return s
	}
	return ""
}

// Set sets the text of a value of the suite; nil removes it.
func (d *Document) Set(name string, raw jsontext.Value) {
	at := slices.IndexFunc(d.members, func(m suiteMember) bool { return m.name == name })
	switch {
	case at >= 0 && raw == nil:
		d.members = slices.Delete(d.members, at, at+1)
	case at >= 0:
		d.members[at].raw = raw
	case raw != nil:
		d.members = append(d.members, suiteMember{name, raw})
	}
}

// SetText sets a text; "" removes it.
func (d *Document) SetText(name, text string) error {
	if text == "" {
		d.Set(name, nil)
		return nil
	}
	raw, err := jsonx.Marshal(text)
	if err != nil {
		return fmt.Errorf("write %s: %w: %w", name, callvet.ErrInvalid, err)
	}
	d.Set(name, raw)
	return nil
}

// IDs returns the ids of the cases, "" for a case without one.
func (d *Document) IDs() []string {
	out := make([]string, len(d.Cases))
	for i, c := range d.Cases {
		out[i] = idOf(c)
	}
	return out
}

// idOf reads the id of a case like the loader: a text, or a number as it is written.
func idOf(c jsontext.Value) string {
	var head struct {
		ID jsontext.Value `json:"id"`
	}
	if jsonx.Unmarshal(c, &head) != nil {
		return ""
	}
	switch head.ID.Kind() {
	case '"':
		var s string
		if jsonx.Unmarshal(head.ID, &s) == nil {
			return s
		}
	case '0':
		return string(head.ID)
	}
	return ""
}

// Find returns the position of a case. The error wraps callvet.ErrNotFound.
func (d *Document) Find(id string) (int, error) {
	if at := slices.Index(d.IDs(), id); at >= 0 && id != "" {
		return at, nil
	}
	return 0, fmt.Errorf("case %q: %w", id, callvet.ErrNotFound)
}

// WithID returns a case with a new id, which comes first.
func WithID(c jsontext.Value, id string) (jsontext.Value, error) {
	name, err := jsonx.Marshal(id)
	if err != nil {
		return nil, fmt.Errorf("write id: %w: %w", callvet.ErrInvalid, err)
	}
	var out bytes.Buffer
	out.WriteString(`{"id": `)
	out.Write(name)
	dec := jsontext.NewDecoder(bytes.NewReader(c))
	if _, err := dec.ReadToken(); err != nil {
		return nil, fmt.Errorf("read case: %w: %w", callvet.ErrInvalid, err)
	}
	whole, last := c, int64(0)
	for dec.PeekKind() == '"' {
		key, err := dec.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("read case: %w: %w", callvet.ErrInvalid, err)
		}
		isID, start := key.String() == "id", last
		if err := dec.SkipValue(); err != nil {
			return nil, fmt.Errorf("read case: %w: %w", callvet.ErrInvalid, err)
		}
		last = dec.InputOffset()
		if !isID { // with the white space and the comma before it
			out.WriteString(", ")
			out.Write(bytes.TrimLeft(whole[start:last], " \t\r\n,{"))
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

var givenID = regexp.MustCompile(`^case-([1-9]\d{0,17})$`)

// Name sets the id of every case without one to an id that no case ever had: last is the largest
// number so far, and the result is the new one.
func (d *Document) Name(last int64) (int64, error) {
	ids := d.IDs()
	for _, id := range ids {
		if m := givenID.FindStringSubmatch(id); m != nil {
			if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
				last = max(last, n)
			}
		}
	}
	for i, id := range ids {
		if id != "" {
			continue
		}
		last++
		c, err := WithID(d.Cases[i], "case-"+strconv.FormatInt(last, 10))
		if err != nil {
			return last, err
		}
		d.Cases[i] = c
	}
	return last, nil
}

// Bytes returns the text of the suite.
func (d *Document) Bytes() []byte {
	var out bytes.Buffer
	out.WriteByte('{')
	key := func(name string) {
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		b, _ := jsonx.Marshal(name) // names were read
		out.WriteString("\n  ")
		out.Write(b)
		out.WriteString(": ")
	}
	for _, m := range d.members {
		key(m.name)
		out.Write(m.raw)
	}
	key(d.list())
	out.WriteByte('[')
	for i, c := range d.Cases {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    ")
		out.Write(c)
	}
	if len(d.Cases) > 0 {
		out.WriteString("\n  ")
	}
	out.WriteString("]\n}\n")
	return out.Bytes()
}

// place returns the place of a problem in the document, such as test_cases[3].expected_tool; "" for
// a problem of the whole suite.
func (d *Document) place(p *callvet.Problem, at map[string]int) string {
	key := p.Key
	i, known := at[p.Case]
	if !known {
		return key
	}
	place := fmt.Sprintf("%s[%d]", d.list(), i)
	if key == "" {
		return place
	}
	return place + "." + d.spelled(d.Cases[i], key)
}

// spelled returns a key in the spelling of the case: expected calls have short keys, too.
func (d *Document) spelled(c jsontext.Value, key string) string {
	var has map[string]jsontext.Value
	if jsonx.Unmarshal(c, &has) != nil {
		return key
	}
	first, _, _ := strings.Cut(key, ".")
	first, _, _ = strings.Cut(first, "[")
	if has[first] != nil {
		return key
	}
	for _, s := range [][2]string{
		{"expect.calls[0].tool", "expected_tool"},
		{"expect.calls[0].args", "expected_params"},
		{"expect.calls[0].params", "expected_params"},
		{"expect.any_of[0].calls[0].tool", "expected_tool"},
		{"expect.any_of[0].calls[0].args", "expected_params"},
		{"expect.any_of[0].calls[0].params", "expected_params"},
		{"scoring.mode", "param_scoring"},
		{"scoring", "scoring_config"},
		{"mocks", "mock_responses"},
		{"input", "prompt"},
		{"multi_turn.", ""},
		{"expect", "expected_tool"},
	} {
		rest, ok := strings.CutPrefix(key, s[0])
		if !ok {
			continue
		}
		if s[0] == "mocks" || s[0] == "input" || s[0] == "expect" {
			rest = ""
		}
		return s[1] + rest
	}
	return key
}
