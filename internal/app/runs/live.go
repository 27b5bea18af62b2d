// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/mcp"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/score/safety"
)

// liveTools reads the tools that a run really calls; nil if there are none. A suite cannot define
// them, because another person may have written it.
func liveTools(a *app.App, req *app.RunRequest, events app.Events) (*world.ToolsFile, error) {
	switch {
	case req.World != app.WorldLive && req.Live != "":
		return nil, app.Wrong("live", req.Live, "tools are really called with {world} %s only", app.WorldLive)
	case req.World != app.WorldLive:
		return nil, nil
	case req.Live == "":
		return nil, app.Wrong("world", app.WorldLive,
			"name the file that says which tools are called: {live} live.yaml")
	case !a.Config.Permit.Tools:
		return nil, &callvet.FieldError{
			Field: "world", Kind: callvet.ErrDenied,
			Text: "{world} live: denied: requests may not call tools here",
		}
	}
	b, err := a.Read(req.Live, world.MaxToolsFile)
	if err != nil {
		return nil, fmt.Errorf("read live tools: %w", err)
	}
	f, err := world.ReadTools(req.Live, b)
	if err != nil {
		if !errors.Is(err, callvet.ErrLimited) {
			err = fmt.Errorf("read live tools: %w: %w", callvet.ErrInvalid, err)
		}
		return nil, err
	}
	if err := a.Secrets().Spelled(
		[]redact.Setting{{
			Name: req.Live, Prose: string(b),
			Hint: "write ${NAME} for it and export NAME",
		}}); err != nil {
		return nil, err
	}
	commands := f.Commands()
	switch {
	case len(commands) == 0:
	case !a.Config.Permit.Commands:
		return nil, &callvet.FieldError{
			Field: "live", Kind: callvet.ErrDenied,
			Text: fmt.Sprintf("{live} %s: denied: tools may not be commands here", req.Live),
		}
	case !req.AllowExec:
		return nil, &callvet.FieldError{
			Field: "live", Kind: callvet.ErrDenied,
			Text: fmt.Sprintf("{live} %s: denied: its tools would run: %s", req.Live,
				plain.Line(strings.Join(commands, "; "))), Fix: "look at the commands, then {allow_exec}",
		}
	}
	app.ReportCommands(req.Live, commands, events)
	return f, nil
}

// worldOf returns the tools and the policy for the calls of a new run.
func worldOf(a *app.App, req *app.RunRequest, events app.Events) (*world.ToolsFile, *world.Policy, error) {
	f, err := liveTools(a, req, events)
	if err != nil {
		return nil, nil, err
	}
	p, err := GuardPolicy(a, req.Guard)
	if err != nil {
		return nil, nil, err
	}
	p, err = livePolicy(f, p, req.Guard, events)
	return f, p, err
}

// livePolicy returns the policy of a run that calls tools. It is the requested one, if that
// confirms every call that writes; otherwise one that allows only tools that read.
func livePolicy(f *world.ToolsFile, asked *world.Policy, name string, events app.Events) (*world.Policy, error) {
	if f == nil {
		return asked, nil
	}
	if asked != nil {
		if why := unconfirmed(asked); why != "" {
			return nil, &callvet.Hinted{
				Err: fmt.Errorf("read policy %s: %w: %s, so that live tools could write without a confirmation", name,
					callvet.ErrInvalid, why),
				Hint: "leave it out (calls that write need a confirmation by default), or write read_only: true",
			}
		}
		return asked, nil
	}
	b, err := json.Marshal(map[string]any{
		"tools": slices.Sorted(maps.Keys(f.Tools)), "domains": append([]string{}, f.Hosts()...), "read_only": true,
		"networks": append([]string{}, named(f.Hosts())...), "guard": map[string]any{},
	})
	if err != nil {
		return nil, fmt.Errorf("write policy: %w", err)
	}
	events.Note("live-guard",
		"no policy is given (--guard): only live tools that read are called, personal data in arguments is blocked, and private addresses are refused unless the file names them")
	return world.ReadPolicy("the policy of live tools", b)
}

// unconfirmed returns the key of a policy that allows writing calls without a confirmation.
func unconfirmed(p *world.Policy) string {
	flags := func(r safety.Rule) bool { return p.Guard.Actions[r] == world.Flag }
	switch {
	case p.ReadOnly && p.UndeclaredWrites && !flags(safety.RuleReadOnly):
		return ""
	case !p.UndeclaredWrites:
		return "undeclared_writes is false"
	case !p.ConfirmWrites:
		return "confirm_writes is false"
	case flags(safety.RuleUnconfirmed):
		return string(safety.RuleUnconfirmed) + " is only flagged"
	}
	return ""
}

// named returns the private addresses that a file names itself, as networks.
func named(hosts []string) []string {
	var out []string
	for _, h := range hosts {
		if strings.EqualFold(h, "localhost") {
			out = append(out, "127.0.0.0/8", "::1/128")
			continue
		}
		if at, err := netip.ParseAddr(h); err == nil {
			out = append(out, netip.PrefixFrom(at.WithZone(""), at.BitLen()).String())
		}
	}
	return out
}

// agreeing returns an error for tools that differ between the suite and the file: the guard and the
// scoring of incidents must use the same definitions. Tools that are not in the file are not
// called.
func agreeing(f *world.ToolsFile, tools []callvet.Tool, name string) (missing int, err error) {
	for i := range tools {
		t := &tools[i]
		known, entry := f.Find(t.Name)
		if entry == nil {
			missing++
			continue
		}
		reads := t.ReadOnly != nil && *t.ReadOnly
		switch declared := entry.ReadOnly != nil && *entry.ReadOnly; {
		case declared && !reads:
			return 0, &callvet.Hinted{
				Err: fmt.Errorf("live tools %s: %w: tools.%s.read_only is true, and the suite does not say so of %s",
					name, callvet.ErrInvalid, known, t.Name),
				Hint: "write read_only: true there too, or read_only: false here",
			}
		case !declared && reads:
			return 0, &callvet.Hinted{
				Err: fmt.Errorf("live tools %s: %w: tools.%s.read_only is false, and the suite says that %s only reads",
					name, callvet.ErrInvalid, known, t.Name), Hint: "write read_only: false there too",
			}
		}
	}
	return missing, nil
}

// agree compares the tools of the suite and of its cases with the called tools.
func (s *Session) agree(f *world.ToolsFile, name string) error {
	if f == nil {
		return nil
	}
	missing, err := agreeing(f, s.Suite.Tools, name)
	if err != nil {
		return err
	}
	cases, idle := 0, 0
	for c := range s.Chosen(&err) {
		if _, err := agreeing(f, c.Tools, name); err != nil {
			return fmt.Errorf("case %s: %w", c.ID, err)
		}
		cases++
		if !run.Answered(s.Suite, c, callvet.FaultsOf(s.Suite, c)) {
			idle++
		}
	}
	if idle > 0 {
		s.events.Note("no-live-call",
			"in %d of %s no call is made, only compared: multi_turn, or an assertion on results or on the answer, has the calls of a case made", idle, plain.Count(cases, "case", "cases"))
	}
	if missing > 0 {
		s.events.Note("not-live", "%s not in %s, so that no call of them is made",
			plain.Count(missing, "tool of the suite is", "tools of the suite are"), name)
	}
	return err
}

// mayCall returns an error, with the commands, if the tools of a resumed run may not be called
// here.
func (s *Session) mayCall() error {
	f, permit := s.Manifest.Live, s.app.Config.Permit
	switch {
	case f == nil:
		return nil
	case !permit.Tools:
		return app.Refused("run", "resume run %s: requests may not call tools here", s.Stored.ID)
	case len(f.Commands()) > 0 && !permit.Commands:
		return app.Refused("run", "resume run %s: its tools may not run commands here: %s", s.Stored.ID,
			strings.Join(f.Commands(), "; "))
	}
	app.ReportCommands("run "+s.Stored.ID, f.Commands(), s.events)
	return nil
}

// liveWorlds lets real tools answer the run's calls, with a separate world for each attempt. Their
// answers are not reused for other attempts.
func (s *Session) liveWorlds(cfg *run.Config, g *world.Guards) error {
	f, a := s.Manifest.Live, s.app
	if f == nil {
		return nil
	}
	dir, _, err := a.Config.Files.Path("")
	if err != nil {
		return err
	}
	env, withheld := redact.ChildEnvironment(a.Config.Environ, app.KeyVariables(), f.ExecEnv)
	if len(f.Commands()) > 0 && len(withheld) > 0 {
		s.events.Note("live-withheld", "live tools do not see %s: exec_env in the file passes a variable on",
			strings.Join(withheld, ", "))
	}
	client := g.Client(nil)
	servers, err := liveServers(a, f, client, s.events)
	if err != nil {
		return err
	}
	tools, err := world.NewTools(f,
		world.ToolsConfig{
			Client: client, Variable: a.Variable, Secrets: a.Secrets().Values(), Dir: dir, Env: env,
			Servers: servers, Now: a.Config.Now,
		})
	if err != nil {
		return err
	}
	cfg.Worlds = func(*callvet.Case, string, int) callvet.World { return tools.World() }
	cfg.Cache = nil
	return nil
}

// clock returns the clock for tools that are really called; nil: tools only report how long they
// would take.
func (s *Session) clock() world.GuardClock {
	if s.Manifest.Live == nil {
		return nil
	}
	return world.RealClock{Time: s.app.Config.Now}
}

// liveServers makes the worlds of MCP servers.
func liveServers(a *app.App, f *world.ToolsFile, client *http.Client,
	events app.Events,
) (map[string]func() callvet.World, error) {
	out := map[string]func() callvet.World{}
	for _, name := range slices.Sorted(maps.Keys(f.Servers)) {
		s := f.Servers[name]
		cfg, err := a.Server(&app.MCPServer{
			URL: s.URL, Command: s.Command, Transport: s.Transport, Protocol: s.Protocol,
			Headers: s.Headers, ExecEnv: f.ExecEnv, TimeoutMS: s.TimeoutMS,
		}, nil)
		if err != nil {
			return nil, fmt.Errorf("live tools: server %s: %w", name, err)
		}
		cfg.HTTP = client
		out[name] = func() callvet.World { return mcp.NewWorld(cfg) }
	}
	return out, nil
}
