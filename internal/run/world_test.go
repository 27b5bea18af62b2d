// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
)

// closing notes how often it was asked and closed.
type closing struct{ log *[]string }

func (c closing) Answer(context.Context, callvet.Call) (callvet.Reply, error) {
	*c.log = append(*c.log, "answer")
	return callvet.Reply{Status: callvet.StatusOK, Result: json.RawMessage(`1`), Env: callvet.EnvRecorded}, nil
}

func (c closing) Close() error {
	*c.log = append(*c.log, "close")
	return nil
}

// TestThrough: the calls of a case that checks only its calls are answered, with further requests,
// if Through is true; each attempt has a world of its own, which ends with it.
func TestThrough(t *testing.T) {
	t.Parallel()
	for through, want := range map[bool][]string{
		false: {},
		true:  {"case-000000 m 0", "answer", "close", "case-000000 m 1", "answer", "close"},
	} {
		log := []string{}
		cfg, j := onPaper(suite(1), 1, func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
			if len(req.Turns) == 1 {
				return calls("weather", `{}`), nil
			}
			return answer("7 degrees"), nil
		})
		cfg.Repeats = 2
		cfg.Limits = map[string]run.Limits{"": {Concurrency: 1}}
		cfg.Worlds = func(c *callvet.Case, target string, repeat int) callvet.World {
			log = append(log, fmt.Sprint(c.ID, " ", target, " ", repeat))
			return closing{&log}
		}
		cfg.Through = func(*callvet.Case) bool { return through }
		mustRun(t, cfg)
		if d := cmp.Diff(want, log); d != "" {
			t.Errorf("through %v: %s", through, d)
		}
		wantEnd := map[bool]callvet.End{false: callvet.EndCalled, true: callvet.EndAnswered}[through]
		if end := j.cells[0].Trace.End; end != wantEnd {
			t.Errorf("through %v: ended with %s", through, end)
		}
	}
}

// TestWorldKey: answers are not reused between worlds that answer differently.
func TestWorldKey(t *testing.T) {
	t.Parallel()
	db := openStore(t)
	ask := func(key string, through bool) (asked int) {
		s := suite(1)
		s.Cases[0].Expect.ResponseNonEmpty = !through
		m := modelFunc(func(context.Context, *callvet.Request) (*callvet.Response, error) {
			asked++
			return answer("no"), nil
		})
		cfg := config(t, db, s, m)
		cfg.Cache, cfg.Targets[0].Model = db, identified{m, "here"}
		cfg.Worlds = func(*callvet.Case, string, int) callvet.World { return constant{} }
		cfg.Through = func(*callvet.Case) bool { return through }
		cfg.WorldKey = key
		mustRun(t, cfg)
		return asked
	}
	for i, tt := range []struct {
		key     string
		through bool
		want    int
	}{
		{"", false, 1},
		{"", false, 0},
		{"a", false, 1},
		{"a", false, 0},
		{"b", false, 1},
		{"", true, 1},
		{"a", true, 1},
		{"a", true, 0},
	} {
		if got := ask(tt.key, tt.through); got != tt.want {
			t.Errorf("%d: %d requests, want %d", i, got, tt.want)
		}
	}
}
