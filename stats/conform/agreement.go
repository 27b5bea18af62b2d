// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"math"

	"github.com/callvet/callvet/stats"
)

func agreement() map[string]Method {
	return map[string]Method{
		"cohen_kappa":        {Run: with(kappa)},
		"gwet_ac1":           {Run: with(ac1), Ignore: []string{"irrCAC"}},
		"krippendorff_alpha": {Run: with(alpha)},
	}
}

type tableInput struct {
	Table      stats.RatingTable
	Confidence float64
}

func kappa(in tableInput) Fields {
	return coefficient("kappa", stats.Kappa(in.Table, stats.Unweighted, in.Confidence))
}

func ac1(in tableInput) Fields { return coefficient("ac1", stats.AC1(in.Table, in.Confidence)) }

func coefficient(name string, a stats.Agreement) Fields {
	if a.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{
		"status": a.Status, "po": a.Observed, "pe": a.Chance, name: a.Point, "se": a.SE, "se0": a.SENull,
		"lower": a.Lower, "upper": a.Upper,
	}
}

func alpha(in struct {
	Ratings [][]*float64
	Level   stats.Level
},
) Fields {
	r := make(stats.Ratings, len(in.Ratings))
	for i, row := range in.Ratings {
		for _, x := range row {
			if x == nil {
				r[i] = append(r[i], math.NaN())
			} else {
				r[i] = append(r[i], *x)
			}
		}
	}
	a, status := stats.Alpha(r, in.Level)
	if status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{"alpha": a, "status": status}
}
