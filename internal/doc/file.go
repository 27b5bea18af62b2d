// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet"
)

// Read parses JSON or YAML, and detects which of them the text is.
func Read(name string, data []byte) (*File, *SyntaxError) {
	if !IsYAML(name, data) {
		d, bad := ReadJSON(name, data)
		if bad == nil || filepath.Ext(name) != "" || data[0] != '{' {
			return d, bad
		}
		if y, worse := parseYAML(name, data); worse == nil {
			return y, nil
		}
		return d, bad
	}
	return parseYAML(name, data)
}

// IsYAML reports whether Read parses the text as YAML: by the extension of its name, else by its
// first bytes.
func IsYAML(name string, data []byte) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return true
	case ".json", ".jsonc":
		return false
	}
	data = bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), " \t\r\n")
	json := len(data) > 0 &&
		(data[0] == '{' || data[0] == '[' || bytes.HasPrefix(data, []byte("//")) || bytes.HasPrefix(data, []byte("/*")))
	return !json
}

// Problem returns a syntax error with its place in the file.
func (d *File) Problem(e *SyntaxError) callvet.Problem {
	p := callvet.Problem{
		Position: callvet.Position{File: d.Name, Line: e.Line, Column: e.Column}, Code: "syntax",
		Message: e.Message, Fix: e.Fix,
	}
	if d.isJSON {
		p.Position = d.Position(e.At)
	}
	return p
}
