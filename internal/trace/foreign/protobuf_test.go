// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/spans"
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
		pair("list", list), pair("empty", str("")), pair("zero", &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{}}),
	}}}}
}

// TestProtobufValues holds every kind of value against the official JSON form.
func TestProtobufValues(t *testing.T) {
	t.Parallel()
	d := &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{
		Name: "chat", Kind: tracepb.Span_SPAN_KIND_CLIENT, StartTimeUnixNano: 1<<64 - 1, EndTimeUnixNano: 7, Attributes: []*commonpb.KeyValue{{Key: "k", Value: everyKind()}},
		Events: []*tracepb.Span_Event{{Name: "e", TimeUnixNano: 3, Attributes: []*commonpb.KeyValue{{Key: "x", Value: everyKind()}}}},
		Status: &tracepb.Status{Message: "broken", Code: tracepb.Status_STATUS_CODE_ERROR},
	}}}}}}}
	raw, err := proto.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	v, err := spans.Protobuf(raw)
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
		if spans.IsProtobuf([]byte(text)) {
			t.Errorf("%q is taken for protobuf", text)
		}
	}
}

func FuzzProtobuf(f *testing.F) {
	f.Add([]byte("\x0a\x04\x12\x02\x12\x00"))
	raw, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{
		TraceId: bytes.Repeat([]byte{1}, 16), Attributes: []*commonpb.KeyValue{{Key: "k", Value: everyKind()}},
	}}}}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := spans.Protobuf(b)
		if err != nil {
			if !errors.Is(err, callvet.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		var s trace.Sink
		var g spans.Gatherer
		g.Add(v, &s)
		g.Flush(&s)
	})
}
