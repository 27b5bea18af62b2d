// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

// Contract is the name of callvet's own trace lines.
const Contract = "callvet"

// Options of an Importer.
type Options struct {
	// Format is one of Names; "" detects it.
	Format string
	// MaxBytes bounds a document that must be read as a whole; 0 means maxDocument. Lines are
	// bounded by Lines.MaxLine.
	MaxBytes int64
	// MaxHeld bounds the memory of gathered data such as spans, which form attempts only
	// together; 0 means maxHeld.
	MaxHeld int64
	// Lines are the limits and the strictness of line by line reading. Lines.Live returns every
	// attempt as soon as its lines have arrived, and refuses forms that need the whole file.
	Lines trace.Options
	// Window is how many attempts of callvet's own lines are open at once.
	Window int
}

const (
	// maxDocument is a document in bytes: it is in memory twice while it is read, and its
	// values take as much again (value.MaxValues).
	maxDocument = 256 << 20
	// maxHeld bounds the memory of gathered data such as spans: their values and the data made from
	// them. The process needs up to twice as much.
	maxHeld = 512 << 20
	// maxLine is a line in bytes: one export, trace or conversation; maxValues is how many
	// values it may hold, of 16 bytes each on average.
	maxLine   = 64 << 20
	maxValues = maxLine / 16
)

// Report is the result of an import.
type Report struct {
	Format          string
	Attempts, Calls int64
	// Unknown counts the attempts with unknown calls.
	Unknown int64
	// Seen names some of the things that were not understood.
	Seen []string
	// Lost counts the data that could not be converted, by a sentence for a person.
	Lost map[string]int64
	Log  trace.Log
	// Split counts attempts with lines that were too far apart (trace.Grouper.Split).
	Split int64
	// Conflicts counts attempts with task records that contradict each other.
	Conflicts int64
}

// Importer reads one stream.
type Importer struct {
	o      Options
	src    *bufio.Reader
	sink   trace.Sink
	log    trace.Log
	format string
	binary Framing        // OTLP in protobuf
	group  *trace.Grouper // of callvet's own lines; nil for other forms
	gather []gatherer
	// entries are the entries of a log; also in gather.
	entries Entries
	began   bool          // a value was read
	held    int64         // memory of the gathered data in bytes
	odd     value.Repairs // of values that gave no attempt yet
}

// gatherer collects values that form attempts only together.
type gatherer interface {
	Add(v value.Value, s *trace.Sink)
	Flush(s *trace.Sink)
	// Size is the memory of the gathered data, without its values.
	Size() int64
}

// Open examines the beginning of r, which may be compressed with gzip. The error wraps
// callvet.ErrInvalid if the format is unknown.
func Open(r io.Reader, o Options) (*Importer, error) {
	if o.MaxBytes <= 0 {
		o.MaxBytes = maxDocument
	}
	if o.MaxHeld <= 0 {
		o.MaxHeld = maxHeld
	}
	if o.Lines.MaxLine <= 0 {
		o.Lines.MaxLine = maxLine
	}
	if o.Lines.MaxBad <= 0 {
		o.Lines.MaxBad = 100
	}
	if o.Format != "" && !slices.Contains(Names(), o.Format) {
		return nil, fmt.Errorf("trace format %q is not known; known are %s: %w", o.Format, strings.Join(Names(), ", "),
			callvet.ErrInvalid)
	}
	plain, _, err := trace.Plain(r)
	if err != nil {
		return nil, err
	}
	i := &Importer{o: o, src: bufio.NewReaderSize(plain, headSize), format: o.Format}
	i.log.Max = o.Lines.MaxBad
	head, err := i.head()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	if i.format == "" {
		i.format = Detect(head)
	}
	if i.binary = FramingOf(head); i.binary == Compressed {
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("read recording: its messages are compressed with zstd: %w", callvet.ErrInvalid),
			Hint: "let the exporter write without compression",
		}
	}
	if o.Lines.Live {
		return i, i.grows(head)
	}
	return i, nil
}

// head is the beginning of the stream. For a live stream it is the data up to the end of the first
// line, because more may come much later.
func (i *Importer) head() ([]byte, error) {
	if !i.o.Lines.Live {
		return i.src.Peek(headSize)
	}
	for {
		head, err := i.src.Peek(max(1, i.src.Buffered()))
		if err != nil || len(head) >= headSize || bytes.IndexByte(bytes.TrimLeft(head, " \t\r\n"), '\n') >= 0 {
			return head, err
		}
		if _, err := i.src.Peek(len(head) + 1); err != nil {
			return head, err
		}
	}
}

// grows refuses a form that cannot be read while its file grows: one whole document, or lines
// that form attempts only together.
func (i *Importer) grows(head []byte) error {
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	why := ""
	switch _, _, err := value.Read(line); {
	case i.format == Contract || len(line) == 0:
	case i.format == "langsmith" || slices.Contains(SpanFormats(), i.format):
		why = "its spans make attempts only together"
	case slices.Contains(EntryNames(), i.format):
		why = "its entries make attempts only together"
	case i.format == "inspect" || err != nil && len(head) < headSize:
		why = "it is one document"
	case i.format == "":
		return unknownForm("something else")
	}
	if why == "" {
		return nil
	}
	return &callvet.Hinted{
		Err:  fmt.Errorf("follow recording: %s, not one attempt or call per line: %w", why, callvet.ErrInvalid),
		Hint: "import it when it is complete, without following",
	}
}

// headSize is how many bytes of a stream Detect reads.
const headSize = 64 << 10

// Report is the result so far; it is complete when Attempts has ended.
func (i *Importer) Report() Report {
	r := Report{
		Format: i.format, Attempts: i.sink.Attempts, Calls: i.sink.Calls, Unknown: i.sink.Unknown,
		Seen: i.sink.Seen, Lost: i.sink.Lost, Log: i.log,
	}
	if g := i.group; g != nil {
		r.Unknown += g.Unknown
		r.Split, r.Conflicts, r.Lost = g.Split, g.Conflicts, map[string]int64{}
		if g.Merged > 0 {
			r.Lost["a task record that is a copy of an earlier one"] = g.Merged
		}
		if g.Copies > 0 {
			r.Lost["a step that is a copy of an earlier one"] = g.Copies
		}
		if g.Contradicted > 0 {
			r.Lost["an attempt with steps of one call that contradict each other"] = g.Contradicted
		}
		if g.Conflicts > 0 {
			r.Lost["an attempt with task records that contradict each other"] = g.Conflicts
		}
		if g.Retyped > 0 {
			r.Lost["the type of a number or a boolean under fields, which is text now"] = g.Retyped
		}
		if g.Dropped > 0 {
			r.Lost["a list or an object under fields"] = g.Dropped
		}
	}
	return r
}

// Attempts reads the stream to its end. It can be iterated once.
func (i *Importer) Attempts() iter.Seq2[trace.Attempt, error] {
	return func(yield func(trace.Attempt, error) bool) {
		if err := i.read(func(a trace.Attempt) bool { return yield(a, nil) }); err != nil && !errors.Is(err, errStop) {
			yield(trace.Attempt{}, err)
		}
	}
}

// errStop ends the reading when the consumer stops.
var errStop = errors.New("stopped")

func (i *Importer) read(take func(trace.Attempt) bool) error {
	head, _ := i.src.Peek(4)
	switch {
	case string(head) == "PK\x03\x04":
		return i.archive(take)
	case i.binary == Unframed:
		return i.protobuf(take)
	case i.binary > 0:
		return i.frames(take)
	case i.format == Contract:
		return i.own(take)
	}
	if i.o.Lines.Live {
		return i.lines(nil, take)
	}
	line, more, err := i.firstLine()
	if err != nil {
		return err
	}
	if v, _, err := value.Read(line); err == nil && more && (v.Kind() == value.Object || v.Kind() == value.Array) {
		return i.lines(line, take)
	}
	return i.document(line, more, take)
}

// own reads callvet's lines.
func (i *Importer) own(take func(trace.Attempt) bool) error {
	r, err := trace.Open(i.src, i.o.Lines)
	if err != nil {
		return err
	}
	i.group = trace.NewGrouper(i.o.Window)
	i.group.Hold = !i.o.Lines.Live
	for a, err := range r.Attempts(i.group) {
		i.log = *r.Log()
		if err != nil {
			return err
		}
		i.sink.Attempts++
		i.sink.Calls += int64(len(a.Trace.Calls()))
		if !take(a) {
			return errStop
		}
	}
	i.log = *r.Log()
	return nil
}

// firstLine reads to the first line end; more: data follows.
func (i *Importer) firstLine() (line []byte, more bool, err error) {
	line, err = i.line(i.o.MaxBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	for err == nil {
		var c byte
		if c, err = i.src.ReadByte(); err != nil {
			break
		}
		if c > ' ' {
			return line, true, i.src.UnreadByte()
		}
	}
	return line, false, nil
}

// line reads one line, of at most limit bytes. A line longer than the buffer is in memory twice
// while its parts are joined. A line over the limit is skipped, with an error that wraps
// callvet.ErrLimited.
func (i *Importer) line(limit int64) ([]byte, error) {
	part, err := i.src.ReadSlice('\n')
	if int64(len(part)) > limit {
		if errors.Is(err, bufio.ErrBufferFull) {
			_, err = io.Copy(io.Discard, &toLineEnd{src: i.src})
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read recording: %w", err)
		}
		return nil, fmt.Errorf("read recording: a line, or a document on one line: more than %s: %w",
			doc.SizeText(limit), callvet.ErrLimited)
	}
	line := bytes.Clone(part)
	if errors.Is(err, bufio.ErrBufferFull) {
		rest := &toLineEnd{src: i.src}
		if line, err = doc.ReadWhole(io.MultiReader(bytes.NewReader(line), rest), limit); err != nil {
			if _, bad := io.Copy(io.Discard, rest); bad != nil {
				return nil, fmt.Errorf("read recording: %w", bad)
			}
			return nil, fmt.Errorf("read recording: a line, or a document on one line: %w", err)
		}
		err = rest.err
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// toLineEnd reads a stream up to its next line end; err is the error of the stream.
type toLineEnd struct {
	src  *bufio.Reader
	part []byte
	done bool
	err  error
}

// Read implements io.Reader.
func (l *toLineEnd) Read(p []byte) (int, error) {
	for len(l.part) == 0 && !l.done {
		l.part, l.err = l.src.ReadSlice('\n')
		l.done = !errors.Is(l.err, bufio.ErrBufferFull)
	}
	if len(l.part) == 0 {
		if l.err != nil && !errors.Is(l.err, io.EOF) {
			return 0, l.err
		}
		return 0, io.EOF
	}
	n := copy(p, l.part)
	l.part = l.part[n:]
	return n, nil
}

// lines reads one value per line; the first line may be read already. Spans and runs are gathered
// to the end.
func (i *Importer) lines(first []byte, take func(trace.Attempt) bool) error {
	line, err := first, error(nil)
	if first == nil {
		line, err = i.line(int64(i.o.Lines.MaxLine))
	}
	for n := int64(1); ; n++ {
		if errors.Is(err, callvet.ErrLimited) && !i.o.Lines.Strict {
			i.log.Reject(n, fmt.Sprintf("the line is longer than the limit of %d bytes", i.o.Lines.MaxLine))
			i.log.Lines++
			line, err = i.line(int64(i.o.Lines.MaxLine))
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if err := i.one(n, line); err != nil {
				return err
			}
			if !i.drain(take) {
				return errStop
			}
		}
		end := errors.Is(err, io.EOF)
		if !end || len(line) > 0 { // no line begins after the last line end
			i.log.Lines++
		}
		if end {
			break
		}
		line, err = i.line(int64(i.o.Lines.MaxLine))
	}
	return i.flush(take)
}

// one reads a line's value; one that is no record is listed, or ends a strict reading.
func (i *Importer) one(n int64, line []byte) error {
	doc := value.Doc{Max: maxValues}
	made, err := doc.Read(line)
	v, found := doc.Root(), len(i.sink.Found)
	var reason string
	switch {
	case err != nil:
		reason = value.Reason(err)
	case !i.value(v):
		reason = "the value is of no known form"
		i.sink.See(members(v))
	default:
		if err := i.hold(v); err != nil {
			return fmt.Errorf("read recording: line %d: %w", n, err)
		}
		i.repaired(n, made|inside(line, v), found)
		return nil
	}
	i.log.Reject(n, reason)
	if i.o.Lines.Strict {
		return fmt.Errorf("line %d: %s: %w", n, reason, callvet.ErrInvalid)
	}
	return nil
}

// repaired records in the log and in the attempts that a value was read with repairs. Attempts that
// are complete only at the end get their note then.
func (i *Importer) repaired(line int64, made value.Repairs, found int) {
	if made == 0 {
		return
	}
	i.log.Repair(line, made)
	of := ""
	switch len(i.sink.Found) - found {
	case 0:
		i.odd |= made
	case 1:
	default:
		of = "its document was "
	}
	for k := range i.sink.Found[found:] {
		i.sink.Found[found+k].Trace.Note(of + made.Note())
	}
}

// inside are the repairs in JSON inside the strings of a value, such as the attributes of spans.
// text is the original value. Arguments that a model wrote as a text are not repaired here.
func inside(text []byte, v value.Value) value.Repairs {
	for _, mark := range []string{"NaN", "Infinity", `\\ud`, `\\uD`, `\u0000`} {
		if bytes.Contains(text, []byte(mark)) {
			return repairsIn(v)
		}
	}
	return 0
}

func repairsIn(v value.Value) (made value.Repairs) {
	switch v.Kind() {
	case value.String:
		if t := bytes.TrimSpace(v.Bytes()); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
			_, made, _ = value.Repair(t)
		}
	case value.Array, value.Object:
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			if !e.KeyIs("arguments") {
				made |= repairsIn(e)
			}
		}
	}
	return made
}

// hold counts the memory of a value that is kept until all have been read.
func (i *Importer) hold(v value.Value) error {
	if i.gather == nil {
		return nil
	}
	i.held += v.Footprint()
	size := i.held
	for _, g := range i.gather {
		size += g.Size()
	}
	if size > i.o.MaxHeld {
		return &callvet.Hinted{
			Err: fmt.Errorf("the spans read so far take more than %s: %w", doc.SizeText(i.o.MaxHeld),
				callvet.ErrLimited),
			Hint: "split the file by trace",
		}
	}
	return nil
}

// document reads a value that spans several lines, or is alone; more: the stream continues after
// its first line.
func (i *Importer) document(text []byte, more bool, take func(trace.Attempt) bool) error {
	if more {
		var err error
		if text, err = doc.ReadWhole(io.MultiReader(bytes.NewReader(text), strings.NewReader("\n"), i.src),
			i.o.MaxBytes); err != nil {
			return fmt.Errorf("read recording: %w", err)
		}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return fmt.Errorf("read recording: it is empty: %w", callvet.ErrInvalid)
	}
	v, made, err := value.Read(text)
	if err != nil {
		return fmt.Errorf("read recording: %w: %w", callvet.ErrInvalid, doc.Syntax("", text, err))
	}
	if !i.value(v) {
		return unknownForm(members(v))
	}
	i.repaired(1, made|inside(text, v), 0)
	if err := i.hold(v); err != nil {
		return fmt.Errorf("read recording: %w", err)
	}
	return i.flush(take)
}

// members describes a value of an unknown form.
func members(v value.Value) string {
	list := ""
	if v.Kind() == value.Array {
		v, _ = v.First()
		list = "a list whose first element is "
	}
	if v.Kind() != value.Object {
		return list + v.Kind().String()
	}
	var keys []string
	for m, ok := v.First(); ok && len(keys) < 8; m, ok = v.Next(m) {
		keys = append(keys, strconv.Quote(m.Key()))
	}
	return list + "an object with " + strings.Join(keys, ", ")
}

func unknownForm(saw string) error {
	return &callvet.Hinted{
		Err:  fmt.Errorf("read recording: the content is of no known form, but %s: %w", saw, callvet.ErrInvalid),
		Hint: "known forms are " + strings.Join(Names(), ", "),
	}
}

func (i *Importer) flush(take func(trace.Attempt) bool) error {
	found := len(i.sink.Found)
	for _, g := range i.gather {
		g.Flush(&i.sink)
	}
	if note := i.odd.Note(); note != "" {
		for k := range i.sink.Found[found:] {
			i.sink.Found[found+k].Trace.Note("its file was " + note)
		}
	}
	if !i.drain(take) {
		return errStop
	}
	return nil
}

// drain passes on the attempts in the sink.
func (i *Importer) drain(take func(trace.Attempt) bool) bool {
	found := i.sink.Found
	i.sink.Found = nil
	for _, a := range found {
		if !take(a) {
			return false
		}
	}
	return true
}

// protobuf reads an OTLP export, as if it were the JSON form.
func (i *Importer) protobuf(take func(trace.Attempt) bool) error {
	data, err := doc.ReadWhole(i.src, min(MaxMessage, i.o.MaxBytes))
	if err != nil {
		return fmt.Errorf("read recording: message 1: %w", err)
	}
	v, err := Protobuf(data)
	if err != nil {
		return err
	}
	if !i.value(v) {
		return unknownForm(members(v))
	}
	if err := i.hold(v); err != nil {
		return fmt.Errorf("read recording: %w", err)
	}
	return i.flush(take)
}

// frames reads the consecutive messages of an OTLP export. A bad one is listed by its number, like
// a line; after a message that was cut off nothing can be read.
func (i *Importer) frames(take func(trace.Attempt) bool) error {
	for n := int64(1); ; n++ {
		size, err := i.binary.Prefix(i.src)
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return i.flush(take)
		}
		if err == nil && size > MaxMessage {
			return fmt.Errorf("read recording: message %d: more than %s: %w", n, doc.SizeText(MaxMessage),
				callvet.ErrLimited)
		}
		var data bytes.Buffer
		if err == nil {
			_, err = io.CopyN(&data, i.src, int64(size))
		}
		cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !cut {
			return fmt.Errorf("read recording: message %d: %w", n, err)
		}
		if why := i.frame(data.Bytes(), cut); why != nil {
			if errors.Is(why, callvet.ErrLimited) {
				return fmt.Errorf("read recording: message %d: %w", n, why)
			}
			if i.o.Lines.Strict {
				return fmt.Errorf("read recording: message %d: %w: %w", n, callvet.ErrInvalid, why)
			}
			i.log.Reject(n, "message "+strconv.FormatInt(n, 10)+": "+why.Error())
		}
		i.log.Lines = n
		if cut {
			return i.flush(take)
		}
	}
}

// frame reads one message.
func (i *Importer) frame(data []byte, cut bool) error {
	if cut {
		return errors.New("the file ends within it")
	}
	if len(data) == 0 { // an export without spans
		return nil
	}
	v, err := Protobuf(data)
	if err != nil {
		return err
	}
	if v.Len() > 0 && !i.value(v) {
		return errors.New("it is no export of spans")
	}
	return i.hold(v)
}

// archive reads an Inspect log in a ZIP file: its header and its samples.
func (i *Importer) archive(take func(trace.Attempt) bool) error {
	i.format = "inspect"
	data, err := doc.ReadWhole(i.src, i.o.MaxBytes)
	if err != nil {
		return fmt.Errorf("read archive: %w", err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("read archive: %w: %w", callvet.ErrInvalid, err)
	}
	var header value.Value
	for _, name := range []string{"header.json", "_journal/start.json"} {
		if v, err := i.member(z, name); err == nil {
			header = v
			break
		}
	}
	samples := 0
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, "samples/") || !strings.HasSuffix(f.Name, ".json") {
			continue
		}
		v, err := i.member(z, f.Name)
		if err != nil {
			return err
		}
		samples++
		ReadSample(v, header, &i.sink)
		if !i.drain(take) {
			return errStop
		}
	}
	if samples == 0 {
		return fmt.Errorf("read archive: it has no samples/*.json, so it is no Inspect log: %w", callvet.ErrInvalid)
	}
	return nil
}

func (i *Importer) member(z *zip.Reader, name string) (value.Value, error) {
	f, err := z.Open(name)
	if err != nil {
		return value.Value{}, fmt.Errorf("read archive: %w: %w", callvet.ErrInvalid, err)
	}
	text, err := doc.ReadWhole(f, i.o.MaxBytes)
	if err = errors.Join(err, f.Close()); errors.Is(err, callvet.ErrLimited) {
		return value.Value{}, fmt.Errorf("read archive, %s: %w", name, err)
	} else if err != nil {
		return value.Value{}, fmt.Errorf("read archive, %s: %w: %w", name, callvet.ErrInvalid, err)
	}
	v, _, err := value.Read(text)
	if err != nil {
		return value.Value{}, fmt.Errorf("read archive, %s: %w: %w", name, callvet.ErrInvalid, err)
	}
	return v, nil
}
