// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/score/safety"
)

// Manifest has the data that is needed to repeat a run or to resume it.
type Manifest struct {
	Version int    `json:"version"`
	Callvet string `json:"callvet"`
	// Rules is callvet.RulesVersion when the run was started; absent in runs by version 1.
	Rules int    `json:"rules,omitempty"`
	Path  string `json:"path"` // of the suite, as the user typed it
	// Origin is empty for older runs, and for runs with cases that a request made.
	app.Origin
	// Made: a request made the cases from the cases of the suite.
	Made bool `json:"made,omitempty"`
	// Kept: the suite is stored on a server; Path is its name there, not a file.
	Kept bool `json:"kept,omitempty"`
	// Drill: the cases are drills, with their twins.
	Drill bool `json:"drill,omitempty"`
	// Specs open the targets again; Targets is what was opened.
	Specs     []app.TargetSpec `json:"specs"`
	Targets   []callvet.Target `json:"targets"`
	ToolsHash string           `json:"tools_hash"`
	// Catalogues are hashes of the files that retrievers read, by the position of their spec;
	// absent in older runs.
	Catalogues []string `json:"catalogues,omitempty"`
	// EvalFiles are the files of the cases, in their order; absent in older runs.
	EvalFiles []EvalFile `json:"eval_files,omitempty"`
	// Stale are warnings about changes between the making of the cases and the run, and about
	// missing records.
	Stale []string `json:"stale,omitempty"`
	// Rubrics are positions of the cases for judges, which run when all others are over.
	Rubrics []int `json:"rubrics,omitempty"`
	// Skipped is how many of the chosen cases are left out on purpose; absent in older runs.
	Skipped *int `json:"skipped,omitempty"`
	Repeats int  `json:"repeats"`
	// OwnRepeats are the repeats of the chosen cases with a number of their own, by position.
	OwnRepeats  map[int]int `json:"own_repeats,omitempty"`
	Cases       []int       `json:"cases,omitzero"` // positions; absent: all
	Filter      []string    `json:"filter,omitempty"`
	Sample      int         `json:"sample,omitempty"`
	Seed        int64       `json:"seed"`
	FailedFrom  string      `json:"failed_from,omitempty"`
	Slices      []string    `json:"slices,omitempty"`
	TargetFile  string      `json:"target_file,omitempty"`
	Prices      string      `json:"prices,omitempty"`
	RealLatency bool        `json:"real_latency,omitempty"`
	NoCache     bool        `json:"no_cache,omitempty"`
	Embedder    string      `json:"embedder,omitempty"`
	// Scorers are the suite's own scorers, by name; absent in older runs.
	Scorers []app.ScorerVersion `json:"scorers,omitempty"`
	// Keep are kinds of personal data that are not redacted.
	Keep []string `json:"keep,omitempty"`
	// Guard is the policy for calls of tools; nil: none.
	Guard *world.Policy `json:"guard,omitempty"`
	// Live are the tools that are really called; nil: none.
	Live *world.ToolsFile `json:"live,omitempty"`
	// World is the world that answered calls; nil: the mocks of the suite.
	World *RanWorld `json:"world,omitempty"`
	// Replay is the replayed run; nil: none.
	Replay *Replayed `json:"replay,omitempty"`
	// Settings are the settings of the latest session; nil for older runs.
	Settings *app.Settings `json:"settings,omitempty"`
	// Judges judge when the attempts are over; nil: none.
	Judges *app.RunJudges `json:"judges,omitempty"`
	// Until are the gates that end the run when they are decided; nil: all cells run.
	Until *Until `json:"until,omitempty"`
	// Form is the required form of all answers; nil: none, or the judge's.
	Form *callvet.AnswerForm `json:"form,omitempty"`
	// Judging describes a judge's run; nil for other runs.
	Judging *Judging `json:"judging,omitempty"`
}

// ManifestVersion is the newest form of manifests that this program reads, and the one it writes.
const ManifestVersion = 1

// ReadManifest decodes the manifest of a stored run. A damaged or newer one is an error.
func ReadManifest(r *store.Run) (*Manifest, error) {
	var m Manifest
	if r.Damage != nil {
		return nil, &damagedError{r.ID, "manifest", r.Damage}
	}
	if err := json.Unmarshal(r.Manifest, &m); err != nil {
		return nil, &damagedError{r.ID, "manifest", doc.Explain(err)}
	}
	if m.Version > ManifestVersion {
		return nil, &callvet.Hinted{Err: fmt.Errorf("read manifest of run %s: %w: made by a newer callvet (%s)", r.ID,
			callvet.ErrConflict, m.Callvet), Hint: "update callvet"}
	}
	if len(m.Targets) == 0 && r.Judges == "" {
		return nil, &damagedError{r.ID, "manifest", errors.New("it names no target")}
	}
	return &m, nil
}

// RepeatsOf returns how many attempts each target makes at the case at a position.
func (m *Manifest) RepeatsOf(at int) int { return cmp.Or(m.OwnRepeats[at], m.Repeats) }

// RepeatRange returns the least and the largest number of attempts at a case; cases is the number
// of cases of the run.
func (m *Manifest) RepeatRange(cases int) (least, most int) {
	own := slices.Collect(maps.Values(m.OwnRepeats))
	if m.Cases != nil {
		cases = len(m.Cases)
	}
	if len(own) < cases || len(own) == 0 {
		own = append(own, m.Repeats)
	}
	return slices.Min(own), slices.Max(own)
}

// Attempts returns how many attempts each target makes; cases is the number of cases of the run.
func (m *Manifest) Attempts(cases int) int {
	n := 0
	if m.Cases != nil {
		for _, at := range m.Cases {
			n += m.RepeatsOf(at)
		}
		return n
	}
	for _, own := range m.OwnRepeats {
		n += own - m.Repeats
	}
	return n + cases*m.Repeats
}

// mostRepeats returns the largest number of attempts at a case of the run.
func (r *Run) mostRepeats() int {
	_, most := r.Manifest.RepeatRange(r.Cases())
	return most
}

// repeatsText is the number of attempts at a case, for a person.
func (r *Run) repeatsText() string {
	least, most := r.Manifest.RepeatRange(r.Cases())
	if least == most {
		return strconv.Itoa(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// RulesVersion is the version of the rules for the run's verdicts.
func (m *Manifest) RulesVersion() int { return max(m.Rules, 1) }

// ChangedRules returns the present version of the rules if the run was started with a different
// one; else 0.
func (m *Manifest) ChangedRules() int {
	if m.RulesVersion() == callvet.RulesVersion {
		return 0
	}
	return callvet.RulesVersion
}

// rulesNote lists the versions of the rules in a run's numbers, if there are several. byCell counts
// the attempts by the version of their verdicts.
func rulesNote(byCell map[int]int) string {
	if len(byCell) == 0 || len(byCell) == 1 && byCell[callvet.RulesVersion] > 0 {
		return ""
	}
	var parts []string
	for _, version := range slices.Sorted(maps.Keys(byCell)) {
		parts = append(parts,
			fmt.Sprintf("%s by version %d", plain.Count(byCell[version], "attempt", "attempts"), version))
	}
	return fmt.Sprintf("verdicts by earlier rules: %s; what is measured of calls is computed by version %d",
		strings.Join(parts, ", "), callvet.RulesVersion)
}

// fields show the manifest in reports.
func (r *Run) fields() []report.Field {
	m := r.Manifest
	out := []report.Field{
		{Name: "callvet", Value: m.Callvet},
		{Name: "rules of verdicts", Value: "version " + strconv.Itoa(m.RulesVersion())},
		{Name: "suite file", Value: m.Path},
		{Name: "suite hash", Value: r.Stored.SuiteHash},
		{Name: "tools hash", Value: m.ToolsHash},
		{Name: "repeats", Value: r.repeatsText()},
		{Name: "seed", Value: strconv.FormatInt(m.Seed, 10)},
	}
	if m.Embedder != "" {
		out = append(out, report.Field{Name: "texts compared by", Value: m.Embedder})
	}
	if len(m.Filter) > 0 {
		out = append(out, report.Field{Name: "filter", Value: strings.Join(m.Filter, " and ")})
	}
	if m.Sample > 0 {
		out = append(out, report.Field{Name: "sample", Value: strconv.Itoa(m.Sample)})
	}
	if m.Until != nil {
		out = append(out, report.Field{Name: "asked until decided", Value: m.Until.Source})
	}
	if p := m.Replay; p != nil {
		out = append(out, report.Field{Name: "replay of run", Value: p.Run})
		if p.FromStep != nil {
			out = append(out, report.Field{Name: "from step", Value: strconv.Itoa(*p.FromStep)})
		}
	}
	if w := m.World; w != nil && w.Recordings != "" {
		out = append(out, report.Field{Name: "recordings", Value: w.Recordings},
			report.Field{Name: "recordings hash", Value: w.Hash})
	}
	if m.FailedFrom != "" {
		out = append(out, report.Field{Name: "failed from run", Value: m.FailedFrom})
	}
	if r.Suite.SystemPrompt != "" {
		out = append(out, report.Field{Name: "system prompt of the suite", Value: PromptBrief(r.Suite.SystemPrompt)})
	}
	for i := range m.Targets {
		t := &m.Targets[i]
		if p, err := json.Marshal(t.Params); err == nil && string(p) != "{}" {
			out = append(out, report.Field{Name: t.Name + " parameters", Value: string(p)})
		}
		if t.SystemPrompt != "" {
			name := t.Name + " system prompt"
			if t.ReplaceSystem {
				name += " in place of the suite's"
			}
			out = append(out, report.Field{Name: name, Value: PromptBrief(t.SystemPrompt)})
		}
		for _, adj := range t.Adjustments {
			out = append(out, report.Field{
				Name:  t.Name + " " + adj.Param,
				Value: strings.TrimSpace(fmt.Sprintf("%s %s %s: %s", adj.Action, adj.From, adj.To, adj.Reason)),
			})
		}
	}
	return out
}

// RanWorld describes, in a manifest, the world that answered calls.
type RanWorld struct {
	app.WorldRequest
	// Hash is the hash of the recordings.
	Hash string `json:"hash,omitempty"`
}

// Rewritten returns the manifest with the settings of this session, nil if they did not change.
func (m *Manifest) Rewritten(s app.Settings) (json.RawMessage, error) {
	before, err := json.Marshal(m.Settings)
	if err != nil {
		return nil, fmt.Errorf("write manifest: %w", err)
	}
	m.Settings = &s
	after, err := json.Marshal(m.Settings)
	if err != nil || string(before) == string(after) {
		return nil, err
	}
	return json.Marshal(m)
}

// Replayed describes a replay in a manifest.
type Replayed struct {
	Run string `json:"run"`
	// FromStep is how many answers are replayed; nil: all, and no request is sent.
	FromStep *int `json:"from_step,omitempty"`
	// Of is the position of the target with the answers that are replayed; nil: each target's own.
	Of *int `json:"of,omitempty"`
}

// ToolsOf returns the tools of a case with their contracts.
func (r *Run) ToolsOf(c *callvet.Case) []callvet.Tool {
	if c.Tools != nil {
		return c.Tools
	}
	return r.Suite.Tools
}

// rules returns the rules of safety for the run's attempts; nil: the constraints of its tools.
func (m *Manifest) rules() *safety.Rules {
	if m.Guard == nil {
		return nil
	}
	return &m.Guard.Rules
}
