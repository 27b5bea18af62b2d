// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/value"
)

// DefaultMaxBytes bounds an answer when the settings do not.
const DefaultMaxBytes = 16 << 20

// HTTPConfig configures an agent over HTTP. In URL, header values and the strings of Body, Lookup
// returns the value of ${NAME}.
type HTTPConfig struct {
	URL     string
	Headers map[string]string
	// InputField is the path of the last user message (default "message"). Paths are names and list
	// indexes, such as input.messages.0.content; missing parts are created. The other fields are
	// sent only if set. SessionField is a unique id of the attempt, HistoryField all messages in
	// OpenAI's form, SystemField the system prompt. ToolsField is the tools, StubsField the case's
	// mock responses.
	InputField, SessionField, HistoryField, SystemField, ToolsField, StubsField string
	// Preset names a protocol: the form of the request, unless the fields above and Body set it,
	// and the form of the answer. "": the answer's form is detected.
	Preset string
	// SessionPrefix distinguishes the sessions of different runs.
	SessionPrefix string
	// Body is the template of the request.
	Body map[string]json.RawMessage
	// Output are the paths of text and calls in a JSON answer; the zero value finds them by their
	// usual names.
	Output message.Fields
	// Timeout bounds one attempt; 0: only the context does.
	Timeout time.Duration
	// MaxBytes bounds the answer; 0: DefaultMaxBytes.
	MaxBytes int64
	// Lookup returns the secrets; nil: there are none.
	Lookup func(name string) (string, bool)
	// Warn is called with a problem of an agent that is opened nevertheless; nil: no warnings.
	Warn func(what string)
	// Client sends the requests; nil: one that follows no redirects.
	Client *http.Client
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// OpenHTTP checks cfg and returns the model with its description (Agent set, no secret in it).
// The error wraps callvet.ErrInvalid, with a hint, or callvet.ErrDenied where a variable is not
// set.
func OpenHTTP(cfg HTTPConfig) (callvet.Model, callvet.Target, error) {
	h := &httpAgent{cfg: cfg}
	if err := h.prepare(); err != nil {
		return nil, callvet.Target{}, err
	}
	if len(h.secrets.values) > 0 && cfg.Warn != nil && redact.ExposedAddress(h.url) {
		cfg.Warn(redact.UnencryptedWarning(h.url))
	}
	shown := *h.url
	shown.User, shown.RawQuery, shown.Fragment = nil, "", ""
	u := h.secrets.hide(shown.String())
	return h, callvet.Target{Name: u, Provider: "agent:" + h.url.Host, BaseURL: u, Agent: true}, nil
}

type httpAgent struct {
	cfg     HTTPConfig
	url     *url.URL
	header  http.Header
	body    map[string]json.RawMessage // with the secrets filled in
	secrets *secrets
	preset  preset
}

func (h *httpAgent) prepare() error {
	c := &h.cfg
	h.secrets = &secrets{lookup: c.Lookup}
	var err error
	if h.preset, err = presetOf(c.Preset); err != nil {
		return err
	}
	h.preset.overrule(c)
	if c.MaxBytes <= 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Client == nil {
		c.Client = &http.Client{CheckRedirect: func(*http.Request,
			[]*http.Request,
		) error {
			return http.ErrUseLastResponse
		}}
	}
	full, err := h.secrets.expand(c.URL)
	if err != nil {
		return fmt.Errorf("open agent: %w", err)
	}
	h.url, err = url.Parse(full)
	if err != nil || h.url.Host == "" || h.url.Scheme != "http" && h.url.Scheme != "https" {
		return &callvet.Hinted{
			Err:  fmt.Errorf("open agent: %q is no http or https address: %w", c.URL, callvet.ErrInvalid),
			Hint: "write it like http://localhost:9000/chat",
		}
	}
	h.header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for k, v := range h.preset.headers {
		h.header.Set(k, v)
	}
	for k, v := range c.Headers {
		if v, err = h.secrets.expand(v); err != nil {
			return fmt.Errorf("open agent: header %s: %w", k, err)
		}
		h.header.Set(k, v)
	}
	h.secrets.learnURL(h.url)
	h.secrets.learnHeaders(h.header)
	h.body = map[string]json.RawMessage{}
	for k, v := range c.Body {
		if !json.Valid(v) {
			return fmt.Errorf("open agent: body field %q is not JSON: %w", k, callvet.ErrInvalid)
		}
		if h.body[k], err = h.secrets.expandJSON(v); err != nil {
			return fmt.Errorf("open agent: body field %q: %w", k, err)
		}
	}
	return h.tryPaths()
}

// tryPaths writes a request, to find paths that lead into a text or beyond a list.
func (h *httpAgent) tryPaths() error {
	tools := callvet.NewToolset(nil)
	req := &callvet.Request{
		System: "-", Tools: tools, Stubs: []callvet.Mock{{}},
		Turns: []callvet.Turn{{Role: callvet.RoleUser, Content: "-"}},
	}
	var f *callvet.Fault
	if _, _, err := h.request(req); errors.As(err, &f) {
		return fmt.Errorf("open agent: %s: %w", f.Message, callvet.ErrInvalid)
	}
	return nil
}

// Generate posts the request and reads the whole attempt.
func (h *httpAgent) Generate(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
	body, shown, err := h.request(req)
	if err != nil {
		return nil, err
	}
	if h.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.cfg.Timeout)
		defer cancel()
	}
	start := h.cfg.Now()
	x := callvet.Exchange{Request: shown}
	resp, err := h.exchange(ctx, req, body, start, &x)
	took := max(h.cfg.Now().Sub(start), 1)
	x.MS = float64(took) / float64(time.Millisecond)
	x.Response = h.secrets.hide(x.Response)
	if err != nil {
		f := h.fault(ctx, err)
		if f.HTTP == 0 && x.HTTP < 300 {
			f.HTTP = x.HTTP // the part that succeeded
		}
		x.Error = f.Message
		f.Exchanges = []callvet.Exchange{x}
		return nil, f
	}
	resp.Complete, resp.Wall = true, took
	resp.Exchanges = []callvet.Exchange{x}
	return resp, nil
}

// exchange sends the body and reads the answer; x gets the received bytes even if they are
// unreadable.
func (h *httpAgent) exchange(ctx context.Context, req *callvet.Request, body []byte, start time.Time,
	x *callvet.Exchange,
) (*callvet.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, &callvet.Fault{Kind: callvet.FaultRequest, Message: "make a request: " + err.Error()}
	}
	r.Header = h.header.Clone()
	res, err := h.cfg.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	x.HTTP = res.StatusCode
	var kept bytes.Buffer
	limited := &limit{r: io.TeeReader(res.Body, &kept), left: h.cfg.MaxBytes}
	defer func() { x.Response = strings.ToValidUTF8(kept.String(), "\uFFFD") }()
	opts := message.Options{Tools: req.Tools, Input: req.Turns, Fields: h.cfg.Output, Agent: true}
	if res.StatusCode >= 300 {
		return refused(res, limited, opts, start, h.cfg.Now)
	}
	typ, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch typ {
	case "text/event-stream":
		return Stream(limited, h.preset.protocol, opts, start, h.cfg.Now)
	case "application/x-ndjson", "application/jsonl", "application/jsonlines":
		return Lines(limited, h.preset.protocol, opts, start, h.cfg.Now)
	}
	all, err := io.ReadAll(limited)
	if err != nil {
		return nil, err
	}
	return whole(all, typ, opts)
}

// whole reads an answer that is one piece.
func whole(all []byte, typ string, opts message.Options) (*callvet.Response, error) {
	v, made, err := value.Read(bytes.TrimPrefix(all, []byte("\xef\xbb\xbf")))
	if err == nil {
		return decode(v, made, opts)
	}
	if typ == "text/plain" && len(bytes.TrimSpace(all)) > 0 {
		r := message.FromText(strings.ToValidUTF8(string(all), "\uFFFD"), opts.Tools)
		r.CallsUnknown = true
		return r, nil
	}
	return nil, unread(fmt.Sprintf("the answer (%s, %d bytes)", typ, len(all)), err)
}

// decode reads an answer; made are the repairs in its JSON.
func decode(v value.Value, made value.Repairs, opts message.Options) (*callvet.Response, error) {
	resp, err := message.Decode(v, opts)
	if err == nil {
		resp.Note(made.Note())
	}
	return resp, err
}

// unread is the fault of a text that cannot be read as JSON, or has more values than are read.
func unread(what string, err error) *callvet.Fault {
	if value.Over(err) {
		return &callvet.Fault{Kind: callvet.FaultTooLarge, Message: what + " is not read: " + value.Reason(err)}
	}
	return &callvet.Fault{Kind: callvet.FaultMalformed, Message: what + " is not JSON: " + err.Error()}
}

// refused reads an answer of status 300 and more: a pause for approval, or a fault.
func refused(res *http.Response, body io.Reader, opts message.Options, start time.Time,
	now func() time.Time,
) (*callvet.Response, error) {
	all, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	v, _, perr := value.Read(all)
	if res.StatusCode == http.StatusConflict && perr == nil {
		if resp, ok := paused(v, opts); ok {
			return resp, nil
		}
	}
	f := &callvet.Fault{Kind: callvet.FaultOfStatus(res.StatusCode), HTTP: res.StatusCode, Message: reason(v, all)}
	f.Retryable = f.Kind == callvet.FaultRateLimit || f.Kind == callvet.FaultServer || f.Kind == callvet.FaultTimeout
	f.RetryAfter = retryAfter(res.Header.Get("Retry-After"), now())
	return nil, f
}

// paused reads the body of a pause; ok is false if it has no call and no approval, so that any
// other conflict stays a fault.
func paused(v value.Value, opts message.Options) (*callvet.Response, bool) {
	call, found := message.FindCall(v, opts)
	if !found && !bytes.Contains(bytes.ToLower(v.Raw()), []byte("hitl")) && !bytes.Contains(v.Raw(), []byte("resume")) {
		return nil, false
	}
	t := callvet.Turn{Role: callvet.RoleAssistant, Content: message.TextOf(v)}
	if found {
		t.Calls = []callvet.Call{call}
	}
	return &callvet.Response{Turns: []callvet.Turn{t}, Complete: true, FinishReason: callvet.FinishHITL}, true
}

// reason is the message of an error body, shortened.
func reason(v value.Value, all []byte) string {
	for _, path := range []string{"error.message", "message", "error", "detail", "title"} {
		if m, ok := message.At(v, path); ok && m.Kind() == value.String && m.Str() != "" {
			return clip(m.Str())
		}
	}
	if s := clip(strings.TrimSpace(string(all))); s != "" {
		return s
	}
	return "the agent gave no reason"
}

func clip(s string) string {
	const most = 500
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > most {
		s = redact.CutText(s, most) + "…"
	}
	return s
}

// retryAfter reads seconds or a date; 0 when there is none, never more than a day.
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.ParseFloat(s, 64); err == nil && n > 0 {
		return time.Duration(min(n, 86400) * float64(time.Second))
	}
	if t, err := http.ParseTime(s); err == nil && t.After(now) {
		return min(t.Sub(now), 24*time.Hour)
	}
	return 0
}

// fault makes any error a *callvet.Fault without secrets in it.
func (h *httpAgent) fault(ctx context.Context, err error) *callvet.Fault {
	f := FaultOf(ctx, err)
	f.Message = h.secrets.hide(f.Message)
	return f
}

// FaultOf classifies an error: the context's end, a limit, or the network.
func FaultOf(ctx context.Context, err error) *callvet.Fault {
	var f *callvet.Fault
	var ne interface{ Timeout() bool }
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return &callvet.Fault{Kind: callvet.FaultTimeout, Message: "the agent did not answer in time", Retryable: true}
	case ctx.Err() != nil:
		return &callvet.Fault{Kind: callvet.FaultCanceled, Message: "interrupted"}
	case errors.Is(err, errTooLarge):
		return &callvet.Fault{Kind: callvet.FaultTooLarge, Message: err.Error()}
	}
	var ue *url.Error
	if errors.As(err, &ue) { // its text contains the whole address
		err = ue.Err
	}
	if errors.Is(err, callvet.ErrDenied) { // the address is not allowed; a retry does not help
		return &callvet.Fault{Kind: callvet.FaultAuth, Message: err.Error()}
	}
	return &callvet.Fault{Kind: callvet.FaultNetwork, Message: err.Error(), Retryable: true}
}

var errTooLarge = errors.New("the answer is larger than the limit")

// limit fails instead of cutting an answer silently.
type limit struct {
	r    io.Reader
	left int64
}

// Read implements io.Reader.
func (l *limit) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
