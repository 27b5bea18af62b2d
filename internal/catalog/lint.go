// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve"
)

// Limits above which lint warns. The longest description is that of OpenAI's function definitions.
const (
	minWords       = 4
	maxDescription = 1024
	nearDuplicate  = 0.9
	maxDescribed   = 16 << 10 // bytes of a description that are compared
	// commonKeyword is the share of tools from which a keyword is useless.
	commonKeyword = 0.25
)

// LintRequest requests the problems of a catalog.
type LintRequest struct {
	Tools string `json:"tools"`
}

// Lint checks a catalog. Unreadable tools do not prevent the check of the others.
func Lint(ctx context.Context, e *Env, q LintRequest) (*Findings, error) {
	c, problems, err := e.Catalogue(q.Tools)
	if err != nil && len(problems) == 0 {
		return nil, err
	}
	out := &Findings{Format: "callvet.tools-lint", Version: 1, Problems: append([]callvet.Problem{}, problems...)}
	if c == nil || len(c.Entries) == 0 {
		return out, nil
	}
	found, err := lint(ctx, q.Tools, c)
	out.Tools, out.Problems = len(c.Entries), append(out.Problems, found...)
	return out, err
}

// lint lists the problems of a catalog: obstacles to finding or distinguishing tools, and invalid
// schemas. Two tools with one name are refused when it is read.
func lint(ctx context.Context, file string, c *retrieve.Catalogue) ([]callvet.Problem, error) {
	l := &catalogueLint{
		file: file, names: map[string]string{}, texts: map[string]string{},
		examples: map[string]string{}, keywords: map[string]int{},
	}
	for i := range c.Entries {
		l.entry(&c.Entries[i])
	}
	l.common(len(c.Entries))
	similar, err := confusable(ctx, c, nil, len(c.Entries)*nearest)
	if err != nil {
		return nil, err
	}
	for _, p := range similar.Pairs {
		if p.Similarity >= nearDuplicate && !l.same[[2]string{p.A, p.B}] {
			l.add("near-duplicate", p.A, true, "say in each description what the other does not do",
				"%s and %s are described nearly alike (similarity %.2f)", p.A, p.B, p.Similarity)
		}
	}
	if similar.Left > 0 {
		l.add("not-compared", "", true, "lint the parts of the catalogue by themselves",
			"the last %s were not looked at for near-duplicates: %s is the most",
			plain.Count(similar.Left, "tool", "tools"), plain.Thousands(MaxCompared))
	}
	return l.out, nil
}

type catalogueLint struct {
	file                   string
	names, texts, examples map[string]string // the seen texts, with their tools
	keywords               map[string]int
	same                   map[[2]string]bool
	out                    []callvet.Problem
}

func (l *catalogueLint) add(code, key string, warning bool, fix, format string, args ...any) {
	l.out = append(l.out, callvet.Problem{
		Position: callvet.Position{File: l.file}, Code: code, Warning: warning,
		Key: key, Message: fmt.Sprintf(format, args...), Fix: fix,
	})
}

func (l *catalogueLint) entry(e *retrieve.Entry) {
	name := e.Tool.Name
	if !callvet.SendableName(name) {
		l.add("name", name, true, "letters, digits, _ and -, at most 64",
			"%q is no name that model providers accept for a function", name)
	}
	if other, twice := l.names[plainName(name)]; twice {
		l.add("ambiguous-name", name, true, "name what differs", "%s and %s differ in spelling or a number only",
			other, name)
	}
	l.names[plainName(name)] = name
	l.description(e)
	for _, q := range e.Examples {
		key := strings.ToLower(strings.Join(strings.Fields(q), " "))
		if other, twice := l.examples[key]; twice && other != name {
			l.add("shared-example", name, true, "keep it with the tool that answers it",
				"%s and %s have the same example %q", other, name, q)
		}
		l.examples[key] = name
	}
	for _, k := range slices.Compact(slices.Sorted(slices.Values(e.Keywords))) {
		l.keywords[strings.ToLower(k)]++
	}
	s, err := contract.Compile(e.Tool.Parameters)
	if err != nil {
		l.add("bad-schema", name, false, "", "the parameters of %s are no schema: %v", name, err)
		return
	}
	for _, why := range contract.Dropped(e.Tool.Parameters) {
		l.add("schema-form", name, true, "describe one object: type: object, properties, required",
			"some clients and providers leave %s out: the schema of its arguments %s", name, why)
	}
	for _, r := range s.Required() {
		if !s.HasProperty(r) {
			l.add("undeclared-parameter", name, false, "declare it under properties",
				"%s requires %q, which it does not declare", name, r)
		}
	}
	for _, p := range s.Properties() {
		if s.Type(p) == "" && !s.IsConstrained(p) {
			l.add("untyped-parameter", name, true, "give it a type", "parameter %q of %s has no type", p, name)
		}
	}
}

func (l *catalogueLint) description(e *retrieve.Entry) {
	name, d := e.Tool.Name, strings.TrimSpace(e.Tool.Description)
	words := retrieve.Words(d[:min(len(d), maxDescribed)]) // a cut letter is no word
	switch n := utf8.RuneCountInString(d); {
	case n == 0:
		l.add("no-description", name, false, "say what it does, and for which questions", "%s has no description", name)
		return
	case len(words) < minWords:
		l.add("short-description", name, true, "say what it does, and for which questions",
			"the description of %s has %s", name, plain.Count(len(words), "word", "words"))
	case n > maxDescription:
		l.add("long-description", name, true, "keep what distinguishes it from other tools",
			"the description of %s has %d characters, more than the %d that model providers accept", name, n,
			maxDescription)
	}
	key := strings.ToLower(strings.Join(words, " "))
	if len(words) == 0 || len(d) > maxDescribed { // nothing to compare, or not all of it
		key = d
	}
	if other, twice := l.texts[key]; twice {
		l.add("same-description", name, false, "say what differs", "%s and %s have the same description", other, name)
		if l.same == nil {
			l.same = map[[2]string]bool{}
		}
		l.same[[2]string{other, name}] = true
	}
	l.texts[key] = name
}

// common reports keywords that too many tools have.
func (l *catalogueLint) common(tools int) {
	var list []string
	for k, n := range l.keywords {
		if tools >= 8 && float64(n) > commonKeyword*float64(tools) {
			list = append(list, k)
		}
	}
	slices.Sort(list)
	for _, k := range list {
		l.add("common-keyword", k, true, "leave it to the tools that it is about", "%d of %d tools have the keyword %q",
			l.keywords[k], tools, k)
	}
}

// plainName is a name without case, separators and numbers: getUser, get-user_2 and get_users are
// one. Letters of other scripts that look like Latin letters count as these.
func plainName(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		r = unicode.ToLower(r)
		if i := strings.IndexRune(lookalikes, r); i >= 0 {
			return rune(lookedLike[utf8.RuneCountInString(lookalikes[:i])])
		}
		return r
	}, s)
	return strings.TrimSuffix(s, "s")
}

// lookalikes are small Cyrillic and Greek letters, lookedLike the Latin ones that they look like.
const (
	lookalikes = "аеіјкорсухѕԁԛԝһαειηκνορτυχ"
	lookedLike = "aeijkopcyxsdqwhaeinkvoptux"
)

// Findings are the results of a lint.
type Findings struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Tools are the readable tools.
	Tools    int               `json:"tools"`
	Problems []callvet.Problem `json:"problems"`
}

// Errors counts the problems that are no warnings.
func (l *Findings) Errors() (n int) {
	for i := range l.Problems {
		if !l.Problems[i].Warning {
			n++
		}
	}
	return n
}

// LookAlike reports tools that are easily confused: names that differ in spelling, in a number or
// in similar letters, and descriptions that are equal or nearly equal. It also reports names that
// no provider accepts. All are warnings.
func LookAlike(ctx context.Context, tools []callvet.Tool) ([]callvet.Problem, error) {
	c := &retrieve.Catalogue{Entries: make([]retrieve.Entry, len(tools))}
	for i := range tools {
		c.Entries[i].Tool = tools[i]
	}
	all, err := lint(ctx, "", c)
	out := slices.DeleteFunc(all, func(p callvet.Problem) bool {
		return !slices.Contains([]string{
			"name", "ambiguous-name", "same-description", "near-duplicate",
			"not-compared",
		}, p.Code)
	})
	for i := range out {
		out[i].Warning = true
	}
	return out, err
}
