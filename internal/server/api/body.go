// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds the nesting of values in a body.
const maxDepth = 100

// maxEcho bounds a value that an error repeats, in bytes, and maxErrors how many errors one reply has.
const (
	maxEcho   = 200
	maxErrors = 20
)

// formats are the readers and writers of bodies. Two JSON readers would disagree about a duplicate
// key, a key in other letter case, invalid UTF-8, data after the value, and deep nesting: all are
// refused.
func formats() map[string]huma.Format {
	f := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: ReadBody}
	return map[string]huma.Format{"application/json": f, "json": f}
}

// ReadBody reads JSON into v.
func ReadBody(data []byte, v any) error {
	if err := shallow(data); err != nil {
		return err
	}
	err := jsonx.Unmarshal(data, v, jsonx.WithUnmarshalers(jsonx.UnmarshalFromFunc(looseNumber)),
		jsonx.RejectUnknownMembers(true))
	var wrong *jsontext.SyntacticError
	var misfit *jsonx.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return fmt.Errorf("it is not good JSON at byte %d, %s: %w", wrong.ByteOffset,
			where(wrong.JSONPointer), wrong.Err)
	case errors.Is(err, jsonx.ErrUnknownName):
		if errors.As(err, &misfit) {
			return fmt.Errorf("unexpected property %s: names are read letter by letter", misfit.JSONPointer)
		}
		return errors.New("unexpected property: names are read letter by letter")
	case errors.As(err, &misfit):
		return fmt.Errorf("the value of %s does not fit", where(misfit.JSONPointer))
	}
	return errors.New("it is not good JSON")
}

func where(p jsontext.Pointer) string {
	if p == "" {
		return "the whole"
	}
	return "in " + string(p)
}

// looseNumber reads a number for a comparison with a schema; stored values keep their text. A
// number beyond the range of float64 becomes the largest float64.
func looseNumber(dec *jsontext.Decoder, v *any) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	t, err := dec.ReadToken()
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(t.String(), 64)
	if err != nil {
		f = math.Copysign(math.MaxFloat64, f)
	}
	*v = f
	return nil
}

// shallow refuses a text that is nested too deeply, before recursive code reads it.
func shallow(data []byte) error {
	depth, text := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("its values lie more than %d deep", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// brief shortens error responses: it bounds the number of errors and the length of a value that an
// error repeats, and drops values that are not text. An object or a list is never repeated: an
// error for each key would write the whole object that many times.
func brief(_ huma.Context, _ string, v any) (any, error) {
	e, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	if more := len(e.Errors) - maxErrors; more > 0 {
		slices.SortStableFunc(e.Errors, func(a, b *huma.ErrorDetail) int { return cmp.Compare(a.Location, b.Location) })
		e.Errors = append(e.Errors[:maxErrors:maxErrors],
			&huma.ErrorDetail{Message: fmt.Sprintf("and %d more errors", more)})
	}
	for _, d := range e.Errors {
		if len(d.Location) > maxEcho {
			d.Location = strings.ToValidUTF8(d.Location[:maxEcho], "") + "…"
		}
		switch x := d.Value.(type) {
		case nil, bool, float64, int, int64, json.Number:
		case string:
			if len(x) > maxEcho || !utf8.ValidString(x) {
				d.Value = nil
			}
		default:
			d.Value = nil
		}
	}
	return e, nil
}

// Values of a body that keep their original text, digit by digit.
type (
	// Object is an object, or null.
	Object struct{ json.RawMessage }
	// ToolNames is the name of a tool, a list of acceptable tools, or null for no call.
	ToolNames struct{ json.RawMessage }
	// Turns is a boolean (the case has several turns) or the settings of the turns.
	Turns struct{ json.RawMessage }
	// Names is a list of names, or null.
	Names struct{ json.RawMessage }
	// Text is a text that an edit may set; null empties it.
	Text struct {
		Given bool
		Value string
	}
	// Count is a whole number from 1, or null.
	Count struct{ json.RawMessage }
)

const maxNames = 200

// Kinds is the schema of a value that one of several schemas describes.
func Kinds(s ...*huma.Schema) *huma.Schema { return &huma.Schema{OneOf: s} }

// nullSchema is null alone; huma does not validate the type of that name.
func nullSchema() *huma.Schema { return &huma.Schema{Enum: []any{nil}} }

func nameSchema() *huma.Schema {
	one, most := 1, maxToolName
	return &huma.Schema{Type: huma.TypeString, MinLength: &one, MaxLength: &most}
}

func namesSchema(least int) *huma.Schema {
	most := maxNames
	return &huma.Schema{Type: huma.TypeArray, Items: nameSchema(), MinItems: &least, MaxItems: &most}
}

// maxToolName bounds the name of a tool, in characters.
const maxToolName = 256

// Schema describes the value; huma asks for it.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Nullable: true, AdditionalProperties: true}
}

// Schema describes the value; huma asks for it.
func (ToolNames) Schema(huma.Registry) *huma.Schema {
	return Kinds(nullSchema(), nameSchema(), namesSchema(1))
}

// Schema describes the value; huma asks for it.
func (Turns) Schema(huma.Registry) *huma.Schema {
	return Kinds(nullSchema(), &huma.Schema{Type: huma.TypeBoolean},
		&huma.Schema{Type: huma.TypeObject, AdditionalProperties: true})
}

// Schema describes the value; huma asks for it.
func (Names) Schema(huma.Registry) *huma.Schema {
	s := namesSchema(0)
	s.Nullable = true
	return s
}

// Schema describes the value; huma asks for it.
func (Count) Schema(huma.Registry) *huma.Schema {
	least, most := 1.0, 1000.0
	return &huma.Schema{Type: huma.TypeInteger, Nullable: true, Minimum: &least, Maximum: &most}
}

// Schema describes the value; huma asks for it.
func (Text) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

// UnmarshalJSON reads a text or null.
func (t *Text) UnmarshalJSON(b []byte) error {
	t.Given = true
	return json.Unmarshal(b, &t.Value)
}

// Null reports whether a raw value is absent or null.
func Null(raw json.RawMessage) bool {
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}
