// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// EvalResult is the result of one target on the cases of one tier and tool. Source: Eval Case
// Interfaces, "EvalSuiteResult".
type EvalResult struct {
	// RunID is the run's id as a UUID, Run is the usual id. Every command accepts either.
	RunID     string `json:"runId"`
	Run       string `json:"run"`
	Timestamp string `json:"timestamp"` // RFC 3339
	// Tier is golden, labeled, regression or rubric, and "" for cases without one.
	Tier callvet.Tier `json:"tier"`
	// ToolName is the tool that the cases were written for: the one that their ids name, or
	// the suite where they name none.
	ToolName string `json:"toolName"`
	// Target is the evaluated target; the document has only one.
	Target            string           `json:"target"`
	Metadata          EvalMetadata     `json:"metadata"`
	StalenessWarnings []string         `json:"stalenessWarnings"`
	Cases             []EvalCaseResult `json:"cases"`
	Summary           EvalSummary      `json:"summary"`
	// BaselineRunID is "" without a baseline; the lists are then empty.
	BaselineRunID string `json:"baselineRunId,omitempty"`
	// Regressions passed in the baseline and fail now, NewPasses the other way round.
	Regressions []string `json:"regressions"`
	NewPasses   []string `json:"newPasses"`
	// Unchanged pass or fail as before. Added and Removed are in one of the runs only. Changed
	// have a different question, and Unjudged have no verdict in one of the runs: neither can be
	// compared.
	Unchanged []string `json:"unchanged"`
	Added     []string `json:"added"`
	Removed   []string `json:"removed"`
	Changed   []string `json:"changed,omitempty"`
	Unjudged  []string `json:"unjudged,omitempty"`
	// Flaky are the cases with passed and failed attempts, on either side.
	Flaky []string `json:"flaky,omitempty"`
	// Verdicts contains, for each compared case, whether its attempts show a change; only where
	// one of the runs has repeats.
	Verdicts []EvalCaseVerdict `json:"verdicts,omitempty"`
	// Quarantined are the cases that count in no gate for a while.
	Quarantined []EvalQuarantined `json:"quarantined,omitempty"`
}

// EvalMetadata is the state of the tool and of the file when the run was made. Texts are ""
// where the suite does not have the tool, or the run came from no file. Hashes are the first
// 12 hexadecimal digits of SHA-256.
type EvalMetadata struct {
	ToolVersion     string `json:"toolVersion"`
	DescriptionHash string `json:"descriptionHash"`
	RegistrySize    int    `json:"registrySize"`
	EvalFileHash    string `json:"evalFileHash"`
}

// EvalCaseResult is the result of one case. Source: Eval Case Interfaces, "EvalCaseResult".
type EvalCaseResult struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	// Passed is true where at least half of the judged attempts passed, as in comparisons, and
	// all of their assertions were evaluated. Otherwise Error names an assertion that was not
	// evaluated, and the case is Unjudged.
	Passed bool `json:"passed"`
	// DurationMS sums the time of the attempts, in milliseconds.
	DurationMS float64 `json:"durationMs"`
	// Error is why an attempt failed, or was not judged; "" where all passed.
	Error   string       `json:"error,omitempty"`
	Details *EvalDetails `json:"details,omitempty"`
}

// EvalDetails describes the first attempt that did not pass, or the first attempt.
type EvalDetails struct {
	// Verdict is the verdict of the attempt: pass, fail, error or not_run.
	Verdict     callvet.Verdict     `json:"verdict"`
	Class       callvet.Class       `json:"class,omitempty"`
	ToolsCalled []string            `json:"toolsCalled"`
	Response    string              `json:"response"`
	Assertions  []callvet.Assertion `json:"assertions,omitempty"`
	// Attempts were made, Judged of them have a verdict, Passes passed.
	Attempts int `json:"attempts"`
	Judged   int `json:"judged"`
	Passes   int `json:"passes"`
	// Whole counts the passes with every assertion evaluated.
	Whole int `json:"whole"`
	// SkippedAssertions counts the assertions that were not evaluated, over all attempts.
	SkippedAssertions int `json:"skippedAssertions,omitempty"`
}

// EvalSummary counts the cases. Total is Passed + Failed + Unjudged.
type EvalSummary struct {
	Total  int `json:"totalCases"`
	Passed int `json:"passed"`
	Failed int `json:"failed"`
	// Unjudged cases ended in errors or did not run, in all of their attempts, or passed with assertions that
	// were not evaluated.
	Unjudged          int     `json:"unjudged"`
	SkippedAssertions int     `json:"skippedAssertions"`
	TotalDurationMS   float64 `json:"totalDurationMs"`
	// EstimatedCostUSD is nil where the cost of an attempt is not known.
	EstimatedCostUSD *float64 `json:"estimatedCostUsd,omitempty"`
}

// EvalCaseVerdict is whether the attempts at a case show a change.
type EvalCaseVerdict struct {
	ID string `json:"id"`
	panel.CaseVerdict
}

// EvalQuarantined is a case that counts in no gate until a day.
type EvalQuarantined struct {
	ID    string `json:"id"`
	Owner string `json:"owner"`
	Until string `json:"until"` // the last day
	// Over: the day is over, so the case counts again.
	Over bool `json:"over,omitempty"`
}
