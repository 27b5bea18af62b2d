// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"bytes"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel/findings"
	"github.com/callvet/callvet/panel/slicing"
	"github.com/callvet/callvet/panel/tally"
)

// partitions is in how many parts the open tasks are kept, whatever the number
// of those who fill them: it decides which tasks share a window.
const partitions = 16

// step is what is kept of a step line while its task is open: a cache line, since
// many are.
type step struct {
	set           *slicing.Set
	line          int64
	exec          float64
	hashes        hashes
	queue, accept float32 // -1: not recorded
	attempt       uint32
	known, right  uint16
	// as in callvet.StepScore
	matched, emitted, expected, union uint16
}

// timeout tells that the call ended in one.
func (s *step) timeout() bool { return s.right>>callvet.StepTimeout&1 != 0 }

// odd is what is kept of some steps beside their numbers: of those with something wrong, and of
// those with a label that names another tool. Its line is that of the step.
type odd struct {
	line          int64
	call          string
	paths, fields []string // names of arguments: those that differ, and those that break the schema
	gold          uint32   // the labelled tool; findings.NoTool: that which was called, or none
}

// record is what is kept of a task record.
type record struct {
	set                      *slicing.Set
	line                     int64
	attempt                  uint32
	pass                     int8 // -1: not told
	fault, notRun, skipped   bool
	gold, exposed            bool
	corrects                 bool
	content                  uint64
	incidents, blocked       uint32
	input, output, reasoning int64 // -1: not told
	cost                     int64 // billionths of a dollar; -1: not told
	wall                     float64
	judged                   []judged
	needed                   []uint32 // tools
	scoring                  *scoring // nil: nothing is told of it
}

type judged struct {
	judge uint32
	pass  bool
}

// piece is a run of lines of one task: Things[from:to] of the box of its partition, where
// its target and id are text, and records[rfrom:rto] and odds[ofrom:oto] of the batch.
type piece struct {
	hash             uint64
	from, to         int32
	rfrom, rto       int32
	ofrom, oto       int32
	text, target, id uint32 // where they begin, and how long they are
	targetNumber     uint32
}

// Batch collects the lines of one block. It belongs to one worker until it is
// given to Sheet.Give.
type Batch struct {
	sheet      *Sheet
	boxes      [partitions]*tally.Box[step] // nil where there are no pieces
	pieces     [partitions][]piece
	records    []record
	odds       []odd
	last       *piece
	in         *tally.Box[step] // that last is in
	target, id []byte           // of last
	seed       uint64           // hash of target
	number     int64            // from 0, in the order of the file
	left       int32            // partitions that have not taken it yet
	done       func(*Batch)
}

// reset empties a batch whose boxes were taken.
func (b *Batch) reset() {
	clear(b.records)
	clear(b.odds)
	b.records, b.odds, b.last, b.in, b.target, b.id = b.records[:0], b.odds[:0], nil, nil, nil, nil
	for i := range b.pieces {
		b.boxes[i], b.pieces[i] = nil, b.pieces[i][:0]
	}
}

// Worker turns lines into batches. Each goroutine needs its own.
type Worker struct {
	sheet *Sheet
	names *slicing.Names
	find  slicing.Finder
	sums  *Sums
	ready []*Batch // scratch of Sheet.Take
	words map[string]uint32
	// unsaid is what is said of an attempt at which no scorer looked.
	unsaid *Said
}

// Batch gives an empty batch.
func (w *Worker) Batch() *Batch { return &Batch{sheet: w.sheet} }

// Step adds a step line. Lines come in the order of the file.
func (w *Worker) Step(b *Batch, s *Step) {
	p := b.piece(s.TaskID, s.Target)
	set := w.find.Recent(s.Target, s.Tool, s.Tags, s.Fields)
	if set == nil {
		set = w.find.Set(s.Target, s.Tool, s.Tags, s.Fields)
	}
	if len(s.GoldTool) > 0 && s.Score.Known&^s.Score.True&(1<<callvet.StepNeeded) == 0 {
		set = w.find.Expecting(set, s.GoldTool)
	}
	p.targetNumber = set.Target
	to := b.in.Add()
	to.set, to.line, to.exec, to.queue, to.accept = set, s.Line, s.ExecMS, float32(s.QueueMS), float32(s.AcceptMS)
	to.attempt, to.hashes = uint32(s.Attempt), hashesOf(s)
	to.known, to.right = s.Score.Known, s.Score.True
	to.matched, to.emitted, to.expected, to.union = s.Score.Matched, s.Score.Emitted, s.Score.Expected, s.Score.Union
	p.to = int32(len(b.in.Things))
	if o := w.odd(set.Tool, s); o != nil {
		b.odds = append(b.odds, *o)
		p.oto = int32(len(b.odds))
	}
}

// odd is what is kept of a step beside its numbers; nil for nothing.
func (w *Worker) odd(tool uint32, s *Step) *odd {
	gold := uint32(findings.NoTool)
	if len(s.GoldTool) > 0 {
		if gold = w.find.Tool(s.GoldTool); gold == tool && s.Score.Known&s.Score.True&(1<<callvet.StepSelection) != 0 {
			gold = findings.NoTool
		}
	}
	if gold == findings.NoTool && !findings.Wrong(s.Score) {
		return nil
	}
	return &odd{line: s.Line, call: string(s.CallID), paths: slices.Clone(s.Paths), fields: slices.Clone(s.BadFields), gold: gold}
}

// Task adds a task record. An attempt that did not run or that ended in a fault of the
// infrastructure has no verdict, whatever its record says beside that.
func (w *Worker) Task(b *Batch, t *Task) {
	p := b.piece(t.ID, t.Target)
	set := w.find.Set(t.Target, nil, t.Tags, t.Fields)
	if t.Said != nil && len(t.Needed) > 0 { // a call that was not made is a miss of its family
		set = w.names.Needing(set, t.Needed, t.Fields)
	}
	for _, name := range t.Expected {
		set = w.find.Expecting(set, []byte(name))
	}
	p.targetNumber = set.Target
	r := record{
		set: set, line: t.Line, content: t.Content, corrects: t.Corrects, attempt: uint32(t.Attempt), pass: int8(t.Pass),
		fault: t.Fault, notRun: t.NotRun, skipped: t.NotRun && t.Skipped, gold: t.HasGold,
		exposed: t.Exposed, incidents: uint32(t.Incidents), blocked: uint32(t.Blocked), input: t.InputTokens, output: t.OutputTokens, reasoning: t.ReasoningTokens,
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
	b.records = append(b.records, r)
	p.rto = int32(len(b.records))
}

// nano gives billionths of a dollar; -1 for what is not told or above a billion.
func nano(usd float64) int64 {
	if !(usd >= 0 && usd < 1e9) {
		return -1
	}
	return int64(usd*1e9 + 0.5)
}

// piece gives the run of lines that a line of this task continues or starts.
func (b *Batch) piece(task, target []byte) *piece {
	same := b.last != nil && len(b.target) == len(target) && (len(target) == 0 || bytes.Equal(b.target, target))
	if same && bytes.Equal(b.id, task) {
		return b.last
	}
	if !same {
		b.seed = tally.Hash(hashSeed, target)
	}
	h := tally.Hash(b.seed, task)
	in, list := b.boxes[h%partitions], &b.pieces[h%partitions]
	if in == nil {
		in = b.sheet.parts[h%partitions].tasks.boxes.Next()
		b.boxes[h%partitions] = in
	}
	n := len(in.Text)
	in.Text = append(append(in.Text, target...), task...)
	b.in, b.target, b.id = in, in.Text[n:n+len(target)], in.Text[n+len(target):]
	*list = append(*list, piece{
		hash: h, text: uint32(n), target: uint32(len(target)), id: uint32(len(task)),
		from: int32(len(in.Things)), to: int32(len(in.Things)), rfrom: int32(len(b.records)), rto: int32(len(b.records)),
		ofrom: int32(len(b.odds)), oto: int32(len(b.odds)),
	})
	b.last = &(*list)[len(*list)-1]
	return b.last
}

// hashSeed is what hashes of tasks begin with, before their target and id.
const hashSeed = 0x51ED270B
