// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package account

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store/rows"
)

// User is a user who may log in.
type User struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Role Role   `json:"role"`
	// MaxJobs is how many of the user's jobs run at the same time.
	MaxJobs int       `json:"max_jobs"`
	Created time.Time `json:"created"`
	// Waiting: the user has not chosen a password yet; the link was not used.
	Waiting bool `json:"waiting"`
}

// DefaultMaxJobs is the default of User.MaxJobs; MaxMaxJobs is the highest limit.
const (
	DefaultMaxJobs = 2
	MaxMaxJobs     = 64
)

// How long links are valid.
const (
	firstGood  = 24 * time.Hour
	inviteGood = 7 * 24 * time.Hour
)

// The purposes of links.
const (
	purposeFirst  = "first"
	purposeInvite = "invite"
)

// LinkPrefix is the beginning of the secret of a one-time link.
const LinkPrefix = "cvlink_"

// maxUserName is the most bytes of the name of a user.
const maxUserName = 64

// userName is the form of a name: of a person, or an address of mail.
var userName = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]*$`)

// named returns a name in stored form, in lower case.
func named(name string) (string, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	if len(name) > maxUserName || !userName.MatchString(name) {
		return "", &callvet.FieldError{
			Field: "name",
			Text:  "{name} has 1 to 64 letters (a to z), digits and . _ @ + -, and begins with a letter or a digit",
		}
	}
	return name, nil
}

// ofRole returns an error for an unknown role.
func ofRole(r Role) error {
	if !slices.Contains(Roles(), r) {
		return &callvet.FieldError{Field: "role", Text: fmt.Sprintf("{role} %q: there are viewer, member and admin", r)}
	}
	return nil
}

// HasUsers reports whether there is a user who may log in.
func (a *Accounts) HasUsers(ctx context.Context) (bool, error) {
	n, err := a.cfg.Store.Rows().CountUsers(ctx)
	return n > 0, err
}

// FirstLink makes the secret of the first admin's login link, valid for 24 hours; earlier links
// end. It is "" if there is a user.
func (a *Accounts) FirstLink(ctx context.Context) (secret string, err error) {
	secret, hash, err := a.draw(LinkPrefix)
	if err != nil {
		return "", err
	}
	there := false
	err = a.change(ctx, "make the first link", func(q *rows.Queries) error {
		n, err := q.CountUsers(ctx)
		if there = n > 0; err != nil || there {
			return err
		}
		if err := q.DropLinks(ctx, rows.DropLinksParams{Purpose: purposeFirst}); err != nil {
			return err
		}
		now := a.now()
		if err := q.AddLink(ctx, rows.AddLinkParams{
			Hash: hash, Purpose: purposeFirst, Role: string(Admin),
			Created: now, Expires: now + firstGood.Milliseconds(),
		}); err != nil {
			return err
		}
		return a.Record(ctx, q, nil, "link.first", "", nil)
	})
	if err != nil || there {
		return "", err
	}
	return secret, nil
}

// NewUser has the data of a new user.
type NewUser struct {
	Name string
	Role Role
	// MaxJobs is from 1 to MaxMaxJobs; 0 is DefaultMaxJobs.
	MaxJobs int
}

// Invite makes a user without a password, and the secret of a link to choose one, valid for seven
// days. The error wraps callvet.ErrConflict if the name is taken.
func (a *Accounts) Invite(ctx context.Context, by *Principal, n NewUser) (u User, secret string, err error) {
	if n.Name, err = named(n.Name); err != nil {
		return u, "", err
	}
	if n.MaxJobs == 0 {
		n.MaxJobs = DefaultMaxJobs
	}
	if err := errors.Join(ofRole(n.Role), ofMaxJobs(n.MaxJobs)); err != nil {
		return u, "", err
	}
	id, err := a.id("user")
	if err != nil {
		return u, "", err
	}
	now := a.now()
	err = a.change(ctx, "make user", func(q *rows.Queries) error {
		if _, err := q.UserByName(ctx, n.Name); err == nil {
			return fmt.Errorf("make user %s: %w: the name is taken", n.Name, callvet.ErrConflict)
		}
		err := q.AddUser(ctx,
			rows.AddUserParams{ID: id, Name: n.Name, Role: string(n.Role), MaxJobs: int64(n.MaxJobs), Created: now})
		if err != nil {
			return err
		}
		if secret, err = a.link(ctx, q, id); err != nil {
			return err
		}
		return a.Record(ctx, q, by, "user.create", id,
			map[string]any{"name": n.Name, "role": n.Role, "max_jobs": n.MaxJobs})
	})
	return User{ID: id, Name: n.Name, Role: n.Role, MaxJobs: n.MaxJobs, Created: at(now), Waiting: true}, secret, err
}

// link makes a link for a user; earlier links end.
func (a *Accounts) link(ctx context.Context, q *rows.Queries, user string) (string, error) {
	secret, hash, err := a.draw(LinkPrefix)
	if err != nil {
		return "", err
	}
	if err := q.DropLinksOf(ctx, user); err != nil {
		return "", err
	}
	now := a.now()
	return secret, q.AddLink(ctx,
		rows.AddLinkParams{
			Hash: hash, Purpose: purposeInvite, UserID: user, Created: now,
			Expires: now + inviteGood.Milliseconds(),
		})
}

// Relink makes a new link for a user, who forgot the password or let the first link expire. The old
// password works until the link is used.
func (a *Accounts) Relink(ctx context.Context, by *Principal, user string) (secret string, err error) {
	err = a.change(ctx, "make link", func(q *rows.Queries) error {
		if _, err := a.present(ctx, q, user); err != nil {
			return err
		}
		if secret, err = a.link(ctx, q, user); err != nil {
			return err
		}
		return a.Record(ctx, q, by, "user.link", user, nil)
	})
	return secret, err
}

// present returns a user who is not removed.
func (a *Accounts) present(ctx context.Context, q *rows.Queries, user string) (rows.User, error) {
	u, err := q.User(ctx, user)
	if err == nil && u.Removed != 0 {
		return u, one(0, nil, "user", user)
	}
	return u, found(err, "user", user)
}

// User returns a user who is not removed.
func (a *Accounts) User(ctx context.Context, id string) (User, error) {
	r, err := a.present(ctx, a.cfg.Store.Rows(), id)
	return userOf(&r), err
}

func userOf(r *rows.User) User {
	return User{
		ID: r.ID, Name: r.Name, Role: Role(r.Role), MaxJobs: int(r.MaxJobs), Created: at(r.Created),
		Waiting: r.Password == "",
	}
}

// Users returns the users who are not removed, by name, and the cursor of the next page; "" if
// there is none. Limit is from 1 to MaxPage; 0 is 100.
func (a *Accounts) Users(ctx context.Context, cursor string, limit int) (page []User, next string, err error) {
	if limit == 0 {
		limit = 100
	}
	if limit < 1 || limit > MaxPage {
		return nil, "", &callvet.FieldError{Field: "limit", Text: fmt.Sprintf("{limit} is from 1 to %d", MaxPage)}
	}
	list, err := a.cfg.Store.Rows().Users(ctx, rows.UsersParams{After: cursor, Most: int32(limit) + 1})
	if err != nil {
		return nil, "", fmt.Errorf("read users: %w", err)
	}
	if len(list) > limit {
		list = list[:limit]
		next = list[limit-1].Name
	}
	page = make([]User, len(list))
	for i := range list {
		page[i] = userOf(&list[i])
	}
	return page, next, nil
}

func ofMaxJobs(n int) error {
	if n < 1 || n > MaxMaxJobs {
		return &callvet.FieldError{Field: "max_jobs", Text: fmt.Sprintf("{max_jobs} is from 1 to %d", MaxMaxJobs)}
	}
	return nil
}

// UserChange has the changes of a user; nil stays unchanged.
type UserChange struct {
	Role    *Role
	MaxJobs *int
}

// ChangeUser changes the role or the limits of a user. The new role applies immediately to existing
// sessions and tokens. The last admin must stay an admin: callvet.ErrConflict. A token cannot
// change roles.
func (a *Accounts) ChangeUser(ctx context.Context, by *Principal, user string, c UserChange) (u User, err error) {
	if c.Role != nil {
		err = ofRole(*c.Role)
		if err == nil && by.Token != "" { // a leaked token could make an admin, who would outlive it
			err = fmt.Errorf("change user: %w: a token changes no role: log in", callvet.ErrDenied)
		}
	}
	if c.MaxJobs != nil {
		err = errors.Join(err, ofMaxJobs(*c.MaxJobs))
	}
	if err != nil {
		return u, err
	}
	err = a.change(ctx, "change user", func(q *rows.Queries) error {
		r, err := a.present(ctx, q, user)
		if err != nil {
			return err
		}
		if c.Role != nil && *c.Role != Role(r.Role) {
			if err := a.keepsAdmin(ctx, q, &r); err != nil {
				return err
			}
			if _, err := q.SetUserRole(ctx, rows.SetUserRoleParams{ID: user, Role: string(*c.Role)}); err != nil {
				return err
			}
			if err := a.Record(ctx, q, by, "user.role", user,
				map[string]any{"from": r.Role, "to": *c.Role}); err != nil {
				return err
			}
			r.Role = string(*c.Role)
		}
		if c.MaxJobs != nil && int64(*c.MaxJobs) != r.MaxJobs {
			if _, err := q.SetUserMaxJobs(ctx,
				rows.SetUserMaxJobsParams{ID: user, MaxJobs: int64(*c.MaxJobs)}); err != nil {
				return err
			}
			if err := a.Record(ctx, q, by, "user.limits", user,
				map[string]any{"max_jobs": *c.MaxJobs, "before": r.MaxJobs}); err != nil {
				return err
			}
			r.MaxJobs = int64(*c.MaxJobs)
		}
		u = userOf(&r)
		return nil
	})
	return u, err
}

// keepsAdmin returns an error if no admin who can log in would be left.
func (a *Accounts) keepsAdmin(ctx context.Context, q *rows.Queries, r *rows.User) error {
	if Role(r.Role) != Admin || r.Password == "" {
		return nil
	}
	n, err := q.CountAdmins(ctx)
	if err == nil && n < 2 {
		return &callvet.Hinted{Err: fmt.Errorf("change user %s: %w: there would be no admin left", r.Name,
			callvet.ErrConflict), Hint: "make another user an admin first"}
	}
	return err
}

// Remove removes a user with all sessions, tokens, links and keys of providers. Objects of the user
// stay, and admins may read them. The name is free again.
func (a *Accounts) Remove(ctx context.Context, by *Principal, user string) error {
	err := a.change(ctx, "remove user", func(q *rows.Queries) error {
		r, err := a.present(ctx, q, user)
		if err != nil {
			return err
		}
		if err := a.keepsAdmin(ctx, q, &r); err != nil {
			return err
		}
		now := a.now()
		_, err = q.RemoveUser(ctx, rows.RemoveUserParams{ID: user, Removed: now, Name: r.Name + "~" + user})
		err = errors.Join(err, a.endLogins(ctx, q, user), q.DropProviderKeysOf(ctx, user))
		return errors.Join(err, a.Record(ctx, q, by, "user.remove", user, map[string]any{"name": r.Name}))
	})
	if err == nil {
		a.touch(user)
	}
	return err
}
