// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"context"

	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/verify/proof"
)

// labeledShare is the share of answerable questions that a bound may refuse.
const labeledShare = 0.05

// labeledBounds prints the results of a bound that is fitted on the answerable questions of the catalog's
// train half. It uses the holdout half, with and without the domain of their tools. Such a bound
// promises that at most its share of answerable questions is refused: over all sets together, no set
// may be above it beyond chance.
func labeledBounds(ctx context.Context, c *proof.Check, sets []benchmark) error {
	c.Printf("\nbounds of labeled questions: those of the train half, 5 %%, on the holdout half\n")
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
		bound, ok := retrieve.ConfidenceBound(own, labeledShare)
		held, err := ask(holdout)
		if err != nil {
			return err
		}
		var fits, none counted
		for _, confidence := range held {
			fits.add(confidence < bound)
		}
		if domain(&b.entries[0]) != "" {
			err := eachWithout(b, evenly(b.part(holdout), perKind),
				func(stays []retrieve.Entry, asked []retrieve.Question) error {
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
		if ok {
			c.Due(promises, 1, "the sets of the part")
			iv := stats.Wilson(fits.x, fits.n, 1-0.05/float64(len(sets)), stats.TwoSided)
			c.Compare(promises, "answerable questions of "+b.name+" refused by a bound of others",
				iv.Lower <= labeledShare, "%d of %d, at most %.0f %%", fits.x, fits.n, 100*labeledShare)
		}
		few := ""
		if !ok {
			few = " (too few)"
		}
		c.Printf("%-46s %4d questions%s, bound %.3f  answerable refused %s  nothing fits, refused %s\n", b.name,
			len(own), few, bound, share(fits.x, fits.n), share(none.x, none.n))
	}
	return nil
}
