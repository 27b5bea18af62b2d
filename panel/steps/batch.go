// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"bytes"

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
	set                        *slicing.Set
	line                       int64
	exec                       float64
	args, result               uint64
	queue, accept              float32 // -1: not recorded
	attempt                    uint32
	known, right               uint16
	matched, emitted, expected uint16 // as in callvet.StepScore
	timeout                    bool
}

// record is what is kept of a task record.
type record struct {
	set                      *slicing.Set
	line                     int64
	attempt                  uint32
	pass                     int8 // -1: not told
	fault, notRun            bool
	gold, exposed            bool
	incidents, blocked       uint32
	input, output, reasoning int64 // -1: not told
	cost                     int64 // billionths of a dollar; -1: not told
	wall                     float64
	judged                   []judged
	needed                   []uint32 // tools
}

type judged struct {
	judge uint32
	pass  bool
}

// piece is a run of lines of one task: steps[from:to] and records[rfrom:rto] of
// the batch.
type piece struct {
	hash         uint64
	target, id   []byte
	from, to     int32
	rfrom, rto   int32
	targetNumber uint32
}

// Batch collects the lines of one block. It belongs to one worker until it is
// given to Sheet.Apply.
type Batch struct {
	steps   []step
	records []record
	text    []byte // task ids and targets
	pieces  [partitions][]piece
	last    *piece
	left    int32 // partitions that have not taken it yet
	done    func(*Batch)
}

func (b *Batch) reset() {
	clear(b.records)
	b.steps, b.records, b.text, b.last = b.steps[:0], b.records[:0], b.text[:0], nil
	for i := range b.pieces {
		clear(b.pieces[i])
		b.pieces[i] = b.pieces[i][:0]
	}
}

// Worker turns lines into batches. Each goroutine needs its own.
type Worker struct {
	names *slicing.Names
	find  slicing.Finder
	sums  *Sums
}

// Batch gives an empty batch.
func (w *Worker) Batch() *Batch { return &Batch{} }

// Step adds a step line. Lines come in the order of the file.
func (w *Worker) Step(b *Batch, s *Step) {
	p := b.piece(s.TaskID, s.Target)
	set := w.find.Recent(s.Target, s.Tool, s.Tags, s.Fields)
	if set == nil {
		set = w.find.Set(s.Target, s.Tool, s.Tags, s.Fields)
	}
	p.targetNumber = set.Target
	n := len(b.steps)
	if n == cap(b.steps) {
		b.steps = append(b.steps, step{})
	}
	b.steps = b.steps[:n+1]
	to := &b.steps[n]
	to.set, to.line, to.exec, to.queue, to.accept = set, s.Line, s.ExecMS, float32(s.QueueMS), float32(s.AcceptMS)
	to.attempt, to.args, to.result, to.timeout = uint32(s.Attempt), s.Args, s.Result, s.Timeout
	to.known, to.right = s.Score.Known, s.Score.True
	to.matched, to.emitted, to.expected = s.Score.Matched, s.Score.Emitted, s.Score.Expected
	p.to = int32(n + 1)
	if w.sums.symptoms.Look(s.Score) {
		w.sums.symptoms.Add(&findings.Call{
			Line: s.Line, Target: s.Target, Task: s.TaskID, Call: s.CallID, Attempt: s.Attempt, Tool: set.Tool, Score: s.Score,
			Timeout: to.timeout, Paths: s.Paths,
		})
	}
	if len(s.GoldTool) > 0 {
		w.sums.confused.Look(set.Target, set.Tool, s.Score, func() uint32 { return w.find.Tool(s.GoldTool) })
	} else if !w.sums.confused.Agree(set.Target, set.Tool, s.Score) {
		w.sums.confused.Look(set.Target, set.Tool, s.Score, nil)
	}
}

// Task adds a task record. An attempt that did not run or that ended in a fault of the
// infrastructure has no verdict, whatever its record says beside that.
func (w *Worker) Task(b *Batch, t *Task) {
	p := b.piece(t.ID, t.Target)
	set := w.find.Set(t.Target, nil, t.Tags, t.Fields)
	p.targetNumber = set.Target
	r := record{
		set: set, line: t.Line, attempt: uint32(t.Attempt), pass: int8(t.Pass), fault: t.Fault, notRun: t.NotRun, gold: t.HasGold,
		exposed: t.Exposed, incidents: uint32(t.Incidents), blocked: uint32(t.Blocked), input: t.InputTokens, output: t.OutputTokens, reasoning: t.ReasoningTokens,
		cost: nano(t.CostUSD), wall: t.WallMS,
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
	if p := b.last; p != nil && bytes.Equal(p.id, task) && len(p.target) == len(target) && (len(target) == 0 || bytes.Equal(p.target, target)) {
		return p
	}
	h := hashTask(task, target)
	list := &b.pieces[h%partitions]
	n := len(b.text)
	b.text = append(append(b.text, target...), task...)
	text := b.text[n:len(b.text):len(b.text)]
	*list = append(*list, piece{
		hash: h, target: text[:len(target)], id: text[len(target):],
		from: int32(len(b.steps)), to: int32(len(b.steps)), rfrom: int32(len(b.records)), rto: int32(len(b.records)),
	})
	b.last = &(*list)[len(*list)-1]
	return b.last
}

func hashTask(task, target []byte) uint64 { return tally.Hash(tally.Hash(0x51ED270B, target), task) }
