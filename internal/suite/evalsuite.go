// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// EvalBuilder collects a run. Set its fields, Add every attempt, case by case, and call Results
// once.
type EvalBuilder struct {
	RunID   string
	Created time.Time
	Suite   string // its name
	Tools   []callvet.Tool
	Targets []string
	// FileHash returns the hash of the file of a case, by the case's position in the suite; ""
	// where none is known.
	FileHash func(ix int) string
	// Stale are warnings by the name of a tool; warnings under "" apply to all tools.
	Stale map[string][]string

	groups map[group]*gathered
	order  []group
}

type group struct {
	target int
	tier   callvet.Tier
	tool   string
}

type gathered struct {
	EvalResult
	cost    float64
	unknown bool // a cost is not known
	files   []string
	// unlooked maps a case to an assertion that was not evaluated in a passed attempt.
	unlooked map[string]string
}

// Add takes an attempt. All attempts of a target at a case must follow each other.
func (b *EvalBuilder) Add(c *callvet.Case, cell *callvet.Cell) {
	key := group{cell.Target, c.Tier, b.tool(c.ID)}
	g := b.groups[key]
	if g == nil {
		g = &gathered{unlooked: map[string]string{}}
		if b.groups == nil {
			b.groups = map[group]*gathered{}
		}
		b.groups[key], b.order = g, append(b.order, key)
	}
	if b.FileHash != nil {
		if h := b.FileHash(cell.Case); h != "" && !slices.Contains(g.files, h) {
			g.files = append(g.files, h)
		}
	}
	g.attempt(c, cell)
}

func (g *gathered) attempt(c *callvet.Case, cell *callvet.Cell) {
	i := len(g.Cases) - 1
	if i < 0 || g.Cases[i].ID != c.ID {
		i, g.Cases = len(g.Cases),
			append(g.Cases, EvalCaseResult{ID: c.ID, Description: c.Description, Details: &EvalDetails{}})
	}
	r, t, res := &g.Cases[i], &cell.Trace, &cell.Result
	d := r.Details
	d.Attempts++
	switch res.Verdict {
	case callvet.VerdictPass:
		d.Passes++
		d.Judged++
		if res.NotEvaluated == 0 {
			d.Whole++
		} else if g.unlooked[c.ID] == "" {
			g.unlooked[c.ID] = unlooked(res)
		}
	case callvet.VerdictFail:
		d.Judged++
	}
	d.SkippedAssertions += res.NotEvaluated
	r.DurationMS += t.WallMS
	if worse := res.Verdict != callvet.VerdictPass && d.Verdict == callvet.VerdictPass; d.Attempts == 1 || worse ||
		res.Verdict == callvet.VerdictFail && d.Verdict != callvet.VerdictFail {
		d.Verdict, d.Class, d.Response, d.Assertions = res.Verdict, res.Class, t.Answer, res.Assertions
		d.ToolsCalled = []string{}
		for _, call := range t.Calls() {
			d.ToolsCalled = append(d.ToolsCalled, call.Tool)
		}
		r.Error = ""
		if res.Verdict != callvet.VerdictPass {
			r.Error = why(res)
		}
	}
	if t.Usage.CostUSD != nil {
		g.cost += *t.Usage.CostUSD
	} else if t.Outcome != callvet.OutcomeNotRun {
		g.unknown = true
	}
}

// why joins the reason and every failed assertion.
func why(res *callvet.Result) string {
	parts := []string{}
	if res.Reason != "" {
		parts = append(parts, res.Reason)
	}
	for _, a := range res.Assertions {
		if a.State == callvet.AssertFailed && !strings.Contains(res.Reason, a.Name) {
			parts = append(parts, a.Name+": expected "+a.Expected)
		}
	}
	if len(parts) == 0 {
		return string(res.Verdict)
	}
	return strings.Join(parts, "; ")
}

var idOfTool = regexp.MustCompile(`^(?:gs|ls|rg|sp)-(.+?)(?:-same|-diff)?-[0-9]+$`)

// tool is the tool that a case was written for, by its id: gs-get-weather-001 is of
// get_weather.
func (b *EvalBuilder) tool(id string) string {
	m := idOfTool.FindStringSubmatch(id)
	if m == nil {
		return b.Suite
	}
	for i := range b.Tools {
		if dashed(b.Tools[i].Name) == m[1] {
			return b.Tools[i].Name
		}
	}
	return strings.ReplaceAll(m[1], "-", "_")
}

func dashed(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "-", ".", "-", "/", "-").Replace(name))
}

// EvalHash is the first 12 hexadecimal digits of a text's SHA-256.
func EvalHash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:12]
}

// EvalBaseline is the baseline of a run.
type EvalBaseline struct {
	RunID      string
	Comparison *panel.Comparison
	// Cases of the baseline: their tiers, by id.
	Tiers map[string]callvet.Tier
	// Before and Now return the passes and the judged attempts of a target at a case, by names.
	Before, Now func(target, id string) (passes, judged int)
	// Repeats: a case has several attempts on a side.
	Repeats bool
}

// Results are those of all targets, tiers and tools, in the order of the attempts. base is
// nil without a baseline.
func (b *EvalBuilder) Results(base *EvalBaseline) []EvalResult {
	out := make([]EvalResult, 0, len(b.order))
	var diff *differences
	if base != nil {
		diff = read(base.Comparison)
	}
	for _, key := range b.order {
		g := b.groups[key]
		r := &g.EvalResult
		r.RunID, r.Run, r.Timestamp, r.Tier, r.ToolName = EvalUUID(b.RunID), b.RunID,
			b.Created.UTC().Format(time.RFC3339), key.tier, key.tool
		if key.target >= 0 && key.target < len(b.Targets) {
			r.Target = b.Targets[key.target]
		}
		r.Metadata = EvalMetadata{RegistrySize: len(b.Tools), EvalFileHash: strings.Join(g.files, "+")}
		if i := slices.IndexFunc(b.Tools, func(t callvet.Tool) bool { return t.Name == key.tool }); i >= 0 {
			r.Metadata.ToolVersion, r.Metadata.DescriptionHash = b.Tools[i].Version,
				EvalHash([]byte(b.Tools[i].Description))
		}
		r.StalenessWarnings = append(append([]string{}, b.Stale[""]...), b.Stale[key.tool]...)
		g.sum()
		r.Regressions, r.NewPasses, r.Unchanged, r.Added, r.Removed = []string{}, []string{}, []string{},
			[]string{}, []string{}
		if base != nil {
			g.against(b, key, base, diff)
		}
		out = append(out, *r)
	}
	return out
}

// open reports whether the case would have passed if the unevaluated assertions had passed, too.
func (d *EvalDetails) open() bool {
	return d.Judged > 0 && 2*d.Passes >= d.Judged && 2*d.Whole < d.Judged
}

// unlooked names the first assertion of an attempt that was not evaluated.
func unlooked(res *callvet.Result) string {
	for _, a := range res.Assertions {
		if a.State == callvet.AssertNotEvaluated {
			return a.Name + " was not evaluated: " + a.Reason
		}
	}
	return "an assertion was not evaluated"
}

// sum counts the cases.
func (g *gathered) sum() {
	s := &g.Summary
	*s = EvalSummary{Total: len(g.Cases)}
	for i := range g.Cases {
		c := &g.Cases[i]
		d := c.Details
		c.Passed = d.Judged > 0 && 2*d.Whole >= d.Judged
		switch {
		case d.Judged == 0:
			s.Unjudged++
		case d.open():
			s.Unjudged++
			if c.Error == "" {
				c.Error = g.unlooked[c.ID]
			}
		case c.Passed:
			s.Passed++
		default:
			s.Failed++
		}
		if d.Passes > 0 && d.Passes < d.Judged {
			g.Flaky = append(g.Flaky, c.ID)
		}
		s.SkippedAssertions += d.SkippedAssertions
		s.TotalDurationMS += c.DurationMS
	}
	if !g.unknown {
		cost := g.cost
		s.EstimatedCostUSD = &cost
	}
}

// differences are a comparison by case.
type differences struct {
	added, changed map[string]bool
	targets        map[string]*ofTarget
}

type ofTarget struct {
	baseline string
	kinds    map[string]string
	unjudged map[string]bool
}

func read(c *panel.Comparison) *differences {
	d := &differences{added: set(c.OnlyCandidate), changed: set(c.Changed), targets: map[string]*ofTarget{}}
	for i := range c.Targets {
		t := &c.Targets[i]
		o := &ofTarget{baseline: t.Baseline, kinds: map[string]string{}, unjudged: map[string]bool{}}
		for _, x := range t.Changes {
			o.kinds[x.Case] = x.Kind
		}
		for _, x := range t.Unjudged {
			o.unjudged[x.Case] = true
		}
		d.targets[t.Candidate] = o
	}
	return d
}

func set(ids []string) map[string]bool {
	out := make(map[string]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out
}

// against groups the cases by their change since the baseline.
func (g *gathered) against(b *EvalBuilder, key group, base *EvalBaseline, diff *differences) {
	r := &g.EvalResult
	r.BaselineRunID = EvalUUID(base.RunID)
	t := diff.targets[r.Target]
	for i := range r.Cases {
		id := r.Cases[i].ID
		switch {
		case diff.added[id]:
			r.Added = append(r.Added, id)
		case diff.changed[id]:
			r.Changed = append(r.Changed, id)
		case t == nil || t.unjudged[id] || r.Cases[i].Details.open():
			r.Unjudged = append(r.Unjudged, id)
		default:
			g.compared(id, t, base)
		}
	}
	for _, id := range base.Comparison.OnlyBaseline {
		if base.Tiers[id] == key.tier && b.tool(id) == key.tool {
			r.Removed = append(r.Removed, id)
		}
	}
}

// compared adds a case that both runs judged to its group.
func (g *gathered) compared(id string, t *ofTarget, base *EvalBaseline) {
	r := &g.EvalResult
	passes, judged := base.Before(t.baseline, id)
	now, n := base.Now(r.Target, id)
	if judged == 0 || n == 0 {
		r.Unjudged = append(r.Unjudged, id)
		return
	}
	switch t.kinds[id] {
	case panel.NewlyFailing:
		r.Regressions = append(r.Regressions, id)
	case panel.NewlyPassing:
		r.NewPasses = append(r.NewPasses, id)
	default:
		r.Unchanged = append(r.Unchanged, id)
	}
	if !base.Repeats {
		return
	}
	v := panel.CompareAttempts(passes, judged, now, n)
	r.Verdicts = append(r.Verdicts, EvalCaseVerdict{ID: id, CaseVerdict: v})
	if v.Flaky && !slices.Contains(r.Flaky, id) {
		r.Flaky = append(r.Flaky, id)
	}
}
