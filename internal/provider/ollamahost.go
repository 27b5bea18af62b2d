// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"net"
	"net/url"
	"strings"
)

const ollamaPort = "11434"

// ollamaAddress converts OLLAMA_HOST to an address. The scheme (http) and, under http, the port (11434)
// may be missing. A bind address (0.0.0.0, ::, empty) becomes this machine. The path does not
// change; a text that is not an address is returned unchanged.
func ollamaAddress(host string) string {
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
