// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// Config has the settings of a Client.
type Config struct {
	// Address is the address of the server, such as https://eval.example.com: http or https,
	// without a path of the API.
	Address string
	// Token is sent with each request; "": no token.
	Token string
	// HTTP sends requests; nil means a client that keeps the cookie of a session and follows no
	// redirect, so that the token goes to this server only.
	HTTP *http.Client
	// Wait waits between two requests, and ends with ctx; nil waits by the clock.
	Wait func(ctx context.Context, d time.Duration) error
}

// Client sends requests to a server. It is safe for concurrent use.
type Client struct {
	cfg  Config
	base *url.URL
}

// maxAnswer bounds an answer that is not a report, in bytes.
const maxAnswer = 64 << 20

// New makes a client. The error wraps callvet.ErrInvalid for an invalid address.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.Address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, fmt.Errorf("address of a server %q: %w: write http://HOST:PORT or https://HOST", cfg.Address,
			callvet.ErrInvalid)
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if cfg.HTTP == nil {
		jar, err := cookiejar.New(nil)
		if err != nil {
			return nil, fmt.Errorf("keep cookies: %w", err)
		}
		cfg.HTTP = &http.Client{
			Jar:           jar,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	if cfg.Wait == nil {
		cfg.Wait = sys.Sleep
	}
	return &Client{cfg: cfg, base: u}, nil
}

// Refusal is a server's error. It wraps the error of callvet for its status.
type Refusal struct {
	Host   string `json:"-"`
	Status int    `json:"-"`
	Detail string `json:"detail"`
	// Errors are the mistakes in the request, each with its place, such as body.name.
	Errors []struct {
		Location string `json:"location"`
		Message  string `json:"message"`
	} `json:"errors"`
}

func (e *Refusal) Error() string {
	text := fmt.Sprintf("%s: %v: %s", e.Host, kind(e.Status), e.Detail)
	for _, field := range e.Errors {
		text += "; " + strings.TrimPrefix(field.Location, "body.") + ": " + field.Message
	}
	return text
}

// Unwrap returns the kind of error.
func (e *Refusal) Unwrap() error { return kind(e.Status) }

// kind returns the kind of error of a status.
func kind(status int) error {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return callvet.ErrDenied
	case status == http.StatusNotFound:
		return callvet.ErrNotFound
	case status == http.StatusConflict || status == http.StatusPreconditionFailed:
		return callvet.ErrConflict
	case status == http.StatusTooManyRequests:
		return callvet.ErrLimited
	case status >= 500:
		return callvet.ErrUnavailable
	}
	return callvet.ErrInvalid
}

// send sends a request. The caller closes the body of a response without an error.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, contentType string,
	body []byte,
) (*http.Response, error) {
	u := *c.base
	u.Path, u.RawQuery = u.Path+path, query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask the server: %w", err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if c.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	res, err := c.cfg.HTTP.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, c.unreached(err)
	}
	if res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	return nil, c.refused(res)
}

// unreached explains a missing answer of a server. Errors that a retry cannot fix wrap
// callvet.ErrDenied.
func (c *Client) unreached(err error) error {
	kind, hint := callvet.ErrUnavailable, "start it: callvet serve"
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &cert):
		kind, hint = callvet.ErrDenied, "where the certificate is your own: SSL_CERT_FILE=certificate.pem callvet …"
	case errors.Is(err, http.ErrSchemeMismatch):
		kind, hint = callvet.ErrDenied, "it speaks plain HTTP: write http:// in its address"
	}
	return &callvet.Hinted{Err: fmt.Errorf("ask %s: %w: %w", c.base.Host, kind, err), Hint: hint}
}

// refused reads the error of the server: a *Refusal.
func (c *Client) refused(res *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("ask %s: %w: %w", c.base.Host, callvet.ErrUnavailable, err)
	}
	no := &Refusal{}
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		no.Detail = "it sends elsewhere (" + res.Status + "): write its own address"
	case json.Unmarshal(b, no) != nil || no.Detail == "":
		no = &Refusal{Detail: "it answered " + res.Status + ", and is perhaps no callvet server"}
	}
	no.Host, no.Status = c.base.Host, res.StatusCode
	if no.Status == http.StatusUnauthorized && c.cfg.Token != "" {
		return &callvet.Hinted{Err: no, Hint: "callvet login " + c.cfg.Address}
	}
	return no
}

// answerWithin is how long a server may take for an answer that is not a report.
const answerWithin = 2 * time.Minute

// ask sends JSON, and reads JSON into out; nil for an empty response.
func (c *Client) ask(ctx context.Context, method, path string, query url.Values, in, out any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, answerWithin,
		fmt.Errorf("ask %s: %w: no answer within %v", c.base.Host, callvet.ErrUnavailable, answerWithin))
	defer cancel()
	var body []byte
	contentType := ""
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("ask the server: %w", err)
		}
		contentType = "application/json"
	}
	res, err := c.send(ctx, method, path, query, contentType, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("ask %s: %w: %w", c.base.Host, callvet.ErrUnavailable, err)
	case len(b) > maxAnswer:
		return fmt.Errorf("ask %s: %w: its answer has more than %d MB", c.base.Host, callvet.ErrInvalid, maxAnswer>>20)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("ask %s: %w: it does not answer as a callvet server does", c.base.Host, callvet.ErrInvalid)
	}
	return nil
}

// Suite is a suite on a server.
type Suite struct {
	ID      string `json:"suite_id"`
	Name    string `json:"name"`
	Version int64  `json:"version"`
}

// Import sends a suite file to the server.
func (c *Client) Import(ctx context.Context, text []byte) (*Suite, error) {
	var out Suite
	if err := c.ask(ctx, http.MethodPost, "/api/tool-eval/import", nil, json.RawMessage(text), &out); err != nil {
		return nil, fmt.Errorf("import suite: %w", err)
	}
	return &out, nil
}

// Submitted is a job that the server has accepted. Run is the run that it carries out.
type Submitted struct {
	Job    string `json:"job_id"`
	Status string `json:"status"`
	Run    string `json:"result_ref"`
	// Warnings are the server's remarks on the request that are not errors.
	Warnings []callvet.Notice `json:"warnings"`
}

// Submit requests a run; request is the body of POST /api/tool-eval.
func (c *Client) Submit(ctx context.Context, request any) (*Submitted, error) {
	var out Submitted
	if err := c.ask(ctx, http.MethodPost, "/api/tool-eval", nil, request, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Job is the state of a job.
type Job struct {
	ID      string    `json:"job_id"`
	Kind    string    `json:"job_type"`
	State   string    `json:"status"`
	Run     string    `json:"result_ref"`
	Done    int64     `json:"done"`
	Total   int64     `json:"total"`
	ETAMS   int64     `json:"eta_ms"`
	Error   string    `json:"error"`
	Created time.Time `json:"created_at"`
}

// Over reports whether a job is in a final state.
func (j *Job) Over() bool {
	return j.State == "done" || j.State == "failed" || j.State == "cancelled"
}

// Job reads a job.
func (c *Client) Job(ctx context.Context, id string) (*Job, error) {
	var out Job
	if err := c.ask(ctx, http.MethodGet, "/api/jobs/"+url.PathEscape(id), nil, nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Jobs lists the user's latest jobs, the newest first.
func (c *Client) Jobs(ctx context.Context) ([]Job, error) {
	var out struct {
		Items []Job `json:"items"`
	}
	err := c.ask(ctx, http.MethodGet, "/api/jobs", nil, nil, &out)
	return out.Items, err
}

// Cancel ends a job.
func (c *Client) Cancel(ctx context.Context, id string) error {
	return c.ask(ctx, http.MethodPost, "/api/tool-eval/cancel", nil, map[string]string{"job_id": id}, nil)
}

// Watch polls a job until it is over, and passes each change to its callback. It retries while the
// server is unreachable, such as during an update: the job continues there. patience bounds that.
func (c *Client) Watch(ctx context.Context, id string, patience time.Duration, tell func(*Job)) (*Job, error) {
	const first, most = 100 * time.Millisecond, 2 * time.Second
	pause, away := first, time.Duration(0)
	last := Job{Done: -1}
	for {
		j, err := c.Job(ctx, id)
		switch {
		case errors.Is(err, callvet.ErrUnavailable) && away < patience:
			away += pause
		case err != nil:
			return nil, err
		default:
			away = 0
			if j.State != last.State || j.Done != last.Done {
				tell(j)
				last, pause = *j, first
			}
			if j.Over() {
				return j, nil
			}
		}
		if err := c.cfg.Wait(ctx, pause); err != nil {
			return nil, err
		}
		pause = min(2*pause, most)
	}
}

// Report writes the report of a run in a file format: html, md, xml, json, jsonl, csv, txt.
func (c *Client) Report(ctx context.Context, run, format string, w io.Writer) error {
	res, err := c.send(ctx, http.MethodGet, "/api/runs/"+url.PathEscape(run)+"/export",
		url.Values{"format": {format}}, "", nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(w, res.Body); err != nil {
		return fmt.Errorf("read report: %w", err)
	}
	return nil
}

// Gates are the gates for a run.
type Gates struct {
	// Text is a gate file; "": the gates of the run's suite.
	Text string `json:"gates,omitempty"`
	// Baseline is another run; "": none.
	Baseline string `json:"baseline_eval_id,omitempty"`
	Policy   string `json:"policy,omitempty"`
}

// Gate checks a run against gates and reads the response of POST /api/runs/{id}/gate into out.
func (c *Client) Gate(ctx context.Context, run string, gates *Gates, out any) error {
	return c.ask(ctx, http.MethodPost, "/api/runs/"+url.PathEscape(run)+"/gate", nil, gates, out)
}

// Counts are the verdicts of a run.
type Counts struct {
	Pass   int `json:"pass"`
	Fail   int `json:"fail"`
	Error  int `json:"error"`
	NotRun int `json:"not_run"`
}

// Run is a run in the server's list.
type Run struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Verdicts Counts `json:"verdicts"`
}

// Run reads a run.
func (c *Client) Run(ctx context.Context, id string) (*Run, error) {
	var out Run
	if err := c.ask(ctx, http.MethodGet, "/api/tool-eval/history/"+url.PathEscape(id), nil, nil, &out); err != nil {
		return nil, err
	}
	return &out, nil
}
