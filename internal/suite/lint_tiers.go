// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// The fields of a regression case for the bug that it tests and for the date.
const (
	FieldBugRef    = "bugRef"
	FieldCreatedAt = "createdAt"
)

// caseID is the form of the ids of Eval Case Interfaces: gs-get-weather-001, and of
// perturbations sp-get-weather-same-001.
var caseID = regexp.MustCompile(`^(gs|ls|rg|sp)-[a-z0-9]+(-[a-z0-9]+)*-[0-9]{3,}$`)

// tierPrefixes are the prefixes of the ids of each tier.
func tierPrefixes(t callvet.Tier) []string {
	switch t {
	case callvet.TierGolden:
		return []string{"gs"}
	case callvet.TierLabeled:
		return []string{"ls", "sp"}
	case callvet.TierRegression:
		return []string{"rg"}
	}
	return nil
}

// tier checks the requirements of the case's tier. Source: Eval Case Interfaces.
func (l *linter) tier() {
	c, e := l.c, &l.c.Expect
	l.identified()
	routed := len(e.Plans)+len(e.Counts)+len(e.AllOf)+len(e.Not) > 0 || e.ToolsCalled != nil ||
		e.ToolsAcceptable != nil || e.Selection != nil || e.MinToolCalls != nil || e.MaxToolCalls != nil
	if len(e.ToolsNotCalled) > 0 && !routed {
		l.warn("only-forbids", "expect.tools_not_called",
			"add tools_called or tools_acceptable; [[\"__none__\"]] is no tool",
			"the case says which tools must not be called and not which must: any other call passes it, and none does too")
	}
	switch c.Tier {
	case callvet.TierGolden:
		if e.ToolsCalled == nil && len(e.Plans) == 0 && len(e.ToolsAcceptable) != 1 {
			l.warn("tier-form", "expect", "name the exact tools, or make it a labeled case",
				"a golden case expects exact tools (tools_called, or one set of tools_acceptable), and this one does not name them")
		}
	case callvet.TierLabeled:
		if !routed && len(e.ToolsNotCalled) == 0 {
			l.warn("no-routing", "expect", "add tools_called or tools_acceptable; [[\"__none__\"]] is no tool",
				"a labeled case tests routing, and this one expects nothing of the calls")
		}
	case callvet.TierRegression:
		l.regression()
	}
	if c.Tier != "" {
		l.stubbed()
	}
}

// identified warns of ids that contain a different tier than the case. Suites of other formats name
// their cases freely.
func (l *linter) identified() {
	c := l.c
	prefix, _, _ := strings.Cut(c.ID, "-")
	want := tierPrefixes(c.Tier)
	switch {
	case l.s.Dialect != "forge" || want == nil:
	case !slices.Contains(want, prefix):
		l.warn("case-id", "id", "", "ids of %s cases begin with %s-, and this one is %q", c.Tier, want[0],
			doc.Clip(c.ID, 60))
	case !caseID.MatchString(c.ID):
		l.warn("case-id", "id", fmt.Sprintf("write %s-TOOL-001", prefix), "the id %q is not of the form %s-TOOL-NNN",
			doc.Clip(c.ID, 60), prefix)
	}
}

// regression: a reader of a failure of the case has to find the bug.
func (l *linter) regression() {
	fields := l.c.Fields
	if strings.TrimSpace(fields[FieldBugRef]) == "" {
		l.problem("missing-key", FieldBugRef, "name the issue or the commit of the fix",
			"a regression case says which bug it keeps away (%s)", FieldBugRef)
	}
	at := fields[FieldCreatedAt]
	switch {
	case strings.TrimSpace(at) == "":
		l.problem("missing-key", FieldCreatedAt, "write the day, such as 2026-03-01",
			"a regression case says when it was made (%s)", FieldCreatedAt)
	case !isDate(at):
		l.problem("bad-date", FieldCreatedAt, "write 2026-03-01 or 2026-03-01T12:00:00Z",
			"%s %q is no date of ISO 8601", FieldCreatedAt, doc.Clip(at, 40))
	}
}

// Date reads a day or a time as ISO 8601 writes them; false where it is neither.
func Date(s string) (time.Time, bool) {
	for _, layout := range []string{
		time.DateOnly, time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00",
		"2006-01-02T15:04",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func isDate(s string) bool { _, ok := Date(s); return ok }

// stubbed warns of an expected tool without a stub while others have one, if an assertion is on
// the answer. The result of such a tool is {"status":"ok"}, so the answer cannot contain more.
func (l *linter) stubbed() {
	if len(onAnswer(&l.c.Expect)) == 0 || len(l.c.Mocks)+len(l.s.Mocks) == 0 {
		return
	}
	var bare []string
	need := func(names []string) {
		for _, name := range names {
			if name != callvet.NoTools && !callvet.NamePattern(name) && !l.mocked(name) &&
				!slices.Contains(bare, name) {
				bare = append(bare, name)
			}
		}
	}
	need(l.c.Expect.ToolsCalled)
	for _, set := range l.c.Expect.ToolsAcceptable {
		need(set)
	}
	if len(bare) > 0 {
		l.warn("no-stub", "mocks", "add stubs for them, or a file of stubs with --mocks",
			"the answer is checked, but %s has no stub: the model gets {\"status\":\"ok\"} and no more", strings.Join(bare, ", "))
	}
}

// rubric checks what a judge would receive.
func (l *linter) rubric() {
	e := &l.c.Expect
	seen := map[string]bool{}
	for i, d := range e.Rubric {
		key := fmt.Sprintf("expect.rubric[%d]", i)
		switch {
		case strings.TrimSpace(d.Criteria) == "":
			l.problem("missing-key", key+".criteria", "name what each score means",
				"dimension %q has no criteria for a judge", doc.Clip(d.Dimension, 40))
		case d.MaxScore < 1 || d.MaxScore != float64(int(d.MaxScore)):
			l.problem("wrong-range", key+".max_score", "write 1 for pass or fail, 3 to 5 for grades",
				"the highest score of a dimension is a whole number of 1 or more, not %g", d.MaxScore)
		case d.Dimension != "" && seen[d.Dimension]:
			l.problem("duplicate-key", key+".dimension", "give every dimension a name of its own",
				"the dimension %q stands twice", doc.Clip(d.Dimension, 40))
		}
		seen[d.Dimension] = true
	}
	something, nothing := e.Calls()
	if len(e.Rubric) > 0 && len(e.ReferenceData) == 0 && something && !nothing {
		l.warn("no-reference", "expect.reference_data", "add the real results of the tools",
			"a judge can compare the answer only with its own knowledge")
	}
	if l.c.Tier == callvet.TierRubric && len(e.Rubric) == 0 {
		l.problem("missing-key", "expect.rubric", "add dimensions with criteria, or another tier",
			"a rubric case says what a judge looks at (rubric)")
	}
}
