// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// NoReason is the text for a failed call without a reason.
const NoReason = "the tool answered with an error"

// Failure is why a call failed: by its status, its error, or its result, as read by Failed. It is
// "" for a call that did not fail, and for a call without a record; Executed distinguishes the two.
// Source: Eval Case Interfaces, "Field Semantics" (noToolErrors).
func Failure(c *callvet.Call) string {
	if c.Error != "" || c.Status != "" && c.Status != callvet.StatusOK {
		return strings.TrimSpace(string(c.Status) + " " + c.Error)
	}
	v, err := value.Parse(c.Result)
	if len(c.Result) == 0 || err != nil {
		return ""
	}
	if s := v.Str(); v.Kind() == value.String && strings.HasPrefix(strings.TrimSpace(s), "{") { // JSON in a text
		if v, err = value.Parse([]byte(s)); err != nil {
			return ""
		}
	}
	if !Failed(v) {
		return ""
	}
	return Clip(cmp.Or(Reason(v), NoReason))
}

// Executed reports whether the end of a call is recorded in any form.
func Executed(c *callvet.Call) bool { return c.Status != "" || c.Error != "" || len(c.Result) > 0 }

// Failed reports whether an object records a failure. These are failures: success or ok is false,
// isError or is_error is true (as a value or as a text), status is "error", or error is a text, an
// object, a list or true. An error together with success or ok true is no failure. Values other
// than objects, and numbers in error (an error of measurement), are no failure.
func Failed(v value.Value) bool {
	good, bad := false, false
	for e, ok := v.First(); ok && v.Kind() == value.Object; e, ok = v.Next(e) {
		switch string(e.KeyBytes()) {
		case "success", "ok":
			good = good || isBool(e, true)
			if isBool(e, false) {
				return true
			}
		case "isError", "is_error":
			if isBool(e, true) {
				return true
			}
		case "status":
			bad = bad || e.Kind() == value.String && e.Str() == "error"
		case "error":
			bad = bad || hasError(e)
		}
	}
	return bad && !good
}

// Passed reports whether an object records a success: success or ok is true, isError or is_error is
// false, error is false, or status is "success" or "ok".
func Passed(v value.Value) bool {
	for e, ok := v.First(); ok && v.Kind() == value.Object; e, ok = v.Next(e) {
		switch string(e.KeyBytes()) {
		case "success", "ok":
			ok = isBool(e, true)
		case "isError", "is_error":
			ok = isBool(e, false)
		case "error":
			ok = e.Kind() == value.Bool && !e.Bool()
		case "status":
			ok = e.Str() == "success" || e.Str() == "ok"
		default:
			ok = false
		}
		if ok {
			return !Failed(v)
		}
	}
	return false
}

// IsError reports whether a result begins as agents write the error of a tool to a model. It
// decides only where no status is recorded.
func IsError(result string) bool { return strings.HasPrefix(strings.TrimSpace(result), "Error:") }

// isBool reports whether a value is want, or the text of it in any case.
func isBool(v value.Value, want bool) bool {
	return v.Kind() == value.Bool && v.Bool() == want || v.Kind() == value.String &&
		strings.EqualFold(v.Str(), strconv.FormatBool(want))
}

// hasError reports whether an error is more than an empty placeholder.
func hasError(v value.Value) bool {
	switch v.Kind() {
	case value.String:
		return v.Str() != ""
	case value.Object, value.Array:
		return v.Len() > 0
	case value.Bool:
		return v.Bool()
	}
	return false
}

// Reason returns why an object failed, according to its members; "" when it did not.
func Reason(v value.Value) string {
	for _, key := range []string{"error", "error_message", "errorMessage", "message", "reason", "content"} {
		m, ok := v.Get(key)
		if !ok {
			continue
		}
		if m.Kind() == value.Array { // the parts of an MCP result
			if first, ok := m.First(); ok {
				m = first
			}
		}
		if m.Kind() == value.Object {
			for _, in := range []string{"message", "text", "name", "code", "type"} {
				if t, ok := m.Get(in); ok && t.Kind() == value.String && t.Str() != "" {
					return t.Str()
				}
			}
			return string(m.Raw())
		}
		if m.Kind() == value.String && m.Str() != "" {
			return m.Str()
		}
	}
	return ""
}
