// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"context"
	"fmt"
	"io"

	"github.com/callvet/callvet/retrieve"
)

// labeledBounds prints what a bound does that comes from answerable questions of the
// catalog itself, those of the train half, on the holdout half and on its questions
// without the domain of their tools.
func labeledBounds(ctx context.Context, out io.Writer, data string) error {
	fmt.Fprintln(out, "\nbounds of labeled questions: those of the train half, 5 %, on the holdout half")
	sets, err := benchmarks(data)
	if err != nil {
		return err
	}
	o := retrieve.Default()
	for i := range sets {
		b := &sets[i]
		x, err := retrieve.New(ctx, o, b.entries)
		if err != nil {
			return err
		}
		ask := func(h half) ([]float64, error) {
			var own []float64
			for _, q := range evenly(b.part(h), perKind) {
				e, err := x.Evidence(ctx, q.text)
				if err != nil {
					return nil, err
				}
				own = append(own, o.Confidence.Probability(e))
			}
			return own, nil
		}
		own, err := ask(train)
		if err != nil {
			return err
		}
		bound, ok := retrieve.ConfidenceBound(own, 0.05)
		held, err := ask(holdout)
		if err != nil {
			return err
		}
		var fits, none counted
		for _, c := range held {
			fits.add(c < bound)
		}
		if domain(&b.entries[0]) != "" {
			err := eachWithout(b, evenly(b.part(holdout), perKind), func(stays []retrieve.Entry, asked []retrieve.Question) error {
				x, err := retrieve.New(ctx, o, stays)
				if err != nil {
					return err
				}
				obs, err := x.Observe(ctx, "", asked)
				for k := range obs {
					none.add(o.Confidence.Probability(obs[k].Evidence) < bound)
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		fmt.Fprintf(out, "%-46s %4d questions, bound %.3f (%v)  answerable refused %s  nothing fits, refused %s\n", b.name, len(own), bound, ok, share(fits.x, fits.n), share(none.x, none.n))
	}
	return nil
}
