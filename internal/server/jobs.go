// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"encoding/json"

	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/server/api"
)

// openJobs opens the queue, with the handlers of its kinds.
func openJobs(s *api.Server) (err error) {
	handler := func(do func(context.Context, *api.Server, job.Job, *job.Report) (json.RawMessage, error)) job.Handler {
		return func(ctx context.Context, j job.Job, r *job.Report) (json.RawMessage, error) { return do(ctx, s, j, r) }
	}
	shard := func(ctx context.Context, j job.Job, task json.RawMessage,
		yield <-chan struct{},
	) (json.RawMessage, error) {
		return ToolEvalShard(ctx, s, j, task, yield)
	}
	c := &s.Config
	s.Jobs, err = job.New(context.Background(), job.Config{
		Store: c.Store, Parts: map[string]job.PartHandler{KindToolEval: shard},
		Handlers: map[string]job.Handler{
			KindToolEval: handler(ToolEval), KindJudge: handler(Judge),
			string(tunes.Params): handler(Tune), string(tunes.Prompt): handler(Tune),
		},
		Workers: c.Workers, PerUser: c.JobsPerUser, Shift: c.JobShift, Quota: c.Quota,
		Hide: c.App.Secrets().Hide, Log: c.Log, Now: c.Now, ReadOnly: c.ReadOnly,
	})
	return err
}
