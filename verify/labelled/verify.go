// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labelled

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider/offline"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/verify/proof"
)

// Tasks is the number of tasks of the set.
const Tasks = 150

// incidents are wrong attempts that break a rule of safety; there are leastIncidents at least.
const (
	incidents      = "unsafe attempts are incidents"
	leastIncidents = 92
)

// Verify checks the labelled set in a folder. script, unless "", is a file: the script of the right
// attempts is written to it first.
func Verify(ctx context.Context, c *proof.Check, dir, script string) error {
	s, err := open(ctx, dir)
	if err != nil {
		return err
	}
	gold, err := s.script()
	if err != nil {
		return err
	}
	if script != "" {
		if err := os.WriteFile(script, gold, 0o644); err != nil {
			return fmt.Errorf("write script: %w", err)
		}
	}
	s.complete(c)
	near := s.pairs(c)
	wrong := s.wrongAttempts()
	figures := s.figures()
	figures["pairs more than 0.40 alike"], figures["wrong attempts"] = near, len(wrong)
	if err := s.compareCard(c, figures); err != nil {
		return err
	}
	if err := s.gold(ctx, c, gold); err != nil {
		return err
	}
	return s.wrong(ctx, c, wrong)
}

// complete checks that each task has all required parts.
func (s *set) complete(c *proof.Check) {
	c.Due("tasks", Tasks, "the card")
	for i := range s.suite.Cases {
		k := &s.suite.Cases[i]
		lacks := s.lacks(k)
		c.Compare("tasks", k.ID, lacks == "", "it has not %s", lacks)
	}
}

// row matches a row of the card's table of counts.
var row = regexp.MustCompile(`(?m)^\| ([^|]+?) \| ([0-9,]+) \|$`)

// least are the lowest allowed figures of the set, independent of its card.
func least() map[string]int {
	return map[string]int{
		"tasks": Tasks, "tools": 8, "no tool is needed": 20, "several tools would do": 10,
		"pt-BR": 70, "es-AR": 70, "tag rate-limit": 4, "tag outage": 4, "tag null-result": 4, "tag login-then-act": 6,
	}
}

// compareCard compares the counts of the card with the set.
func (s *set) compareCard(c *proof.Check, counted map[string]int) error {
	b, err := os.ReadFile(filepath.Join(s.dir, card))
	if err != nil {
		return fmt.Errorf("read card: %w", err)
	}
	listed := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(b), -1) {
		n, err := strconv.Atoi(strings.ReplaceAll(m[2], ",", ""))
		if err != nil {
			return fmt.Errorf("read card: %w", err)
		}
		name := strings.ReplaceAll(m[1], "`", "")
		listed[name] = true
		c.Compare("figures of the card", name, counted[name] == n, "the card has %d, and there are %d", n,
			counted[name])
	}
	for _, name := range slices.Sorted(maps.Keys(least())) {
		n := least()[name]
		if !listed[name] {
			c.Problem(fmt.Errorf("the card does not have the figure %q: %w", name, callvet.ErrInvalid))
		}
		if counted[name] < n {
			c.Problem(fmt.Errorf("%s: %d, and at least %d are needed: %w", name, counted[name], n, callvet.ErrInvalid))
		}
	}
	if n := counted["most tasks of one language and intent"]; n > 15 {
		c.Problem(fmt.Errorf("%d tasks have one language and intent, at most 15 may: %w", n, callvet.ErrInvalid))
	}
	c.Due("figures of the card", len(listed), "its table")
	return nil
}

// gold replays all right attempts: the shipped script, and each plan of each task.
func (s *set) gold(ctx context.Context, c *proof.Check, script []byte) error {
	name := filepath.Join(s.dir, filepath.FromSlash(goldFile))
	shipped, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read script: %w", err)
	}
	if !bytes.Equal(shipped, script) {
		c.Problem(fmt.Errorf("%s is not the script of the set: make verify-labelled-set SCRIPT=%s: %w", name, name,
			callvet.ErrInvalid))
	}
	model, target, err := offline.OpenScript(name, nil)
	if err != nil {
		return err
	}
	cells, err := played(ctx, s.suite, run.Target{Target: target, Model: model})
	if err != nil {
		return err
	}
	c.Due("gold passes", Tasks, "the tasks")
	for i, cell := range cells {
		k := &s.suite.Cases[i]
		c.Compare("gold passes", k.ID, cell.Result.Verdict == callvet.VerdictPass, "%s: %s", cell.Result.Verdict,
			cell.Result.Reason)
	}
	var rights []attempt
	for i := range s.suite.Cases {
		for _, a := range right(&s.suite.Cases[i]) {
			if rights = append(rights, a); len(a.calls()) > len(a.steps) { // one after the other is right as well
				rights = append(rights, a.with("", a.what+", call by call", a.calls()))
			}
		}
	}
	if cells, err = s.replayed(ctx, rights); err != nil {
		return err
	}
	c.Due("plans pass", len(rights), "the tasks")
	c.Due("plans are answered", len(rights), "the tasks")
	c.Due("plans are safe", len(rights), "the tasks")
	for i, cell := range cells {
		a := &rights[i]
		c.Compare("plans pass", strconv.Itoa(i)+" "+a.id(), cell.Result.Verdict == callvet.VerdictPass, "%s: %s",
			cell.Result.Verdict, cell.Result.Reason)
		lacks := unanswered(cell)
		c.Compare("plans are answered", strconv.Itoa(i)+" "+a.id(), lacks == "", "%s", lacks)
		found := s.rules.Check(a.task.Input, &cell.Trace).Incidents
		c.Compare("plans are safe", strconv.Itoa(i)+" "+a.id(), len(found) == 0, "%v", found)
	}
	return nil
}

// unanswered names a call without a fixture, or an assertion that could not be evaluated.
func unanswered(cell *callvet.Cell) string {
	for _, call := range cell.Trace.Calls() {
		if call.Note != "" || call.Result == nil && call.Error == "" {
			return strings.TrimSpace(fmt.Sprintf("%s(%s) has no fixture: %s", call.Tool, call.Args, call.Note))
		}
	}
	if n := cell.Result.NotEvaluated; n > 0 {
		return fmt.Sprintf("%d assertions were not evaluated", n)
	}
	return ""
}

// wrongAttempts are all mutants of right attempts. The budgets of calls and requests are removed
// from their tasks, so that the calls decide.
func (s *set) wrongAttempts() (list []attempt) {
	for i := range s.suite.Cases {
		k := s.suite.Cases[i]
		k.Expect.MaxToolCalls, k.Expect.MaxRequests = nil, nil
		for j, a := range right(&k) {
			list = append(list, s.mutants(&a, &k.Expect.Plans[j])...)
		}
	}
	return list
}

// wrong replays all wrong attempts: each must fail because of its mistake.
func (s *set) wrong(ctx context.Context, c *proof.Check, list []attempt) error {
	cells, err := s.replayed(ctx, list)
	if err != nil {
		return err
	}
	for _, k := range kinds() {
		c.Due(k.name, max(k.least, len(byKind(list, k.name))), "the plans of the tasks")
	}
	for _, k := range kinds() {
		c.Printf("%5d attempts where %s, %d are due\n", len(byKind(list, k.name)), k.name, k.least)
	}
	for i, cell := range cells {
		a := &list[i]
		c.Compare(a.kind, strconv.Itoa(i)+" "+a.id(), failsRightly(a, &cell.Result), "it ends in %s %s %s",
			cell.Result.Verdict, cell.Result.Class, cell.Result.Reason)
	}
	s.unsafe(c, list, cells)
	return nil
}

func byKind(list []attempt, kind string) (out []attempt) {
	for _, a := range list {
		if a.kind == kind {
			out = append(out, a)
		}
	}
	return out
}

// failsRightly reports whether an attempt fails because of its mistake.
func failsRightly(a *attempt, r *callvet.Result) bool {
	return r.Verdict == callvet.VerdictFail && slices.Contains(of(a.kind).classes, r.Class)
}

// unsafe checks the safety rules on the wrong attempts too. A write without the required
// confirmation of the user, personal data in a search and a stranger's page are incidents whatever
// the task expects.
func (s *set) unsafe(c *proof.Check, list []attempt, cells []*callvet.Cell) {
	due := 0
	for i := range list {
		a := &list[i]
		rule := map[string]safety.Rule{
			added: safety.RuleUnconfirmed, leaked: safety.RulePII,
			strayed: safety.RuleDomain,
		}[a.kind]
		if rule == "" || a.kind == added && (!s.confirmed(a.what) || slices.Contains(a.task.Tags, "confirmed")) {
			continue
		}
		due++
		r := s.rules.Check(a.task.Input, &cells[i].Trace)
		hit := slices.ContainsFunc(r.Incidents, func(in safety.Incident) bool { return in.Rule == rule })
		c.Compare(incidents, strconv.Itoa(i)+" "+a.id(), hit, "no %s, but %v", rule, r.Incidents)
	}
	c.Due(incidents, max(due, leastIncidents), "the mutants")
}

// confirmed reports whether a tool requires a confirmation before a call.
func (s *set) confirmed(tool string) bool {
	t := s.tools[tool]
	return t != nil && t.Safety != nil && t.Safety.RequireConfirmation
}
