// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/world"
)

// TestBrokenOffWhileJudged: an attempt with stopped scorers is not kept, so that a resumed run
// makes it again; the others are.
func TestBrokenOffWhileJudged(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	journal := &memory{}
	first := true
	cfg := run.Config{
		Suite: suite(3),
		Targets: []run.Target{target("m", "p",
			modelFunc(func(context.Context, *callvet.Request) (*callvet.Response,
				error,
			) {
				return calls("weather", `{}`), nil
			}))},
		Limits: map[string]run.Limits{"": {Concurrency: 1}}, Grace: -1, Journal: journal,
		Compile: func(*callvet.Case) run.Compiled {
			return compiled{waits: func(ctx context.Context) error {
				if first { // of one worker
					first = false
					return nil
				}
				cancel()
				<-ctx.Done()
				return ctx.Err()
			}}
		},
	}
	sum, err := run.Run(ctx, cfg)
	if err != nil || sum.Status != run.StatusInterrupted || sum.Done != 1 || len(journal.cells) != 1 {
		t.Errorf("%+v %v", sum, err)
	}
}

// TestScorersReadStoredAttempts: a different scorer sends no request again, also if calls are
// answered.
func TestScorersReadStoredAttempts(t *testing.T) {
	t.Parallel()
	db := openStore(t)
	ask := func(scorers ...callvet.Scorer) (asked int) {
		t.Helper()
		s := suite(1)
		s.Cases[0].Expect.Scorers = scorers
		s.Mocks = []callvet.Mock{{Tool: "weather", Replies: []callvet.MockReply{{Result: []byte(`{"t":9}`)}}}}
		m := modelFunc(func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
			if asked++; len(req.Turns) > 1 {
				return answer("9 degrees"), nil
			}
			return calls("weather", `{}`), nil
		})
		cfg := config(t, db, s, m)
		cfg.Cache, cfg.Targets[0].Model = db, identified{m, "here"}
		cfg.Worlds = func(c *callvet.Case, _ string,
			_ int,
		) callvet.World {
			return world.Mocks(s, c, world.MockOptions{})
		}
		mustRun(t, cfg)
		return asked
	}
	if n := ask(callvet.Scorer{Name: "a", Expr: "true"}); n != 2 {
		t.Errorf("%d requests; the answer after the call is what a scorer judges", n)
	}
	if n := ask(callvet.Scorer{Name: "a", Expr: "false"}); n != 0 {
		t.Errorf("another expression asks again: %d requests", n)
	}
	if n := ask(); n != 1 {
		t.Errorf("without a scorer the first turn is enough, which is another attempt: %d requests", n)
	}
}
