// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/value"
)

// MaxRecordings is how many recordings a folder has at most.
const MaxRecordings = 500_000

// Conversation describes the attempt of the calls that a world answers or records.
type Conversation struct {
	// Case is the id of the case; "" where there is none, as behind a proxy.
	Case string
	// Target and Repeat (from 0) identify the attempt.
	Target string
	Repeat int
	// Tools are the contracts of the tools.
	Tools []callvet.Tool
	// Scrub redacts a call; nil: no redaction. Calls are found by their redacted form, so that
	// replay must use the same redaction.
	Scrub func(call *callvet.Call)
}

// contract is the tool of a call, by its name and, if the call has one, its version.
func (c *Conversation) contract(call *callvet.Call) *callvet.Tool {
	var found *callvet.Tool
	for i := range c.Tools {
		t := &c.Tools[i]
		if !callvet.SameName(t.Name, call.Tool) {
			continue
		}
		if call.Version == "" || call.Version == t.Version {
			return t
		}
		found = cmp.Or(found, t)
	}
	return found
}

// version is the version of a call, or else of its tool.
func version(call *callvet.Call, t *callvet.Tool) string {
	if call.Version == "" && t != nil {
		return t.Version
	}
	return call.Version
}

// scrubbed is a call in its stored form. It shares no memory with the call of the target.
func (c *Conversation) scrubbed(call callvet.Call) callvet.Call {
	call.Args = slices.Clone(call.Args)
	if c.Scrub != nil {
		c.Scrub(&call)
	}
	return call
}

// counter counts the calls of a conversation by tool and arguments.
type counter map[key]int

func (n counter) next(k key) int {
	k.call = 0
	n[k]++
	return n[k]
}

// Recordings are the recordings of a folder or of a run. They answer calls and execute none. They
// are safe for concurrent use.
type Recordings struct {
	byKey     map[key][]*Recording // recordings with a target after the one without
	elsewhere map[key][]*Recording // by key without its case
	byTool    map[string][]*Recording
	scopes    map[string]bool // the ids of cases, and "" of none
	hash      string
	n         int
	answered  atomic.Int64
	missed    atomic.Int64
}

// OpenRecordings reads the recordings of a folder: every .json file in it and below it. A folder
// without one is an error that wraps callvet.ErrInvalid; a missing folder is ErrNotFound.
func OpenRecordings(folder string) (*Recordings, error) {
	list, err := readFolder(folder)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("open recordings %s: no .json file in it: %w", folder, callvet.ErrInvalid),
			Hint: "callvet run SUITE -m TARGET --record " + folder + " records",
		}
	}
	return RecordingsOf(list)
}

// readFolder reads all recordings of a folder, by name.
func readFolder(folder string) ([]*Recording, error) {
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("open recordings %s: %w", folder, callvet.ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("open recordings: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("open recordings %s: it is a file, and recordings are a folder: %w", folder,
			callvet.ErrInvalid)
	}
	var out []*Recording
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != folder && strings.HasPrefix(e.Name(), "."):
			return filepath.SkipDir
		case !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") || filepath.Ext(e.Name()) != ".json":
			return nil
		case len(out) == MaxRecordings:
			return fmt.Errorf("more than %d recordings: %w", MaxRecordings, callvet.ErrLimited)
		}
		b, err := doc.ReadFile(path, MaxRecording)
		if err != nil {
			return err
		}
		r, err := ReadRecording(path, b)
		if err != nil {
			return err
		}
		out = append(out, r)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("open recordings %s: %w", folder, err)
	}
	return out, nil
}

// RecordingsOf indexes recordings. Two recordings of the same call are an error, which wraps
// callvet.ErrInvalid and names their files.
func RecordingsOf(list []*Recording) (*Recordings, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, before)
	r := &Recordings{
		byKey: map[key][]*Recording{}, elsewhere: map[key][]*Recording{},
		byTool: map[string][]*Recording{}, scopes: map[string]bool{}, n: len(list),
	}
	h := sha256.New()
	for i, rec := range list {
		if i > 0 && before(list[i-1], rec) == 0 {
			return nil, &callvet.Hinted{
				Err: fmt.Errorf("read recordings: %w: %s and %s answer the same call: %s", callvet.ErrInvalid,
					list[i-1].file, rec.file, called(rec.Tool, rec.ToolVersion, string(rec.Args), rec.Call)),
				Hint: "keep one of them",
			}
		}
		k := rec.key()
		r.byKey[k] = append(r.byKey[k], rec)
		r.byTool[k.tool] = append(r.byTool[k.tool], rec)
		r.scopes[k.scope] = true
		if k.scope != "" {
			k.scope = ""
			r.elsewhere[k] = append(r.elsewhere[k], rec)
		}
		b, err := rec.Encode()
		if err != nil {
			return nil, err
		}
		h.Write(b)
	}
	r.hash = hex.EncodeToString(h.Sum(nil))
	return r, nil
}

// before orders recordings, independent of the names of their files; 0 for two recordings of one
// call.
func before(a, b *Recording) int {
	x, y := a.key(), b.key()
	return cmp.Or(strings.Compare(x.tool, y.tool), strings.Compare(x.version, y.version),
		strings.Compare(x.scope, y.scope), strings.Compare(x.args, y.args), cmp.Compare(x.call, y.call),
		strings.Compare(a.Target, b.Target), cmp.Compare(a.Repeat, b.Repeat))
}

// Cover reports whether calls of a case may find a recording: one of the case, or of no case.
func (r *Recordings) Cover(id string) bool { return r.scopes[id] || r.scopes[""] }

// Len is the number of recordings.
func (r *Recordings) Len() int { return r.n }

// Hash is the hash of the content of all recordings.
func (r *Recordings) Hash() string { return r.hash }

// Answered is how many calls found a recording, and Missed how many found none.
func (r *Recordings) Answered() int64 { return r.answered.Load() }

// Missed is how many calls found no recording.
func (r *Recordings) Missed() int64 { return r.missed.Load() }

// Drift lists the changes of tools since their calls were recorded: one sentence for a tool, none
// for an unchanged or unrecorded tool.
func (r *Recordings) Drift(tools []callvet.Tool) []string {
	var out []string
	for i := range tools {
		t := &tools[i]
		list := r.byTool[strings.ToLower(t.Name)]
		again := slices.ContainsFunc(tools[:i], func(o callvet.Tool) bool {
			return callvet.SameName(o.Name, t.Name) && o.Version == t.Version
		})
		if len(list) == 0 || again {
			continue
		}
		versions := map[string]bool{}
		changed := 0
		for _, rec := range list {
			versions[rec.ToolVersion] = true
			if rec.ToolVersion == t.Version && rec.Schema != "" && rec.Schema != SchemaHash(t) {
				changed++
			}
		}
		switch {
		case !versions[t.Version]:
			out = append(out, fmt.Sprintf("%s was recorded as %s and is now %s: its calls find no recording", t.Name,
				spokenVersions(versions), spokenVersion(t.Version)))
		case changed > 0:
			out = append(out, fmt.Sprintf("the parameters of %s have changed since %d of its %d calls were recorded",
				t.Name, changed, len(list)))
		}
	}
	return out
}

func spokenVersion(v string) string { return cmp.Or(v, "without a version") }

func spokenVersions(set map[string]bool) string {
	var out []string
	for v := range set {
		out = append(out, spokenVersion(v))
	}
	slices.SortFunc(out, callvet.CompareVersions)
	return strings.Join(out, " and ")
}

// MissError means that a call has no recording. The tool's answer is unknown, so that the attempt cannot be
// judged.
type MissError struct {
	Call string // in words
	Near string // the nearest recording, and how it differs
}

func (e *MissError) Error() string { return "no recording of " + e.Call + ": " + e.Near }

// Unwrap gives the kind of error.
func (e *MissError) Unwrap() error { return callvet.ErrNotFound }

// AnswerOptions are the options of a replay.
type AnswerOptions struct {
	// ErrorOnMiss answers a call without a recording with an error, so that the conversation
	// continues. By default it ends with a Fault.
	ErrorOnMiss bool
	// RealLatency makes answers take their recorded time.
	RealLatency bool
}

// World answers the calls of one conversation. It executes nothing.
func (r *Recordings) World(of Conversation, o AnswerOptions) callvet.World {
	return &recorded{all: r, of: of, options: o, seen: counter{}}
}

type recorded struct {
	all     *Recordings
	of      Conversation
	options AnswerOptions
	seen    counter
}

// Answer returns the recorded answer of the call.
func (w *recorded) Answer(ctx context.Context, call callvet.Call) (callvet.Reply, error) {
	tool := w.of.contract(&call)
	call = w.of.scrubbed(call)
	args := value.Canonical(call.Args)
	k := key{w.of.Case, strings.ToLower(call.Tool), version(&call, tool), unnumbered(args), 0}
	k.call = w.seen.next(k)
	rec, note := w.all.find(k, &w.of, tool != nil && tool.ReadOnly != nil && *tool.ReadOnly)
	if rec == nil {
		w.all.missed.Add(1)
		miss := &MissError{Call: called(call.Tool, k.version, string(args), k.call), Near: w.all.nearest(k)}
		if !w.options.ErrorOnMiss {
			return callvet.Reply{Env: callvet.EnvRecorded}, miss
		}
		return callvet.Reply{
			Status: callvet.StatusExecErr, Error: "no recording of this call", Note: miss.Near,
			Env: callvet.EnvRecorded,
		}, nil
	}
	w.all.answered.Add(1)
	out := rec.reply()
	if note != "" {
		out.Note = join(note, out.Note)
	}
	if w.options.RealLatency && out.Latency > 0 {
		return out, sys.Sleep(ctx, out.Latency)
	}
	return out, nil
}

// find is the recording of a call: of the attempt, else of its case, else of no case, else, for a
// tool that only reads, of another case.
func (r *Recordings) find(k key, of *Conversation, reads bool) (rec *Recording, note string) {
	own := r.byKey[k]
	for _, rec := range own {
		if rec.Target == of.Target && rec.Repeat == of.Repeat+1 {
			return rec, ""
		}
	}
	if len(own) > 0 {
		return own[0], ""
	}
	k.scope = ""
	if any := r.byKey[k]; len(any) > 0 {
		return any[0], ""
	}
	if other := r.elsewhere[k]; reads && len(other) > 0 {
		return other[0], "recorded in case " + other[0].Case
	}
	return nil, ""
}
