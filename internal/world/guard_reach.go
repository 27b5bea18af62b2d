// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"github.com/callvet/callvet/score/safety"
)

// GuardReach are the addresses to which users of a server may send requests from its machine. The
// zero value is the public Internet.
type GuardReach struct {
	// Private allows all addresses except link-local ones and metadata services of clouds, which
	// reveal credentials.
	Private bool
	// Hosts are allowed names and addresses, without ports, whatever they resolve to.
	Hosts []string
}

// Client is base made safe: it refuses a connection to a resolved address that is not allowed. It
// follows no redirect, keeps no cookie, and uses no proxy, which would hide the address. Errors
// wrap a callvet.DeniedError.
func (r GuardReach) Client(base *http.Transport) *http.Client {
	t := base.Clone()
	t.Proxy, t.DialTLSContext = nil, nil
	t.DialContext = r.dial
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// dial connects where the policy allows it.
func (r GuardReach) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, refused(safety.RulePrivate, "the address %s cannot be read", address)
	}
	d := net.Dialer{Timeout: dialTimeout}
	if !r.named(host) {
		d.Control = r.control
	}
	return d.DialContext(ctx, network, address)
}

// named reports whether a host is one of Hosts, in any spelling of an address.
func (r GuardReach) named(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	at, err := netip.ParseAddr(host)
	return slices.ContainsFunc(r.Hosts, func(h string) bool {
		if err != nil {
			return h == host
		}
		a, aerr := netip.ParseAddr(h)
		return aerr == nil && a.Unmap() == at.Unmap()
	})
}

// Near reports whether a host, without its port, is one of Hosts or, with Private, the machine itself or a private
// address. A name that only resolves to a private address is not.
func (r GuardReach) Near(host string) bool {
	if r.named(host) {
		return true
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if !r.Private {
		return false
	}
	at, err := netip.ParseAddr(host)
	if err != nil {
		return host == "localhost" || strings.HasSuffix(host, ".localhost")
	}
	return safety.PrivateAddress(at) != "" && !safety.ServesCredentials(at)
}

// control checks each resolved address just before the connection. So a name cannot resolve to one
// address for the check and to another for the connection.
func (r GuardReach) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return refused(safety.RulePrivate, "the address %s cannot be read", address)
	}
	why := safety.PrivateAddress(at.Addr())
	if why == "" || r.Private && !safety.ServesCredentials(at.Addr()) {
		return nil
	}
	return refused(safety.RulePrivate, "a connection to %s was refused: it is %s, and it is not allowed",
		at.Addr(), why)
}
