// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// Paging says which part of a list is asked for. A cursor is what the list before said of the next
// one, and nothing that a client makes up.
type Paging struct {
	Cursor string `query:"cursor" maxLength:"200" doc:"next_cursor of the list before; empty begins"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"the most entries that are given"`
}

// after reads the cursor: a time or number, and the id of an entry. It is 0 and "" at the beginning.
func (p *Paging) after() (at int64, id string, err error) {
	if p.Cursor == "" {
		return 0, "", nil
	}
	b, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	number, id, ok := strings.Cut(string(b), " ")
	at, nerr := strconv.ParseInt(number, 10, 64)
	if err != nil || nerr != nil || !ok || at <= 0 {
		return 0, "", &callvet.FieldError{Field: "cursor", Text: "{cursor}: it is not one that a list gave"}
	}
	return at, id, nil
}

// cursor is the one that leads on behind an entry.
func cursor(at int64, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(at, 10) + " " + id))
}

// cut gives the entries of a page of which one more was asked for than it has, and the cursor of
// the next one; "" where that is the last one.
func cut[E any](list []E, limit int, at func(*E) (int64, string)) (page []E, next string) {
	if len(list) <= limit {
		return list, ""
	}
	return list[:limit], cursor(at(&list[limit-1]))
}
