// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"testing"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/panel"
)

func TestLeaderboardAndTrend(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.suiteOf(t, "ana", "suite_1")
	empty := told[server.Leaderboard](t, s, "ana", "GET", "/api/leaderboard?suite_id=suite_1", "")
	if len(empty.Items) != 0 || empty.Others != 0 || empty.Suite != "" {
		t.Errorf("no run: %+v", empty)
	}
	good := app.TargetSpec{Target: "offline/lexical", Name: "good"}
	bad := app.TargetSpec{Target: "offline/lexical", Name: "bad", ToolChoice: "none"}
	first := s.ran(t, "ana", "", 1, bad)
	second := s.ran(t, "ana", "", 2, good, bad)
	s.ran(t, "bo", "", 1, good) // not hers to read

	board := told[server.Leaderboard](t, s, "ana", "GET", "/api/leaderboard?suite_id=suite_1", "")
	if len(board.Items) != 2 || board.Suite == "" || board.Others != 0 {
		t.Fatalf("leaderboard: %+v", board)
	}
	for i, row := range board.Items {
		if row.Run != second || row.Target != []string{"good", "bad"}[i] || row.Hash == "" || row.Score.N == 0 || row.Pass == nil {
			t.Errorf("row %d: %+v", i, row)
		}
	}
	top, low := board.Items[0], board.Items[1]
	if got := [4]int{top.Rank, top.Worst, low.Rank, low.Worst}; board.Metric != panel.MetricPass || got != [4]int{1, 1, 2, 2} {
		t.Errorf("ranks %v by %s of %+v and %+v", got, board.Metric, top.Pass, low.Pass)
	}

	trend := told[server.Trend](t, s, "ana", "GET", "/api/tool-suites/suite_1/trend", "")
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
	last := told[server.Trend](t, s, "ana", "GET", "/api/tool-suites/suite_1/trend?limit=1&config_hash="+again.Hash, "")
	if len(last.Entries) != 1 || !last.Older || len(last.Entries[0].Targets) != 1 || last.Entries[0].Targets[0].Previous != first {
		t.Errorf("the newest run of one configuration: %+v", last)
	}
	if code, body := s.ask(t, "bo", "GET", "/api/leaderboard?suite_id=suite_1", ""); code != 404 {
		t.Errorf("somebody else's suite: %d %s", code, body)
	}
	if code, body := s.ask(t, "ana", "GET", "/api/leaderboard", ""); code != 422 {
		t.Errorf("no suite: %d %s", code, body)
	}
}
