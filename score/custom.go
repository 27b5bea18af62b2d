// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/condition"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// Custom judges attempts by a rule that callvet does not have: an expression, a program, or Go
// code of a program that embeds callvet. It is called from many goroutines.
type Custom interface {
	// Judge returns the opinion on the attempt. It should return soon after ctx has ended; the
	// time that its case allows is the context's deadline. An error, or an opinion that is not
	// Valid, leaves the score not evaluated, with the error's text as the reason.
	Judge(ctx context.Context, a *Attempt) (Opinion, error)
	// Version changes whenever the same attempt could be judged differently. "" is for a rule
	// that never changes.
	Version() string
}

// Limits of an opinion.
const (
	// MaxReason is how many bytes of a reason are kept.
	MaxReason = 2000
	// MaxValues is how many named values an opinion may have.
	MaxValues = 20
)

// Opinion is the result of a suite's own scorer for an attempt. It has a score, a verdict or both.
type Opinion struct {
	// Score is in [0,1]. Nil: 1 for a pass and 0 for a failure.
	Score *float64 `json:"score,omitempty"`
	// Pass is the verdict. Nil: the score is compared with the scorer's threshold, and decides
	// nothing where it has none.
	Pass *bool `json:"pass,omitempty"`
	// Reason is for a person.
	Reason string `json:"reason,omitempty"`
	// Values are further scores in [0,1] by name; NAME of scorer S is called scorer.S.NAME.
	Values map[string]float64 `json:"values,omitempty"`
}

// Valid returns the mistake of an opinion, nil without one. The error wraps callvet.ErrInvalid.
func (o *Opinion) Valid() error {
	switch {
	case o.Score == nil && o.Pass == nil:
		return fmt.Errorf("%w: it gave neither a score nor pass", callvet.ErrInvalid)
	case o.Score != nil && !share01(*o.Score):
		return fmt.Errorf("%w: it gave the score %g, which is not in [0, 1]", callvet.ErrInvalid, *o.Score)
	case len(o.Values) > MaxValues:
		return fmt.Errorf("%w: it gave %d values; there may be %d", callvet.ErrInvalid, len(o.Values), MaxValues)
	}
	for _, name := range sortedKeys(o.Values) {
		if !callvet.ScorerName(name) {
			return fmt.Errorf("%w: it gave a value named %q: names are of letters, digits, _ and -", callvet.ErrInvalid,
				match.Clip(name))
		}
		if v := o.Values[name]; !share01(v) {
			return fmt.Errorf("%w: it gave %s the value %g, which is not in [0, 1]", callvet.ErrInvalid, name, v)
		}
	}
	return nil
}

func share01(v float64) bool { return !math.IsNaN(v) && v >= 0 && v <= 1 }

// custom is a compiled scorer of a case.
type custom struct {
	src  *callvet.Scorer
	by   Custom
	wait time.Duration
	// why is the reason for which it judges nothing; "" where by is set.
	why string
}

// customs compiles the scorers of the case.
func (k *Compiled) customs(cfg *Config, ps *problems) {
	seen := map[string]bool{}
	for i := range k.src.Expect.Scorers {
		src := &k.src.Expect.Scorers[i]
		key := fmt.Sprintf("scorers[%d]", i)
		switch {
		case !callvet.ScorerName(src.Name):
			ps.add("bad-name", key+".name", fmt.Sprintf("%q cannot be the name of a scorer", src.Name),
				"1 to 64 letters, digits, _ and -")
			continue
		case seen[src.Name]:
			ps.add("duplicate-id", key+".name", fmt.Sprintf("the name %q is used twice", src.Name),
				"give each scorer of a case its own name")
			continue
		}
		seen[src.Name] = true
		c := custom{src: src}
		var err error
		if c.wait, err = src.Wait(); err != nil {
			ps.add("bad-timeout", key+".timeout", err.Error(), "for example: 10s")
			c.wait = callvet.DefaultScorerTimeout
		}
		if t := src.Threshold; t != nil && !share01(*t) {
			ps.add("bad-threshold", key+".threshold", fmt.Sprintf("the threshold %g is not in [0, 1]", *t),
				"0.5, for example")
		}
		k.implement(&c, cfg, key, ps)
		k.scorers = append(k.scorers, c)
	}
}

// implement finds the implementation of a scorer.
func (k *Compiled) implement(c *custom, cfg *Config, key string, ps *problems) {
	if kinds := ways(c.src); len(kinds) > 1 {
		ps.add("conflict", key, strings.Join(kinds, " and ")+" exclude each other", "keep one of them")
		c.why = "it has several ways of judging"
		return
	}
	var err error
	switch {
	case c.src.Expr != "":
		c.by, err = newExpression(c.src)
		if err != nil {
			ps.add("bad-expression", key+".expr", err.Error(),
				`for example: answer contains "Paris" && len(calls) == 1`)
		}
	case cfg.Custom != nil:
		c.by, err = cfg.Custom(c.src)
	case c.src.Runs():
		err = errors.New("it runs a program, and nothing here does")
	default:
		err = errors.New("nothing here is a scorer of that name")
	}
	if err != nil {
		c.by, c.why = nil, err.Error()
	}
}

// ways are the keys of a scorer that define how it judges.
func ways(s *callvet.Scorer) []string {
	var out []string
	for _, w := range [...]struct{ name, text string }{
		{"expr", s.Expr},
		{"exec", s.Exec},
		{"javascript", s.JavaScript},
		{"python", s.Python},
	} {
		if w.text != "" {
			out = append(out, w.name)
		}
	}
	return out
}

// scorerResult is the result of a scorer.
type scorerResult struct {
	of      *custom
	version string
	opinion Opinion
	err     error
}

// ask calls the scorers of the case, one after the other. The error is the error of ctx.
func (k *Compiled) ask(ctx context.Context, t *callvet.Trace) ([]scorerResult, error) {
	if len(k.scorers) == 0 {
		return nil, nil
	}
	out := make([]scorerResult, len(k.scorers))
	shown := Attempt{Case: k.src, Trace: t}
	hidden := Attempt{Case: k.src, Trace: t, Blind: true}
	for i := range k.scorers {
		s := &out[i]
		s.of = &k.scorers[i]
		a := &shown
		if s.of.src.Blind {
			a = &hidden
		}
		s.ask(ctx, a)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *scorerResult) ask(ctx context.Context, a *Attempt) {
	if s.of.by == nil {
		s.err = errors.New(s.of.why)
		return
	}
	s.version = s.of.by.Version()
	ctx, cancel := context.WithTimeout(ctx, s.of.wait)
	defer cancel()
	if s.opinion, s.err = s.of.by.Judge(ctx, a); s.err == nil {
		s.err = s.opinion.Valid()
	}
	if s.err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		s.err = fmt.Errorf("it did not answer within %s", s.of.wait)
	}
}

// why is the reason for which there is no opinion.
func (s *scorerResult) why() string {
	return clipped(strings.TrimPrefix(s.err.Error(), callvet.ErrInvalid.Error()+": "))
}

// score is the score of a valid opinion.
func (s *scorerResult) score() float64 {
	if s.opinion.Score != nil {
		return *s.opinion.Score
	}
	return float64(truth(*s.opinion.Pass))
}

// assertCustom adds the scorers' verdicts, and the assertions that could not be evaluated.
func (w *scratch) assertCustom() {
	for i := range w.opinions {
		s := &w.opinions[i]
		a := callvet.Assertion{
			Name: s.of.src.Metric(), Layer: callvet.LayerResponse, Expected: s.of.src.Asks(),
			Version: s.version,
		}
		if s.err != nil {
			a.State, a.Reason = callvet.AssertNotEvaluated, s.why()
			w.assertion = append(w.assertion, a)
			continue
		}
		var score *float64
		if s.opinion.Score != nil {
			score = s.opinion.Score
		}
		pass, known := callvet.JudgePassed(s.opinion.Pass, score, s.of.src.Threshold)
		if !known {
			continue
		}
		a.State = callvet.Asserted(pass != s.of.src.Negated)
		a.Actual = strconv.FormatFloat(s.score(), 'g', 6, 64)
		if s.opinion.Reason != "" {
			a.Actual += ": " + clipped(s.opinion.Reason)
		}
		w.assertion = append(w.assertion, a)
	}
}

// customScores adds the scorers' scores.
func (w *scratch) customScores(l *scoreList) {
	for i := range w.opinions {
		s := &w.opinions[i]
		if s.err != nil {
			l.unscored(s.of.src.Metric(), s.why())
			continue
		}
		l.add(s.of.src.Metric(), s.score())
		for _, name := range sortedKeys(s.opinion.Values) {
			l.add(s.of.src.Metric()+"."+name, s.opinion.Values[name])
		}
	}
}

// clipped is a text without its end where it is long.
func clipped(s string) string {
	if len(s) <= MaxReason {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:MaxReason], "") + " …"
}

// expressionScorer judges by an expression.
type expressionScorer struct {
	formula *condition.Formula
	version string
}

func newExpression(src *callvet.Scorer) (*expressionScorer, error) {
	f, err := condition.CompileFormula(src.Expr)
	if err != nil {
		return nil, err
	}
	return &expressionScorer{f, src.Sum()}, nil
}

// Version implements Custom.
func (e *expressionScorer) Version() string { return e.version }

// Judge implements Custom: a number is a score, a boolean a verdict. An expression always ends
// soon, so that it does not check the context.
func (e *expressionScorer) Judge(_ context.Context, a *Attempt) (Opinion, error) {
	b, err := a.MarshalJSON()
	if err != nil {
		return Opinion{}, err
	}
	v, err := value.Parse(b)
	if err != nil {
		return Opinion{}, fmt.Errorf("read the attempt: %w", err)
	}
	out, err := e.formula.Of(v)
	if err != nil {
		return Opinion{}, err
	}
	if out.Number {
		return Opinion{Score: &out.Value}, nil
	}
	o := Opinion{Pass: &out.Holds}
	if out.Missing {
		o.Reason = "something that it compares is missing, or of another kind"
	}
	return o, nil
}
