// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/internal/world"
)

// Reach limits the destinations of requests of an App that works for other people, as on a server.
// The zero value is the public Internet.
type Reach struct {
	// Private and Hosts: see world.GuardReach.
	Private bool
	Hosts   []string
	// Keys are secrets for certain hosts only: otherwise they could be sent to an address that
	// another person wrote.
	Keys []HostKey
}

// HostKey is a key with the hosts to which it may be sent, with their port unless it is the default
// one.
type HostKey struct {
	// Variable is its name; "" for a key of the server, which is not shown to the user.
	Variable, Value string
	Hosts           []string
	// Near allows the key also for private addresses that Reach allows.
	Near bool
}

// Client sends requests where they may go. It follows no redirect and uses no proxy.
func (r Reach) Client() *http.Client {
	base, ok := provider.NewHTTPClient().Transport.(*http.Transport)
	if !ok {
		base = &http.Transport{}
	}
	may := world.GuardReach{Private: r.Private, Hosts: r.Hosts}
	c := may.Client(base)
	if len(r.Keys) > 0 {
		c.Transport = &keyring{next: c.Transport, keys: r.Keys, near: may.Near}
	}
	return c
}

// keyring refuses requests that would send a key to a wrong host.
type keyring struct {
	next http.RoundTripper
	keys []HostKey
	near func(host string) bool
}

// RoundTrip sends a request.
func (l *keyring) RoundTrip(r *http.Request) (*http.Response, error) {
	err := l.refuse(r)
	if err == nil {
		return l.next.RoundTrip(r)
	}
	if r.Body != nil {
		_ = r.Body.Close() // as every RoundTripper must
	}
	return nil, err
}

// refuse returns the error of a request that would send a key to a wrong host.
func (l *keyring) refuse(r *http.Request) error {
	to := hostOf(r.URL)
	own := r.Host == "" || r.Host == r.URL.Host
	for i := range l.keys {
		k := &l.keys[i]
		// One value may have several names: each of them may allow it.
		may := own && slices.ContainsFunc(l.keys, func(o HostKey) bool {
			return o.Value == k.Value && (slices.Contains(o.Hosts, to) || o.Near && l.near(r.URL.Hostname()))
		})
		if may || !carries(r, k.Value) {
			continue
		}
		return &callvet.DeniedError{Ruling: callvet.Ruling{
			Rule: "key-host", Action: callvet.RulingDeny,
			Detail: k.refusal(to),
		}}
	}
	return nil
}

// refusal names the key, the host and how to allow it.
func (k *HostKey) refusal(host string) string {
	to := "no host"
	if len(k.Hosts) > 0 {
		to = strings.Join(k.Hosts, ", ") + " alone"
	}
	if k.Variable == "" {
		return fmt.Sprintf("a key of the server is not sent to %s: it is for %s", host, to)
	}
	return fmt.Sprintf(
		"%s is not sent to %s: it is kept for %s; to allow the host, give the key again with it under Settings, Keys (PUT /api/keys/%s)", k.Variable, host, to, k.Variable)
}

// hostOf returns the host of an address as in HostKey: in lower case, without the default port of
// its scheme.
func hostOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	for scheme, port := range map[string]string{"http": ":80", "https": ":443"} {
		if rest, ok := strings.CutSuffix(host, port); ok && u.Scheme == scheme {
			host = rest
		}
	}
	return host
}

// CloseIdleConnections closes idle connections.
func (l *keyring) CloseIdleConnections() {
	if c, ok := l.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// minKey is the least length of a key that is searched in texts. A shorter one ("none", "EMPTY") is
// a placeholder for a local server, and may occur as a word in a header or a query.
const minKey = 8

// carries reports whether a request contains a value in its address, a header or its body.
func carries(r *http.Request, value string) bool {
	if len(value) < minKey {
		return carriesWord(r, value)
	}
	address := r.URL.String()
	if plain, err := url.QueryUnescape(address); strings.Contains(address, value) || err == nil &&
		strings.Contains(plain, value) {
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
	return strings.Contains(r.Host, value) || inBody(r, value)
}

// carriesWord is carries for a short value.
func carriesWord(r *http.Request, value string) bool {
	for _, values := range r.Header {
		if slices.ContainsFunc(values, func(v string) bool { return slices.Contains(strings.Fields(v), value) }) {
			return true
		}
	}
	for _, values := range r.URL.Query() {
		if slices.Contains(values, value) {
			return true
		}
	}
	return false
}

// inBody reports whether a body contains a value, plain or escaped as in a JSON string. A body that
// can be read only once is not read: no target makes such a body from variables.
func inBody(r *http.Request, value string) bool {
	if r.Body == nil || r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		return false
	}
	if bytes.Contains(text, []byte(value)) {
		return true
	}
	quoted, err := json.Marshal(value)
	return err == nil && bytes.Contains(text, quoted[1:len(quoted)-1])
}

// Keys are the environment variables with keys of providers, each once.
func Keys() []string { return KeyVariables() }

// LendableSettings are the variables with addresses and other settings of providers.
func LendableSettings() []string { return provider.Settings() }

// KeyHosts returns the hosts for the key of each variable, in an environment.
func KeyHosts(getenv func(string) string) map[string][]string {
	out := provider.KeyHosts(getenv)
	for name, hosts := range provider.EmbedKeyHosts(getenv) {
		for _, h := range hosts {
			if !slices.Contains(out[name], h) {
				out[name] = append(out[name], h)
			}
		}
	}
	return out
}
