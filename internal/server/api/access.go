// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

// Kind is a kind of object that belongs to a user.
type Kind string

// The kinds.
const (
	KindSuite Kind = "suite"
	// KindDeletedSuite is a deleted suite that can be restored.
	KindDeletedSuite Kind = "deleted suite"
	KindCatalogue    Kind = "catalogue"
	KindRun          Kind = "run"
	KindJob          Kind = "job"
	KindExperiment   Kind = "experiment"
	KindSchedule     Kind = "schedule"
	KindToken        Kind = "token"
	// KindTraces is a collection of traces.
	KindTraces Kind = "traces"
	// KindGate are gates that are kept by name.
	KindGate Kind = "gate"
	// KindTune is a search for parameters or a prompt.
	KindTune Kind = "search"
	// KindPrompt is a version of a prompt that is kept.
	KindPrompt Kind = "prompt"
)

// Access is the permission that a route requires.
type Access struct {
	// Open routes need no login.
	Open bool
	// Role is the lowest role that may use the route; "" is Viewer.
	Role account.Role
	// Scope is what a token must allow; "" is ScopeRead for GET and ScopeWrite for the rest.
	Scope account.Scope
	// Objects are the parameters of the path that name objects, with their kinds. The user must be
	// able to read them for GET, and to change them for other methods unless Reads is set.
	Objects map[string]Kind
	// Session requires a login session and refuses tokens. It protects changes that outlive a
	// token.
	Session bool
	// Reads: the route only reads its objects, although its method is not GET.
	Reads bool
}

func (a *Access) scope(method string) account.Scope {
	switch {
	case a.Scope != "":
		return a.Scope
	case method == http.MethodGet || method == http.MethodHead:
		return account.ScopeRead
	}
	return account.ScopeWrite
}

// Route is a route of the API, for the test that walks all of them.
type Route struct {
	ID, Method, Path string
	Access           Access
}

// contextKey is the type of the keys of context values of a request.
type contextKey int

const (
	principalKey contextKey = iota
	infoKey
)

// Who is the principal of a request; nil on open routes without a login.
func Who(ctx context.Context) *account.Principal {
	p, _ := ctx.Value(principalKey).(*account.Principal)
	return p
}

// Add registers an operation under its path and under the other spelling of the path: /api/… and
// /api/v1/… are the same. do gets the principal of the request, which is nil on open routes only.
func Add[I, O any](s *Server, op huma.Operation, may Access,
	do func(ctx context.Context, by *account.Principal, in *I) (*O, error),
) {
	if may.Role == "" {
		may.Role = account.Viewer
	}
	if op.MaxBodyBytes == 0 {
		op.MaxBodyBytes = maxBody
	}
	op.BodyReadTimeout = bodyWithin(op.MaxBodyBytes)
	op.Middlewares = append(huma.Middlewares{s.gate(may)}, op.Middlewares...)
	if !may.Open {
		op.Security = []map[string][]string{{"token": {}}, {"session": {}}}
	}
	handle := func(ctx context.Context, in *I) (*O, error) {
		out, err := do(ctx, Who(ctx), in)
		if err == nil {
			err = s.audited(ctx, &op)
		}
		if err != nil {
			return nil, s.withRetry(ctx, err)
		}
		return out, nil
	}
	huma.Register(s.API, op, handle)
	s.routes = append(s.routes, Route{ID: op.OperationID, Method: op.Method, Path: op.Path, Access: may})
	if other := otherSpelling(op.Path); other != "" {
		alias := op
		alias.OperationID += "-alias"
		alias.Path, alias.Hidden = other, true
		huma.Register(s.API, alias, handle)
		s.routes = append(s.routes, Route{ID: alias.OperationID, Method: op.Method, Path: other, Access: may})
	}
}

// Answer is Add of a route with a response that is a body alone.
func Answer[I, T any](s *Server, op huma.Operation, may Access,
	do func(ctx context.Context, by *account.Principal, in *I) (*T, error),
) {
	Add(s, op, may, func(ctx context.Context, by *account.Principal, in *I) (*struct{ Body T }, error) {
		out, err := do(ctx, by, in)
		if err != nil {
			return nil, err
		}
		return &struct{ Body T }{*out}, nil
	})
}

// bodyWithin is the read timeout of a body of at most that many bytes: ten seconds, and the time
// that the bytes need at 2 Mbit/s.
func bodyWithin(most int64) time.Duration {
	return 10*time.Second + time.Duration(most>>18)*time.Second
}

// Deletes records the deletion of an object in the audit log, in the transaction that deletes it.
func (s *Server) Deletes(ctx context.Context, by *account.Principal, kind Kind, id string) store.Also {
	return func(q *rows.Queries) error {
		if s.Config.Accounts == nil {
			return nil
		}
		return s.Config.Accounts.Record(ctx, q, by, string(kind)+".delete", id, nil)
	}
}

// otherSpelling adds the version to a path, or removes it; "" for a path outside the API.
func otherSpelling(path string) string {
	if rest, ok := strings.CutPrefix(path, "/api/v1/"); ok {
		return "/api/" + rest
	}
	if rest, ok := strings.CutPrefix(path, "/api/"); ok {
		return "/api/v1/" + rest
	}
	return ""
}

// gate checks the permission for a route before it reads anything else of the request.
func (s *Server) gate(may Access) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		p, err := s.Config.Identify(w, r)
		if err == nil {
			err = s.allowed(ctx, p, &may)
		}
		if err != nil {
			if may.Open && errors.Is(err, ErrNoLogin) {
				next(ctx)
				return
			}
			s.refuse(ctx, err)
			return
		}
		if p != nil {
			info := about(r.Context())
			info.user, info.token = p.User, p.Token
		}
		next(huma.WithValue(ctx, principalKey, p))
	}
}

// ErrNoLogin means that the request needs a login and has none. It wraps callvet.ErrDenied.
var ErrNoLogin = fmt.Errorf("%w: log in first, or send a token: Authorization: Bearer …", callvet.ErrDenied)

// allowed decides whether p may use a route, with the objects that its path names.
func (s *Server) allowed(ctx huma.Context, p *account.Principal, may *Access) error {
	if may.Open {
		return nil
	}
	if p == nil {
		return ErrNoLogin
	}
	if s.refusesChange(ctx.Method(), may) {
		return errReadOnly
	}
	if !p.Role.AtLeast(may.Role) {
		return fmt.Errorf("%w: this needs the role %s, and %s is %s", callvet.ErrDenied, may.Role, p.Name, p.Role)
	}
	if scope := may.scope(ctx.Method()); !p.Allows(scope) {
		return fmt.Errorf("%w: the token is not for this: it needs the scope %s", callvet.ErrDenied, scope)
	}
	if may.Session && p.Token != "" {
		return fmt.Errorf("%w: a token cannot do this: log in", callvet.ErrDenied)
	}
	change := ctx.Method() != http.MethodGet && !may.Reads
	for param, kind := range may.Objects {
		o, err := s.may(ctx.Context(), p, kind, ctx.Param(param), change)
		if err != nil {
			return err
		}
		if change {
			info := about(ctx.Context())
			info.changes = append(info.changes, touched{kind, ctx.Param(param), o})
		}
	}
	return nil
}

// May is the one place that decides whether p may read or change an object. Objects of the path are
// checked before the handler runs; the handler checks those of a body, a query or a socket. An
// object that p may not read is reported as not found.
func (s *Server) May(ctx context.Context, p *account.Principal, kind Kind, id string, change bool) error {
	_, err := s.may(ctx, p, kind, id, change)
	return err
}

// may is May, and also returns the owner of the object.
func (s *Server) may(ctx context.Context, p *account.Principal, kind Kind, id string,
	change bool,
) (account.Owned, error) {
	o, err := s.Owner(ctx, kind, id)
	if err == nil && !p.MayRead(o) {
		err = sql.ErrNoRows
	}
	if errors.Is(err, sql.ErrNoRows) {
		return o, fmt.Errorf("%s %q: %w", kind, id, callvet.ErrNotFound)
	}
	if err != nil {
		return o, fmt.Errorf("look up %s: %w", kind, err)
	}
	if change && !p.MayChange(o) {
		return o, fmt.Errorf("change %s %s: %w: it is another user's", kind, id, callvet.ErrDenied)
	}
	return o, nil
}

// Owner looks up the owner of an object; sql.ErrNoRows if the object does not exist.
func (s *Server) Owner(ctx context.Context, kind Kind, id string) (o account.Owned, err error) {
	q := s.Config.Store.Rows()
	switch kind {
	case KindSuite:
		row, err := q.SuiteOwner(ctx, id)
		return account.Owned{User: row.UserID, Shared: row.Shared}, err
	case KindDeletedSuite:
		row, err := q.DeletedSuiteOwner(ctx, id)
		return account.Owned{User: row.UserID}, err
	case KindCatalogue:
		row, err := q.CatalogueOwner(ctx, id)
		return account.Owned{User: row.UserID, Shared: row.Shared}, err
	case KindRun:
		row, err := q.RunOwner(ctx, id)
		return account.Owned{User: row.UserID, Shared: row.Shared}, err
	case KindTraces:
		row, err := q.TracesOwner(ctx, id)
		return account.Owned{User: row.UserID, Shared: row.Shared}, err
	case KindGate:
		row, err := q.GateOwner(ctx, id)
		return account.Owned{User: row.UserID, Shared: row.Shared}, err
	case KindExperiment:
		row, err := q.ExperimentOwner(ctx, id)
		return account.Owned{User: row.UserID, Shared: row.Shared}, err
	case KindPrompt:
		row, err := q.PromptOwner(ctx, id)
		return account.Owned{User: row.UserID, Shared: row.Shared}, err
	case KindJob:
		o.User, err = q.JobOwner(ctx, id)
	case KindTune:
		o.User, err = q.TuneOwner(ctx, id)
	case KindSchedule:
		o.User, err = q.ScheduleOwner(ctx, id)
	case KindToken:
		o.User, err = q.TokenOwner(ctx, id)
	default:
		return o, fmt.Errorf("objects of kind %q: %w", kind, callvet.ErrInvalid)
	}
	return o, err
}

// With makes a handler for Add of a function that takes the server as an argument.
func With[I, O any](s *Server, do func(context.Context, *Server, *account.Principal, *I) (*O, error),
) func(context.Context, *account.Principal, *I) (*O, error) {
	return func(ctx context.Context, by *account.Principal, in *I) (*O, error) { return do(ctx, s, by, in) }
}

// Returning is an operation that succeeds with a status other than 200.
func Returning(status int, op huma.Operation) huma.Operation {
	op.DefaultStatus = status
	return op
}

// Downloads is an operation that succeeds with a file.
func Downloads(file string, op huma.Operation) huma.Operation {
	op.Responses = map[string]*huma.Response{"200": {
		Description: file,
		Content:     map[string]*huma.MediaType{"application/octet-stream": {}},
	}}
	return op
}

// Small is an operation with a body of at most SmallBody.
func Small(op huma.Operation) huma.Operation {
	op.MaxBodyBytes = SmallBody
	return op
}

// Operations makes the operations of routes below one path, which the description lists under one tag.
func Operations(tag, below string) func(id, method, path, summary string) huma.Operation {
	return func(id, method, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: below + path, Summary: summary, Tags: []string{tag},
		}
	}
}
