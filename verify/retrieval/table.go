// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/verify/proof"
)

const (
	confidence = 0.95
	rho0       = 0.5
)

// preset is a named ranking.
type preset struct {
	name    string
	options retrieve.Options
}

func presets() []preset {
	lexical := retrieve.Default()
	lexical.Offline, lexical.VectorWeight = 0, 0
	words := lexical
	words.Forms.Inflection, words.Forms.Compound, words.Forms.Misspelling = 0, 0, 0
	big := retrieve.BigTool()
	big.Primary = [][]string{{}} // every tool: these catalogs have no namespaces of its kind
	return []preset{{"default", retrieve.Default()}, {"no vectors", lexical}, {"no forms", words}, {"bigtool", big}}
}

// row has the results of one ranking for the questions of one set.
type row struct {
	name     string
	rankings []stats.Ranking
	clusters []int
}

// Table prints for every set and preset the quality of the first ten tools, on all questions and on the
// held-out ones, with the BM25 reference and the paired difference. The default preset must be
// above the reference on every set, on all questions and on the held-out ones. The figures of the
// recorded rankings must agree with the published ones.
func Table(ctx context.Context, c *proof.Check, d proof.Data) error {
	sets, err := benchmarks(d)
	c.Problem(err)
	for i := range sets {
		b := &sets[i]
		if err := b.published(c); err != nil {
			return err
		}
		if err := addReference(b); err != nil {
			return err
		}
		all, err := rowsOf(ctx, b)
		if err != nil {
			return err
		}
		for _, h := range []half{"", holdout} {
			above := printSet(c.Out(), b, all, h)
			c.Due(aboveReference, 1, "the sets of the part")
			c.Compare(aboveReference, b.name+", "+orAll(h), above > 0, "NDCG@10 differs by %+.4f", above)
		}
	}
	return nil
}

// aboveReference names the comparisons of the default preset with BM25.
const aboveReference = "default above the BM25 reference"

// published compares the figures of the recorded ranking with its index.
func (b *benchmark) published(c *proof.Check) error {
	if b.ranked == nil {
		return nil
	}
	b.counted(c)
	recorded, err := b.ranked.read()
	if err != nil {
		return err
	}
	run := benchmark{questions: slices.Clone(b.questions)}
	for i := range run.questions {
		q := &run.questions[i]
		ranking, ok := recorded[q.id]
		if !ok {
			return fmt.Errorf("read run of %s: %w: there is no ranking of question %s", b.name,
				callvet.ErrNotFound, q.id)
		}
		q.reference = ranking
	}
	for _, name := range b.ranked.figures.Keys(b.ranked.path...) {
		if own, ok := run.figure(name); ok {
			c.Due(b.name+" figures", 1, b.ranked.figures.Source)
			c.Figure(b.name, b.ranked.figures, own, append(slices.Clone(b.ranked.path), name)...)
		}
	}
	return nil
}

// rowsOf ranks for every question of a set, first by the reference.
func rowsOf(ctx context.Context, b *benchmark) ([]row, error) {
	reference, err := rankings(b.questions, byReference)
	if err != nil {
		return nil, err
	}
	out := []row{{name: "BM25 reference", rankings: reference}}
	for _, p := range presets() {
		x, err := retrieve.New(ctx, p.options, b.entries)
		if err != nil {
			return nil, err
		}
		rs, err := rankings(b.questions, byIndex(ctx, x))
		if err != nil {
			return nil, err
		}
		out = append(out, row{name: p.name, rankings: rs})
	}
	return out, nil
}

// printSet prints the rows for one half of the questions, or for all, and returns the difference of the
// default preset to the reference.
func printSet(out io.Writer, b *benchmark, rows []row, h half) (above float64) {
	questions := b.part(h)
	clusters := clustersOf(questions)
	fmt.Fprintf(out, "\n%s, %s: %d questions, %d sets of right tools, %d tools\n", b.name, orAll(h), len(questions),
		len(slices.Compact(slices.Sorted(slices.Values(clusters)))), len(b.entries))
	fmt.Fprintf(out, "  %-14s %7s %7s %7s %7s  %-22s %s\n", "", "hit@1", "hit@10", "recall", "MRR", "NDCG@10 [95%]",
		"against BM25: difference [95%], p")
	var reference []stats.Ranking
	for i, r := range rows {
		part := row{name: r.name, clusters: clusters}
		for k := range b.questions {
			if h == "" || b.questions[k].half() == h {
				part.rankings = append(part.rankings, r.rankings[k])
			}
		}
		difference := part.print(out, reference)
		if i == 0 {
			reference = part.rankings
		}
		if r.name == "default" {
			above = difference
		}
	}
	return above
}

// orAll names a half, "" for all questions.
func orAll(h half) string {
	if h == "" {
		return "all questions"
	}
	return string(h)
}

// clustersOf numbers the sets of right tools: questions for the same tools are one cluster.
func clustersOf(questions []question) []int {
	numbers := map[string]int{}
	out := make([]int, len(questions))
	for i := range questions {
		k := questions[i].goldKey()
		n, ok := numbers[k]
		if !ok {
			n = len(numbers)
			numbers[k] = n
		}
		out[i] = n
	}
	return out
}

// print writes the row and returns the mean difference to the reference.
func (r row) print(out io.Writer, reference []stats.Ranking) float64 {
	n := float64(len(r.rankings))
	var first, hit, recall, mrr float64
	ndcg, diffs := make([]float64, len(r.rankings)), make([]float64, len(r.rankings))
	for i, k := range r.rankings {
		if k.MRR == 1 {
			first++
		}
		if k.Hit {
			hit++
		}
		recall += k.Recall
		mrr += k.MRR
		ndcg[i] = min(1, k.NDCG)
		if reference != nil {
			diffs[i] = k.NDCG - reference[i].NDCG
		}
	}
	iv := stats.NeffInterval(ndcg, r.clusters, confidence, rho0)
	fmt.Fprintf(out, "  %-14s %7.2f %7.2f %7.2f %7.2f  %-22s", r.name, 100*first/n, 100*hit/n, 100*recall/n, 100*mrr/n,
		interval(iv))
	if reference == nil {
		fmt.Fprintln(out)
		return 0
	}
	d, p := stats.PairedMeanClustered(diffs, r.clusters, confidence)
	how := fmt.Sprintf("p %s", probability(p))
	if exact, ok := stats.SignFlip(diffs); ok {
		how = fmt.Sprintf("p %s (sign flips)", probability(exact))
	}
	fmt.Fprintf(out, " %s, %s\n", signed(d), how)
	return d.Point
}

func interval(iv stats.Interval) string {
	return fmt.Sprintf("%5.2f [%.2f, %.2f]", 100*iv.Point, 100*iv.Lower, 100*iv.Upper)
}

func signed(iv stats.Interval) string {
	return fmt.Sprintf("%+.2f [%+.2f, %+.2f]", 100*iv.Point, 100*iv.Lower, 100*iv.Upper)
}

func probability(p float64) string {
	if p < 0.0001 || math.IsNaN(p) {
		return "< 0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}
