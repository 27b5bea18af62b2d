// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"fmt"
)

// Owners looks up users' names by id, for readers of their objects, and remembers them.
type Owners struct {
	S     *Server
	known map[string]string
}

// Of is the name of a user; "" if he was removed, and in callvet view.
func (n *Owners) Of(ctx context.Context, id string) (string, error) {
	if name, ok := n.known[id]; ok || id == "" {
		return name, nil
	}
	u, err := n.S.Config.Store.Rows().User(ctx, id)
	if err != nil && !IsMissing(err) {
		return "", fmt.Errorf("read user: %w", err)
	}
	if n.known == nil {
		n.known = map[string]string{}
	}
	n.known[id] = u.Name
	return u.Name, nil
}
