// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// ExitInterrupted is the exit code after an interrupt: 128 and the number of SIGINT.
const ExitInterrupted = 130

const (
	// softGrace is how long a command has after the first signal to store received answers and to
	// end by itself. It is too short to look like a hang.
	softGrace = 450 * time.Millisecond
	// hardGrace is how long it has after Hard has ended: to kill the processes it
	// started and to remove temporaries.
	hardGrace = 75 * time.Millisecond
	// messageGrace is how long writing the message about the interrupt may take. It takes long only
	// if no process reads standard error, or the machine is very busy.
	messageGrace = 300 * time.Millisecond
)

// Process is this process, which watches its command.
type Process struct {
	// Soft ends at the first signal, Hard at the second, or when the command took
	// too long after the first.
	Soft, Hard context.Context
	// Out and Err are the outputs of the command; nothing is written after the process begins to
	// exit.
	Out, Err io.Writer

	signals       <-chan os.Signal
	exit          func(int)
	err           io.Writer
	terminal      bool
	cancelSoft    context.CancelFunc
	cancelHard    context.CancelFunc
	done          chan struct{}
	left, written atomic.Bool
	line          atomic.Pointer[string]
	patience      atomic.Int64 // in place of softGrace; 0: none
	watching      Group
}

// WatchProcess starts to watch for signals until End. exit ends the process. terminal: err is a terminal,
// where a progress line may be unfinished.
func WatchProcess(signals <-chan os.Signal, out, err io.Writer, terminal bool, exit func(int)) *Process {
	p := &Process{signals: signals, exit: exit, err: err, terminal: terminal, done: make(chan struct{})}
	p.Soft, p.cancelSoft = context.WithCancel(context.Background())
	p.Hard, p.cancelHard = context.WithCancel(context.Background())
	p.Out, p.Err = &stream{out, &p.left}, &stream{err, &p.left}
	p.watching.Go(p.watch)
	return p
}

// UnwatchedProcess is a process that is never interrupted, for commands within a test.
func UnwatchedProcess(out, err io.Writer) *Process {
	return &Process{Soft: context.Background(), Hard: context.Background(), Out: out, Err: err, err: err}
}

// OnInterrupt sets the message of an interrupt from now on: what is stored, and how to continue.
func (p *Process) OnInterrupt(line string) { p.line.Store(&line) }

// Patient gives the command more time after the first signal, to finish work that others wait for.
// The second signal ends it immediately.
func (p *Process) Patient(grace time.Duration) { p.patience.Store(int64(grace)) }

// WriteInterrupt writes the message of an interrupt, once.
func (p *Process) WriteInterrupt() { p.writeInterrupt(p.Err, "") }

func (p *Process) writeInterrupt(w io.Writer, begin string) {
	if !p.written.CompareAndSwap(false, true) {
		return
	}
	line := "interrupted"
	if l := p.line.Load(); l != nil {
		line = *l
	}
	fmt.Fprintf(w, "%scallvet: %s\n", begin, line)
}

// End stops watching. It does not return while the process is being left.
func (p *Process) End() {
	close(p.done)
	p.watching.Wait()
	p.cancelSoft()
	p.cancelHard()
}

func (p *Process) watch() {
	select {
	case <-p.done:
		return
	case <-p.signals:
	}
	p.cancelSoft()
	t := time.NewTimer(max(softGrace, time.Duration(p.patience.Load())))
	defer t.Stop()
	select {
	case <-p.done:
		return
	case <-p.signals:
	case <-t.C:
	}
	p.cancelHard()
	t.Reset(hardGrace)
	select {
	case <-p.done:
		return
	case <-t.C:
	}
	p.leave()
}

// leave ends the process although the command has not returned.
func (p *Process) leave() {
	p.left.Store(true)
	written := make(chan struct{})
	var g Group
	g.Go(func() { // standard error may be a pipe without a reader
		defer close(written)
		begin := ""
		if p.terminal {
			begin = "\n"
		}
		p.writeInterrupt(p.err, begin)
	})
	t := time.NewTimer(messageGrace)
	defer t.Stop()
	select {
	case <-written:
	case <-t.C:
	}
	p.exit(ExitInterrupted)
}

// stream forwards writes until the process begins to exit.
type stream struct {
	w    io.Writer
	left *atomic.Bool
}

// Write implements io.Writer.
func (s *stream) Write(b []byte) (int, error) {
	if s.left.Load() {
		return len(b), nil
	}
	return s.w.Write(b)
}
