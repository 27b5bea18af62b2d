// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve"
)

// minPercent is the smallest share of questions for a bound: it requires 10,000 questions.
const minPercent = 0.01

// SetAbstain reads a confidence, or a share of the catalog's examples with a percent
// sign. The error wraps callvet.ErrInvalid.
func (s *Settings) SetAbstain(v string) error {
	number, percent := strings.CutSuffix(v, "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil {
		return fmt.Errorf("abstain under %q: %w: it is no number", v, callvet.ErrInvalid)
	}
	s.Abstain, s.AbstainPercent = f, 0
	if percent {
		s.Abstain, s.AbstainPercent = 0, f
		if !(f >= minPercent && f < 100) {
			return fmt.Errorf("abstain under %q: %w: a percentage from %v to under 100", v,
				callvet.ErrInvalid, minPercent)
		}
	}
	return nil
}

// Refuses is the text for SetAbstain; empty for never.
func (s *Settings) Refuses() string {
	switch {
	case s.AbstainPercent != 0:
		return strconv.FormatFloat(s.AbstainPercent, 'g', -1, 64) + "%"
	case s.Abstain != 0:
		return strconv.FormatFloat(s.Abstain, 'g', -1, 64)
	}
	return ""
}

func (s *Settings) checkAbstain() error {
	sound := s.Abstain >= 0 && s.Abstain < 1 && s.AbstainPercent >= 0 && s.AbstainPercent < 100 &&
		(s.Abstain == 0 || s.AbstainPercent == 0)
	if !sound || s.Refuses() != "" && !s.calibrated() {
		return Invalid("abstain",
			fmt.Sprintf(
				"a confidence from 0 to under 1, such as %v, or a share of the catalogue's examples, such as 5%%, "+
					"with the default preset and its own weights and vectors. Otherwise give a threshold",
				retrieve.DefaultMinConfidence), "abstain under %s: invalid", s.Refuses())
	}
	if slices.Contains(s.AbstainRoutes, "") {
		return Invalid("abstain_routes", "", "abstain by route: invalid: a route without a name")
	}
	return nil
}

// bound is the confidence that a share of the catalog's own examples does not reach.
func (e *Env) bound(ctx context.Context, s *Settings, o retrieve.Options, entries []retrieve.Entry) (float64, error) {
	asked, err := retrieve.ExampleConfidences(ctx, o, entries)
	if err != nil {
		return 0, err
	}
	return e.boundOf(s, asked, "the catalogue's example questions")
}

func (e *Env) boundOf(s *Settings, asked []float64, questions string) (float64, error) {
	bound, ok := retrieve.ConfidenceBound(asked, s.AbstainPercent/100)
	if !ok {
		need := int(math.Ceil(100/s.AbstainPercent - 1 - 1e-9))
		return 0, Invalid("abstain_percent",
			fmt.Sprintf("{abstain_on} SUITE with questions and their tools, or a confidence, such as {abstain} %v",
				retrieve.DefaultMinConfidence),
			"abstain under %s: invalid: of %s there are %d, and %d are needed", s.Refuses(), questions,
			len(asked), need)
	}
	bound = math.Floor(bound*1e4) / 1e4
	e.Notice("confidence-bound", "nothing is given under a confidence of %g, which %s of %s (%d) do not reach", bound,
		s.Refuses(), questions, len(asked))
	return bound, nil
}

// calibrate turns the share of abstain into a confidence by the questions of abstain_on, where
// that is given: those that expect tools of the catalog. suite is the suite that will be asked,
// empty for one question. Errors are errors of the files, and ErrInvalid for too few questions.
func (e *Env) calibrate(ctx context.Context, f *Search, suite string) error {
	switch {
	case f.AbstainOn == "":
		return nil
	case f.AbstainPercent == 0:
		return Invalid("abstain_on", "{abstain} 5%",
			"abstain on %s: invalid: how many of its questions may be refused?", f.AbstainOn)
	case f.Tools == "":
		return NoCatalogue()
	case f.AbstainOn == "-": // standard input is read once, as the questions
		return Invalid("abstain_on", "{abstain_on} SUITE", "abstain on -: invalid: its questions are read from a file")
	}
	c, _, err := e.Catalogue(f.Tools)
	if err != nil {
		return err
	}
	o, err := f.Options(c)
	if err != nil {
		return err
	}
	own, err := e.Suite(ctx, f.AbstainOn, Tools(c))
	if err != nil {
		return err
	}
	asked, err := confidences(ctx, o, c, own.Cases)
	if err != nil {
		return err
	}
	if suite != "" && suite != "-" { // standard input is read once
		s, err := e.Suite(ctx, suite, Tools(c))
		if err != nil {
			return err
		}
		if n := shared(s.Cases, own.Cases); n > 0 {
			e.Notice("asked-before",
				"the confidence is chosen on the very questions that are asked (%s): how many are refused says "+
					"nothing of others", plain.Count(n, "case", "cases"))
		}
	}
	bound, err := e.boundOf(&f.Settings, asked, "the questions of "+plain.Line(f.AbstainOn))
	f.Abstain, f.AbstainPercent = bound, 0
	return err
}

// Settle turns the share of the catalog's own examples into a confidence, so that several
// catalogs are searched with the same one. The error is ErrInvalid for too few.
func (e *Env) Settle(ctx context.Context, s *Settings, c *retrieve.Catalogue) error {
	if s.AbstainPercent == 0 {
		return nil
	}
	o, err := s.Options(c)
	if err != nil {
		return err
	}
	bound, err := e.bound(ctx, s, o, c.Entries)
	if err != nil {
		return err
	}
	s.Abstain, s.AbstainPercent = bound, 0
	return nil
}

// shared counts the cases with a question that other cases have, too, ignoring letter case.
func shared(cases, others []callvet.Case) (n int) {
	asked := map[string]bool{}
	for i := range others {
		asked[words(&others[i])] = true
	}
	for i := range cases {
		if w := words(&cases[i]); w != "" && asked[w] {
			n++
		}
	}
	return n
}

func words(c *callvet.Case) string {
	return strings.ToLower(strings.Join(strings.Fields(c.Question()), " "))
}

// confidences are the confidences of the cases that expect tools of the catalog; a repeated
// question counts once.
func confidences(ctx context.Context, o retrieve.Options, c *retrieve.Catalogue,
	cases []callvet.Case,
) ([]float64, error) {
	x, err := retrieve.New(ctx, o, c.Entries)
	if err != nil {
		return nil, err
	}
	known := map[string]int{}
	for i := range c.Entries {
		known[c.Entries[i].Tool.Name] = i
	}
	var out []float64
	asked := map[string]bool{}
	for i := range cases {
		k, ok := WantedOf(&cases[i], known)
		if !ok || asked[words(&cases[i])] {
			continue
		}
		asked[words(&cases[i])] = true
		evidence, err := x.Evidence(ctx, k.Question)
		if err != nil {
			return nil, err
		}
		out = append(out, o.Confidence.Probability(evidence))
	}
	return out, nil
}
