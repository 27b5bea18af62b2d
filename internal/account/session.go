// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package account

import (
	"context"
	"crypto/subtle"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store/rows"
)

// ErrLogin means that the credentials are invalid or have expired. It wraps callvet.ErrDenied.
var ErrLogin = fmt.Errorf("%w: the login is not good", callvet.ErrDenied)

// How long a session lasts: after its last use, and in total.
const (
	SessionIdle = 24 * time.Hour
	SessionLife = 14 * 24 * time.Hour
)

// grain is the precision of the stored last use of sessions and tokens, so that most reads do not
// write.
const grain = 5 * time.Minute

// Login is a new session.
type Login struct {
	Principal *Principal
	// Secret is the content of the cookie.
	Secret  string
	Expires time.Time
}

// Login begins a session of a user with a password. The error is ErrLogin, also for an unknown
// name, or a *LimitError.
func (a *Accounts) Login(ctx context.Context, name, password, address string) (*Login, error) {
	name, err := named(name)
	if err != nil || len(password) > maxPassword {
		name, password = "", "" // of no user: the check takes the same time
	}
	if err := a.slow.try(a.cfg.Now(), nameAt(name, address), address); err != nil {
		return nil, err
	}
	u, err := a.cfg.Store.Rows().UserByName(ctx, name)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("log in: %w", err)
	}
	ok, err := a.hasher.is(ctx, password, u.Password)
	if err != nil {
		return nil, err
	}
	if !ok || u.Removed != 0 {
		err := a.change(ctx, "log in", func(q *rows.Queries) error { // an unknown name may be a mistyped password
			return a.Record(ctx, q, &Principal{Address: address}, "login.failed", u.ID, nil)
		})
		return nil, errors.Join(ErrLogin, err)
	}
	a.slow.pass(a.cfg.Now(), nameAt(name, address), address)
	return a.begin(ctx, address, "login", func(q *rows.Queries) (rows.User, error) {
		now, err := q.User(ctx, u.ID)
		if err == nil && (now.Removed != 0 || now.Password != u.Password) { // meanwhile
			err = ErrLogin
		}
		return now, err
	})
}

// begin makes a session of the user that find returns in the same transaction.
func (a *Accounts) begin(ctx context.Context, address, action string,
	find func(*rows.Queries) (rows.User, error),
) (*Login, error) {
	secret, hash, err := a.draw("")
	if err != nil {
		return nil, err
	}
	out := &Login{Secret: secret}
	err = a.change(ctx, "log in", func(q *rows.Queries) error {
		u, err := find(q)
		if err != nil {
			return err
		}
		now := a.now()
		out.Expires = at(now + SessionLife.Milliseconds())
		out.Principal = &Principal{User: u.ID, Name: u.Name, Role: Role(u.Role), Address: address, hash: hash}
		err = errors.Join(
			q.DropOldSessions(ctx, rows.DropOldSessionsParams{Expires: now, Seen: now - SessionIdle.Milliseconds()}),
			q.DropOldLinks(ctx, now),
			q.AddSession(ctx, rows.AddSessionParams{
				Hash: hash, UserID: u.ID, Created: now,
				Expires: now + SessionLife.Milliseconds(), Seen: now,
			}),
		)
		return errors.Join(err, a.Record(ctx, q, out.Principal, action, u.ID, nil))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Claim uses the secret of a one-time link: the user chooses a password, and for the first link a
// name, and is logged in. Earlier sessions of the user end. The error is ErrLogin for an invalid
// link.
func (a *Accounts) Claim(ctx context.Context, secret, name, password, address string) (*Login, error) {
	link, err := a.goodLink(ctx, secret, address)
	if err != nil {
		return nil, err
	}
	if link.Purpose == purposeFirst {
		if name, err = named(name); err != nil {
			return nil, err
		}
	} else {
		u, err := a.User(ctx, link.UserID)
		if err != nil {
			return nil, ErrLogin
		}
		name = u.Name
	}
	if err := fit("password", password, name); err != nil {
		return nil, err
	}
	password, err = a.hasher.hash(ctx, password)
	if err != nil {
		return nil, err
	}
	return a.begin(ctx, address, "link.use", func(q *rows.Queries) (u rows.User, err error) {
		n, err := q.UseLink(ctx, rows.UseLinkParams{Hash: link.Hash, Used: a.now()})
		if err != nil || n == 0 {
			return u, errors.Join(err, ErrLogin)
		}
		user := link.UserID
		if link.Purpose == purposeFirst {
			user, err = a.addFirst(ctx, q, name, password, link.Role)
		} else {
			err = a.setPassword(ctx, q, user, password)
		}
		if err != nil {
			return u, err
		}
		return q.User(ctx, user)
	})
}

// goodLink looks up a link that can be used.
func (a *Accounts) goodLink(ctx context.Context, secret, address string) (rows.Link, error) {
	name := "link of " + network(address) // other clients' failures delay no user
	if err := a.slow.try(a.cfg.Now(), name, address); err != nil {
		return rows.Link{}, err
	}
	link, err := a.cfg.Store.Rows().Link(ctx, digest(secret))
	if errors.Is(err, sql.ErrNoRows) || err == nil && (link.Used != 0 || link.Expires <= a.now()) {
		return link, ErrLogin
	}
	if err != nil {
		return link, fmt.Errorf("use link: %w", err)
	}
	a.slow.pass(a.cfg.Now(), name, address)
	return link, nil
}

// addFirst makes the first user; ErrLogin if there is one.
func (a *Accounts) addFirst(ctx context.Context, q *rows.Queries, name, hash, role string) (id string, err error) {
	if n, err := q.CountUsers(ctx); err != nil || n > 0 {
		return "", errors.Join(err, ErrLogin)
	}
	if id, err = a.id("user"); err != nil {
		return "", err
	}
	return id, q.AddUser(ctx,
		rows.AddUserParams{ID: id, Name: name, Role: role, Password: hash, MaxJobs: DefaultMaxJobs, Created: a.now()})
}

// setPassword sets the password of a user, and ends all sessions and tokens; ErrLogin if the user
// was removed.
func (a *Accounts) setPassword(ctx context.Context, q *rows.Queries, user, hash string) error {
	n, err := q.SetUserPassword(ctx, rows.SetUserPasswordParams{ID: user, Password: hash})
	if err == nil && n == 0 {
		err = ErrLogin
	}
	return errors.Join(err, a.endLogins(ctx, q, user))
}

// endLogins ends all sessions and tokens of a user, and unused links.
func (a *Accounts) endLogins(ctx context.Context, q *rows.Queries, user string) error {
	revoke := rows.RevokeTokensOfParams{UserID: user, Revoked: a.now()}
	return errors.Join(q.DropSessionsOf(ctx, user), q.RevokeTokensOf(ctx, revoke), q.DropLinksOf(ctx, user))
}

// BySession returns the principal of a session cookie; ErrLogin if the session is over.
func (a *Accounts) BySession(ctx context.Context, secret string) (*Principal, error) {
	return a.bySession(ctx, digest(secret))
}

// Again reads p again, because the role may have changed. The error is ErrLogin if the session or
// the token has ended.
func (a *Accounts) Again(ctx context.Context, p *Principal) (*Principal, error) {
	look := a.bySession
	if p.Token != "" {
		look = a.byToken
	}
	now, err := look(ctx, p.hash)
	if err != nil {
		return nil, err
	}
	now.Address = p.Address
	return now, nil
}

func (a *Accounts) bySession(ctx context.Context, hash []byte) (*Principal, error) {
	s, err := a.cfg.Store.Rows().Session(ctx, hash)
	now := a.now()
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, ErrLogin
	case err != nil:
		return nil, fmt.Errorf("look up session: %w", err)
	case over(s.Created, s.Expires, s.Seen, now):
		// It is dropped: a clock that goes back would revive it.
		a.used(ctx, "drop session", func(q *rows.Queries) error { return q.DropSession(ctx, hash) })
		return nil, ErrLogin
	}
	if now-s.Seen >= grain.Milliseconds() {
		a.used(ctx, "see session",
			func(q *rows.Queries) error { return q.SeeSession(ctx, rows.SeeSessionParams{Hash: hash, Seen: now}) })
	}
	return &Principal{User: s.UserID, Name: s.Name, Role: Role(s.Role), hash: hash}, nil
}

// over reports whether a session is over at now; all are in milliseconds. A session from the future
// is over, too: the clock went back, and its age is not known.
func over(created, expires, seen, now int64) bool {
	early := now + grain.Milliseconds()
	return expires <= now || seen+SessionIdle.Milliseconds() <= now || created > early || seen > early
}

// used stores the time of the last use. A failed write does not refuse the login.
func (a *Accounts) used(ctx context.Context, verb string, f func(*rows.Queries) error) {
	if err := a.change(ctx, verb, f); err != nil && ctx.Err() == nil {
		a.cfg.Log.WarnContext(ctx, "the last use was not kept", "error", err)
	}
}

// Logout ends the session of a principal; a token has none.
func (a *Accounts) Logout(ctx context.Context, by *Principal) error {
	if by.Token != "" {
		return nil
	}
	return a.change(ctx, "log out", func(q *rows.Queries) error {
		return errors.Join(q.DropSession(ctx, by.hash), a.Record(ctx, q, by, "logout", by.User, nil))
	})
}

// ChangePassword sets a new password, if the old one is right, and begins a new session. All other
// sessions and all tokens of the user end: they may be stolen. The delay after wrong passwords is
// per session, so that failed logins of others never block a logged-in user.
func (a *Accounts) ChangePassword(ctx context.Context, by *Principal, before, password string) (*Login, error) {
	slow := "session " + hex.EncodeToString(by.hash)
	if err := a.slow.try(a.cfg.Now(), slow, ""); err != nil {
		return nil, err
	}
	u, err := a.present(ctx, a.cfg.Store.Rows(), by.User)
	if err != nil {
		return nil, err
	}
	ok, err := a.hasher.is(ctx, before, u.Password)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &callvet.FieldError{Field: "before", Kind: callvet.ErrDenied, Text: "{before} is not the password"}
	}
	a.slow.pass(a.cfg.Now(), slow, "")
	if err := fit("password", password, u.Name); err != nil {
		return nil, err
	}
	hash, err := a.hasher.hash(ctx, password)
	if err != nil {
		return nil, err
	}
	return a.begin(ctx, by.Address, "user.password", func(q *rows.Queries) (rows.User, error) {
		now, err := a.present(ctx, q, by.User)
		if err != nil || subtle.ConstantTimeCompare([]byte(now.Password), []byte(u.Password)) == 0 { // meanwhile
			return now, errors.Join(err, ErrLogin)
		}
		return now, a.setPassword(ctx, q, by.User, hash)
	})
}

// Session is the login of a browser, without its secret.
type Session struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	// Seen is when it was last used, rounded to five minutes.
	Seen time.Time `json:"seen"`
}

// Logins has all sessions and tokens of a user.
type Logins struct {
	Sessions []Session `json:"sessions" nullable:"false"`
	Tokens   []Token   `json:"tokens" nullable:"false"`
}

// Logins lists the valid sessions and tokens of a user.
func (a *Accounts) Logins(ctx context.Context, user string) (*Logins, error) {
	if _, err := a.User(ctx, user); err != nil {
		return nil, err
	}
	list, err := a.cfg.Store.Rows().SessionsOf(ctx, user)
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	now := a.now()
	out := &Logins{Sessions: []Session{}}
	for i := range list {
		r := &list[i]
		if !over(r.Created, r.Expires, r.Seen, now) {
			one := Session{ID: sessionID(r.Hash), Created: at(r.Created), Expires: at(r.Expires), Seen: at(r.Seen)}
			out.Sessions = append(out.Sessions, one)
		}
	}
	if out.Tokens, err = a.Tokens(ctx, user); err != nil {
		return nil, err
	}
	out.Tokens = slices.DeleteFunc(out.Tokens, func(t Token) bool { return !t.Expires.After(at(now)) })
	return out, nil
}

// sessionID names a session by a part of the hash of its secret: the part opens no session.
func sessionID(hash []byte) string { return "session_" + hex.EncodeToString(hash[:min(8, len(hash))]) }

// EndLogins ends a session or a token of a user by its id; "" ends all of them, and links that were not used.
func (a *Accounts) EndLogins(ctx context.Context, by *Principal, user, id string) error {
	return a.change(ctx, "end logins", func(q *rows.Queries) error {
		if _, err := a.present(ctx, q, user); err != nil {
			return err
		}
		var err error
		if id == "" {
			err = a.endLogins(ctx, q, user)
		} else {
			err = a.endLogin(ctx, q, user, id)
		}
		return errors.Join(err, a.Record(ctx, q, by, "logins.end", user, map[string]any{"login": id}))
	})
}

// endLogin ends one session or one token of a user.
func (a *Accounts) endLogin(ctx context.Context, q *rows.Queries, user, id string) error {
	owner, err := q.TokenOwner(ctx, id)
	switch {
	case err == nil && owner == user:
		_, err = q.RevokeToken(ctx, rows.RevokeTokenParams{ID: id, Revoked: a.now()})
		return err
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	}
	list, err := q.SessionsOf(ctx, user)
	if err != nil {
		return err
	}
	for i := range list {
		if sessionID(list[i].Hash) == id {
			return q.DropSession(ctx, list[i].Hash)
		}
	}
	return one(0, nil, "login", id)
}
