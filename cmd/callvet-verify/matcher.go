// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// conformanceCase is one row of the matcher conformance file: what the author
// wants, what the model did, and the one right verdict.
type conformanceCase struct {
	ID, Title, Want string
	Exp, Act        []namedCall
}

type namedCall struct {
	name string
	args json.RawMessage
}

func (c *namedCall) UnmarshalJSON(b []byte) error {
	var pair [2]json.RawMessage
	if err := json.Unmarshal(b, &pair); err != nil {
		return err
	}
	c.args = pair[1]
	return json.Unmarshal(pair[0], &c.name)
}

// matcher scores every conformance case with the default settings. The file
// says which three cases want an order; all others are unordered.
func matcher(out io.Writer, data string) (bool, error) {
	path := filepath.Join(data, "..", "conformance", "matcher-cases.json")
	b, err := os.ReadFile(path)
	if err != nil {
		return false, fmt.Errorf("read conformance cases: %w", err)
	}
	var rows []conformanceCase
	if err := json.Unmarshal(b, &rows); err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	right := 0
	for _, row := range rows {
		s := &callvet.Suite{Name: "conformance", Cases: []callvet.Case{row.suiteCase()}}
		scorer, problems := score.New(s, score.Config{})
		if len(problems) > 0 {
			return false, problems[0]
		}
		tr := row.trace()
		got := string(scorer.Score(&s.Cases[0], &tr).Verdict)
		mark := "ok"
		if got != row.Want {
			mark = "WRONG"
		} else {
			right++
		}
		fmt.Fprintf(out, "%-5s %-4s want %-4s got %-4s %s\n", mark, row.ID, row.Want, got, row.Title)
	}
	fmt.Fprintf(out, "matcher: %d of %d right\n", right, len(rows))
	return right == len(rows) && len(rows) > 0, nil
}

func (row conformanceCase) suiteCase() callvet.Case {
	plan := callvet.Plan{Calls: []callvet.ExpectedCall{}}
	for _, e := range row.Exp {
		plan.Calls = append(plan.Calls, callvet.ExpectedCall{ID: e.name, Tools: []string{e.name}, Args: e.args})
	}
	switch row.ID {
	case "T13a", "T13b": // a and b in any order, then c
		plan.Calls[2].After = []string{"a", "b"}
	case "T19": // find before buy
		plan.Order = callvet.OrderInOrder
	default: // repeated names would be repeated IDs
		for i := range plan.Calls {
			plan.Calls[i].ID = ""
		}
	}
	return callvet.Case{ID: row.ID, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: row.Title}}, Expect: callvet.Expect{Plans: []callvet.Plan{plan}}}
}

func (row conformanceCase) trace() callvet.Trace {
	turn := callvet.Turn{Role: callvet.RoleAssistant}
	for _, a := range row.Act {
		turn.Calls = append(turn.Calls, callvet.Call{Tool: a.name, Args: a.args})
	}
	tr := callvet.Trace{CaseID: row.ID, Turns: []callvet.Turn{turn}, End: callvet.EndCalled}
	tr.Classify(false)
	return tr
}
