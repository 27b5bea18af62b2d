// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/plan"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// maxRanked is how many runs a leaderboard reads, the newest first.
const maxRanked = 200

// Leaderboard ranks configurations on a suite.
type Leaderboard struct {
	SuiteID string `json:"suite_id"`
	Suite   string `json:"suite_hash" doc:"the suite as the newest whole run had it: only runs on it are ranked"`
	// Others counts configurations without a run on the current suite.
	Others int         `json:"others" doc:"how many configurations have whole runs on other versions of the suite only"`
	Metric string      `json:"metric" doc:"by which they are ranked: that of the first hard gate of the suite, else pass_rate"`
	Unread []string    `json:"unread,omitempty" doc:"runs that cannot be read: their configurations may have any rank"`
	Items  []LeaderRow `json:"items"`
}

// LeaderRow is a configuration with its newest whole run.
type LeaderRow struct {
	Rank    int             `json:"rank" doc:"1 and the number of configurations that are significantly better: paired by case, after Holm over all pairs"`
	Worst   int             `json:"worst_rank" doc:"the number of configurations less those that are significantly worse; the rank is certain where it is that of rank"`
	Target  string          `json:"target"`
	Config  app.TargetSpec  `json:"config"`
	Hash    string          `json:"config_hash"`
	Run     string          `json:"eval_id"`
	Created time.Time       `json:"timestamp"`
	Score   stats.Interval  `json:"score" doc:"of the overall score"`
	Pass    *stats.Interval `json:"pass_rate,omitempty"`
	Floor   bool            `json:"floor,omitempty" doc:"a target that chooses without a model"`
}

// Trend lists the runs of a suite in order of time.
type Trend struct {
	SuiteID string       `json:"suite_id"`
	Entries []TrendEntry `json:"entries"`
	Older   bool         `json:"older,omitempty" doc:"there are older runs than these"`
}

// TrendEntry is a run in its place in time.
type TrendEntry struct {
	Run       string          `json:"eval_id"`
	Timestamp time.Time       `json:"timestamp"`
	Status    string          `json:"status"`
	Version   int64           `json:"suite_version,omitempty"`
	Suite     string          `json:"suite_hash"`
	Score     *float64        `json:"score" doc:"avg_score of the run; null if there is none"`
	Interval  *stats.Interval `json:"score_interval,omitempty" doc:"score with its interval and n"`
	Targets   []TrendTarget   `json:"targets"`
	Warnings  []string        `json:"warnings,omitempty" doc:"also lists differences from the earlier runs other than the time: suite, tasks, prompts, tools, parameters, rules"`
}

// TrendTarget is a target of a run, with the change from the previous run of the same
// configuration.
type TrendTarget struct {
	TimelineTarget
	Previous string `json:"previous_eval_id,omitempty" doc:"the run that it is compared with: the one before it of the same configuration"`
}

// AddTrends adds the leaderboard and the trend of a suite.
func AddTrends(s *api.Server) {
	op := api.Operations("experiments", "/api")
	api.Answer(s, op("get-leaderboard", http.MethodGet, "/leaderboard",
		"Which configuration does best on a suite, as far as the data show"), api.Access{}, api.With(s, leaderboard))
	api.Answer(s, op("get-trend", http.MethodGet, "/tool-suites/{id}/trend",
		"Runs of a suite in the order of time, each configuration against its run before"),
		api.Access{Objects: map[string]api.Kind{"id": api.KindSuite}}, api.With(s, trend))
}

// runsOn are runs of a suite that by may read, the newest first.
func runsOn(ctx context.Context, s *api.Server, by *account.Principal, suite string, most int) ([]trial, error) {
	list, err := s.Config.Store.Rows().RunEntriesOf(ctx,
		rows.RunEntriesOfParams{
			UserID: by.User, Everything: by.Role == account.Admin, SuiteID: suite,
			Before: math.MaxInt64, AtMost: int64(most),
		})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	entries := make([]rows.RunEntry, len(list))
	for i := range list {
		entries[i] = *runEntryOf(&list[i])
	}
	return trials(ctx, s, entries)
}

func leaderboard(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	Suite string `query:"suite_id" required:"true" minLength:"1" maxLength:"100"`
},
) (*Leaderboard, error) {
	if err := s.May(ctx, by, api.KindSuite, in.Suite, false); err != nil {
		return nil, err
	}
	runs, err := runsOn(ctx, s, by, in.Suite, maxRanked)
	if err != nil {
		return nil, err
	}
	out := Leaderboard{SuiteID: in.Suite, Items: []LeaderRow{}}
	made := map[string]LeaderRow{} // by run and configuration
	configs := map[string]bool{}
	var on []plan.ExperimentResult
	for _, r := range scoresOf(runs) {
		if !r.Whole {
			continue
		}
		if configs[r.Config] = true; out.Suite == "" {
			out.Suite = r.Suite
		}
		if r.Suite == out.Suite {
			on = append(on, r.ExperimentResult)
			made[r.Run+" "+r.Config] = LeaderRow{
				Target: r.Target, Config: r.spec, Hash: r.Config, Run: r.Run,
				Created: r.created, Pass: r.pass, Floor: r.Floor,
			}
		}
	}
	for _, r := range plan.NewestResults(on) {
		row := made[r.Run+" "+r.Config]
		row.Score = r.Score
		out.Items = append(out.Items, row)
	}
	out.Others = len(configs) - len(out.Items)
	if err := rank(ctx, s, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// ranks ranks the targets of runs, at least one. The comparisons of all pairs are cached until one
// of the runs changes.
func ranks(ctx context.Context, s *api.Server, of []results.Contender) (*results.Ranking, error) {
	about := sha256.New()
	for i := range of {
		state, err := results.State(ctx, s.Config.App, of[i].Run)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(about, "%q %q %q\n", of[i].Run, of[i].Target, state)
	}
	return api.Stored(ctx, s, of[0].Run, fmt.Sprintf("ranks %x", about.Sum(nil)),
		func() (*results.Ranking, error) { return results.Rank(ctx, s.Config.App, of) })
}

// rank sorts the rows by rank.
func rank(ctx context.Context, s *api.Server, out *Leaderboard) error {
	if len(out.Items) == 0 {
		return nil
	}
	of := make([]results.Contender, len(out.Items))
	for i := range out.Items {
		of[i] = results.Contender{Run: out.Items[i].Run, Target: out.Items[i].Target}
	}
	ranking, err := ranks(ctx, s, of)
	if err != nil {
		return err
	}
	out.Metric, out.Unread = ranking.Metric, ranking.Unread
	for i, r := range ranking.Ranks {
		out.Items[i].Rank, out.Items[i].Worst = r.Best, r.Worst
	}
	slices.SortStableFunc(out.Items, func(a, b LeaderRow) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Worst, b.Worst),
			cmp.Compare(b.Score.Lower, a.Score.Lower), cmp.Compare(b.Score.Point, a.Score.Point),
			cmp.Compare(a.Hash, b.Hash))
	})
	return nil
}

func trend(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	ID    string `path:"id" maxLength:"100"`
	Hash  string `query:"config_hash" maxLength:"100" doc:"of one configuration only"`
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"how many runs, the newest"`
},
) (*Trend, error) {
	runs, err := runsOn(ctx, s, by, in.ID, maxRanked)
	if err != nil {
		return nil, err
	}
	out := Trend{SuiteID: in.ID, Entries: []TrendEntry{}, Older: len(runs) == maxRanked}
	slices.Reverse(runs)
	before := map[string]*trial{} // by configuration
	all := make([]TrendEntry, len(runs))
	var claims families
	for i := range runs {
		if err := trendEntry(ctx, s, &all[i], &runs[i], before, &claims); err != nil {
			return nil, err
		}
	}
	claims.settle() // including those that are not shown
	for i := range all {
		e := &all[i]
		if e.Targets = slices.DeleteFunc(e.Targets,
			func(t TrendTarget) bool { return in.Hash != "" && t.Hash != in.Hash }); len(e.Targets) > 0 {
			out.Entries = append(out.Entries, *e)
		}
	}
	if older := len(out.Entries) - in.Limit; older > 0 {
		out.Entries, out.Older = out.Entries[older:], true
	}
	return &out, nil
}

// trendEntry compares the targets of a run with those of earlier runs, and adds the run to before.
func trendEntry(ctx context.Context, s *api.Server, e *TrendEntry, r *trial, before map[string]*trial,
	claims *families,
) error {
	n := min(len(r.line.Targets), len(r.config.Targets))
	*e = TrendEntry{
		Run: r.line.ID, Timestamp: r.line.Created, Status: r.line.Status, Version: r.line.Version,
		Suite: r.config.SuiteHash, Score: r.line.AvgScore, Interval: r.line.AvgInterval,
		Targets: make([]TrendTarget, n),
	}
	pairs := map[*trial][]panel.Pair{} // with the run before of each configuration
	for i := range n {
		c := &r.config.Targets[i]
		e.Targets[i].TimelineTarget = TimelineTarget{Config: c.Spec, Hash: c.Hash}
		e.Targets[i].measured(&r.line.Targets[i])
		if r.line.Targets[i].Score != nil {
			if p := before[c.Hash]; p != nil && p != r {
				pairs[p] = append(pairs[p], panel.Pair{Baseline: p.named(c.Hash), Candidate: e.Targets[i].Name})
				e.Targets[i].Previous = p.line.ID
			}
			before[c.Hash] = r
		}
	}
	for p, of := range pairs {
		with, err := compared(ctx, s, r.line.ID, traces.DiffRequest{Base: app.Side{Run: p.line.ID}, Pairs: of})
		if err != nil {
			return err
		}
		for i := range e.Targets {
			if t := &e.Targets[i]; t.Previous == p.line.ID {
				claims.add(&t.TimelineTarget, with)
			}
		}
		for _, w := range differs(with, r.line, p.line) {
			if !slices.Contains(e.Warnings, w) {
				e.Warnings = append(e.Warnings, w)
			}
		}
	}
	slices.Sort(e.Warnings) // map order is random
	return nil
}

// named is the target of a configuration.
func (r *trial) named(hash string) string {
	for i := range r.config.Targets {
		if r.config.Targets[i].Hash == hash {
			return r.config.Targets[i].Name
		}
	}
	return ""
}
