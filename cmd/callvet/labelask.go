// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report/console"
	"github.com/callvet/callvet/internal/report/plain"
)

// askAll shows tasks one by one; each answer is on disk before the next is shown.
func (a *cli) askAll(todo []runs.Todo, file string) (err error) {
	to, err := runs.OpenLabels(a.program(), file, a.events())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	in, answered := bufio.NewReader(io.LimitReader(a.in, 1<<20)), 0
	for i := range todo {
		l := &todo[i].Label
		fmt.Fprintf(a.out, "\n[%d of %d] %s\n", i+1, len(todo), plain.Line(l.Key.String()))
		console.ShownTask(a.out, todo[i].Shown)
		done, more, err := a.askOne(in, &todo[i])
		if err != nil {
			return err
		}
		if done {
			l.At = a.now().UTC()
			if err := to.Append(*l); err != nil {
				return err
			}
			answered++
		}
		if !more {
			break
		}
	}
	fmt.Fprintf(a.out, "\n%s written to %s\n", plain.Count(answered, "label", "labels"), file)
	return nil
}

// askOne asks until there is an answer; more is false when the person is done.
func (a *cli) askOne(in *bufio.Reader, t *runs.Todo) (answered, more bool, err error) {
	question := cmp.Or(plain.Line(t.Shown.Question), "did it do what was asked?")
	for {
		fmt.Fprint(a.out, question+" [p]ass, [f]ail, [n]ote, [s]kip, [q]uit: ")
		text, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return false, false, fmt.Errorf("read answer: %w", err)
		}
		end := err != nil
		word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		switch strings.ToLower(word) {
		case "p", "pass", "y", "yes", "f", "fail", "no":
			pass := strings.ContainsAny(strings.ToLower(word[:1]), "py")
			t.Label.Pass = &pass
			return true, !end, nil
		case "n", "note":
			if rest == "" {
				fmt.Fprint(a.out, "note: ")
				rest, err = in.ReadString('\n')
				if err != nil && !errors.Is(err, io.EOF) {
					return false, false, fmt.Errorf("read answer: %w", err)
				}
			}
			t.Label.Note = strings.TrimSpace(rest)
			end = end || err != nil
		case "s", "skip":
			return false, !end, nil
		case "q", "quit":
			return false, false, nil
		}
		if end {
			return false, false, nil
		}
	}
}
