// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// CoverageReport is what the cases of suites test, and what they do not.
type CoverageReport struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Cases counts the cases that run. Skipped counts the cases that do not run: no other number
	// includes them.
	Cases   int `json:"cases"`
	Skipped int `json:"skipped,omitempty"`
	// NoTool is how many cases are right only when nothing is called, and NoToolShare their
	// share of Cases, in [0,1]; nil without cases.
	NoTool      int      `json:"no_tool"`
	NoToolShare *float64 `json:"no_tool_share"`
	// Tiers and Difficulties count the cases by tier and difficulty; "" counts the cases without
	// one.
	Tiers        []CoverageCount `json:"tiers"`
	Difficulties []CoverageCount `json:"difficulties"`
	// Tools are the tools of the suites, in their order.
	Tools []CoverageTool `json:"tools"`
	// WithoutGolden and WithoutCase are the names of tools that no golden case and no case at
	// all expects or accepts.
	WithoutGolden []string `json:"without_golden"`
	WithoutCase   []string `json:"without_case"`
	// Overlaps are the pairs of tools that are easily confused: pairs with a similarity of Least
	// or more (a cosine in [-1,1]) and pairs that a run confused. Uncovered counts the pairs
	// without an ambiguous case.
	Overlaps  []CoverageOverlap `json:"overlaps"`
	Least     float64           `json:"least"`
	Uncovered int               `json:"uncovered"`
	// NotCompared counts the tools beyond the limit, which were not compared.
	NotCompared int `json:"not_compared,omitempty"`
	// Output is the overlap map that was written; "" where none was.
	Output string `json:"output,omitempty"`
}

// CoverageCount is how many cases have a name.
type CoverageCount struct {
	Name  string `json:"name"`
	Cases int    `json:"cases"`
}

// CoverageTool is one tool, with the number of cases that expect or accept it, and the number of
// golden cases among them.
type CoverageTool struct {
	Name   string `json:"name"`
	Cases  int    `json:"cases"`
	Golden int    `json:"golden"`
}

// CoveragePair is a pair of tools that are easily confused.
type CoveragePair struct {
	A string `json:"a"`
	B string `json:"b"`
	// Similarity is the cosine of their texts, in [-1,1].
	Similarity float64 `json:"similarity"`
	// Confused is how often a run took either for the other.
	Confused int `json:"confused,omitempty"`
}

// CoverageOverlap is a pair with the ambiguous cases about both.
type CoverageOverlap struct {
	CoveragePair
	Ambiguous int `json:"ambiguous"`
}

// CoverageCounter counts the cases of suites. NewCoverageCounter makes one.
type CoverageCounter struct {
	out          CoverageReport
	at           map[string]int // of tools, by small letters
	tiers, hards map[string]int
	both         map[[2]int]int // ambiguous cases about two tools
}

// NewCoverageCounter returns a counter without cases.
func NewCoverageCounter() *CoverageCounter {
	return &CoverageCounter{
		at: map[string]int{}, tiers: map[string]int{}, hards: map[string]int{},
		both: map[[2]int]int{},
	}
}

// Offer adds the tools that cases may expect; a tool that was added before counts once.
func (k *CoverageCounter) Offer(tools []callvet.Tool) {
	for i := range tools {
		key := strings.ToLower(tools[i].Name)
		if _, there := k.at[key]; !there {
			k.at[key] = len(k.out.Tools)
			k.out.Tools = append(k.out.Tools, CoverageTool{Name: tools[i].Name})
		}
	}
}

// Add counts a case. Offer must have added the tools of its suite before.
func (k *CoverageCounter) Add(c *callvet.Case) {
	if c.Skip != "" && !c.Selectable {
		k.out.Skipped++
		return
	}
	k.Offer(c.Tools)
	k.out.Cases++
	k.tiers[string(c.Tier)]++
	k.hards[c.Fields["difficulty"]]++
	if something, nothing := c.Expect.Calls(); nothing && !something {
		k.out.NoTool++
	}
	names := rightTools(c)
	right := k.positions(names)
	for _, i := range right {
		k.out.Tools[i].Cases++
		if c.Tier == callvet.TierGolden {
			k.out.Tools[i].Golden++
		}
	}
	if ambiguous(c) {
		about := k.positions(append(names, c.Expect.ToolsNotCalled...))
		for x, i := range about {
			for _, j := range about[x+1:] {
				if slices.Contains(right, i) || slices.Contains(right, j) {
					k.both[[2]int{i, j}]++
				}
			}
		}
	}
}

// rightTools are the names of the tools that the case expects or accepts.
func rightTools(c *callvet.Case) []string {
	want, _ := score.SelectionOf(&c.Expect)
	return slices.Concat(want.Tools, want.Acceptable)
}

// ambiguous reports whether the case has the difficulty "ambiguous" or, without a difficulty,
// accepts more than one set of tools.
func ambiguous(c *callvet.Case) bool {
	if d := c.Fields["difficulty"]; d != "" {
		return d == "ambiguous"
	}
	want, _ := score.SelectionOf(&c.Expect)
	return len(want.Acceptable) > 0
}

// positions are the positions of the named tools, each once, in rising order.
func (k *CoverageCounter) positions(names []string) []int {
	var out []int
	for _, name := range names {
		if i, known := k.at[strings.ToLower(name)]; known {
			out = append(out, i)
			continue
		}
		if !callvet.NamePattern(name) {
			continue
		}
		for i := range k.out.Tools {
			if callvet.NameFits(name, k.out.Tools[i].Name, false) {
				out = append(out, i)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Report sums up. pairs are the overlapping tools; the report has the cases of each.
func (k *CoverageCounter) Report(pairs []CoveragePair, least float64) *CoverageReport {
	out := k.out
	out.Format, out.Version, out.Least = "callvet.coverage", 1, least
	if out.Cases > 0 {
		share := float64(out.NoTool) / float64(out.Cases)
		out.NoToolShare = &share
	}
	out.Tiers, out.Difficulties = counts(k.tiers), counts(k.hards)
	out.Tools = append([]CoverageTool{}, k.out.Tools...)
	out.WithoutGolden, out.WithoutCase, out.Overlaps = []string{}, []string{}, []CoverageOverlap{}
	for _, t := range out.Tools {
		if t.Golden == 0 {
			out.WithoutGolden = append(out.WithoutGolden, t.Name)
		}
		if t.Cases == 0 {
			out.WithoutCase = append(out.WithoutCase, t.Name)
		}
	}
	for _, p := range pairs {
		o := CoverageOverlap{CoveragePair: p}
		i, known := k.at[strings.ToLower(p.A)]
		j, also := k.at[strings.ToLower(p.B)]
		if known && also {
			o.Ambiguous = k.both[[2]int{min(i, j), max(i, j)}]
		}
		if o.Ambiguous == 0 {
			out.Uncovered++
		}
		out.Overlaps = append(out.Overlaps, o)
	}
	return &out
}

// counts are the most frequent first.
func counts(by map[string]int) []CoverageCount {
	out := []CoverageCount{}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		out = append(out, CoverageCount{name, by[name]})
	}
	slices.SortStableFunc(out, func(a, b CoverageCount) int { return cmp.Compare(b.Cases, a.Cases) })
	return out
}
