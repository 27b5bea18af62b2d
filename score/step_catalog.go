// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// contracted is a tool as lines name it, with its compiled contract.
type contracted struct {
	schema *contract.Schema // nil: none
	// always are the marks that every call of the tool has.
	always marks
	// other: the catalog contains only other versions of the tool.
	known, other  bool
	exact         *match.Exact
	name, version string        // as called, and the catalog's spelling where it is known
	counted       []byte        // the tool that the call counts as; nil: the tool in the line
	rule          string        // the tool's name in safety rules
	tool          *callvet.Tool // nil: not known in that version
	params        value.Value
}

// always returns the marks of a tool that depend only on the catalog.
func (c *catalog) always(t *contracted) marks {
	m := mark(callvet.StepKnownTool, t.known)
	switch {
	case len(c.versions) == 0:
		return 0
	case !t.known:
		m |= mark(callvet.StepSchemaValid, false) | mark(callvet.StepRepaired, false)
	}
	return m
}

// catalog holds every version of every tool.
type catalog struct {
	versions map[string][]*contracted // by name, the highest version first
	fold     bool
	naming   *callvet.Naming
}

func newCatalog(tools []callvet.Tool, set *callvet.Scoring) (catalog, []callvet.Problem) {
	c := catalog{versions: map[string][]*contracted{}, fold: !set.CaseSensitiveNames}
	var ps []callvet.Problem
	var names []string
	for i := range tools {
		t := &tools[i]
		e := &contracted{known: true, tool: t, name: t.Name, version: t.Version}
		if t.Version == "" { // some catalogs write both into the name, as lines do
			e.name, e.version = callvet.SplitTool(t.Name)
		}
		if t.Parameters != nil {
			schema, err := contract.Compile(t.Parameters)
			if err != nil {
				ps = append(ps, callvet.Problem{
					Code: "bad-schema", Key: t.Name,
					Message: fmt.Sprintf("the schema of tool %s does not compile: %v", t.Name, err),
					Fix:     "until it does, no call of the tool is validated",
				})
			} else if v, err := value.Parse(t.Parameters); err == nil {
				e.schema, e.params = schema, v
			}
		}
		names = append(names, e.name)
		e.exact = match.NewExact(e.params)
		if p := c.add(e); p != nil {
			ps = append(ps, *p)
		}
	}
	c.naming = callvet.NewNaming(set.ToolNames, set.CaseSensitiveNames, names)
	return c, append(ps, c.naming.Problems()...)
}

func (c *catalog) key(name string) string {
	if c.fold {
		return strings.ToLower(callvet.Unspaced(name))
	}
	return name
}

// add keeps versions in order; of equal versions the first is kept.
func (c *catalog) add(e *contracted) *callvet.Problem {
	k := c.key(e.name)
	list := c.versions[k]
	at := len(list)
	for i, o := range list {
		cmp := compareVersions(e.version, o.version)
		if cmp == 0 && o.name == e.name {
			return &callvet.Problem{
				Code: "duplicate-tool", Key: e.name, Warning: true,
				Message: fmt.Sprintf("tool %s is there twice in version %q; the first counts", e.name, e.version),
				Fix:     "remove one, or give it another version",
			}
		}
		if cmp > 0 && at == len(list) {
			at = i
		}
	}
	list = append(list, nil)
	copy(list[at+1:], list[at:])
	list[at] = e
	c.versions[k] = list
	return nil
}

// find resolves the text of a line. The exact spelling of a name is preferred; no version means
// the highest.
func (c *catalog) find(text string) *contracted {
	name, version := callvet.SplitTool(text)
	name = c.naming.Of(name)
	list := c.versions[c.key(name)]
	e := pick(list, name, version, true)
	if e == nil {
		e = pick(list, name, version, false)
	}
	if e == nil {
		return &contracted{
			name: name, version: version, known: len(list) > 0, other: len(list) > 0,
			exact: &match.Exact{},
		}
	}
	return e
}

func pick(list []*contracted, name, version string, spelled bool) *contracted {
	for _, e := range list {
		if (!spelled || e.name == name) && (version == "" || compareVersions(version, e.version) == 0) {
			return e
		}
	}
	return nil
}

// compareVersions orders "v3", "3" and "3.1.0" by their numbers, then by text.
// An absent version is the lowest.
func compareVersions(a, b string) int {
	a, b = strings.TrimPrefix(a, "v"), strings.TrimPrefix(b, "v")
	for a != "" && b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		m, errm := strconv.ParseUint(x, 10, 64)
		n, errn := strconv.ParseUint(y, 10, 64)
		switch {
		case errm != nil || errn != nil:
			if c := strings.Compare(x, y); c != 0 {
				return c
			}
		case m < n:
			return -1
		case m > n:
			return 1
		}
	}
	return strings.Compare(a, b)
}

// lookup is find with a cache for texts of earlier lines.
func (s *StepScorer) lookup(text []byte) *contracted {
	if e, ok := s.recent.Get(text); ok {
		return e
	}
	e := s.tools[string(text)]
	if e == nil {
		e = s.meet(string(text))
	}
	s.recent.Put(text, e)
	return e
}

// meet finds the tool for a text that is not in the cache.
func (s *StepScorer) meet(name string) *contracted {
	own := *s.shared.catalog.find(name)
	own.rule = name
	if called, version := callvet.SplitTool(name); s.shared.catalog.naming.Of(called) != called {
		if own.rule = own.name; version != "" {
			own.rule += "@" + version
		}
		own.counted = []byte(own.rule)
	}
	own.always = s.shared.catalog.always(&own)
	if len(s.tools) < maxCached {
		s.tools[name] = &own
	}
	return &own
}
