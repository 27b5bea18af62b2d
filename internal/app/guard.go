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
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/score/safety"
)

// policy reads a file with rules of safety, and perhaps with what a guard does about them.
func (a *App) policy(path string) (*world.Policy, error) {
	b, err := a.read(path, world.MaxPolicyBytes)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	p, err := world.ReadPolicy(path, b)
	if err != nil && !errors.Is(err, callvet.ErrLimited) {
		err = fmt.Errorf("read policy: %w: %w", callvet.ErrInvalid, err)
	}
	return p, err
}

// guardPolicy is the policy of a run with a guard; nil where none is asked for.
func (a *App) guardPolicy(path string) (*world.Policy, error) {
	if path == "" {
		return nil, nil
	}
	p, err := a.policy(path)
	if err != nil {
		return nil, err
	}
	if p.Guard == nil {
		return nil, world.Unguarded(path)
	}
	if _, err := a.guards(p, nil, 0); err != nil {
		return nil, fmt.Errorf("read policy %s: %w", path, err)
	}
	return p, nil
}

// guards makes the guards of a policy for a catalogue of tools.
func (a *App) guards(p *world.Policy, tools []callvet.Tool, seed int64) (*world.Guards, error) {
	return a.guardsBy(nil, p, tools, seed)
}

// guardsBy makes guards that go by a clock, for tools that are really called; nil: they only say
// how long they take.
func (a *App) guardsBy(clock world.GuardClock, p *world.Policy, tools []callvet.Tool,
	seed int64,
) (*world.Guards, error) {
	if p.Confirm == safety.ConfirmAsk && a.cfg.Ask == nil {
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("confirm: ask needs a terminal, where a person is asked: %w", callvet.ErrInvalid),
			Hint: "write `confirm: user`, which takes the user's yes in the conversation, or `confirm: deny`",
		}
	}
	cfg := world.GuardsConfig{Policy: p, Tools: tools, Clock: clock, Seed: uint64(seed)}
	if a.cfg.Ask != nil {
		cfg.Ask = func(ctx context.Context, call *callvet.Call, why string) (bool, error) {
			return a.cfg.Ask(ctx, Question{Tool: call.Tool, Args: string(call.Args), Why: why})
		}
	}
	return world.NewGuards(cfg)
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
	g, err := s.app.guardsBy(s.clock(), p, s.Suite.Tools, s.Manifest.Seed)
	if err != nil {
		return fmt.Errorf("make the guard of run %s: %w", s.Stored.ID, err)
	}
	if err := s.liveWorlds(cfg, g); err != nil {
		return err
	}
	b, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	sum := sha256.Sum256(append(b, strconv.FormatInt(s.Manifest.Seed, 10)...))
	cfg.GuardKey = hex.EncodeToString(sum[:])
	own, err := s.drillGuards(p)
	cfg.Guards = func(c *callvet.Case) run.Guard {
		if o := own[c.ID]; o != nil {
			return o.Attempt(c.ID, c.Tools)
		}
		return g.Attempt(c.ID, c.Tools)
	}
	return err
}

// drillGuards are the guards of drills: the policy with the safety settings of each case, but
// without its attack, which a guard must not know. Other runs have none.
func (s *Session) drillGuards(p *world.Policy) (map[string]*world.Guards, error) {
	if !s.Manifest.Drill {
		return nil, nil
	}
	out := map[string]*world.Guards{}
	var bad error
	for c := range s.Chosen(&bad) {
		if c.Safety == nil {
			continue
		}
		policy := *p
		policy.Rules = p.Rules.With(c.Safety)
		g, err := s.app.guardsBy(s.clock(), &policy, s.Suite.Tools, s.Manifest.Seed)
		if err != nil {
			return nil, fmt.Errorf("make the guard of case %s: %w", c.ID, err)
		}
		out[c.ID] = g
	}
	return out, bad
}

// rules are those that the run's attempts are held to; nil: the constraints of its tools.
func (m *Manifest) rules() *safety.Rules {
	if m.Guard == nil {
		return nil
	}
	return &m.Guard.Rules
}
