// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

const (
	embedTimeout   = time.Minute
	embedMaxBody   = 64 << 20
	defaultRetries = 5
	defaultAtOnce  = 4
	firstWait      = 500 * time.Millisecond
	longestWait    = time.Minute
)

// client sends batches of texts to one address.
type client struct {
	server, name, url, model, key string
	form                          form
	http                          *http.Client
	timeout                       time.Duration
	maxBody                       int64
	batch, atOnce, retries        int
	wait                          func(context.Context, time.Duration) error
	now                           func() time.Time
	mu                            sync.Mutex
	usage                         EmbedUsage
}

// EmbedUsage counts the requests so far. Tokens are counted by the servers.
type EmbedUsage struct{ Requests, Texts, Tokens int }

func newClient(svc *service, model string, cfg *EmbedConfig) *client {
	c := &client{
		model: model, form: svc.form, http: cfg.HTTPClient, timeout: cmp.Or(cfg.Timeout, embedTimeout),
		maxBody: cmp.Or(cfg.MaxBody, embedMaxBody),
		batch:   max(1, cmp.Or(cfg.Batch, svc.batch)), atOnce: max(1, cmp.Or(cfg.Concurrency, defaultAtOnce)),
		retries: max(0, cmp.Or(cfg.Retries, defaultRetries)),
		wait:    cfg.Wait, now: cfg.Now, key: cfg.APIKey,
	}
	for _, env := range svc.keyEnv {
		if c.key == "" && cfg.Getenv != nil {
			c.key = strings.TrimSpace(cfg.Getenv(env))
		}
	}
	if c.http == nil {
		c.http = &http.Client{
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 64,
				IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 15 * time.Second,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	if c.wait == nil {
		c.wait = sys.Sleep
	}
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

// each calls work for every batch of texts, several at once, and waits for all. The
// first error stops the rest.
func (c *client) each(ctx context.Context, n int, work func(ctx context.Context, from, to int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	g := sys.Group{Stop: func() { cancel(nil) }}
	for range min(c.atOnce, (n+c.batch-1)/c.batch) {
		g.Go(func() {
			for from := range next {
				if err := work(ctx, from, min(n, from+c.batch)); err != nil {
					cancel(err)
				}
			}
		})
	}
	for from := 0; from < n && ctx.Err() == nil; from += c.batch {
		select {
		case next <- from:
		case <-ctx.Done():
		}
	}
	close(next)
	g.Wait()
	return context.Cause(ctx)
}

// failure is the reason for a missing or unusable answer.
type failure struct {
	err    error
	again  bool          // a retry may help
	after  time.Duration // the server's retry delay; 0: none
	tooBig bool          // fewer texts may help
}

func (f *failure) Error() string { return f.err.Error() }

// Unwrap gives the kind of failure.
func (f *failure) Unwrap() error { return f.err }

// ask sends a request and returns the answer; it retries if the server is busy.
func (c *client) ask(ctx context.Context, body []byte, texts int) ([]byte, error) {
	for try := 0; ; try++ {
		answer, f := c.once(ctx, body)
		if f == nil {
			c.mu.Lock()
			c.usage.Requests++
			c.usage.Texts += texts
			c.mu.Unlock()
			return answer, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !f.again || try >= c.retries {
			return nil, f
		}
		d := f.after
		if d <= 0 {
			d = firstWait << min(try, 10)
		}
		if err := c.wait(ctx, min(d, longestWait)); err != nil {
			return nil, err
		}
	}
}

func (c *client) once(ctx context.Context, body []byte) ([]byte, *failure) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, c.fail(callvet.ErrInvalid, "%v", err)
	}
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json"},
		"User-Agent": {"callvet"},
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.lost(ctx, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, c.maxBody+1))
	answer = bytes.TrimPrefix(answer, []byte("\xef\xbb\xbf"))
	switch {
	case err != nil:
		return nil, c.lost(ctx, err)
	case res.StatusCode != http.StatusOK:
		return nil, c.refused(res, answer)
	case int64(len(answer)) > c.maxBody:
		return nil, c.fail(callvet.ErrLimited, "its answer is larger than %d bytes", c.maxBody)
	}
	return answer, nil
}

// fail describes an error of the server, without secrets.
func (c *client) fail(kind error, format string, args ...any) *failure {
	return &failure{err: fmt.Errorf("%s: %s: %w", c.server, c.hide(fmt.Sprintf(format, args...)), kind)}
}

func (c *client) lost(ctx context.Context, err error) *failure {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	if errors.Is(err, callvet.ErrDenied) { // the address is not allowed; a retry does not help
		return c.fail(callvet.ErrDenied, "%v", err)
	}
	f := c.fail(callvet.ErrUnavailable, "%v", err)
	if ctx.Err() != nil {
		f = c.fail(callvet.ErrUnavailable, "no answer within %v", c.timeout)
	}
	f.again = true
	return f
}

// refused explains a status that is not 200.
func (c *client) refused(res *http.Response, body []byte) *failure {
	kind := callvet.ErrInvalid
	switch s := res.StatusCode; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		kind = callvet.ErrDenied
	case s == http.StatusTooManyRequests || s == http.StatusRequestTimeout || s == http.StatusTooEarly || s >= 500:
		kind = callvet.ErrUnavailable
	case s == http.StatusNotFound:
		kind = callvet.ErrNotFound
	}
	say := excerpt(c.hide(messageOf(body)), 300) // hidden before it is cut
	if to := res.Header.Get("Location"); to != "" && res.StatusCode < 400 {
		say = "it points to " + to
	}
	f := c.fail(kind, "HTTP %d: %s", res.StatusCode, cmp.Or(say, http.StatusText(res.StatusCode)))
	f.again = errors.Is(kind, callvet.ErrUnavailable) && !bytes.Contains(body, []byte("insufficient_quota"))
	f.tooBig = res.StatusCode == http.StatusRequestEntityTooLarge
	f.after = c.retryAfter(res.Header)
	return f
}

func (c *client) retryAfter(h http.Header) time.Duration {
	s := h.Get("Retry-After")
	if f, err := strconv.ParseFloat(s, 64); err == nil && f > 0 {
		return time.Duration(min(f, 1e6) * float64(time.Second))
	}
	if t, err := http.ParseTime(s); err == nil {
		return t.Sub(c.now())
	}
	return 0
}

const hidden = "[redacted]"

// hide removes the key from a text.
func (c *client) hide(s string) string {
	if len(c.key) >= 8 { // shorter ones are stand-ins for local servers
		s = strings.ReplaceAll(s, c.key, hidden)
	}
	return s
}
