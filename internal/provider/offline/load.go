// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// Limits of reading.
const (
	// maxLine is the longest row: an answer is at most as long (agent.DefaultMaxBytes).
	maxLine = 16 << 20
	// maxUnpacked bounds the memory of a compressed file, or of the attempts of a trace file. A
	// plain file may have any size: its rows are read from the file.
	maxUnpacked = 256 << 20
	keepInside  = 64 << 20 // plain files up to this size are kept in memory
	// maxRows is how many rows all files of a source have together: each takes some 200
	// bytes of index.
	maxRows = 2_000_000
	// maxRelaxed is the longest text that is read although it is not strict JSON: this takes
	// fifty times its size.
	maxRelaxed  = 4 << 20
	maxProblems = 20
)

// Traces returns the attempts of a trace file, in its order; the file stays open until they are
// read. ok is false for any other file. The errors are errors of reading.
type Traces func(name string, file io.ReadSeeker) (attempts iter.Seq2[*callvet.Trace, error], ok bool, err error)

// Open reads a recording. A file has one Source per "target" of its rows, in order of appearance
// (normally one). A folder has the Sources of its files in order of name, and one Source for each
// of its folders, which joins all files in it. A trace file has one row for each attempt; nil
// traces reads none. Malformed rows are counted and reported; the error is ErrNotFound, ErrLimited,
// or ErrInvalid when no row at all can be read.
func Open(path string, traces Traces) ([]*Source, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open recording %s: %w", path, callvet.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("open recording: %w", err)
	}
	if !info.IsDir() {
		return openFiles(path, []string{path}, traces)
	}
	return openFolder(path, traces)
}

func openFolder(path string, traces Traces) ([]*Source, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("open recording: %w", err)
	}
	var out []*Source
	for _, e := range entries {
		full := filepath.Join(path, e.Name())
		files := []string{full}
		if strings.HasPrefix(e.Name(), ".") || !e.IsDir() && !recording(e.Name()) {
			continue
		}
		if e.IsDir() {
			if files, err = below(full); err != nil {
				return nil, err
			}
			if len(files) == 0 {
				continue
			}
		}
		src, err := openFiles(full, files, traces)
		if err != nil {
			return nil, errors.Join(err, closeAll(out))
		}
		out = append(out, src...)
	}
	if len(out) == 0 {
		return nil, &callvet.Hinted{
			Err: fmt.Errorf("open recording %s: no .json, .jsonl, .ndjson or .gz file in it: %w", path,
				callvet.ErrInvalid),
			Hint: "name a file, or a folder of files with one target each",
		}
	}
	return out, nil
}

func closeAll(list []*Source) error {
	var err error
	for _, s := range list {
		err = errors.Join(err, s.Close())
	}
	return err
}

func recording(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	ext := filepath.Ext(name)
	return ext == ".json" || ext == ".jsonl" || ext == ".ndjson"
}

func below(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && recording(e.Name()) {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open recording: %w", err)
	}
	slices.Sort(files)
	return files, nil
}

// openFiles joins files into the sources their rows name.
func openFiles(name string, files []string, traces Traces) ([]*Source, error) {
	l := &loader{store: &store{}, groups: map[string]*Source{}, traces: traces}
	for _, f := range files {
		if err := errors.Join(l.file(f), l.over(f)); err != nil {
			return nil, errors.Join(err, l.store.close())
		}
	}
	if len(l.order) == 0 {
		err := fmt.Errorf("read recording %s: no row can be read: %w", name, callvet.ErrInvalid)
		if len(l.problems) > 0 {
			err = fmt.Errorf("read recording: %w: %w", l.problems[0], callvet.ErrInvalid)
		}
		return nil, errors.Join(&callvet.Hinted{
			Err:  err,
			Hint: "rows need a case id (case_id, custom_id or id) and calls or a text",
		}, l.store.close())
	}
	out := make([]*Source, 0, len(l.order))
	for _, g := range l.order {
		s := l.groups[g]
		s.Target = callvet.Target{
			Name: "recorded:" + name, Provider: "recorded", Model: modelName(name),
			Recorded: true, Free: true,
		}
		if len(l.order) > 1 {
			s.Target.Name += "#" + g
		}
		if g != "" {
			s.Target.Model = g
		}
		s.Malformed, s.Problems, s.Relaxed = l.malformed, l.problems, l.relaxed
		s.Model = &model{index: s.index}
		s.index.last = nil
		out = append(out, s)
	}
	return out, nil
}

func modelName(path string) string {
	n := strings.TrimSuffix(filepath.Base(path), ".gz")
	return strings.TrimSuffix(n, filepath.Ext(n))
}

// loader reads files into sources.
type loader struct {
	traces    Traces
	rows      int
	store     *store
	groups    map[string]*Source
	order     []string
	doc       value.Doc
	side      int32 // blob of rewritten rows + 1
	malformed int
	relaxed   int
	problems  []callvet.Problem
}

func (l *loader) problem(file string, line int, code, msg string) {
	l.malformed++
	if len(l.problems) < maxProblems {
		l.problems = append(l.problems,
			callvet.Problem{
				Position: callvet.Position{File: file, Line: line}, Code: code, Message: msg,
				Warning: true,
			})
	}
}

// over returns an error when there are too many rows; they are no longer indexed then.
func (l *loader) over(path string) error {
	if l.rows <= maxRows {
		return nil
	}
	return &callvet.Hinted{
		Err:  fmt.Errorf("read recording %s: more than %d rows: %w", path, maxRows, callvet.ErrLimited),
		Hint: "split it by target, or leave out rows of cases that the suite does not have",
	}
}

// attempts adds the attempts of a trace file.
func (l *loader) attempts(path string, list iter.Seq2[*callvet.Trace, error]) error {
	blob := l.store.add(nil)
	var all memory
	for t, err := range list {
		if err != nil {
			return fmt.Errorf("read recording %s: %w", path, err)
		}
		b, err := json.Marshal(t)
		if err != nil {
			return fmt.Errorf("read recording %s: task %s: %w", path, t.CaseID, err)
		}
		if len(all)+len(b) > maxUnpacked {
			return fmt.Errorf("read recording %s: its attempts take more than %s: %w", path, doc.SizeText(maxUnpacked),
				callvet.ErrLimited)
		}
		l.index(row{off: int64(len(all)), n: int32(len(b)), blob: blob, repeat: int32(t.Repeat)},
			keys{id: t.CaseID, group: t.Target, repeat: int32(t.Repeat)}, message.FormTrace)
		all = append(all, b...)
	}
	l.store.blobs[blob] = all
	return nil
}

func (l *loader) file(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open recording: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("open recording: %w", err), f.Close())
	}
	if l.traces != nil && info.Mode().IsRegular() {
		list, ok, err := l.traces(path, f)
		if err == nil && ok {
			return errors.Join(l.attempts(path, list), f.Close())
		}
		if err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("open recording %s: %w", path, err), f.Close())
		}
	}
	head := make([]byte, 6)
	n, _ := f.ReadAt(head, 0)
	if packed, err := doc.Packed(head[:n]); packed || err != nil {
		return errors.Join(l.gzip(path, f), f.Close())
	}
	if info.Size() <= keepInside {
		b, err := io.ReadAll(io.LimitReader(f, keepInside+1))
		if err != nil {
			return errors.Join(fmt.Errorf("read recording: %w", err), f.Close())
		}
		return errors.Join(l.bytes(path, b), f.Close())
	}
	return l.stream(path, f)
}

func (l *loader) gzip(path string, f io.Reader) error {
	plain, _, err := doc.Unpack(f, maxUnpacked)
	var b []byte
	if err == nil {
		b, err = doc.ReadWhole(plain, maxUnpacked)
	}
	switch {
	case errors.Is(err, callvet.ErrLimited):
		return &callvet.Hinted{
			Err:  fmt.Errorf("read recording %s: %w", path, err),
			Hint: "gunzip -k " + path + ": a file that is not compressed may have any size",
		}
	case err != nil && len(b) == 0:
		return fmt.Errorf("read recording %s: %w", path, err)
	case err != nil: // a cut file: the earlier rows are valid
		l.problem(path, 0, "cut-file", "the compressed file is damaged: "+err.Error())
	}
	return l.bytes(path, b)
}

// bytes reads a whole file in memory: rows line by line, or one JSON document.
func (l *loader) bytes(path string, b []byte) error {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if first, _, more := bytes.Cut(bytes.TrimLeft(b, " \t\r\n"), []byte("\n")); !l.isRow(first) || !more {
		if l.document(path, b) {
			return nil
		}
	}
	blob := l.store.add(memory(b))
	for off, line := 0, 1; off < len(b); line++ {
		n := bytes.IndexByte(b[off:], '\n')
		if n < 0 {
			n = len(b) - off
		}
		l.line(path, line, b[off:off+n], int64(off), blob)
		off += n + 1
	}
	return nil
}

// isRow reports whether a line is a whole JSON object.
func (l *loader) isRow(line []byte) bool {
	_, err := l.doc.Read(line)
	return err == nil && l.doc.Root().Kind() == value.Object
}

// document reads one JSON value: a list of rows, or an object that contains one.
func (l *loader) document(path string, b []byte) bool {
	var doc value.Doc
	made, err := doc.Read(b)
	if made != 0 {
		l.relaxed++
	}
	if err != nil {
		fixed, ok := relax(b)
		if !ok || doc.Parse(fixed) != nil {
			return false
		}
		l.relaxed++
	}
	list := doc.Root()
	for _, p := range []string{"results.results", "results", "traces", "rows", "cases", "outputs"} {
		if m, ok := message.At(doc.Root(), p); ok && m.Kind() == value.Array {
			list = m
			break
		}
	}
	if list.Kind() != value.Array {
		if list.Kind() != value.Object {
			return false
		}
		raw := list.Raw()
		if made != 0 {
			raw = b // so that the answer has the note
		}
		blob := l.store.add(memory(raw))
		l.row(path, 1, list, row{n: int32(len(raw)), blob: blob})
		return true
	}
	out := make(memory, 0, len(list.Raw()))
	blob := l.store.add(nil)
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		l.row(path, 0, e, row{off: int64(len(out)), n: int32(len(e.Raw())), blob: blob})
		out = append(out, e.Raw()...)
	}
	l.store.blobs[blob] = out
	if made != 0 {
		if l.store.made == nil {
			l.store.made = map[int32]value.Repairs{}
		}
		l.store.made[blob] = made
	}
	return true
}

// stream indexes a file that is too big for memory; its rows are read on demand.
func (l *loader) stream(path string, f *os.File) error {
	blob := l.store.add(f)
	r := bufio.NewReaderSize(f, 1<<20)
	var long []byte
	off, line := int64(0), 1
	for {
		part, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) || len(long) > 0 {
			long = append(long, part...)
			part = long
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(long) <= maxLine:
			continue
		case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("read recording: %w", err)
		}
		n := len(part)
		l.line(path, line, bytes.TrimSuffix(part, []byte("\n")), off, blob)
		if errors.Is(err, bufio.ErrBufferFull) {
			skipped, serr := skipLine(r)
			if serr != nil {
				return fmt.Errorf("read recording: %w", serr)
			}
			n += skipped
		}
		off, line, long = off+int64(n), line+1, long[:0]
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
}

func skipLine(r *bufio.Reader) (n int, err error) {
	for {
		part, err := r.ReadSlice('\n')
		n += len(part)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return n, err
	}
}

// line indexes one line; blank lines are ignored.
func (l *loader) line(path string, n int, b []byte, off int64, blob int32) {
	b = bytes.TrimRight(b, " \t\r")
	if len(bytes.TrimSpace(b)) == 0 {
		return
	}
	if len(b) > maxLine {
		l.problem(path, n, "line-too-long", fmt.Sprintf("the line is longer than %d MiB", maxLine>>20))
		return
	}
	made, err := l.doc.Read(b)
	if made != 0 {
		l.relaxed++
	}
	if err != nil {
		fixed, ok := relax(b)
		if !ok || l.doc.Parse(fixed) != nil {
			l.problem(path, n, "malformed-row", err.Error())
			return
		}
		l.relaxed++
		l.row(path, n, l.doc.Root(), l.rewritten(fixed))
		return
	}
	l.row(path, n, l.doc.Root(), row{off: off, n: int32(len(b)), blob: blob})
}

// rewritten keeps a row that is not strict JSON in the file.
func (l *loader) rewritten(b []byte) row {
	if l.side == 0 {
		l.side = l.store.add(memory(nil)) + 1
	}
	side, _ := l.store.blobs[l.side-1].(memory)
	r := row{off: int64(len(side)), n: int32(len(b)), blob: l.side - 1}
	l.store.blobs[l.side-1] = append(side, b...)
	return r
}

func (l *loader) row(path string, line int, v value.Value, r row) {
	form := message.Detect(v)
	if v.Kind() != value.Object || form == message.FormUnreadable {
		l.problem(path, line, "not-a-row", "the row is a JSON "+v.Kind().String()+", not an object")
		return
	}
	k := keysOf(v, form)
	if k.id == "" && len(k.texts) == 0 {
		l.problem(path, line, "no-case-id", "the row names no case (case_id, custom_id or id)")
		return
	}
	r.repeat = k.repeat
	l.index(r, k, form)
}

// index adds a row under its names, as long as there are not too many.
func (l *loader) index(r row, k keys, form message.Form) {
	if l.rows++; l.rows > maxRows {
		return
	}
	s := l.groups[k.group]
	if s == nil {
		s = &Source{Form: form, index: recordedNewIndex(l.store)}
		l.groups[k.group] = s
		l.order = append(l.order, k.group)
	}
	s.Rows++
	s.index.add(r, k)
}

// relax reads JSON with duplicate keys as common parsers do, where the last one counts, and
// writes it strictly. Lone surrogates and invalid UTF-8 become U+FFFD.
func relax(b []byte) ([]byte, bool) {
	if len(b) > maxRelaxed {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil, false
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	out, err := json.Marshal(v)
	return out, err == nil
}

// store has the bytes of rows: in memory, or in files that stay open.
type store struct {
	blobs  []io.ReaderAt
	made   map[int32]value.Repairs // in the documents of blobs, which contain several rows
	closed bool
}

// memory is a blob; its rows are slices without a copy.
type memory []byte

// ReadAt implements io.ReaderAt.
func (m memory) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(p, m[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (s *store) add(b io.ReaderAt) int32 {
	s.blobs = append(s.blobs, b)
	return int32(len(s.blobs) - 1)
}

func (s *store) read(r row) ([]byte, error) {
	if m, ok := s.blobs[r.blob].(memory); ok {
		return m[r.off : r.off+int64(r.n) : r.off+int64(r.n)], nil
	}
	b := make([]byte, r.n)
	_, err := s.blobs[r.blob].ReadAt(b, r.off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

func (s *store) close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	var err error
	for _, b := range s.blobs {
		if c, ok := b.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}
