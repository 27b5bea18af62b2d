// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Limits of reading and storing an answer.
const (
	defaultMaxBody = 8 << 20
	keptBody       = 256 << 10
	defaultTimeout = 2 * time.Minute
)

// NewHTTPClient returns a client for many requests to few hosts: kept-alive HTTP/1.1 connections,
// no compression, no redirects (a redirect would send the key to another address). Share one
// between all models of a process.
func NewHTTPClient() *http.Client {
	var p http.Protocols
	p.SetHTTP1(true)
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			Protocols:             &p,
			MaxIdleConns:          1024,
			MaxIdleConnsPerHost:   512,
			IdleConnTimeout:       90 * time.Second,
			TLSHandshakeTimeout:   15 * time.Second,
			ExpectContinueTimeout: time.Second,
			DisableCompression:    true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is the response to a request, also to one that ended in a fault.
type answer struct {
	status   int
	body     []byte
	streamed deltas // set when the answer was read event by event
	first    time.Duration
	made     value.Repairs // of the events of a stream
	refused  string        // the model's call, which the provider rejected
}

// exchange sends body and reads the answer. outer is the caller's context, ctx
// the same with this request's deadline.
func (m *model) exchange(outer, ctx context.Context, body []byte, start time.Time) (ans answer, fault *callvet.Fault) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return ans, &callvet.Fault{Kind: callvet.FaultRequest, Message: err.Error()}
	}
	req.Header = m.header // never changed: transports must not modify a request
	res, err := m.client.Do(req)
	if err != nil {
		return ans, m.lost(outer, ctx, err)
	}
	defer res.Body.Close()
	ans.status = res.StatusCode
	typ, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode == http.StatusOK && m.stream && (typ == "text/event-stream" || typ == "application/x-ndjson") {
		return m.readStream(outer, ctx, res, m.wire.deltas(), start)
	}
	limit := m.maxBody
	if res.ContentLength > limit {
		limit = keptBody // only the stored part: the answer is refused anyway
	}
	ans.body, err = readUpTo(res, limit)
	switch {
	case err != nil:
		return ans, begun(res, m.lost(outer, ctx, err))
	case res.StatusCode != http.StatusOK:
		if root, err := value.Parse(ans.body); err == nil {
			if ans.refused = refusedCall(root); ans.refused != "" {
				return ans, nil
			}
		}
		return ans, statusFault(res, m.hide.bytes(ans.body), m.now())
	case int64(len(ans.body)) > limit:
		return ans, m.tooLarge(res.StatusCode)
	case typ != "" && typ != "application/json" && !strings.HasSuffix(typ, "+json"):
		return ans, malformed(res.StatusCode, "the answer is "+typ+", not JSON: "+excerpt(string(ans.body), maxExcerpt))
	}
	return ans, nil
}

// begun records the status of an answer with a lost body.
func begun(res *http.Response, f *callvet.Fault) *callvet.Fault {
	f.HTTP = res.StatusCode
	return f
}

func (m *model) tooLarge(status int) *callvet.Fault {
	return &callvet.Fault{
		Kind: callvet.FaultTooLarge, HTTP: status,
		Message: fmt.Sprintf("the answer is larger than %d bytes", m.maxBody),
	}
}

// readUpTo reads at most limit+1 bytes; more than limit means that the body is too long.
func readUpTo(res *http.Response, limit int64) ([]byte, error) {
	size := int64(2048)
	if res.ContentLength >= 0 {
		size = min(res.ContentLength, limit) + 1
	}
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := buf.ReadFrom(io.LimitReader(res.Body, limit+1))
	return bytes.TrimPrefix(buf.Bytes(), []byte(byteOrderMark)), err
}

// byteOrderMark is the prefix that some servers put before an answer.
const byteOrderMark = "\xef\xbb\xbf"
