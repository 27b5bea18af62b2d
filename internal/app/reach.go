// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/embed"
	"github.com/callvet/callvet/internal/guard"
	"github.com/callvet/callvet/internal/provider"
)

// Reach says where the requests of an App may go that works for others, as a server does. The
// zero value is the public Internet.
type Reach struct {
	// Private and Hosts are those of guard.Reach.
	Private bool
	Hosts   []string
	// Lent are values that are not the user's, such as keys of the server, each with the hosts
	// that it may be sent to: an address that the user gives would get it otherwise.
	Lent map[string][]string
}

// Client sends requests where they may go. It follows no redirect and uses no proxy.
func (r Reach) Client() *http.Client {
	base, ok := provider.NewHTTPClient().Transport.(*http.Transport)
	if !ok {
		base = &http.Transport{}
	}
	c := guard.Reach{Private: r.Private, Hosts: r.Hosts}.Client(base)
	if len(r.Lent) > 0 {
		c.Transport = &lender{next: c.Transport, lent: r.Lent}
	}
	return c
}

// lender refuses requests that carry a value to a host that it is not for.
type lender struct {
	next http.RoundTripper
	lent map[string][]string
}

// RoundTrip sends a request.
func (l *lender) RoundTrip(r *http.Request) (*http.Response, error) {
	for value, hosts := range l.lent {
		if slices.Contains(hosts, r.URL.Host) && (r.Host == "" || r.Host == r.URL.Host) || !carries(r, value) {
			continue
		}
		if r.Body != nil {
			_ = r.Body.Close() // as every RoundTripper does
		}
		return nil, &callvet.DeniedError{Ruling: callvet.Ruling{
			Rule: "lent-key", Action: callvet.RulingDeny, Detail: fmt.Sprintf("a key of the server is not sent to %s: it is for %s alone", r.URL.Host, strings.Join(hosts, ", ")),
		}}
	}
	return l.next.RoundTrip(r)
}

// CloseIdleConnections closes what nobody uses.
func (l *lender) CloseIdleConnections() {
	if c, ok := l.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// carries reports whether a request has a value in its address or a header.
func carries(r *http.Request, value string) bool {
	address := r.URL.String()
	if plain, err := url.QueryUnescape(address); strings.Contains(address, value) || err == nil && strings.Contains(plain, value) {
		return true
	}
	if plain, err := url.PathUnescape(address); err == nil && strings.Contains(plain, value) {
		return true
	}
	for _, values := range r.Header {
		if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, value) }) {
			return true
		}
	}
	return strings.Contains(r.Host, value)
}

// Keys are the variables of the environment that keys of providers are read from, each once.
func Keys() []string { return keyVariables() }

// LendableSettings are the variables that say where providers are asked, and how.
func LendableSettings() []string { return provider.Settings() }

// KeyHosts are the hosts that the key of each variable is for, by an environment.
func KeyHosts(getenv func(string) string) map[string][]string {
	out := provider.KeyHosts(getenv)
	for name, hosts := range embed.KeyHosts(getenv) {
		for _, h := range hosts {
			if !slices.Contains(out[name], h) {
				out[name] = append(out[name], h)
			}
		}
	}
	return out
}
