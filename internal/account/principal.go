// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package account

import "slices"

// Role is the role of a user on a server.
type Role string

// The roles, from the least. A viewer reads shared objects. A member also has own suites, runs and
// experiments. An admin reads and changes everything, and manages the users.
const (
	Viewer Role = "viewer"
	Member Role = "member"
	Admin  Role = "admin"
)

// Roles are all roles, from the least.
func Roles() []Role { return []Role{Viewer, Member, Admin} }

// AtLeast reports whether r has all permissions of least. An unknown role may do nothing.
func (r Role) AtLeast(least Role) bool {
	at := slices.Index(Roles(), r)
	return at >= 0 && at >= slices.Index(Roles(), least)
}

// Scope is a permission of a token. Sessions of the page have all permissions of their user.
type Scope string

// The scopes. Run starts and ends jobs, write changes suites and experiments, admin is needed for
// actions of admins.
const (
	ScopeRead  Scope = "read"
	ScopeRun   Scope = "run"
	ScopeWrite Scope = "write"
	ScopeAdmin Scope = "admin"
)

// Scopes are all scopes.
func Scopes() []Scope { return []Scope{ScopeRead, ScopeRun, ScopeWrite, ScopeAdmin} }

// Principal is the user who sends a request.
type Principal struct {
	User string `json:"user_id"`
	Name string `json:"name"`
	Role Role   `json:"role"`
	// Scopes are the scopes of the token; nil: a session, which has all.
	Scopes []Scope `json:"scopes,omitempty"`
	// Token is the id of the token; "": a session.
	Token string `json:"token_id,omitempty"`
	// Address is where the request comes from, for the audit log.
	Address string `json:"-"`

	hash []byte // the stored hash of the session's secret, or of the token
}

// Allows reports whether the principal has the scope.
func (p *Principal) Allows(s Scope) bool { return p.Token == "" || slices.Contains(p.Scopes, s) }

// Owned is the ownership of an object.
type Owned struct {
	User string
	// Shared: every user may read it.
	Shared bool
}

// MayRead reports whether p may read an object: own and shared ones, and for admins all.
func (p *Principal) MayRead(o Owned) bool {
	return o.Shared || o.User == p.User || p.Role == Admin
}

// MayChange reports whether p may change an object: members their own, admins all.
func (p *Principal) MayChange(o Owned) bool {
	return p.Role == Admin || p.Role.AtLeast(Member) && o.User == p.User
}
