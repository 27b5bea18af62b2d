// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// BenchmarkSheet sums up a million steps of 222,000 tasks with twelve tools in five slices each,
// and makes the panels; reading and scoring are not included.
func BenchmarkSheet(b *testing.B) {
	const lines = 1_000_000
	r := rand.New(rand.NewPCG(1, 2))
	latency := func(median, sigma float64) float64 { return math.Round(median * math.Exp(sigma*r.NormFloat64())) }
	var docs []value.Doc
	languages := []string{"es-AR", "en-US", "pt-BR", "sv-SE", "de-DE"}
	for i := range 60 {
		docs = append(docs, value.Doc{})
		if err := docs[i].Parse(fmt.Appendf(nil, `["tag%d","%s"]`, i/5/2, languages[i%5])); err != nil {
			b.Fatal(err)
		}
	}
	all := make([]Step, lines)
	for i, task, left, lang := 0, 0, 0, 0; i < lines; i++ {
		if left--; left < 0 {
			task, left, lang = task+1, r.IntN(8), r.IntN(5)
		}
		tool := r.IntN(12)
		s := Step{
			Head: &Head{
				Line: int64(i + 1), TaskID: fmt.Appendf(nil, "t_%09d", task), CallID: fmt.Appendf(nil, "call_%d", i),
				Tags: docs[tool*5+lang].Root(), AcceptMS: latency(200, 0.5), QueueMS: latency(4, 1),
				ExecMS: latency(120, 1),
			},
			Tool: fmt.Appendf(nil, "tool_number_%d@v%d", tool, tool%5+1), Args: r.Uint64() | 1, Result: r.Uint64() | 1,
		}
		for m := range callvet.StepHolds {
			s.Score.Set(m, (r.IntN(40) > 0) == (1<<m&badWhenTrue == 0))
		}
		s.Score.Emitted = uint16(2 + r.IntN(2))
		s.Score.Expected, s.Score.Matched = s.Score.Emitted, s.Score.Emitted-uint16(r.IntN(20)/19)
		if s.Score.True&bitArgs == 0 && s.Score.Matched > 0 {
			s.Score.Matched--
		}
		all[i] = s
	}
	for b.Loop() {
		s := New(Config{})
		w := s.Worker()
		batch := w.Batch()
		for n := 0; n*500 < lines; n++ {
			for i := n * 500; i < min(lines, n*500+500); i++ {
				w.Step(batch, &all[i])
			}
			s.Give(int64(n), batch, func(b *Batch) { batch = b })
			s.Take(w, 0, 1)
		}
		s.Close()
		s.Panels()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/lines, "ns/step")
}
