// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

// stage judges whole attempts between the reader of callvet's own lines and the workers. Lines go
// on in their order, including lines that are not records; a record waits for the last record of
// its attempt. If the judge changed an attempt, its task record is rewritten, and its steps get the
// labels of the judge.
type stage struct {
	judge func(*trace.Attempt) bool
	group *trace.Grouper
	scan  *trace.Scanner
	// long counts the lines that are too long to go on.
	long *trace.Scanner
	open map[attempt]*pieces
	// queue are the lines from the first that waits; fresh are the records of the block being read.
	queue, fresh []*piece
	held         int // bytes of the lines in the queue
	// rest are new task records of attempts without one. Their lines come last.
	rest [][]byte
	over bool // every line was read
	// moved is true if lines were inserted, so that line numbers differ from the file's.
	moved bool
	// added is the number of added lines, each a task record.
	added int64
}

// maxHeld is how many bytes of lines wait for the end of an attempt, in addition to its records in
// the Grouper. The attempt that the first of them belongs to is then judged as it is.
const maxHeld = 128 << 20

type attempt struct {
	task, target string
	number       int
}

// piece is a line that goes on once it does not wait, and a record to put after it.
type piece struct {
	line   int64
	of     attempt
	waits  bool
	queued bool
	text   []byte
	after  []byte
}

// pieces are the lines of an attempt in their order of arrival.
type pieces struct {
	all, steps []*piece
	task       *piece // the last record of the task; nil: none came
}

// staged starts to judge the attempts of lines.
func (r *run) staged(ctx context.Context, lines io.Reader) (*form, error) {
	o := r.cfg.Lines
	o.Strict = false // the workers read every line again
	blocks, err := trace.NewBlocks(lines, o)
	if err != nil {
		return nil, err
	}
	s := &stage{
		judge: r.cfg.Attempts, group: trace.NewGrouper(0), scan: trace.NewScanner(o),
		long: trace.NewScanner(r.cfg.Lines), open: map[attempt]*pieces{},
	}
	s.scan.Broken, s.group.Hold = s.group.Broken, !o.Live
	return pipe(func(to io.Writer) error { return s.copy(ctx, to, blocks) }, func() {
		r.foreign = s.moved
		r.mu.Lock()
		defer r.mu.Unlock()
		s.long.Log.Lines = -s.added // lines that are too long went on as empty lines
		s.long.Log.Tasks = -s.added
		s.long.Log.Repairs(&s.scan.Log) // the workers get the repaired lines
		s.long.Log.Shift(r.before)
		r.log.Merge(&s.long.Log)
		if n := s.group.Merged; n > 0 {
			r.problem("merged-records",
				fmt.Sprintf("task records that are copies of an earlier one, and count once with it: %d", n))
		}
		if n := s.group.Copies; n > 0 {
			r.problem("merged-steps",
				fmt.Sprintf("steps that are copies of an earlier one of their call, and count once with it: %d", n))
		}
		if n := s.group.Split; n > 0 {
			r.problem("split-attempts",
				fmt.Sprintf(
					"%d attempts have lines more than %d attempts apart and were judged in pieces: sort the file by task", n, trace.Window))
		}
	}), nil
}

func (s *stage) copy(ctx context.Context, to io.Writer, blocks *trace.Blocks) error {
	out := bufio.NewWriterSize(to, 256<<10)
	var buf []byte
	for {
		b, err := blocks.Next(buf)
		if errors.Is(err, io.EOF) {
			break
		}
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		if len(b.Data) == 0 {
			if err := s.long.Scan(b, nil); err != nil {
				return err
			}
			s.push(&piece{})
		} else {
			if err := s.scan.Scan(b, s.line); err != nil {
				return err
			}
			s.take(b)
			buf = b.Data
		}
		if err := s.flush(out); err != nil {
			return err
		}
	}
	s.over = true
	for a := range s.group.Rest() {
		if err := s.judged(&a); err != nil {
			return err
		}
	}
	if err := s.flush(out); err != nil {
		return err
	}
	for _, text := range s.rest {
		out.Write(append(text, '\n'))
	}
	return out.Flush()
}

// line handles a record.
func (s *stage) line(v *trace.View) error {
	if s.group.Copy(v) { // an empty line instead keeps the line numbers
		s.fresh = append(s.fresh, &piece{line: v.Line})
		return nil
	}
	if s.group.Late(v) { // it is passed on unchanged
		s.fresh = append(s.fresh, &piece{line: v.Line, text: bytes.Clone(v.Raw)})
		return nil
	}
	p := &piece{
		line: v.Line, of: attempt{string(v.TaskID), string(v.Target), v.Attempt}, waits: true,
		text: bytes.Clone(v.Raw),
	}
	s.fresh = append(s.fresh, p)
	own := s.open[p.of]
	if own == nil {
		own = &pieces{}
		s.open[p.of] = own
	}
	own.all = append(own.all, p)
	if v.IsTask {
		own.task = p
	} else {
		own.steps = append(own.steps, p)
	}
	if a, ok := s.group.Add(v); ok {
		return s.judged(&a)
	}
	return nil
}

// take puts the lines of a block into the queue.
func (s *stage) take(b trace.Block) {
	fresh := s.fresh
	for line, rest := b.Line, b.Data; len(rest) > 0; line++ {
		text, more, _ := bytes.Cut(rest, []byte{'\n'})
		if rest = more; len(fresh) > 0 && fresh[0].line == line {
			s.push(fresh[0])
			fresh = fresh[1:]
			continue
		}
		s.push(&piece{text: bytes.Clone(text)})
	}
	s.fresh = s.fresh[:0]
}

func (s *stage) push(p *piece) {
	p.queued = true
	s.queue = append(s.queue, p)
	s.held += len(p.text)
}

// flush writes the lines up to the first that waits.
func (s *stage) flush(out *bufio.Writer) error {
	n := 0
	for ; n < len(s.queue); n++ {
		p := s.queue[n]
		if p.waits && s.held > maxHeld {
			if a, ok := s.group.End(p.of.task, p.of.target, p.of.number); ok {
				if err := s.judged(&a); err != nil {
					return err
				}
			}
		}
		if p.waits {
			break
		}
		s.held -= len(p.text)
		out.Write(append(p.text, '\n'))
		if p.after != nil {
			out.Write(append(p.after, '\n'))
		}
	}
	s.queue = slices.Delete(s.queue, 0, n)
	return nil
}

func idOf(a *trace.Attempt) attempt { return attempt{a.Trace.CaseID, a.Trace.Target, a.Trace.Repeat} }

// judged lets the judge judge an attempt, and lets its lines go on with the judge's changes.
func (s *stage) judged(a *trace.Attempt) error {
	id := idOf(a)
	own := s.open[id]
	delete(s.open, id)
	for _, p := range own.all {
		p.waits = false
	}
	before := a.Labelled()
	if !s.judge(a) {
		return nil
	}
	var raw []byte
	if own.task != nil {
		raw = own.task.text
	}
	text, err := amend(raw, a)
	if err != nil {
		return fmt.Errorf("write the record of task %q: %w", a.Trace.CaseID, err)
	}
	switch {
	case own.task != nil:
		s.resize(own.task, text)
	case s.over:
		s.added++
		s.rest = append(s.rest, text)
	default:
		s.moved = true
		s.added++
		own.all[len(own.all)-1].after = text
	}
	return s.steps(a, own, before)
}

// steps lets the steps of an attempt go on with the judge's labels and the tool names that count in
// its case.
func (s *stage) steps(a *trace.Attempt, own *pieces, labelled bool) error {
	called, counted := a.Trace.Calls(), counted(a).Calls()
	for pos, i := range a.Order {
		if i < 0 || i >= len(own.steps) {
			continue
		}
		set, but := []byte{'{'}, []string(nil)
		if g := a.Steps[pos].Gold; g != nil && !labelled {
			set, but = trace.AppendGold(append(set, `"gold":`...), g), append(but, "gold")
		}
		if c := &counted[pos]; c.Tool != called[pos].Tool {
			if but != nil {
				set = append(set, ',')
			}
			set, but = trace.AppendQuoted(append(set, `"tool":`...), trace.JoinTool(c.Tool, c.Version)),
				append(but, "tool")
		}
		if but == nil {
			continue
		}
		text, err := members(set, own.steps[i].text, but...)
		if err != nil {
			return fmt.Errorf("write a step of task %q: %w", a.Trace.CaseID, err)
		}
		text = append(text, '}')
		s.resize(own.steps[i], text)
	}
	return nil
}

// resize replaces the text of a piece.
func (s *stage) resize(p *piece, text []byte) {
	if p.queued {
		s.held += len(text) - len(p.text)
	}
	p.text = text
}

// amend rewrites the members of a task record that a judge may change: pass, gold, safety, tags,
// fields and the scorer's result. Its other members stay unchanged.
func amend(raw []byte, a *trace.Attempt) ([]byte, error) {
	out, err := json.Marshal(trace.Task{
		TaskID: a.Trace.CaseID, Target: a.Trace.Target, Attempt: a.Trace.Repeat, Pass: a.Pass, Gold: a.Gold,
		Safety: a.Safety, Tags: a.Tags, Fields: a.Fields,
		Scored: a.Scored,
	})
	if err != nil {
		return nil, err
	}
	out = append([]byte(`{"type":"task",`), out[1:len(out)-1]...)
	if raw != nil {
		if out, err = members(out, raw, "type", "task_id", "target", "attempt", "pass", "gold", "safety", "tags",
			"fields", "scored"); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// members appends the members of a record except some.
func members(out, raw []byte, but ...string) ([]byte, error) {
	v, err := value.Parse(raw)
	if err != nil {
		return nil, err
	}
	for m, ok := v.First(); ok; m, ok = v.Next(m) {
		if slices.Contains(but, m.Key()) {
			continue
		}
		out = append(trace.AppendQuoted(append(out, ','), m.Key()), ':')
		out = append(out, m.Raw()...)
	}
	return out, nil
}
