// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package endpoint answers what adapters that talk to a server share: which address does a
// server's own variable mean, may it be kept and sent to, and how is what a server says cut
// so that no half of a secret is left? It reads no environment and asks nobody.
package endpoint

import (
	"net"
	"net/url"
	"strings"
)

const ollamaPort = "11434"

// Ollama makes an address of OLLAMA_HOST, which may lack the scheme (http) and, under
// http, the port (11434), and may be what the server binds to (0.0.0.0, ::, nothing),
// which is then this machine. The path stays as it is; a text that is no address stays
// whole.
func Ollama(host string) string {
	address := host
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return host
	}
	name, port := u.Hostname(), u.Port()
	if name == "0.0.0.0" || name == "::" || name == "" {
		name = "127.0.0.1"
	}
	if port == "" && u.Scheme == "http" {
		port = ollamaPort
	}
	switch {
	case port != "":
		u.Host = net.JoinHostPort(name, port)
	case strings.Contains(name, ":"):
		u.Host = "[" + name + "]"
	default:
		u.Host = name
	}
	return u.String()
}
