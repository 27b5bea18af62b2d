// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bigtool

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/verify/proof"
)

// preferred are the agents that a route puts first, by the description of the system.
func preferred(route string) []string {
	switch route {
	case "action":
		return []string{"action", "media"}
	case "knowledge":
		return []string{"knowledge", "browser"}
	case "statistics":
		return []string{"statistics"}
	case "compare":
		return []string{"synthesis", "knowledge", "statistics"}
	case "trafik":
		return []string{"trafik", "action"}
	}
	return nil
}

// plain normalises a text as the system does for comparisons.
func plain(s string) string {
	s = strings.NewReplacer("å", "a", "ä", "a", "ö", "o").Replace(strings.ToLower(s))
	return strings.Join(strings.FieldsFunc(s,
		func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }), " ")
}

// byHand chooses three agents directly by the description, without vectors. It is the second
// implementation of the formula, which the preset is compared with.
func byHand(agents []retrieve.Agent, question, route string) []string {
	q := plain(question)
	words := map[string]bool{}
	for _, w := range strings.Fields(q) {
		words[w] = true
	}
	score := map[string]int{}
	var names []string
	for _, a := range agents {
		names = append(names, a.Name)
		if strings.Contains(q, plain(a.Name)) {
			score[a.Name] += 4
		}
		for _, k := range a.Keywords {
			if strings.Contains(q, plain(k)) {
				score[a.Name] += 3
			}
		}
		for w := range words {
			if strings.Contains(plain(a.Description), w) {
				score[a.Name]++
			}
		}
	}
	chosen := slices.Clone(names)
	sort.SliceStable(chosen, func(i, j int) bool { return score[chosen[i]] > score[chosen[j]] })
	chosen = chosen[:3]
	var front []string
	for _, n := range names {
		if slices.Contains(preferred(route), n) && !slices.Contains(chosen, n) {
			front = append(front, n)
		}
	}
	return append(front, chosen...)[:3]
}

// agents compares the preset's choice with byHand, and prints how often an expected agent is among
// the chosen agents, which has no recorded figure.
func agents(ctx context.Context, check *proof.Check, suite string, c *retrieve.Catalogue, s *callvet.Suite,
	decide func(string) (string, string),
) error {
	if len(c.Agents) < 3 || len(s.Cases) == 0 {
		return fmt.Errorf("choose agents: %w: %d agents, %d cases", errNothing, len(c.Agents), len(s.Cases))
	}
	chooser, err := retrieve.NewChooser(ctx, retrieve.BigTool(), c.Agents)
	if err != nil {
		return err
	}
	subject := suite + " agents"
	check.Due(subject, len(s.Cases), "the suite")
	asked, hit, overlap := 0, 0, 0.0
	for i := range s.Cases {
		k := &s.Cases[i]
		question := k.Input[len(k.Input)-1].Content
		route, _ := decide(question)
		got, err := chooser.Choose(ctx, question, route, nil)
		if err != nil {
			return err
		}
		hand := byHand(c.Agents, question, route)
		check.Compare(subject, k.ID, slices.Equal(got, hand), "agents %v, by hand %v", got, hand)
		want := k.Expect.Selection.Agents
		if len(want) == 0 {
			continue
		}
		asked++
		both := 0
		for _, a := range want {
			if slices.Contains(got, a) {
				both++
			}
		}
		if both > 0 {
			hit++
		}
		overlap += float64(both) / float64(len(want)+len(got)-both)
	}
	check.Printf("  three agents: an expected one among them %d of %d, overlap %.3f (without recorded figures)\n", hit,
		asked, overlap/float64(max(asked, 1)))
	return nil
}
