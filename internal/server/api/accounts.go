// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

// Me is the user who sends the request.
type Me struct {
	*account.Principal
	// Grants are the scopes that a token of this user may have; on a read-only server only reading.
	Grants []account.Scope `json:"grants" nullable:"false"`
	// ReadOnly is Config.ReadOnly.
	ReadOnly bool `json:"read_only" doc:"the server is callvet view: it has no users, and changes nothing"`
}

// loggedIn is the response that begins or ends a session.
type loggedIn struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      Me
}

// newCookie is a response without a body that sets the session cookie of a browser.
type newCookie struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

// sessionCookie is the name of the cookie of a session. Over HTTPS it has the prefix __Host-: the
// browser accepts it from this host only, not from another host of the domain or over plain http.
func sessionCookie(secure bool) string {
	if secure {
		return "__Host-" + SessionCookie
	}
	return SessionCookie
}

// cookie is the cookie of a session; without a secret it deletes the browser's cookie.
func cookie(ctx context.Context, in *account.Login) http.Cookie {
	c := http.Cookie{
		Name: sessionCookie(about(ctx).secure), Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: about(ctx).secure, MaxAge: -1,
	}
	if in != nil {
		c.Value, c.Expires, c.MaxAge = in.Secret, in.Expires, int(account.SessionLife.Seconds())
	}
	return c
}

func (s *Server) me(p *account.Principal) Me {
	me := Me{Principal: p, Grants: p.Role.Grants(), ReadOnly: s.Config.ReadOnly}
	if me.ReadOnly {
		me.Grants = []account.Scope{account.ScopeRead}
	}
	return me
}

// AddAccounts adds the routes of logins, users, tokens and keys.
func (s *Server) AddAccounts() {
	if s.Config.Accounts == nil {
		return
	}
	s.addSession()
	s.addTokens()
	s.addUsers()
	s.addKeys()
}

func (s *Server) addSession() {
	users, op := s.Config.Accounts, Operations("session", "/api")
	type credentials struct {
		Body struct {
			Name     string `json:"name" maxLength:"200"`
			Password string `json:"password" maxLength:"2000"`
		}
	}
	Add(s, Small(op("login", http.MethodPost, "/session", "Log in with name and password")),
		Access{Open: true}, func(ctx context.Context, _ *account.Principal, in *credentials) (*loggedIn, error) {
			l, err := users.Login(ctx, in.Body.Name, in.Body.Password, about(ctx).address)
			if err != nil {
				return nil, err
			}
			return &loggedIn{SetCookie: cookie(ctx, l), Body: s.me(l.Principal)}, nil
		})
	type linkClaim struct {
		Body struct {
			Link     string `json:"link" maxLength:"200" doc:"the secret of the one-time link: the text after #claim="`
			Name     string `json:"name,omitempty" maxLength:"200" doc:"the name of the first admin; others have one"`
			Password string `json:"password" maxLength:"2000" doc:"the password to have from now on"`
		}
	}
	Add(s, Small(op("claim", http.MethodPost, "/session/claim", "Use a one-time link: choose a password, and log in")),
		Access{Open: true}, func(ctx context.Context, _ *account.Principal, in *linkClaim) (*loggedIn, error) {
			l, err := users.Claim(ctx, in.Body.Link, in.Body.Name, in.Body.Password, about(ctx).address)
			if err != nil {
				return nil, err
			}
			return &loggedIn{SetCookie: cookie(ctx, l), Body: s.me(l.Principal)}, nil
		})
	Add(s, Returning(http.StatusNoContent, op("logout", http.MethodDelete, "/session",
		"Log out: end the session, or the token, that the request is sent with")), Access{Scope: account.ScopeRead},
		func(ctx context.Context, by *account.Principal, _ *struct{}) (*newCookie, error) {
			var err error
			if by.Token != "" {
				err = users.RevokeToken(ctx, by, by.Token)
			} else {
				err = users.Logout(ctx, by)
			}
			return &newCookie{cookie(ctx, nil)}, err
		})
	Answer(s, op("quota", http.MethodGet, "/me/quota", "What you hold, and may hold at most"), Access{},
		func(ctx context.Context, by *account.Principal, _ *struct{}) (*Page[store.Held], error) {
			all, err := s.Config.Quota.Of(ctx, s.Config.Store.Rows(), by.User)
			return &Page[store.Held]{Items: all}, err
		})
	type passwordChange struct {
		Body struct {
			Before   string `json:"before" maxLength:"2000"`
			Password string `json:"password" maxLength:"2000"`
		}
	}
	Add(s, Small(Returning(http.StatusNoContent, op("change-password", http.MethodPut, "/me/password",
		"Change the password: all sessions and tokens end, and a new session begins"))),
		Access{Session: true}, func(ctx context.Context, by *account.Principal, in *passwordChange) (*newCookie, error) {
			l, err := users.ChangePassword(ctx, by, in.Body.Before, in.Body.Password)
			if err != nil {
				return nil, err
			}
			return &newCookie{cookie(ctx, l)}, nil
		})
}

// ByID names an object in the path. It is exported because huma fills only exported embedded types.
type ByID struct {
	ID string `path:"id" maxLength:"100"`
}

func (s *Server) addTokens() {
	users, op := s.Config.Accounts, Operations("tokens", "/api/tokens")
	Answer(s, op("list-tokens", http.MethodGet, "", "Your tokens, without their secrets"), Access{},
		func(ctx context.Context, by *account.Principal, _ *struct{}) (*Page[account.Token], error) {
			all, err := users.Tokens(ctx, by.User)
			return &Page[account.Token]{Items: all}, err
		})
	type tokenCreate struct {
		Body struct {
			Name   string          `json:"name" minLength:"1" maxLength:"100" doc:"what it is for"`
			Scopes []account.Scope `json:"scopes" minItems:"1" maxItems:"4" enum:"read,run,write,admin"`
			Days   int             `json:"days,omitempty" minimum:"1" maximum:"366" doc:"how long it is good (default: 90)"`
		}
	}
	type madeToken struct {
		account.Token
		Secret string `json:"secret" doc:"what a program sends: Authorization: Bearer …; it is shown once"`
	}
	Answer(s, Returning(http.StatusCreated, op("create-token", http.MethodPost, "", "Make a token for a program")),
		Access{Session: true},
		func(ctx context.Context, by *account.Principal, in *tokenCreate) (*madeToken, error) {
			t, secret, err := users.MakeToken(ctx, by,
				account.NewToken{Name: in.Body.Name, Scopes: in.Body.Scopes, Days: in.Body.Days})
			return &madeToken{Token: t, Secret: secret}, err
		})
	Add(s, Returning(http.StatusNoContent, op("revoke-token", http.MethodDelete, "/{id}", "Revoke a token")),
		Access{Objects: map[string]Kind{"id": KindToken}, Reads: true}, // a viewer may end his own
		func(ctx context.Context, by *account.Principal, in *ByID) (*struct{}, error) {
			return nil, users.RevokeToken(ctx, by, in.ID)
		})
}

// linked is a user with his one-time login link.
type linked struct {
	account.User
	Link string `json:"link" doc:"the one-time link by which the user chooses a password; it is shown once, and valid for seven days"`
}

func (s *Server) addUsers() {
	users, op := s.Config.Accounts, Operations("users", "/api")
	admins := Access{Role: account.Admin, Scope: account.ScopeAdmin}
	// A new login or a higher role outlives a token: a leaked token must not be able to take over
	// accounts.
	inPerson := Access{Role: account.Admin, Scope: account.ScopeAdmin, Session: true}
	Answer(s, op("list-users", http.MethodGet, "/users", "All users"), admins,
		func(ctx context.Context, _ *account.Principal, in *PageIn) (*Page[account.User], error) {
			all, next, err := users.Users(ctx, in.Cursor, in.Limit)
			return &Page[account.User]{Items: all, Next: next}, err
		})
	type userCreate struct {
		Body struct {
			Name    string       `json:"name" maxLength:"64"`
			Role    account.Role `json:"role" enum:"viewer,member,admin"`
			MaxJobs int          `json:"max_jobs,omitempty" minimum:"1" maximum:"64" doc:"jobs that run at the same time (default: 2)"`
		}
	}
	Answer(s, Returning(http.StatusCreated, op("create-user", http.MethodPost, "/users", "Invite a user")), inPerson,
		func(ctx context.Context, by *account.Principal, in *userCreate) (*linked, error) {
			u, secret, err := users.Invite(ctx, by,
				account.NewUser{Name: in.Body.Name, Role: in.Body.Role, MaxJobs: in.Body.MaxJobs})
			return &linked{User: u, Link: s.pageURL(secret)}, err
		})
	Answer(s, op("get-user", http.MethodGet, "/users/{id}", "One user"), admins,
		func(ctx context.Context, _ *account.Principal, in *ByID) (*account.User, error) {
			u, err := users.User(ctx, in.ID)
			return &u, err
		})
	type userChange struct {
		ByID
		Body struct {
			Role    *account.Role `json:"role,omitempty" enum:"viewer,member,admin"`
			MaxJobs *int          `json:"max_jobs,omitempty" minimum:"1" maximum:"64"`
		}
	}
	Answer(s, op("change-user", http.MethodPatch, "/users/{id}", "Change the role or the limits of a user"), admins,
		func(ctx context.Context, by *account.Principal, in *userChange) (*account.User, error) {
			u, err := users.ChangeUser(ctx, by, in.ID, account.UserChange{Role: in.Body.Role, MaxJobs: in.Body.MaxJobs})
			if err == nil && in.Body.MaxJobs != nil {
				err = s.Jobs.Grant(context.WithoutCancel(ctx))
			}
			return &u, err
		})
	Add(s, Returning(http.StatusNoContent, op("remove-user", http.MethodDelete, "/users/{id}",
		"Remove a user: sessions, tokens and jobs end at once, data stays")),
		admins, func(ctx context.Context, by *account.Principal, in *ByID) (*struct{}, error) {
			if err := users.Remove(ctx, by, in.ID); err != nil {
				return nil, err
			}
			ctx = context.WithoutCancel(ctx)
			return nil, errors.Join(s.cancelJobsOf(ctx, in.ID),
				s.Config.Store.Change(ctx, "forget comparisons", func(q *rows.Queries) error {
					return q.DropRunDocuments(ctx, ComparisonsOf(in.ID).RunID) // no other user can read them
				}))
		})
	type userLink struct {
		Link string `json:"link" doc:"shown once, and good for seven days"`
	}
	Answer(s, Returning(http.StatusCreated, op("link-user", http.MethodPost, "/users/{id}/link",
		"A new one-time link for a user who forgot the password")), inPerson,
		func(ctx context.Context, by *account.Principal, in *ByID) (*userLink, error) {
			secret, err := users.Relink(ctx, by, in.ID)
			return &userLink{Link: s.pageURL(secret)}, err
		})
	type login struct {
		ByID
		Login string `query:"login" maxLength:"100" doc:"the id of one session or token; without it all end, and unused links too"`
	}
	Answer(s, op("list-logins", http.MethodGet, "/users/{id}/logins",
		"Sessions and tokens of a user, without their secrets"), admins,
		func(ctx context.Context, _ *account.Principal, in *ByID) (*account.Logins, error) {
			return users.Logins(ctx, in.ID)
		})
	Add(s, Returning(http.StatusNoContent, op("end-logins", http.MethodDelete, "/users/{id}/logins",
		"End a session or a token of a user, or all of them")), admins,
		func(ctx context.Context, by *account.Principal, in *login) (*struct{}, error) {
			return nil, users.EndLogins(ctx, by, in.ID, in.Login)
		})
	type audit struct {
		PageIn
		Action string `query:"action" maxLength:"100" doc:"such as login.failed"`
		User   string `query:"user_id" maxLength:"100"`
	}
	Answer(s, op("list-audit", http.MethodGet, "/audit", "Who changed what others may do, the newest first"), admins,
		func(ctx context.Context, _ *account.Principal, in *audit) (*Page[account.Entry], error) {
			all, next, err := users.Audit(ctx,
				account.AuditQuery{Cursor: in.Cursor, Limit: in.Limit, Action: in.Action, User: in.User})
			return &Page[account.Entry]{Items: all, Next: next}, err
		})
	type settingsTold struct {
		account.Settings
		// Allowed are the effective permissions: the flags of the server together with these
		// settings.
		Allowed account.Allowed `json:"allowed" readOnly:"true"`
	}
	show := func(ctx context.Context, err error) (*settingsTold, error) {
		if err != nil {
			return nil, err
		}
		out := &settingsTold{}
		if out.Settings, err = users.Settings(ctx); err != nil {
			return nil, err
		}
		out.Allowed, err = users.Allowed(ctx)
		return out, err
	}
	Answer(s, op("get-settings", http.MethodGet, "/settings", "What the work of users may do"), admins,
		func(ctx context.Context, _ *account.Principal, _ *struct{}) (*settingsTold, error) {
			return show(ctx, nil)
		})
	Answer(s, op("change-settings", http.MethodPut, "/settings", "Change what the work of users may do"), admins,
		func(ctx context.Context, by *account.Principal,
			in *struct{ Body account.Settings },
		) (*settingsTold, error) {
			_, err := users.SetSettings(ctx, by, in.Body)
			return show(ctx, err)
		})
}

func (s *Server) addKeys() {
	users, op := s.Config.Accounts, Operations("keys", "/api/keys")
	Answer(s, op("list-keys", http.MethodGet, "", "Your keys of providers, without their values"),
		Access{Role: account.Member},
		func(ctx context.Context, by *account.Principal, _ *struct{}) (*Page[account.ProviderKey], error) {
			all, err := users.ProviderKeys(ctx, by.User)
			return &Page[account.ProviderKey]{Items: all}, err
		})
	type Named struct {
		Variable string `path:"variable" maxLength:"100" doc:"the variable under which targets know the key, such as OPENAI_API_KEY"`
	}
	type keySet struct {
		Named
		Body struct {
			Value string   `json:"value" minLength:"1" maxLength:"8192"`
			Hosts []string `json:"hosts,omitempty" maxItems:"20" doc:"where it may be sent, such as models.example.com or localhost:8000; left out: as before, and for a new key the hosts of its provider and private addresses that an admin allows"`
		}
	}
	Answer(s, Small(op("set-key", http.MethodPut, "/{variable}", "Keep a key of a provider, sealed")),
		Access{Role: account.Member},
		func(ctx context.Context, by *account.Principal, in *keySet) (*account.ProviderKey, error) {
			kept := account.Kept{Value: in.Body.Value, Hosts: in.Body.Hosts}
			if len(kept.Hosts) == 0 {
				var err error
				if kept.Hosts, kept.Near, err = s.defaultHosts(ctx, by.User, in.Variable); err != nil {
					return nil, err
				}
			}
			k, err := users.SetProviderKey(ctx, by, in.Variable, kept)
			return &k, err
		})
	Add(s, Returning(http.StatusNoContent, op("delete-key", http.MethodDelete, "/{variable}",
		"Delete a key of a provider")), Access{Role: account.Member},
		func(ctx context.Context, by *account.Principal, in *Named) (*struct{}, error) {
			return nil, users.DropProviderKey(ctx, by, in.Variable)
		})
}
