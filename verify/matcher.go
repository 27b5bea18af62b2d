// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/verify/proof"
)

// conformanceCase is one row of the matcher conformance file: the author's requirement, the model's
// calls, and the right verdict.
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

// matcher scores every conformance case with the default settings. The page next to the cases has
// their number and the cases with an order.
func matcher(ctx context.Context, c *proof.Check, d proof.Data) error {
	dir := filepath.Join(d.Root, "..", "conformance")
	page, err := proof.ReadReadme(dir)
	if err != nil {
		return err
	}
	n, err := page.Count("cases")
	if err != nil {
		return err
	}
	c.Due("cases", n, page.Source())
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("read conformance cases: %w: no file of JSON in %s", callvet.ErrNotFound, dir)
	}
	orders := wantedOrders(page.Text())
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read conformance cases: %w", err)
		}
		var rows []conformanceCase
		if err := json.Unmarshal(b, &rows); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		for _, row := range rows {
			s := &callvet.Suite{Name: "conformance", Cases: []callvet.Case{row.suiteCase(orders[row.ID])}}
			scorer, _ := score.New(s, score.Config{}) // without tools
			compiled, problems := scorer.Compile(&s.Cases[0])
			if len(problems) > 0 {
				return problems[0]
			}
			tr := row.trace()
			r, err := compiled.Judge(ctx, &tr)
			if err != nil {
				return err
			}
			got := string(r.Verdict)
			c.Compare("cases", row.ID, got == row.Want, "want %s, got %s: %s", row.Want, got, row.Title)
			c.Printf("%-4s want %-4s got %-4s %s\n", row.ID, row.Want, got, row.Title)
		}
	}
	return nil
}

// wantedOrder requires the calls of each group before the calls of the next group.
type wantedOrder [][]string

// wantedOrders reads the cases with a required order: `T1/T2 want "a and b in any order, then c"` and
// `T3 wants find before buy`. All other cases are unordered.
func wantedOrders(page string) map[string]wantedOrder {
	const ids = `([A-Z]\d+[a-z]?(?:/[A-Z]\d+[a-z]?)*) wants? `
	out := map[string]wantedOrder{}
	add := func(ids string, o wantedOrder) {
		for id := range strings.SplitSeq(ids, "/") {
			out[id] = o
		}
	}
	for _, m := range regexp.MustCompile(ids+
		`"?(\w+(?: and \w+)+) in any order, then (\w+)`).FindAllStringSubmatch(page, -1) {
		add(m[1], wantedOrder{strings.Split(m[2], " and "), {m[3]}})
	}
	for _, m := range regexp.MustCompile(ids+`(\w+) before (\w+)`).FindAllStringSubmatch(page, -1) {
		add(m[1], wantedOrder{{m[2]}, {m[3]}})
	}
	return out
}

func (row conformanceCase) suiteCase(order wantedOrder) callvet.Case {
	plan := callvet.Plan{Calls: []callvet.ExpectedCall{}}
	for _, e := range row.Exp {
		call := callvet.ExpectedCall{Tools: []string{e.name}, Args: e.args}
		for i, group := range order {
			if !slices.Contains(group, e.name) {
				continue
			}
			call.ID = e.name
			if i > 0 {
				call.After = order[i-1]
			}
		}
		plan.Calls = append(plan.Calls, call)
	}
	return callvet.Case{
		ID: row.ID, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: row.Title}},
		Expect: callvet.Expect{Plans: []callvet.Plan{plan}},
	}
}

func (row conformanceCase) trace() callvet.Trace {
	turn := callvet.Turn{Role: callvet.RoleAssistant}
	for _, a := range row.Act {
		turn.Calls = append(turn.Calls, callvet.Call{Tool: a.name, Args: a.args})
	}
	tr := callvet.Trace{CaseID: row.ID, Turns: []callvet.Turn{turn}, End: callvet.EndCalled}
	tr.Classify("")
	return tr
}
