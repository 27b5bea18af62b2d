// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/store/rows"
)

// touched is an object that a request may have changed, with its owner before that.
type touched struct {
	kind Kind
	id   string
	was  account.Owned
}

// audited records in the audit log when a request changes who may read an object, and when an admin
// changes an object of another user. Deletions have their own entries.
func (s *Server) audited(ctx context.Context, op *huma.Operation) error {
	changes := about(ctx).changes
	if s.Config.Accounts == nil || len(changes) == 0 || op.Method == http.MethodDelete {
		return nil
	}
	by := Who(ctx)
	ctx = context.WithoutCancel(ctx) // the change is made even if the client disconnected
	for i := range changes {
		c := &changes[i]
		now, err := s.Owner(ctx, c.kind, c.id)
		if IsMissing(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look up %s: %w", c.kind, err)
		}
		if now.Shared != c.was.Shared {
			if err := s.shares(ctx, by, c.kind, c.id, now.Shared); err != nil {
				return err
			}
		}
		if c.was.User != by.User {
			err := s.record(ctx, by, string(c.kind)+".change", c.id,
				map[string]any{"owner": c.was.User, "operation": op.OperationID})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// shares records in the audit log that an object is now shared with every user, or no longer.
func (s *Server) shares(ctx context.Context, by *account.Principal, kind Kind, id string, shared bool) error {
	word := ".share"
	if !shared {
		word = ".unshare"
	}
	return s.record(ctx, by, string(kind)+word, id, nil)
}

// SharesNew is shares for a new object; an object that is not shared gets no entry.
func (s *Server) SharesNew(ctx context.Context, by *account.Principal, kind Kind, id string, shared bool) error {
	if !shared {
		return nil
	}
	return s.shares(ctx, by, kind, id, true)
}

// record writes one entry into the audit log.
func (s *Server) record(ctx context.Context, by *account.Principal, action, object string, detail any) error {
	if s.Config.Accounts == nil {
		return nil
	}
	return s.Config.Store.Change(ctx, "write audit log", func(q *rows.Queries) error {
		return s.Config.Accounts.Record(ctx, q, by, action, object, detail)
	})
}

// Started records in the audit log that a user began work that asks models, with the key variables
// of its targets. It runs in the transaction that stores the work.
func (s *Server) Started(ctx context.Context, q *rows.Queries, by *account.Principal, action, object string, targets,
	keys []string,
) error {
	if s.Config.Accounts == nil {
		return nil
	}
	return s.Config.Accounts.Record(ctx, q, by, action, object, map[string]any{"targets": targets, "keys": keys})
}

// Used returns the names of targets and the key variables that they name, each once.
func Used(specs []app.TargetSpec) (targets, keys []string) {
	keys = []string{}
	for i := range specs {
		targets = append(targets, specs[i].Target)
		keys = append(keys, specs[i].KeyVariables()...)
	}
	slices.Sort(keys)
	return targets, slices.Compact(keys)
}
