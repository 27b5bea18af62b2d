// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve"
)

// The fields that identify a case that was made for models.
const (
	fieldCase = "of_case"
	fieldSide = "catalogue"
	asItIs    = "as-it-is"
	edited    = "edited"
	both      = "both" // the model would see the same tools on both sides
)

// The beginnings of the descriptions of made suites.
const (
	aboutEdits       = "edits compared with the catalogue as it is: "
	aboutSuggestions = "suggested descriptions: "
)

// MadeByCallvet reports whether a command of this package made a suite of cases for models.
func MadeByCallvet(s *callvet.Suite) bool {
	return strings.HasPrefix(s.Description, aboutEdits) || strings.HasPrefix(s.Description, aboutSuggestions)
}

// ask lets models choose on both sides, in one run: the budget and changes of a model over time
// then apply to both sides.
func (t *trial) ask(ctx context.Context) ([]*Comparison, error) {
	made := &callvet.Suite{
		Name: t.suite.Name + ": what if", Version: t.suite.Version, SystemPrompt: t.suite.SystemPrompt,
		Tools:       Tools(t.catalogue),
		Description: aboutEdits + plain.Names(toolsOf(t)),
		Defaults: callvet.Defaults{
			ToolChoice: t.suite.Defaults.ToolChoice,
			Scoring:    callvet.Scoring{Contract: "off"},
		},
	}
	sides := []struct {
		name string
		c    *retrieve.Catalogue
	}{{asItIs, t.catalogue}, {edited, t.after}}
	given := make([][][]callvet.Tool, len(sides))
	for i, side := range sides {
		var err error
		if given[i], err = t.offered(ctx, side.c); err != nil {
			return nil, err
		}
	}
	called, back := t.renamed()
	for i := range t.qs {
		// An edit that the model does not see cannot change its choice: asking twice would measure
		// only the model's randomness.
		if callvet.NewToolset(given[0][i]).Hash == callvet.NewToolset(given[1][i]).Hash {
			made.Cases = append(made.Cases, madeCase(&t.qs[i], both, given[0][i], func(s string) string { return s }))
			continue
		}
		for n, side := range sides {
			names := func(s string) string { return s }
			if side.name == edited {
				names = called
			}
			made.Cases = append(made.Cases, madeCase(&t.qs[i], side.name, given[n][i], names))
		}
	}
	r := readings{trial: t, back: back}
	err := editAsk(ctx, t.env, t.asked.Suite, made, r.read)
	return r.out, err
}

// editAsk asks models. If that ends early, the answers are kept; questions with only one of both
// sides do not count.
func editAsk(ctx context.Context, e *Env, suite string, made *callvet.Suite, read func(*Answers) error) error {
	err := errors.Join(e.Ask(ctx, suite, made, read), ctx.Err())
	switch {
	case errors.Is(err, callvet.ErrInvalid), errors.Is(err, callvet.ErrNotFound): // no request was sent
		return fmt.Errorf("ask models: %w", err)
	case err != nil:
		return &callvet.Hinted{
			Err:  fmt.Errorf("ask models: %w", err),
			Hint: "the same command once more: models are not asked again for what they answered",
		}
	}
	return nil
}

func toolsOf(t *trial) []string {
	var out []string
	for i := range t.edits {
		out = append(out, t.edits[i].Tool)
	}
	return out
}

// renamed maps present names of tools to the names after the edits; back is the inverse.
func (t *trial) renamed() (to, back func(string) string) {
	forth, again := map[string]string{}, map[string]string{}
	for i := range t.edits {
		if n := t.edits[i].Name; n != nil {
			forth[t.edits[i].Tool], again[*n] = *n, t.edits[i].Tool
		}
	}
	by := func(m map[string]string) func(string) string {
		return func(s string) string {
			if n, ok := m[s]; ok {
				return n
			}
			return s
		}
	}
	return by(forth), by(again)
}

// offered are the tools that a model chooses among for each question: all of a small
// catalog in its order, else the best of the retriever, best first.
func (t *trial) offered(ctx context.Context, c *retrieve.Catalogue) ([][]callvet.Tool, error) {
	out := make([][]callvet.Tool, len(t.qs))
	if len(c.Entries) <= t.asked.Offer {
		all := Tools(c)
		for i := range out {
			out[i] = all
		}
		return out, nil
	}
	set := t.settings
	set.K = t.asked.Offer
	found, err := t.search(ctx, c, set, t.qs)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i := range c.Entries {
		at[t.catalogue.Entries[i].Tool.Name] = i
	}
	for i := range found {
		out[i] = []callvet.Tool{}
		for _, name := range found[i].Chosen {
			out[i] = append(out[i], c.Entries[at[name]].Tool)
		}
	}
	return out, nil
}

// madeCase is the question with its own tools; only the called tools are judged.
func madeCase(q *Question, side string, tools []callvet.Tool, name func(string) string) callvet.Case {
	k := callvet.Case{
		ID: q.Case + ":" + side, AsOf: q.Of.AsOf, Input: q.Of.Input, Context: q.Of.Context, Tools: tools,
		Fields: map[string]string{fieldCase: q.Case, fieldSide: side},
	}
	if len(tools) == 0 {
		k.ToolNames = []string{}
	}
	if c := q.Of.ToolChoice; c == "auto" || c == "required" || c == "none" { // a tool's name would reveal the answer
		k.ToolChoice = c
	}
	set := func(names []string) {
		sent := make([]string, len(names))
		for i, n := range names {
			sent[i] = name(n)
		}
		if len(sent) == 0 {
			sent = []string{callvet.NoTools}
		}
		if !slices.ContainsFunc(k.Expect.ToolsAcceptable, func(s []string) bool { return slices.Equal(s, sent) }) {
			k.Expect.ToolsAcceptable = append(k.Expect.ToolsAcceptable, sent)
		}
	}
	set(q.Want.Tools)
	for _, a := range q.Want.Acceptable {
		set([]string{a})
	}
	return k
}

// readings makes comparisons of a run.
type readings struct {
	*trial
	back func(string) string
	out  []*Comparison
}

func (r *readings) read(v *Answers) error {
	at := map[string]int{}
	for i := range r.qs {
		at[r.qs[i].Case] = i
	}
	sides := make([]map[string][]Outcome, len(v.Targets))
	used, same := make([]EffectUsage, len(v.Targets)), make([]map[int]bool, len(v.Targets))
	for i := range sides {
		sides[i] = map[string][]Outcome{asItIs: make([]Outcome, len(r.qs)), edited: make([]Outcome, len(r.qs))}
		used[i], same[i] = EffectUsage{Run: v.Run}, map[int]bool{}
	}
	for row, err := range v.Attempts {
		if err != nil {
			return err
		}
		ix, known := at[row.Case.Fields[fieldCase]]
		if !known || row.Cell.Target >= len(sides) {
			continue
		}
		used[row.Cell.Target].Add(&row.Cell.Trace)
		of := sides[row.Cell.Target]
		if side := row.Case.Fields[fieldSide]; side == both {
			same[row.Cell.Target][ix] = true
			r.take(&of[asItIs][ix], row.Cell)
			r.take(&of[edited][ix], row.Cell)
		} else {
			r.take(&of[side][ix], row.Cell)
		}
	}
	for i := range v.Targets {
		c := CompareOutcomes(v.Targets[i], ChosenRight, r.qs, sides[i][asItIs], sides[i][edited], toolsOf(r.trial))
		for n := range r.qs {
			if len(sides[i][asItIs][n].Rights) == 0 || len(sides[i][edited][n].Rights) == 0 {
				c.Unjudged = append(c.Unjudged, r.qs[n].Case)
			}
		}
		c.Usage, c.Same = used[i].Sum(), len(same[i])
		r.out = append(r.out, c)
	}
	Family(r.out)
	return nil
}

// take adds an attempt to a case; an attempt that ended in an error does not count.
func (r *readings) take(o *Outcome, cell *callvet.Cell) {
	if v := cell.Result.Verdict; v != callvet.VerdictPass && v != callvet.VerdictFail {
		return
	}
	o.Rights = append(o.Rights, cell.Result.Verdict == callvet.VerdictPass)
	for _, call := range cell.Trace.Calls() {
		if n := r.back(call.Tool); !slices.Contains(o.Chosen, n) {
			o.Chosen = append(o.Chosen, n)
		}
	}
}
