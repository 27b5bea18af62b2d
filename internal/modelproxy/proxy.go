// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package modelproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/callvet/callvet"
)

// Mode defines which requests are sent to a model.
type Mode string

// The modes.
const (
	// Replay sends no request: the client gets an error for a request without a recording.
	Replay Mode = "replay"
	// Record passes on requests without a recording, and adds their answers.
	Record Mode = "record"
	// Fresh sends every request, and overwrites the recordings.
	Fresh Mode = "fresh"
)

// Limits of requests and answers.
const (
	maxRequest = 32 << 20
	maxAnswer  = 64 << 20
)

// Config of a Proxy.
type Config struct {
	Mode   Mode
	Folder string
	// OpenAI and Anthropic are the upstream addresses: the part before /chat/completions, and
	// before /v1/messages. They are not needed for Replay.
	OpenAI, Anthropic *url.URL
	// HTTP sends requests. It follows no redirect; nil refuses to send.
	HTTP http.RoundTripper
	// Ignore are keys of a body that do not identify a request, such as "user".
	Ignore []string
	// Hide masks secrets in recordings; nil: no masking.
	Hide func(string) string
	// HidePath masks secrets in the path and query of a request, which recordings, their keys and
	// reports contain; nil: no masking. The request itself is sent unchanged.
	HidePath func(*url.URL) string
	// OnAnswer is called after each answered request, by one goroutine at a time; nil: not called.
	OnAnswer func(Answered)
}

// Answered is the outcome of a request.
type Answered struct {
	What   What   `json:"what"`
	Method string `json:"method"`
	Path   string `json:"path"`
	Status int    `json:"status,omitempty"`
	// File is the recording; "" if there is none.
	File string `json:"file,omitempty"`
	// Text is the reason for a person, if any.
	Text string `json:"text,omitempty"`
}

// What is the outcome of a request.
type What string

// The outcomes of requests.
const (
	Replayed What = "replayed"
	Recorded What = "recorded"
	// Passed was answered by the model and not recorded, because a repetition may succeed: rate
	// limits, failures, refused keys.
	Passed  What = "passed"
	Missing What = "missing" // no recording has it
	Failed  What = "failed"  // the model's answer was incomplete, or could not be written
	Refused What = "refused" // a request that the proxy does not accept
)

// Counts is how many requests there were.
type Counts struct {
	Replayed int `json:"replayed"`
	Recorded int `json:"recorded"`
	Passed   int `json:"passed"`
	Missing  int `json:"missing"`
	Failed   int `json:"failed"`
	Refused  int `json:"refused"`
	// Unused is the number of recordings that no request used.
	Unused int `json:"unused"`
	// Recordings is how many distinct requests the folder has.
	Recordings int `json:"recordings"`
}

// Proxy is an http.Handler; it is safe for concurrent use.
type Proxy struct {
	cfg Config
	mu  sync.Mutex // of all, written and counts, and while a file is written
	all map[string]*recording
	// written are the keys that Fresh has overwritten.
	written map[string]bool
	counts  Counts
}

// New reads the recordings. The error of Replay of a folder without recordings wraps
// callvet.ErrNotFound; errors about a file name it.
func New(cfg Config) (*Proxy, error) {
	all, err := load(cfg.Folder)
	if err != nil {
		return nil, err
	}
	if cfg.Mode == Replay && len(all) == 0 {
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("read recordings: %s has none: %w", cfg.Folder, callvet.ErrNotFound),
			Hint: "record them first: callvet proxy model --record " + cfg.Folder,
		}
	}
	return &Proxy{cfg: cfg, all: all, written: map[string]bool{}}, nil
}

// Counts are the counts so far.
func (p *Proxy) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counts
	c.Recordings = len(p.all)
	for _, r := range p.all {
		if r.given == 0 {
			c.Unused++
		}
	}
	return c
}

// dialect is the provider, with its form of errors.
type dialect int

const (
	openAI dialect = iota
	anthropic
)

// ServeHTTP answers one request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := openAI
	if r.URL.Path == "/v1/messages" || strings.HasPrefix(r.URL.Path, "/v1/messages/") {
		d = anthropic
	}
	x := &exchange{p: p, w: w, r: r, d: d}
	if status, why := refuse(r); why != "" {
		x.refuse(status, why)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		x.refuse(http.StatusRequestEntityTooLarge, fmt.Sprintf("the request has more than %d MiB", maxRequest>>20))
		return
	}
	if err != nil {
		x.refuse(http.StatusBadRequest, "the request broke off")
		return
	}
	x.q = request{Method: r.Method, Path: p.path(r.URL), Body: body}
	for _, name := range answerHeaders {
		if v := strings.Join(r.Header.Values(name), ","); v != "" {
			if x.q.Headers == nil {
				x.q.Headers = map[string]string{}
			}
			x.q.Headers[name] = v
		}
	}
	if x.key, err = x.q.key(p.cfg.Ignore); err != nil {
		x.refuse(http.StatusBadRequest, "the body is no JSON: "+err.Error())
		return
	}
	x.answer(r.Context())
}

// refuse is the reason to refuse a request. A page in a browser can make its own host name resolve
// to this machine, so that only requests to an address or to localhost are accepted.
func refuse(r *http.Request) (status int, why string) {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err != nil && host != "localhost" {
		return http.StatusForbidden, "the host " + host + " is not the proxy's: ask it by its address"
	}
	switch {
	case r.Header.Get("Origin") != "":
		return http.StatusForbidden, "requests of web pages are not taken"
	case !strings.HasPrefix(r.URL.Path, "/v1/"):
		return http.StatusNotFound,
			"the proxy answers below /v1 only: OPENAI_BASE_URL=http://HOST/v1, ANTHROPIC_BASE_URL=http://HOST"
	case slices.Contains(strings.Split(r.URL.Path, "/"), ".."):
		return http.StatusBadRequest, "the path leads upwards"
	case r.Method != http.MethodPost && r.Method != http.MethodGet:
		return http.StatusMethodNotAllowed, "the proxy takes GET and POST"
	case r.Header.Get("Content-Encoding") != "":
		return http.StatusUnsupportedMediaType, "a compressed body is not taken"
	}
	return 0, ""
}

// exchange is one request in progress.
type exchange struct {
	p   *Proxy
	w   http.ResponseWriter
	r   *http.Request
	d   dialect
	q   request
	key string
}

// answer replays a recording, or sends the request to the model.
func (x *exchange) answer(ctx context.Context) {
	p := x.p
	p.mu.Lock()
	rec, given := p.all[x.key], (*answer)(nil)
	switch {
	case rec == nil || p.cfg.Mode == Fresh:
	case p.cfg.Mode == Replay || rec.given < len(rec.Answers):
		given = rec.Answers[rec.given%len(rec.Answers)]
		rec.given++
	}
	var differing []string
	if given == nil && p.cfg.Mode == Replay {
		var near *recording
		if near, differing = nearest(p.all, &x.q, p.cfg.Ignore); near != nil {
			differing = append([]string{"the nearest is " + near.name}, differing...)
		}
	}
	p.mu.Unlock()
	switch {
	case given != nil:
		x.give(given, rec.name)
	case p.cfg.Mode == Replay:
		x.miss(differing)
	default:
		x.ask(ctx)
	}
}

// give sends a recorded answer.
func (x *exchange) give(a *answer, name string) {
	if a.Type != "" {
		x.w.Header().Set("Content-Type", a.Type)
	}
	x.w.WriteHeader(a.Status)
	_, _ = x.w.Write(a.text()) // the client may be gone
	x.p.count(Answered{What: Replayed, Method: x.q.Method, Path: x.q.Path, Status: a.Status, File: name})
}

// miss reports that there is no recording. Clients do not retry after 404.
func (x *exchange) miss(differing []string) {
	const most = 4
	text := "no recording has this request"
	if len(differing) > most {
		differing = append(differing[:most:most], fmt.Sprintf("and %d more differences", len(differing)-most))
	}
	if len(differing) > 0 {
		text += "; " + strings.Join(differing, "; ")
	}
	text = x.p.hide(text)
	x.fail(http.StatusNotFound, text)
	x.p.count(Answered{What: Missing, Method: x.q.Method, Path: x.q.Path, Status: http.StatusNotFound, Text: text})
}

func (x *exchange) refuse(status int, why string) {
	x.fail(status, why)
	x.p.count(Answered{What: Refused, Method: x.r.Method, Path: x.p.path(x.r.URL), Status: status, Text: why})
}

// fail sends an error in the form of the provider, so that its clients show the text.
func (x *exchange) fail(status int, text string) {
	text = "callvet proxy model: " + text
	var body any = map[string]any{"error": map[string]any{
		"message": text, "type": "callvet_proxy", "code": nil,
		"param": nil,
	}}
	if x.d == anthropic {
		body = map[string]any{"type": "error", "error": map[string]any{"type": "callvet_proxy", "message": text}}
	}
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(status)
	_ = json.NewEncoder(x.w).Encode(body)
}

// ask forwards the request and records the answer.
func (x *exchange) ask(ctx context.Context) {
	resp, err := x.send(ctx)
	if err != nil {
		x.broken(err)
		return
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if how := resp.Header.Get("Content-Encoding"); how != "" && how != "identity" {
		x.broken(fmt.Errorf("it is compressed (%s), which was not asked for", how))
		return
	}
	for name, values := range resp.Header {
		if passes(name) {
			x.w.Header()[name] = values
		}
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		x.whole(ctx, resp)
		return
	}
	x.w.WriteHeader(resp.StatusCode)
	var kept bytes.Buffer
	last, err := relay(x.w, resp.Body, &kept)
	if err != nil {
		x.p.count(Answered{
			What: Failed, Method: x.q.Method, Path: x.q.Path, Status: resp.StatusCode,
			Text: "the stream broke off: " + x.p.hide(err.Error()),
		})
	} else {
		_, err = x.keep(ctx, resp, kept.Bytes())
	}
	if err != nil {
		panic(http.ErrAbortHandler) // the only way to show a client that its stream is incomplete
	}
	_, _ = x.w.Write(last)
}

// whole forwards an answer that is no stream, after recording it.
func (x *exchange) whole(ctx context.Context, resp *http.Response) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer has more than %d MiB", maxAnswer>>20)
	}
	var told Answered
	if err == nil {
		told, err = x.keep(ctx, resp, body)
		if err != nil {
			x.fail(http.StatusInternalServerError, told.Text)
			return
		}
	}
	if err != nil {
		x.broken(err)
		return
	}
	x.w.WriteHeader(resp.StatusCode)
	_, _ = x.w.Write(body)
}

func (x *exchange) broken(err error) {
	text := "the model gave no answer: " + x.p.hide(err.Error())
	x.fail(http.StatusBadGateway, text)
	x.p.count(Answered{What: Failed, Method: x.q.Method, Path: x.q.Path, Text: text})
}

// send sends the request to the provider. It forwards the headers of the request, except those
// about the connection.
func (x *exchange) send(ctx context.Context) (*http.Response, error) {
	base, path := x.p.cfg.OpenAI, strings.TrimPrefix(x.r.URL.Path, "/v1")
	if x.d == anthropic {
		base, path = x.p.cfg.Anthropic, x.r.URL.Path
	}
	if base == nil || x.p.cfg.HTTP == nil {
		return nil, fmt.Errorf("no model answers %s here: %w", x.q.Path, callvet.ErrUnavailable)
	}
	to := *base
	to.Path, to.RawQuery = strings.TrimSuffix(base.Path, "/")+path, x.r.URL.RawQuery
	req, err := http.NewRequestWithContext(ctx, x.q.Method, to.String(), bytes.NewReader(x.q.Body))
	if err != nil {
		return nil, err
	}
	for name, values := range x.r.Header {
		if passes(name) {
			req.Header[name] = values
		}
	}
	return x.p.cfg.HTTP.RoundTrip(req)
}

// passes reports whether a header is about the content, not about the connection.
func passes(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade",
		"Accept-Encoding", "Content-Length", "Content-Encoding", "Host", "Cookie", "Set-Cookie", "Forwarded",
		"X-Forwarded-For", "X-Real-Ip":
		return false
	}
	return true
}

// relay forwards a stream except its last piece, which it returns, so that the client does not
// have the whole answer before it is recorded.
func relay(w http.ResponseWriter, from io.Reader, kept *bytes.Buffer) (last []byte, err error) {
	out := http.NewResponseController(w)
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			if kept.Len()+n > maxAnswer {
				return nil, fmt.Errorf("the answer has more than %d MiB", maxAnswer>>20)
			}
			kept.Write(b[:n])
			if _, err := w.Write(last); err != nil {
				return nil, err
			}
			_ = out.Flush()
			last = append(last[:0], b[:n]...)
		}
		switch {
		case errors.Is(err, io.EOF):
			return last, nil
		case err != nil:
			return nil, err
		}
	}
}

// lasting reports whether a repeated request would get the same answer as one with this status.
func lasting(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusRequestTimeout,
		http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status >= 200 && status < 300 || status >= 400 && status < 500
}

// keep records an answer, before the client can have all of it.
func (x *exchange) keep(ctx context.Context, resp *http.Response, body []byte) (answered Answered, err error) {
	p := x.p
	answered = Answered{What: Recorded, Method: x.q.Method, Path: x.q.Path, Status: resp.StatusCode}
	defer func() { p.count(answered) }()
	if !lasting(resp.StatusCode) {
		answered.What, answered.Text = Passed,
			fmt.Sprintf("an answer with status %d is not recorded: the next one may be another", resp.StatusCode)
		return answered, nil
	}
	shown := p.hide(string(body))
	a := newAnswer(resp.StatusCode, resp.Header.Get("Content-Type"), []byte(shown))
	if shown != string(body) {
		answered.Text = "a secret in the answer is hidden in the recording"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.all[x.key]
	next := &recording{Format: format, Version: version, Key: x.key, Request: x.q}
	next.Request.Body = []byte(p.hide(string(x.q.Body)))
	if !json.Valid(next.Request.Body) {
		next.Request.Body = nil
	}
	if r != nil {
		next.name, next.given = r.name, r.given
		if p.cfg.Mode != Fresh || p.written[x.key] {
			next.Answers = r.Answers
		}
	}
	next.Answers = append(slices.Clip(next.Answers), a)
	next.given = len(next.Answers)
	if err := next.save(context.WithoutCancel(ctx), p.cfg.Folder); err != nil {
		answered.What, answered.Text = Failed, err.Error()
		return answered, err
	}
	p.all[x.key], p.written[x.key], answered.File = next, true, next.name
	return answered, nil
}

// path is the path and query of a request without secrets.
func (p *Proxy) path(u *url.URL) string {
	if p.cfg.HidePath == nil {
		return u.RequestURI()
	}
	return p.cfg.HidePath(u)
}

func (p *Proxy) hide(text string) string {
	if p.cfg.Hide == nil {
		return text
	}
	return p.cfg.Hide(text)
}

// count counts a request and reports it.
func (p *Proxy) count(a Answered) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch a.What {
	case Replayed:
		p.counts.Replayed++
	case Recorded:
		p.counts.Recorded++
	case Passed:
		p.counts.Passed++
	case Missing:
		p.counts.Missing++
	case Failed:
		p.counts.Failed++
	case Refused:
		p.counts.Refused++
	}
	if p.cfg.OnAnswer != nil {
		p.cfg.OnAnswer(a)
	}
}
