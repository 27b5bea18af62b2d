// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"sync"

	"github.com/callvet/callvet/value"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// format asserts a "format". The library's own check decides; sure, when set,
// recognizes plainly valid text first, without allocation.
type format struct {
	lib  *jsonschema.Format
	sure func(b []byte) bool
}

func newFormat(f *jsonschema.Format) *format {
	if f == nil {
		return nil
	}
	out := &format{lib: f}
	switch f.Name {
	case "date":
		out.sure = sureDate
	case "date-time":
		out.sure = sureDateTime
	case "uuid":
		out.sure = sureUUID
	}
	return out
}

// formatNames are the formats that the library checks.
var formatNames = []string{
	"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "iri", "iri-reference",
	"json-pointer", "period",
	"regex", "relative-json-pointer", "semver", "time", "uri", "uri-reference", "uri-template", "uuid",
}

// knownFormats are the library's checks by name. It gives them in a compiled schema only,
// and to compile one for each property of a large schema takes long.
var knownFormats = sync.OnceValue(func() map[string]*format {
	out := make(map[string]*format, len(formatNames))
	for _, name := range formatNames {
		only, err := value.Parse([]byte(`{"format":"` + name + `"}`))
		if err != nil {
			continue
		}
		if lib, err := compileLibrary(only, setup{draft: jsonschema.Draft2020}); err == nil {
			out[name] = newFormat(lib.Format)
		}
	}
	return out
})

func (f *format) valid(b []byte) bool {
	return f.sure != nil && f.sure(b) || f.lib.Validate(string(b)) == nil
}

// number2 reads two ASCII digits; -1 when they are not.
func number2(b []byte) int {
	if b[0] < '0' || b[0] > '9' || b[1] < '0' || b[1] > '9' {
		return -1
	}
	return int(b[0]-'0')*10 + int(b[1]-'0')
}

// sureDate recognizes yyyy-mm-dd with a day that every month has.
func sureDate(b []byte) bool {
	if len(b) != 10 || b[4] != '-' || b[7] != '-' {
		return false
	}
	m, d := number2(b[5:]), number2(b[8:])
	return number2(b) >= 0 && number2(b[2:]) >= 0 && m >= 1 && m <= 12 && d >= 1 && d <= 28
}

// sureDateTime recognizes yyyy-mm-ddThh:mm:ssZ.
func sureDateTime(b []byte) bool {
	if len(b) != 20 || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != 'Z' {
		return false
	}
	h, m, s := number2(b[11:]), number2(b[14:]), number2(b[17:])
	return sureDate(b[:10]) && h >= 0 && h <= 23 && m >= 0 && m <= 59 && s >= 0 && s <= 59
}

func sureUUID(b []byte) bool {
	if len(b) != 36 {
		return false
	}
	for i, c := range b {
		hex := c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !hex {
			return false
		}
	}
	return true
}
