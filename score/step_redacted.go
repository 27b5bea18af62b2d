// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/value"
)

// violations are the contract violations by known values: a value that was redacted before the
// trace was written may have kept the contract.
func (t *contracted) violations(args value.Value) []callvet.Violation {
	return slices.DeleteFunc(t.schema.Check(args), func(v callvet.Violation) bool { return redactedAt(args, v) })
}

// unknowable reports whether arguments break the contract only where something was redacted: then
// the original arguments may have kept it.
func (t *contracted) unknowable(args value.Value) bool {
	return args.Kind() == value.Object && (safety.UnknownValue(args) || marked(args)) && len(t.violations(args)) == 0
}

// redactedAt reports whether a violation is caused by a redacted value or a redacted name of a
// member. A missing member is known.
func redactedAt(args value.Value, v callvet.Violation) bool {
	if strings.Contains(v.Path, safety.RedactionMark) {
		return true
	}
	if v.Keyword == "required" || v.Keyword == "additionalProperties" {
		return false
	}
	at, ok := pointed(args, v.Path)
	return ok && safety.UnknownValue(at)
}

// marked reports whether a name of a member, at any depth, was redacted.
func marked(v value.Value) bool {
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if v.Kind() == value.Object && strings.Contains(e.Key(), safety.RedactionMark) || marked(e) {
			return true
		}
	}
	return false
}

// pointed follows a JSON Pointer.
func pointed(v value.Value, pointer string) (value.Value, bool) {
	for pointer != "" {
		var token string
		token, pointer, _ = strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		if pointer != "" {
			pointer = "/" + pointer
		}
		token = contract.Unescape(token)
		next, ok := v.Get(token)
		if v.Kind() == value.Array {
			n, err := strconv.Atoi(token)
			next, ok = v.First()
			for ; ok && err == nil && n > 0; n-- {
				next, ok = v.Next(next)
			}
			ok = ok && err == nil
		}
		if !ok {
			return value.Value{}, false
		}
		v = next
	}
	return v, true
}
