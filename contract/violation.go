// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"errors"
	"fmt"
	"math/big"
	"sort"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/message"
)

// violations flattens the library's error tree into its leaves, sorted by path
// and keyword (the library walks maps, so its own order is random).
func violations(err error) []callvet.Violation {
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return nil
	}
	var out []callvet.Violation
	collect(ve, printer(), &out)
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Path != out[j].Path {
			return out[i].Path < out[j].Path
		}
		if out[i].Keyword != out[j].Keyword {
			return out[i].Keyword < out[j].Keyword
		}
		return out[i].Message < out[j].Message
	})
	return out
}

func collect(e *jsonschema.ValidationError, p *message.Printer, out *[]callvet.Violation) {
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			*out = append(*out, callvet.Violation{
				Path: pointer(e.InstanceLocation, name), Keyword: "required",
				Expected: name, Message: fmt.Sprintf("required property %q is missing", name),
			})
		}
		return
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			*out = append(*out, callvet.Violation{
				Path: pointer(e.InstanceLocation, name), Keyword: "additionalProperties",
				Actual: name, Message: fmt.Sprintf("property %q is not allowed", name),
			})
		}
		return
	case *kind.AnyOf, *kind.OneOf:
		*out = append(*out, alternatives(e, p))
		return
	}
	if len(e.Causes) > 0 {
		for _, c := range e.Causes {
			collect(c, p, out)
		}
		return
	}
	*out = append(*out, leaf(e, p))
}

// alternatives words a failed anyOf or oneOf with the reasons of each branch.
func alternatives(e *jsonschema.ValidationError, p *message.Printer) callvet.Violation {
	v := leaf(e, p)
	var whys []string
	for _, c := range e.Causes {
		var sub []callvet.Violation
		collect(c, p, &sub)
		why := make([]string, len(sub))
		for i := range sub {
			why[i] = sub[i].Message
		}
		sort.Strings(why)
		whys = append(whys, strings.Join(why, " and "))
	}
	if len(whys) > 0 {
		v.Message += ": " + strings.Join(whys, "; or ")
	}
	return v
}

func leaf(e *jsonschema.ValidationError, p *message.Printer) callvet.Violation {
	v := callvet.Violation{Path: pointer(e.InstanceLocation), Message: e.ErrorKind.LocalizedString(p)}
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		v.Keyword = path[0]
	}
	if v.Keyword == "" {
		v.Keyword = strings.TrimPrefix(e.SchemaURL[strings.LastIndexByte(e.SchemaURL, '/')+1:], "#")
	}
	v.Expected, v.Actual = wantGot(e.ErrorKind)
	return v
}

// wantGot returns both sides of a violation where the library has them.
func wantGot(k jsonschema.ErrorKind) (want, got string) {
	switch k := k.(type) {
	case *kind.Type:
		return strings.Join(k.Want, " or "), k.Got
	case *kind.Enum:
		return text(k.Want), text(k.Got)
	case *kind.Const:
		return text(k.Want), text(k.Got)
	case *kind.Format:
		return k.Want, text(k.Got)
	case *kind.Pattern:
		return k.Want, text(k.Got)
	case *kind.Minimum:
		return "≥ " + rat(k.Want), rat(k.Got)
	case *kind.Maximum:
		return "≤ " + rat(k.Want), rat(k.Got)
	case *kind.ExclusiveMinimum:
		return "> " + rat(k.Want), rat(k.Got)
	case *kind.ExclusiveMaximum:
		return "< " + rat(k.Want), rat(k.Got)
	case *kind.MultipleOf:
		return "multiple of " + rat(k.Want), rat(k.Got)
	case *kind.MinLength:
		return "≥ " + strconv.Itoa(k.Want), strconv.Itoa(k.Got)
	case *kind.MaxLength:
		return "≤ " + strconv.Itoa(k.Want), strconv.Itoa(k.Got)
	case *kind.MinItems:
		return "≥ " + strconv.Itoa(k.Want), strconv.Itoa(k.Got)
	case *kind.MaxItems:
		return "≤ " + strconv.Itoa(k.Want), strconv.Itoa(k.Got)
	case *kind.MinProperties:
		return "≥ " + strconv.Itoa(k.Want), strconv.Itoa(k.Got)
	case *kind.MaxProperties:
		return "≤ " + strconv.Itoa(k.Want), strconv.Itoa(k.Got)
	}
	return "", ""
}

// text is a value as JSON, cut to a readable length.
func text(v any) string {
	b := rawJSON(v)
	if len(b) > 400 {
		return strings.ToValidUTF8(string(b[:400]), "") + "…"
	}
	return string(b)
}

// rat writes a number as a decimal when it is one.
func rat(r *big.Rat) string {
	if n, exact := r.FloatPrec(); exact {
		return r.FloatString(n)
	}
	return r.String()
}

// Unescape returns the name that a token of a JSON Pointer stands for.
func Unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// pointer makes a JSON Pointer.
func pointer(at []string, more ...string) string {
	var b strings.Builder
	for _, list := range [][]string{at, more} {
		for _, tok := range list {
			b.WriteByte('/')
			b.WriteString(strings.ReplaceAll(strings.ReplaceAll(tok, "~", "~0"), "/", "~1"))
		}
	}
	return b.String()
}
