// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet/retrieve/bm25"
	"github.com/callvet/callvet/retrieve/text"
	"github.com/callvet/callvet/stats/tally"
)

// reference is what bm25s finds with its own tokenizer, as recorded with the data:
// figures in [0,1] by subset and question, "apibank|query_only".
type reference struct {
	Results map[string]map[string]float64
}

func readReference(sets string) (*reference, error) {
	b, err := os.ReadFile(filepath.Join(sets, "toolret_subsets", "bm25s_reference.json"))
	if err != nil {
		return nil, fmt.Errorf("read recorded figures: %w", err)
	}
	var r reference
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("read recorded figures: %w", err)
	}
	return &r, nil
}

// of gives a figure of a benchmark, "toolret/apibank query" or "… query+instruction".
func (r *reference) of(name, figure string) (float64, error) {
	subset, question, _ := strings.Cut(strings.TrimPrefix(name, "toolret/"), " ")
	key := subset + "|query_only"
	if question == "query+instruction" {
		key = subset + "|with_instruction"
	}
	x, ok := r.Results[key][figure]
	if !ok {
		return 0, fmt.Errorf("read recorded figures: there is no %s of %s", figure, key)
	}
	return x, nil
}

const (
	// referenceTolerance is half of the last digit recorded.
	referenceTolerance = 0.5e-5
	scoreTolerance     = 1e-5
)

// referenceIndex is BM25 as bm25s has it: one field, Lucene's formula.
func referenceIndex(b benchmark) (*bm25.Index, error) {
	x, err := bm25.New(bm25.Options{K1: 1.5, Fields: []bm25.Field{{Name: "text", Weight: 1, B: 0.75}}})
	if err != nil {
		return nil, err
	}
	docs := make([]bm25.Document, len(b.documents))
	for i, d := range b.documents {
		docs[i] = bm25.Document{ID: b.entries[i].ID, Fields: [][]string{text.Reference(d)}}
	}
	return x, x.Update(docs, nil)
}

// addReference fills in what the reference finds, where no run is recorded.
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
		for _, h := range x.Search(bm25.Words(text.Reference(q.text)), 10) {
			q.reference = append(q.reference, x.ID(h.Doc))
		}
	}
	return nil
}

// BM25 holds the index with the reference tokenizer against recorded figures,
// and every single score that was recorded.
func BM25(out io.Writer, data string) (bool, error) {
	sets, err := toolRet(filepath.Join(data, "sets"))
	if err != nil {
		return false, err
	}
	ref, err := readReference(filepath.Join(data, "sets"))
	if err != nil {
		return false, err
	}
	good, figures := 0, 1
	for i := range sets {
		b := &sets[i]
		if err := addReference(b); err != nil {
			return false, err
		}
		for _, k := range []int{5, 10} {
			right, err := b.holds(out, ref, k)
			if err != nil {
				return false, err
			}
			good += right
			figures += 2
		}
	}
	scores, worst, err := recordedScores(sets[0], filepath.Join(data, "sets", "toolret_subsets", "open", "apibank", "bm25s_recorded_scores.jsonl.gz"))
	if err != nil {
		return false, err
	}
	mark := "WRONG"
	if scores > 0 && worst <= scoreTolerance {
		mark = "ok"
		good++
	}
	fmt.Fprintf(out, "%-5s %d recorded scores of single tools, largest difference %.1g\n", mark, scores, worst)
	fmt.Fprintf(out, "bm25: %d of %d figures right\n", good, figures)
	return good == figures, nil
}

// holds compares NDCG and recall of the first k tools with the recorded figures, and
// gives how many are right.
func (b *benchmark) holds(out io.Writer, ref *reference, k int) (right int, err error) {
	ndcg, recall := 0.0, 0.0
	for _, q := range b.questions {
		r, _ := tally.Rank(q.relevant, q.reference, k)
		ndcg += r.NDCG / float64(len(b.questions))
		recall += r.Recall / float64(len(b.questions))
	}
	for _, f := range []struct {
		name string
		own  float64
	}{{"NDCG", ndcg}, {"Recall", recall}} {
		want, err := ref.of(b.name, fmt.Sprintf("%s@%d", f.name, k))
		if err != nil {
			return 0, err
		}
		mark := "WRONG"
		if math.Abs(f.own-want) <= referenceTolerance+1e-12 {
			mark = "ok"
			right++
		}
		fmt.Fprintf(out, "%-5s %-46s %4d questions %4d tools  %s@%d %.5f  recorded %.5f\n", mark, b.name, len(b.questions), len(b.entries), f.name, k, f.own, want)
	}
	return right, nil
}

// recordedScores compares with the scores that the library itself gave.
func recordedScores(b benchmark, path string) (n int, worst float64, err error) {
	x, err := referenceIndex(b)
	if err != nil {
		return 0, 0, err
	}
	texts := map[string]string{}
	for _, q := range b.questions {
		texts[q.id] = q.text
	}
	err = readLines(path, func(row struct {
		ID     string
		Scores [][2]json.RawMessage
	},
	) error {
		own := map[string]float64{}
		x.Visit(bm25.Words(text.Reference(texts[row.ID])), func(doc int, score float64) { own[x.ID(doc)] = score })
		for _, s := range row.Scores {
			var id string
			var score float64
			if err := json.Unmarshal(s[0], &id); err != nil {
				return fmt.Errorf("read scores: %w", err)
			}
			if err := json.Unmarshal(s[1], &score); err != nil {
				return fmt.Errorf("read scores: %w", err)
			}
			n++
			worst = max(worst, math.Abs(own[id]-score))
		}
		return nil
	})
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil
	}
	return n, worst, err
}
