// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/app"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/trace"
)

// growing is a file in memory.
type growing struct {
	app.Growing
	bytes.Buffer
}

func (g *growing) Write(p []byte) (int, error) { return g.Buffer.Write(p) }
func (*growing) Sync() error                   { return nil }

// failing fails each call. It reports the duration takes; the clock advances by real.
type failing struct {
	now         *time.Time
	takes, real time.Duration
}

func (f failing) Answer(context.Context, callvet.Call) (callvet.Reply, error) {
	*f.now = f.now.Add(f.real)
	return callvet.Reply{Status: callvet.StatusExecErr, Error: "503", Latency: f.takes, Env: callvet.EnvMock}, nil
}

// TestTimesOfCalls: the trace of an agent has the time of each call, including the durations that
// mocks only report.
func TestTimesOfCalls(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		takes, real time.Duration
		want        []float64
	}{
		"only said": {takes: 300 * time.Millisecond, want: []float64{1000, 1400, 1800}},
		"really passes": {
			takes: 300 * time.Millisecond, real: 300 * time.Millisecond,
			want: []float64{1000, 1400, 1800},
		},
		"part of it": {
			takes: 300 * time.Millisecond, real: 100 * time.Millisecond,
			want: []float64{1000, 1400, 1800},
		},
		"more than it says": {
			takes: 300 * time.Millisecond, real: 500 * time.Millisecond,
			want: []float64{1000, 1600, 2200},
		},
	} {
		now := time.Unix(1_700_000_000, 0)
		file := &growing{}
		red, err := redact.New(redact.Config{})
		if err != nil {
			t.Fatal(err)
		}
		log := &traceLog{
			name: "t.jsonl", stream: true, red: red, now: func() time.Time { return now }, file: file,
			taken: map[loggedTask]int{},
		}
		c := conversation{world: failing{&now, tt.takes, tt.real}, log: log.attempt("task", "agent")}
		now = now.Add(time.Second)
		for range tt.want {
			if _, err := c.call(t.Context(), "get", json.RawMessage(`{"id":1}`), nil); err != nil {
				t.Fatal(err)
			}
			now = now.Add(100 * time.Millisecond)
		}
		if err := c.log.end(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		var got []float64
		for line := range bytes.Lines(file.Bytes()) {
			var s struct {
				Type  string   `json:"type"`
				Start *float64 `json:"start_ms"`
			}
			if err := json.Unmarshal(line, &s); err != nil {
				t.Fatal(err)
			}
			if s.Start != nil {
				got = append(got, *s.Start)
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s\n%s", name, d, file)
		}
		r, err := trace.Open(bytes.NewReader(file.Bytes()), trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		attempts := 0
		for a, err := range r.Attempts(trace.NewGrouper(0)) {
			if err != nil {
				t.Fatal(err)
			}
			attempts++
			if calls := a.Trace.Calls(); len(calls) != len(tt.want) || *calls[1].StartMS != tt.want[1] {
				t.Errorf("%s: read again: %+v", name, calls)
			}
		}
		if attempts != 1 {
			t.Errorf("%s: %d attempts", name, attempts)
		}
	}
	// Without a file the clock is not read.
	now := time.Unix(0, 0)
	c := conversation{world: failing{now: &now}}
	if call, err := c.call(t.Context(), "get", nil, nil); err != nil || call.StartMS != nil {
		t.Errorf("%+v, %v", call, err)
	}
}
