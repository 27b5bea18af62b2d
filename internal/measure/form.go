// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
)

// headSize is how much of a file is read to detect its form.
const headSize = 64 << 10

// form is a file as trace lines.
type form struct {
	lines io.Reader
	close func() error
	marks bool // offsets in lines are those in the file
}

// form opens a source.
func (r *run) form(ctx context.Context, src Source) (*form, error) {
	in, err := src.Open()
	if err != nil {
		return nil, fmt.Errorf("open traces: %w", err)
	}
	f, err := r.open(ctx, in)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	end := f.close
	f.close = func() error { return errors.Join(end(), in.Close()) }
	return f, nil
}

// open detects the form of a file. A form that is not callvet's own is read by an importer; its
// attempts are written as lines into a pipe.
func (r *run) open(ctx context.Context, in io.Reader) (*form, error) {
	plain, verbatim, err := trace.Plain(in)
	if err != nil {
		return nil, err
	}
	src := bufio.NewReaderSize(plain, headSize)
	head, err := src.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	name := foreign.Detect(head)
	r.foreign = false
	if name == foreign.Contract || len(head) == 0 || name == "" && !archive(head) {
		r.res.Formats = append(r.res.Formats, foreign.Contract)
		if r.cfg.Attempts != nil {
			return r.staged(ctx, src)
		}
		return &form{lines: src, close: func() error { return nil }, marks: verbatim}, nil
	}
	r.foreign = true
	imp, err := foreign.Open(src,
		foreign.Options{Lines: trace.Options{Strict: r.cfg.Lines.Strict, MaxBad: r.cfg.Lines.MaxBad}})
	if err != nil {
		return nil, err
	}
	r.res.Formats = append(r.res.Formats, name)
	return pipe(func(to io.Writer) error { return r.copyAttempts(ctx, to, imp.Attempts()) },
		func() { r.imported(imp.Report()) }), nil
}

// pipe is a form with the lines that copy writes; done is called when it has ended.
func pipe(copy func(io.Writer) error, done func()) *form {
	pr, pw := io.Pipe()
	var g sys.Group
	g.Go(func() {
		err := io.ErrUnexpectedEOF // the reader's error if copy panics
		defer func() { pw.CloseWithError(err) }()
		err = copy(pw)
	})
	return &form{lines: pr, close: func() error {
		err := pr.Close()
		g.Wait()
		done()
		return err
	}}
}

func archive(head []byte) bool { return len(head) >= 4 && string(head[:4]) == "PK\x03\x04" }

func (r *run) imported(rep foreign.Report) {
	for k, n := range rep.Lost {
		r.res.Lost[k] += n
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.length = rep.Log.Lines
	log := rep.Log
	log.List = slices.Clone(log.List)
	log.Lines, log.Steps, log.Tasks = 0, 0, 0 // those are counted where the attempts are read as lines
	log.Shift(r.before)
	r.log.Merge(&log)
}

// counted returns an attempt with the tool names that count by the setting of its own case, because
// the lines are scored by the setting of all cases. Without such a setting it returns the attempt
// itself.
func counted(a *trace.Attempt) *callvet.Trace {
	if len(a.Counts) == 0 {
		return &a.Trace
	}
	as := make(map[string]string, len(a.Counts))
	for _, c := range a.Counts {
		as[c.Name] = c.As
	}
	return callvet.NewNaming(&callvet.ToolNames{Aliases: as}, true, nil).Trace(&a.Trace)
}

// copyAttempts writes attempts as lines.
func (r *run) copyAttempts(ctx context.Context, to io.Writer, list iter.Seq2[trace.Attempt, error]) error {
	w := trace.NewWriter(to)
	for a, err := range list {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			r.judge(&a)
			err = w.Attempt(&a)
		}
		if err != nil {
			return err
		}
	}
	return w.Flush()
}
