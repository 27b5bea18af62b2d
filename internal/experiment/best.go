// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package experiment

import (
	"github.com/callvet/callvet/stats"
)

// Result is what one run of an experiment says of one configuration.
type Result struct {
	Run    string
	Target string // its name in the run
	// Config names the configuration: the same one in two runs was asked the same way.
	Config string
	// Suite is the hash of the suite; results of different suites are not compared.
	Suite string
	Score stats.Interval
	// Fresh tells that no answer of an earlier run was used again, Whole that all cases were asked.
	Fresh, Whole bool
	// Floor is an offline target that every model should beat; it is never the best.
	Floor bool
}

// Best is the configuration that an experiment would go on with.
type Best struct {
	Result
	// Confirmed tells that the score is of a run that was made after the configuration had been
	// chosen, and asked everything anew. A configuration that was chosen as the best of several
	// looks better than it is; a fresh run does not.
	Confirmed bool
	// Of is how many configurations were compared.
	Of int
}

// Choose gives the configuration with the highest lower bound of its score. results are in the
// order in which the runs were made; only those of the suite of the last one count, with all its
// cases. The first run of a configuration is what it is chosen by, and a later fresh one takes its
// place as evidence: the latest of these. nil where nothing has a score.
func Choose(results []Result) *Best {
	type evidence struct {
		Result
		fresh bool
	}
	known := map[string]*evidence{}
	var order []string
	suite := ""
	for i := range results {
		if usable(&results[i]) {
			suite = results[i].Suite
		}
	}
	for i := range results {
		r := &results[i]
		if !usable(r) || r.Suite != suite {
			continue
		}
		e := known[r.Config]
		switch {
		case e == nil:
			known[r.Config] = &evidence{Result: *r}
			order = append(order, r.Config)
		case r.Fresh && r.Run != e.Run:
			e.Result, e.fresh = *r, true
		case !e.fresh && r.Score.Lower > e.Score.Lower:
			e.Result = *r
		}
	}
	var best *Best
	for _, config := range order {
		e := known[config]
		if best == nil || e.Score.Lower > best.Score.Lower {
			best = &Best{Result: e.Result, Confirmed: e.fresh, Of: len(order)}
		}
	}
	return best
}

func usable(r *Result) bool {
	return !r.Floor && r.Whole && r.Config != "" && r.Score.Defined()
}
