// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/trace"
)

// Tasks are the task records of a trace file or of a run.
type Tasks struct {
	Name string // for people
	file string // "" of a run
	each func(do func(*trace.Task)) (*trace.Log, error)
	// attempts are the same with their calls, and id is the name of the run or the file in labels.
	attempts func(do func(*trace.Attempt) error) error
	id       func() (string, error)
	// parts are verdicts of judges on its calls and turns, as lines of a labels file; nil for a
	// file.
	parts func() ([]labels.Label, error)
	// Without are tasks that are left out of verdicts and labels.
	Without map[string]bool
}

// TasksOfFile returns the tasks of a trace file.
func TasksOfFile(a *app.App, file string) Tasks {
	return Tasks{
		Name: file, file: file,
		each:     func(do func(*trace.Task)) (*trace.Log, error) { return a.EachTask(file, do) },
		attempts: func(do func(*trace.Attempt) error) error { return WholeAttempts(a, file, do) },
		id:       func() (string, error) { return HashOfTraces(a, file) },
	}
}

// TaskSources returns the tasks of trace files, one for each file.
func TaskSources(a *app.App, files []string) []Tasks {
	out := make([]Tasks, len(files))
	for i, f := range files {
		out[i] = TasksOfFile(a, f)
	}
	return out
}

// Tasks returns the tasks of the run with the verdicts of judges, without cases in quarantine.
func (r *Run) Tasks(ctx context.Context) Tasks {
	attempts := func(do func(*trace.Attempt) error) error {
		for at, err := range r.Attempts(ctx) {
			if err != nil {
				return err
			}
			if err := do(&at); err != nil {
				return err
			}
		}
		return nil
	}
	id := func() (string, error) { return r.Stored.ID, nil }
	parts := func() ([]labels.Label, error) {
		opinions, err := r.ReadOpinions(ctx)
		if err != nil {
			return nil, err
		}
		return opinions.parts, nil
	}
	return Tasks{
		Name: "run " + r.Stored.ID, Without: r.Without, attempts: attempts, id: id, parts: parts,
		each: func(do func(*trace.Task)) (*trace.Log, error) {
			log := &trace.Log{}
			err := attempts(func(at *trace.Attempt) error {
				t := at.Task()
				log.Tasks++
				do(&t)
				return nil
			})
			if err != nil {
				return nil, err
			}
			return log, nil
		},
	}
}

// TasksOfSide returns the tasks of a run or a trace file.
func TasksOfSide(ctx context.Context, a *app.App, s app.Side) (Tasks, error) {
	if s.Run == "" {
		return TasksOfFile(a, s.Traces), nil
	}
	r, err := Open(ctx, a, s.Run)
	if err != nil {
		return Tasks{}, err
	}
	return r.Tasks(ctx), nil
}

// refuseOneTimeFiles returns an error for a file that cannot be read a second time for the verdicts
// of judges; field is the field that needs them.
func refuseOneTimeFiles(a *app.App, of *Tasks, field string) error {
	if of.file == "" {
		return nil
	}
	if a.IsStream(of.file) {
		return app.Wrong(field, "", "the traces are read twice, to see what their judges said: name a file")
	}
	partial, err := a.IsPartial(of.file)
	if err == nil && partial {
		err = app.Wrong(field, "",
			"the traces are needed, to see what their judges said: %s is a partial result", of.file)
	}
	return err
}
