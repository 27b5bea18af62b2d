// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/callvet/callvet/internal/sys"
)

// maxText is how much of a tool's text is compared, in bytes.
const maxText = 16 << 10

// Likeness is the similarity of the texts of tools: cosines of vectors of the spelling of their
// names, descriptions, keywords and examples. Synonyms are not detected.
type Likeness struct{ m VectorMatrix }

// NewLikeness reads the texts of tools, the first 16 KiB of each, without weights of a model.
func NewLikeness(ctx context.Context, entries []Entry) (*Likeness, error) {
	all := make([]string, len(entries))
	for i := range entries {
		all[i] = entries[i].EmbeddingText()
		if len(all[i]) > maxText {
			all[i] = strings.ToValidUTF8(all[i][:maxText], "")
		}
	}
	vs, err := FitNGram(NGramWidth, NewAnalyzer().Content, all).Embed(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("compare tools: %w", err)
	}
	var l Likeness
	for _, v := range vs {
		if err := l.m.Append(v); err != nil {
			return nil, fmt.Errorf("compare tools: %w", err)
		}
	}
	return &l, nil
}

// Of is the similarity of two tools, by their positions, in [-1,1].
func (l *Likeness) Of(i, j int) float64 { return float64(l.m.Cosine(l.m.Row(i), j)) }

// Blocks of rows are compared with tiles of rows that fit into the cache of a core: reading all
// vectors once for each row would take longer than multiplying them.
const (
	block = 64
	tile  = 256
)

// Nearest are the nearest tools of each tool, at most n, nearest first; ties in order of position.
// It uses a worker for each processor. The error is the context's.
func (l *Likeness) Nearest(ctx context.Context, n int) ([][]int, error) {
	m := &l.m
	tiles := make([]VectorMatrix, (m.Len()+tile-1)/tile)
	for i := range m.Len() {
		if err := tiles[i/tile].Append(m.Row(i)); err != nil {
			return nil, fmt.Errorf("compare tools: %w", err)
		}
	}
	out := make([][]int, m.Len())
	var next atomic.Int64
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	all := sys.Group{Stop: stop}
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			cosines := make([]float32, tile)
			for ctx.Err() == nil {
				from := (int(next.Add(1)) - 1) * block
				if from >= m.Len() {
					return
				}
				rows := make([]top, min(block, m.Len()-from))
				for i := range rows {
					rows[i].most = n
				}
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

// top are the positions of the highest numbers offered so far, highest first.
type top struct {
	most int
	at   []int
	by   []float32
}

// offer adds numbers with positions from base on, except self.
func (p *top) offer(xs []float32, base, self int) {
	for i, x := range xs {
		if len(p.at) == p.most && x <= p.by[p.most-1] || base+i == self {
			continue
		}
		k := len(p.at)
		for k > 0 && x > p.by[k-1] {
			k--
		}
		p.at, p.by = slices.Insert(p.at, k, base+i), slices.Insert(p.by, k, x)
		n := min(len(p.at), p.most)
		p.at, p.by = p.at[:n], p.by[:n]
	}
}
