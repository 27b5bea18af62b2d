// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package library

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/value"
)

// formOTLP is the form of OpenTelemetry's exports.
const formOTLP = "otlp"

// Batch is one addition to a collection.
type Batch struct {
	// Form is the name of a form of traces (app.TraceForms).
	Form string
	Text []byte
	// Items counts lines, or spans and log records.
	Items int64
	// Lines: more may be appended, because each line is a separate value.
	Lines bool
}

// UnpackBatch returns a text without gzip compression, of at most MaxBatch bytes. The error wraps
// callvet.ErrLimited for a longer one, and callvet.ErrInvalid for one that cannot be unpacked.
func UnpackBatch(data []byte) ([]byte, error) { return doc.ReadAll("traces", data, MaxBatch) }

// FileBatch makes a batch from a trace file of that form that was read without errors. A
// document of several lines becomes one line, so that more can follow it; an archive stays as it
// is.
func FileBatch(text []byte, form string) (*Batch, error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	b := &Batch{Form: form, Text: text}
	if form == formOTLP && foreign.IsProtobuf(text) {
		v, err := foreign.Protobuf(text)
		if err != nil {
			return nil, err
		}
		b.Text = v.Raw()
	}
	body := bytes.TrimSpace(b.Text)
	first, _, several := bytes.Cut(body, []byte("\n"))
	switch _, _, err := value.Read(first); {
	case len(body) == 0 || body[0] != '{' && body[0] != '[':
		b.Lines = false // an archive, or messages in a frame
	case form == foreign.Contract:
		b.Lines = body[0] == '{'
	case err == nil:
		b.Lines = true
	case several:
		var line bytes.Buffer
		if v, _, err := value.Read(body); err == nil {
			body = v.Raw()
		}
		if b.Lines = json.Compact(&line, body) == nil; b.Lines {
			b.Text = line.Bytes()
		}
	}
	b.Items = 1
	if b.Lines {
		b.Items = int64(bytes.Count(bytes.TrimSpace(b.Text), []byte("\n"))) + 1
	}
	return b, nil
}

// Service has the records of one service in an export.
type Service struct {
	Batch
	// Name is its service.name, in a form for names of collections.
	Name string
	// Spans and Records count spans and log records.
	Spans, Records int64
}

// OTLP reads an ExportTraceServiceRequest or ExportLogsServiceRequest, in protobuf or in OTLP's
// JSON, and returns its services in their order; none for an empty request. With merged there is
// one service without a name. The error wraps callvet.ErrInvalid, with the place of the mistake, or
// callvet.ErrLimited for a request that is too long.
func OTLP(body []byte, protobuf, merged bool) ([]Service, error) {
	v, err := parse(body, protobuf)
	if err != nil || v.Kind() == value.Invalid {
		return nil, err
	}
	e := export{merged: merged, at: map[string]int{}}
	known := false
	for m, ok := v.First(); ok; m, ok = v.Next(m) {
		switch m.Key() {
		case "resourceSpans", "resource_spans":
			err = e.resources(m, "resourceSpans", "scopeSpans", "spans", "scope_spans", "spans")
		case "resourceLogs", "resource_logs":
			err = e.resources(m, "resourceLogs", "scopeLogs", "logRecords", "scope_logs", "log_records")
		default:
			continue
		}
		known = true
		if err != nil {
			return nil, err
		}
	}
	if _, some := v.First(); some && !known {
		return nil, fmt.Errorf("%w: it has neither resourceSpans nor resourceLogs", callvet.ErrInvalid)
	}
	out := make([]Service, len(e.of))
	for i := range e.of {
		out[i] = e.of[i].service()
	}
	return out, nil
}

func parse(body []byte, protobuf bool) (value.Value, error) {
	if len(body) == 0 {
		return value.Value{}, nil // the protobuf form of a message without fields
	}
	if protobuf {
		return foreign.Protobuf(body)
	}
	v, _, err := value.Read(body)
	if err != nil {
		return v, fmt.Errorf("%w: it is no JSON: %s", callvet.ErrInvalid, value.Reason(err))
	}
	if v.Kind() != value.Object {
		return v, fmt.Errorf("%w: it is no object, but %s", callvet.ErrInvalid, v.Kind())
	}
	return v, nil
}

// export collects resources by service.
type export struct {
	merged bool
	of     []ofService
	at     map[string]int
}

type ofService struct {
	name            string
	spans, logs     [][]byte // resources in their original form
	nSpans, nRecord int64
}

// resources reads a list of resources, of spans or of log records. The parameters are the names of
// the lists in them, in both spellings.
func (e *export) resources(list value.Value, kind, scopes, records, scopesToo, recordsToo string) error {
	if list.Kind() != value.Array {
		return fmt.Errorf("%w: %s is no list, but %s", callvet.ErrInvalid, kind, list.Kind())
	}
	i := 0
	for r, ok := list.First(); ok; r, ok = list.Next(r) {
		place := kind + "[" + strconv.Itoa(i) + "]"
		i++
		if r.Kind() != value.Object {
			return fmt.Errorf("%w: %s is no object, but %s", callvet.ErrInvalid, place, r.Kind())
		}
		n := int64(0)
		inner, j := member(r, scopes, scopesToo), 0
		for sc, ok := inner.First(); ok; sc, ok = inner.Next(sc) {
			each, k := member(sc, records, recordsToo), 0
			for x, ok := each.First(); ok; x, ok = each.Next(x) {
				if records == "spans" {
					if why := badIDs(x); why != "" {
						return fmt.Errorf("%w: %s.%s[%d].%s[%d].%s", callvet.ErrInvalid, place, scopes, j,
							records, k, why)
					}
				}
				n, k = n+1, k+1
			}
			j++
		}
		s := e.service(nameOf(r))
		if records == "spans" {
			s.spans, s.nSpans = append(s.spans, slices.Clone(r.Raw())), s.nSpans+n
		} else {
			s.logs, s.nRecord = append(s.logs, slices.Clone(r.Raw())), s.nRecord+n
		}
	}
	return nil
}

func member(v value.Value, names ...string) value.Value {
	for _, name := range names {
		if m, ok := v.Get(name); ok {
			return m
		}
	}
	return value.Value{}
}

// badIDs is the reason why a span has no valid ids; "" if it has. Spans without ids would all
// become one trace.
func badIDs(span value.Value) string {
	for _, id := range []struct {
		name, too string
		bytes     int
	}{{"traceId", "trace_id", 16}, {"spanId", "span_id", 8}} {
		v := member(span, id.name, id.too)
		text := v.Str()
		hex := len(text) == 2*id.bytes && strings.Trim(text, "0123456789abcdefABCDEF") == ""
		base64 := len(text) == (id.bytes+2)/3*4 && strings.HasSuffix(text, "=") // protobuf's own JSON
		if !hex && !base64 || strings.Trim(text, "0") == "" {
			return fmt.Sprintf("%s is no id of %d hexadecimal digits", id.name, 2*id.bytes)
		}
	}
	return ""
}

// unknownService is OpenTelemetry's name of a service without a name.
const unknownService = "unknown_service"

// nameOf returns the service.name of a resource, in a form for names of collections.
func nameOf(resource value.Value) string {
	attributes := member(member(resource, "resource"), "attributes")
	for a, ok := attributes.First(); ok; a, ok = attributes.Next(a) {
		if member(a, "key").Str() != "service.name" {
			continue
		}
		name := strings.TrimSpace(
			strings.ToValidUTF8(member(member(a, "value"), "stringValue", "string_value").Str(), "_"))
		name = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return '_'
			}
			return r
		}, name)
		for utf8.RuneCountInString(name) > maxCollectionName {
			_, size := utf8.DecodeLastRuneInString(name)
			name = name[:len(name)-size]
		}
		if checkCollection(name) == nil {
			return name
		}
	}
	return unknownService
}

func (e *export) service(name string) *ofService {
	if e.merged {
		name = ""
	}
	i, ok := e.at[name]
	if !ok {
		i = len(e.of)
		e.at[name] = i
		e.of = append(e.of, ofService{name: name})
	}
	return &e.of[i]
}

// service writes the records of one service as one line.
func (s *ofService) service() Service {
	line := []byte{'{'}
	for _, part := range []struct {
		name string
		of   [][]byte
	}{{"resourceSpans", s.spans}, {"resourceLogs", s.logs}} {
		if len(part.of) == 0 {
			continue
		}
		if len(line) > 1 {
			line = append(line, ',')
		}
		line = append(append(append(line, '"'), part.name...), `":[`...)
		line = append(append(line, bytes.Join(part.of, []byte{','})...), ']')
	}
	line = append(line, '}')
	var compact bytes.Buffer
	if json.Compact(&compact, line) == nil { // JSON over several lines
		line = compact.Bytes()
	}
	return Service{
		Name: s.name, Spans: s.nSpans, Records: s.nRecord,
		Batch: Batch{Form: formOTLP, Text: line, Items: s.nSpans + s.nRecord, Lines: true},
	}
}

// OTLPAnswer is the response to an export: all is stored, or the number of rejected spans or log
// records, and why.
func OTLPAnswer(protobuf, logs bool, rejected int64, why string) []byte {
	if !protobuf {
		if rejected == 0 && why == "" {
			return []byte("{}")
		}
		name := "rejectedSpans"
		if logs {
			name = "rejectedLogRecords"
		}
		return asJSON(map[string]any{"partialSuccess": map[string]any{
			name:           strconv.FormatInt(rejected, 10),
			"errorMessage": why,
		}})
	}
	if rejected == 0 && why == "" {
		return []byte{}
	}
	inner := binary.AppendUvarint([]byte{1 << 3}, uint64(max(rejected, 0)))
	inner = appendText(inner, 2, why)
	return appendText(nil, 1, string(inner))
}

// OTLPRefusal is a google.rpc.Status, OTLP's response if nothing is stored.
func OTLPRefusal(protobuf bool, why string) []byte {
	const invalidArgument = 3
	if !protobuf {
		return asJSON(map[string]any{"code": invalidArgument, "message": why})
	}
	return appendText([]byte{1 << 3, invalidArgument}, 2, why)
}

// appendText appends a field of protobuf with a length.
func appendText(dst []byte, field byte, text string) []byte {
	const withLength = 2
	return append(binary.AppendUvarint(append(dst, field<<3|withLength), uint64(len(text))), text...)
}

func asJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // it contains only texts and numbers
	}
	return b
}
