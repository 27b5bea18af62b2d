// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"

	"github.com/callvet/callvet/internal/account"
)

// Principal is the principal of a user, for work without a request. The error wraps
// callvet.ErrNotFound where he was removed.
func (s *Server) Principal(ctx context.Context, user string) (*account.Principal, error) {
	u, err := s.Config.Accounts.User(ctx, user)
	if err != nil {
		return nil, err
	}
	return &account.Principal{User: u.ID, Name: u.Name, Role: u.Role}, nil
}
