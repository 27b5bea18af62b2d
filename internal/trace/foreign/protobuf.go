// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

// IsProtobuf recognizes an OTLP export of spans or log records in protobuf by its beginning.
func IsProtobuf(head []byte) bool {
	// The tags of TracesData.resource_spans, and of the first member of ResourceSpans: a resource,
	// spans or an address.
	const outer, inner = '\x0a', "\x0a\x12\x1a"
	if len(head) < 4 || head[0] != outer {
		return false
	}
	size, n := binary.Uvarint(head[1:])
	if n <= 0 || size < 2 || len(head) <= 1+n || bytes.IndexByte([]byte(inner), head[1+n]) < 0 {
		return false
	}
	// A text may begin like this by chance, but has no control characters; an
	// export has a tag that is one in every attribute.
	return bytes.ContainsFunc(head[:min(len(head), 4096)],
		func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' })
}

// Framing is how the messages of a binary export are separated.
type Framing uint8

// The framings. The zero value is no binary export.
const (
	// Unframed is one message, or several concatenated ones, which protobuf merges.
	Unframed Framing = iota + 1
	// Fixed has four bytes before each message, the highest first, with its length:
	// the file exporter of the OpenTelemetry Collector writes them.
	Fixed
	// Varint has a varint with its length before each message, as protobuf's own
	// libraries delimit them.
	Varint
	// Compressed is Fixed with messages compressed by zstd, which cannot be read.
	Compressed
)

// FramingOf detects the framing of a binary export of spans by its beginning.
func FramingOf(head []byte) Framing {
	if IsProtobuf(head) {
		return Unframed
	}
	if len(head) > 8 {
		size := uint64(binary.BigEndian.Uint32(head))
		if bytes.HasPrefix(head[4:], []byte("\x28\xb5\x2f\xfd")) && size > 4 {
			return Compressed
		}
		if fits(head[4:], size) {
			return Fixed
		}
	}
	if size, n := binary.Uvarint(head); n > 0 && fits(head[n:], size) {
		return Varint
	}
	return 0
}

// fits reports whether an export of that size begins here: its first member ends
// within it.
func fits(message []byte, size uint64) bool {
	if !IsProtobuf(message) {
		return false
	}
	first, n := binary.Uvarint(message[1:])
	return first <= size && 1+uint64(n)+first <= size
}

// Prefix reads the length before a message. The error is io.EOF where the stream ends before a
// length, and io.ErrUnexpectedEOF where it ends within one.
func (f Framing) Prefix(r io.ByteReader) (size uint64, err error) {
	if f == Varint {
		size, err = binary.ReadUvarint(r)
		return size, err
	}
	for i := range 4 {
		b, err := r.ReadByte()
		if err != nil {
			if i > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		size = size<<8 | uint64(b)
	}
	return size, nil
}

// MaxMessage is the longest message in bytes: exporters send batches of some megabytes.
const MaxMessage = 32 << 20

const (
	// maxText is how long its JSON form may be: bytes become two digits, and control
	// characters six letters.
	maxText = 4 * MaxMessage
	// maxProtobufValues bounds the fields of a message and the values of its JSON form: a real
	// field of a span has tens of bytes, the smallest possible has two.
	maxProtobufValues = MaxMessage / 16
)

// Protobuf converts an ExportTraceServiceRequest or TracesData, which have the same bytes, or the
// messages for log records, to the JSON form of OTLP. The error wraps callvet.ErrInvalid, or
// callvet.ErrLimited for one that is longer than MaxMessage, or many times longer as JSON.
func Protobuf(data []byte) (value.Value, error) {
	if len(data) > MaxMessage {
		return value.Value{}, fmt.Errorf("read protobuf: more than %d bytes: %w", MaxMessage, callvet.ErrLimited)
	}
	text, err := frame().json(make([]byte, 0, 2*len(data)), data, 0)
	if errors.Is(err, errSize) {
		return value.Value{}, fmt.Errorf("read protobuf: it has more than %d fields, or %d bytes as JSON: %w",
			maxProtobufValues, maxText, callvet.ErrLimited)
	}
	if err != nil {
		return value.Value{}, fmt.Errorf("read protobuf: %w: %w", callvet.ErrInvalid, err)
	}
	doc := &value.Doc{Max: maxProtobufValues}
	if err := doc.Parse(text); err != nil {
		return value.Value{}, fmt.Errorf("read protobuf: %w: %s", callvet.ErrInvalid, value.Reason(err))
	}
	return doc.Root(), nil
}

// kind is how a field's bytes are written in JSON.
type wireKind uint8

const (
	innerSpans wireKind = iota // a message
	spanText                   // a string
	id                         // bytes in hexadecimal digits, as OTLP has ids
	blob                       // bytes in base64
	number                     // an int64 in quotes
	truth                      // a bool
	enum                       // a number
	time64                     // a fixed64 in quotes
	double                     // a float64
)

// field is a field of a message that the importer reads.
type field struct {
	num  protowire.Number
	name string
	kind wireKind
	list bool
	of   *layout // for kind inner
	// is reports whether contents belong to this field, if two fields share a number; nil: always.
	is func([]byte) bool
}

// layout is a message; in a choice only the last field counts.
type layout struct {
	fields []field
	choice bool
}

// anyLayouts are the layouts of a value and of a pair of a key and a value.
func anyLayouts() (value, pair *layout) {
	value = &layout{choice: true}
	pair = &layout{fields: []field{{num: 1, name: "key", kind: spanText}, {num: 2, name: "value", of: value}}}
	array := &layout{fields: []field{{num: 1, name: "values", list: true, of: value}}}
	pairs := &layout{fields: []field{{num: 1, name: "values", list: true, of: pair}}}
	value.fields = []field{
		{num: 1, name: "stringValue", kind: spanText},
		{num: 2, name: "boolValue", kind: truth},
		{num: 3, name: "intValue", kind: number},
		{num: 4, name: "doubleValue", kind: double},
		{num: 5, name: "arrayValue", of: array},
		{num: 6, name: "kvlistValue", of: pairs},
		{num: 7, name: "bytesValue", kind: blob},
	}
	return value, pair
}

// spanLayout is the layout of OTLP's spans, version 1, as far as Gatherer reads its JSON form.
func spanLayout(pair *layout) *layout {
	event := &layout{fields: []field{
		{num: 1, name: "timeUnixNano", kind: time64},
		{num: 2, name: "name", kind: spanText},
		{num: 3, name: "attributes", list: true, of: pair},
	}}
	status := &layout{fields: []field{{num: 2, name: "message", kind: spanText}, {num: 3, name: "code", kind: enum}}}
	return &layout{fields: []field{
		{num: 1, name: "traceId", kind: id},
		{num: 2, name: "spanId", kind: id},
		{num: 4, name: "parentSpanId", kind: id},
		{num: 5, name: "name", kind: spanText},
		{num: 6, name: "kind", kind: enum},
		{num: 7, name: "startTimeUnixNano", kind: time64},
		{num: 8, name: "endTimeUnixNano", kind: time64},
		{num: 9, name: "attributes", list: true, of: pair},
		{num: 11, name: "events", list: true, of: event},
		{num: 15, name: "status", of: status},
	}}
}

// recordLayout is the layout of OTLP's log records.
func recordLayout(value, pair *layout) *layout {
	return &layout{fields: []field{
		{num: 1, name: "timeUnixNano", kind: time64},
		{num: 5, name: "body", of: value},
		{num: 6, name: "attributes", list: true, of: pair},
		{num: 9, name: "traceId", kind: id},
		{num: 10, name: "spanId", kind: id},
		{num: 11, name: "observedTimeUnixNano", kind: time64},
		{num: 12, name: "eventName", kind: spanText},
	}}
}

// frame is the layout around spans and log records: resources, scopes, records. The content of the
// records shows their kind.
func frame() *layout {
	value, pair := anyLayouts()
	resource := &layout{fields: []field{{num: 1, name: "attributes", list: true, of: pair}}}
	of := func(scopes, records string, record *layout) *layout {
		scope := &layout{fields: []field{{num: 2, name: records, list: true, of: record}}}
		return &layout{fields: []field{
			{num: 1, name: "resource", of: resource},
			{num: 2, name: scopes, list: true, of: scope},
			{num: 1000, name: "instrumentationLibrarySpans", list: true, of: scope},
		}}
	}
	return &layout{fields: []field{
		{
			num: 1, name: "resourceSpans", list: true, of: of("scopeSpans", "spans", spanLayout(pair)),
			is: func(b []byte) bool { return !isLogs(b) },
		},
		{
			num: 1, name: "resourceLogs", list: true, of: of("scopeLogs", "logRecords", recordLayout(value, pair)),
			is: isLogs,
		},
	}}
}

// isLogs reports whether a resource's records are log records: they have times and a severity
// instead of a span's ids and events.
func isLogs(resource []byte) bool {
	second := &layout{fields: []field{{num: 2}}}
	scopes, err := second.split(resource)
	if err != nil {
		return false
	}
	marks := &layout{fields: []field{{num: 1, kind: time64}, {num: 2, kind: number}, {num: 11, kind: time64}}}
	for _, scope := range scopes[0] {
		records, err := second.split(scope)
		if err != nil || len(records[0]) == 0 {
			continue
		}
		found, err := marks.split(records[0][0])
		return err == nil && len(found[0])+len(found[1])+len(found[2]) > 0
	}
	return false
}

// maxDepth bounds values in values; each takes two messages.
const maxDepth = 200

var (
	errDepth = errors.New("values are nested too deeply")
	errSize  = errors.New("too long as JSON")
)

// json appends a message as JSON.
func (l *layout) json(dst, data []byte, depth int) ([]byte, error) {
	switch {
	case depth > maxDepth:
		return dst, errDepth
	case len(dst) > maxText:
		return dst, errSize
	}
	found, err := l.split(data)
	if err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	comma := false
	for i, f := range l.fields {
		if len(found[i]) == 0 {
			continue
		}
		if comma {
			dst = append(dst, ',')
		}
		comma = true
		dst = append(append(append(dst, '"'), f.name...), '"', ':')
		if dst, err = f.json(dst, found[i], depth); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// split returns the contents of each field, in the order of l.fields. Unknown fields and fields
// of a different wire type are left out, as in protobuf.
func (l *layout) split(data []byte) ([][][]byte, error) {
	found := make([][][]byte, len(l.fields))
	for n := 0; len(data) > 0; n++ {
		if n > maxProtobufValues {
			return nil, errSize
		}
		num, typ, n := protowire.ConsumeTag(data)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		data = data[n:]
		if n = protowire.ConsumeFieldValue(num, typ, data); n < 0 {
			return nil, protowire.ParseError(n)
		}
		content := data[:n]
		data = data[n:]
		if typ == protowire.BytesType {
			content, _ = protowire.ConsumeBytes(content)
		}
		for i, f := range l.fields {
			if f.num != num || f.kind.wire() != typ || f.is != nil && !f.is(content) {
				continue
			}
			if l.choice {
				clear(found)
			}
			found[i] = append(found[i], content)
		}
	}
	return found, nil
}

func (k wireKind) wire() protowire.Type {
	switch k {
	case number, truth, enum:
		return protowire.VarintType
	case time64, double:
		return protowire.Fixed64Type
	}
	return protowire.BytesType
}

// json appends a field that occurs at least once.
func (f field) json(dst []byte, found [][]byte, depth int) ([]byte, error) {
	if f.kind != innerSpans {
		return f.kind.json(dst, found[len(found)-1]), nil
	}
	if !f.list {
		// Parts of one message are merged by reading them one after the other.
		return f.of.json(dst, bytes.Join(found, nil), depth+1)
	}
	dst = append(dst, '[')
	for i, one := range found {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = f.of.json(dst, one, depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func (k wireKind) json(dst, content []byte) []byte {
	switch k {
	case id:
		return append(hex.AppendEncode(append(dst, '"'), content), '"')
	case blob:
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), content), '"')
	case number:
		x, _ := protowire.ConsumeVarint(content)
		return append(strconv.AppendInt(append(dst, '"'), int64(x), 10), '"')
	case truth:
		x, _ := protowire.ConsumeVarint(content)
		return strconv.AppendBool(dst, x != 0)
	case enum:
		x, _ := protowire.ConsumeVarint(content)
		return strconv.AppendInt(dst, int64(int32(x)), 10)
	case time64:
		x, _ := protowire.ConsumeFixed64(content)
		return append(strconv.AppendUint(append(dst, '"'), x, 10), '"')
	case double:
		x, _ := protowire.ConsumeFixed64(content)
		return appendFloat(dst, math.Float64frombits(x))
	}
	return trace.AppendQuoted(dst, string(content))
}

// appendFloat writes numbers that JSON lacks in the form of protobuf's JSON.
func appendFloat(dst []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, `"NaN"`...)
	case math.IsInf(x, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(x, -1):
		return append(dst, `"-Infinity"`...)
	}
	return strconv.AppendFloat(dst, x, 'g', -1, 64)
}
