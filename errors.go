// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Kinds of error. Each maps once to an exit code (cmd) and once to an HTTP
// status (server); wrap them with %w.
var (
	ErrInvalid     = errors.New("invalid")
	ErrNotFound    = errors.New("not found")
	ErrConflict    = errors.New("conflict")
	ErrDenied      = errors.New("denied")
	ErrLimited     = errors.New("limited")
	ErrUnavailable = errors.New("unavailable")
	ErrBudget      = errors.New("budget exhausted")
)

// Problem is an error in an input file, with the fix where one is known.
type Problem struct {
	Position
	// Code is a stable name such as "unknown-key".
	Code    string `json:"code"`
	Warning bool   `json:"warning,omitempty"`
	Case    string `json:"case,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// Error returns "file:line:column: message (fix)".
func (p Problem) Error() string {
	s := p.Message
	if p.Fix != "" {
		s += " (" + p.Fix + ")"
	}
	switch {
	case p.File == "":
		return s
	case p.Line == 0:
		return p.File + ": " + s
	case p.Column == 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, s)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, s)
}

// Hinted is an error with the command or the change that would fix it.
type Hinted struct {
	Err  error
	Hint string
	// Variable, where a value is missing, is the name of the environment variable to set. Hint is
	// for the command line; a client that keeps keys elsewhere writes its own hint.
	Variable string
}

// Unset is a Hinted of a variable that has no value.
func Unset(err error, variable string) *Hinted {
	return &Hinted{Err: err, Hint: "export " + variable + "=…", Variable: variable}
}

func (h *Hinted) Error() string { return h.Err.Error() }

// Unwrap returns the error without its hint.
func (h *Hinted) Unwrap() error { return h.Err }

// FieldError is the error of a request with an invalid field. Text and Fix contain names of fields
// in braces, spelled as in JSON. Each client replaces them with the names that its users know:
// "sweep: {draws} is from 1 to 100".
type FieldError struct {
	Field string
	Text  string
	Fix   string // what would fix it; empty: unknown
	Kind  error  // nil: ErrInvalid
}

func (e *FieldError) Error() string {
	text, _ := e.Named(func(field string) string { return field })
	return text
}

// Unwrap gives the kind of error.
func (e *FieldError) Unwrap() error {
	if e.Kind == nil {
		return ErrInvalid
	}
	return e.Kind
}

// Named returns Text and Fix with the names of fields that the function name returns.
func (e *FieldError) Named(name func(field string) string) (text, fix string) {
	by := func(braced string) string { return name(braced[1 : len(braced)-1]) }
	return fieldName.ReplaceAllStringFunc(e.Text, by), fieldName.ReplaceAllStringFunc(e.Fix, by)
}

var fieldName = regexp.MustCompile(`\{[a-z_]+\}`)

// FaultKind is what went wrong between callvet and a target.
type FaultKind string

// The fault kinds.
const (
	FaultRateLimit FaultKind = "rate_limit"
	FaultServer    FaultKind = "server"         // 5xx
	FaultAuth      FaultKind = "auth"           // 401, 403
	FaultRequest   FaultKind = "request"        // other 4xx: the request itself is wrong
	FaultTimeout   FaultKind = "timeout"        //
	FaultNetwork   FaultKind = "network"        // refused, reset, DNS
	FaultMalformed FaultKind = "malformed"      // not the JSON it should be
	FaultTooLarge  FaultKind = "too_large"      // over the response limit
	FaultProcess   FaultKind = "process"        // an exec: target died
	FaultMissing   FaultKind = "no_output"      // a recording has no row for the case
	FaultTool      FaultKind = "tool"           // the world failed, not the target
	FaultCanceled  FaultKind = "canceled"       // interrupted by the user
	FaultUnsupport FaultKind = "unsupported"    // the target cannot do what was asked
	FaultFiltered  FaultKind = "content_filter" // the provider blocked the request or the answer
	FaultRefused   FaultKind = "refusal"        // the provider refused, by its stop reason
	FaultFailed    FaultKind = "failed"         // the provider reports that the answer failed
	FaultDropped   FaultKind = "dropped"        // the provider stopped in the middle of the answer
	FaultNoCall    FaultKind = "bad_call"       // the provider reports that the model called, but sends no call
	FaultUnknown   FaultKind = "unknown"        // it is not known how the answer ended, or what was called
	FaultLost      FaultKind = "lost_record"    // the stored record of the attempt cannot be read
)

// FaultOfStatus maps an HTTP status of 400 and more to the kind of fault.
func FaultOfStatus(code int) FaultKind {
	switch {
	case code == 429:
		return FaultRateLimit
	case code == 401, code == 403:
		return FaultAuth
	case code == 408, code == 504:
		return FaultTimeout
	case code >= 500:
		return FaultServer
	}
	return FaultRequest
}

// Fault is an infrastructure error: never a zero score. It is stored with the trace.
type Fault struct {
	Kind       FaultKind     `json:"kind"`
	HTTP       int           `json:"http,omitempty"`
	Message    string        `json:"message"`
	Param      string        `json:"param,omitempty"` // request parameter the provider complained about
	Retryable  bool          `json:"retryable,omitempty"`
	RetryAfter time.Duration `json:"-"`
	Exchanges  []Exchange    `json:"-"`
	// AtMostUSD is an upper bound of the cost of a request that may have been billed; nil: unknown.
	AtMostUSD *float64 `json:"-"`
}

// Billable reports whether the target may have worked on the request, and may bill it, although no
// whole answer came back.
func (f *Fault) Billable() bool {
	switch f.Kind {
	case FaultTimeout, FaultMalformed, FaultTooLarge, FaultCanceled, FaultProcess:
		return true
	case FaultNetwork:
		return f.HTTP != 0 // the answer had begun
	}
	return false
}

// Blocked reports whether the provider blocked the request or the answer, by a filter or by its own
// refusal.
func (f *Fault) Blocked() bool { return f.Kind == FaultFiltered || f.Kind == FaultRefused }

func (f *Fault) Error() string {
	if f.HTTP != 0 {
		return fmt.Sprintf("%s (HTTP %d): %s", f.Kind, f.HTTP, f.Message)
	}
	return string(f.Kind) + ": " + f.Message
}

// DeniedError reports that a guard refused an address or a redirect on the way to a tool. The tool
// was not reached. It wraps ErrDenied.
type DeniedError struct{ Ruling Ruling }

func (e *DeniedError) Error() string { return e.Ruling.Rule + ": " + e.Ruling.Detail }

// Unwrap gives the kind of error.
func (e *DeniedError) Unwrap() error { return ErrDenied }
