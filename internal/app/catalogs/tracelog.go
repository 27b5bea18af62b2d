// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/trace"
)

// traceLog writes the calls of conversations, line by line, as they happen. Several processes may
// write to one file: the first line of a conversation sets the number of its attempt at the task.
type traceLog struct {
	files  app.Files
	name   string
	stream bool // it cannot be read back
	red    *redact.Redactor
	now    func() time.Time

	mu     sync.Mutex
	file   app.Growing
	read   int64 // how much of the file was read
	taken  map[loggedTask]int
	calls  int
	tasks  int
	hidden int64
}

type loggedTask struct{ task, target string }

// openTraceLog opens the trace file of conversations; for "" it returns nil.
func openTraceLog(a *app.App, name string, keep []string) (*traceLog, error) {
	if name == "" {
		return nil, nil
	}
	if name == "-" {
		return nil, app.Wrong("output", name, "the protocol has standard output: name a file")
	}
	off, err := app.Kinds(keep)
	if err != nil {
		return nil, err
	}
	red, err := a.Secrets().Redactor(off)
	if err != nil {
		return nil, err
	}
	kind := a.Config.Files.Kind(name)
	if kind == app.KindFolder {
		return nil, app.Wrong("output", name, "it is a folder: name a file")
	}
	f, err := a.Config.Files.Append(name)
	if err != nil {
		return nil, err
	}
	return &traceLog{
		files: a.Config.Files, name: name, stream: kind == app.KindStream, red: red, now: a.Config.Now, file: f,
		taken: map[loggedTask]int{},
	}, nil
}

// Close closes the file.
func (l *traceLog) Close() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}

// attempt begins an attempt; nothing is written yet. A nil log returns nil.
func (l *traceLog) attempt(task, target string) *attemptLog {
	if l == nil {
		return nil
	}
	own := l.red.Fork()
	own.Begin()
	return &attemptLog{log: l, red: own, started: l.now(), task: trace.Task{TaskID: task, Target: own.Name(target)}}
}

// attemptLog is one attempt that is being written. Its methods are called one after the other.
type attemptLog struct {
	log     *traceLog
	red     *redact.Redactor
	task    trace.Task
	started time.Time
	begun   bool
	calls   int
}

// call writes a call. When it returns without an error the call is on the disk.
func (a *attemptLog) call(ctx context.Context, c callvet.Call) error {
	if a == nil {
		return nil
	}
	c = a.red.Calls([]callvet.Call{c})[0]
	step := trace.Step{
		TurnID: -1, CallID: fmt.Sprintf("call-%d", a.calls+1), Tool: c.Tool, ToolVersion: c.Version, Args: c.Args,
		ArgsRaw: c.ArgsRaw,
		Result:  c.Result, Status: c.Status, Env: c.Env, Guard: c.Guard, StartMS: c.StartMS,
		QueueMS: measured(c.QueueMS), ExecMS: measured(c.ExecMS),
	}
	if c.Error != "" {
		step.Error = trace.AppendQuoted(nil, c.Error)
	}
	err := a.write(ctx, func(w *trace.Writer) error {
		step.TaskID, step.Attempt, step.Target = a.task.TaskID, a.task.Attempt, a.task.Target
		return w.Step(&step)
	})
	if err == nil {
		a.calls++
		a.log.count(1, 0)
	}
	return err
}

// elapsed is how long ago the attempt began.
func (a *attemptLog) elapsed() time.Duration {
	if a == nil {
		return 0
	}
	return a.log.now().Sub(a.started)
}

// at converts a time since the beginning of the attempt to whole milliseconds, as in records.
func (a *attemptLog) at(d time.Duration) *float64 {
	if a == nil {
		return nil
	}
	ms := float64(max(d, 0).Milliseconds())
	return &ms
}

func measured(f float64) *float64 {
	if f <= 0 {
		return nil
	}
	return &f
}

// end writes the task record of the attempt. If always is false, an attempt without calls writes
// nothing.
func (a *attemptLog) end(ctx context.Context, always bool) error {
	if a == nil || a.calls == 0 && !always {
		return nil
	}
	t := &a.task
	t.Outcome = callvet.OutcomeCalled
	if a.calls == 0 {
		t.Outcome = callvet.OutcomeAbstained
	}
	t.Steps, t.Started = &a.calls, a.started.UTC()
	t.WallMS = measured(float64(a.log.now().Sub(a.started)) / float64(time.Millisecond))
	err := a.write(ctx, func(w *trace.Writer) error { return w.Task(t) })
	if err == nil {
		a.log.count(0, 1)
		a.log.mu.Lock()
		a.log.hidden += a.red.Total()
		a.log.mu.Unlock()
	}
	return err
}

func (l *traceLog) count(calls, tasks int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls += calls
	l.tasks += tasks
}

// write adds one line. The first line of an attempt sets its number, while no other process writes.
func (a *attemptLog) write(ctx context.Context, line func(*trace.Writer) error) error {
	l := a.log
	l.mu.Lock()
	defer l.mu.Unlock()
	var b bytes.Buffer
	if !l.stream {
		release, err := l.files.Hold(ctx, l.name)
		if err != nil {
			return err
		}
		defer func() { _ = release() }() // the file is written by then
	}
	if !a.begun {
		if !l.stream {
			torn, err := l.look()
			if err != nil {
				return err
			}
			if torn {
				b.WriteByte('\n')
			}
		}
		key := loggedTask{a.task.TaskID, a.task.Target}
		a.task.Attempt = l.taken[key]
		l.taken[key]++
	}
	w := trace.NewWriter(&b)
	if err := errors.Join(line(w), w.Flush()); err != nil {
		return err
	}
	if _, err := l.file.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write %s: %w", l.name, err)
	}
	if err := l.file.Sync(); err != nil && !l.stream {
		return fmt.Errorf("write %s: %w", l.name, err)
	}
	a.begun = true
	return nil
}

// look reads which attempts are in the file. torn: its last line has no end.
func (l *traceLog) look() (torn bool, err error) {
	const most = 1 << 62
	in := io.NewSectionReader(l.file, l.read, most)
	counted := &counting{r: in}
	r, err := trace.Open(counted, trace.Options{Lines: true})
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read %s: %w", l.name, err)
	}
	for err == nil {
		var v *trace.View
		if v, err = r.Next(); err != nil {
			break
		}
		key := loggedTask{string(v.TaskID), string(v.Target)}
		l.taken[key] = max(l.taken[key], v.Attempt+1)
	}
	if !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read %s: %w", l.name, err)
	}
	l.read += counted.n
	if l.read == 0 {
		return false, nil
	}
	var last [1]byte
	if _, err := l.file.ReadAt(last[:], l.read-1); err != nil {
		return false, fmt.Errorf("read %s: %w", l.name, err)
	}
	return last[0] != '\n', nil
}

type counting struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
