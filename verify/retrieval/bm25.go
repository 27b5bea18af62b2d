// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

// scoreTolerance is the precision of single scores, which the library computes in 32 bits.
const scoreTolerance = 1e-5

// referenceDepth is the largest number of tools in the recorded figures.
const referenceDepth = 20

// referenceIndex is BM25 as in bm25s: one field, Lucene's formula.
func referenceIndex(b benchmark) (*retrieve.BM25Index, error) {
	x, err := retrieve.NewBM25(
		retrieve.BM25Options{K1: 1.5, Fields: []retrieve.BM25Field{{Name: "text", Weight: 1, B: 0.75}}})
	if err != nil {
		return nil, err
	}
	docs := make([]retrieve.BM25Document, len(b.documents))
	for i, d := range b.documents {
		docs[i] = retrieve.BM25Document{ID: b.entries[i].ID, Fields: [][]string{retrieve.Reference(d)}}
	}
	return x, x.Update(docs, nil)
}

// addReference computes the results of the reference if no run is recorded.
func addReference(b *benchmark) error {
	if len(b.documents) == 0 {
		return nil
	}
	x, err := referenceIndex(*b)
	if err != nil {
		return err
	}
	for i := range b.questions {
		q := &b.questions[i]
		q.reference = nil
		for _, h := range x.Search(retrieve.WordGroups(retrieve.Reference(q.text)), referenceDepth) {
			q.reference = append(q.reference, x.ID(h.Doc))
		}
	}
	return nil
}

// bm25Set names the comparisons with recorded figures.
const bm25Set = "bm25s"

// recordedName is the key of recorded figures: "apibank|query_only".
func (b *benchmark) recordedName() string {
	subset, asked, _ := strings.Cut(strings.TrimPrefix(b.name, "toolret/"), " ")
	if asked == "query+instruction" {
		return subset + "|with_instruction"
	}
	return subset + "|query_only"
}

// BM25 compares the index, with the reference tokenizer, with recorded figures, and
// with every single score that was recorded.
func BM25(_ context.Context, c *proof.Check, d proof.Data) error {
	figures, err := proof.ReadFigures(filepath.Join(d.Set(toolRetSet), "bm25s_reference.json"))
	if err != nil {
		return err
	}
	subsets, err := toolRetSubsets(d)
	if err != nil {
		return err
	}
	c.DueFigures(bm25Set, figures, func(path []string) string {
		if path[0] != results {
			return "they are settings of the reference"
		}
		if subset, _, _ := strings.Cut(path[1], "|"); !slices.Contains(subsets, subset) {
			return "they are of other parts"
		}
		return ""
	})
	sets, err := toolRet(d)
	if err != nil {
		return err
	}
	if err := sound(sets); err != nil {
		return err
	}
	if err := dueScores(c, d, subsets); err != nil {
		return err
	}
	for i := range sets {
		b := &sets[i]
		if err := addReference(b); err != nil {
			return err
		}
		b.counted(c)
		name := b.recordedName()
		for _, figure := range figures.Keys(results, name) {
			if own, ok := b.figure(figure); ok {
				c.Figure(bm25Set, figures, own, results, name, figure)
				c.Printf("%-46s %4d questions %4d tools  %-20s %.5f\n", b.name, len(b.questions), len(b.entries),
					figure, own)
			}
		}
	}
	return recordedScores(c, d, sets)
}

// counted compares the number of questions with the index.
func (b *benchmark) counted(c *proof.Check) {
	c.Due(questionsRead, 1, b.ranked.figures.Source)
	n, err := b.ranked.figures.Count(append(slices.Clone(b.ranked.path), "n_queries")...)
	c.Compare(questionsRead, b.name, err == nil && n == len(b.questions), "%d read, published %d", len(b.questions), n)
}

// questionsRead names the comparisons of the numbers of questions.
const questionsRead = "questions read"

// figure is the mean of a measure over the questions, by the reference ranking:
// "NDCG@5", in the words of either index.
func (b *benchmark) figure(name string) (float64, bool) {
	measure, depth, _ := strings.Cut(name, "@")
	k, err := strconv.Atoi(depth)
	of, known := measures()[strings.ToLower(measure)]
	if err != nil || !known || len(b.questions) == 0 {
		return 0, false
	}
	sum := 0.0
	for _, q := range b.questions {
		r, _ := stats.Rank(q.relevant, q.reference, k)
		sum += of(r)
	}
	return sum / float64(len(b.questions)), true
}

// measures are the measures of a ranking that both callvet and the references have.
func measures() map[string]func(stats.Ranking) float64 {
	share := func(ok bool) float64 {
		if ok {
			return 1
		}
		return 0
	}
	complete := func(r stats.Ranking) float64 { return share(r.Recall == 1) }
	return map[string]func(stats.Ranking) float64{
		"ndcg":      func(r stats.Ranking) float64 { return r.NDCG },
		"recall":    func(r stats.Ranking) float64 { return r.Recall },
		"precision": func(r stats.Ranking) float64 { return r.Precision },
		"hit":       func(r stats.Ranking) float64 { return share(r.Hit) },
		"comp":      complete, "comprehensiveness": complete,
	}
}

// scoresFile is the stem of the file with the scores of the library itself.
const scoresFile = "bm25s_recorded_scores"

// dueScores returns the catalogs that have recorded scores: the page of the set lists them,
// "bm25s_recorded_scores.jsonl.gz (apibank, toolink)".
func dueScores(c *proof.Check, d proof.Data, subsets []string) error {
	page, err := proof.ReadReadme(d.Set(toolRetSet))
	if err != nil {
		return err
	}
	_, list, ok := strings.Cut(page.Text(), scoresFile+".jsonl.gz (")
	list, _, closed := strings.Cut(list, ")")
	if !ok || !closed {
		return fmt.Errorf("read index %s: %w: it does not list the catalogs that have %s", page.Source(),
			callvet.ErrNotFound, scoresFile)
	}
	for name := range strings.SplitSeq(list, ",") {
		if slices.Contains(subsets, strings.TrimSpace(name)) {
			c.Due(scoredQuestions(strings.TrimSpace(name)), 1, page.Source())
		}
	}
	return nil
}

func scoredQuestions(subset string) string { return "bm25s scores of " + subset }

// recordedScores compares scores with those of the library itself, for questions without instruction:
// one row per question.
func recordedScores(c *proof.Check, d proof.Data, sets []benchmark) error {
	for i := range sets {
		b := &sets[i]
		subset, asked, _ := strings.Cut(b.recordedName(), "|")
		path, err := proof.Rows(d.In(toolRetSet, subset, scoresFile))
		if err != nil || asked != "query_only" {
			continue // a due comparison is missing then
		}
		if err := b.recordedScores(c, subset, path); err != nil {
			return err
		}
	}
	return nil
}

func (b *benchmark) recordedScores(c *proof.Check, subset, path string) error {
	x, err := referenceIndex(*b)
	if err != nil {
		return err
	}
	texts := map[string]string{}
	for _, q := range b.questions {
		texts[q.id] = q.text
	}
	n, worst, rows := 0, 0.0, map[string]bool{}
	scores := "bm25s single scores of " + subset
	err = jsonl.Each(path, func(row struct {
		ID     string
		Scores [][2]json.RawMessage
	},
	) error {
		if rows[row.ID] {
			return fmt.Errorf("read scores %s: %w: question %s stands there twice", path, callvet.ErrInvalid, row.ID)
		}
		if rows[row.ID] = true; texts[row.ID] == "" {
			return fmt.Errorf("read scores %s: %w: there is no question %s", path, callvet.ErrNotFound, row.ID)
		}
		own := map[string]float64{}
		x.Visit(retrieve.WordGroups(retrieve.Reference(texts[row.ID])),
			func(doc int, score float64) { own[x.ID(doc)] = score })
		c.Due(scores, len(row.Scores), "its rows")
		for _, s := range row.Scores {
			var id string
			var score float64
			if err := errors.Join(json.Unmarshal(s[0], &id), json.Unmarshal(s[1], &score)); err != nil {
				return fmt.Errorf("read scores: %w", err)
			}
			n++
			off := math.Abs(own[id] - score)
			worst = max(worst, off)
			c.Compare(scores, row.ID+" "+id, off <= scoreTolerance, "%v, recorded %v", own[id], score)
		}
		return nil
	})
	c.Compare(scoredQuestions(subset), "questions", len(rows) == len(b.questions),
		"scores of %d questions, there are %d", len(rows), len(b.questions))
	c.Printf("%s: %d recorded scores of single tools, largest difference %.1g\n", subset, n, worst)
	return err
}
