// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// categories reads the suites of the Tool Selection Evaluation System: the
// first form (categories of test_cases) or the later one (tests).
func (r *reader) categories() (*callvet.Suite, error) {
	doc, err := r.Single("a tool selection suite")
	if err != nil {
		return nil, err
	}
	if doc.Has("tests") {
		return r.evalTests(doc), nil
	}
	s := r.categoriesFrame(doc)
	o := r.Loose(doc)
	off := r.selectionConfig(o.Get("config"), &s)
	var counts, frames [][]byte
	n := 0
	for _, cat := range o.Elements("categories") {
		r.CaseID = ""
		co := r.Object(cat, "a category", "category_id", "category_name", "test_cases", "description")
		id := co.Scalar("category_id")
		format := categoryFormat(r.Opt, id)
		cases := co.Elements("test_cases")
		for _, c := range cases {
			one := format.Read(r.Reader, c, n)
			off.apply(one.Expect.Selection)
			s.Cases = append(s.Cases, one)
			n++
		}
		counts = append(counts, fmt.Appendf(nil, "%d", len(cases)))
		frames = append(frames, WithMember(cat, "test_cases", []byte("[]")))
	}
	var f Record
	f.Str("form", r.Src.Form)
	f.Raw("document", WithMember(doc, "categories", Array(frames)))
	f.Raw("counts", Array(counts))
	s.Foreign = f.Bytes()
	return &s, nil
}

func (r *reader) categoriesFrame(doc Node) callvet.Suite {
	r.CaseID = ""
	o := r.Object(doc, "the suite", "name", "description", "config", "categories")
	s := callvet.Suite{Name: o.Str("name"), Description: o.Str("description"), Tools: r.Opt.Tools}
	if s.Name == "" {
		s.Name = Stem(r.Src.Path)
	}
	return s
}

func categoryFormat(opt ReaderOptions, category string) CaseFormat {
	return CaseFormat{
		Read: func(t *Reader, n Node, i int) callvet.Case {
			return (&reader{t}).categoryCase(n, i, category)
		},
		Write: writeCategoryCase,
		Opt:   opt,
		Can: []Feature{
			"plans", "any_of plans", "no calls", "several calls", "calls without arguments given",
			"tools_acceptable", "tools_called", "selection", "tags", "fields",
		},
	}
}

func (r *reader) categoryCase(n Node, index int, category string) callvet.Case {
	c := callvet.Case{
		ID: fmt.Sprintf("case-%d", index+1), Position: r.Src.Position(n.Off), Foreign: n.Raw,
		Fields: map[string]string{},
	}
	r.CaseID = c.ID
	o := r.Object(n, "a test case", "id", "query", "expected_route", "expected_sub_route", "expected_agents",
		"expected_tools", "acceptable_tools",
		"tags", "difficulty", "language", "description")
	if id := o.Scalar("id"); id != "" {
		c.ID, r.CaseID = id, id
	}
	c.Description = o.Str("description")
	r.question(o, "query", &c)
	c.Tags = o.Strs("tags")
	set := func(key, val string) {
		if val != "" {
			c.Fields[key] = val
		}
	}
	set("category", category)
	for _, k := range []string{"difficulty", "language", "expected_route", "expected_sub_route"} {
		set(k, o.Scalar(k))
	}
	expected, acceptable := o.Strs("expected_tools"), o.Strs("acceptable_tools")
	c.Expect.ToolsAcceptable = acceptableSets(expected, acceptable)
	c.Expect.Selection = &callvet.Selection{
		Route: c.Fields["expected_route"], SubRoute: c.Fields["expected_sub_route"], Agents: o.Strs("expected_agents"),
		Tools: expected, Acceptable: some(acceptable),
	}
	r.selectable(&c)
	return c
}

// some is nil for an empty list.
func some(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	return names
}

// selectable marks the cases that only a router or retriever can answer.
func (r *reader) selectable(c *callvet.Case) {
	if c.Expect.ToolsAcceptable == nil && c.Skip == "" {
		c.Skip = "the case expects a route or agents but no tools; select judges it, run cannot"
	}
	c.Selectable = c.Skip != ""
}

// question reads the user's words. The system's own suites hold an empty query to see what a
// router does with it; a model cannot be sent an empty question.
func (r *reader) question(o Object, key string, c *callvet.Case) {
	q := o.Str(key)
	if strings.TrimSpace(q) == "" {
		c.Skip = "the case has an empty " + key + ", which cannot be sent to a model"
		r.Warn(o.At(key), "empty-prompt", key, "write what the user says", "%s", c.Skip)
	}
	c.Input = UserInput(q)
}

// acceptableSets turns "exactly these, or else any of those" into sets: the expected set first,
// then each acceptable tool alone. It is nil when the case expects nothing about tools; an empty
// expected list means that no tool is right.
func acceptableSets(expected, acceptable []string) [][]string {
	if expected == nil && len(acceptable) == 0 {
		return nil
	}
	var sets [][]string
	switch {
	case len(expected) > 0:
		sets = append(sets, expected)
	case expected != nil:
		sets = append(sets, []string{callvet.NoTools})
	}
	for _, t := range acceptable {
		one := []string{t}
		if !slices.ContainsFunc(sets, func(s []string) bool { return slices.Equal(s, one) }) {
			sets = append(sets, one)
		}
	}
	return sets
}

// splitSets is acceptableSets backwards, for cases from other dialects too.
func splitSets(e *callvet.Expect) (expected, acceptable []string) {
	sets := e.ToolsAcceptable
	switch {
	case sets != nil:
	case e.ToolsCalled != nil:
		sets = [][]string{e.ToolsCalled}
	case len(e.Plans) > 0:
		called, sets2 := planNames(e.Plans)
		if sets = sets2; called != nil {
			sets = [][]string{called}
		}
	default:
		return nil, nil
	}
	expected = []string{}
	for i, set := range sets {
		if slices.Equal(set, []string{callvet.NoTools}) {
			set = nil
		}
		if i == 0 {
			expected = append(expected, set...)
		}
		for _, t := range set {
			if !slices.Contains(acceptable, t) {
				acceptable = append(acceptable, t)
			}
		}
	}
	return expected, acceptable
}

func writeCategoryCase(c *callvet.Case, orig Node) []byte {
	var o Record
	WriteID(&o, "id", c, orig)
	o.Raw("query", Quote(UserText(c)))
	for _, k := range []string{"expected_route", "expected_sub_route"} {
		o.Str(k, c.Fields[k])
	}
	if s := c.Expect.Selection; s != nil {
		o.Strs("expected_agents", s.Agents)
	}
	expected, acceptable := splitSets(&c.Expect)
	o.Strs("expected_tools", expected)
	o.Strs("acceptable_tools", acceptable)
	o.Strs("tags", c.Tags)
	o.Str("difficulty", c.Fields["difficulty"])
	o.Str("language", c.Fields["language"])
	o.Str("description", c.Description)
	return o.Bytes()
}

func exportCategories(s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	f, same := ReadFrame(s, Categories)
	if same && f.Document.Has("tests") {
		return exportEvalTests(s, f)
	}
	doc, problems := writeCategoriesFrame(s), []callvet.Problem(nil)
	if same {
		r := newReader(&Source{Path: s.Name, Text: f.Document.Raw, Form: "json"}, ReaderOptions{})
		base := r.categoriesFrame(f.Document)
		if !f.Document.Has("name") {
			base.Name = s.Name
		}
		doc = ExportFrame(f, writeCategoriesFrame(&base), doc)
	} else {
		problems = append(LoseSuite(s), LoseTools(s)...)
	}
	groups, lost := groupByCategory(s, same)
	out, err := Pretty(WithMember(Node{Raw: doc}, "categories", categoryList(f, groups)))
	return out, append(problems, lost...), err
}

func writeCategoriesFrame(s *callvet.Suite) []byte {
	var o Record
	o.Str("name", s.Name)
	o.Str("description", s.Description)
	o.Raw("categories", []byte("[]"))
	return o.Bytes()
}

type categoryGroup struct {
	id    string
	cases [][]byte
}

func groupByCategory(s *callvet.Suite, same bool) ([]categoryGroup, []callvet.Problem) {
	var groups []categoryGroup
	var problems []callvet.Problem
	for i := range s.Cases {
		c := &s.Cases[i]
		id := c.Fields["category"]
		orig, _ := Trusted(c.Foreign)
		if !same {
			orig = Node{}
		}
		raw, lost := categoryFormat(ReaderOptions{}, id).Export(c, orig)
		problems = append(problems, lost...)
		at := slices.IndexFunc(groups, func(g categoryGroup) bool { return g.id == id })
		if at < 0 {
			at = len(groups)
			groups = append(groups, categoryGroup{id: id})
		}
		groups[at].cases = append(groups[at].cases, raw)
	}
	return groups, problems
}

// categoryList puts the groups back into the frame's categories and appends new categories.
// Categories with the same id are distinguished by the number of cases that they had.
func categoryList(f Frame, groups []categoryGroup) []byte {
	var list [][]byte
	counts := f.Get("counts").Elements()
	cats := f.Document.Get("categories").Elements()
	later := func(i int, id string) bool {
		return slices.ContainsFunc(cats[i+1:],
			func(n Node) bool { s, _ := n.Get("category_id").Text(); return s == id })
	}
	for i, cat := range cats {
		id, _ := cat.Get("category_id").Text()
		var mine [][]byte
		if at := slices.IndexFunc(groups, func(g categoryGroup) bool { return g.id == id }); at >= 0 {
			g := &groups[at]
			n := len(g.cases)
			if later(i, id) && i < len(counts) {
				if _, err := fmt.Sscan(string(counts[i].Raw), &n); err != nil || n > len(g.cases) {
					n = len(g.cases)
				}
			}
			mine, g.cases = g.cases[:n], g.cases[n:]
		}
		list = append(list, WithMember(cat, "test_cases", Array(mine)))
	}
	for _, g := range groups {
		if len(g.cases) == 0 {
			continue
		}
		var o Record
		o.Raw("category_id", Quote(g.id))
		o.Raw("category_name", Quote(g.id))
		o.Raw("test_cases", Array(g.cases))
		list = append(list, o.Bytes())
	}
	return Array(list)
}
