// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"bytes"
	"math"
	"slices"

	"github.com/callvet/callvet"
)

// partitions is the number of parts of the open tasks. It is independent of the number of workers,
// because it decides which tasks share a window.
const partitions = 16

// step is what is kept of a step line while its task is open.
type step struct {
	set           *SliceSet
	line          int64
	exec          float64
	hashes        hashes
	queue, accept float32 // -1: not recorded
	attempt       uint32
	callvet.StepScore
}

// timeout reports whether the call timed out.
func (s *step) timeout() bool { return s.True>>callvet.StepTimeout&1 != 0 }

// odd is kept in addition to the numbers for some steps: those with something wrong, and those with
// a label that names another tool. line is the line of the step.
type odd struct {
	line          int64
	call          string
	paths, fields []string // names of arguments that differ, and that break the schema
	gold          uint32   // the labelled tool; NoTool: none, or the called tool
}

// record is what is kept of a task record.
type record struct {
	set                      *SliceSet
	line                     int64
	attempt                  uint32
	pass                     int8 // -1: not recorded
	fault, notRun, skipped   bool
	gold, exposed            bool
	corrects                 bool
	steps                    uint32 // step lines that the attempt must have, at least
	content                  uint64
	incidents, blocked       uint32
	input, output, reasoning int64 // -1: not recorded
	cost                     int64 // billionths of a dollar; -1: not recorded
	wall                     float64
	judged                   []judged
	needed                   []uint32 // tools
	scoring                  *scoring // nil: not recorded
}

type judged struct {
	judge uint32
	pass  bool
}

// piece is a run of lines of one task: steps[from:to] of the lines of its partition, and so on.
type piece struct {
	hash             uint64
	from, to         int32
	rfrom, rto       int32
	ofrom, oto       int32
	text, target, id uint32 // where its target and id are in the text, and how long they are
	number           uint32 // of the target
}

// lines are the lines of a batch that belong to one partition.
type lines struct {
	pieces  []piece
	steps   []step
	records []record
	odds    []odd
	text    []byte
}

// Batch collects the lines of one block. It belongs to one worker until it is passed to Sheet.Give.
type Batch struct {
	parts      [partitions]lines
	in         *lines // of the last line; nil: none
	target, id []byte // of the last line
	seed       uint64 // hash of target
	number     int64  // from 0, in the order of the file
	left       int32  // partitions that have not taken it yet
	done       func(*Batch)
}

// reset empties a batch that all partitions took.
func (b *Batch) reset() {
	b.in, b.target, b.id = nil, nil, nil
	for i := range b.parts {
		in := &b.parts[i]
		clear(in.records)
		clear(in.odds)
		in.pieces, in.steps, in.records, in.odds, in.text = in.pieces[:0], in.steps[:0], in.records[:0],
			in.odds[:0], in.text[:0]
	}
}

// Worker turns lines into batches. Each goroutine needs its own.
type Worker struct {
	sheet *Sheet
	names *SliceNames
	find  SliceFinder
	sums  *Sums
	words map[string]uint32
	// noResult is the result for an attempt without a scorer.
	noResult *ScorerResult
}

// Batch returns an empty batch.
func (w *Worker) Batch() *Batch { return &Batch{} }

// Step adds a step line. Lines come in the order of the file.
func (w *Worker) Step(b *Batch, s *Step) {
	in, p := b.piece(s.TaskID, s.Target)
	set := w.find.Set(s.Target, s.Tool, s.Tags, s.Fields)
	if len(s.GoldTool) > 0 && s.Score.Known&^s.Score.True&(1<<callvet.StepNeeded) == 0 {
		set = w.find.Expecting(set, s.GoldTool)
	}
	p.number = set.Target
	in.steps = append(in.steps, step{
		set: set, line: s.Line, exec: s.ExecMS, queue: float32(s.QueueMS), accept: float32(s.AcceptMS),
		attempt: uint32(s.Attempt),
		hashes:  hashesOf(s), StepScore: s.Score,
	})
	p.to = int32(len(in.steps))
	if o := w.odd(set.Tool, s); o != nil {
		in.odds = append(in.odds, *o)
		p.oto = int32(len(in.odds))
	}
}

// odd is what is kept of a step in addition to its numbers; nil for nothing.
func (w *Worker) odd(tool uint32, s *Step) *odd {
	gold := uint32(NoTool)
	if len(s.GoldTool) > 0 {
		if gold = w.find.Tool(s.GoldTool); gold == tool && s.Score.Known&s.Score.True&(1<<callvet.StepSelection) != 0 {
			gold = NoTool
		}
	}
	if gold == NoTool && !WrongCall(s.Score) {
		return nil
	}
	return &odd{
		line: s.Line, call: string(s.CallID), paths: slices.Clone(s.Paths),
		fields: slices.Clone(s.BadFields), gold: gold,
	}
}

// Task adds a task record. An attempt that did not run, or that ended in a fault of the
// infrastructure, has no verdict, even if its record has one.
func (w *Worker) Task(b *Batch, t *Task) {
	in, p := b.piece(t.ID, t.Target)
	set := w.find.Set(t.Target, nil, t.Tags, t.Fields)
	if t.ScorerResult != nil && len(t.Needed) > 0 { // a call that was not made is a miss of its family
		set = w.names.Needing(set, t.Needed, t.Fields)
	}
	for _, name := range t.Expected {
		set = w.find.Expecting(set, []byte(name))
	}
	p.number = set.Target
	r := record{
		set: set, line: t.Line, content: t.Content, corrects: t.Corrects, attempt: uint32(t.Attempt),
		pass: int8(t.Pass), steps: uint32(min(max(t.Steps, 0), math.MaxInt32)),
		fault: t.Fault, notRun: t.NotRun, skipped: t.NotRun && t.Skipped, gold: t.HasGold,
		exposed: t.Exposed, incidents: uint32(t.Incidents), blocked: uint32(t.Blocked), input: t.InputTokens,
		output: t.OutputTokens, reasoning: t.ReasoningTokens,
		cost: nano(t.CostUSD), wall: t.WallMS, scoring: w.scoringOf(t),
	}
	if t.Fault || t.NotRun {
		r.pass = -1
	} else {
		for _, v := range t.Judged {
			r.judged = append(r.judged, judged{w.names.Judge(v.Judge), v.Pass})
		}
	}
	for _, n := range t.Needed {
		r.needed = append(r.needed, w.find.Tool([]byte(n)))
	}
	in.records = append(in.records, r)
	p.rto = int32(len(in.records))
}

// nano converts to billionths of a dollar; -1 for an amount that is not recorded or above a
// billion.
func nano(usd float64) int64 {
	if !(usd >= 0 && usd < 1e9) {
		return -1
	}
	return int64(usd*1e9 + 0.5)
}

// piece returns the run of lines that a line of this task continues or starts, and the lines that
// it is in.
func (b *Batch) piece(task, target []byte) (*lines, *piece) {
	same := b.in != nil && bytes.Equal(b.target, target)
	if same && bytes.Equal(b.id, task) {
		return b.in, &b.in.pieces[len(b.in.pieces)-1]
	}
	if !same {
		b.seed = hash(hashSeed, target)
	}
	h := hash(b.seed, task)
	in := &b.parts[h%partitions]
	n := len(in.text)
	in.text = append(append(in.text, target...), task...)
	b.in, b.target, b.id = in, in.text[n:n+len(target)], in.text[n+len(target):]
	steps, records, odds := int32(len(in.steps)), int32(len(in.records)), int32(len(in.odds))
	in.pieces = append(in.pieces, piece{
		hash: h, text: uint32(n), target: uint32(len(target)), id: uint32(len(task)),
		from: steps, to: steps, rfrom: records, rto: records, ofrom: odds, oto: odds,
	})
	return in, &in.pieces[len(in.pieces)-1]
}

// hashSeed is the seed of the hashes of tasks, before their target and id.
const hashSeed = 0x51ED270B
