// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

// RunJudges are judges that are asked about a run before its results are shown.
type RunJudges struct {
	// Names are judges that are built in, Models those who judge.
	Names  []string `json:"judge"`
	Models []string `json:"judge_model"`
	// BaseURL is the endpoint of the models, "" for their own.
	BaseURL string `json:"judge_base_url,omitempty"`
	// Under limits the judging to attempts whose automatic score is less, or not known.
	Under *float64 `json:"judge_under,omitempty"`
	// Live asks about each attempt as soon as it is stored, while others run, and not when
	// all are over.
	Live bool `json:"judge_live,omitempty"`
}
