// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package account

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store/rows"
)

// Entry is one line of the audit log.
type Entry struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
	// User is the acting user; "" without a login.
	User string `json:"user_id"`
	// Action is a word such as login.failed or user.create.
	Action string `json:"action"`
	// Object is the changed object: an id, or a name.
	Object  string          `json:"object"`
	Address string          `json:"address"`
	Detail  json.RawMessage `json:"detail"`
}

// Record adds an entry to the audit log, in the transaction of the change. by is nil without a
// login. detail is written as JSON, and must contain no secret; nil is {}.
func (a *Accounts) Record(ctx context.Context, q *rows.Queries, by *Principal, action, object string,
	detail any,
) error {
	if detail == nil {
		detail = struct{}{}
	}
	b, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	id, err := a.id("audit")
	if err != nil {
		return err
	}
	var who Principal
	if by != nil {
		who = *by
	}
	if who.Token != "" && string(b) == "{}" {
		b = fmt.Appendf(nil, `{"token_id":%q}`, who.Token)
	}
	err = q.AddAudit(ctx, rows.AddAuditParams{
		ID: id, At: a.now(), UserID: who.User, Action: action, Object: object,
		Address: who.Address, Detail: b,
	})
	if err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	return nil
}

// AuditQuery selects lines of the audit log.
type AuditQuery struct {
	// Cursor is the cursor of the previous page; "" is the newest line.
	Cursor string
	// Action and User choose lines; "" is every one.
	Action, User string
	// Limit is from 1 to MaxPage; 0 is 100.
	Limit int
}

// MaxPage is how many rows a page has at most.
const MaxPage = 500

// Audit returns lines of the log, the newest first, and the cursor of the next page; "" if there is
// none.
func (a *Accounts) Audit(ctx context.Context, q AuditQuery) (page []Entry, next string, err error) {
	most := q.Limit
	if most == 0 {
		most = 100
	}
	if most < 1 || most > MaxPage {
		return nil, "", &callvet.FieldError{Field: "limit", Text: fmt.Sprintf("{limit} is from 1 to %d", MaxPage)}
	}
	from := rows.AuditBeforeParams{At: math.MaxInt64, Action: q.Action, UserID: q.User, Most: int32(most) + 1}
	if q.Cursor != "" {
		ms, id, ok := strings.Cut(q.Cursor, ".")
		if from.At, err = strconv.ParseInt(ms, 10, 64); err != nil || !ok {
			return nil, "", &callvet.FieldError{Field: "cursor", Text: "{cursor} is none that was given"}
		}
		from.ID = id
	}
	list, err := a.cfg.Store.Rows().AuditBefore(ctx, from)
	if err != nil {
		return nil, "", fmt.Errorf("read audit log: %w", err)
	}
	if len(list) > most {
		list = list[:most]
		last := &list[most-1]
		next = strconv.FormatInt(last.At, 10) + "." + last.ID
	}
	page = make([]Entry, len(list))
	for i := range list {
		r := &list[i]
		page[i] = Entry{
			ID: r.ID, At: at(r.At), User: r.UserID, Action: r.Action, Object: r.Object, Address: r.Address,
			Detail: r.Detail,
		}
	}
	return page, next, nil
}
