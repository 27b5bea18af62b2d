// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet/internal/sys"
)

// requestInfo is the server's data on a request: its address and, after the login, its user.
type requestInfo struct {
	address string
	secure  bool // it came over TLS, to this server or to its proxy
	user    string
	token   string
	changes []touched // objects of the path that the route may change
}

// about returns the requestInfo of a context; never nil.
func about(ctx context.Context) *requestInfo {
	if a, ok := ctx.Value(infoKey).(*requestInfo); ok {
		return a
	}
	return &requestInfo{}
}

// contentPolicy is the policy of responses that are not pages: a browser that renders one loads and
// runs nothing.
const contentPolicy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// Middleware wraps all routes. It refuses foreign hosts and cross-origin requests, writes the
// common headers, logs each request, and turns a panic into a response.
func (s *Server) Middleware(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	if s.Config.URL != nil {
		_ = cross.AddTrustedOrigin(s.Config.URL.Scheme + "://" + s.Config.URL.Host) // it was parsed
	}
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, http.StatusForbidden, "the request comes from the page of another site")
	}))
	inner := compressed(cross.Handler(next))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := s.Config.Now()
		info := &requestInfo{address: s.client(r)}
		info.secure = r.TLS != nil || s.Config.URL != nil && s.Config.URL.Scheme == "https"
		r = r.WithContext(context.WithValue(r.Context(), infoKey, info))
		out := &watched{ResponseWriter: w}
		defer s.logged(r, out, info, begun)
		defer s.caught(r, out)
		protect(out.Header(), r, info.secure)
		if !s.ours(r.Host) {
			writeProblem(out, http.StatusMisdirectedRequest, "the server is not known under this name")
			return
		}
		inner.ServeHTTP(out, r)
	})
}

// protect writes the security headers of every response; a page sets its own policy.
func protect(h http.Header, r *http.Request, secure bool) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		h.Set("Cache-Control", "no-store")
	}
}

// ours reports whether a request's host is the server's. A page in a browser can send requests to
// this machine under its own host name (DNS rebinding).
func (s *Server) ours(host string) bool {
	if !s.Config.Local && len(s.Config.Hosts) == 0 {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.Trim(strings.ToLower(host), "[]"), ".")
	if s.Config.URL != nil && strings.EqualFold(host, s.Config.URL.Hostname()) ||
		slices.ContainsFunc(s.Config.Hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return s.Config.Local && (host == "localhost" || err == nil && ip.IsLoopback())
}

// client is the address of a request's client. Behind trusted proxies it is the last forwarded
// address that is not a trusted proxy.
func (s *Server) client(r *http.Request) string {
	at := address(r)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && s.trusts(at); i-- {
		ip, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		at = ip.Unmap().String()
	}
	return at
}

func (s *Server) trusts(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil &&
		slices.ContainsFunc(s.Config.Proxies, func(p netip.Prefix) bool { return p.Contains(ip.Unmap().WithZone("")) })
}

// logged counts a request and logs it, without its query and its headers, which may hold secrets.
func (s *Server) logged(r *http.Request, w *watched, info *requestInfo, begun time.Time) {
	s.Metrics.count(r, w, s.Config.Now().Sub(begun))
	s.Log.InfoContext(r.Context(), "request", "method", r.Method, "path", r.URL.Path, "status", w.code(),
		"bytes", w.bytes,
		"ms", s.Config.Now().Sub(begun).Milliseconds(), "address", info.address, "user", info.user, "token", info.token)
}

// caught turns a panic into a response, and logs its stack.
func (s *Server) caught(r *http.Request, w *watched) {
	p := sys.PanicOf(recover())
	if p == nil {
		return
	}
	if p.Value == http.ErrAbortHandler { //nolint:errorlint // it is this value itself
		panic(http.ErrAbortHandler)
	}
	s.Log.ErrorContext(r.Context(), "a handler panicked", "path", r.URL.Path, "error",
		s.Config.App.Secrets().Hide(p.Error()), "stack", string(p.Stack))
	if w.status == 0 {
		writeProblem(w, http.StatusInternalServerError,
			"something went wrong here; the log of the server has the cause")
	}
}

// writeProblem writes an error outside of huma, in the same form.
func writeProblem(w http.ResponseWriter, code int, text string) {
	b, err := json.Marshal(huma.NewError(code, text))
	if err != nil {
		b = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(code)
	_, _ = w.Write(b) // an error means that the client disconnected
}

// watched is a response writer that records the status and the size.
type watched struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader keeps the status.
func (w *watched) WriteHeader(code int) {
	if w.status == 0 || w.status < http.StatusOK {
		w.status = code
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write counts.
func (w *watched) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap returns the inner writer, which http.ResponseController hijacks.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush sends what was written.
func (w *watched) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

func (w *watched) code() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}

// pageURL is the address of a one-time link: its secret is in the fragment, which browsers do not
// send.
func (s *Server) pageURL(secret string) string {
	base := url.URL{Scheme: "http", Host: "localhost"}
	if s.Config.URL != nil {
		base = *s.Config.URL
	}
	return strings.TrimRight(base.String(), "/") + "/#claim=" + secret
}
