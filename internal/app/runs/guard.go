// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/score/safety"
)

// GuardPolicy reads the policy of a run with a guard; nil without a guard.
func GuardPolicy(a *app.App, path string) (*world.Policy, error) {
	if path == "" {
		return nil, nil
	}
	p, err := a.Policy(path)
	if err != nil {
		return nil, err
	}
	if p.Guard == nil {
		return nil, world.Unguarded(path)
	}
	if _, err := guards(a, p, nil, 0); err != nil {
		return nil, fmt.Errorf("read policy %s: %w", path, err)
	}
	return p, nil
}

// guards makes the guards of a policy for a catalogue of tools.
func guards(a *app.App, p *world.Policy, tools []callvet.Tool, seed int64) (*world.Guards, error) {
	return GuardsBy(a, nil, p, tools, seed)
}

// GuardsBy makes guards with a clock, for tools that are really called; with a clock of nil they
// only report how long they would take.
func GuardsBy(a *app.App, clock world.GuardClock, p *world.Policy, tools []callvet.Tool,
	seed int64,
) (*world.Guards, error) {
	if p.Confirm == safety.ConfirmAsk && a.Config.Ask == nil {
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("confirm: ask needs a terminal, where a person is asked: %w", callvet.ErrInvalid),
			Hint: "write `confirm: user`, which takes the user's yes in the conversation, or `confirm: deny`",
		}
	}
	cfg := world.GuardsConfig{Policy: p, Tools: tools, Clock: clock, Seed: uint64(seed)}
	if a.Config.Ask != nil {
		cfg.Ask = func(ctx context.Context, call *callvet.Call, why string) (bool, error) {
			return a.Config.Ask(ctx, app.Question{Tool: call.Tool, Args: string(call.Args), Why: why})
		}
	}
	return world.NewGuards(cfg)
}

// guard puts the run's guard in front of its worlds.
func (s *Session) guard(cfg *run.Config) error {
	p := s.Manifest.Guard
	if p == nil {
		return nil
	}
	g, err := GuardsBy(s.app, s.clock(), p, s.Suite.Tools, s.Manifest.Seed)
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

// drillGuards returns the guards of drills: the policy with the safety settings of each case, but
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
		g, err := GuardsBy(s.app, s.clock(), &policy, s.Suite.Tools, s.Manifest.Seed)
		if err != nil {
			return nil, fmt.Errorf("make the guard of case %s: %w", c.ID, err)
		}
		out[c.ID] = g
	}
	return out, bad
}
