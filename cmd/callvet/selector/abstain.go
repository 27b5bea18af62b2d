// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve"
)

// minPercent is the smallest share of questions that a bound can be asked for: it takes
// 10,000 of them.
const minPercent = 0.01

// setAbstain reads a confidence, or a share of the catalog's examples with a percent
// sign. The error wraps callvet.ErrInvalid.
func (s *Settings) setAbstain(v string) error {
	number, percent := strings.CutSuffix(v, "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil {
		return fmt.Errorf("abstain under %q: %w: it is no number", v, callvet.ErrInvalid)
	}
	s.Abstain, s.AbstainPercent = f, 0
	if percent {
		s.Abstain, s.AbstainPercent = 0, f
		if !(f >= minPercent && f < 100) {
			return fmt.Errorf("abstain under %q: %w: a percentage from %v to under 100", v, callvet.ErrInvalid, minPercent)
		}
	}
	return nil
}

// abstain is what setAbstain reads; empty for never.
func (s *Settings) abstain() string {
	switch {
	case s.AbstainPercent != 0:
		return strconv.FormatFloat(s.AbstainPercent, 'g', -1, 64) + "%"
	case s.Abstain != 0:
		return strconv.FormatFloat(s.Abstain, 'g', -1, 64)
	}
	return ""
}

func (s *Settings) checkAbstain() error {
	sound := s.Abstain >= 0 && s.Abstain < 1 && s.AbstainPercent >= 0 && s.AbstainPercent < 100 && (s.Abstain == 0 || s.AbstainPercent == 0)
	if !sound || s.abstain() != "" && !s.calibrated() {
		return &callvet.Hinted{
			Err:  fmt.Errorf("abstain under %s: %w", s.abstain(), callvet.ErrInvalid),
			Hint: fmt.Sprintf("a confidence from 0 to under 1, such as %v, or a share of the catalogue's examples, such as 5%%, and the default preset with its own weights and vectors; otherwise a threshold", retrieve.DefaultMinConfidence),
		}
	}
	if slices.Contains(s.AbstainRoutes, "") {
		return fmt.Errorf("abstain by route: %w: a route without a name", callvet.ErrInvalid)
	}
	return nil
}

// bound is the confidence that a share of the catalog's own examples does not reach; w
// is told, nil for nobody.
func (s *Settings) bound(ctx context.Context, o retrieve.Options, entries []retrieve.Entry, w io.Writer) (float64, error) {
	asked, err := retrieve.ExampleConfidences(ctx, o, entries)
	if err != nil {
		return 0, err
	}
	return s.boundOf(asked, "the catalogue's example questions", w)
}

func (s *Settings) boundOf(asked []float64, whose string, w io.Writer) (float64, error) {
	bound, ok := retrieve.ConfidenceBound(asked, s.AbstainPercent/100)
	if !ok {
		need := int(math.Ceil(100/s.AbstainPercent - 1 - 1e-9))
		return 0, &callvet.Hinted{
			Err:  fmt.Errorf("abstain under %s: %w: of %s there are %d, and %d are needed to tell", s.abstain(), callvet.ErrInvalid, whose, len(asked), need),
			Hint: fmt.Sprintf("--abstain-on SUITE with questions and their tools, or a confidence, such as --abstain %v", retrieve.DefaultMinConfidence),
		}
	}
	bound = math.Floor(bound*1e4) / 1e4
	if w != nil {
		fmt.Fprintf(w, "note: nothing is given under a confidence of %g, which %s of %s (%d) do not reach\n", bound, s.abstain(), whose, len(asked))
	}
	return bound, nil
}

// Calibrate turns the share of --abstain into a confidence by the questions of
// --abstain-on, where that is given: those that expect tools of the catalog. suite is
// what will be asked, empty for one question. Errors are those of the files, and
// ErrInvalid for too few questions.
func (f *Flags) Calibrate(ctx context.Context, e *Env, w io.Writer, suite string) error {
	switch {
	case f.AbstainOn == "":
		return nil
	case f.Settings.AbstainPercent == 0:
		return &callvet.Hinted{Err: fmt.Errorf("abstain on %s: %w: how many of its questions may be refused?", f.AbstainOn, callvet.ErrInvalid), Hint: "--abstain 5%"}
	case f.Tools == "":
		return NoCatalogue()
	case f.AbstainOn == "-": // standard input is read once, by what is asked
		return &callvet.Hinted{Err: fmt.Errorf("abstain on -: %w: its questions are read from a file", callvet.ErrInvalid), Hint: "--abstain-on SUITE"}
	}
	c, _, err := Load(f.Tools, e.Read)
	if err != nil {
		return err
	}
	o, err := f.Settings.Options(c)
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
			fmt.Fprintf(w, "warning: the confidence is chosen on the very questions that are asked (%s): how many are refused says nothing of others\n", plain.Count(n, "case", "cases"))
		}
	}
	bound, err := f.Settings.boundOf(asked, "the questions of "+plain.Line(f.AbstainOn), w)
	f.Settings.Abstain, f.Settings.AbstainPercent = bound, 0
	return err
}

// Settle turns the share of the catalog's own examples into a confidence, for catalogs
// that are searched by the same one. w is told. The error is ErrInvalid for too few.
func (s *Settings) Settle(ctx context.Context, c *retrieve.Catalogue, w io.Writer) error {
	if s.AbstainPercent == 0 {
		return nil
	}
	o, err := s.Options(c)
	if err != nil {
		return err
	}
	bound, err := s.bound(ctx, o, c.Entries, w)
	if err != nil {
		return err
	}
	s.Abstain, s.AbstainPercent = bound, 0
	return nil
}

// shared counts the cases that ask, in upper or lower case, what others ask too.
func shared(cases, others []callvet.Case) (n int) {
	said := map[string]bool{}
	for i := range others {
		said[words(&others[i])] = true
	}
	for i := range cases {
		if w := words(&cases[i]); w != "" && said[w] {
			n++
		}
	}
	return n
}

func words(c *callvet.Case) string {
	return strings.ToLower(strings.Join(strings.Fields(questionOf(c)), " "))
}

// confidences are those of the cases that expect tools of the catalog; the same question
// once more tells nothing.
func confidences(ctx context.Context, o retrieve.Options, c *retrieve.Catalogue, cases []callvet.Case) ([]float64, error) {
	x, err := retrieve.New(ctx, o, c.Entries)
	if err != nil {
		return nil, err
	}
	known := map[string]int{}
	for i := range c.Entries {
		known[c.Entries[i].Tool.Name] = i
	}
	var out []float64
	said := map[string]bool{}
	for i := range cases {
		k, ok := newSweepCase(&cases[i], known)
		if !ok || said[words(&cases[i])] {
			continue
		}
		said[words(&cases[i])] = true
		evidence, err := x.Evidence(ctx, k.question)
		if err != nil {
			return nil, err
		}
		out = append(out, o.Confidence.Probability(evidence))
	}
	return out, nil
}

// abstainFlag reads --abstain.
type abstainFlag struct{ s *Settings }

// Set implements pflag.Value.
func (f abstainFlag) Set(v string) error { return f.s.setAbstain(v) }

// Type implements pflag.Value.
func (f abstainFlag) Type() string { return "confidence|percent%" }

func (f abstainFlag) String() string {
	if f.s == nil {
		return ""
	}
	return f.s.abstain()
}
