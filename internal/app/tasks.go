// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"

	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/trace"
)

// tasks are the task records of a trace file, or those that a run makes.
type tasks struct {
	name string // for people
	file string // "" of a run
	each func(do func(*trace.Task)) (*trace.Log, error)
	// attempts are the same with what was called, and id is how labels name the run or the file.
	attempts func(do func(*trace.Attempt) error) error
	id       func() (string, error)
	// parts are what judges of its calls and turns said, as lines of a labels file; nil of a file.
	parts func() ([]labels.Label, error)
	// without are tasks that are left out of verdicts and labels.
	without map[string]bool
}

// tasksOf are those of a trace file.
func (a *App) tasksOf(file string) tasks {
	return tasks{
		name: file, file: file,
		each:     func(do func(*trace.Task)) (*trace.Log, error) { return a.eachTask(file, do) },
		attempts: func(do func(*trace.Attempt) error) error { return a.wholeAttempts(file, do) },
		id:       func() (string, error) { return a.hashOf(file) },
	}
}

func (a *App) taskSources(files []string) []tasks {
	out := make([]tasks, len(files))
	for i, f := range files {
		out[i] = a.tasksOf(f)
	}
	return out
}

// tasks are those of the run, with what its judges said. Cases in quarantine are not among them.
func (r *Run) tasks(ctx context.Context) tasks {
	attempts := func(do func(*trace.Attempt) error) error {
		for at, err := range r.attempts(ctx) {
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
		said, err := r.readOpinions(ctx)
		if err != nil {
			return nil, err
		}
		return said.parts, nil
	}
	return tasks{
		name: "run " + r.Stored.ID, without: r.without, attempts: attempts, id: id, parts: parts,
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

// tasksAt are those of a run or a trace file.
func (a *App) tasksAt(ctx context.Context, s Side) (tasks, error) {
	if s.Run == "" {
		return a.tasksOf(s.Traces), nil
	}
	r, err := a.Run(ctx, s.Run)
	if err != nil {
		return tasks{}, err
	}
	return r.tasks(ctx), nil
}

// again refuses what cannot be read a second time to see what judges said; field is what needs it.
func (a *App) again(of *tasks, field string) error {
	if of.file == "" {
		return nil
	}
	if a.once(of.file) {
		return wrong(field, "", "the traces are read twice, to see what their judges said: name a file")
	}
	partial, err := a.isPartial(of.file)
	if err == nil && partial {
		err = wrong(field, "", "the traces are needed, to see what their judges said: %s is a partial result", of.file)
	}
	return err
}
