// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Entry is a tool with its data in a catalog.
type Entry struct {
	Tool callvet.Tool
	// ID names the entry; empty for the tool's name. Unique in an index.
	ID string
	// Title is the tool's name for people, where it differs from its name.
	Title string
	// Keywords are words that users say; the tool's tags count as keywords too.
	Keywords []string
	// Examples are questions for which the tool is right.
	Examples []string
	// Namespace is the path of the tool's namespace, widest first: tools, trafik.
	Namespace []string
	// Agents are the agents that may call the tool; none means any agent.
	Agents []string
	// Group is a description of a group of tools, such as that of their server.
	Group string
	// Text is further text about the tool, such as documentation or code.
	Text string
}

func (e *Entry) id() string {
	if e.ID != "" {
		return e.ID
	}
	return e.Tool.Name
}

// names are the tool's name and its title, one a line.
func (e *Entry) names() string {
	if e.Title == "" {
		return e.Tool.Name
	}
	return e.Tool.Name + "\n" + e.Title
}

// The texts of an entry, in the order of Options.fields.
const (
	fieldName = iota
	fieldDescription
	fieldKeywords
	fieldParameters
	fieldDetails
	fieldExamples
	fieldGroup
	numFields
)

func (e *Entry) texts() [numFields]string {
	names, details := schemaTexts(e.Tool.Parameters)
	return [numFields]string{
		fieldName:        e.names(),
		fieldDescription: e.Tool.Description,
		fieldKeywords:    strings.Join(append(append([]string(nil), e.Keywords...), e.Tool.Tags...), "\n"),
		fieldParameters:  names,
		fieldDetails:     details + e.Text,
		fieldExamples:    strings.Join(e.Examples, "\n"),
		fieldGroup:       strings.Join(e.Namespace, " ") + "\n" + e.Group,
	}
}

// schemaTexts returns the names of the parameters, and their descriptions with their possible
// values, one a line; "" for a schema that is not JSON.
func schemaTexts(schema []byte) (names, details string) {
	if len(schema) == 0 {
		return "", ""
	}
	v, err := value.Parse(schema)
	if err != nil {
		return "", ""
	}
	var n, d strings.Builder
	visitSchema(v, 0, &n, &d)
	return n.String(), d.String()
}

// maxSchemaDepth bounds how deep parameters within parameters are read.
const maxSchemaDepth = 16

func visitSchema(v value.Value, depth int, names, details *strings.Builder) {
	if depth > maxSchemaDepth {
		return
	}
	if v.Kind() == value.Array { // anyOf and similar keywords
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			visitSchema(e, depth+1, names, details)
		}
		return
	}
	if v.Kind() != value.Object {
		return
	}
	if props, ok := v.Get("properties"); ok && props.Kind() == value.Object {
		for p, ok := props.First(); ok; p, ok = props.Next(p) {
			names.WriteString(p.Key())
			names.WriteByte('\n')
			if s, ok := p.Get("description"); p.Kind() == value.Object && ok && s.Kind() == value.String {
				details.WriteString(s.Str())
				details.WriteByte('\n')
			}
			visitSchema(p, depth+1, names, details)
		}
	}
	if enum, ok := v.Get("enum"); ok && enum.Kind() == value.Array {
		for s, ok := enum.First(); ok; s, ok = enum.Next(s) {
			if s.Kind() == value.String {
				details.WriteString(s.Str())
				details.WriteByte('\n')
			}
		}
	}
	for _, key := range []string{"items", "anyOf", "oneOf", "allOf"} {
		if s, ok := v.Get(key); ok {
			visitSchema(s, depth+1, names, details)
		}
	}
}
