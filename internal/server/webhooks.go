// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/internal/sys"
)

// States of a message.
const (
	hookWaiting   = "waiting"
	hookDelivered = "delivered"
	hookFailed    = "failed"
)

const (
	// sendFor is the timeout of one attempt. sendMost bounds the messages that are sent at once,
	// and sendOfUser those of one user, because his receivers may hang.
	sendFor    = 10 * time.Second
	sendMost   = 8
	sendOfUser = 2
	// drainMost bounds how much of a response is read, in bytes.
	drainMost = 4 << 10
)

// HookState is the state of a message to a webhook.
type HookState struct {
	State    string     `json:"state" enum:"waiting,delivered,failed"`
	Attempts int64      `json:"attempts"`
	Status   int64      `json:"status,omitempty" doc:"of the last answer over HTTP"`
	Error    string     `json:"error,omitempty" doc:"of the last attempt"`
	Next     *time.Time `json:"next_at,omitempty" doc:"of the next attempt"`
}

// hookMessage is the body of a message.
type hookMessage struct {
	Type      string    `json:"type"` // schedule.run, schedule.test
	Timestamp time.Time `json:"timestamp"`
	Data      hookData  `json:"data"`
}

type hookData struct {
	Schedule struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"schedule"`
	Run *ScheduleRun `json:"run,omitempty"`
	URL string       `json:"url,omitempty"` // of the run
}

func messageOf(s *api.Server, sc *rows.CheckedSchedule, kind string, run *ScheduleRun) ([]byte, error) {
	m := hookMessage{Type: kind, Timestamp: s.Config.Now().UTC(), Data: hookData{Run: run}}
	m.Data.Schedule.ID, m.Data.Schedule.Name = sc.ID, sc.Name
	if s.Config.URL != nil && run != nil && run.Run != "" {
		m.Data.URL = s.Config.URL.JoinPath("/api/runs", run.Run).String()
	}
	return json.Marshal(&m)
}

// message adds the webhook message to an entry, if the schedule has a webhook.
func message(s *api.Server, sc *rows.CheckedSchedule, r *rows.CheckedScheduleRun) error {
	if len(sc.Webhook) == 0 {
		return nil
	}
	body, err := messageOf(s, sc, "schedule.run", scheduleRunView(r))
	r.HookState, r.HookBody = hookWaiting, body
	return err
}

// checkHook refuses an address that is not allowed for a webhook now.
func checkHook(address string, allowed account.Allowed) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return &callvet.FieldError{
			Field: "webhook_url",
			Text:  "{webhook_url} is an address with https, and without a user",
		}
	}
	if u.Scheme == "http" && !allowed.Private && !slices.Contains(allowed.Hosts, strings.ToLower(u.Hostname())) {
		return &callvet.FieldError{
			Field: "webhook_url", Kind: callvet.ErrDenied,
			Text: "{webhook_url}: without https messages go to hosts only that an admin allows",
		}
	}
	return nil
}

// fillWebhook sets the address, and makes a secret if there is none, or if a new one is requested.
func fillWebhook(ctx context.Context, s *api.Server, f *ScheduleFields,
	sc *rows.CheckedSchedule,
) (secret string, err error) {
	sc.Webhook = []byte(f.Webhook)
	if f.Webhook == "" {
		sc.Secret = []byte{}
		return "", nil
	}
	allowed, err := s.Config.Accounts.Allowed(ctx)
	if err == nil {
		err = checkHook(f.Webhook, allowed)
	}
	if err != nil || len(sc.Secret) > 0 && !f.NewSecret {
		return "", err
	}
	if secret, err = job.NewSecret(rand.Reader); err == nil {
		sc.Secret, err = s.Config.Accounts.Seal(sc.ID, secret)
	}
	return secret, err
}

// shown is a schedule with its new secret.
func shown(sc *rows.CheckedSchedule, warnings []callvet.Notice, secret string) (*Schedule, error) {
	out, err := scheduleView(sc, warnings)
	if err == nil {
		out.Secret = secret
	}
	return out, err
}

// RunWebhooks sends messages to webhooks until ctx ends. It is separate so that a slow receiver
// delays no run.
func RunWebhooks(ctx context.Context, s *api.Server) {
	often(ctx, s, "messages were not sent", SendMessages)
}

// SendMessages sends the messages that are due.
func SendMessages(ctx context.Context, s *api.Server) error {
	due, err := s.Config.Store.Rows().DueHooks(ctx,
		rows.DueHooksParams{Now: s.Config.Now().UnixMilli(), OfUser: sendOfUser, AtMost: sendMost})
	if err != nil {
		return err
	}
	failed := make([]error, len(due))
	var group sys.Group
	for i := range due {
		group.Go(func() { failed[i] = sendMessage(ctx, s, &due[i]) })
	}
	group.Wait()
	return errors.Join(failed...)
}

// sendMessage tries to send a message once, and stores the result.
func sendMessage(ctx context.Context, s *api.Server, d *rows.DueHooksRow) error {
	r := &d.CheckedScheduleRun
	status, err := post(ctx, s, &d.CheckedSchedule, r.ID, r.HookBody)
	if ctx.Err() != nil { // the server ends: the attempt does not count
		return ctx.Err()
	}
	r.HookAttempts++
	p := rows.PutHookParams{
		ID: r.ID, HookState: hookDelivered, HookAttempts: r.HookAttempts, HookStatus: int64(status),
		HookError: []byte{},
	}
	if err != nil {
		p.HookError = []byte(inWords(ctx, s, err))
		p.HookState = hookFailed
		wait, again := job.Retry(int(r.HookAttempts))
		if again && status != http.StatusGone && !errors.Is(err, errNoSecret) {
			p.HookState, p.HookAt = hookWaiting, s.Config.Now().Add(wait).UnixMilli()
		}
	}
	return s.Config.Store.Change(ctx, "keep what became of a message",
		func(q *rows.Queries) error { return q.PutHook(ctx, p) })
}

// errNoSecret: the secret of a webhook is lost.
var errNoSecret = fmt.Errorf("%w: the secret of the webhook cannot be read: make a new one (webhook_new_secret)",
	callvet.ErrConflict)

// post sends a message, with the network permissions of the schedule's owner. The error wraps
// callvet.ErrConflict if the response is not 2xx or missing.
func post(ctx context.Context, s *api.Server, sc *rows.CheckedSchedule, id string,
	message []byte,
) (status int, err error) {
	if _, err := owns(ctx, s, sc); err != nil {
		return 0, err
	}
	allowed, err := s.Config.Accounts.Allowed(ctx)
	if err == nil {
		err = checkHook(string(sc.Webhook), allowed)
	}
	if err != nil {
		return 0, err
	}
	secret, err := s.Config.Accounts.OpenSealed(sc.ID, sc.Secret)
	if err != nil {
		return 0, errNoSecret
	}
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, string(sc.Webhook), bytes.NewReader(message))
	if err != nil {
		return 0, fmt.Errorf("%w: the address cannot be asked", callvet.ErrInvalid)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "callvet/"+s.Config.Version)
	if err := job.Sign(req.Header, secret, id, s.Config.Now(), message); err != nil {
		return 0, err
	}
	client := app.Reach{Private: allowed.Private, Hosts: allowed.Hosts}.Client()
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) { // without the address, which may hold a secret
			err = at.Err
		}
		return 0, fmt.Errorf("%w: %w", callvet.ErrConflict, err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, drainMost)) // only its status counts
	if res.StatusCode/100 != 2 {
		return res.StatusCode, fmt.Errorf("%w: the webhook answered %d", callvet.ErrConflict, res.StatusCode)
	}
	return res.StatusCode, nil
}

func testWebhook(ctx context.Context, s *api.Server, _ *account.Principal, in *SchedulePath) (*HookState, error) {
	sc, err := schedule(ctx, s, in.ID)
	if err != nil {
		return nil, err
	}
	if len(sc.Webhook) == 0 {
		return nil, fmt.Errorf("send a message: %w: the schedule has no webhook_url", callvet.ErrConflict)
	}
	id, err := store.NewID(nil, "test")
	if err != nil {
		return nil, err
	}
	message, err := messageOf(s, sc, "schedule.test", nil)
	if err != nil {
		return nil, err
	}
	status, err := post(ctx, s, sc, id, message)
	out := HookState{State: hookDelivered, Attempts: 1, Status: int64(status)}
	if err != nil {
		out.State, out.Error = hookFailed, inWords(ctx, s, err)
	}
	return &out, nil
}
