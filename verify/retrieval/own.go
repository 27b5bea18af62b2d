// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/verify/clinc"
	"github.com/callvet/callvet/verify/proof"
)

// ownShares are the refused shares of a catalog's own examples.
func ownShares() []float64 { return []float64{0.02, 0.05, 0.1} }

// ownBounds prints the results of bounds from the examples of the catalog itself, for catalogs with
// examples. It uses both halves of the questions, with and without the domain of their tools,
// foreign questions and the shipped suite.
func ownBounds(ctx context.Context, out io.Writer, sets []benchmark, example string,
	foreign []retrieve.Question,
) error {
	fmt.Fprintln(out, "\nbounds of the catalogs' own examples, each asked of a catalog without it")
	for i := range sets {
		b := &sets[i]
		if !slices.ContainsFunc(b.entries, func(e retrieve.Entry) bool { return len(e.Examples) > 0 }) {
			continue
		}
		for _, h := range []half{train, holdout} {
			var fits, none []retrieve.Question
			for _, q := range b.part(h) {
				fits = append(fits, retrieve.Question{Text: q.text, Tools: q.relevant})
			}
			rows := map[float64]*refused{}
			if err := ownBound(ctx, rows, b.entries, fits); err != nil {
				return err
			}
			if h == holdout {
				none = foreign
			}
			strange := map[float64]*refused{}
			if err := ownBound(ctx, strange, b.entries, none); err != nil {
				return err
			}
			err := eachWithout(b, b.part(h), func(stays []retrieve.Entry, asked []retrieve.Question) error {
				return ownBound(ctx, rows, stays, asked)
			})
			if err != nil {
				return err
			}
			printOwn(out, fmt.Sprintf("%s, %s", b.name, h), rows, strange)
		}
	}
	c, err := shippedCatalogue(example)
	if err != nil {
		return err
	}
	questions, err := suiteQuestions(example)
	if err != nil {
		return err
	}
	rows, strange := map[float64]*refused{}, map[float64]*refused{}
	if err := ownBound(ctx, rows, c.Entries, questions); err != nil {
		return err
	}
	if err := ownBound(ctx, strange, c.Entries, foreign); err != nil {
		return err
	}
	printOwn(out, "shipped suite", rows, strange)
	return nil
}

// refused counts questions of both kinds (1: answerable), and how many have less than a least
// confidence.
type refused struct{ n, under [2]int }

func (r *refused) add(o retrieve.Observation, least float64) {
	kind := 0
	if o.Fits {
		kind = 1
	}
	r.n[kind]++
	if retrieve.Default().Confidence.Probability(o.Evidence) < least {
		r.under[kind]++
	}
}

func printOwn(out io.Writer, name string, rows, strange map[float64]*refused) {
	for _, share5 := range ownShares() {
		r, s := rows[share5], strange[share5]
		if s == nil {
			s = &refused{}
		}
		fmt.Fprintf(out, "%-24s %3.0f%%  answerable refused %s  nothing fits, refused %s  CLINC150 refused %s\n", name,
			100*share5, share(r.under[1], r.n[1]), share(r.under[0], r.n[0]), share(s.under[0], s.n[0]))
	}
}

// ownBound adds the numbers of questions that a catalog's own bounds refuse.
func ownBound(ctx context.Context, rows map[float64]*refused, entries []retrieve.Entry,
	questions []retrieve.Question,
) error {
	if len(questions) == 0 {
		return nil
	}
	o := retrieve.Default()
	own, err := retrieve.ExampleConfidences(ctx, o, entries)
	if err != nil {
		return err
	}
	x, err := retrieve.New(ctx, o, entries)
	if err != nil {
		return err
	}
	obs, err := x.Observe(ctx, "", questions)
	if err != nil {
		return err
	}
	for _, s := range ownShares() {
		bound, _ := retrieve.ConfidenceBound(own, s)
		r := rows[s]
		if r == nil {
			r = &refused{}
			rows[s] = r
		}
		for i := range obs {
			r.add(obs[i], bound)
		}
	}
	return nil
}

// barSmallTalk is the largest share of answerable questions that the shipped rules may mistake for small
// talk.
const barSmallTalk = 0.001

// smallTalk prints how often the shipped rules call questions small talk: the small talk of CLINC150, its
// other questions, and questions for tools, where this must almost never happen.
func smallTalk(c *proof.Check, sets []benchmark, asked []clinc.Row) error {
	set, err := retrieve.DefaultRules()
	if err != nil {
		return err
	}
	rules, err := retrieve.NewRules(set)
	if err != nil {
		return err
	}
	var talk, others, fits counted
	for _, row := range asked {
		to := &others
		if row.Route == "small_talk" {
			to = &talk
		}
		to.add(rules.Route(row.Query).Route == "smalltalk")
	}
	for i := range sets {
		if strings.HasSuffix(sets[i].name, "+instruction") {
			continue
		}
		for _, q := range sets[i].questions {
			fits.add(rules.Route(q.text).Route == "smalltalk")
		}
	}
	c.Due(promises, 1, "the bar of the rules")
	c.Compare(promises, "questions that tools fit taken for small talk",
		float64(fits.x) <= barSmallTalk*float64(fits.n), "%d of %d, at most %.1f %%", fits.x, fits.n, 100*barSmallTalk)
	c.Printf(
		"\nthe route smalltalk by the shipped rules: CLINC150 to measure on, small talk %s  all else there %s  questions that tools fit, all sets %s\n", share(talk.x, talk.n), share(others.x, others.n), share(fits.x, fits.n))
	return nil
}

type counted struct{ x, n int }

func (c *counted) add(is bool) {
	c.n++
	if is {
		c.x++
	}
}
