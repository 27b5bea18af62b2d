// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plan

import (
	"github.com/callvet/callvet/stats"
)

// ExperimentResult is the score of one configuration in one run of an experiment.
type ExperimentResult struct {
	Run    string
	Target string // its name in the run
	// Config names the configuration: two runs with the same name have the same settings.
	Config string
	// Suite is the hash of the suite; results of different suites are not compared.
	Suite string
	Score stats.Interval
	// Fresh reports that no answer of an earlier run was reused, Whole that all cases were run.
	Fresh, Whole bool
	// Floor is an offline target that every model should beat; it is never the best.
	Floor bool
}

// ExperimentCandidate is a configuration with the result that represents it in comparisons.
type ExperimentCandidate struct {
	ExperimentResult
	// Confirmed reports that the result is of a later run without reused answers. A configuration
	// that was chosen as the best of several looks better than it is; a fresh run does not.
	Confirmed bool
}

// ExperimentCandidates are the configurations that may be the best, in the order of their runs.
// results are in the order of the runs; only results of the last run's suite count, with all its
// cases. A configuration is compared by its latest fresh run after the first one; without a fresh
// run by the run with the most evidence, whatever its score.
func ExperimentCandidates(results []ExperimentResult) (out []ExperimentCandidate) {
	place := map[string]int{} // of a configuration in out
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
		at, known := place[r.Config]
		switch {
		case !known:
			place[r.Config] = len(out)
			out = append(out, ExperimentCandidate{ExperimentResult: *r})
		case r.Fresh && r.Run != out[at].Run:
			out[at] = ExperimentCandidate{ExperimentResult: *r, Confirmed: true}
		case !out[at].Confirmed && r.Score.NEff > out[at].Score.NEff:
			out[at].ExperimentResult = *r
		}
	}
	return out
}

func usable(r *ExperimentResult) bool {
	return !r.Floor && r.Whole && r.Config != "" && r.Score.Defined()
}
