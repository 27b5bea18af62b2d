// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
)

// Status maps the kind of an error to an HTTP status; no other place does.
func Status(err error) int {
	switch {
	case errors.Is(err, ErrNoLogin), errors.Is(err, account.ErrLogin):
		return http.StatusUnauthorized
	case errors.Is(err, library.ErrChanged):
		return http.StatusPreconditionFailed
	case errors.Is(err, callvet.ErrDenied):
		return http.StatusForbidden
	case errors.Is(err, callvet.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, callvet.ErrConflict):
		return http.StatusConflict
	case errors.Is(err, callvet.ErrInvalid):
		return http.StatusUnprocessableEntity
	case errors.Is(err, callvet.ErrLimited):
		return http.StatusTooManyRequests
	case errors.Is(err, callvet.ErrUnavailable):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// IsMissing reports whether an error means that the object does not exist any more.
func IsMissing(err error) bool {
	return errors.Is(err, sql.ErrNoRows) || errors.Is(err, callvet.ErrNotFound)
}

// Problem converts an error to problem+json: the fields, their mistakes, and a hint. An internal
// error is logged with its cause; the response does not contain the cause.
func (s *Server) Problem(ctx context.Context, err error) huma.StatusError {
	var known huma.StatusError
	if errors.As(err, &known) {
		return known
	}
	code := Status(err)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		code = 499 // the client disconnected
	}
	hide := s.Config.App.Secrets().Hide
	if store.Fault(err) {
		s.Log.ErrorContext(ctx, "the store failed", "error", hide(err.Error()))
		return huma.NewError(http.StatusServiceUnavailable,
			"the store cannot be used now; the log of the server has the cause")
	}
	if code == http.StatusInternalServerError {
		s.Log.ErrorContext(ctx, "request failed", "error", hide(err.Error()))
		return huma.NewError(code, "something went wrong here; the log of the server has the cause")
	}
	var details []error
	var field *callvet.FieldError
	if errors.As(err, &field) {
		text, fix := field.Named(func(name string) string { return name })
		if fix != "" {
			text += " (" + fix + ")"
		}
		details = append(details, &huma.ErrorDetail{Location: bodyPlace(field.Field), Message: plain.Clean(hide(text))})
	}
	var refused *library.RefusedError
	if errors.As(err, &refused) {
		for i := range refused.Problems {
			if p := &refused.Problems[i]; !p.Warning {
				details = append(details,
					&huma.ErrorDetail{Location: bodyPlace(p.Place), Message: plain.Clean(hide(refusal(p)))})
			}
		}
	}
	text := plain.Clean(hide(err.Error()))
	if hint := HintOf(err); hint != "" {
		text += ": " + plain.Clean(hide(hint))
	}
	return huma.NewError(code, text, details...)
}

// HintOf is the hint of an error; "" if none. Users set variables as their keys, and the hint about
// a missing variable comes before the hint of an outer error.
func HintOf(err error) string {
	var hint string
	for hinted := (*callvet.Hinted)(nil); errors.As(err, &hinted); err = hinted.Err {
		if hinted.Variable != "" {
			return "give " + hinted.Variable + " in Settings, Keys (PUT /api/keys/" + hinted.Variable + ")"
		}
		hint = cmp.Or(hint, hinted.Hint)
	}
	return hint
}

// NotReached converts an error of a service that the client named: it is not an error of this
// server.
func NotReached(err error) error {
	var fault *callvet.Fault
	if errors.As(err, &fault) && !errors.Is(err, callvet.ErrDenied) {
		return huma.NewError(http.StatusBadGateway, plain.Clean(fault.Error()))
	}
	return err
}

// bodyPlace is a place in the body of a request, or a place with the prefix inSuite.
func bodyPlace(place string) string {
	if there, ok := strings.CutPrefix(place, InSuite); ok {
		return strings.TrimSuffix("suite."+there, ".")
	}
	if place == "" || strings.HasPrefix(place, "[") {
		return "body" + place
	}
	return "body." + place
}

// refusal is a problem of a suite with its line, if its place does not contain the line.
func refusal(p *library.Placed) string {
	text := p.Message
	if p.Fix != "" {
		text += " (" + p.Fix + ")"
	}
	if p.Place == "" && p.Line > 0 {
		text = fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, text)
	}
	return text
}

// withRetry is a problem with the headers that a client needs, such as Retry-After.
func (s *Server) withRetry(ctx context.Context, err error) error {
	p := s.Problem(ctx, err)
	var limit *account.LimitError
	if errors.As(err, &limit) {
		return huma.ErrorWithHeaders(p, http.Header{"Retry-After": {strconv.Itoa(limit.After)}})
	}
	return p
}

// refuse ends a request before its handler.
func (s *Server) refuse(ctx huma.Context, err error) {
	p := s.Problem(ctx.Context(), err)
	if p.GetStatus() == http.StatusUnauthorized {
		ctx.SetHeader("WWW-Authenticate", `Bearer realm="callvet"`)
	}
	_ = huma.WriteErr(s.API, ctx, p.GetStatus(), p.Error()) // a disconnected client gets no response
}

// InSuite is the prefix of places in the suite that a request changes; other places are in the
// body.
const InSuite = "suite:"
