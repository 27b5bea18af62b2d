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

	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

// stage lets attempts be judged as a whole on the way of callvet's own lines to
// the workers. Lines go on as they stand, those that are no records too; only task
// records are rewritten, where the judge has changed what they tell.
type stage struct {
	judge func(*trace.Attempt) bool
	group *trace.Grouper
	scan  *trace.Scanner
	// long has seen the lines that are too long to go on.
	long *trace.Scanner
	// held are task records that went on before their attempt's last line: where
	// the judge changes them they go on a second time, and the last one counts.
	held  map[attempt][]byte
	edits []edit
	// moved tells that lines were put between others, so that their numbers are
	// no longer those of the file.
	moved bool
	// added is how many lines, each a task record, there are more than in the file.
	added int64
}

type attempt struct {
	task, target string
	number       int
}

// edit replaces a line, or puts a record after it.
type edit struct {
	line  int64
	text  []byte
	after bool
}

// staged starts to judge the attempts of lines.
func (r *run) staged(ctx context.Context, lines io.Reader) (*form, error) {
	o := r.cfg.Lines
	o.Strict = false // the workers read every line again
	blocks, err := trace.NewBlocks(lines, o)
	if err != nil {
		return nil, err
	}
	s := &stage{judge: r.cfg.Attempts, group: trace.NewGrouper(0), scan: trace.NewScanner(o), long: trace.NewScanner(r.cfg.Lines), held: map[attempt][]byte{}}
	return pipe(func(to io.Writer) error { return s.copy(ctx, to, blocks) }, func() {
		r.foreign = s.moved
		r.mu.Lock()
		defer r.mu.Unlock()
		s.long.Log.Lines = -s.added // too long ones went on as empty lines
		s.long.Log.Tasks = -s.added
		s.long.Log.Shift(r.before)
		r.log.Merge(&s.long.Log)
		if n := s.group.Split; n > 0 {
			r.problem("split-attempts", fmt.Sprintf("%d attempts have lines more than %d attempts apart and were judged in pieces: sort the file by task", n, trace.Window))
		}
	}), nil
}

func (s *stage) copy(ctx context.Context, to io.Writer, blocks *trace.Blocks) error {
	out := bufio.NewWriterSize(to, 256<<10)
	var buf []byte
	ended := true // the last line has its end
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
			out.WriteByte('\n')
			continue
		}
		if err := s.scan.Scan(b, s.line); err != nil {
			return err
		}
		ended = b.Data[len(b.Data)-1] == '\n'
		if err := s.write(out, b); err != nil {
			return err
		}
		buf = b.Data
	}
	if !ended {
		out.WriteByte('\n')
	}
	for a := range s.group.Rest() {
		text, err := s.judged(&a)
		if err != nil {
			return err
		}
		if text != nil {
			s.added++
			out.Write(append(text, '\n'))
		}
	}
	return out.Flush()
}

// line takes a record. A task record whose attempt is complete with it is replaced
// in place; other attempts get theirs after the line.
func (s *stage) line(v *trace.View) error {
	own := attempt{string(v.TaskID), string(v.Target), v.Attempt}
	if v.IsTask {
		s.held[own] = bytes.Clone(v.Raw)
	}
	a, ok := s.group.Add(v)
	if !ok {
		return nil
	}
	in := v.IsTask && idOf(&a) == own
	text, err := s.judged(&a)
	if err != nil {
		return err
	}
	if text != nil {
		s.edits = append(s.edits, edit{line: v.Line, text: text, after: !in})
	}
	return nil
}

func idOf(a *trace.Attempt) attempt { return attempt{a.Trace.CaseID, a.Trace.Target, a.Trace.Repeat} }

// judged gives the attempt's record where the judge has changed it, else nil.
func (s *stage) judged(a *trace.Attempt) ([]byte, error) {
	raw := s.held[idOf(a)]
	delete(s.held, idOf(a))
	if !s.judge(a) {
		return nil, nil
	}
	text, err := amend(raw, a)
	if err != nil {
		return nil, fmt.Errorf("write the record of task %q: %w", a.Trace.CaseID, err)
	}
	return text, nil
}

// write gives a block on, edited.
func (s *stage) write(out *bufio.Writer, b trace.Block) error {
	edits := s.edits
	for line, rest := b.Line, b.Data; len(rest) > 0 && len(edits) > 0; line++ {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		text := rest[:end]
		rest = rest[end:]
		for ; len(edits) > 0 && edits[0].line == line; edits = edits[1:] {
			if edits[0].after {
				s.moved = true
				s.added++
				out.Write(bytes.TrimRight(text, "\r\n"))
				out.WriteByte('\n')
			}
			text = append(edits[0].text, '\n')
		}
		out.Write(text)
		b.Data = rest
	}
	s.edits = s.edits[:0]
	_, err := out.Write(b.Data)
	return err
}

// amend writes a task record anew with what a judge may change: pass, gold,
// safety, tags, fields and what a scorer said. Its other members stay as they stand.
func amend(raw []byte, a *trace.Attempt) ([]byte, error) {
	out, err := json.Marshal(trace.Task{
		TaskID: a.Trace.CaseID, Target: a.Trace.Target, Attempt: a.Trace.Repeat, Pass: a.Pass, Gold: a.Gold, Safety: a.Safety, Tags: a.Tags, Fields: a.Fields,
		Scored: a.Scored,
	})
	if err != nil {
		return nil, err
	}
	out = append([]byte(`{"type":"task",`), out[1:len(out)-1]...)
	if raw != nil {
		v, err := value.Parse(raw)
		if err != nil {
			return nil, err
		}
		for m, ok := v.First(); ok; m, ok = v.Next(m) {
			switch m.Key() {
			case "type", "task_id", "target", "attempt", "pass", "gold", "safety", "tags", "fields", "scored":
				continue
			}
			out = append(trace.AppendQuoted(append(out, ','), m.Key()), ':')
			out = append(out, m.Raw()...)
		}
	}
	return append(out, '}'), nil
}
