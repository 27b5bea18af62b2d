// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

const (
	noTools    = "__none__"
	selectOnly = "kept, used by select, not by run"
)

// categories reads the suites of the Tool Selection Evaluation System: the
// first form (categories of test_cases) or the later one (tests).
func (r *reader) categories() (*callvet.Suite, error) {
	doc, err := r.single("a tool selection suite")
	if err != nil {
		return nil, err
	}
	if doc.has("tests") {
		return r.evalTests(doc), nil
	}
	s := r.categoriesFrame(doc)
	o := r.loose(doc)
	if o.get("config").given() {
		r.keep(o.at("config"), "config", selectOnly)
	}
	var counts, frames [][]byte
	n := 0
	for _, cat := range o.elements("categories") {
		r.caseID = ""
		co := r.object(cat, "a category", "category_id", "category_name", "test_cases", "description")
		id := co.scalar("category_id")
		format := categoryFormat(r.opt, id)
		cases := co.elements("test_cases")
		for _, c := range cases {
			s.Cases = append(s.Cases, format.read(r, c, n))
			n++
		}
		counts = append(counts, fmt.Appendf(nil, "%d", len(cases)))
		frames = append(frames, withMember(cat, "test_cases", []byte("[]")))
	}
	var f record
	f.str("form", r.src.form)
	f.raw("document", withMember(doc, "categories", array(frames)))
	f.raw("counts", array(counts))
	s.Foreign = f.bytes()
	return &s, nil
}

func (r *reader) categoriesFrame(doc node) callvet.Suite {
	r.caseID = ""
	o := r.object(doc, "the suite", "name", "description", "config", "categories")
	s := callvet.Suite{Name: o.str("name"), Description: o.str("description"), Tools: r.opt.Tools}
	if s.Name == "" {
		s.Name = stem(r.src.path)
	}
	return s
}

func categoryFormat(opt Options, category string) caseFormat {
	return caseFormat{
		read:  func(r *reader, n node, i int) callvet.Case { return r.categoryCase(n, i, category) },
		write: writeCategoryCase,
		opt:   opt,
		can:   []feature{"plans", "any_of plans", "no calls", "several calls", "calls without arguments given", "tools_acceptable", "tools_called", "tags", "fields"},
	}
}

func (r *reader) categoryCase(n node, index int, category string) callvet.Case {
	c := callvet.Case{ID: fmt.Sprintf("case-%d", index+1), Position: r.src.position(n.off), Foreign: n.raw, Fields: map[string]string{}}
	r.caseID = c.ID
	o := r.object(n, "a test case", "id", "query", "expected_route", "expected_sub_route", "expected_agents", "expected_tools", "acceptable_tools",
		"tags", "difficulty", "language", "description")
	if id := o.scalar("id"); id != "" {
		c.ID, r.caseID = id, id
	}
	c.Description = o.str("description")
	r.question(o, "query", &c)
	c.Tags = o.strs("tags")
	set := func(key, val string) {
		if val != "" {
			c.Fields[key] = val
		}
	}
	set("category", category)
	for _, k := range []string{"difficulty", "language", "expected_route", "expected_sub_route"} {
		set(k, o.scalar(k))
	}
	for _, k := range []string{"expected_route", "expected_sub_route", "expected_agents"} {
		if o.get(k).given() {
			r.keep(o.at(k), k, selectOnly)
		}
	}
	o.strs("expected_agents") // checks the type
	expected, acceptable := o.strs("expected_tools"), o.strs("acceptable_tools")
	c.Expect.ToolsAcceptable = acceptableSets(expected, acceptable)
	if c.Expect.ToolsAcceptable == nil {
		c.Skip = "the case expects a route or agents but no tools; select judges it, run cannot"
	}
	return c
}

// question reads the user's words. The system's own suites hold an empty query
// to see what a router does with it; a model cannot be asked nothing.
func (r *reader) question(o object, key string, c *callvet.Case) {
	q := o.str(key)
	if strings.TrimSpace(q) == "" {
		c.Skip = "the case has an empty " + key + ", which cannot be sent to a model"
		r.warn(o.at(key), "empty-prompt", key, "write what the user says", "%s", c.Skip)
	}
	c.Input = userInput(q)
}

// acceptableSets turns "exactly these, or else any of those" into sets: the
// expected set first, then each acceptable tool alone. Nil when nothing is said
// about tools; an empty expected list means that no tool is right.
func acceptableSets(expected, acceptable []string) [][]string {
	if expected == nil && len(acceptable) == 0 {
		return nil
	}
	var sets [][]string
	switch {
	case len(expected) > 0:
		sets = append(sets, expected)
	case expected != nil:
		sets = append(sets, []string{noTools})
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
		if slices.Equal(set, []string{noTools}) {
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

func writeCategoryCase(c *callvet.Case, orig node) []byte {
	var o record
	writeID(&o, "id", c, orig)
	o.raw("query", quote(userText(c)))
	for _, k := range []string{"expected_route", "expected_sub_route"} {
		o.str(k, c.Fields[k])
	}
	expected, acceptable := splitSets(&c.Expect)
	o.strs("expected_tools", expected)
	o.strs("acceptable_tools", acceptable)
	o.strs("tags", c.Tags)
	o.str("difficulty", c.Fields["difficulty"])
	o.str("language", c.Fields["language"])
	o.str("description", c.Description)
	return o.bytes()
}

func exportCategories(s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	f, same := readFrame(s, Categories)
	if same && f.document.has("tests") {
		return exportEvalTests(s, f)
	}
	doc, problems := writeCategoriesFrame(s), []callvet.Problem(nil)
	if same {
		r := newReader(&source{path: s.Name, text: f.document.raw, form: "json"}, Options{})
		base := r.categoriesFrame(f.document)
		if !f.document.has("name") {
			base.Name = s.Name
		}
		doc = exportFrame(f, writeCategoriesFrame(&base), doc)
	} else {
		problems = append(loseSuite(s), loseTools(s)...)
	}
	groups, lost := groupByCategory(s, same)
	out, err := pretty(withMember(node{raw: doc}, "categories", categoryList(f, groups)))
	return out, append(problems, lost...), err
}

func writeCategoriesFrame(s *callvet.Suite) []byte {
	var o record
	o.str("name", s.Name)
	o.str("description", s.Description)
	o.raw("categories", []byte("[]"))
	return o.bytes()
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
		orig, _ := trusted(c.Foreign)
		if !same {
			orig = node{}
		}
		raw, lost := categoryFormat(Options{}, id).export(c, orig)
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

// categoryList puts the groups back into the frame's categories and appends
// categories that are new. Categories that share an id are told apart by the
// number of cases they had.
func categoryList(f frame, groups []categoryGroup) []byte {
	var list [][]byte
	counts := f.get("counts").elements()
	cats := f.document.get("categories").elements()
	later := func(i int, id string) bool {
		return slices.ContainsFunc(cats[i+1:], func(n node) bool { s, _ := n.get("category_id").text(); return s == id })
	}
	for i, cat := range cats {
		id, _ := cat.get("category_id").text()
		var mine [][]byte
		if at := slices.IndexFunc(groups, func(g categoryGroup) bool { return g.id == id }); at >= 0 {
			g := &groups[at]
			n := len(g.cases)
			if later(i, id) && i < len(counts) {
				if _, err := fmt.Sscan(string(counts[i].raw), &n); err != nil || n > len(g.cases) {
					n = len(g.cases)
				}
			}
			mine, g.cases = g.cases[:n], g.cases[n:]
		}
		list = append(list, withMember(cat, "test_cases", array(mine)))
	}
	for _, g := range groups {
		if len(g.cases) == 0 {
			continue
		}
		var o record
		o.raw("category_id", quote(g.id))
		o.raw("category_name", quote(g.id))
		o.raw("test_cases", array(g.cases))
		list = append(list, o.bytes())
	}
	return array(list)
}
