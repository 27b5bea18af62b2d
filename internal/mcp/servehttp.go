// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is the path of a server over HTTP.
const Path = "/mcp"

// Limits of a server over HTTP, in addition to those of a Serving.
const (
	headerTime  = 10 * time.Second
	headerBytes = 64 << 10
	maxSession  = 128 // bytes of the name of a session in an address
)

// Listener is the listener of a server over HTTP.
type Listener = net.Listener

// Local reports whether only this machine reaches a listener.
func Local(l Listener) bool {
	at, err := netip.ParseAddrPort(l.Addr().String())
	return err == nil && at.Addr().IsLoopback()
}

// HTTP serves conversations over streamable HTTP at Path until ctx ends; l is closed then.
//
// A conversation is a session of the protocol. For versions without sessions each address with
// ?session=NAME is a conversation. At other addresses an agent gets the list of versions with
// sessions, because two agents at one address cannot be distinguished.
func (s *Serving) HTTP(ctx context.Context, l Listener) error {
	inner := s.start(ctx)
	srv := &http.Server{
		Handler: s.handler(l.Addr()), ReadHeaderTimeout: headerTime, MaxHeaderBytes: headerBytes, IdleTimeout: s.Idle,
		BaseContext: func(net.Listener) context.Context { return inner },
	}
	stop := upon(s.over, func() { _ = srv.Close() })
	err := srv.Serve(l)
	stop()
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, http.ErrServerClosed):
		err = nil
	default:
		err = fmt.Errorf("serve MCP at %s: %w", l.Addr(), err)
	}
	return errors.Join(err, s.end())
}

// handler answers requests at the address at.
func (s *Serving) handler(at net.Addr) http.Handler {
	options := func(stateless bool) *sdk.StreamableHTTPOptions {
		return &sdk.StreamableHTTPOptions{
			Stateless: stateless, SessionTimeout: s.Idle, MaxRequestBodyBytes: int64(s.MaxBytes),
			PropagateRequestCancellation: true,
			DisableLocalhostProtection:   true, // refuses checks it, and Origin too
		}
	}
	sessions := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		d := s.desk()
		d.query = query(r)
		return d.server()
	}, options(false))
	addresses := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		return s.byAddress(r).server()
	}, options(true))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Query().Get("session")
		switch why := s.refuses(r, at); {
		case why != "":
			http.Error(w, why, http.StatusForbidden)
		case r.URL.Path != Path:
			http.Error(w, "MCP is spoken at "+Path, http.StatusNotFound)
		case len(name) > maxSession:
			http.Error(w, fmt.Sprintf("the name of a session has at most %d bytes", maxSession), http.StatusBadRequest)
		case name != "":
			addresses.ServeHTTP(w, r)
		default:
			sessions.ServeHTTP(w, r)
		}
	})
}

// query returns the other parameters of an address: the first value of each key.
func query(r *http.Request) map[string]string {
	out := map[string]string{}
	for k, v := range r.URL.Query() {
		if k != "session" && len(v) > 0 {
			out[k] = v[0]
		}
	}
	return out
}

// byAddress is the conversation of an address. It removes idle ones.
func (s *Serving) byAddress(r *http.Request) *desk {
	key := r.URL.Query().Encode()
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, d := range s.named {
		if d.idle() {
			delete(s.named, k)
			s.owner.Go(d.close)
		}
	}
	d := s.named[key]
	if d == nil {
		d = s.desk()
		d.query, d.shared = query(r), true
		if len(s.named) < s.MaxTalks { // else it is refused when it begins
			s.named[key] = d
		}
	}
	return d
}

// idle reports whether a conversation had no message for long.
func (d *desk) idle() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waiting == 0 && d.of.Now().Sub(d.lastActive) > d.of.Idle
}

// refuses is the reason to refuse a request; "" for none. A page in a browser can send requests to
// this machine under its own host name (DNS rebinding): both Host and Origin must be this server's.
func (s *Serving) refuses(r *http.Request, at net.Addr) string {
	if !s.own(r.Host, at) {
		return fmt.Sprintf("the host %q is not this server", r.Host)
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || !s.own(u.Host, at) {
			return fmt.Sprintf("requests of pages of %q are not answered", origin)
		}
	}
	return ""
}

// own reports whether a host, with or without port, is this machine, the listening address, or one
// of Hosts.
func (s *Serving) own(host string, at net.Addr) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(host), "["), "]"), ".")
	if host == "localhost" || slices.ContainsFunc(s.Hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	if ip.IsLoopback() {
		return true
	}
	own, err := netip.ParseAddrPort(at.String())
	return err == nil && own.Addr().Unmap() == ip.Unmap() && !ip.IsUnspecified()
}
