// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package inspect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/callvet/callvet/internal/parallel"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/report/selection"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/text"
	"github.com/callvet/callvet/retrieve/vector"
)

// Confusable are pairs of tools that are easily taken for one another.
type Confusable struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Tools are those compared, Left those that were too many.
	Tools int            `json:"tools"`
	Left  int            `json:"left,omitempty"`
	Pairs []ConfusedPair `json:"pairs"`
	// Observed tells whether a run was read.
	Observed bool `json:"observed"`
}

// ConfusedPair is two tools with the cosine of their texts, in [-1,1], and how often
// a run took either for the other.
type ConfusedPair struct {
	A          string  `json:"a"`
	B          string  `json:"b"`
	Similarity float64 `json:"similarity"`
	Confused   int     `json:"confused"`
}

// maxCompared is how many tools are compared each with each.
const maxCompared = 20_000

// nearest are kept per tool.
const nearest = 5

// FindConfusable gives the pairs whose texts are nearest, and those that were
// confused, most confused first, then the most similar; at most most of them.
func FindConfusable(ctx context.Context, c *retrieve.Catalogue, observed []panel.Confused, most int) (*Confusable, error) {
	out := &Confusable{Format: "callvet.confusable", Version: 1, Observed: observed != nil}
	entries := c.Entries[:min(len(c.Entries), maxCompared)]
	out.Tools, out.Left = len(entries), len(c.Entries)-len(entries)
	m, err := texts(ctx, entries)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i := range entries {
		at[entries[i].Tool.Name] = i
	}
	type key [2]int
	pairs := map[key]int{} // how often confused
	order := func(i, j int) key { return key{min(i, j), max(i, j)} }
	near, err := neighbors(ctx, m)
	if err != nil {
		return nil, err
	}
	for i, js := range near {
		for _, j := range js {
			pairs[order(i, j)] += 0
		}
	}
	for _, o := range observed {
		i, known := at[o.Expected]
		j, also := at[o.Called]
		if known && also && i != j {
			pairs[order(i, j)] += o.N
		}
	}
	for k, n := range pairs {
		out.Pairs = append(out.Pairs, ConfusedPair{A: entries[k[0]].Tool.Name, B: entries[k[1]].Tool.Name, Similarity: float64(m.Cosine(m.Row(k[0]), k[1])), Confused: n})
	}
	slices.SortFunc(out.Pairs, func(a, b ConfusedPair) int {
		return cmp.Or(cmp.Compare(b.Confused, a.Confused), cmp.Compare(b.Similarity, a.Similarity), strings.Compare(a.A, b.A), strings.Compare(a.B, b.B))
	})
	out.Pairs = out.Pairs[:min(len(out.Pairs), most)]
	return out, nil
}

// Rows are compared by blocks with tiles of others that fit into a core's own memory:
// reading all vectors once for each row takes longer than multiplying them.
const (
	block = 64
	tile  = 256
)

// neighbors are the nearest rows of each row, nearest first, of equally near ones the
// first; by as many workers as there are processors.
func neighbors(ctx context.Context, m *vector.Matrix) ([][]int, error) {
	tiles := make([]vector.Matrix, (m.Len()+tile-1)/tile)
	for i := range m.Len() {
		if err := tiles[i/tile].Append(m.Row(i)); err != nil {
			return nil, fmt.Errorf("compare tools: %w", err)
		}
	}
	out := make([][]int, m.Len())
	var next atomic.Int64
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	all := parallel.Group{Stop: stop}
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			cosines := make([]float32, tile)
			for ctx.Err() == nil {
				from := (int(next.Add(1)) - 1) * block
				if from >= m.Len() {
					return
				}
				rows := make([]top, min(block, m.Len()-from))
				for t := range tiles {
					for i := range rows {
						tiles[t].Cosines(m.Row(from+i), cosines[:tiles[t].Len()])
						rows[i].offer(cosines[:tiles[t].Len()], t*tile, from+i)
					}
				}
				for i := range rows {
					out[from+i] = rows[i].at
				}
			}
		})
	}
	all.Wait()
	return out, ctx.Err()
}

// top are the places of the highest numbers offered so far, highest first.
type top struct {
	at []int
	by []float32
}

// offer takes in numbers whose places begin at base, but not that of self.
func (p *top) offer(xs []float32, base, self int) {
	for i, x := range xs {
		if len(p.at) == nearest && x <= p.by[nearest-1] || base+i == self {
			continue
		}
		k := len(p.at)
		for k > 0 && x > p.by[k-1] {
			k--
		}
		p.at, p.by = slices.Insert(p.at, k, base+i), slices.Insert(p.by, k, x)
		n := min(len(p.at), nearest)
		p.at, p.by = p.at[:n], p.by[:n]
	}
}

// maxText is how much of a tool's text is compared, in bytes.
const maxText = 16 << 10

// texts makes vectors of tools without weights of a model.
func texts(ctx context.Context, entries []retrieve.Entry) (*vector.Matrix, error) {
	all := make([]string, len(entries))
	for i := range entries {
		all[i] = entries[i].EmbeddingText()
		if len(all[i]) > maxText {
			all[i] = strings.ToValidUTF8(all[i][:maxText], "")
		}
	}
	vs, err := vector.FitNGram(vector.NGramWidth, text.NewAnalyzer().Content, all).Embed(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("compare tools: %w", err)
	}
	var m vector.Matrix
	for _, v := range vs {
		if err := m.Append(v); err != nil {
			return nil, fmt.Errorf("compare tools: %w", err)
		}
	}
	return &m, nil
}

// JSON writes the pairs.
func (c *Confusable) JSON(w io.Writer) error { return json.NewEncoder(w).Encode(c) }

// Text writes the pairs for people.
func (c *Confusable) Text(w io.Writer) error {
	var b strings.Builder
	head := []string{"similarity", "tool", "tool"}
	if c.Observed {
		head = []string{"similarity", "tool", "tool", "confused in the run"}
	}
	rows := [][]string{head}
	for _, p := range c.Pairs {
		r := []string{fmt.Sprintf("%.3f", p.Similarity), plain.Line(p.A), plain.Line(p.B)}
		if c.Observed {
			r = append(r, plain.Thousands(p.Confused))
		}
		rows = append(rows, r)
	}
	selection.Aligned(&b, rows)
	b.WriteString("Similarity is the cosine of how the words of name, description, keywords and examples are written; synonyms are not seen.\n")
	if c.Left > 0 {
		fmt.Fprintf(&b, "%s tools were not compared: %s is the most.\n", plain.Thousands(c.Left), plain.Thousands(maxCompared))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
