// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

// The bytes of an answer are copied from the connection, because the SDK's types lose some of them:
//
//	Session.List, Session.Call: a slot in the context
//	        │
//	        ▼
//	SDK ── Write(ctx) ──► tappedConn (stdio, SSE)   remembers the slot by the request's id
//	    ◄─ Read ────────  fills the slot, passes on the result of reduced
//
//	SDK ── RoundTrip ───► web (streamable HTTP)     the slot is in the request's context
//	    ◄─ body ────────  fills the slot, passes on the result of reduced
//
// Over streamable HTTP the SDK sets the agreed version on its own connection, by a method that a
// wrapper cannot have. Therefore the bytes are taken from the bodies there.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callvet/callvet"
)

// slot receives the result of one request, byte for byte. If the SDK repeats the request because
// the server wanted input, the last result counts.
type slot struct {
	mu  sync.Mutex
	raw json.RawMessage
}

func (s *slot) take() json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw
}

func (s *slot) put(raw json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw = bytes.Clone(raw)
}

type slotKey struct{}

func withSlot(ctx context.Context) (context.Context, *slot) {
	s := &slot{}
	return context.WithValue(ctx, slotKey{}, s), s
}

func slotOf(ctx context.Context) *slot {
	s, _ := ctx.Value(slotKey{}).(*slot)
	return s
}

// reduced is the part of a result that the SDK can decode: the well-formed tools of a list, an
// empty result of a call.
func reduced(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return json.RawMessage(`{}`) // the caller has the bytes
	}
	var kind string
	if json.Unmarshal(members["resultType"], &kind) == nil && kind != "" && kind != "complete" {
		return raw // the server wants input first; the SDK handles that
	}
	if list, ok := members["tools"]; ok {
		var all []json.RawMessage
		_ = json.Unmarshal(list, &all)
		readable := []json.RawMessage{}
		for _, one := range all {
			var t sdk.Tool
			if json.Unmarshal(one, &t) == nil && t.Name != "" {
				readable = append(readable, one)
			}
		}
		members["tools"], _ = json.Marshal(readable)
		delete(members, "ttlMs") // the SDK would answer the next request itself
		for _, key := range []string{"nextCursor", "cacheScope"} {
			var text string
			if json.Unmarshal(members[key], &text) != nil {
				delete(members, key)
			}
		}
	} else {
		members = map[string]json.RawMessage{"content": json.RawMessage(`[]`)}
	}
	delete(members, "_meta")
	b, err := json.Marshal(members)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return b
}

// tapped is a transport that copies the answers.
type tapped struct{ sdk.Transport }

// Connect implements sdk.Transport.
func (t *tapped) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &tappedConn{Connection: c, open: map[jsonrpc.ID]pending{}}, nil
}

// maxUnasked bounds a server's messages between two answers. Progress of a long call stays far
// below; without the limit, an endless stream would keep a processor busy until the timeout.
const maxUnasked = 2_000

func tooMany(server string) string {
	return fmt.Sprintf("%s sent more than %d messages that answer no request", server, maxUnasked)
}

type tappedConn struct {
	sdk.Connection
	mu      sync.Mutex
	open    map[jsonrpc.ID]pending
	unasked int // since the last answer; the SDK reads on one goroutine
}

// pending is an unanswered request; over ends with it.
type pending struct {
	slot *slot
	over <-chan struct{}
}

// Write implements sdk.Connection.
func (c *tappedConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		if s := slotOf(ctx); s != nil {
			c.mu.Lock()
			maps.DeleteFunc(c.open, func(_ jsonrpc.ID, a pending) bool { // requests without a waiting caller
				select {
				case <-a.over:
					return true
				default:
					return false
				}
			})
			c.open[req.ID] = pending{s, ctx.Done()}
			c.mu.Unlock()
		}
	}
	return c.Connection.Write(ctx, msg)
}

func (c *tappedConn) answered(id jsonrpc.ID) *slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.open[id]
	delete(c.open, id)
	return a.slot
}

// Read implements sdk.Connection.
func (c *tappedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if err != nil {
		return msg, err
	}
	c.unasked++
	if res, ok := msg.(*jsonrpc.Response); ok {
		c.unasked = 0
		if s := c.answered(res.ID); s != nil && res.Error == nil {
			s.put(res.Result)
			res.Result = reduced(res.Result)
		}
	}
	if c.unasked > maxUnasked {
		return nil, fmt.Errorf("%s: %w", tooMany("the MCP server"), callvet.ErrLimited)
	}
	return msg, nil
}

// web sends the requests to a server over HTTP.
type web struct {
	client  *http.Client
	base    http.RoundTripper
	own     *http.Transport // nil where the caller gave a client
	url     *url.URL
	headers map[string]string
	most    int64
	taps    bool // answers are copied here and not by a tappedConn
	mu      sync.Mutex
	failed  *callvet.Fault // why the session ended, if the SDK has no error
}

func newWeb(cfg *Config) (*web, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("connect to MCP server: %w: %w", callvet.ErrInvalid, err)
	}
	w := &web{url: u, headers: cfg.Headers, most: int64(cfg.MaxBytes)}
	if cfg.HTTP != nil && cfg.HTTP.Transport != nil {
		w.base = cfg.HTTP.Transport
	} else {
		w.own = &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 1 << 20,
		}
		w.base = w.own
	}
	w.client = &http.Client{Transport: w}
	return w, nil
}

// close closes idle connections.
func (w *web) close() {
	if w != nil && w.own != nil {
		w.own.CloseIdleConnections()
	}
}

// cause is why the session ended; nil if unknown, and over stdio.
func (w *web) cause() *callvet.Fault {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

func (w *web) fail(kind callvet.FaultKind, status int, format string, args ...any) *callvet.Fault {
	f := &callvet.Fault{Kind: kind, HTTP: status, Message: fmt.Sprintf(format, args...)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = f
	}
	return f
}

// RoundTrip implements http.RoundTripper.
func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	// A redirect is a request of its own here, and so is one to the message address of a server
	// over SSE.
	if req.URL.Host != w.url.Host || req.URL.Scheme != w.url.Scheme {
		return nil, w.fail(callvet.FaultRequest, 0, "the MCP server %s leads to %s://%s: another host is not asked",
			w.url.Host, req.URL.Scheme, req.URL.Host)
	}
	if len(w.headers) > 0 {
		req = req.Clone(req.Context())
		for k, v := range w.headers {
			req.Header.Set(k, v)
		}
	}
	// The extra stream of a client is optional, but the SDK ends the session if it fails.
	optional := w.taps && req.Method == http.MethodGet
	res, err := w.base.RoundTrip(req)
	switch {
	case optional && (err != nil && req.Context().Err() == nil || err == nil && res.StatusCode >= 300):
		if err == nil {
			_ = res.Body.Close()
		}
		return &http.Response{
			StatusCode: http.StatusMethodNotAllowed, Status: "405 Method Not Allowed", Proto: "HTTP/1.1", ProtoMajor: 1,
			ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, Request: req,
		}, nil
	case err != nil:
		return nil, err
	case optional:
		res.Body = &lasting{ReadCloser: res.Body, ctx: req.Context(), left: w.most}
		return res, nil
	case res.StatusCode >= 400:
		w.refused(req, res)
		return res, nil
	}
	return w.answer(req, res)
}

// answer bounds the body of an answer, and copies the result if the request has a slot.
func (w *web) answer(req *http.Request, res *http.Response) (*http.Response, error) {
	events := strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	s, posted := slotOf(req.Context()), w.taps && req.Method == http.MethodPost
	switch {
	case posted && events: // also of requests without a slot, which the SDK makes by itself
		res.Body = &eventTap{in: bufio.NewReader(res.Body), close: res.Body, slot: s, most: w.most, over: w.tooMany}
	case posted && s != nil:
		return w.whole(res, s)
	case !events:
		res.Body = &limited{ReadCloser: res.Body, left: w.most, over: w.tooLarge}
	}
	return res, nil
}

// refused keeps an HTTP status that ends the session.
func (w *web) refused(req *http.Request, res *http.Response) {
	res.Body = &limited{ReadCloser: res.Body, left: 64 << 10, over: w.tooLarge}
	switch {
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		_ = w.fail(callvet.FaultAuth, res.StatusCode, "the MCP server %s does not let callvet in", w.url.Host)
	case res.StatusCode == http.StatusNotFound && req.Header.Get("Mcp-Session-Id") != "":
		_ = w.fail(callvet.FaultNetwork, res.StatusCode, "the MCP server %s has ended the session", w.url.Host)
	}
}

func (w *web) tooLarge() error {
	return w.fail(callvet.FaultTooLarge, 0, "the MCP server %s sent a message of more than %d bytes",
		w.url.Host, w.most)
}

func (w *web) tooMany() error {
	return w.fail(callvet.FaultTooLarge, 0, "%s", tooMany("the MCP server "+w.url.Host))
}

// whole handles an answer that is one JSON text.
func (w *web) whole(res *http.Response, s *slot) (*http.Response, error) {
	in := &limited{ReadCloser: res.Body, left: w.most, over: w.tooLarge}
	// The SDK reads the body on its own goroutine: waiting for it here would block the caller.
	res.Body = &lazy{open: func() ([]byte, error) {
		b, err := io.ReadAll(in)
		return s.filter(b), err
	}, close: in.Close}
	res.ContentLength = -1
	return res, nil
}

// filter copies the result of a message and returns the part for the SDK.
func (s *slot) filter(b []byte) []byte {
	msg, err := jsonrpc.DecodeMessage(b)
	res, ok := msg.(*jsonrpc.Response)
	if err != nil || !ok || res.Error != nil {
		return b
	}
	s.put(res.Result)
	res.Result = reduced(res.Result)
	out, err := jsonrpc.EncodeMessage(res)
	if err != nil {
		return b
	}
	return out
}

// lazy is a body that is made when it is read.
type lazy struct {
	open  func() ([]byte, error)
	close func() error
	b     []byte
	err   error
	ready bool
}

// Read implements io.Reader.
func (l *lazy) Read(p []byte) (int, error) {
	if !l.ready {
		l.b, l.err = l.open()
		l.ready = true
	}
	if len(l.b) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		return 0, io.EOF
	}
	n := copy(p, l.b)
	l.b = l.b[n:]
	return n, nil
}

// Close implements io.Closer.
func (l *lazy) Close() error { return l.close() }

// limited ends a body that is too long.
type limited struct {
	io.ReadCloser
	left int64
	over func() error
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, l.over()
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left+1)])
	if l.left -= int64(n); l.left < 0 {
		return 0, l.over()
	}
	return n, err
}

// lasting is a stream that ends only with its session: the SDK would reopen it, and end the session
// if that fails. At most left bytes of it are read.
type lasting struct {
	io.ReadCloser
	ctx  context.Context //nolint:containedctx // of the request, as in http.Request
	left int64
}

// Read implements io.Reader.
func (l *lasting) Read(p []byte) (int, error) {
	n, err := 0, io.EOF
	if l.left > 0 {
		n, err = l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
		l.left -= int64(n)
	}
	if n == 0 && err != nil {
		<-l.ctx.Done()
	}
	if n > 0 {
		return n, nil
	}
	return n, err
}

// eventTap copies the answer from a stream of events, if there is a slot.
type eventTap struct {
	in    *bufio.Reader
	close io.Closer
	slot  *slot
	most  int64
	over  func() error
	read  int // events so far
	out   []byte
	err   error
}

// Read implements io.Reader.
func (t *eventTap) Read(p []byte) (int, error) {
	for len(t.out) == 0 && t.err == nil {
		t.out, t.err = t.event()
	}
	if len(t.out) > 0 {
		n := copy(p, t.out)
		t.out = t.out[n:]
		return n, nil
	}
	return 0, t.err
}

// Close implements io.Closer.
func (t *eventTap) Close() error { return t.close.Close() }

// event reads one event and returns the form for the SDK.
func (t *eventTap) event() ([]byte, error) {
	var event, data []byte
	for {
		line, err := t.in.ReadSlice('\n')
		if event = append(event, line...); int64(len(event)) > t.most+1<<10 {
			return event, nil // the SDK has the same limit, and reports it
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		whole := event[bytes.LastIndexByte(event[:max(0, len(event)-1)], '\n')+1:]
		text := bytes.TrimRight(whole, "\r\n")
		if value, ok := bytes.CutPrefix(text, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		}
		if err != nil || len(text) == 0 {
			if len(data) == 0 {
				return event, err
			}
			if t.read++; t.read > maxUnasked {
				return nil, t.over()
			}
			if data = data[:len(data)-1]; t.slot == nil {
				return event, err
			}
			if filtered := t.slot.filter(data); !bytes.Equal(filtered, data) {
				event = append(without(event), "data: "+string(filtered)+"\n\n"...)
			}
			return event, err
		}
	}
}

// without returns the lines of an event that are not data.
func without(event []byte) []byte {
	var out []byte
	for line := range bytes.Lines(event) {
		if !bytes.HasPrefix(line, []byte("data:")) && len(bytes.TrimRight(line, "\r\n")) > 0 {
			out = append(append(out, bytes.TrimRight(line, "\r\n")...), '\n')
		}
	}
	return out
}
