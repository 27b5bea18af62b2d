// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"fmt"

	"github.com/callvet/callvet/verify/jsonl"
)

// attemptsOf returns the attempts of a report's trace lines: the case with the number of the attempt,
// the verdict (pass, fail, or how it ended), and the reason.
func attemptsOf(path string, each func(id, verdict, reason string)) error {
	return jsonl.Each(path, func(row struct {
		Type    string `json:"type"`
		Case    string `json:"task_id"`
		Attempt int    `json:"attempt"`
		Outcome string `json:"outcome"`
		Pass    *bool  `json:"pass"`
		Scored  struct {
			Reason string `json:"reason"`
		} `json:"scored"`
		Fault struct {
			Message string `json:"message"`
		} `json:"fault"`
	},
	) error {
		if row.Type != "task" {
			return nil
		}
		verdict := row.Outcome
		if row.Pass != nil {
			verdict = map[bool]string{true: "pass", false: "fail"}[*row.Pass]
		}
		each(fmt.Sprintf("%s/%d", row.Case, row.Attempt), verdict, cmp.Or(row.Scored.Reason, row.Fault.Message))
		return nil
	})
}
