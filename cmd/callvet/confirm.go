// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
)

// confirm asks at the terminal whether a call may be executed, one question after the other.
// Every answer except a yes is a no.
func (a *cli) confirm(ctx context.Context, q app.Question) (bool, error) {
	a.prompting.Lock()
	defer a.prompting.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	const most = 2000
	args := q.Args
	if len(args) > most {
		args = strings.ToValidUTF8(args[:most], "") + "…"
	}
	fmt.Fprintf(a.err, "\n%s\n  %s %s\nexecute it? [y]es, [n]o: ", plain.Line(q.Why), plain.Line(q.Tool),
		plain.Line(args))
	if a.answers == nil {
		a.answers = bufio.NewReader(a.in)
	}
	text, err := a.answers.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes":
		return true, ctx.Err()
	}
	return false, ctx.Err()
}
