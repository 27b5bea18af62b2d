// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/value"
)

// MaxAnswerBytes bounds a service's answer where the settings do not.
const MaxAnswerBytes = 4 << 20

// RemoteConfig configures a service.
type RemoteConfig struct {
	// URL receives POST {"query": …, "k": …}. In it and in the Headers ${NAME} is a variable, which
	// is masked in everything that is stored.
	URL     string
	Headers map[string]string
	// Lookup returns a variable, "" if it is not set; nil: none is set.
	Lookup func(name string) string
	// K is the requested number of tools, at least 1.
	K int
	// Timeout bounds one request; 0: only the context does.
	Timeout time.Duration
	// MaxBytes bounds an answer; 0: the constant.
	MaxBytes int64
	// Warn is called with a problem of a service that is opened nevertheless; nil: no warnings.
	Warn func(what string)
	// Client sends the requests; nil: one that follows no redirects.
	Client *http.Client
	// Now is the clock; nil: time.Now.
	Now     func() time.Time
	secrets []string
}

// minSecret is the least length of a secret: masking one or two letters would destroy the text.
const minSecret = 4

type remote struct{ cfg RemoteConfig }

// OpenRemote checks cfg and returns the target; its name does not contain the values of variables.
// The error wraps callvet.ErrInvalid, or callvet.ErrDenied if a variable is not set.
func OpenRemote(cfg RemoteConfig) (callvet.Model, callvet.Target, error) {
	u, err := cfg.fill()
	if err != nil {
		return nil, callvet.Target{}, err
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = MaxAnswerBytes
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{CheckRedirect: func(*http.Request,
			[]*http.Request,
		) error {
			return http.ErrUseLastResponse
		}}
	}
	if len(cfg.secrets) > 0 && cfg.Warn != nil && redact.ExposedAddress(u) {
		cfg.Warn(redact.UnencryptedWarning(u))
	}
	cfg.K = max(cfg.K, 1)
	r := &remote{cfg}
	shown := *u
	shown.RawQuery, shown.Fragment = "", ""
	name := r.hide(shown.String())
	return r, callvet.Target{Name: name, Provider: "retrieve:" + r.hide(u.Host), BaseURL: name, Selects: true}, nil
}

// Generate implements callvet.Model.
func (r *remote) Generate(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
	body, err := json.Marshal(map[string]any{"query": callvet.Question(req.Turns), "k": r.cfg.K})
	if err != nil {
		return nil, &callvet.Fault{Kind: callvet.FaultRequest, Message: err.Error()}
	}
	if r.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.cfg.Timeout)
		defer cancel()
	}
	x := callvet.Exchange{Request: body}
	start := r.cfg.Now()
	d, err := r.post(ctx, body, &x)
	took := max(r.cfg.Now().Sub(start), 1)
	x.MS = float64(took) / float64(time.Millisecond)
	x.Response = r.hide(x.Response)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) { // its text contains the whole address
			err = ue.Err
		}
		f := faultOf(ctx, err)
		f.Message = r.hide(f.Message)
		x.Error = f.Message
		f.Exchanges = []callvet.Exchange{x}
		return nil, f
	}
	d.Asked = r.cfg.K
	return &callvet.Response{Decision: d, Complete: true, Wall: took, Exchanges: []callvet.Exchange{x}}, nil
}

func (r *remote) hide(s string) string {
	for _, secret := range r.cfg.secrets {
		if len(secret) >= minSecret {
			s = strings.ReplaceAll(s, secret, "[redacted]")
		}
	}
	return s
}

func (r *remote) post(ctx context.Context, body []byte, x *callvet.Exchange) (*callvet.Decision, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return nil, &callvet.Fault{Kind: callvet.FaultRequest, Message: "make a request: " + err.Error()}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	for k, v := range r.cfg.Headers {
		req.Header.Set(k, v)
	}
	res, err := r.cfg.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	x.HTTP = res.StatusCode
	all, err := io.ReadAll(io.LimitReader(res.Body, r.cfg.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if int64(len(all)) > r.cfg.MaxBytes {
		return nil, &callvet.Fault{
			Kind: callvet.FaultTooLarge, HTTP: res.StatusCode,
			Message: fmt.Sprintf("the answer has more than %d bytes", r.cfg.MaxBytes),
		}
	}
	all = []byte(r.hide(string(all))) // before anything is cut, so that no half of a secret is left
	x.Response = strings.ToValidUTF8(string(all), "\uFFFD")
	if res.StatusCode >= 300 {
		return nil, retrieverRefused(res, all, r.cfg.Now())
	}
	v, err := value.Parse(bytes.TrimPrefix(all, []byte("\xef\xbb\xbf")))
	if err != nil {
		return nil, &callvet.Fault{
			Kind: callvet.FaultMalformed, HTTP: res.StatusCode,
			Message: fmt.Sprintf("the answer (%d bytes) is not JSON: %v", len(all), err),
		}
	}
	return ReadDecision(v)
}

// leadsTo is the destination of a redirect, without its query.
func leadsTo(res *http.Response) string {
	u, err := res.Location()
	if err != nil {
		return "no address"
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return u.String()
}

// retrieverRefused is the fault of an answer with a status of 300 or more.
func retrieverRefused(res *http.Response, all []byte, now time.Time) *callvet.Fault {
	const most = 300
	body := strings.TrimSpace(redact.CutText(strings.ToValidUTF8(string(all), ""), most))
	f := &callvet.Fault{
		Kind: callvet.FaultOfStatus(res.StatusCode), HTTP: res.StatusCode,
		Message: fmt.Sprintf("status %d: %s", res.StatusCode, body),
	}
	switch f.Kind {
	case callvet.FaultRateLimit, callvet.FaultTimeout, callvet.FaultServer:
		f.Retryable = true
	case callvet.FaultRequest:
		if res.StatusCode < 400 && res.Header.Get("Location") != "" {
			f.Message = fmt.Sprintf("status %d: it sends to %s, which is not followed: name that address instead",
				res.StatusCode, leadsTo(res))
		}
	}
	wait := res.Header.Get("Retry-After")
	if n, err := strconv.ParseFloat(wait, 64); err == nil && n > 0 {
		f.RetryAfter = time.Duration(min(n, 86400) * float64(time.Second))
	} else if t, err := http.ParseTime(wait); err == nil && t.After(now) {
		f.RetryAfter = min(t.Sub(now), 24*time.Hour)
	}
	return f
}
