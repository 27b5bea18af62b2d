// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/safety"
)

// maxRedirects bounds how often a live tool may send a request elsewhere.
const maxRedirects = 5

// Client is base, or a new client, made safe for live tools. It refuses a connection to a resolved
// address that is neither public nor in the policy's networks, and a redirect that leaves the
// domains or https. It uses no proxy, which would hide the address. Errors wrap a
// callvet.DeniedError.
func (g *Guards) Client(base *http.Transport) *http.Client {
	t := &http.Transport{ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 8, IdleConnTimeout: idle}
	if base != nil {
		t = base.Clone()
	}
	t.Proxy, t.DialContext, t.DialTLSContext = nil, g.Dial, nil
	return &http.Client{Transport: t, CheckRedirect: g.redirect}
}

// Dial connects as net.Dialer does, where the policy allows it.
func (g *Guards) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout, Control: g.control}
	return d.DialContext(ctx, network, address)
}

// control checks each resolved address just before the connection. So a name cannot resolve to one
// address for the check and to another for the connection.
func (g *Guards) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return refused(safety.RulePrivate, "the address %s cannot be read", address)
	}
	if why := g.checker.Private(at.Addr()); why != "" {
		return refused(safety.RulePrivate, "a connection to %s was refused: it is %s", at.Addr(), why)
	}
	return nil
}

func (g *Guards) redirect(req *http.Request, via []*http.Request) error {
	from, to := via[len(via)-1].URL, req.URL
	switch {
	case len(via) > maxRedirects:
		return refused(safety.RuleDomain, "more than %d redirects", maxRedirects)
	case to.Scheme != "https" && (to.Scheme != "http" || from.Scheme == "https"):
		return refused(safety.RuleDomain, "a redirect to %s was refused: it leaves %s", place(to), from.Scheme)
	case to.Host != via[0].URL.Host && !g.checker.Reaches(to.Hostname()):
		return refused(safety.RuleDomain,
			"a redirect to %s was refused: it is not in the allowlist of domains", place(to))
	}
	return nil
}

// place is an address without parts that may be secret.
func place(u *url.URL) string { return u.Scheme + "://" + u.Host }

func refused(rule safety.Rule, format string, args ...any) error {
	return &callvet.DeniedError{Ruling: callvet.Ruling{
		Rule: string(rule), Action: callvet.RulingDeny,
		Detail: fmt.Sprintf(format, args...),
	}}
}
