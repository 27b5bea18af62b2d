// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// expand makes a suite for models from the cases of s. For each case, size and draw it has the
// question with the tools that the first configuration retrieves, best first. If they are at most
// MaxTools, it also has the question with all tools of that size, in the order of the catalog. A
// call of a tool that the case expects or accepts passes. The error wraps callvet.ErrInvalid if no
// case is left.
func (c *sweeper) expand(ctx context.Context, s *callvet.Suite) (*callvet.Suite, error) {
	known := Positions(c.catalogue)
	out := &callvet.Suite{
		Name: s.Name, Version: s.Version, SystemPrompt: s.SystemPrompt, Tools: Tools(c.catalogue),
		Defaults: callvet.Defaults{ToolChoice: s.Defaults.ToolChoice},
	}
	x, left := &expander{sweeper: c, out: out}, 0
	for i := range s.Cases {
		k, ok := WantedOf(&s.Cases[i], known)
		if !ok {
			left++
			continue
		}
		x.wanted, x.from = append(x.wanted, k), append(x.from, &s.Cases[i])
	}
	if len(x.wanted) == 0 {
		return nil, fmt.Errorf("sweep: %w: no case expects a tool that the catalogue has", callvet.ErrInvalid)
	}
	for _, n := range c.sizes() {
		if err := x.size(ctx, n); err != nil {
			return nil, err
		}
	}
	out.Description = fmt.Sprintf("distractor curve of %d cases, %d left out, %d draws by seed %d", len(x.wanted), left,
		max(c.Draws, 1), c.Seed)
	return out, nil
}

func (c *sweeper) sizes() []int {
	if len(c.Distractors) == 0 {
		return []int{-1}
	}
	return slices.Compact(slices.Sorted(slices.Values(c.Distractors)))
}

type expander struct {
	*sweeper
	out    *callvet.Suite
	wanted []*Wanted
	from   []*callvet.Case
}

// size makes the cases with n distractors; -1 for the whole catalog.
func (x *expander) size(ctx context.Context, n int) error {
	conf := x.configurations[0]
	draws, gold := max(x.Draws, 1), 0
	searches := x.searches(len(x.wanted))
	for _, k := range x.wanted {
		gold = max(gold, len(k.Gold))
	}
	total := min(n+gold, len(x.catalogue.Entries))
	var whole *Retriever
	var err error
	if n < 0 {
		draws, total = 1, len(x.catalogue.Entries)
		if whole, _, err = x.Routed(ctx, x.catalogue, conf.Settings, conf.Name, nil); err != nil {
			return err
		}
	}
	for i, k := range x.wanted {
		for draw := range draws {
			entries, r := x.catalogue.Entries, whole
			if r == nil {
				entries = x.draw(k, n, draw)
				if r, _, err = x.Routed(ctx, x.among(entries, &conf.Settings), conf.Settings, conf.Name,
					nil); err != nil {
					return err
				}
			}
			d, err := x.search(ctx, r, k.Question, searches)
			if err != nil {
				return err
			}
			x.add(x.from[i], k, n, draw, len(entries), SweepRetrieved, x.ranked(d.Names()))
			if total <= x.MaxTools {
				x.add(x.from[i], k, n, draw, len(entries), AllRetrieved, Tools(&retrieve.Catalogue{Entries: entries}))
			}
		}
	}
	return nil
}

// among is the catalog with only some of its tools, and without agents unless they are used as a
// gate.
func (c *sweeper) among(entries []retrieve.Entry, s *Settings) *retrieve.Catalogue {
	sub := *c.catalogue
	if sub.Entries = entries; s.AgentGate == 0 {
		sub.Agents = nil
	}
	return &sub
}

// ranked returns the tools of names, in their order.
func (x *expander) ranked(names []string) []callvet.Tool {
	out := make([]callvet.Tool, 0, len(names))
	for _, name := range names {
		for i := range x.catalogue.Entries {
			if t := &x.catalogue.Entries[i].Tool; t.Name == name {
				out = append(out, *t)
				break
			}
		}
	}
	return out
}

func (x *expander) add(from *callvet.Case, k *Wanted, n, draw, searched int, given string, tools []callvet.Tool) {
	made := askedCase{Of: from.ID, Given: given, Size: n, Draw: draw + 1, Searched: searched}
	for i := range tools {
		made.Bytes += toolBytes(&tools[i])
	}
	c := callvet.Case{
		ID: made.id(), Input: from.Input, Context: from.Context, AsOf: from.AsOf, ToolChoice: from.ToolChoice,
		Tags: from.Tags, Position: from.Position,
	}
	c.Fields = map[string]string{}
	maps.Copy(c.Fields, from.Fields)
	made.mark(c.Fields)
	if given == AllRetrieved || len(tools) == 0 {
		// Names refer to the suite's tools, which are stored once; they cannot express an order.
		c.ToolNames = make([]string, len(tools))
		for i := range tools {
			c.ToolNames[i] = tools[i].Name
		}
	} else {
		c.Tools = tools
	}
	right := make([]string, len(k.Gold))
	for i, at := range k.Gold {
		right[i] = x.catalogue.Entries[at].Tool.Name
	}
	any := -1
	c.Expect = callvet.Expect{Plans: []callvet.Plan{{
		Calls:         []callvet.ExpectedCall{{Tools: right}},
		MaxExtraCalls: &any,
	}}}
	// A curve does not judge arguments.
	c.Scoring = &callvet.Scoring{Contract: "report"}
	x.out.Cases = append(x.out.Cases, c)
}

// toolBytes is the approximate length of a tool in a request: its name, description and parameters
// with the overhead of the usual wire formats.
func toolBytes(t *callvet.Tool) int {
	const around = len(`{"type":"function","function":{"name":"","description":"","parameters":}},`)
	return around + len(t.Name) + len(t.Description) + len(t.Parameters)
}
