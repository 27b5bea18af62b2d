// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

// Options of a Reader.
type Options struct {
	// Strict makes the first line that is not a record, or has an unknown member, an error instead
	// of an entry in the Log.
	Strict bool
	// MaxLine is the longest line in bytes that is read; 0 means maxLine. A
	// longer one is a bad line and is skipped without being held in memory.
	MaxLine int
	// MaxBad is how many bad lines are listed; 0 means 100. All are counted.
	MaxBad int
	// Block is the size of one read in bytes; 0 means 256 KiB, which stays in the caches of a core
	// while it is split, read and scored.
	Block int
	// Live makes every complete line available at once instead of filling the block first: for a
	// growing file or an interactive pipe. Each record must be one line.
	Live bool
	// Lines: each record is one line; the beginning is not examined. It is for a part of a file.
	Lines bool
}

func (o Options) withDefaults() Options {
	if o.MaxLine <= 0 {
		o.MaxLine = maxLine
	}
	if o.MaxBad <= 0 {
		o.MaxBad = 100
	}
	if o.Block <= 0 {
		o.Block = 256 << 10
	}
	return o
}

// Block is a run of whole lines of a file.
type Block struct {
	Data []byte // lines with their ends; the last one of a file may lack it
	Line int64  // number of the first line
	// Offset is where Data begins in the stream, without compression and byte order mark.
	Offset int64
	// skipped is the length of a line over the limit; the block has no data then.
	skipped int64
	folded  bool // see Blocks.Folded
}

// Blocks cuts a stream into blocks of whole lines, so that several Scanners can work on one file.
// Not safe for concurrent use; its blocks are.
type Blocks struct {
	o    Options
	src  io.Reader
	rest []byte // start of a line with an end that is not read yet
	line int64
	at   int64 // of rest in the stream
	err  error
	// folded: see Folded.
	folded bool
}

// maxLine is the longest line in bytes, where Options do not say otherwise.
const maxLine = 16 << 20

// maxValues is how many values one line may contain: as many as 16 MiB of real arguments and
// results. Each worker keeps memory for the values of its longest line, 28 bytes for each.
const maxValues = 1 << 22

// headSize is how much of a stream is examined for folded records.
const headSize = 64 << 10

// Folded reports that the records are in an array, span several lines, or have comments. Then Offsets are not
// offsets of the stream, and a line number is that of the start of the record.
func (b *Blocks) Folded() bool { return b.folded }

// NewBlocks starts reading r, which may be compressed with gzip and may start
// with a byte order mark. The error wraps callvet.ErrInvalid.
func NewBlocks(r io.Reader, o Options) (*Blocks, error) {
	src, _, err := Plain(r)
	if err != nil {
		return nil, err
	}
	b := &Blocks{o: o.withDefaults(), src: src, line: 1}
	if o.Live || o.Lines {
		return b, nil
	}
	head, err := src.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return b, nil // the first block returns the error
	}
	if b.folded = folded(head, err != nil); b.folded {
		b.src = newUnfold(src)
	}
	return b, nil
}

// Plain returns the stream without gzip compression and byte order mark; verbatim: it had neither.
// The error wraps callvet.ErrInvalid.
func Plain(r io.Reader) (plain *bufio.Reader, verbatim bool, err error) {
	br, packed, err := doc.Unpack(r, 0)
	if err != nil {
		return nil, false, fmt.Errorf("read traces: %w", err)
	}
	head, err := br.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("read traces: %w", err)
	}
	if string(head) != "\uFEFF" {
		return br, !packed, nil
	}
	if _, err := br.Discard(3); err != nil {
		return nil, false, fmt.Errorf("read traces: %w", err)
	}
	return br, false, nil
}

// Next returns the next block, or io.EOF. The block belongs to the caller; its Data is reused if
// it is passed as buf to a later call (nil makes a new one).
func (b *Blocks) Next(buf []byte) (Block, error) {
	buf = append(buf[:0], b.rest...)
	b.rest = b.rest[:0]
	cut, looked := 0, 0 // the end of the last whole line so far
	for {
		if n := bytes.LastIndexByte(buf[looked:], '\n') + 1; n > 0 {
			cut = looked + n
		}
		looked = len(buf)
		switch {
		case cut > 0 && (b.o.Live || len(buf) >= b.o.Block || b.err != nil):
			return b.give(buf, cut), nil
		case b.err != nil:
			return b.last(buf)
		case cut == 0 && len(buf) > b.o.MaxLine:
			return b.skip(len(buf))
		}
		buf = b.fill(buf)
	}
}

// Lines is the number of lines in the blocks so far.
func (b *Blocks) Lines() int64 { return b.line - 1 }

// fill reads once more, into room for at least a quarter of a block.
func (b *Blocks) fill(buf []byte) []byte {
	if want := b.o.Block / 4; cap(buf)-len(buf) < max(want, 512) {
		grown := make([]byte, len(buf), max(2*len(buf), b.o.Block+b.o.Block/4)+512)
		copy(grown, buf)
		buf = grown
	}
	n, err := b.src.Read(buf[len(buf):cap(buf)])
	b.err = err
	return buf[:len(buf)+n]
}

func (b *Blocks) give(buf []byte, cut int) Block {
	b.rest = append(b.rest, buf[cut:]...)
	out := Block{Data: buf[:cut], Line: b.line, Offset: b.at, folded: b.folded}
	b.line += int64(bytes.Count(out.Data, []byte{'\n'}))
	b.at += int64(cut)
	return out
}

// last returns a final line without a line end. If reading failed, the partial line is dropped: its
// error would hide the cause.
func (b *Blocks) last(buf []byte) (Block, error) {
	if len(buf) > 0 && errors.Is(b.err, io.EOF) {
		out := Block{Data: buf, Line: b.line, Offset: b.at, folded: b.folded}
		b.line++
		b.at += int64(len(buf))
		return out, nil
	}
	if errors.Is(b.err, io.EOF) {
		return Block{}, io.EOF
	}
	return Block{}, fmt.Errorf("read traces, line %d: %w", b.line, b.err)
}

// skip drops the rest of a line over the limit; read counts its bytes so far.
func (b *Blocks) skip(read int) (Block, error) {
	out := Block{Line: b.line, Offset: b.at, skipped: int64(b.o.MaxLine)}
	b.at += int64(read)
	buf := make([]byte, 64<<10)
	for b.err == nil {
		var n int
		n, b.err = b.src.Read(buf)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			b.rest = append(b.rest[:0], buf[i+1:n]...)
			b.at += int64(i + 1)
			break
		}
		b.at += int64(n)
	}
	b.line++
	return out, nil
}

// Scanner reads the lines of blocks. Each goroutine needs its own; their Logs merge.
type Scanner struct {
	o     Options
	doc   value.Doc
	view  View
	buf   []byte // of a step outside a file
	Log   Log
	forms forms
	// Broken is called for an invalid step that names its task; nil: not called.
	Broken func(task, target string, attempt int)
	// strange is a buffer for the unknown members of a line, and note adds one.
	strange []doc.Unknown
	note    func(doc.Unknown)
	folded  bool // the present block is folded
}

// NewScanner makes a Scanner; the options are those of the Blocks.
func NewScanner(o Options) *Scanner {
	o = o.withDefaults()
	s := &Scanner{o: o, Log: Log{Max: o.MaxBad}, forms: newForms()}
	s.doc.Max, s.doc.Names = maxValues, lineNames()
	s.note = func(u doc.Unknown) { s.strange = append(s.strange, u) } // made once, not for each line
	return s
}

// Scan calls visit for every record of the block, in order. The View is valid
// during the call. It stops at visit's first error and, when Strict, at the
// first bad line with an error that wraps callvet.ErrInvalid.
func (s *Scanner) Scan(b Block, visit func(*View) error) error {
	if b.skipped > 0 {
		s.Log.Lines++
		return s.wrong(b.Line, fmt.Sprintf("the line is longer than the limit of %d bytes", b.skipped))
	}
	s.folded = b.folded
	for line, rest := b.Line, b.Data; len(rest) > 0; line++ {
		v, after, err := s.one(line, rest)
		if err != nil {
			return err
		}
		if rest = after; v == nil {
			continue
		}
		if err := visit(v); err != nil {
			return err
		}
	}
	return nil
}

// Step reads a step as if its line were in a file; nil if it is not a record. The View is valid
// until the next one.
func (s *Scanner) Step(line int64, step *Step) (*View, error) {
	b, err := step.append(s.buf[:0])
	if err != nil {
		return nil, err
	}
	s.buf = b
	v, _, err := s.one(line, b)
	return v, err
}

// one reads the first line of data; nil if it is blank or not a record.
func (s *Scanner) one(line int64, data []byte) (v *View, rest []byte, err error) {
	s.Log.Lines++
	l, rest, made, err := s.doc.ReadLine(data)
	switch {
	case len(l) > s.o.MaxLine:
		return nil, rest, s.wrong(line, fmt.Sprintf("the line is longer than the limit of %d bytes", s.o.MaxLine))
	case err != nil && len(bytes.TrimSpace(l)) == 0:
		return nil, rest, nil
	case err != nil:
		at := 0
		var syntax *value.SyntaxError
		if errors.As(err, &syntax) {
			at = syntax.Offset
		}
		reason := value.Reason(err)
		if at >= len(bytes.TrimRight(l, " \t\r")) && !s.folded {
			reason += " (the record is cut off, or goes on in the next line: write each on one line)"
		}
		return nil, rest, s.wrong(lineOf(line, l, at), reason)
	}
	s.view.Line, s.view.Raw, s.view.Made = line, l, made
	if made != 0 {
		s.Log.Repair(line, made)
	}
	s.strange = s.strange[:0]
	if err := s.view.fill(s.doc.Root(), s.forms, s.note); err != nil {
		at := 0
		var wrong *doc.Wrong
		if errors.As(err, &wrong) {
			at = wrong.Offset
		}
		s.broken()
		return nil, rest, s.wrong(lineOf(line, l, at), err.Error())
	}
	for _, name := range s.strange {
		u := UnknownKey{Key: name.Key, Count: 1, First: line}
		if !s.Log.again(u) {
			u.Nearest = name.Near()
			s.Log.unknown(u)
		}
		if s.o.Strict {
			return nil, rest, unknownError(line, u)
		}
	}
	if s.view.IsTask {
		s.Log.Tasks++
	} else {
		s.Log.Steps++
	}
	return &s.view, rest, nil
}

// broken calls Broken for the last line, which is no record.
func (s *Scanner) broken() {
	root := s.doc.Root()
	if kind, _ := root.Get("type"); s.Broken == nil || string(kind.Bytes()) == "task" {
		return
	}
	task, _ := root.Get("task_id")
	target, _ := root.Get("target")
	attempt, _ := root.Get("attempt")
	n := 0
	if count(attempt, &n); len(task.Bytes()) > 0 {
		s.Broken(task.Str(), target.Str(), n)
	}
}

// lineOf is the line of a place in a record that begins on line; see unfold.
func lineOf(line int64, record []byte, at int) int64 {
	return line + int64(bytes.Count(record[:min(at, len(record))], []byte{'\r'}))
}

func (s *Scanner) wrong(line int64, reason string) error {
	s.Log.Reject(line, reason)
	if s.o.Strict {
		return fmt.Errorf("line %d: %s: %w", line, reason, callvet.ErrInvalid)
	}
	return nil
}

func unknownError(line int64, u UnknownKey) error {
	if u.Nearest == "" {
		return fmt.Errorf("line %d: unknown key %q: %w", line, u.Key, callvet.ErrInvalid)
	}
	return fmt.Errorf("line %d: unknown key %q, did you mean %q?: %w", line, u.Key, u.Nearest, callvet.ErrInvalid)
}

func invalid(what string, err error) error {
	return fmt.Errorf("%s: %w: %w", what, callvet.ErrInvalid, err)
}
