// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/curve"
	"github.com/callvet/callvet/internal/provider/retriever"
	"github.com/callvet/callvet/retrieve"
)

// Expanded is a suite whose cases have tool lists of their own.
type Expanded struct {
	Suite *callvet.Suite
	// LeftOut of the cases expect no tool, or one that the catalog does not have.
	LeftOut int
}

// Expand makes a suite for models of the cases of s: for each case, size and draw the
// question with the tools that the first configuration retrieves, best first, and, where they are at most
// most, with all tools of that size in the order of the catalog. A call of a tool that
// the case expects or accepts is what is asked for. Errors are those of Over; one that
// wraps callvet.ErrInvalid says that no case is left.
func (c *SweepConfig) Expand(ctx context.Context, s *callvet.Suite, most int) (*Expanded, error) {
	known := map[string]int{}
	for i := range c.Catalogue.Entries {
		known[c.Catalogue.Entries[i].Tool.Name] = i
	}
	out := &Expanded{Suite: &callvet.Suite{
		Name: s.Name, Version: s.Version, SystemPrompt: s.SystemPrompt, Tools: Tools(c.Catalogue), Defaults: callvet.Defaults{ToolChoice: s.Defaults.ToolChoice},
	}}
	x := &expander{SweepConfig: c, out: out, most: most}
	for i := range s.Cases {
		k, ok := newSweepCase(&s.Cases[i], known)
		if !ok {
			out.LeftOut++
			continue
		}
		x.cases, x.from = append(x.cases, k), append(x.from, &s.Cases[i])
	}
	if len(x.cases) == 0 {
		return nil, fmt.Errorf("sweep: %w: no case expects a tool that the catalogue has", callvet.ErrInvalid)
	}
	for _, n := range c.sizes() {
		if err := x.size(ctx, n); err != nil {
			return nil, err
		}
	}
	out.Suite.Description = fmt.Sprintf("distractor curve of %d cases, %d left out, %d draws by seed %d", len(x.cases), out.LeftOut, max(c.Draws, 1), c.Seed)
	return out, nil
}

func (c *SweepConfig) sizes() []int {
	if len(c.Distractors) == 0 {
		return []int{-1}
	}
	return slices.Compact(slices.Sorted(slices.Values(c.Distractors)))
}

type expander struct {
	*SweepConfig
	out   *Expanded
	most  int
	cases []*sweepCase
	from  []*callvet.Case
}

// size makes the cases with n distractors; -1 for the whole catalog.
func (x *expander) size(ctx context.Context, n int) error {
	conf := x.Configurations[0]
	draws, gold := max(x.Draws, 1), 0
	searches := x.searches(len(x.cases))
	for _, k := range x.cases {
		gold = max(gold, len(k.gold))
	}
	total := min(n+gold, len(x.Catalogue.Entries))
	var whole *retriever.Retriever
	var err error
	if n < 0 {
		draws, total = 1, len(x.Catalogue.Entries)
		if whole, _, err = over(ctx, x.Catalogue, conf.Settings, conf.Name, nil, x.Models, x.Now); err != nil {
			return err
		}
	}
	for i, k := range x.cases {
		for draw := range draws {
			entries, r := x.Catalogue.Entries, whole
			if r == nil {
				entries = x.draw(k, n, draw)
				if r, _, err = over(ctx, x.among(entries, &conf.Settings), conf.Settings, conf.Name, nil, x.Models, x.Now); err != nil {
					return err
				}
			}
			d, err := x.search(ctx, r, k.question, searches)
			if err != nil {
				return err
			}
			x.add(x.from[i], k, n, draw, len(entries), curve.Retrieved, x.ranked(d.Names()))
			if total <= x.most {
				x.add(x.from[i], k, n, draw, len(entries), curve.All, Tools(&retrieve.Catalogue{Entries: entries}))
			}
		}
	}
	return nil
}

// among is the catalog with some of its tools only, and without agents unless they gate.
func (c *SweepConfig) among(entries []retrieve.Entry, s *Settings) *retrieve.Catalogue {
	sub := *c.Catalogue
	if sub.Entries = entries; s.AgentGate == 0 {
		sub.Agents = nil
	}
	return &sub
}

// ranked gives the tools of names, in their order.
func (x *expander) ranked(names []string) []callvet.Tool {
	out := make([]callvet.Tool, 0, len(names))
	for _, name := range names {
		for i := range x.Catalogue.Entries {
			if t := &x.Catalogue.Entries[i].Tool; t.Name == name {
				out = append(out, *t)
				break
			}
		}
	}
	return out
}

func (x *expander) add(from *callvet.Case, k *sweepCase, n, draw, searched int, given string, tools []callvet.Tool) {
	made := curve.Asked{Of: from.ID, Given: given, Size: n, Draw: draw + 1, Searched: searched}
	for i := range tools {
		made.Bytes += toolBytes(&tools[i])
	}
	c := callvet.Case{
		ID: made.ID(), Input: from.Input, Context: from.Context, AsOf: from.AsOf, ToolChoice: from.ToolChoice, Tags: from.Tags, Position: from.Position,
	}
	c.Fields = map[string]string{}
	maps.Copy(c.Fields, from.Fields)
	made.Mark(c.Fields)
	if given == curve.All || len(tools) == 0 {
		// Names refer to the suite's tools, which are stored once; they cannot say an order.
		c.ToolNames = make([]string, len(tools))
		for i := range tools {
			c.ToolNames[i] = tools[i].Name
		}
	} else {
		c.Tools = tools
	}
	right := make([]string, len(k.gold))
	for i, at := range k.gold {
		right[i] = x.Catalogue.Entries[at].Tool.Name
	}
	any := -1
	c.Expect = callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: right}}, MaxExtraCalls: &any}}}
	// Arguments are not what a curve is about.
	c.Scoring = &callvet.Scoring{Contract: "report"}
	x.out.Suite.Cases = append(x.out.Suite.Cases, c)
}

// toolBytes is how long a tool is as a request says it: its name, description and
// parameters with about as much around them as the usual wire formats have.
func toolBytes(t *callvet.Tool) int {
	const around = len(`{"type":"function","function":{"name":"","description":"","parameters":}},`)
	return around + len(t.Name) + len(t.Description) + len(t.Parameters)
}
