// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
)

// Source is one file of a reading, or attempts from elsewhere, such as those of a run.
type Source struct {
	Name string
	Open func() (io.ReadCloser, error)
	// Attempts, if not nil, are read instead of a file. They have no lines.
	Attempts iter.Seq2[trace.Attempt, error]
}

// Config contains the settings of reading and scoring.
type Config struct {
	Steps  steps.Config
	Scorer *score.StepScorer // forked for each worker
	// Attempts, when set, judges every attempt as a whole before its steps are scored, one after
	// the other. It may change Pass, Gold, Safety, Tags, Fields and Scored of the attempt, and
	// reports whether it did. Reading is slower then. The panels have no line numbers for files
	// with task records before steps, and the lines that Each gets are counted as edited.
	Attempts func(*trace.Attempt) (changed bool)
	Lines    trace.Options
	// Without are ids of tasks with lines that are read but not counted.
	Without map[string]bool
	// Jobs is how many blocks are processed at the same time; 0 means 1.
	Jobs int
	// Each, when set, gets every scored step, block by block in the order of the
	// sources; the rows are its own. Its first error ends the reading.
	Each func([]Scored) error
}

// Result is the result of a reading. The Sheet is closed.
type Result struct {
	Sheet *steps.Sheet
	// Log lists the problems of lines; their numbers continue from file to file.
	Log trace.Log
	// Problems are conditions in gold labels that could not be compiled.
	Problems []callvet.Problem
	// Formats are the forms of the files, by source; Lost counts what could not
	// be carried over from other forms.
	Formats []string
	Lost    map[string]int64
	// Marks are, by source, where some of its lines begin, in order, so that a line can be read
	// again without all lines before it. Files of another form and compressed ones have none.
	Marks map[string][]Mark
	// UnknownVersions is how many steps call a version that the tools do not have.
	UnknownVersions int
	// Endless is how many steps have a schema that takes too much work to check.
	Endless int
}

// Mark is where a line, counted from 1 within its file, begins.
type Mark struct{ Line, Offset int64 }

// job is a block for a worker, or attempts instead of one; then block has the number of their first
// line.
type job struct {
	number   int64
	block    trace.Block
	attempts []trace.Attempt
	// foreign lines have no numbers of their own.
	foreign bool
	source  string
	before  int64 // lines of the sources before it
}

// inSource returns the error with its file. Lines count through the sources.
func (j *job) inSource(err error) error {
	if j.before > 0 {
		return fmt.Errorf("%s (its first line is counted as %d): %w", j.source, j.before+1, err)
	}
	return fmt.Errorf("%s: %w", j.source, err)
}

// run is one reading in progress.
type run struct {
	cfg   Config
	sheet *steps.Sheet
	// next reads the next block into buf. The worker that needs a block reads it, one worker at a
	// time: the block is then in the caches of its processor.
	next    func() (job, bool)
	buf     []byte
	reading sync.Mutex
	readErr error
	ended   chan struct{} // closed by end when there are no more blocks
	end     sync.Once
	free    chan *steps.Batch // as many as may be on their way
	wake    []chan struct{}   // of workers, for the batches of other workers
	mu      sync.Mutex
	err     error
	at      int64 // of the block with the first error
	stop    context.CancelFunc
	log     trace.Log
	res     *Result
	rows    delivery
	// foreign is true where lines of the file being read have no numbers of their own. before is
	// how many lines the files before it have, and length how many its importer has read.
	foreign        bool
	before, length int64
}

// Run reads the sources one after the other as one stream and scores every line.
// Tasks that span sources are one task. The error is that of reading, or, when
// strict, that of the first line that is no record; it then wraps callvet.ErrInvalid.
func Run(ctx context.Context, sources []Source, cfg Config) (*Result, error) {
	cfg.Jobs = max(cfg.Jobs, 1)
	if cfg.Lines.MaxBad <= 0 {
		cfg.Lines.MaxBad = 100
	}
	cfg.Steps.Parallel = func(n int, do func(int)) {
		_ = sys.InParallel(cfg.Jobs, n, func(i int) error { // it returns no error
			do(i)
			return nil
		})
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	flight := 2*cfg.Jobs + 2
	r := &run{
		cfg: cfg, sheet: steps.New(cfg.Steps), free: make(chan *steps.Batch, flight),
		ended: make(chan struct{}), stop: stop, log: trace.Log{Max: cfg.Lines.MaxBad}, at: 1<<63 - 1,
	}
	next, done := iter.Pull(r.blocks(ctx, sources))
	defer done()
	r.next = next
	r.res = &Result{Sheet: r.sheet, Lost: map[string]int64{}, Marks: map[string][]Mark{}}
	// A worker that panicked does not return its batches: the others must not wait for them.
	wg := sys.Group{Stop: func() {
		stop()
		r.end.Do(func() { close(r.ended) })
	}}
	workers := make([]*worker, cfg.Jobs)
	for i := range workers {
		w := newWorker(r)
		workers[i] = w
		if i == 0 {
			for range flight {
				r.free <- w.sheet.Batch()
			}
		}
		r.wake = append(r.wake, make(chan struct{}, 1))
	}
	for i, w := range workers {
		wg.Go(func() { r.work(w, i) })
	}
	wg.Wait()
	for i, w := range workers {
		wg.Go(func() {
			r.sheet.Take(w.sheet, i, len(workers))
			if !cfg.Steps.Partial {
				r.sheet.Settle(w.sheet, i, len(workers))
			}
		})
	}
	wg.Wait()
	r.sheet.Close()
	r.res.Log.Max = cfg.Lines.MaxBad
	r.res.Log.Merge(&r.log)
	r.sheet.Lose(r.res.Log.Bad)
	if r.err != nil {
		return r.res, r.err
	}
	return r.res, r.readErr
}

// blocks yields the blocks of all sources.
func (r *run) blocks(ctx context.Context, sources []Source) iter.Seq[job] {
	return func(yield func(job) bool) {
		number, lines := int64(0), int64(0)
		for _, src := range sources {
			r.before, r.length = lines, 0
			n, err := r.source(ctx, src, lines, func(j job) bool {
				j.number = number
				number++
				return yield(j)
			})
			n = max(n, r.length) // so that both kinds of numbers are in the range of the file
			r.sheet.Read(steps.Source{Name: src.Name, Lines: n, Foreign: r.foreign})
			lines += n
			if err != nil {
				if ctx.Err() == nil || !r.failed() { // else the worker's error is reported
					r.readErr = fmt.Errorf("%s: %w", src.Name, err)
				}
				return
			}
		}
	}
}

func (r *run) source(ctx context.Context, src Source, before int64, yield func(job) bool) (lines int64, err error) {
	if src.Attempts != nil {
		return r.attempts(ctx, src, before, yield)
	}
	form, err := r.form(ctx, src)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, form.close()) }()
	blocks, err := trace.NewBlocks(form.lines, r.cfg.Lines)
	if err != nil {
		return 0, err
	}
	marks := form.marks && !blocks.Folded()
	for ctx.Err() == nil {
		b, err := blocks.Next(r.buf)
		if errors.Is(err, io.EOF) {
			return blocks.Lines(), nil
		}
		if err != nil {
			return blocks.Lines(), err
		}
		if marks {
			r.res.Marks[src.Name] = append(r.res.Marks[src.Name], Mark{b.Line, b.Offset})
		}
		b.Line += before
		if !yield(job{block: b, foreign: r.foreign, source: src.Name, before: before}) {
			break
		}
	}
	return blocks.Lines(), context.Cause(ctx)
}

// problem adds a warning; the caller holds the lock.
func (r *run) problem(code, message string) {
	r.res.Problems = mergeProblems(r.res.Problems, []callvet.Problem{{Code: code, Message: message, Warning: true}})
}

// work scores blocks until there are no more. Each worker sums up its own parts of the sheet, and
// is woken when others have batches for them.
func (r *run) work(w *worker, index int) {
	for open := true; open; {
		select {
		case w.batch = <-r.free:
			var j job
			if j, open = r.read(w); open {
				r.block(w, j)
			}
		case <-r.wake[index]:
		case <-r.ended: // a worker without a new batch learns it here
			open = false
		}
		r.sheet.Take(w.sheet, index, len(r.wake))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log.Merge(&w.scan.Log)
	r.res.UnknownVersions += w.scorer.UnknownVersions()
	r.res.Endless += w.scorer.Endless()
	r.res.Problems = mergeProblems(r.res.Problems, w.scorer.Problems())
}

// read reads the next block into the worker's buffer.
func (r *run) read(w *worker) (job, bool) {
	r.reading.Lock()
	defer r.reading.Unlock()
	r.buf = w.buf
	j, ok := r.next()
	if !ok {
		r.end.Do(func() { close(r.ended) })
	}
	if j.block.Data != nil { // else the buffer is unchanged
		w.buf = j.block.Data
	}
	return j, ok
}

// block scores a block and sends it to all workers.
func (r *run) block(w *worker, j job) {
	err := w.block(j)
	if err == nil && r.cfg.Each != nil {
		err = r.rows.block(j.number, w.rows, r.cfg.Each)
		w.rows = nil
	}
	if err != nil {
		r.fail(j.number, j.inSource(err))
	}
	r.sheet.Give(j.number, w.batch, func(b *steps.Batch) { r.free <- b })
	for _, wake := range r.wake {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// fail keeps the error of the first block with an error, and ends the reading.
func (r *run) fail(number int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if number < r.at {
		r.at, r.err = number, err
	}
	r.stop()
}

func (r *run) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err != nil
}
