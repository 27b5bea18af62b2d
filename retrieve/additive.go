// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"cmp"
	"slices"
	"strings"
)

// BigTool returns the preset that scores like the Tool Selection Evaluation System, by points for
// common text of the question and a tool:
//
//	5 for the tool's name within the question, 3 for each keyword within it,
//	1 for each different word of the question within the description, 2 for each
//	example within the question, 4 times the cosine with the tool's vector, and 3
//	for tools of a primary namespace.
//
// "Within" means as a substring, regardless of word borders. The best 24 tools of the primary
// namespaces are candidates, or those of the fallback when no primary one has a point; two are
// returned. Three agents are chosen. Each has 4 points for the name, 3 for each keyword, 1 for each
// word of the description, 4 times the cosine and 4 for agents that answered before. The best 6 are
// reranked; the agents that a route prefers go first. The catalog defines which agents an intent
// puts first. The preset exists for comparison of results: a word such as "i" is within nearly
// every description. Source: Tool Selection Evaluation System, Tool Retrieval and Agent Selection.
func BigTool() Options {
	return Options{
		Formula:      Additive,
		VectorWeight: 4,
		Additive:     AdditiveWeights{Name: 5, Keyword: 3, Token: 1, Example: 2, Namespace: 3, Candidates: 24},
		Primary:      [][]string{{"tools"}},
		Limit:        2,
		Agents: AgentOptions{
			Limit: 3, Name: 4, Keyword: 3, Token: 1, Recent: 4, Vector: 4, Candidates: 6,
			Hints: map[string][]string{
				"action": {"action", "media"}, "knowledge": {"knowledge", "browser"}, "statistics": {"statistics"},
				"compare": {"synthesis", "knowledge", "statistics"}, "trafik": {"trafik", "action"},
			},
		},
	}
}

// additiveEntry contains an entry's texts in the form for this formula.
type additiveEntry struct {
	name, description  string
	keywords, examples []string
}

func newAdditive(e *Entry) additiveEntry {
	return additiveEntry{
		name:        additiveForm(cmp.Or(e.Title, e.Tool.Name)),
		description: additiveForm(e.Tool.Description),
		keywords:    additiveForms(e.Keywords),
		examples:    additiveForms(e.Examples),
	}
}

func additiveForms(list []string) []string {
	var out []string
	for _, s := range list {
		if f := additiveForm(s); f != "" {
			out = append(out, f)
		}
	}
	return out
}

// additiveForm lowers, replaces å and ä by a and ö by o, and everything but ASCII
// letters and digits by single spaces.
func additiveForm(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == 'å' || r == 'ä':
			return 'a'
		case r == 'ö':
			return 'o'
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		}
		return ' '
	}, strings.ToLower(s))
	return strings.Join(strings.Fields(s), " ")
}

// points are the points of one tool by the additive formula.
func (x *Index) points(i int, q string, tokens []string, cosine float64) Parts {
	a, w := &x.additive[i], x.options.Additive
	p := Parts{Semantic: x.options.VectorWeight * cosine}
	if a.name != "" && strings.Contains(q, a.name) {
		p.Name = w.Name
	}
	for _, k := range a.keywords {
		if strings.Contains(q, k) {
			p.Keywords += w.Keyword
			p.Matched = append(p.Matched, k)
		}
	}
	for _, t := range tokens {
		if strings.Contains(a.description, t) {
			p.Description += w.Token
		}
	}
	for _, e := range a.examples {
		if strings.Contains(q, e) {
			p.Examples += w.Example
		}
	}
	p.Lexical = p.Name + p.Keywords + p.Description + p.Examples
	if belongs(x.entries[i].Namespace, x.options.Primary) {
		p.Namespace = w.Namespace
	}
	return p
}

func belongs(namespace []string, prefixes [][]string) bool {
	return slices.ContainsFunc(prefixes, func(p []string) bool {
		return len(p) <= len(namespace) && slices.Equal(p, namespace[:len(p)])
	})
}

// searchAdditive orders the candidates; of equal scores those added earlier come first. Unlike the
// other formulas it also returns tools without a point.
func (x *Index) searchAdditive(question string, agents []string, cosines []float32) []Hit {
	q, tokens := additiveForm(question), additiveTokens(question)
	var primary, fallback []Hit
	for i := range x.entries {
		in := belongs(x.entries[i].Namespace, x.options.Primary)
		if !in && !belongs(x.entries[i].Namespace, x.options.Fallback) {
			continue
		}
		p := x.points(i, q, tokens, at(cosines, i))
		h := Hit{ID: x.entries[i].id(), Score: p.Lexical + p.Semantic + p.Namespace, Parts: p, entry: i}
		if x.hold(&h, agents) {
			continue
		}
		if in {
			primary = append(primary, h)
		} else {
			fallback = append(fallback, h)
		}
	}
	hits := best(primary)
	if len(hits) == 0 || hits[0].Score <= 0 {
		hits = best(fallback)
	}
	if n := x.options.Additive.Candidates; n > 0 {
		hits = hits[:min(len(hits), n)]
	}
	return hits
}

// additiveTokens returns the different words of a question in that form.
func additiveTokens(question string) []string {
	tokens := strings.Fields(additiveForm(question))
	slices.Sort(tokens)
	return slices.Compact(tokens)
}

func best(hits []Hit) []Hit {
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}

func at(cosines []float32, i int) float64 {
	if cosines == nil {
		return 0
	}
	return float64(cosines[i])
}
