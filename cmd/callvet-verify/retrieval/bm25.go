// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/callvet/callvet/retrieve/bm25"
	"github.com/callvet/callvet/retrieve/text"
	"github.com/callvet/callvet/stats/tally"
)

// referenceRows are the recorded NDCG@10 of bm25s with its own tokenizer: the
// question alone and with its instruction, in percent.
func referenceRows() map[string]float64 {
	return map[string]float64{
		"toolret/apibank query":                         51.67,
		"toolret/apibank query+instruction":             65.19,
		"toolret/gorilla-huggingface query":             23.85,
		"toolret/gorilla-huggingface query+instruction": 39.91,
	}
}

const (
	referenceTolerance = 0.05
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
	good := 0
	for i := range sets {
		b := &sets[i]
		if err := addReference(b); err != nil {
			return false, err
		}
		sum := 0.0
		for _, q := range b.questions {
			r, _ := tally.Rank(q.relevant, q.reference, 10)
			sum += 100 * r.NDCG
		}
		ndcg, want := sum/float64(len(b.questions)), referenceRows()[b.name]
		mark := "WRONG"
		if math.Abs(ndcg-want) <= referenceTolerance {
			mark = "ok"
			good++
		}
		fmt.Fprintf(out, "%-5s %-46s %4d questions %4d tools  NDCG@10 %.2f  recorded %.2f\n", mark, b.name, len(b.questions), len(b.entries), ndcg, want)
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
	fmt.Fprintf(out, "bm25: %d of %d figures right\n", good, len(sets)+1)
	return good == len(sets)+1, nil
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
	if os.IsNotExist(err) {
		return 0, 0, nil
	}
	return n, worst, err
}
