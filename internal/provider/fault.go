// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/value"
)

// statusOverloaded is Anthropic's status when it is overloaded.
const statusOverloaded = 529

// faultOf maps a status to a fault without a message.
func faultOf(status int) *callvet.Fault {
	f := &callvet.Fault{Kind: callvet.FaultRequest, HTTP: status}
	switch {
	case status == http.StatusTooManyRequests:
		f.Kind, f.Retryable = callvet.FaultRateLimit, true
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.Kind = callvet.FaultAuth
	case status == http.StatusRequestTimeout:
		f.Kind, f.Retryable = callvet.FaultTimeout, true
	case status == http.StatusConflict:
		f.Retryable = true
	case status >= 500:
		f.Kind, f.Retryable = callvet.FaultServer, true
	}
	return f
}

func malformed(status int, msg string) *callvet.Fault {
	return &callvet.Fault{Kind: callvet.FaultMalformed, HTTP: status, Message: msg, Retryable: true}
}

// lost explains a request without a complete answer.
func (m *model) lost(outer, ctx context.Context, err error) *callvet.Fault {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err // without the URL, which adds nothing
	}
	var ne net.Error
	switch {
	case errors.Is(outer.Err(), context.Canceled):
		return &callvet.Fault{Kind: callvet.FaultCanceled, Message: "canceled"}
	case ctx.Err() != nil:
		return &callvet.Fault{Kind: callvet.FaultTimeout, Message: "no answer before the deadline", Retryable: true}
	case errors.As(err, &ne) && ne.Timeout():
		return &callvet.Fault{Kind: callvet.FaultTimeout, Message: err.Error(), Retryable: true}
	case errors.Is(err, callvet.ErrDenied): // the address is not allowed; a retry does not help
		return &callvet.Fault{Kind: callvet.FaultAuth, Message: err.Error()}
	}
	return &callvet.Fault{Kind: callvet.FaultNetwork, Message: err.Error(), Retryable: true}
}

// statusFault explains an answer with a status other than 200.
func statusFault(res *http.Response, body []byte, now time.Time) *callvet.Fault {
	f := faultOf(res.StatusCode)
	root, err := value.Parse(body)
	if err == nil {
		f.Message, f.Param = problem(root)
	}
	if f.Message == "" {
		f.Message = excerpt(string(body), maxExcerpt)
	}
	if f.Message == "" {
		f.Message = cmp.Or(http.StatusText(res.StatusCode), "unexpected status")
	}
	if to := res.Header.Get("Location"); to != "" && res.StatusCode < 400 {
		f.Message = "redirected to " + to + ": set that as the base URL"
	}
	if f.Retryable {
		f.RetryAfter = retryAfter(res.Header, root, now)
	}
	if quotaGone(root) {
		f.Retryable = false
	}
	return f
}

// refusedCall is a model's call that its provider rejected because it fits no tool: Groq then
// answers with status 400. "" for any other answer.
func refusedCall(root value.Value) string {
	e := at(root, "error")
	if at(e, "code").Str() != finishRefused {
		return ""
	}
	return at(e, "failed_generation").Str()
}

const finishRefused = "tool_use_failed"

// refuse fills a response with a call that the provider rejected: it is the model's mistake, an
// unreadable call.
func refuse(resp *callvet.Response, call string) {
	resp.Turns = []callvet.Turn{{Role: callvet.RoleAssistant, Content: call}}
	resp.FinishReason, resp.Unreadable = finishRefused, true
	resp.Usage = chatUsage(value.Value{})
}

// quotaGone reports whether a rate-limit error means an exhausted account.
func quotaGone(root value.Value) bool {
	e := at(root, "error")
	return at(e, "code").Str() == "insufficient_quota" || at(e, "type").Str() == "insufficient_quota"
}

// problem finds the message and the parameter in the error bodies of providers and local servers.
// Both are empty if absent.
func problem(root value.Value) (msg, param string) {
	if root.Kind() == value.Array {
		root, _ = root.First()
	}
	e := root
	if inner, ok := root.Get("error"); ok {
		e = inner
	}
	if e.Kind() == value.String {
		return excerpt(e.Str(), maxExcerpt), ""
	}
	msg, param = at(e, "message").Str(), at(e, "param").Str()
	if detail := at(root, "detail"); msg == "" {
		msg = detail.Str()
		if first, ok := detail.First(); ok && detail.Kind() == value.Array {
			msg = at(first, "msg").Str()
			loc := at(first, "loc")
			for p, more := loc.First(); more; p, more = loc.Next(p) {
				param = strings.TrimPrefix(param+"."+p.Str(), ".")
			}
			msg = strings.TrimSpace(msg + " at " + param)
		}
	}
	if kind := at(e, "type").Str(); kind != "" && msg != "" {
		msg = kind + ": " + msg
	}
	return excerpt(msg, maxExcerpt), param
}

// maxExcerpt bounds a provider's message in an error, in bytes.
const maxExcerpt = 500

// excerpt is the beginning of a text on one line, of at most most bytes.
func excerpt(s string, most int) string {
	if len(s) > 4*most {
		s = redact.CutText(s, 4*most)
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) <= most {
		return s
	}
	return strings.TrimRight(redact.CutText(s, most), " ") + "…"
}

// retryAfter is the provider's retry delay; 0 without one.
func retryAfter(h http.Header, body value.Value, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("retry-after-ms"), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	if d := moment(h.Get("retry-after"), now); d > 0 {
		return d
	}
	details := at(body, "error", "details")
	for e, ok := details.First(); ok; e, ok = details.Next(e) {
		if d, err := time.ParseDuration(at(e, "retryDelay").Str()); err == nil && d > 0 {
			return d
		}
	}
	return resetAfter(h, now)
}

// resetAfter reads the headers with the reset time of an exhausted limit. If no limit is marked as
// exhausted, the nearest reset counts.
func resetAfter(h http.Header, now time.Time) time.Duration {
	var used, nearest time.Duration
	for _, n := range [...][2]string{
		{"x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"},
		{"x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"},
		{"anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"},
		{"anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"},
		{"x-ratelimit-remaining", "x-ratelimit-reset"},
	} {
		d := moment(h.Get(n[1]), now)
		if d <= 0 {
			continue
		}
		if nearest == 0 || d < nearest {
			nearest = d
		}
		if h.Get(n[0]) == "0" {
			used = max(used, d)
		}
	}
	if used > 0 {
		return used
	}
	return nearest
}

// moment reads a wait: seconds, a duration such as 6m0s, an HTTP date, an RFC
// 3339 time, or a Unix time in seconds or milliseconds.
func moment(s string, now time.Time) time.Duration {
	if s == "" {
		return 0
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		switch {
		case f > 1e12:
			return time.UnixMilli(int64(min(f, 1e15))).Sub(now)
		case f > 1e9:
			return time.Unix(int64(f), 0).Sub(now)
		}
		return seconds(f)
	}
	if d, err := time.ParseDuration(s); err == nil {
		return d
	}
	if t, err := http.ParseTime(s); err == nil {
		return t.Sub(now)
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.Sub(now)
	}
	return 0
}

// seconds is s as a duration, at least 0; NaN is 0.
func seconds(s float64) time.Duration {
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, 1e9) * float64(time.Second))
}
