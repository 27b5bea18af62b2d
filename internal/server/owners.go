// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"fmt"
)

// owners looks up users' names by id, for readers of their objects, and remembers them.
type owners struct {
	s     *Server
	known map[string]string
}

// of is the name of a user; "" if he was removed, and in callvet view.
func (n *owners) of(ctx context.Context, id string) (string, error) {
	if name, ok := n.known[id]; ok || id == "" {
		return name, nil
	}
	u, err := n.s.cfg.Store.Rows().User(ctx, id)
	if err != nil && !isMissing(err) {
		return "", fmt.Errorf("read user: %w", err)
	}
	if n.known == nil {
		n.known = map[string]string{}
	}
	n.known[id] = u.Name
	return u.Name, nil
}
