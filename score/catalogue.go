// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/value"
)

// tool is a tool with precomputed facts for scoring.
type tool struct {
	src    *callvet.Tool
	schema *contract.Schema // nil when it does not compile
	bad    error            // why it does not
	params value.Value      // the schema as JSON; absent when there is none
	props  []property
	need   int // required properties
}

type property struct {
	name     string
	types    []string
	required bool
}

// catalogue is the set of tools a case offers.
type catalogue struct {
	tools []tool
	names []string // of tools, contiguous
	exact map[string]*tool
	fold  map[string]*tool
}

func newCatalogue(tools []callvet.Tool, caseID string) (*catalogue, []callvet.Problem) {
	c := &catalogue{
		tools: make([]tool, len(tools)), exact: make(map[string]*tool, len(tools)),
		fold: make(map[string]*tool, len(tools)),
	}
	var ps []callvet.Problem
	for i := range tools {
		t := &c.tools[i]
		c.names = append(c.names, tools[i].Name)
		if t.bad = t.compile(&tools[i]); t.bad != nil {
			ps = append(ps, callvet.Problem{
				Code: "bad-schema", Case: caseID, Key: tools[i].Name,
				Message: fmt.Sprintf("tool %q: %v", tools[i].Name, t.bad), Fix: "correct the tool's parameters",
			})
		}
		if c.exact[t.src.Name] == nil {
			c.exact[t.src.Name] = t
		}
		if f := strings.ToLower(callvet.Unspaced(t.src.Name)); c.fold[f] == nil {
			c.fold[f] = t
		}
	}
	return c, ps
}

func (t *tool) compile(src *callvet.Tool) error {
	t.src = src
	schema, err := contract.Compile(src.Parameters)
	if err != nil {
		return err
	}
	t.schema = schema
	if len(src.Parameters) > 0 {
		if t.params, err = value.Parse(src.Parameters); err != nil {
			return err
		}
	}
	for _, name := range schema.Properties() {
		p := schema.Property(name)
		t.props = append(t.props, property{name: name, types: p.Types, required: p.Required})
	}
	t.need = len(schema.Required())
	return nil
}

// fits reports whether v has one of the declared JSON types; every value fits where none is
// declared.
func (p *property) fits(v value.Value) bool {
	return len(p.types) == 0 || slices.ContainsFunc(p.types, func(name string) bool {
		return name == v.Kind().String() || name == "integer" && v.IsInteger()
	})
}

// find looks the name up, regardless of letter case and white space unless exact.
func (c *catalogue) find(name string, exact bool) *tool {
	// A short list is searched faster than a map.
	for i, n := range c.names[:min(len(c.names), 6)] {
		if n == name {
			return &c.tools[i]
		}
	}
	if t := c.exact[name]; t != nil || exact {
		return t
	}
	return c.fold[strings.ToLower(callvet.Unspaced(name))]
}
