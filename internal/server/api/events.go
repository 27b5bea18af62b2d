// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/sys"
)

// EventPage is a page of events.
type EventPage struct {
	First  int64             `json:"first" doc:"the oldest stored event"`
	Last   int64             `json:"last" doc:"the newest event"`
	Events []json.RawMessage `json:"events"`
}

// Ticket lets one socket in.
type Ticket struct {
	Ticket    string `json:"ticket" doc:"for the first message of a socket: {\"type\":\"ticket\",\"ticket\":…}"`
	ExpiresIn int    `json:"expires_in" doc:"seconds"`
}

// streamType is the type of server-sent events.
const streamType = "text/event-stream"

// keepAlive is the interval of the keep-alive messages.
const keepAlive = 15 * time.Second

// AddEvents adds the routes of events: the socket, the stream and the list.
func (s *Server) AddEvents() {
	s.Mux.HandleFunc("GET /ws", s.socket)
	op := Operations("events", "/api")
	Answer(s, op("ws-ticket", http.MethodPost, "/ws-ticket",
		"A ticket for one socket (GET /ws), where no cookie can be sent"), Access{Scope: account.ScopeRead},
		func(_ context.Context, by *account.Principal, _ *struct{}) (*Ticket, error) {
			text, err := s.Live.newTicket(by, s.Config.Now())
			if err != nil {
				return nil, err
			}
			return &Ticket{text, int(ticketLife.Seconds())}, nil
		})
	type listInput struct {
		Since int64 `query:"since" minimum:"0" doc:"events after this one"`
		Limit int   `query:"limit" minimum:"1" maximum:"1000" default:"200"`
	}
	Answer(s, op("list-events", http.MethodGet, "/events/list", "Events that happened, in order"),
		Access{}, func(ctx context.Context, by *account.Principal, in *listInput) (*EventPage, error) {
			out := &EventPage{}
			var err error
			if out.First, out.Last, err = s.Jobs.Range(ctx, by.User); err != nil {
				return nil, err
			}
			list, err := s.Jobs.Events(ctx, by.User, in.Since, in.Limit)
			out.Events = texts(list)
			return out, err
		})
	type streamInput struct {
		Since int64  `query:"since" minimum:"-1" default:"-1" doc:"events after this one; -1: from the next one on"`
		Last  string `header:"Last-Event-ID" doc:"as since; it counts before it"`
	}
	Add(s, huma.Operation{
		OperationID: "stream-events", Method: http.MethodGet, Path: "/api/events",
		Summary: "Events as they happen (server-sent events)", Tags: []string{"events"},
		Responses: map[string]*huma.Response{"200": {
			Description: "a stream of events",
			Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
		}},
	}, Access{}, func(ctx context.Context, by *account.Principal, in *streamInput) (*huma.StreamResponse, error) {
		since := &in.Since
		if in.Last != "" {
			n, err := strconv.ParseInt(in.Last, 10, 64)
			if err != nil || n < 0 {
				return nil, &callvet.FieldError{
					Field: "Last-Event-ID",
					Text:  "{Last-Event-ID}: it is the number of an event",
				}
			}
			since = &n
		} else if in.Since < 0 {
			since = nil
		}
		slot, ok := s.Live.enter(by.User, s.sockets())
		if !ok {
			return nil, fmt.Errorf("follow events: %w: %d connections of a user may do so", callvet.ErrLimited,
				s.sockets())
		}
		f, hello, err := s.follow(ctx, slot, since)
		if err != nil {
			slot.leave()
			return nil, err
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			defer slot.leave()
			defer f.watch.Close()
			s.stream(ctx, hc, f, hello)
		}}, nil
	})
}

// texts are events as JSON.
func texts(list []job.Event) []json.RawMessage {
	out := make([]json.RawMessage, len(list))
	for i := range list {
		out[i] = list[i].JSON()
	}
	return out
}

// sockets is how many connections of a user may follow his events.
func (s *Server) sockets() int {
	if s.Config.Sockets > 0 {
		return s.Config.Sockets
	}
	return DefaultSockets
}

// stream sends events until the client goes away or the server ends.
func (s *Server) stream(ctx context.Context, hc huma.Context, f *follower, hello []byte) {
	hc.SetHeader("Content-Type", streamType)
	hc.SetHeader("Cache-Control", "no-store")
	hc.SetHeader("X-Accel-Buffering", "no")
	r, w := humago.Unwrap(hc)
	login := s.loginOf(r, nil)
	to := http.NewResponseController(w)
	ctx, cancel := context.WithCancel(ctx)
	var beside sys.Group
	defer beside.Wait()
	defer cancel()
	beside.Go(func() {
		select {
		case <-s.Live.closing:
			cancel()
			_ = to.SetWriteDeadline(time.Now().Add(time.Second)) // a client that does not read delays no other
		case <-ctx.Done():
		}
	})
	send := func(lists ...[]byte) error {
		_ = to.SetWriteDeadline(time.Now().Add(patience)) // without it the client may take longer
		for _, b := range lists {
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
		return to.Flush()
	}
	err := send([]byte("event: sync\ndata: "), hello, []byte("\n\n"))
	for err == nil {
		wait, stop := context.WithTimeout(ctx, keepAlive)
		list, skipped, nerr := f.next(wait)
		stop()
		if !login.holds(ctx) {
			return
		}
		switch {
		case errors.Is(nerr, context.DeadlineExceeded) && ctx.Err() == nil:
			err = send([]byte(": keep-alive\n\n"))
			continue
		case nerr != nil:
			return
		}
		var out []byte
		if skipped != nil {
			out = fmt.Appendf(out, "event: events_skipped\ndata: %s\n\n", skipped)
		}
		for i := range list {
			out = appendEvent(out, &list[i])
		}
		err = send(out)
	}
}

// appendEvent writes an event for a stream. JSON has no line breaks of its own.
func appendEvent(b []byte, e *job.Event) []byte {
	return fmt.Appendf(b, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Kind, e.JSON())
}
