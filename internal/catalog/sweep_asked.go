// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// The fields that identify a case, so that the curve can be made from a stored run alone.
const (
	sweepFieldCase   = "of_case"
	fieldDistractors = "distractors"
	fieldDraw        = "draw"
	fieldGiven       = "tools_given"
	fieldTools       = "tools_searched"
	fieldBytes       = "tool_bytes"
)

// The tools offered to a model: the retrieved ones, or all.
const (
	SweepRetrieved = "retrieved"
	AllRetrieved   = "all"
)

// askedCase describes how one case of a curve was made.
type askedCase struct {
	// Of is the id of the case of the question; Given is Retrieved or All.
	Of, Given string
	// Size is the number of distractors, -1 for the whole catalog; Draw counts from 1; Searched
	// is how many tools were searched, Bytes the length of the offered ones.
	Size, Draw, Searched, Bytes int
	// Tools is how many were offered; Present: a right tool was among them. mark writes neither:
	// the case has both.
	Tools   int
	Present bool
}

// id names the case.
func (a *askedCase) id() string {
	return fmt.Sprintf("%s/%s/%d/%s", a.Of, SizeName(a.Size), a.Draw, a.Given)
}

// mark writes it into the fields of a case.
func (a *askedCase) mark(fields map[string]string) {
	fields[sweepFieldCase], fields[fieldGiven] = a.Of, a.Given
	for field, n := range a.numbers() {
		fields[field] = strconv.Itoa(*n)
	}
}

func (a *askedCase) numbers() map[string]*int {
	return map[string]*int{fieldDistractors: &a.Size, fieldDraw: &a.Draw, fieldTools: &a.Searched, fieldBytes: &a.Bytes}
}

// readAsked reads the fields of mark, and the data of the case. The error wraps callvet.ErrInvalid
// for other cases.
func readAsked(c *callvet.Case) (askedCase, error) {
	a := askedCase{Of: c.Fields[sweepFieldCase], Given: c.Fields[fieldGiven], Tools: len(c.Tools)}
	ok := a.Of != "" && (a.Given == SweepRetrieved || a.Given == AllRetrieved) && len(c.Expect.Plans) == 1 &&
		len(c.Expect.Plans[0].Calls) == 1
	for field, to := range a.numbers() {
		n, err := strconv.Atoi(c.Fields[field])
		*to, ok = n, ok && err == nil
	}
	if !ok {
		return a, Invalid("models", "", "read curve: invalid: case %s was not made by select sweep {models}", c.ID)
	}
	if c.ToolNames != nil {
		a.Tools, a.Present = len(c.ToolNames),
			slices.ContainsFunc(c.ToolNames, func(name string) bool { return right(c, name) })
	} else {
		a.Present = slices.ContainsFunc(c.Tools, func(t callvet.Tool) bool { return right(c, t.Name) })
	}
	return a, nil
}

// right reports whether a tool is a right one of the case.
func right(c *callvet.Case, name string) bool {
	return slices.ContainsFunc(c.Expect.Plans[0].Calls[0].Tools,
		func(r string) bool { return strings.EqualFold(r, name) })
}

// SizeName writes a number of distractors.
func SizeName(n int) string {
	if n < 0 {
		return "all"
	}
	return strconv.Itoa(n)
}
