// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"
	"sort"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
	"github.com/go-json-experiment/json/jsontext"
)

// The tool choices other than a tool's name.
const (
	choiceAuto     = "auto"
	choiceRequired = "required"
	choiceNone     = "none"
)

// appendText appends s as a JSON string; bytes that are not UTF-8 become U+FFFD.
func appendText(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // the error only reports that bytes were replaced
	return b
}

// appendMember appends ,"name": before a value.
func appendMember(b []byte, name string) []byte {
	b = append(b, ',', '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

func appendFloat(b []byte, f float64) []byte { return strconv.AppendFloat(b, f, 'g', -1, 64) }

func appendTexts(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, s)
	}
	return append(b, ']')
}

// appendSampling appends the parameters that are set, under the wire's names; a
// member of the same name in Extra wins.
func appendSampling(b []byte, p *callvet.Params, n *names) []byte {
	put := func(name string) bool {
		if _, taken := p.Extra[name]; taken || name == "" {
			return false
		}
		b = appendMember(b, name)
		return true
	}
	if p.Temperature != nil && put("temperature") {
		b = appendFloat(b, *p.Temperature)
	}
	if p.TopP != nil && put(n.topP) {
		b = appendFloat(b, *p.TopP)
	}
	if p.MaxTokens != nil && put(n.maxTokens) {
		b = strconv.AppendInt(b, int64(*p.MaxTokens), 10)
	}
	if p.Seed != nil && put(n.seed) {
		b = strconv.AppendInt(b, *p.Seed, 10)
	}
	if len(p.Stop) > 0 && put(n.stop) {
		b = appendTexts(b, p.Stop)
	}
	if p.ReasoningEffort != "" && put(n.effort) {
		b = appendText(b, p.ReasoningEffort)
	}
	return b
}

// appendExtra appends the extra members that keep accepts, unchanged, in the order of their names.
func appendExtra(b []byte, p *callvet.Params, keep func(string) bool) []byte {
	if len(p.Extra) == 0 {
		return b
	}
	keys := make([]string, 0, len(p.Extra))
	for k := range p.Extra {
		if keep == nil || keep(k) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	for _, k := range keys {
		b = append(appendText(append(b, ','), k), ':')
		b = append(b, p.Extra[k]...)
	}
	return b
}

// payload is a call's arguments as the model emitted them, for later requests.
func payload(c *callvet.Call) string {
	switch {
	case len(c.Args) > 0:
		return string(c.Args)
	case c.ArgsRaw != "":
		return c.ArgsRaw
	}
	return "{}"
}

// object is a call's arguments for a wire that only accepts an object.
func object(c *callvet.Call) []byte {
	if v, err := c.ArgsValue(); err == nil && v.Kind() == value.Object {
		return c.Args
	}
	return []byte("{}")
}

// schema is a tool's parameters for a wire that requires an object schema.
func schema(t *callvet.Tool) []byte {
	v, err := value.Parse(t.Parameters)
	if err != nil || v.Kind() != value.Object || v.Len() == 0 {
		return []byte(`{"type":"object","properties":{}}`)
	}
	if _, ok := v.Get("type"); ok {
		return t.Parameters
	}
	return append([]byte(`{"type":"object",`), bytes.TrimSpace(v.Raw())[1:]...)
}

// at walks into objects by name; the zero Value when a step is missing.
func at(v value.Value, path ...string) value.Value {
	for _, p := range path {
		v, _ = v.Get(p)
	}
	return v
}

// count is a token count; 0 if absent.
func count(v value.Value) int {
	f, _ := v.Float()
	if f < 0 || f > 1e12 {
		return 0
	}
	return int(f)
}

// rawArgs is the text of an arguments member: a string's text, another value's JSON, "" for null
// and absent.
func rawArgs(v value.Value) string {
	switch v.Kind() {
	case value.String:
		return v.Str()
	case value.Invalid, value.Null:
		return ""
	}
	return string(v.Raw())
}
