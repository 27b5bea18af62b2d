// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/stats/gate"
)

// Until are the gates that end a run when they are decided.
type Until struct {
	// Source is the name of the gates, Gates their text.
	Source string `json:"source"`
	Gates  []byte `json:"gates"`
	// Baseline is the id of the run for gates with a baseline; "": there is none.
	Baseline string `json:"baseline,omitempty"`
	// Ledger is a file that stores the looks at the gates; "": the store does.
	Ledger string `json:"ledger,omitempty"`
}

// Read returns the gates. Each may be looked at any number of times.
func (u *Until) Read() (*suite.GateFile, error) {
	file, problems := suite.ReadGates(u.Source, u.Gates)
	if len(problems) > 0 {
		return nil, &BadGatesError{problems}
	}
	file.LookAnyTime()
	return file, nil
}

// Check finds errors in gates before the run begins, so that they cost no request.
func (r *Run) Check(file *suite.GateFile) error {
	keys, err := r.Keys()
	if err != nil {
		return err
	}
	var targets []string
	for i := range r.Manifest.Targets {
		targets = append(targets, r.Manifest.Targets[i].Name)
	}
	if problems := gates.Check(file.Gates, targets, keys); len(problems) > 0 {
		return &BadGatesError{problems}
	}
	return nil
}

// Keys lists the slice keys for gates of the run: tags, tiers, and the fields of cases, by their
// own names and by their names in tables.
func (r *Run) Keys() ([]string, error) {
	keys := map[string]bool{"tag": true, "tier": true}
	var err error
	for c := range r.Chosen(&err) {
		for key := range c.Fields {
			keys[key] = true
		}
		for _, s := range steps.SlicesOf([]string{"*"}, steps.SliceLine{Tags: c.Tags, Fields: c.Fields}) {
			keys[s[0]] = true
		}
	}
	return slices.Sorted(maps.Keys(keys)), err
}

// SliceKeys are the keys that gates slice by.
func SliceKeys(gs []gates.Gate) []string {
	keys := []string{}
	for i := range gs {
		if k := gs[i].Key; k != "" && k != gates.KeyCase && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// Order lists the positions of the cases of the run, shuffled by its seed. Gates look at the cases
// in this order, and a run until they are decided runs them in this order. n is how many cases the
// suite has.
func (m *Manifest) Order(n int) []int {
	order := slices.Clone(m.Cases)
	if order == nil {
		order = make([]int, n)
		for i := range order {
			order[i] = i
		}
	}
	return shuffled(order, func(at int) string { return fmt.Sprintf("order %d %d", m.Seed, at) })
}

// Shuffled puts the tasks of a trace file in an order that does not depend on their records.
func Shuffled(ids []string) []string {
	return shuffled(ids, func(id string) string { return id })
}

// shuffled sorts things by the hash of their key, which is the same in each version of the program.
func shuffled[T cmp.Ordered](list []T, key func(T) string) []T {
	rank := make(map[T]uint64, len(list))
	for _, x := range list {
		sum := sha256.Sum256([]byte(key(x)))
		rank[x] = binary.BigEndian.Uint64(sum[:])
	}
	slices.SortFunc(list, func(a, b T) int { return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(a, b)) })
	return list
}

// among streams the attempts of Among.
func (r *Run) among(ctx context.Context) iter.Seq2[report.Row, error] {
	return func(yield func(report.Row, error) bool) {
		for places := range slices.Chunk(r.Among, store.MostPlaces) {
			for row, err := range r.Rows(ctx, store.Filter{Order: store.ByCase, At: places}) {
				if !yield(row, err) {
					return
				}
			}
		}
	}
}

// Ordered lists the cases of the run in Order. They are read in the order of the suite, which is faster.
func (r *Run) Ordered() ([]*callvet.Case, error) {
	order := r.Manifest.Order(r.CaseLines.Len())
	cases, place := make([]*callvet.Case, len(order)), make(map[int]int, len(order))
	for i, at := range order {
		place[at] = i
	}
	for _, at := range slices.Sorted(slices.Values(order)) {
		c, err := r.CaseLines.Case(at)
		if err != nil {
			return nil, err
		}
		cases[place[at]] = c
	}
	return cases, nil
}

// Ids lists the ids of the cases of the run in Order.
func (r *Run) Ids() ([]string, error) {
	cases, err := r.Ordered()
	ids := make([]string, len(cases))
	for i, c := range cases {
		ids[i] = c.ID
	}
	return ids, err
}

// Asked counts the complete cases at the beginning of the order, by target, of an unfinished run
// until its gates are decided; nil for other runs. A case is complete when all attempts at it are
// over. The other cases are not lost: they will still run.
func (r *Run) Asked(ctx context.Context) (map[string]int, error) {
	if r.Manifest.Until == nil || r.Stored.Status == store.StatusDone {
		return nil, nil
	}
	over := make([]map[int]int, len(r.Manifest.Targets))
	for i := range over {
		over[i] = map[int]int{}
	}
	for c, err := range r.DB.DoneCells(ctx, r.Stored.ID) {
		if err != nil {
			return nil, err
		}
		if c.Target < len(over) && (c.Result.Verdict != callvet.VerdictNotRun || Skipped(c)) {
			over[c.Target][c.Case]++
		}
	}
	out, order := map[string]int{}, r.Manifest.Order(r.CaseLines.Len())
	for i := range over {
		n := slices.IndexFunc(order, func(at int) bool { return over[i][at] < r.Manifest.RepeatsOf(at) })
		if n < 0 {
			n = len(order)
		}
		out[r.Manifest.Targets[i].Name] = n
	}
	return out, nil
}

// Skipped reports whether an attempt did not run because its case is to be skipped.
func Skipped(c *callvet.Cell) bool {
	return c.Result.Verdict == callvet.VerdictNotRun && c.Trace.End == callvet.EndSkipped
}

// Sequenced are the metrics of gates that are decided task by task.
func Sequenced(gs []gates.Gate) []string {
	var out []string
	for i := range gs {
		if _, why := gs[i].Sequence(gate.Alpha); why == "" && !slices.Contains(out, gs[i].Metric) {
			out = append(out, gs[i].Metric)
		}
	}
	return out
}

// valuesOf lists the values of a key that a case has, by the rules of the tables.
func valuesOf(c *callvet.Case, key string) (out []string) {
	of := steps.SliceLine{Tags: c.Tags, Fields: trace.FieldsOf(c, nil), Expected: c.Expect.Tools()}
	for _, s := range steps.SlicesOf([]string{key}, of) {
		if s[0] == key {
			out = append(out, s[1])
		}
	}
	return out
}

// InSlice reports whether a case is in the slice of a key; an empty key is all cases.
func InSlice(c *callvet.Case, key, value string) bool {
	return key == "" || slices.Contains(valuesOf(c, key), value)
}

// OfCases reports whether the slices of a key are known for cases that did not run. Slices of
// expected and of called tools are not, nor are crossed slices.
func OfCases(key string) bool {
	switch key {
	case callvet.SliceExpectedTool, callvet.SliceCalledTool, "tool_family", "api_version":
		return false
	}
	return !strings.Contains(key, "*")
}

// ValuesOf lists the values of the slices of a gate: its own, or those of the cases, sorted.
func ValuesOf(cases iter.Seq[*callvet.Case], g *gates.Gate) []string {
	if g.Value != gates.Every {
		return []string{g.Value}
	}
	seen := map[string]bool{}
	for c := range cases {
		for _, v := range valuesOf(c, g.Key) {
			seen[v] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Early returns the names of the targets that did not run all cases, because their gates were
// decided.
func (r *Run) Early() map[string]bool {
	out := map[string]bool{}
	for i, t := range r.early() {
		if t.LeftOut > 0 {
			out[r.Manifest.Targets[i].Name] = true
		}
	}
	return out
}

// early counts the attempts of the targets of a run until its gates are decided; nil for other
// runs, and for a run that continues.
func (r *Run) early() []run.Totals {
	var sum run.Summary
	if r.Manifest.Until == nil || len(r.Stored.Totals) == 0 || json.Unmarshal(r.Stored.Totals, &sum) != nil {
		return nil
	}
	return sum.Targets[:min(len(sum.Targets), len(r.Manifest.Targets))]
}

// Descriptive returns warnings for targets of a run that ended when their gates were decided: its
// end depended on the numbers.
func (r *Run) Descriptive() (out []string) {
	for i, t := range r.early() {
		if t.LeftOut > 0 {
			out = append(out, fmt.Sprintf(
				"%s was asked until its gates were decided, %s of %s: its intervals are descriptive",
				r.Manifest.Targets[i].Name, plain.Thousands(t.Done), plain.Count(t.Total, "attempt", "attempts")))
		}
	}
	return out
}
