// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/sys"
)

// TestPanicEndsTheRun: Run panics after a bug in code that a worker or the committer calls, with
// the finished cells stored, even if other requests would never end.
func TestPanicEndsTheRun(t *testing.T) {
	t.Parallel()
	const bad = "case-000040"
	hang := func(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
		if req.CaseID > bad {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return calls("weather", `{}`), nil
	}
	for name, change := range map[string]func(*run.Config){
		"model": func(c *run.Config) {
			c.Targets[0].Model = modelFunc(func(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
				if req.CaseID == bad {
					panic("bug")
				}
				return hang(ctx, req)
			})
		},
		"observer": func(c *run.Config) {
			c.Observe = func(e run.Event) {
				if e.Done > 30 {
					panic("bug")
				}
			}
		},
	} {
		db, s := openStore(t), suite(80)
		cfg := config(t, db, s, hang)
		change(&cfg)
		func() {
			defer func() {
				if p, ok := recover().(*sys.Panic); !ok || p.Error() != "bug" {
					t.Errorf("%s: %v came out", name, p)
				}
			}()
			_, err := run.Run(t.Context(), cfg)
			t.Errorf("%s: the run ended with %v", name, err)
		}()
		if n := len(stored(t, db, cfg.RunID)); n < 30 || n > 41 {
			t.Errorf("%s: %d cells are stored", name, n)
		}
	}
}
