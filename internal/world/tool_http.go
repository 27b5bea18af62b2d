// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/value"
)

// maxErrorBody bounds the part of an error's body in a message.
const maxErrorBody = 2 << 10

// maxToolRedirects bounds how often a host may redirect a request to itself.
const maxToolRedirects = 5

// request is a tool over HTTP, ready to be sent.
type request struct {
	method  string
	host    string // with the scheme
	path    value.Template
	query   url.Values // of the address itself
	named   map[string]value.Template
	all     bool // the arguments that the path does not name are in the query
	headers map[string]string
	body    json.RawMessage
	client  *http.Client
	now     func() time.Time
}

// newRequest fills in a tool's variables from the environment.
func newRequest(h *HTTPTool, client *http.Client, variable func(string) (string, error),
	now func() time.Time,
) (*request, error) {
	host, path, query := cutAddress(h.URL)
	r := &request{
		method: h.method(), host: host, headers: map[string]string{}, body: h.Body,
		client: staying(client), now: now,
	}
	var err error
	if r.path, err = value.ParseTemplate(path); err != nil {
		return nil, err
	}
	filled, err := redact.FillAddress("http://x/?"+query, variable)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(filled)
	if err != nil {
		// without the text, which may contain secrets
		return nil, fmt.Errorf("the query of the address cannot be read: %w", callvet.ErrInvalid)
	}
	r.query = u.Query()
	for _, name := range slices.Sorted(maps.Keys(h.Headers)) {
		if r.headers[name], err = redact.FillVariables(h.Headers[name], variable); err != nil {
			return nil, fmt.Errorf("header %s: %w", name, err)
		}
	}
	if r.all = h.Query == nil && !sends(r.method); r.all {
		return r, nil
	}
	r.named = map[string]value.Template{}
	for name, text := range h.Query {
		if r.named[name], err = value.ParseTemplate(text); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// staying is a client that follows a redirect only on the same host, and only for a request that
// reads. A header may contain a secret, and a call that writes is made once.
func staying(c *http.Client) *http.Client {
	out, before := *c, c.CheckRedirect
	out.Jar = nil
	out.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch from := via[0]; {
		case from.Method != http.MethodGet && from.Method != http.MethodHead,
			req.URL.Host != from.URL.Host || req.URL.Scheme != from.URL.Scheme, len(via) > maxToolRedirects:
			return http.ErrUseLastResponse
		case before != nil:
			return before(req, via)
		}
		return nil
	}
	return &out
}

// where is the address for traces: without query, and with placeholders unchanged.
func (h *HTTPTool) where() string {
	host, path, _ := cutAddress(h.URL)
	return host + strings.ReplaceAll(path, " ", "")
}

// errArgument: a call's arguments make no valid request.
var errArgument = errors.New("the arguments make no request")

// make makes the request of a call.
func (r *request) make(ctx context.Context, raw json.RawMessage) (*http.Request, error) {
	if len(raw) == 0 {
		raw = json.RawMessage(`{}`)
	}
	args, err := value.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errArgument, err)
	}
	of := func(name string) json.RawMessage {
		return value.AtPath(args, strings.TrimPrefix(name, value.TemplateArgs)).Raw()
	}
	var bad error
	path := r.path.Fill(func(name string) string {
		s := value.TextOf(of(name))
		if s == "" || s == "." || s == ".." || strings.ContainsAny(s, "/\\") {
			bad = fmt.Errorf("%w: %s cannot stand in a path: %q", errArgument,
				strings.TrimPrefix(name, value.TemplateArgs), s)
		}
		return url.PathEscape(s)
	})
	if bad != nil {
		return nil, bad
	}
	address := r.host + path
	if q := r.parameters(args, of); len(q) > 0 {
		address += "?" + q.Encode()
	}
	var body io.Reader
	if sends(r.method) {
		if r.body != nil {
			if raw, err = value.FillJSON(r.body, of); err != nil {
				return nil, fmt.Errorf("%w: %w", errArgument, err)
			}
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, fmt.Errorf("%w: the address cannot be read", errArgument)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json, text/*;q=0.5, */*;q=0.1")
	for name, text := range r.headers {
		req.Header.Set(name, text)
	}
	return req, nil
}

// parameters are the parameters of the query.
func (r *request) parameters(args value.Value, of func(string) json.RawMessage) url.Values {
	q := maps.Clone(r.query)
	if q == nil {
		q = url.Values{}
	}
	for name, text := range r.named {
		if only, ok := text.Only(); ok {
			addParameter(q, name, of(only))
		} else {
			q.Add(name, text.Fill(func(n string) string { return value.TextOf(of(n)) }))
		}
	}
	if !r.all || args.Kind() != value.Object {
		return q
	}
	inPath := map[string]bool{}
	for _, name := range r.path.Names() {
		top, _, _ := strings.Cut(strings.TrimPrefix(name, value.TemplateArgs), ".")
		top, _, _ = strings.Cut(top, "[")
		inPath[top] = true
	}
	for e, ok := args.First(); ok; e, ok = args.Next(e) {
		if !inPath[e.Key()] {
			addParameter(q, e.Key(), e.Raw())
		}
	}
	return q
}

// addParameter adds a value: a list as several, null and absence as none.
func addParameter(q url.Values, name string, raw json.RawMessage) {
	var list []json.RawMessage
	switch {
	case len(raw) == 0 || string(raw) == "null":
	case raw[0] == '[' && json.Unmarshal(raw, &list) == nil:
		for _, one := range list {
			q.Add(name, value.TextOf(one))
		}
	default:
		q.Add(name, value.TextOf(raw))
	}
}

// send sends a call. limited ends with the call's time.
func (r *request) send(limited context.Context, args json.RawMessage, most int64) (callvet.Reply, error) {
	req, err := r.make(limited, args)
	if err != nil {
		return callvet.Reply{Status: callvet.StatusExecErr, Error: err.Error(), Note: "no request was sent"}, nil
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return callvet.Reply{}, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	_ = resp.Body.Close() // the body was read
	switch {
	case err != nil:
		return callvet.Reply{}, err
	case resp.StatusCode >= http.StatusMultipleChoices:
		return callvet.Reply{Status: callvet.StatusExecErr, Error: refusal(resp, body, r.now())}, nil
	case int64(len(body)) > most:
		return callvet.Reply{}, &callvet.Fault{
			Kind:    callvet.FaultTooLarge,
			Message: fmt.Sprintf("the answer has more than %d bytes", most),
		}
	}
	result, err := answered(resp.Header.Get("Content-Type"), body)
	if err != nil {
		return callvet.Reply{}, &callvet.Fault{Kind: callvet.FaultMalformed, Message: err.Error()}
	}
	return callvet.Reply{Status: callvet.StatusOK, Result: result}, nil
}

// refusal describes a server's error answer.
func refusal(resp *http.Response, body []byte, now time.Time) string {
	out := fmt.Sprintf("HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	if resp.StatusCode < http.StatusBadRequest {
		to := "elsewhere"
		if u, err := resp.Location(); err == nil {
			to = "to " + u.Scheme + "://" + u.Host
		}
		return out + ": it leads " + to + ", and is not followed"
	}
	if after := retryAfter(resp.Header, now); after != "" {
		out += "; retry after " + redact.CutText(strings.ToValidUTF8(after, ""), 40)
	}
	text := strings.TrimSpace(redact.CutText(strings.ToValidUTF8(string(body), "\uFFFD"), maxErrorBody))
	if text != "" {
		out += ": " + text
	}
	return out
}

// retryAfter is the server's retry time: a date becomes the seconds until it, by the server's clock
// if the answer has its date; anything else is unchanged.
func retryAfter(h http.Header, now time.Time) string {
	text := h.Get("Retry-After")
	at, err := http.ParseTime(text)
	if err != nil {
		return text
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return strconv.Itoa(int(math.Ceil(max(at.Sub(now), 0).Seconds())))
}

// answered makes a result from a body: JSON unchanged, any other text as a string.
func answered(kind string, body []byte) (json.RawMessage, error) {
	kind, _, _ = mime.ParseMediaType(kind) // "" where it cannot be read
	isJSON := kind == "application/json" || strings.HasSuffix(kind, "+json")
	trimmed := bytes.TrimSpace(body)
	switch {
	case len(trimmed) == 0:
		return json.RawMessage("null"), nil
	case isJSON || kind == "" && value.Valid(trimmed):
		if _, err := value.Parse(trimmed); err != nil {
			return nil, fmt.Errorf("the answer is no JSON: %s", value.Reason(err))
		}
		var b bytes.Buffer
		if json.Compact(&b, trimmed) != nil {
			return trimmed, nil
		}
		return b.Bytes(), nil
	case !utf8.Valid(body):
		return nil, fmt.Errorf("the answer is no text, but %q", kind)
	}
	return value.Quote(string(body)), nil
}

// unsent is the reason of an error of a client, without the address, because its query may
// contain secrets.
func unsent(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
