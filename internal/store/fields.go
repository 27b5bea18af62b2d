// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import "github.com/callvet/callvet"

// The readers below mirror the appenders, key by key. They skip an unknown key (of a newer
// version).

func readTrace(r *reader, t *callvet.Trace) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch key := r.key(); string(key) {
		case "case_id":
			t.CaseID = r.str()
		case "target":
			t.Target = r.word()
		case "repeat":
			t.Repeat = r.integer()
		case "outcome":
			t.Outcome = callvet.Outcome(r.word())
		case "turns":
			t.Turns = list(r, readTurn)
		case "answer":
			t.Answer = r.str()
		case "model":
			t.Model = r.word()
		case "finish_reason":
			t.FinishReason = r.word()
		case "reason":
			t.Reason = callvet.Reason(r.word())
		case "notes":
			t.Notes = list(r, readString)
		case "format":
			t.Format = callvet.Format(r.word())
		case "repairs":
			t.Repairs = list(r, readString)
		case "tool_choice":
			t.ToolChoice = r.word()
		case "omitted":
			t.Omitted = list(r, readString)
		case "end":
			t.End = callvet.End(r.word())
		case "fault":
			t.Fault = readFault(r)
		default:
			readEffort(r, t, key)
		}
	}
}

// readEffort reads a key of a trace about time, tokens or cost of the attempt.
func readEffort(r *reader, t *callvet.Trace, key []byte) {
	switch string(key) {
	case keyRedacted:
		r.redacted = r.integer()
	case "usage":
		readUsage(r, &t.Usage)
	case "attempts":
		t.Attempts = r.integer()
	case "started":
		t.Started = r.timestamp()
	case "wall_ms":
		t.WallMS = r.number()
	case "first_token_ms":
		t.FirstTokenMS = r.number()
	case "tool_ms":
		t.ToolMS = r.number()
	case "cached":
		t.Cached = r.truth()
	case "decision":
		t.Decision = readDecision(r)
	default:
		r.skip()
	}
}

func readTurn(r *reader, t *callvet.Turn) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "role":
			t.Role = callvet.Role(r.word())
		case "content":
			t.Content = r.str()
		case "reasoning":
			t.Reasoning = r.str()
		case "calls":
			t.Calls = list(r, readCall)
		case "call_id":
			t.CallID = r.str()
		case "tool":
			t.Tool = r.word()
		case "raw":
			t.Raw = r.raw()
		default:
			r.skip()
		}
	}
}

func readCall(r *reader, c *callvet.Call) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "id":
			c.ID = r.str()
		case "tool":
			c.Tool = r.word()
		case "version":
			c.Version = r.str()
		case "args":
			c.Args = r.raw()
		case "args_raw":
			c.ArgsRaw = r.str()
		case "repairs":
			c.Repairs = list(r, readString)
		case "status":
			c.Status = callvet.Status(r.word())
		case "result":
			c.Result = r.raw()
		case "error":
			c.Error = r.str()
		case "note":
			c.Note = r.str()
		case "env":
			c.Env = callvet.Env(r.word())
		case "guard":
			c.Guard = list(r, readRuling)
		case "start_ms":
			ms := r.number()
			c.StartMS = &ms
		case "queue_ms":
			c.QueueMS = r.number()
		case "exec_ms":
			c.ExecMS = r.number()
		default:
			r.skip()
		}
	}
}

func readRuling(r *reader, d *callvet.Ruling) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "rule":
			d.Rule = r.word()
		case "action":
			d.Action = callvet.RulingAction(r.word())
		case "detail":
			d.Detail = r.str()
		default:
			r.skip()
		}
	}
}

func readUsage(r *reader, u *callvet.Usage) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "input_tokens":
			u.InputTokens = r.integer()
		case "output_tokens":
			u.OutputTokens = r.integer()
		case "reasoning_tokens":
			u.ReasoningTokens = r.integer()
		case "cached_tokens":
			u.CachedTokens = r.integer()
		case "cache_write_tokens":
			u.CacheWriteTokens = r.integer()
		case "cost_usd":
			u.CostUSD = r.pointer()
		case "price_date":
			u.PriceDate = r.str()
		case "known":
			u.Known = r.truth()
		case "note":
			u.Note = r.str()
		default:
			r.skip()
		}
	}
}

func readFault(r *reader) *callvet.Fault {
	if !r.begin('{') {
		return nil
	}
	f := &callvet.Fault{}
	for r.more('}') {
		switch string(r.key()) {
		case "kind":
			f.Kind = callvet.FaultKind(r.str())
		case "http":
			f.HTTP = r.integer()
		case "message":
			f.Message = r.str()
		case "param":
			f.Param = r.str()
		case "retryable":
			f.Retryable = r.truth()
		default:
			r.skip()
		}
	}
	return f
}

func readExchange(r *reader, x *callvet.Exchange) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "request":
			x.Request = r.raw()
		case "response":
			x.Response = r.str()
		case "http":
			x.HTTP = r.integer()
		case "ms":
			x.MS = r.number()
		case "error":
			x.Error = r.str()
		default:
			r.skip()
		}
	}
}

func readResult(r *reader, res *callvet.Result) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "verdict":
			res.Verdict = callvet.Verdict(r.word())
		case "class":
			res.Class = callvet.ClassOf(r.word())
		case "reason":
			res.Reason = r.str()
		case "scores":
			res.Scores = list(r, readScore)
		case "plan":
			res.Plan = r.str()
		case "calls":
			res.Calls = list(r, readMatch)
		case "assertions":
			res.Assertions = list(r, readAssertion)
		case "not_evaluated", "skipped_assertions": // the latter is from earlier versions
			res.NotEvaluated = r.integer()
		case "incidents":
			res.Incidents = list(r, readIncident)
		case "rules":
			res.Rules = r.integer()
		case "names":
			res.Names = list(r, readCounted)
		default:
			r.skip()
		}
	}
}

func readCounted(r *reader, c *callvet.Counted) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "name":
			c.Name = r.word()
		case "as":
			c.As = r.word()
		default:
			r.skip()
		}
	}
}

func readIncident(r *reader, i *callvet.Incident) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "rule":
			i.Rule = r.word()
		case "call_id":
			i.CallID = r.str()
		case "note":
			i.Note = r.str()
		case "blocked":
			i.Blocked = r.truth()
		default:
			r.skip()
		}
	}
}

func readScore(r *reader, s *callvet.Score) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "name":
			s.Name = r.word()
		case "value":
			s.Value, s.Scored = r.float()
		case "reason":
			s.Reason = r.str()
		default:
			r.skip()
		}
	}
}

func readMatch(r *reader, m *callvet.CallMatch) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "state":
			m.State = callvet.MatchState(r.word())
		case "expected":
			m.Expected = r.integer()
		case "actual":
			m.Actual = r.integer()
		case "want":
			m.Want = list(r, readString)
		case "want_args":
			m.WantArgs = r.raw()
		case "got":
			m.Got = r.word()
		case "as":
			m.As = r.word()
		case "got_args":
			m.GotArgs = r.raw()
		case "args":
			m.Args = list(r, readDiff)
		case "violations":
			m.Violations = list(r, readViolation)
		case "note":
			m.Note = r.str()
		default:
			r.skip()
		}
	}
}

func readDiff(r *reader, d *callvet.ArgDiff) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "path":
			d.Path = r.str()
		case "expected":
			d.Expected = r.raw()
		case "actual":
			d.Actual = r.raw()
		case "matched":
			d.Matched = r.truth()
		case "rule":
			d.Rule = r.word()
		case "similarity":
			d.Similarity = r.pointer()
		case "note":
			d.Note = r.str()
		default:
			r.skip()
		}
	}
}

func readViolation(r *reader, v *callvet.Violation) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "path":
			v.Path = r.str()
		case "keyword":
			v.Keyword = r.word()
		case "expected":
			v.Expected = r.str()
		case "actual":
			v.Actual = r.str()
		case "message":
			v.Message = r.str()
		default:
			r.skip()
		}
	}
}

func readAssertion(r *reader, a *callvet.Assertion) {
	if !r.begin('{') {
		return
	}
	for r.more('}') {
		switch string(r.key()) {
		case "name":
			a.Name = r.word()
		case "layer":
			a.Layer = callvet.Layer(r.word())
		case "state":
			a.State = callvet.AssertionState(r.word())
		case "reason":
			a.Reason = r.str()
		case "passed": // from earlier versions, like the next
			a.State = callvet.Asserted(r.truth())
		case "skipped":
			a.State, a.Reason = callvet.AssertNotEvaluated, r.str()
		case "expected":
			a.Expected = r.str()
		case "actual":
			a.Actual = r.str()
		case "version":
			a.Version = r.word()
		default:
			r.skip()
		}
	}
}
