// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Put writes a file of the folder of a Tape, whole or not at all, and returns once it is on the
// disk.
type Put func(ctx context.Context, name string, data []byte) error

// Tape records the answers of worlds, one file for each call. An answer is on the disk before the
// target gets it. An unchanged answer changes no byte of its file; a different one replaces it. It
// is safe for concurrent use.
type Tape struct {
	put Put
	now func() time.Time
	old map[string]*Recording // by name

	mu      sync.Mutex
	made    map[string]*track // by name, of this session
	written int
	calls   int
}

// track is one file that this session wrote or found up to date.
type track struct {
	rec  *Recording
	done chan struct{} // closed when it is on the disk, or with err set
	err  error
}

// NewTape records into a folder, which may have recordings already. now is the clock; put
// writes into the folder.
func NewTape(folder string, put Put, now func() time.Time) (*Tape, error) {
	list, err := readFolder(folder)
	if err != nil && !errors.Is(err, callvet.ErrNotFound) {
		return nil, err
	}
	if _, err := RecordingsOf(list); err != nil {
		return nil, err
	}
	t := &Tape{put: put, now: now, old: map[string]*Recording{}, made: map[string]*track{}}
	for _, rec := range list {
		t.old[rec.Name()] = rec
	}
	return t, nil
}

// Counts are the calls that were recorded, and how many files changed.
func (t *Tape) Counts() (calls, files int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls, t.written
}

// World records the answers of w to the calls of one conversation. For a nil w it returns nil. An
// error of w is not an answer and is not recorded, except a timeout.
func (t *Tape) World(w callvet.World, of Conversation) callvet.World {
	if w == nil {
		return nil
	}
	return &recorder{tape: t, world: w, of: of, seen: counter{}}
}

type recorder struct {
	tape  *Tape
	world callvet.World
	of    Conversation
	seen  counter

	mu   sync.Mutex
	last chan struct{} // closed when the last call is recorded; nil: no call yet
}

// Answer records the world's answer, and then returns it. Calls may be answered concurrently: they
// are recorded in the order of the calls, so that a call has the same number in each recording.
func (r *recorder) Answer(ctx context.Context, call callvet.Call) (callvet.Reply, error) {
	own := make(chan struct{})
	defer close(own)
	r.mu.Lock()
	before := r.last
	r.last = own
	r.mu.Unlock()
	began := r.tape.now()
	reply, err := r.world.Answer(ctx, call)
	took, late := r.tape.now().Sub(began).Round(time.Millisecond), errors.Is(ctx.Err(), context.DeadlineExceeded)
	if before != nil {
		<-before // it will end, too
	}
	var denied *callvet.DeniedError
	var keep callvet.Reply
	switch {
	case err == nil:
		if reply.Result != nil { // in the form of a replay, so that a target gets the same
			reply.Result = compact(reply.Result)
		}
		keep = reply
	case errors.As(err, &denied):
		keep = callvet.Reply{
			Env: callvet.EnvGuard, Error: denied.Error(),
			Guard: append(slices.Clip(reply.Guard), denied.Ruling),
		}
	case late:
		keep = callvet.Reply{
			Status: callvet.StatusTimeout, Error: fmt.Sprintf("no answer within %g s", took.Seconds()),
			Latency: took, Env: reply.Env, Guard: reply.Guard,
		}
	default:
		return reply, err
	}
	if kerr := r.keep(context.WithoutCancel(ctx), call, keep); kerr != nil {
		return callvet.Reply{}, fmt.Errorf("record the answer: %w", kerr)
	}
	return reply, err
}

// keep records an answer.
func (r *recorder) keep(ctx context.Context, call callvet.Call, reply callvet.Reply) error {
	tool := r.of.contract(&call)
	call.Status, call.Result, call.Error, call.Note, call.Guard = reply.Status, slices.Clone(reply.Result), reply.Error,
		reply.Note, reply.Guard
	if call.Status == "" && reply.Env != callvet.EnvGuard {
		call.Status = callvet.StatusOK
	}
	call = r.of.scrubbed(call)
	rec := &Recording{
		Format: RecordingFormat, Version: RecordingVersion, Case: r.of.Case, Tool: call.Tool,
		ToolVersion: version(&call, tool), Schema: SchemaHash(tool), Args: value.Canonical(call.Args),
		Status: call.Status, Result: call.Result, Error: call.Error, Note: call.Note, Guard: call.Guard, Env: reply.Env,
		LatencyMS: float64(reply.Latency.Microseconds()) / 1000, Recorded: r.tape.now().UTC().Truncate(time.Second),
	}
	if rec.Status == callvet.StatusOK && rec.Result == nil {
		rec.Result = compact([]byte("null"))
	}
	if tool != nil {
		rec.Tool = tool.Name
	}
	rec.Call = r.seen.next(rec.key())
	return r.tape.keep(ctx, rec, &r.of)
}

// keep returns when the recording is on the disk. The first answer of a session to a call is
// stored for its case; an attempt with a different answer has its own file.
func (t *Tape) keep(ctx context.Context, rec *Recording, of *Conversation) error {
	t.mu.Lock()
	t.calls++
	t.mu.Unlock()
	first, mine, err := t.claim(ctx, rec)
	if err != nil || mine {
		return err
	}
	own := *rec
	own.Target, own.Repeat = of.Target, of.Repeat+1
	if first.answersAs(rec) && t.old[own.Name()] == nil {
		return nil // the same answer, and no file of this attempt contains a different one
	}
	_, _, err = t.claim(ctx, &own)
	return err
}

// claim returns the recording in the file in this session; mine: it is the given recording. It
// waits until the file is on the disk.
func (t *Tape) claim(ctx context.Context, rec *Recording) (recorded *Recording, mine bool, err error) {
	name := rec.Name()
	t.mu.Lock()
	at := t.made[name]
	mine = at == nil
	if mine {
		at = &track{rec: rec, done: make(chan struct{})}
		t.made[name] = at
	}
	t.mu.Unlock()
	if !mine {
		<-at.done
		return at.rec, false, at.err
	}
	defer close(at.done)
	if rec.answersAs(t.old[name]) {
		return rec, true, nil
	}
	b, err := rec.Encode()
	if err == nil {
		err = t.put(ctx, name, b)
	}
	at.err = err
	if err == nil {
		t.mu.Lock()
		t.written++
		t.mu.Unlock()
	}
	return rec, true, err
}

// Close closes the world that is recorded, where it can be closed.
func (r *recorder) Close() error { return closed(r.world) }

// closed closes a world that can be closed.
func closed(w callvet.World) error {
	if c, ok := w.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
