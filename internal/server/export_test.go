// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"

	"github.com/callvet/callvet/internal/account"
)

// Environment and Visible are what the App of a user sees of the server's environment.
func Environment(keys map[string]string, server func(string) string, allowed account.Allowed) func(string) string {
	return environment(keys, server, allowed)
}

func Visible(environ []string, keys map[string]string) []string { return visible(environ, keys) }

// SendMessages sends the messages to webhooks that are due.
func (s *Server) SendMessages(ctx context.Context) error { return s.sendMessages(ctx) }
