// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/guard"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/score/safety"
)

// policy reads a file with rules of safety, and perhaps with what a guard does about them.
func (a *App) policy(path string) (*guard.Policy, error) {
	b, err := a.read(path, guard.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	p, err := guard.Read(path, b)
	if err != nil && !errors.Is(err, callvet.ErrLimited) {
		err = fmt.Errorf("read policy: %w: %w", callvet.ErrInvalid, err)
	}
	return p, err
}

// guardPolicy is the policy of a run with a guard; nil where none is asked for.
func (a *App) guardPolicy(path string) (*guard.Policy, error) {
	if path == "" {
		return nil, nil
	}
	p, err := a.policy(path)
	if err != nil {
		return nil, err
	}
	if p.Guard == nil {
		return nil, guard.Unguarded(path)
	}
	if _, err := a.guards(p, nil, 0); err != nil {
		return nil, fmt.Errorf("read policy %s: %w", path, err)
	}
	return p, nil
}

// guards makes the guards of a policy for a catalogue of tools.
func (a *App) guards(p *guard.Policy, tools []callvet.Tool, seed int64) (*guard.Guards, error) {
	if p.Confirm == safety.ConfirmAsk && a.cfg.Ask == nil {
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("confirm: ask needs a terminal, where a person is asked: %w", callvet.ErrInvalid),
			Hint: "write `confirm: user`, which takes the user's yes in the conversation, or `confirm: deny`",
		}
	}
	cfg := guard.Config{Policy: p, Tools: tools, Seed: uint64(seed)}
	if a.cfg.Ask != nil {
		cfg.Ask = func(ctx context.Context, call *callvet.Call, why string) (bool, error) {
			return a.cfg.Ask(ctx, Question{Tool: call.Tool, Args: string(call.Args), Why: why})
		}
	}
	return guard.New(cfg)
}

// Question is what a person is asked about a call before it is executed.
type Question struct {
	Tool string
	Args string
	Why  string
}

// guard puts the run's guard before its worlds.
func (s *Session) guard(cfg *run.Config) error {
	p := s.Manifest.Guard
	if p == nil {
		return nil
	}
	g, err := s.app.guards(p, s.Suite.Tools, s.Manifest.Seed)
	if err != nil {
		return fmt.Errorf("make the guard of run %s: %w", s.Stored.ID, err)
	}
	b, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	sum := sha256.Sum256(append(b, strconv.FormatInt(s.Manifest.Seed, 10)...))
	cfg.GuardKey = hex.EncodeToString(sum[:])
	cfg.Guards = func(c *callvet.Case) run.Guard { return g.Attempt(c.ID, c.Tools) }
	return nil
}

// rules are those that the run's attempts are held to; nil: the constraints of its tools.
func (m *Manifest) rules() *safety.Rules {
	if m.Guard == nil {
		return nil
	}
	return &m.Guard.Rules
}
