// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes

import (
	"encoding/json"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/tune"
	"github.com/callvet/callvet/stats"
)

// Kind is what a search changes.
type Kind string

// The kinds.
const (
	Params Kind = "param_tune"
	Prompt Kind = "prompt_tune"
	// OfWeights is a search for weights of a catalogue: it has Weights, and neither models nor parts.
	OfWeights Kind = "weights_tune"
)

// The parts of searches, which package tune declares.
type (
	// Matrix has the state of each combination.
	Matrix = tune.Matrix
	// Confirmation compares the best candidate with the base on the held-out cases.
	Confirmation = tune.Confirmation
)

// The defaults of requests, and the state of a combination that is sent as written.
const (
	DefaultShare       = tune.DefaultShare
	DefaultTrials      = tune.DefaultTrials
	DefaultPopulation  = tune.DefaultPopulation
	MinPopulation      = tune.MinPopulation
	DefaultGenerations = tune.DefaultGenerations
	DefaultSelection   = tune.DefaultSelection
	StatusKept         = tune.StatusKept
)

// Modes returns the modes of a kind of searches, the default first.
func Modes(of Kind) []string {
	if of == Params {
		return tune.Modes()
	}
	var out []string
	for _, m := range tune.PromptModes() {
		out = append(out, string(m))
	}
	return out
}

// Presets are the shipped spaces, by name.
func Presets() (out []string) {
	for _, p := range tune.Presets() {
		out = append(out, p.Name)
	}
	return out
}

// Request requests a search. Run has the suite, the models (Targets), the attempts at a case and
// the limits of the whole search.
type Request struct {
	Kind Kind           `json:"kind"`
	Run  app.RunRequest `json:"run"`
	// Space is a file with the values of parameters, Preset a shipped one, SpaceText the values in JSON with
	// those of single models in ModelSpaces.
	Space string `json:"space,omitempty"`
	// SpaceContent is the content of the file when the search began.
	SpaceContent []byte          `json:"space_content,omitempty"`
	Preset       string          `json:"preset,omitempty"`
	SpaceText    json.RawMessage `json:"search_space,omitempty"`
	ModelSpaces  json.RawMessage `json:"per_model_search_spaces,omitempty"`
	// Mode is one of tune.Modes or tune.PromptModes; "": the first one.
	Mode string `json:"optimization_mode,omitempty"`
	// Trials is how many combinations the modes other than grid try; 0: tune.DefaultTrials.
	Trials int `json:"n_trials,omitempty"`
	// NoRace runs all training cases for each candidate.
	NoRace bool `json:"no_race,omitempty"`
	// Meta is the model that writes prompts.
	Meta *app.TargetSpec `json:"meta,omitempty"`
	// Population, Generations and Selection: see tune.EvolveConfig; 0: its defaults.
	Population  int     `json:"population,omitempty"`
	Generations int     `json:"generations,omitempty"`
	Selection   float64 `json:"selection_ratio,omitempty"`
	// Holdout is the share of the families of cases that the search does not see; 0: tune.DefaultShare.
	Holdout float64 `json:"holdout,omitempty"`
	// Margin is the least improvement that counts, in [0,1).
	Margin float64 `json:"margin,omitempty"`
	// Metric is the metric to maximize; "": pass_rate.
	Metric string `json:"metric,omitempty"`
	// MaxSeconds is the time limit of the search; 0: no limit.
	MaxSeconds float64 `json:"max_seconds,omitempty"`
	// SuiteID and Experiment are ids on a server; "": none.
	SuiteID    string `json:"suite_id,omitempty"`
	Experiment string `json:"experiment_id,omitempty"`
}

// State is the state of a search.
type State string

// The states. A search that lost its process is interrupted.
const (
	Running     State = "running"
	Interrupted State = "interrupted"
	Cancelled   State = "cancelled"
	Failed      State = "failed"
	Done        State = "done"
)

// The outcomes of a search without a confirmation.
const (
	// Searching: the search is not over.
	Searching tune.Outcome = ""
	// BaseBest: no candidate was better than the base on the training cases.
	BaseBest tune.Outcome = "base_best"
	// Unconfirmed: the limits left no room for the confirmation.
	Unconfirmed tune.Outcome = "not_confirmed"
)

// Tune is a search with its results so far.
type Tune struct {
	Format  string    `json:"format"` // callvet.tune
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Kind    Kind      `json:"kind"`
	State   State     `json:"status"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Suite   string    `json:"suite_name"`
	// SuiteHash is the stored suite of all its runs.
	SuiteHash string   `json:"suite_hash"`
	Request   *Request `json:"request,omitempty"`
	Metric    string   `json:"metric"`
	Cases     Cases    `json:"cases"`
	// Use is the number, from 1, of the first confirmation among the uses of the suite's held-out
	// cases; 0: they were not used.
	Use    int           `json:"holdout_use"`
	Models []ModelSearch `json:"models"`
	Spent  Spent         `json:"spent"`
	// Runs are the ids of its parts, in their order.
	Runs  []string `json:"runs"`
	Notes []string `json:"notes,omitempty"`
	// Problem is why the search failed.
	Problem string `json:"problem,omitempty"`
	// Promoted is the run to which the confirmed winner was promoted; "": none.
	Promoted string   `json:"promoted_eval_id,omitempty"`
	Weights  *Weights `json:"weights,omitempty"`
	// Halves are the sides of the cases. Reports leave them out.
	Halves *tune.Halves `json:"halves,omitempty"`
}

// Cases counts the cases of the suite by their part in the search.
type Cases struct {
	Train           int `json:"train"`
	TrainFamilies   int `json:"train_families"`
	Holdout         int `json:"holdout"`
	HoldoutFamilies int `json:"holdout_families"`
	// Regressions are constraints: a winner passes those that the base passes.
	Regressions int `json:"regressions"`
	// Skipped and Rubrics are left out: the suite skips them, or only a judge decides them.
	Skipped int `json:"skipped"`
	Rubrics int `json:"rubrics"`
	// Few is why no winner can be confirmed; "": there are enough families.
	Few string `json:"few,omitempty"`
}

// ModelSearch is the search for one model.
type ModelSearch struct {
	Model string `json:"model"`
	// Names are the parameters that vary, Matrix the combinations of their values.
	Names  []string     `json:"names,omitempty"`
	Matrix *tune.Matrix `json:"matrix,omitempty"`
	// Candidates are the candidates that ran, the base first.
	Candidates []Candidate `json:"candidates"`
	// Best is the number of the best candidate on the training cases, Alike are those that cannot
	// be distinguished from it, Front those that no other candidate beats in score, length and cost
	// at once.
	Best  int   `json:"best"`
	Alike []int `json:"alike"`
	Front []int `json:"front,omitempty"`
	// Failures are unusable answers of the model that writes prompts.
	Failures []tune.Failure `json:"failures,omitempty"`
	// Ended is why the search ended early; "": it did not.
	Ended string `json:"ended,omitempty"`
	// EndedAt is the number of the parts when it ended.
	EndedAt int `json:"ended_at,omitempty"`
	// Confirmation compares the best candidate with the base on the held-out cases; nil: they were not.
	Confirmation *tune.Confirmation `json:"confirmation"`
	// ConfirmRun is the run of the confirmation.
	ConfirmRun string       `json:"confirm_eval_id,omitempty"`
	Outcome    tune.Outcome `json:"outcome"`
	// Sentence is the result in words.
	Sentence string `json:"sentence"`
}

// Candidate is a combination of parameters, or a prompt.
type Candidate struct {
	// N is its number; 0 is the base.
	N    int            `json:"n"`
	Name string         `json:"name"`
	Spec app.TargetSpec `json:"config"`
	// Values are the values of the search's Names.
	Values []json.RawMessage `json:"values,omitempty"`
	// Prompt, Parent, Mutation, Generation and Note describe a prompt.
	Prompt     string        `json:"prompt,omitempty"`
	Parent     *int          `json:"parent,omitempty"`
	Mutation   tune.Mutation `json:"mutation,omitempty"`
	Generation int           `json:"generation,omitempty"`
	Note       string        `json:"note,omitempty"`
	// Tasks is how many training cases it ran, Score the mean over them. The best was chosen by
	// that score, which is therefore too high on average.
	Tasks int             `json:"tasks"`
	Score *stats.Interval `json:"score"`
	// Dropped is why it was dropped, Broken the constraint that it breaks.
	Dropped *tune.Drop `json:"dropped,omitempty"`
	Broken  string     `json:"broken,omitempty"`
	// Attempts counts its attempts, Lost those without an outcome. The means are over attempts with
	// a known value.
	Attempts  int      `json:"attempts"`
	Lost      int      `json:"lost,omitempty"`
	CostUSD   *float64 `json:"cost_usd_per_attempt"`
	LatencyMS *float64 `json:"latency_ms"`
}

// Spent is the usage of all parts of a search.
type Spent struct {
	callvet.Spent
	Seconds float64 `json:"seconds"`
}

// Winner is the confirmed winner of a model's search; nil: there is none.
func (m *ModelSearch) Winner() *Candidate {
	if m.Outcome != tune.Promoted {
		return nil
	}
	return m.CandidateOf(m.Best)
}

// CandidateOf finds a candidate by its number; nil: it did not run.
func (m *ModelSearch) CandidateOf(n int) *Candidate {
	for i := range m.Candidates {
		if m.Candidates[i].N == n {
			return &m.Candidates[i]
		}
	}
	return nil
}
