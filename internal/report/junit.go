// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/jstemmer/go-junit-report/v2/junit"
)

// JUnit writes a test suite per target and a test case per attempt. A failed attempt is a failure
// with the expected and actual calls in its body. An attempt that ended in an infrastructure error
// is an error, and one that did not run is skipped. A floor is left out if there are other targets:
// its failures must not fail a build. It holds one small entry per attempt in memory.
func JUnit(w io.Writer, v *View) error {
	suites := make([]junit.Testsuite, len(v.Targets))
	ms := make([]float64, len(v.Targets))
	for i := range v.Targets {
		suites[i] = junit.Testsuite{ID: i, Name: plain.XML(v.Suite.Name + " · " + v.targetName(i))}
		if !v.Created.IsZero() {
			suites[i].SetTimestamp(v.Created.UTC())
		}
		suites[i].AddProperty("callvet.run", plain.XML(v.ID))
		suites[i].AddProperty("callvet.target", plain.XML(v.targetName(i)))
		suites[i].AddProperty("callvet.population", v.population())
		v.rateProperties(&suites[i], i)
	}
	for r, err := range v.counting() {
		if err != nil {
			return fmt.Errorf("read attempts: %w", err)
		}
		i := r.Cell.Target
		if i < 0 || i >= len(suites) {
			continue
		}
		ms[i] += r.Cell.Trace.WallMS
		suites[i].AddTestcase(v.testcase(r))
	}
	all := junit.Testsuites{Name: plain.XML(v.Suite.Name)}
	total := 0.0
	for i := range suites {
		if !v.counts(i) {
			continue
		}
		suites[i].Time = seconds(ms[i])
		total += ms[i]
		all.AddSuite(suites[i])
	}
	all.Time = seconds(total)
	return writeJUnit(w, &all)
}

func writeJUnit(w io.Writer, all *junit.Testsuites) error {
	if _, err := io.WriteString(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"); err != nil {
		return fmt.Errorf("write junit: %w", err)
	}
	return all.WriteXML(w)
}

// rateProperties adds the rates with their intervals to the properties of a suite.
func (v *View) rateProperties(s *junit.Testsuite, target int) {
	for _, p := range v.panels() {
		if p.Target != target {
			continue
		}
		for i := range p.Overall.Metrics {
			m := &p.Overall.Metrics[i]
			if m.Interval.Defined() {
				s.AddProperty("callvet."+plain.XML(m.Name), plain.Amount(m))
			}
		}
	}
}

func (v *View) testcase(r Row) junit.Testcase {
	tc := junit.Testcase{
		Name:      plain.XML(attemptName(r, v.repeats())),
		Classname: plain.XML(v.Suite.Name + "." + strings.ReplaceAll(v.targetName(r.Cell.Target), ".", "_")),
		Time:      seconds(r.Cell.Trace.WallMS),
	}
	result := &junit.Result{Message: plain.XML(because(r)), Type: plain.XML(classOf(r))}
	if open := r.Cell.Result.Unevaluated(); len(open) > 0 {
		lines := []string{string(verdictOf(r)) + butUnevaluated(r)}
		for _, a := range open {
			lines = append(lines, unevaluatedText(a))
		}
		tc.SystemOut = &junit.Output{Data: plain.XML(plain.Limited(strings.Join(lines, "\n"), 4000))}
	}
	switch verdictOf(r) {
	case callvet.VerdictPass:
		return tc
	case callvet.VerdictNotRun:
		if r.Case.Skip == "" { // planned, and without an outcome
			tc.Error = result
			return tc
		}
		tc.Skipped = &junit.Result{Message: plain.XML(because(r))}
	case callvet.VerdictError:
		result.Data = plain.XML(plain.Limited(plainDetails(r), 4000))
		tc.Error = result
	default:
		result.Data = plain.XML(plain.Limited(plainDetails(r), 4000))
		tc.Failure = result
	}
	return tc
}

// plainDetails is the explanation of one attempt as lines of text.
func plainDetails(r Row) string {
	s := newScreen(TerminalOptions{})
	if q := plain.Line(question(r.Case)); q != "" {
		s.line("user: %s", plain.Limited(q, 500))
	}
	s.details(r)
	return strings.ReplaceAll(s.String(), "\n        ", "\n")
}

func seconds(ms float64) string { return fmt.Sprintf("%.3f", ms/1000) }
