// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/verify/clinc"
	"github.com/callvet/callvet/verify/proof"
)

// perKind is the number of questions of each kind for a catalog, evenly chosen.
const perKind = 200

// fittedOn is the part of the data that the shipped settings were fitted on.
const fittedOn = proof.DefaultPart

// Abstention fits the limits of abstention without test data. It uses the train halves of the sets with
// domains of tools, and the examples of the shipped catalogue, each tested on a catalogue without it.
// The unanswerable questions are the same questions on a catalogue without the domain of their tools, so
// that both kinds have the same words. It prints the settings and their results on each catalogue while
// it is held out. It also prints the results of the shipped settings on the holdout halves, on foreign
// questions and on the shipped suite. It compares the fit with the shipped
// settings on the part that they were fitted on. It also compares the share of refused answerable
// questions of the shipped suite with their limit, and the share refused by a bound of labeled
// questions with the promise of that bound. Last it counts how often the rules mistake an answerable
// question for small talk.
func Abstention(ctx context.Context, c *proof.Check, example string, d proof.Data) error {
	sets, err := benchmarks(d)
	if err != nil {
		return err
	}
	for i := range sets {
		if sets[i].ranked != nil {
			sets[i].counted(c)
		}
	}
	foreign, err := clinc.Read(c, d)
	if err != nil {
		return err
	}
	if err := fit(ctx, c, sets, example, d.Part); err != nil {
		return err
	}
	o := retrieve.Default()
	c.Printf("\nthe shipped settings: %+v, refusing under %.3g\n", *o.Confidence, retrieve.DefaultMinConfidence)
	held, err := observe(ctx, sets, holdout, example)
	if err != nil {
		return err
	}
	strange, err := observeStrangers(ctx, sets, example, strangers(foreign))
	if err != nil {
		return err
	}
	suite, err := observeSuite(ctx, example)
	if err != nil {
		return err
	}
	if err := errors.Join(kinds("the holdout halves", held, true, true),
		kinds("foreign questions", strange, false, true), kinds("the shipped suite", suite, true, true)); err != nil {
		return err
	}
	c.Printf("\nholdout halves, and their questions without the domain of their tools\n")
	shipped(c.Out(), held)
	c.Printf("\nquestions of CLINC150 in and out of its scope; tools of these catalogs fit some of them\n")
	shipped(c.Out(), strange)
	c.Printf("\nthe shipped suite\n")
	refused := shipped(c.Out(), suite)
	c.Due(promises, 1, "the bar of the shipped suite")
	c.Compare(promises, "answerable cases of the shipped suite refused", refused <= barRefused, "%.3f, at most %.3f",
		refused, barRefused)
	if err := ownBounds(ctx, c.Out(), sets, example, strangers(foreign)); err != nil {
		return err
	}
	if err := labeledBounds(ctx, c, sets); err != nil {
		return err
	}
	return smallTalk(c, sets, foreign.Measure)
}

// promises names the comparisons with the promises of the shipped settings.
const promises = "promises"

// fit prints the settings fitted on the train halves. On the part that the shipped settings were fitted
// on they are the same, to the digits of the shipped ones.
func fit(ctx context.Context, c *proof.Check, sets []benchmark, example, part string) error {
	fitted, err := observe(ctx, sets, train, example)
	if err != nil {
		return err
	}
	f, err := Calibrate(fitted, CalibrateOptions{})
	if err != nil {
		return err
	}
	l := f.Logistic
	c.Printf(
		"fitted on %d questions: Logistic{Bias: %.4g, Score: %.4g, Lead: %.4g, Semantic: %.4g, Matched: %.4g, Words: %.4g}, MinConfidence %.3f\n\neach catalogue held out\n", len(fitted), l.Bias, l.Score, l.Lead, l.Semantic, l.Matched, l.Words, f.MinConfidence)
	for _, s := range f.Sources {
		c.Printf("%-38s answerable refused %s  nothing fits, refused %s  AUC %.3f\n", s.Source,
			share(s.Refused, s.Answerable), share(s.Rightly, s.Unanswerable), s.AUC)
	}
	if part != fittedOn {
		c.Printf("the shipped settings were fitted on the part %s: these are not compared with them\n", fittedOn)
		return nil
	}
	ours := retrieve.Default().Confidence
	for _, p := range []struct {
		name        string
		own, stands float64
	}{
		{"bias", l.Bias, ours.Bias},
		{"score", l.Score, ours.Score},
		{"lead", l.Lead, ours.Lead},
		{"semantic", l.Semantic, ours.Semantic},
		{"matched", l.Matched, ours.Matched},
		{"words", l.Words, ours.Words},
		{"least confidence", f.MinConfidence, retrieve.DefaultMinConfidence},
	} {
		c.Due("shipped settings", 1, "the settings of a fit")
		c.Compare("shipped settings", p.name, math.Abs(p.own-p.stands) <= 1e-3*math.Abs(p.stands),
			"the fit gives %.4g, %.4g is shipped", p.own, p.stands)
	}
	return nil
}

// kinds returns an error if questions of a measured kind are missing: without any comparison a limit is
// not met.
func kinds(what string, obs []retrieve.Observation, answerable, unanswerable bool) error {
	var n [2]int
	for _, o := range obs {
		if o.Fits {
			n[1]++
		} else {
			n[0]++
		}
	}
	if answerable && n[1] == 0 || unanswerable && n[0] == 0 {
		return fmt.Errorf("measure abstention on %s: %d answerable questions, %d that nothing fits: %w", what, n[1],
			n[0], errNothing)
	}
	return nil
}

// barRefused is the share of the answerable cases of the shipped suite that may be refused.
const barRefused = 0.08

// shipped prints the results of the shipped settings, by source, and returns the highest share of
// refused answerable questions.
func shipped(out io.Writer, obs []retrieve.Observation) (worst float64) {
	by := map[string]*refused{}
	var order []string
	for _, o := range obs {
		if by[o.Source] == nil {
			by[o.Source] = &refused{}
			order = append(order, o.Source)
		}
		by[o.Source].add(o, retrieve.DefaultMinConfidence)
	}
	for _, name := range order {
		r := by[name]
		fmt.Fprintf(out, "%-38s answerable refused %s  nothing fits, refused %s\n", name, share(r.under[1], r.n[1]),
			share(r.under[0], r.n[0]))
		worst = max(worst, float64(r.under[1])/float64(max(r.n[1], 1)))
	}
	return worst
}

func share(x, n int) string {
	if n == 0 {
		return fmt.Sprintf("%-27s", "-")
	}
	iv := stats.Wilson(x, n, 0.95, stats.TwoSided)
	return fmt.Sprintf("%4d/%-4d %5.1f%% [%4.1f, %5.1f]", x, n, 100*float64(x)/float64(n), 100*iv.Lower, 100*iv.Upper)
}

// observe tests every catalog with the questions of a half, answerable and not.
func observe(ctx context.Context, sets []benchmark, h half, example string) ([]retrieve.Observation, error) {
	var out []retrieve.Observation
	for i := range sets {
		b := &sets[i]
		if h == train && domain(&b.entries[0]) == "" { // there is no domain to leave out
			continue
		}
		obs, err := observeSet(ctx, b, evenly(b.part(h), perKind))
		if err != nil {
			return nil, fmt.Errorf("ask %s: %w", b.name, err)
		}
		out = append(out, obs...)
	}
	if h != train {
		return out, nil
	}
	own, err := observeExamples(ctx, example)
	return append(out, own...), err
}

// observeStrangers tests every catalog with questions of CLINC150 in and out of its scope.
func observeStrangers(ctx context.Context, sets []benchmark, example string,
	asked []retrieve.Question,
) ([]retrieve.Observation, error) {
	c, err := shippedCatalogue(example)
	if err != nil {
		return nil, err
	}
	var out []retrieve.Observation
	seen := map[string]bool{}
	for _, b := range append(slices.Clone(sets), benchmark{name: "shipped catalogue (Swedish)", entries: c.Entries}) {
		if seen[catalogOf(&b)] {
			continue
		}
		seen[catalogOf(&b)] = true
		x, err := retrieve.New(ctx, retrieve.Default(), b.entries)
		if err != nil {
			return nil, err
		}
		obs, err := x.Observe(ctx, catalogOf(&b), asked)
		if err != nil {
			return nil, err
		}
		out = append(out, obs...)
	}
	return out, nil
}

// catalogOf names the catalog, which several sets of questions may share.
func catalogOf(b *benchmark) string {
	if strings.HasPrefix(b.name, "toolret/") {
		name, _, _ := strings.Cut(b.name, " ")
		return name
	}
	name, _, _ := strings.Cut(b.name, "/")
	return name
}

func shippedCatalogue(example string) (*retrieve.Catalogue, error) {
	path := filepath.Join(example, "catalogue.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	c, _, err := retrieve.LoadCatalogue(path, raw)
	return c, err
}

// observeSuite tests the cases of the shipped suite that name their tools, or none.
func observeSuite(ctx context.Context, example string) ([]retrieve.Observation, error) {
	c, err := shippedCatalogue(example)
	if err != nil {
		return nil, err
	}
	x, err := retrieve.New(ctx, retrieve.Default(), c.Entries)
	if err != nil {
		return nil, err
	}
	questions, err := suiteQuestions(example)
	if err != nil {
		return nil, err
	}
	return x.Observe(ctx, "shipped suite", questions)
}

func suiteQuestions(example string) (out []retrieve.Question, err error) {
	err = seedSuite(filepath.Join(example, "suite.json"), func(q question) {
		out = append(out, retrieve.Question{Text: q.text, Tools: q.relevant})
	})
	return out, err
}

// strangers are questions of CLINC150 for learning, half of them out of its scope.
func strangers(q clinc.Questions) []retrieve.Question {
	in, outside := clinc.Split(q.Learn)
	var out []retrieve.Question
	for _, rows := range [][]clinc.Row{in, outside} {
		for _, r := range evenly(rows, perKind/2) {
			out = append(out, retrieve.Question{Text: r.Query})
		}
	}
	return out
}

func evenly[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*len(list)/n]
	}
	return out
}

func observeSet(ctx context.Context, b *benchmark, asked []question) ([]retrieve.Observation, error) {
	x, err := retrieve.New(ctx, retrieve.Default(), b.entries)
	if err != nil {
		return nil, err
	}
	questions := make([]retrieve.Question, len(asked))
	for i, q := range asked {
		questions[i] = retrieve.Question{Text: q.text, Tools: q.relevant}
	}
	out, err := x.Observe(ctx, catalogOf(b), questions)
	if err != nil {
		return nil, err
	}
	without, err := observeWithout(ctx, b, asked)
	return append(out, without...), err
}

// domain returns the domain of a tool; "" if it is not known.
func domain(e *retrieve.Entry) string {
	n := slices.DeleteFunc(slices.Clone(e.Namespace), func(s string) bool { return s == "tools" })
	if len(n) == 0 {
		return ""
	}
	return n[0]
}

// maxDomains limits the number of catalogs made from one.
const maxDomains = 64

// observeWithout tests questions on the catalog without the domains of their tools.
func observeWithout(ctx context.Context, b *benchmark, asked []question) ([]retrieve.Observation, error) {
	var out []retrieve.Observation
	err := eachWithout(b, asked, func(stays []retrieve.Entry, questions []retrieve.Question) error {
		x, err := retrieve.New(ctx, retrieve.Default(), stays)
		if err != nil {
			return err
		}
		obs, err := x.Observe(ctx, catalogOf(b), questions)
		out = append(out, obs...)
		return err
	})
	return out, err
}

// eachWithout calls a function with the catalog without the domains of the right tools of questions, and
// with these questions, which then have no right tool.
func eachWithout(b *benchmark, asked []question,
	use func(stays []retrieve.Entry, questions []retrieve.Question) error,
) error {
	home := map[string]string{}
	for i := range b.entries {
		e := &b.entries[i]
		if home[e.ID] = domain(e); e.ID == "" {
			home[e.Tool.Name] = domain(e)
		}
	}
	by := map[string][]retrieve.Question{}
	var order []string
	for _, q := range asked {
		var all []string
		for _, id := range q.relevant {
			all = append(all, home[id])
		}
		slices.Sort(all)
		key := strings.Join(slices.Compact(all), "\x00")
		if slices.Contains(all, "") {
			continue
		}
		if by[key] == nil {
			order = append(order, key)
		}
		by[key] = append(by[key], retrieve.Question{Text: q.text})
	}
	for _, key := range evenly(order, maxDomains) {
		gone := strings.Split(key, "\x00")
		stays := slices.DeleteFunc(slices.Clone(b.entries),
			func(e retrieve.Entry) bool { return slices.Contains(gone, domain(&e)) })
		if err := use(stays, by[key]); err != nil {
			return err
		}
	}
	return nil
}

// observeExamples tests each example question on a catalogue without that example, and on a catalogue
// without its domain.
func observeExamples(ctx context.Context, example string) ([]retrieve.Observation, error) {
	c, err := shippedCatalogue(example)
	if err != nil {
		return nil, err
	}
	b := benchmark{name: "shipped catalogue, its examples", entries: c.Entries}
	var out []retrieve.Observation
	for i := range c.Entries {
		e := c.Entries[i]
		for k, text := range e.Examples {
			less := slices.Clone(c.Entries)
			less[i].Examples = slices.Delete(slices.Clone(e.Examples), k, k+1)
			x, err := retrieve.New(ctx, retrieve.Default(), less)
			if err != nil {
				return nil, err
			}
			obs, err := x.Observe(ctx, catalogOf(&b), []retrieve.Question{{Text: text, Tools: []string{e.Tool.Name}}})
			if err != nil {
				return nil, err
			}
			out = append(out, obs...)
			b.questions = append(b.questions, question{text: text, relevant: []string{e.Tool.Name}})
		}
	}
	without, err := observeWithout(ctx, &b, b.questions)
	return append(out, without...), err
}
