// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Unknown is a member that the form does not have.
type Unknown struct {
	// Key is its path without positions in lists, "judged.modle".
	Key   string
	above string // with a point at its end, or ""
	known []string
}

// Near is the known path that may have been meant; "" when none is near.
func (u Unknown) Near() string {
	if near := callvet.Nearest(u.Key[len(u.above):], u.known); near != "" {
		return u.above + near
	}
	return ""
}

// Check returns the first mistake of v; nil without one. Members that the form does not have are
// passed to unknown; when unknown is nil, the first of them is a mistake.
func (t *Type) Check(v value.Value, unknown func(Unknown)) *Wrong {
	r := reader{nulls: t.nulls, unknown: unknown}
	return r.read(t.root, v, reflect.Value{})
}

// Read checks v and fills what into points to, which must be of the type that t was made of.
// Members that v does not have stay unchanged, also in a map, which is copied first. After a
// mistake the value is partly filled.
func (t *Type) Read(v value.Value, into any, unknown func(Unknown)) *Wrong {
	r := reader{nulls: t.nulls, unknown: unknown}
	return r.read(t.root, v, reflect.ValueOf(into).Elem())
}

// Fill reads v into what into points to. Members that its type does not have are mistakes.
func Fill(v value.Value, into any) *Wrong {
	return of(reflect.TypeOf(into).Elem()).Read(v, into, nil)
}

// DecodeJSON reads one JSON value, which may follow a byte order mark, into what into points to.
// Members that the type does not have are errors, and so are repeated members. The error is a
// callvet.Problem with file, line and column.
func DecodeJSON(file string, text []byte, into any) error { return decode(file, text, into, nil) }

// DecodeSomeJSON is DecodeJSON for a text with further members, which are ignored.
func DecodeSomeJSON(file string, text []byte, into any) error {
	return decode(file, text, into, func(Unknown) {})
}

func decode(file string, text []byte, into any, unknown func(Unknown)) error {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	v, err := value.Parse(text)
	if err != nil {
		return Syntax(file, text, err)
	}
	if w := of(reflect.TypeOf(into).Elem()).Read(v, into, unknown); w != nil {
		return w.In(file, text)
	}
	return nil
}

// Syntax is an error of value.Parse as a Problem with its place in the text.
func Syntax(file string, text []byte, err error) callvet.Problem {
	p := callvet.Problem{Position: callvet.Position{File: file}, Code: CodeSyntax, Message: value.Reason(err)}
	var s *value.SyntaxError
	if errors.As(err, &s) && !s.Over {
		p.Line, p.Column = Place(text, s.Offset)
		p.Message = "not JSON: " + s.Msg
		if file == "" { // only a file has a place
			p.Message = fmt.Sprintf("line %d: not JSON: %s", p.Line, s.Msg)
		}
	}
	return p
}

// reader walks over a value and a form together.
type reader struct {
	nulls   bool
	unknown func(Unknown)
	path    []part
}

// part of a path: the name of a member, or the position of an element.
type part struct {
	name  string
	index int
}

func (r *reader) key(positions bool) string {
	var b []byte
	for _, p := range r.path {
		switch {
		case p.name == "" && positions:
			b = append(strconv.AppendInt(append(b, '['), int64(p.index), 10), ']')
		case p.name == "":
		case len(b) > 0:
			b = append(append(b, '.'), p.name...)
		default:
			b = append(b, p.name...)
		}
	}
	return string(b)
}

// below returns the key of a member of the current value.
func (r *reader) below(name string) string {
	r.path = append(r.path, part{name: name})
	key := r.key(true)
	r.path = r.path[:len(r.path)-1]
	return key
}

// read compares v with f, and fills into where that is valid.
func (r *reader) read(f *form, v value.Value, into reflect.Value) *Wrong {
	k := v.Kind()
	if k == value.Null && (f.nilable || r.nulls) {
		return nil
	}
	if f.how == asPointer {
		if into.IsValid() {
			into.Set(reflect.New(into.Type().Elem()))
			into = into.Elem()
		}
		return r.read(f.elem, v, into)
	}
	if f.kind != value.Invalid && k != f.kind && !(f.scalar && (k == value.Number || k == value.Bool)) {
		return wrongKind(r.key(true), v, f.wanted())
	}
	switch f.how {
	case asStruct:
		return r.members(f, v, into)
	case asSlice:
		return r.elements(f, v, into)
	case asMap:
		return r.entries(f, v, into)
	}
	return r.scalar(f, v, into)
}

func (r *reader) members(f *form, v value.Value, into reflect.Value) *Wrong {
	var have uint64 // one bit for each present field
	for m := v.Members(); m.Ok(); m = m.Next() {
		i := m.Named(f.names)
		if i < 0 {
			i = m.Decoded(f.names)
		}
		if i < 0 {
			if w := r.strange(f, m.Value()); w != nil {
				return w
			}
			continue
		}
		fd := &f.fields[i]
		if fd.required && !fd.nilable && m.Kind() == value.Null {
			return wrongKind(r.below(fd.name), m.Value(), fd.wanted())
		}
		have |= 1 << i
		to := into
		if to.IsValid() {
			to = to.FieldByIndex(fd.index)
		}
		r.path = append(r.path, part{name: fd.name})
		w := r.read(fd.form, m.Value(), to)
		r.path = r.path[:len(r.path)-1]
		if w != nil {
			return w
		}
	}
	for i := range f.fields {
		if f.fields[i].required && have>>i&1 == 0 {
			return r.missing(f, &f.fields[i], v)
		}
	}
	return nil
}

// wanted is the required kind, with its article.
func (f *form) wanted() string {
	switch {
	case f.how == asPointer:
		return f.elem.wanted()
	case f.kind == value.Number:
		return f.allowed()
	case f.kind == value.Invalid:
		return "a value"
	}
	return WithArticle(f.kind)
}

// strange is a member that the form does not have.
func (r *reader) strange(f *form, m value.Value) *Wrong {
	name := clip(m.Key())
	if r.unknown == nil {
		key := r.below(name)
		w := &Wrong{
			Code: CodeUnknown, Key: key, Near: callvet.Nearest(name, f.known), Offset: m.Offset(),
			What: "unknown key " + strconv.Quote(key),
		}
		if w.Near == "" && len(f.known) <= maxKnown {
			w.What += "; known are " + strings.Join(f.known, ", ")
		}
		return w
	}
	u := Unknown{above: r.key(false), known: f.known}
	if u.above != "" {
		u.above += "."
	}
	u.Key = u.above + name
	r.unknown(u)
	return nil
}

// missing is the mistake of a required member that is absent. It names an unknown member that may
// be its misspelling.
func (r *reader) missing(f *form, fd *field, v value.Value) *Wrong {
	slip := ""
	for m := v.Members(); m.Ok(); m = m.Next() {
		name := m.Value().Key()
		if f.names.Find(name) < 0 && callvet.Nearest(name, []string{fd.name}) != "" {
			slip = clip(name)
		}
	}
	key := r.below(fd.name)
	w := &Wrong{Code: CodeMissing, Key: key, Offset: v.Offset(), What: strconv.Quote(key) + " is missing"}
	if slip != "" {
		w.What, w.Near = w.What+", and there is "+strconv.Quote(r.below(slip)), fd.name
	}
	return w
}

// maxKnown is how many known names are listed where none is similar.
const maxKnown = 12

// maxName is the number of bytes of a name that a message shows.
const maxName = 64

func clip(s string) string {
	if len(s) > maxName {
		return s[:maxName] + "…"
	}
	return s
}

func (r *reader) elements(f *form, v value.Value, into reflect.Value) *Wrong {
	if into.IsValid() {
		into.Set(reflect.MakeSlice(into.Type(), v.Len(), v.Len()))
	}
	i := 0
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		var to reflect.Value
		if into.IsValid() {
			to = into.Index(i)
		}
		r.path = append(r.path, part{index: i})
		var w *Wrong
		if e.Kind() == value.Null && !f.elem.nilable { // an element is never absent
			w = wrongKind(r.key(true), e, f.elem.wanted())
		} else {
			w = r.read(f.elem, e, to)
		}
		r.path = r.path[:len(r.path)-1]
		if w != nil {
			return w
		}
		i++
	}
	return nil
}

func (r *reader) entries(f *form, v value.Value, into reflect.Value) *Wrong {
	if into.IsValid() { // existing members stay, in a new map
		old := into.MapRange()
		own := reflect.MakeMapWithSize(into.Type(), into.Len()+v.Len())
		for old.Next() {
			own.SetMapIndex(old.Key(), old.Value())
		}
		into.Set(own)
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if r.nulls && e.Kind() == value.Null {
			continue
		}
		var to reflect.Value
		if into.IsValid() {
			to = reflect.New(into.Type().Elem()).Elem()
		}
		name := e.Key()
		r.path = append(r.path, part{name: clip(name)})
		w := r.read(f.elem, e, to)
		r.path = r.path[:len(r.path)-1]
		if w != nil {
			return w
		}
		if into.IsValid() {
			into.SetMapIndex(reflect.ValueOf(name).Convert(into.Type().Key()), to)
		}
	}
	return nil
}

// moment reads a time as RFC 3339 and the format date-time of schemas have it. time.Parse alone takes
// hours of one digit, a comma before fractions, and zones of more than a day (go.dev/issue/54580).
func moment(s string) (at time.Time, ok bool) {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || s[12] == ':' || strings.Contains(s, ",") {
		return at, false
	}
	if zone := s[len(s)-len("+00:00"):]; s[len(s)-1] != 'Z' && (zone[1:3] > "23" || zone[4:] > "59") {
		return at, false
	}
	return at, true
}

func (r *reader) scalar(f *form, v value.Value, into reflect.Value) *Wrong {
	switch f.how {
	case asText:
		return r.text(f, v, into)
	case asBool:
		if into.IsValid() {
			into.SetBool(v.Bool())
		}
	case asInt, asUint, asFloat:
		return r.number(f, v, into)
	case asTime:
		at, ok := moment(v.Str())
		if !ok {
			return wrongValue(r.key(true), v, "a time such as 2026-01-31T12:00:00Z")
		}
		if into.IsValid() {
			into.Set(reflect.ValueOf(at))
		}
	case asBytes:
		b, err := base64.StdEncoding.DecodeString(v.Str())
		if err != nil {
			return wrongValue(r.key(true), v, "base64")
		}
		if into.IsValid() {
			into.SetBytes(b)
		}
	default:
		return r.open(f, v, into)
	}
	return nil
}

// open fills a field of any type.
func (r *reader) open(f *form, v value.Value, into reflect.Value) *Wrong {
	if !into.IsValid() {
		return nil
	}
	var err error
	switch f.how {
	case asRaw:
		into.SetBytes(bytes.Clone(v.Raw()))
	case asAny:
		err = json.Unmarshal(v.Raw(), into.Addr().Interface())
	default:
		own, _ := into.Addr().Interface().(json.Unmarshaler)
		err = own.UnmarshalJSON(v.Raw())
	}
	if err != nil {
		return &Wrong{
			Code: CodeValue, Key: r.key(true), Offset: v.Offset(),
			What: subject(r.key(true)) + " is " + describe(v) + ": " + Explain(err).Error(),
		}
	}
	return nil
}

func (r *reader) text(f *form, v value.Value, into reflect.Value) *Wrong {
	if f.full && v.Len() == 0 && len(v.Raw()) == 2 {
		return &Wrong{Code: CodeValue, Key: r.key(true), Offset: v.Offset(), What: subject(r.key(true)) + " is empty"}
	}
	if f.words != nil {
		if w := r.word(f, v); w != nil {
			return w
		}
	}
	switch {
	case !into.IsValid():
	case v.Kind() != value.String:
		into.SetString(string(v.Raw()))
	default:
		into.SetString(v.Str())
	}
	return nil
}

func (r *reader) word(f *form, v value.Value) *Wrong {
	text := v.Bytes()
	for _, w := range f.words {
		if string(text) == w {
			return nil
		}
	}
	w := wrongValue(r.key(true), v, list(f.words))
	w.Near = callvet.Nearest(string(text), f.words)
	return w
}

func (r *reader) number(f *form, v value.Value, into reflect.Value) *Wrong {
	x, ok := v.Float()
	switch {
	case !ok:
		return wrongValue(r.key(true), v, "a number that is not so large")
	case f.whole && !v.IsInteger(), x < f.min, x > f.max:
		return wrongValue(r.key(true), v, f.allowed())
	}
	if !into.IsValid() {
		return nil
	}
	switch f.how {
	case asInt:
		into.SetInt(int64(x))
	case asUint:
		into.SetUint(uint64(x))
	default:
		into.SetFloat(x)
	}
	return nil
}

// allowed describes the allowed numbers.
func (f *form) allowed() string {
	s := "a number"
	if f.whole {
		s = "a whole number"
	}
	low, high := f.min > -math.Ldexp(1, 31), f.max < math.Ldexp(1, 31)-1
	switch {
	case low && high:
		return s + " from " + number(f.min) + " to " + number(f.max)
	case low:
		return s + " from " + number(f.min)
	case high:
		return s + " up to " + number(f.max)
	}
	return s
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
