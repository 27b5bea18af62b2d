// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
)

func importBytes(b []byte, o Options) ([]trace.Attempt, Report, error) {
	i, err := Open(bytes.NewReader(b), o)
	if err != nil {
		return nil, Report{}, err
	}
	var out []trace.Attempt
	for a, err := range i.Attempts() {
		if err != nil {
			return out, i.Report(), err
		}
		out = append(out, a)
	}
	return out, i.Report(), nil
}

// protobufOf is OTLP's JSON form as protobuf, by the official package. Its JSON
// reader takes ids for base64, which gives other bytes of the same digits.
func protobufOf(t testing.TB, text []byte) []byte {
	t.Helper()
	var d tracepb.TracesData
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	id := func(b []byte) []byte {
		digits := base64.StdEncoding.EncodeToString(b)
		raw, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for _, r := range d.ResourceSpans {
		for _, sc := range r.ScopeSpans {
			for _, s := range sc.Spans {
				s.TraceId, s.SpanId, s.ParentSpanId = id(s.TraceId), id(s.SpanId), id(s.ParentSpanId)
			}
		}
	}
	b, err := proto.Marshal(&d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestProtobufIsJSON reads the same spans in both forms of OTLP.
func TestProtobufIsJSON(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"otel-genai/otlp.genai.json", "otel-genai/otlp.trace.proto-example.json"} {
		text, err := os.ReadFile(data(t, "../formats/"+name))
		if err != nil {
			t.Fatal(err)
		}
		want, wantReport, err := importBytes(text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, report, err := importBytes(protobufOf(t, text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if d := gocmp.Diff(wantReport, report); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// everyKind is a value of each kind, nested.
func everyKind() *commonpb.AnyValue {
	str := func(s string) *commonpb.AnyValue {
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
	}
	pair := func(k string, v *commonpb.AnyValue) *commonpb.KeyValue { return &commonpb.KeyValue{Key: k, Value: v} }
	list := &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: []*commonpb.AnyValue{
		str("a\"\n\u00e9"),
		{Value: &commonpb.AnyValue_IntValue{IntValue: -1 << 63}},
		{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: 1e-300}},
		{Value: &commonpb.AnyValue_BoolValue{}},
		{Value: &commonpb.AnyValue_BytesValue{BytesValue: []byte{0, 255}}},
		{},
	}}}}
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{Values: []*commonpb.KeyValue{
		pair("list", list), pair("empty", str("")),
		pair("zero", &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{}}),
	}}}}
}

// TestProtobufValues holds every kind of value against the official JSON form.
func TestProtobufValues(t *testing.T) {
	t.Parallel()
	d := &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{
		Name: "chat", Kind: tracepb.Span_SPAN_KIND_CLIENT, StartTimeUnixNano: 1<<64 - 1, EndTimeUnixNano: 7,
		Attributes: []*commonpb.KeyValue{{Key: "k", Value: everyKind()}},
		Events: []*tracepb.Span_Event{{
			Name: "e", TimeUnixNano: 3,
			Attributes: []*commonpb.KeyValue{{Key: "x", Value: everyKind()}},
		}},
		Status: &tracepb.Status{Message: "broken", Code: tracepb.Status_STATUS_CODE_ERROR},
	}}}}}}}
	raw, err := proto.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Protobuf(raw)
	if err != nil {
		t.Fatal(err)
	}
	var back tracepb.TracesData
	if err := protojson.Unmarshal(v.Raw(), &back); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(d, &back) {
		t.Errorf("read %s", v.Raw())
	}
}

func TestProtobufRefused(t *testing.T) {
	t.Parallel()
	deep := everyKind()
	for range 300 {
		deep = &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: []*commonpb.AnyValue{deep}}}}
	}
	d := &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{
		Name: "chat", TraceId: bytes.Repeat([]byte{1}, 16), Attributes: []*commonpb.KeyValue{{Key: "k", Value: deep}},
	}}}}}}}
	raw, err := proto.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"nested too deeply": raw, "cut off": raw[:len(raw)-1]} {
		if _, _, err := importBytes(b, Options{}); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := importBytes(raw, Options{MaxBytes: 100}); !errors.Is(err, callvet.ErrLimited) {
		t.Errorf("over the limit: %v", err)
	}
	for _, text := range []string{"\n{\n\"resourceSpans\":[]}", "\n\n\n[]", "\n \n{}", "", "\n\x05\n"} {
		if IsProtobuf([]byte(text)) {
			t.Errorf("%q is taken for protobuf", text)
		}
	}
}

func FuzzProtobuf(f *testing.F) {
	f.Add([]byte("\x0a\x04\x12\x02\x12\x00"))
	raw, err := proto.Marshal(
		&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{
			TraceId: bytes.Repeat([]byte{1}, 16), Attributes: []*commonpb.KeyValue{{Key: "k", Value: everyKind()}},
		}}}}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Protobuf(b)
		if err != nil {
			if !errors.Is(err, callvet.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		var s trace.Sink
		var g Gatherer
		g.Add(v, &s)
		g.Flush(&s)
	})
}

// framed puts a message for each resource into one stream, each behind its length.
func framed(t *testing.T, text []byte, prefix func(n int) []byte) []byte {
	t.Helper()
	var whole tracepb.TracesData
	if err := proto.Unmarshal(protobufOf(t, text), &whole); err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, r := range whole.ResourceSpans {
		for _, sc := range r.ScopeSpans {
			one := &tracepb.ResourceSpans{Resource: r.Resource, ScopeSpans: []*tracepb.ScopeSpans{sc}}
			b, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{one}})
			if err != nil {
				t.Fatal(err)
			}
			out = append(append(out, prefix(len(b))...), b...)
		}
	}
	return out
}

// TestProtobufFrames reads messages behind their lengths, as the Collector's file
// exporter and protobuf's own libraries write them, as the one export that they are.
func TestProtobufFrames(t *testing.T) {
	t.Parallel()
	fixed := func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	varint := func(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }
	for _, name := range []string{"otel-genai/otlp.genai.json", "otel-genai/otlp.trace.proto-example.json"} {
		text, err := os.ReadFile(data(t, "../formats/"+name))
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := importBytes(text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for how, prefix := range map[string]func(int) []byte{"four bytes": fixed, "varint": varint} {
			raw := framed(t, text, prefix)
			got, report, err := importBytes(raw, Options{})
			if err != nil || report.Format != "otlp" || report.Log.Bad > 0 {
				t.Fatal(how, err, report)
			}
			if d := gocmp.Diff(want, got); d != "" {
				t.Errorf("%s, %s: %s", name, how, d)
			}
			again := append(bytes.Clone(raw), raw[:len(raw)-3]...) // a crash in the last message
			_, report, err = importBytes(again, Options{})
			if err != nil || report.Log.Bad != 1 ||
				!strings.HasSuffix(report.Log.List[0].Reason, "the file ends within it") {
				t.Errorf("%s, cut off: %v %+v", how, err, report.Log)
			}
			if _, _, err = importBytes(again, Options{Lines: trace.Options{Strict: true}}); !errors.Is(err,
				callvet.ErrInvalid) {
				t.Errorf("%s, strict: %v", how, err)
			}
			if _, _, err = importBytes(raw, Options{MaxHeld: 100}); !errors.Is(err, callvet.ErrLimited) {
				t.Errorf("%s, limited: %v", how, err)
			}
			broken := append(bytes.Clone(raw), append(prefix(4), 0xff, 0xff, 0xff, 0xff)...)
			if _, report, err = importBytes(append(broken, raw...), Options{}); err != nil || report.Log.Bad != 1 {
				t.Errorf("%s, a broken message between others: %v %+v", how, err, report.Log)
			}
		}
	}
	_, _, err := importBytes(append(fixed(40), append([]byte("\x28\xb5\x2f\xfd"), make([]byte, 36)...)...), Options{})
	if !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), "zstd") {
		t.Errorf("compressed: %v", err)
	}
}

// FuzzFrames: no stream of frames panics or hangs.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x08\x0a\x06\x0a\x04\x0a\x02\x08\x01"))
	f.Add([]byte("\x08\x0a\x06\x0a\x04\x0a\x02\x08\x01\x03"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, report, err := importBytes(b, Options{MaxBytes: 1 << 16})
		if err == nil && report.Log.Bad > report.Log.Lines {
			t.Errorf("%d bad of %d", report.Log.Bad, report.Log.Lines)
		}
	})
}
