// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/panel"
)

func TestLeaderboardAndTrend(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.suiteOf(t, "ana", "suite_1")
	empty := stored[server.Leaderboard](t, s, "ana", "GET", "/api/leaderboard?suite_id=suite_1", "")
	if len(empty.Items) != 0 || empty.Others != 0 || empty.Suite != "" {
		t.Errorf("no run: %+v", empty)
	}
	good := app.TargetSpec{Target: "offline/lexical", Name: "good"}
	bad := app.TargetSpec{Target: "offline/lexical", Name: "bad", ToolChoice: "none"}
	first := s.ran(t, "ana", "", 1, bad)
	second := s.ran(t, "ana", "", 2, good, bad)
	s.ran(t, "bo", "", 1, good) // not hers to read

	board := stored[server.Leaderboard](t, s, "ana", "GET", "/api/leaderboard?suite_id=suite_1", "")
	if len(board.Items) != 2 || board.Suite == "" || board.Others != 0 {
		t.Fatalf("leaderboard: %+v", board)
	}
	for i, row := range board.Items {
		if row.Run != second || row.Target != []string{"good", "bad"}[i] || row.Hash == "" || row.Score.N == 0 ||
			row.Pass == nil {
			t.Errorf("row %d: %+v", i, row)
		}
	}
	top, low := board.Items[0], board.Items[1]
	if got := [4]int{top.Rank, top.Worst, low.Rank, low.Worst}; board.Metric != panel.MetricPass ||
		got != [4]int{1, 1, 2, 2} {
		t.Errorf("ranks %v by %s of %+v and %+v", got, board.Metric, top.Pass, low.Pass)
	}

	trend := stored[server.Trend](t, s, "ana", "GET", "/api/tool-suites/suite_1/trend", "")
	if len(trend.Entries) != 2 || trend.Older || trend.Entries[0].Run != first || trend.Entries[1].Run != second {
		t.Fatalf("trend: %+v", trend)
	}
	if a := trend.Entries[0].Targets[0]; a.Previous != "" || a.Change != nil || a.Score == nil {
		t.Errorf("the first run has none before it: %+v", a)
	}
	fresh, again := trend.Entries[1].Targets[0], trend.Entries[1].Targets[1]
	if fresh.Previous != "" || fresh.Change != nil {
		t.Errorf("a new configuration has no run before: %+v", fresh)
	}
	if again.Previous != first || again.Against != "bad" || again.Change == nil || again.Change.Point != 0 {
		t.Errorf("the same configuration again: %+v", again)
	}
	if all := stored[server.Trend](t, s, "ana", "GET", "/api/tool-suites/suite_1/trend?limit=2",
		""); len(all.Entries) != 2 || all.Older {
		t.Errorf("as many as there are: %+v", all)
	}
	last := stored[server.Trend](t, s, "ana", "GET",
		"/api/tool-suites/suite_1/trend?limit=1&config_hash="+again.Hash, "")
	if len(last.Entries) != 1 || !last.Older || len(last.Entries[0].Targets) != 1 ||
		last.Entries[0].Targets[0].Previous != first {
		t.Errorf("the newest run of one configuration: %+v", last)
	}
	if one := stored[server.Trend](t, s, "ana", "GET", "/api/tool-suites/suite_1/trend?config_hash="+fresh.Hash,
		""); len(one.Entries) != 1 || one.Older {
		t.Errorf("the runs of a configuration that one run has: %+v", one)
	}
	if code, body := s.ask(t, "bo", "GET", "/api/leaderboard?suite_id=suite_1", ""); code != 404 {
		t.Errorf("somebody else's suite: %d %s", code, body)
	}
	if code, body := s.ask(t, "ana", "GET", "/api/leaderboard", ""); code != 422 {
		t.Errorf("no suite: %d %s", code, body)
	}
}

// TestRunChange: a run is compared with the newest earlier one of the same suite and model,
// whatever its prompt. If its experiment has a baseline, it is compared with that. The first run is
// compared with none.
func TestRunChange(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.suiteOf(t, "ana", "suite_1")
	silent := app.TargetSpec{Target: "offline/lexical", Name: "lexical", ToolChoice: "none"}
	prompted := app.TargetSpec{Target: "offline/lexical", Name: "lexical", SystemPrompt: "Call tools."}
	twin := app.TargetSpec{Target: "offline/lexical", Name: "twin", ToolChoice: "none"}
	first := s.ran(t, "ana", "", 1, silent)
	s.ran(t, "bo", "", 1, prompted) // not hers to read
	second := s.ran(t, "ana", "", 1, prompted)
	third := s.ran(t, "ana", "", 1, twin, prompted)

	none := stored[server.RunChanges](t, s, "ana", "GET", "/api/runs/"+first+"/change", "")
	if len(none.Items) != 1 || none.Items[0].Base != "" || none.Items[0].Change != nil {
		t.Errorf("the first run: %+v", none)
	}
	change := stored[server.RunChanges](t, s, "ana", "GET", "/api/runs/"+second+"/change", "")
	if len(change.Items) != 1 {
		t.Fatalf("the second run: %+v", change)
	}
	up := change.Items[0]
	if up.Base != first || up.Baseline || up.BaseTarget != "lexical" || up.Change == nil || up.Change.Point <= 0 ||
		up.Verdict != panel.ChangeBetter || up.Change.N == 0 {
		t.Errorf("the same model with another prompt: %+v", up)
	}
	if !strings.Contains(strings.Join(change.Warnings, "\n"), "prompt") {
		t.Errorf("no word on the other prompt: %q", change.Warnings)
	}
	both := stored[server.RunChanges](t, s, "ana", "GET", "/api/runs/"+third+"/change", "").Items
	if len(both) != 2 || both[0].Base != first || both[0].BaseTarget != "lexical" {
		t.Fatalf("asked as in an older run, while the run between asked another way: %+v", both)
	}
	same := both[1]
	if same.Base != second || same.Change == nil || same.Change.Point != 0 || same.Verdict == panel.ChangeBetter ||
		same.Verdict == panel.ChangeWorse {
		t.Errorf("the same again: %+v", same)
	}

	s.ran(t, "ana", "", 1, app.TargetSpec{Target: "offline/lexical", Name: "lexical", SystemPrompt: "A"},
		app.TargetSpec{Target: "offline/lexical", Name: "twin", SystemPrompt: "B"})
	named := s.ran(t, "ana", "", 1, app.TargetSpec{Target: "offline/lexical", Name: "twin", SystemPrompt: "C"})
	if items := stored[server.RunChanges](t, s, "ana", "GET", "/api/runs/"+named+"/change", "").Items; len(items) != 1 ||
		items[0].BaseTarget != "twin" {
		t.Errorf("not compared with its namesake: %+v", items)
	}

	made := stored[server.ExperimentDetails](t, s, "ana", "POST", "/api/experiments",
		`{"name":"prompts","suite_id":"suite_1","baseline_eval_id":"`+first+`"}`)
	if code, body := s.ask(t, "ana", "PATCH", "/api/runs/"+third, `{"experiment_id":"`+made.ID+`"}`); code >= 300 {
		t.Fatal(code, body)
	}
	based := stored[server.RunChanges](t, s, "ana", "GET", "/api/runs/"+third+"/change", "").Items[1]
	if based.Base != first || !based.Baseline || based.Verdict != panel.ChangeBetter {
		t.Errorf("against the baseline: %+v", based)
	}
	line := stored[server.Timeline](t, s, "ana", "GET", "/api/experiments/"+made.ID+"/timeline", "")
	if c := line.Entries[len(line.Entries)-1].Targets[1].PassChange; c == nil || c.Change.Point != based.Change.Point ||
		c.Verdict != based.Verdict {
		t.Errorf("the timeline has another change: %+v", c)
	}
	if code, body := s.ask(t, "bo", "GET", "/api/runs/"+third+"/change", ""); code != 404 {
		t.Errorf("somebody else's run: %d %s", code, body)
	}
}

// cancelled adds runs between others: copies of a run that were cancelled, which no run is compared with.
func (s *site) cancelled(t *testing.T, run string, n int) {
	t.Helper()
	const count = "WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < ?2) "
	s.damage(t,
		count+`INSERT INTO run_entries(run_id, user_id, suite_id, suite_version, experiment_id, job_id, shared, created)
		SELECT run_id || '-' || k.n, user_id, suite_id, suite_version, experiment_id, '', FALSE, created FROM k, run_entries WHERE run_id = ?1`, run, n)
	s.damage(t, count+`INSERT INTO runs(id, name, created, finished, status, suite_hash, suite_name, manifest)
		SELECT id || '-' || k.n, '', created, finished, 'cancelled', suite_hash, suite_name, manifest FROM k, runs WHERE id = ?1`, run, n)
}

// TestUnracedRunChangeAmongMany: the run before is found behind a page of newer runs and among
// those that were cancelled, and is not looked for beyond a page of earlier runs.
func TestUnracedRunChangeAmongMany(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.suiteOf(t, "ana", "suite_1")
	base := func(run string) string {
		t.Helper()
		items := stored[server.RunChanges](t, s, "ana", "GET", "/api/runs/"+run+"/change", "").Items
		if len(items) != 1 {
			t.Fatalf("%+v", items)
		}
		return items[0].Base
	}
	first := s.ran(t, "ana", "", 1)
	s.cancelled(t, first, 199)
	second := s.ran(t, "ana", "", 1)
	if got := base(second); got != first {
		t.Errorf("after 199 that were cancelled: %q", got)
	}
	s.cancelled(t, second, 200)
	third := s.ran(t, "ana", "", 1)
	if got := base(third); got != "" {
		t.Errorf("after 200 that were cancelled: %q", got)
	}
	if got := base(second); got != first {
		t.Errorf("with a page of newer runs: %q", got)
	}
}

// TestRunChangeWithoutSuite: a run without a suite of the server is compared with the one before of the same name.
func TestRunChangeWithoutSuite(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first, other, last := s.ran(t, "ana", "", 1), s.ran(t, "ana", "", 1), s.ran(t, "ana", "", 1)
	s.damage(t, "UPDATE run_entries SET suite_id = ''")
	s.damage(t, "UPDATE runs SET suite_name = 'another' WHERE id = ?", other)
	items := stored[server.RunChanges](t, s, "ana", "GET", "/api/runs/"+last+"/change", "").Items
	if len(items) != 1 || items[0].Base != first {
		t.Errorf("compared with %+v, want %s, not %s of another suite", items, first, other)
	}
}
