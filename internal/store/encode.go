// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/callvet/callvet"
)

// keyRedacted is the member of a stored trace that has Cell.Redacted.
const keyRedacted = "redacted"

// appendTrace writes the JSON form of t without its exchanges. It writes the same document as
// encoding/json (a test compares both) at a fifth of the cost, once per cell.
func appendTrace(b []byte, t *callvet.Trace) []byte {
	b = append(b, `{"case_id":`...)
	b = appendString(b, t.CaseID)
	b = append(b, `,"target":`...)
	b = appendString(b, t.Target)
	b = append(b, `,"repeat":`...)
	b = strconv.AppendInt(b, int64(t.Repeat), 10)
	b = append(b, `,"outcome":`...)
	b = appendString(b, string(t.Outcome))
	b = appendList(b, "turns", t.Turns, appendTurn)
	b = optString(b, "answer", t.Answer)
	if t.Usage != (callvet.Usage{}) {
		b = appendUsage(append(b, `,"usage":`...), &t.Usage)
	}
	b = optString(b, "model", t.Model)
	b = optString(b, "finish_reason", t.FinishReason)
	b = optString(b, "reason", string(t.Reason))
	b = optString(b, "format", string(t.Format))
	b = appendList(b, "repairs", t.Repairs, appendStringRef)
	b = appendList(b, "notes", t.Notes, appendStringRef)
	b = optString(b, "tool_choice", t.ToolChoice)
	b = appendList(b, "omitted", t.Omitted, appendStringRef)
	b = optString(b, "end", string(t.End))
	if t.Fault != nil {
		b = appendFault(append(b, `,"fault":`...), t.Fault)
	}
	b = optInt(b, "attempts", t.Attempts)
	if !t.Started.IsZero() {
		b = append(b, `,"started":"`...)
		b = t.Started.AppendFormat(b, time.RFC3339Nano)
		b = append(b, '"')
	}
	b = optFloat(b, "wall_ms", t.WallMS)
	b = optFloat(b, "first_token_ms", t.FirstTokenMS)
	b = optFloat(b, "tool_ms", t.ToolMS)
	b = optTrue(b, "cached", t.Cached)
	if t.Decision != nil {
		b = appendDecision(append(b, `,"decision":`...), t.Decision)
	}
	return append(b, '}')
}

func appendTurn(b []byte, t *callvet.Turn) []byte {
	b = append(b, `{"role":`...)
	b = appendString(b, string(t.Role))
	b = optString(b, "content", t.Content)
	b = optString(b, "reasoning", t.Reasoning)
	b = appendList(b, "calls", t.Calls, appendCall)
	b = optString(b, "call_id", t.CallID)
	b = optString(b, "tool", t.Tool)
	b = optParsed(b, "raw", t.Raw, t.Parsed)
	return append(b, '}')
}

func appendCall(b []byte, c *callvet.Call) []byte {
	b = append(b, `{"tool":`...)
	b = appendString(b, c.Tool)
	b = optString(b, "id", c.ID)
	b = optString(b, "version", c.Version)
	b = optParsed(b, "args", c.Args, c.Parsed)
	b = optString(b, "args_raw", c.ArgsRaw)
	b = appendList(b, "repairs", c.Repairs, appendStringRef)
	b = optString(b, "status", string(c.Status))
	b = optRaw(b, "result", c.Result)
	b = optString(b, "error", c.Error)
	b = optString(b, "note", c.Note)
	b = optString(b, "env", string(c.Env))
	b = appendList(b, "guard", c.Guard, appendRuling)
	if c.StartMS != nil {
		b = appendFloat(appendKey(b, "start_ms"), *c.StartMS)
	}
	b = optFloat(b, "queue_ms", c.QueueMS)
	b = optFloat(b, "exec_ms", c.ExecMS)
	return append(b, '}')
}

func appendRuling(b []byte, r *callvet.Ruling) []byte {
	b = append(b, `{"rule":`...)
	b = appendString(b, r.Rule)
	b = optString(b, "action", string(r.Action))
	b = optString(b, "detail", r.Detail)
	return append(b, '}')
}

func appendUsage(b []byte, u *callvet.Usage) []byte {
	b = append(b, `{"input_tokens":`...)
	b = strconv.AppendInt(b, int64(u.InputTokens), 10)
	b = optInt(b, "output_tokens", u.OutputTokens)
	b = optInt(b, "reasoning_tokens", u.ReasoningTokens)
	b = optInt(b, "cached_tokens", u.CachedTokens)
	b = optInt(b, "cache_write_tokens", u.CacheWriteTokens)
	if u.CostUSD != nil {
		b = append(b, `,"cost_usd":`...)
		b = appendFloat(b, *u.CostUSD)
	}
	b = optString(b, "price_date", u.PriceDate)
	b = optTrue(b, "known", u.Known)
	b = optString(b, "note", u.Note)
	return append(b, '}')
}

func appendFault(b []byte, f *callvet.Fault) []byte {
	b = append(b, `{"kind":`...)
	b = appendString(b, string(f.Kind))
	b = optInt(b, "http", f.HTTP)
	b = append(b, `,"message":`...)
	b = appendString(b, f.Message)
	b = optString(b, "param", f.Param)
	b = optTrue(b, "retryable", f.Retryable)
	return append(b, '}')
}

func appendExchanges(b []byte, xs []callvet.Exchange) []byte {
	b = append(b, '[')
	for i := range xs {
		if i > 0 {
			b = append(b, ',')
		}
		x := &xs[i]
		b = append(b, `{"ms":`...)
		b = appendFloat(b, x.MS)
		b = optInt(b, "http", x.HTTP)
		b = optString(b, "error", x.Error)
		b = optRaw(b, "request", x.Request)
		b = optString(b, "response", x.Response)
		b = append(b, '}')
	}
	return append(b, ']')
}

// appendList writes ,"key":[…] unless the list is empty.
func appendList[T any](b []byte, key string, list []T, one func([]byte, *T) []byte) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(appendKey(b, key), '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, &list[i])
	}
	return append(b, ']')
}

func appendStringRef(b []byte, s *string) []byte { return appendString(b, *s) }

// appendKey writes ,"key": for a key that is a plain ASCII name.
func appendKey(b []byte, key string) []byte {
	b = append(b, ',', '"')
	b = append(b, key...)
	return append(b, '"', ':')
}

func optString(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	return appendString(appendKey(b, key), s)
}

func optInt(b []byte, key string, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(appendKey(b, key), int64(n), 10)
}

func optFloat(b []byte, key string, f float64) []byte {
	if f == 0 {
		return b
	}
	return appendFloat(appendKey(b, key), f)
}

func optTrue(b []byte, key string, v bool) []byte {
	if !v {
		return b
	}
	return append(appendKey(b, key), "true"...)
}

// optParsed is optRaw for raw; kept may be its parsed value.
func optParsed(b []byte, key string, raw json.RawMessage, kept callvet.Parsed) []byte {
	if kept.IsOf(raw) {
		return append(appendKey(b, key), raw...)
	}
	return optRaw(b, key, raw)
}

// optRaw writes a JSON value unchanged. A value that is not JSON would make the whole record
// unreadable, so it is written as a string.
func optRaw(b []byte, key string, raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return b
	}
	b = appendKey(b, key)
	if !json.Valid(raw) {
		return appendString(b, string(raw))
	}
	return append(b, raw...)
}

// appendFloat writes f; NaN and infinities become null.
func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string; invalid UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			if r, n := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			b = append(append(b, s[start:i]...), "\ufffd"...)
		} else {
			b = appendEscape(append(b, s[start:i]...), c)
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\t':
		return append(b, '\\', 't')
	case '\r':
		return append(b, '\\', 'r')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
