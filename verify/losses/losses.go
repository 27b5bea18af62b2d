// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package losses

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"github.com/callvet/callvet/verify/proof"
	"github.com/callvet/callvet/verify/serving"
)

// loss is a way for a run to lose attempts.
type loss struct {
	name string
	// run makes the run on the command line; nil: the server makes it, and it is cancelled there.
	run func(context.Context, *lab) error
	// lost is how many attempts are lost; 0: that depends on the moment.
	lost int
	// eval changes what a schedule runs; nil: a schedule does not lose attempts in this way.
	eval func(l *lab, eval map[string]any)
}

// few is a number of lost attempts below 5 %.
const few = 2

func all() []loss {
	third := 0
	for n := range planned {
		if loses(n) {
			third++
		}
	}
	of := func(model string) func(*lab, map[string]any) {
		return func(l *lab, eval map[string]any) {
			eval["targets"] = []any{map[string]any{
				"provider_key": "openai", "model_id": model,
				"base_url": l.model.URL,
			}}
		}
	}
	calls := func(most int) (func(context.Context, *lab) error, func(*lab, map[string]any)) {
		return func(ctx context.Context, l *lab) error {
			return l.runs(ctx, 5, l.running("calls.json", steady, "--max-calls", fmt.Sprint(most)))
		}, func(_ *lab, eval map[string]any) { eval["max_calls"] = most }
	}
	judged := func(l *lab, eval map[string]any) {
		eval["judge"] = map[string]any{
			"judge": []string{"rubric"}, "judge_model": []string{"openai/" + judge},
			"judge_base_url": l.model.URL,
		}
	}
	half, evalHalf := calls(planned / 2)
	most, evalMost := calls(planned - few)
	return []loss{
		{name: "killed", run: func(ctx context.Context, l *lab) error { return l.signals(ctx, syscall.SIGKILL) }},
		{name: "interrupted", run: func(ctx context.Context, l *lab) error { return l.signals(ctx, syscall.SIGINT) }},
		{name: "cancelled", eval: func(*lab, map[string]any) {}},
		{name: "out of budget", run: half, lost: planned / 2, eval: evalHalf},
		{name: "out of budget near the end", run: most, lost: few, eval: evalMost},
		{name: "disk full", run: func(ctx context.Context, l *lab) error { return l.full(ctx) }},
		{name: "provider's errors", lost: third, eval: of(down), run: func(ctx context.Context, l *lab) error {
			return l.runs(ctx, 0, l.running("calls.json", down))
		}},
		{
			name: "answers that cannot be decoded", lost: third, eval: of(broken),
			run: func(ctx context.Context, l *lab) error {
				return l.runs(ctx, 0, l.running("calls.json", broken))
			},
		},
		{name: "silent judge", lost: third, eval: judged, run: func(ctx context.Context, l *lab) error {
			return l.runs(ctx, 0, l.running("judged.json", steady, "--judge", "rubric", "--judge-model",
				"openai/"+judge, "--judge-base-url", l.model.URL))
		}},
	}
}

// facesDue is the number of comparisons of each loss, and of trace files and schedules.
const (
	facesDue     = 16
	tracesDue    = 8
	schedulesDue = 4
)

// Verify makes every loss with the binary, and compares every face of it.
func Verify(ctx context.Context, c *proof.Check, binary string) (err error) {
	if binary, err = filepath.Abs(binary); err != nil {
		return fmt.Errorf("verify lost: %w", err)
	}
	scheduled := 0
	for _, l := range all() {
		c.Due(l.name, facesDue, "this command")
		if l.eval != nil {
			scheduled++
		}
	}
	c.Due(ofTraces, tracesDue, "this command")
	c.Due(ofSchedules, schedulesDue*scheduled, "this command")
	m := startModel()
	defer m.Close()
	for _, l := range all() {
		if lerr := inLab(ctx, binary, m, func(lab *lab) error { return l.verify(ctx, c, lab) }); lerr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", l.name, lerr))
		}
	}
	if terr := inLab(ctx, binary, m, func(lab *lab) error { return traces(ctx, c, lab) }); terr != nil {
		err = errors.Join(err, fmt.Errorf("trace file: %w", terr))
	}
	return err
}

// inLab runs a function with a lab in a separate folder.
func inLab(ctx context.Context, binary string, m *model, do func(*lab) error) (err error) {
	dir, err := os.MkdirTemp("", "callvet-lost-*")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	l, err := newLab(binary, dir, m)
	if err != nil {
		return err
	}
	return do(l)
}

// serve starts a server on the store of the lab.
func (l *lab) serve(ctx context.Context, do func(*serving.Server) error) error {
	s, err := serving.Start(ctx, l.binary, l.dir, "--allow-private", "all")
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Stop())
}

func (l *loss) verify(ctx context.Context, c *proof.Check, lab *lab) error {
	if l.run != nil {
		if err := l.run(ctx, lab); err != nil {
			return err
		}
	}
	return lab.serve(ctx, func(s *serving.Server) error {
		if l.run == nil {
			if err := lab.cancelled(ctx, s); err != nil {
				return err
			}
		}
		f := &faces{Check: c, lab: lab, server: s, loss: l}
		err := f.verify(ctx)
		if l.eval != nil {
			err = errors.Join(err, f.schedule(ctx))
		}
		return err
	})
}

// keep imports a suite of the lab.
func keep(ctx context.Context, s *serving.Server, judged bool) (id string, err error) {
	var made struct {
		ID string `json:"suite_id"`
	}
	err = s.Ask(ctx, http.MethodPost, "/api/tool-eval/import", suiteOf(judged), &made)
	return made.ID, err
}

// evalOf is a request for a run of a suite.
func (l *lab) evalOf(suite string) map[string]any {
	return map[string]any{
		"suite_id": suite, "concurrency": 1, "no_cache": true,
		"targets": []any{map[string]any{"provider_key": "openai", "model_id": steady, "base_url": l.model.URL}},
	}
}

// cancelled starts a run on the server, and cancels it when half of the cases are answered.
func (l *lab) cancelled(ctx context.Context, s *serving.Server) error {
	suite, err := keep(ctx, s, false)
	if err != nil {
		return err
	}
	eval := l.evalOf(suite)
	eval["name"] = name
	var sent struct {
		Job string `json:"job_id"`
	}
	from := l.model.answered.Load()
	if err := s.Ask(ctx, http.MethodPost, "/api/tool-eval", eval, &sent); err != nil {
		return err
	}
	if err := l.half(ctx, from); err != nil {
		return err
	}
	if err := cancel(ctx, s, sent.Job); err != nil {
		return err
	}
	return until(ctx, "the job to end", func() (bool, error) {
		var job struct {
			Status string `json:"status"`
		}
		err := s.Ask(ctx, http.MethodGet, "/api/jobs/"+sent.Job, nil, &job)
		return job.Status == "cancelled", err
	})
}

func cancel(ctx context.Context, s *serving.Server, job string) error {
	return s.Ask(ctx, http.MethodPost, "/api/tool-eval/cancel", map[string]any{"job_id": job}, nil)
}
