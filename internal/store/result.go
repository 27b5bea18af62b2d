// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"strconv"

	"github.com/callvet/callvet"
)

// appendResult writes the JSON form of r, the same document as encoding/json.
func appendResult(b []byte, r *callvet.Result) []byte {
	b = append(b, `{"verdict":`...)
	b = appendString(b, string(r.Verdict))
	b = optString(b, "class", string(r.Class))
	b = optString(b, "reason", r.Reason)
	b = appendList(b, "scores", r.Scores, appendScore)
	b = optString(b, "plan", r.Plan)
	b = appendList(b, "calls", r.Calls, appendMatch)
	b = appendList(b, "assertions", r.Assertions, appendAssertion)
	b = optInt(b, "not_evaluated", r.NotEvaluated)
	b = appendList(b, "incidents", r.Incidents, appendIncident)
	b = optInt(b, "rules", r.Rules)
	b = appendList(b, "names", r.Names, appendCounted)
	return append(b, '}')
}

func appendCounted(b []byte, c *callvet.Counted) []byte {
	b = append(b, `{"name":`...)
	b = appendString(b, c.Name)
	b = append(b, `,"as":`...)
	b = appendString(b, c.As)
	return append(b, '}')
}

func appendIncident(b []byte, i *callvet.Incident) []byte {
	b = append(b, `{"rule":`...)
	b = appendString(b, i.Rule)
	b = optString(b, "call_id", i.CallID)
	b = optString(b, "note", i.Note)
	if i.Blocked {
		b = append(b, `,"blocked":true`...)
	}
	return append(b, '}')
}

func appendScore(b []byte, s *callvet.Score) []byte {
	b = append(b, `{"name":`...)
	b = appendString(b, s.Name)
	b = append(b, `,"value":`...)
	if s.Scored {
		b = appendFloat(b, s.Value)
	} else {
		b = append(b, "null"...)
	}
	b = optString(b, "reason", s.Reason)
	return append(b, '}')
}

func appendMatch(b []byte, m *callvet.CallMatch) []byte {
	b = append(b, `{"state":`...)
	b = appendString(b, string(m.State))
	b = append(b, `,"expected":`...)
	b = strconv.AppendInt(b, int64(m.Expected), 10)
	b = append(b, `,"actual":`...)
	b = strconv.AppendInt(b, int64(m.Actual), 10)
	b = appendList(b, "want", m.Want, appendStringRef)
	b = optRaw(b, "want_args", m.WantArgs)
	b = optString(b, "got", m.Got)
	b = optString(b, "as", m.As)
	b = optRaw(b, "got_args", m.GotArgs)
	b = appendList(b, "args", m.Args, appendDiff)
	b = appendList(b, "violations", m.Violations, appendViolation)
	b = optString(b, "note", m.Note)
	return append(b, '}')
}

func appendDiff(b []byte, d *callvet.ArgDiff) []byte {
	b = append(b, `{"path":`...)
	b = appendString(b, d.Path)
	b = optRaw(b, "expected", d.Expected)
	b = optRaw(b, "actual", d.Actual)
	b = append(b, `,"matched":`...)
	b = strconv.AppendBool(b, d.Matched)
	b = append(b, `,"rule":`...)
	b = appendString(b, d.Rule)
	if d.Similarity != nil {
		b = appendFloat(append(b, `,"similarity":`...), *d.Similarity)
	}
	b = optString(b, "note", d.Note)
	return append(b, '}')
}

func appendViolation(b []byte, v *callvet.Violation) []byte {
	b = append(b, `{"path":`...)
	b = appendString(b, v.Path)
	b = append(b, `,"keyword":`...)
	b = appendString(b, v.Keyword)
	b = optString(b, "expected", v.Expected)
	b = optString(b, "actual", v.Actual)
	b = append(b, `,"message":`...)
	b = appendString(b, v.Message)
	return append(b, '}')
}

func appendAssertion(b []byte, a *callvet.Assertion) []byte {
	b = append(b, `{"name":`...)
	b = appendString(b, a.Name)
	b = append(b, `,"layer":`...)
	b = appendString(b, string(a.Layer))
	b = append(b, `,"state":`...)
	b = appendString(b, string(a.State))
	b = optString(b, "reason", a.Reason)
	b = optString(b, "expected", a.Expected)
	b = optString(b, "actual", a.Actual)
	b = optString(b, "version", a.Version)
	return append(b, '}')
}
