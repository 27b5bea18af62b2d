// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
)

// Export is what an exporter of OpenTelemetry sends.
type Export struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	Encoding    string `header:"Content-Encoding" hidden:"true"`
	Header      string `header:"X-Callvet-Collection" maxLength:"200" doc:"the collection that takes all of it; empty: one for each service.name"`
	Collection  string `query:"collection" maxLength:"200" doc:"as the header, which it goes before"`
	RawBody     []byte
}

// exportAnswer is in the form of the request, protobuf or JSON.
type exportAnswer struct {
	Status      int
	ContentType string `header:"Content-Type"`
	Body        []byte
}

const protobufType = "application/x-protobuf"

// addOTLP adds the receiver of OTLP/HTTP, under the paths that exporters append to an endpoint.
func addOTLP(s *api.Server) {
	for _, kind := range []struct {
		id, path, of string
		logs         bool
	}{
		{"otlp-traces", "/v1/traces", "spans (ExportTraceServiceRequest)", false},
		{"otlp-logs", "/v1/logs", "log records (ExportLogsServiceRequest)", true},
	} {
		op := huma.Operation{
			OperationID: kind.id, Method: http.MethodPost, Path: kind.path, Tags: []string{"traces"},
			MaxBodyBytes: library.MaxBatch, SkipValidateBody: true,
			Summary: "Takes " + kind.of +
				" of OpenTelemetry's exporters. What was answered with success is on the disk.",
		}
		op.RequestBody = &huma.RequestBody{
			Required: true, Description: "OTLP 1.x; Content-Encoding gzip is read",
			Content: map[string]*huma.MediaType{
				"application/json": {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}},
				protobufType:       {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
			},
		}
		op.Responses = map[string]*huma.Response{"200": {
			Description: "kept; partialSuccess lists what is not",
			Content: map[string]*huma.MediaType{
				"application/json": {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}},
				protobufType:       {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
			},
		}}
		api.Add(s, op, api.Access{Role: account.Member},
			func(ctx context.Context, by *account.Principal, in *Export) (*exportAnswer, error) {
				return takeExport(ctx, s, by, in, kind.logs)
			})
	}
}

// takeExport stores an export. It reports records that exceed a limit or have no collection as
// OTLP's partial success, and stores the rest: exporters do not resend either.
func takeExport(ctx context.Context, s *api.Server, by *account.Principal, in *Export,
	logs bool,
) (*exportAnswer, error) {
	kind, _, err := mime.ParseMediaType(in.ContentType)
	protobuf := kind == protobufType || kind == "application/protobuf"
	if err != nil || !protobuf && kind != "application/json" {
		return nil, huma.Error415UnsupportedMediaType("OTLP is sent as application/x-protobuf or application/json")
	}
	if e := strings.ToLower(in.Encoding); e != "" && e != "gzip" && e != "identity" {
		return nil, huma.Error415UnsupportedMediaType(
			fmt.Sprintf("Content-Encoding %q is not read: gzip is", in.Encoding))
	}
	out := &exportAnswer{Status: http.StatusOK, ContentType: kind}
	name := in.Collection
	if name == "" {
		name = in.Header
	}
	body, err := library.UnpackBatch(in.RawBody)
	var of []library.Service
	if err == nil {
		of, err = library.OTLP(body, protobuf, name != "")
	}
	if err != nil {
		out.Status, out.Body = http.StatusBadRequest, library.OTLPRefusal(protobuf, err.Error())
		if errors.Is(err, callvet.ErrLimited) {
			out.Status = http.StatusRequestEntityTooLarge
		}
		return out, nil
	}
	rejected, why := int64(0), []string{}
	for i := range of {
		to := name
		if to == "" {
			to = of[i].Name
		}
		_, _, err := s.Intake.Append(ctx, by.User, to, &of[i].Batch)
		switch {
		case err == nil:
			continue
		case store.Fault(err) || api.Status(err) >= http.StatusInternalServerError || ctx.Err() != nil:
			return nil, err // the exporter sends it again; stored records are not stored twice
		}
		n := of[i].Spans
		if logs {
			n = of[i].Records
		}
		rejected += n
		why = append(why, err.Error())
	}
	out.Body = library.OTLPAnswer(protobuf, logs, rejected, strings.Join(why, "; "))
	return out, nil
}
