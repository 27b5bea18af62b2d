// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/score"
)

// process is a running process. It belongs to the pool or to one attempt.
type process struct {
	pool    *ScorerPool
	command command
	cmd     *exec.Cmd
	family  sys.ProcessFamily
	in      io.WriteCloser
	out     *os.File
	tail    *sys.OutputTail
	lines   chan line
	over    chan struct{} // closed when it is ended
	readers sys.Group
}

// line is one line of standard output, or why there is none.
type line struct {
	text []byte
	err  error
}

var errLong = fmt.Errorf("its answer has more than %d bytes: %w", MaxScorerAnswer, callvet.ErrLimited)

// endedError: a process ended before it answered.
type endedError struct{ how string }

func (e *endedError) Error() string { return "the program ended before it answered" + e.how }

// start starts a process, which outlives the attempt that it is started for.
func (p *ScorerPool) start(ctx context.Context, c command) (*process, error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.path, c.args[1:]...)
	family, env := p.families.New(p.cfg.Env)
	cmd.Dir, cmd.Env = p.cfg.Dir, env
	x := &process{
		pool: p, command: c, cmd: cmd, family: family, tail: &sys.OutputTail{}, lines: make(chan line),
		over: make(chan struct{}),
	}
	cmd.Stderr = x.tail
	var err error
	if x.in, x.out, err = family.Piped(cmd); err != nil {
		return nil, fmt.Errorf("start %q: %w", c.args[0], err)
	}
	x.readers.Go(x.read)
	return x, nil
}

// read passes the printed lines to the waiting question.
func (x *process) read() {
	r := bufio.NewReader(x.out)
	for {
		text, err := sys.ReadLine(r, MaxScorerAnswer)
		if errors.Is(err, sys.ErrLongLine) {
			err = errLong
		}
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		select {
		case x.lines <- line{text, err}:
		case <-x.over:
			return
		}
		if err != nil {
			return
		}
	}
}

// newID is a random id of a question, in [2^40, 2^53). A text of the target that the program prints
// cannot contain it, and so is never mistaken for an answer. A float64 represents it exactly.
func newID() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	const least, most = 1 << 40, 1 << 53
	return int64(least + binary.NativeEndian.Uint64(b[:])%(most-least))
}

// ask sends a question and waits for the answer. A process that must not be reused is ended.
func (x *process) ask(ctx context.Context, q *question) (score.Opinion, error) {
	q.ID = newID()
	text, err := json.Marshal(q)
	if err != nil {
		x.pool.give(x)
		return score.Opinion{}, fmt.Errorf("write the attempt: %w", err)
	}
	// Writing blocks where the process does not read; ending it unblocks.
	x.readers.Go(func() { _, _ = x.in.Write(append(text, '\n')) })
	select {
	case got := <-x.lines:
		if got.err != nil {
			return score.Opinion{}, x.failed(got.err)
		}
		o, err := parse(bytes.TrimSpace(got.text), q.ID)
		var said *scorerRefusal
		if err != nil && !errors.As(err, &said) {
			x.end() // its further answers are unpredictable
			return o, err
		}
		x.pool.give(x)
		return o, err
	case <-ctx.Done():
		x.end()
		return score.Opinion{}, ctx.Err()
	}
}

// failed ends a process that did not answer, and returns the reason.
func (x *process) failed(err error) error {
	if errors.Is(err, errLong) {
		x.end()
		return err
	}
	// Its output has ended, so that the process is about to exit: its exit status is the reason.
	var waited error
	done := make(chan struct{})
	x.readers.Go(func() {
		defer close(done)
		waited = x.cmd.Wait()
	})
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	how := ": it closed its output"
	select {
	case <-done:
		if how = ""; waited != nil {
			how = ": " + waited.Error()
		}
		x.finish()
	case <-timer.C:
		_ = x.family.End(x.cmd)
		<-done
		x.finish()
	}
	if tail := x.tail.String(); tail != "" {
		how += ": " + oneLine(tail)
	}
	return &endedError{how}
}

// end kills the process with its children, and waits.
func (x *process) end() {
	_ = x.family.End(x.cmd)
	_ = x.cmd.Wait()
	x.finish()
}

// finish releases the resources of an ended process.
func (x *process) finish() {
	_ = x.family.End(x.cmd) // its remaining children
	close(x.over)
	_ = x.in.Close()
	_ = x.out.Close()
	x.readers.Wait()
}

// oneLine is the last line of a text, where programs usually print the error.
func oneLine(s string) string {
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		s = s[i+1:]
	}
	return strings.TrimSpace(s)
}
