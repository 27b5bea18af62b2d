// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/drills"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report/plain"
)

// ScorerVersion says which version of a scorer of the suite's own judged a run.
type ScorerVersion struct {
	Name string `json:"name"`
	// Kind is expr, exec, javascript or python; several are joined by commas.
	Kind string `json:"kind"`
	// Version changes with the scorer: with its text, its settings, and the files that its
	// command is made of. Cases may have scorers of one name that differ: it is of all then.
	Version string `json:"version"`
	// Commands are what it runs, each once, up to some.
	Commands []string `json:"commands,omitempty"`
}

// maxCommands bounds the listed commands of one scorer; cases may have many.
const maxCommands = 10

// scorersOf gathers the scorers of a suite, case by case.
type scorersOf struct {
	version func(*callvet.Scorer) string
	// denied: programs may not run, and the suite has one.
	may, denied bool
	commands    map[string][]string // by name
	// seen are the versions and kinds by name; of a scorer that cases share it is looked up once.
	seen  map[string]map[string]bool
	kinds map[string]map[string]bool
}

// newScorersOf makes one for the suite of a request.
func (a *App) newScorersOf(req *RunRequest) (*scorersOf, error) {
	dir := "" // of a suite that is read from no file
	if req.Made == nil && req.Text == nil {
		var err error
		if dir, err = a.besideSuite(req.Suite); err != nil {
			return nil, err
		}
	}
	pool := judge.NewScorerPool(judge.ScorerConfig{Dir: dir}) // which starts nothing
	return &scorersOf{
		version: pool.Version, may: req.AllowExec && a.cfg.Permit.Commands, commands: map[string][]string{},
		seen: map[string]map[string]bool{}, kinds: map[string]map[string]bool{},
	}, nil
}

// besideSuite is the folder of a suite: where its scorers run.
func (a *App) besideSuite(name string) (string, error) {
	if name == "-" {
		name = ""
	}
	if name == "" && !a.cfg.Permit.Commands {
		return "", nil // nothing runs there
	}
	path, folder, err := a.cfg.Files.Path(name)
	if err != nil || folder || name == "" {
		return path, err
	}
	return filepath.Dir(path), nil
}

// add takes the scorers of a case.
func (o *scorersOf) add(c *callvet.Case) {
	for i := range c.Expect.Scorers {
		s := &c.Expect.Scorers[i]
		if o.seen[s.Name] == nil {
			o.seen[s.Name], o.kinds[s.Name] = map[string]bool{}, map[string]bool{}
		}
		o.seen[s.Name][o.version(s)], o.kinds[s.Name][s.Kind()] = true, true
		if !s.Runs() {
			continue
		}
		o.denied = o.denied || !o.may
		command := plain.Line(s.Command())
		if list := o.commands[s.Name]; len(list) < maxCommands && !slices.Contains(list, command) {
			o.commands[s.Name] = append(list, command)
		}
	}
}

// all are the commands of all scorers, each once.
func (o *scorersOf) all() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(o.commands)) {
		for _, command := range o.commands[name] {
			if !slices.Contains(out, command) {
				out = append(out, command)
			}
		}
	}
	return out
}

// refusal is the error of a suite with programs that may not run: another person may have written
// it. Nil if they may run, or if there are none.
func (o *scorersOf) refusal(req *RunRequest, permit Permit) error {
	switch {
	case !o.denied:
		return nil
	case !permit.Commands:
		return &callvet.FieldError{
			Field: "suite", Kind: callvet.ErrDenied,
			Text: fmt.Sprintf("suite %s: denied: scorers may not run commands here: %s", req.Suite,
				strings.Join(o.all(), "; ")),
		}
	}
	return &callvet.FieldError{
		Field: "suite", Kind: callvet.ErrDenied,
		Text: fmt.Sprintf("suite %s: denied: its scorers would run: %s", req.Suite, strings.Join(o.all(), "; ")),
		Fix:  "look at the commands, then {allow_exec}",
	}
}

// list gives them by name; nil where there is none.
func (o *scorersOf) list() []ScorerVersion {
	var out []ScorerVersion
	for _, name := range slices.Sorted(maps.Keys(o.seen)) {
		all := slices.Sorted(maps.Keys(o.seen[name]))
		version := all[0]
		if len(all) > 1 {
			sum := sha256.Sum256([]byte(strings.Join(all, "\n")))
			version = hex.EncodeToString(sum[:])[:len(all[0])]
		}
		out = append(out,
			ScorerVersion{name, strings.Join(slices.Sorted(maps.Keys(o.kinds[name])), ", "), version, o.commands[name]})
	}
	return out
}

// commands are those that the scorers of a run started with, each once.
func (m *Manifest) commands() []string {
	var out []string
	for _, s := range m.Scorers {
		for _, command := range s.Commands {
			if !slices.Contains(out, command) {
				out = append(out, command)
			}
		}
	}
	return out
}

// programs makes what runs the scorers of the session's run. The caller closes it.
func (s *Session) programs() (*judge.ScorerPool, error) {
	if m := s.Manifest; m.Made || m.Kept || m.Drill && m.Path == drills.Name { // read from no file
		return s.app.poolIn("", s.Manifest.leaves())
	}
	return s.app.newPool(s.Manifest.Path, s.Manifest.leaves())
}

// newPool makes what runs the scorers of a suite, which are shown what a run would keep; keep are
// the kinds of personal data that stay. The caller closes it.
func (a *App) newPool(suite string, keep []redact.Kind) (*judge.ScorerPool, error) {
	dir, err := a.besideSuite(suite)
	if err != nil {
		return nil, err
	}
	return a.poolIn(dir, keep)
}

// poolIn makes what runs scorers in a folder.
func (a *App) poolIn(dir string, keep []redact.Kind) (*judge.ScorerPool, error) {
	base, err := a.secrets.Redactor(keep)
	if err != nil {
		return nil, err
	}
	env, _ := redact.ChildEnvironment(a.cfg.Environ, keyVariables(), nil)
	return judge.NewScorerPool(judge.ScorerConfig{
		Dir: dir, Env: env,
		Redact: func(c *callvet.Case, t *callvet.Trace) (callvet.Case, callvet.Trace) {
			shown, cell := base.Fork().Row(c, &callvet.Cell{Trace: *t})
			return shown, cell.Trace
		},
	}), nil
}

// tellScorers reports the scorers that differ between two runs; their results are compared
// nevertheless.
func tellScorers(base, cand *Manifest, events Events) {
	was := map[string]string{}
	for _, s := range base.Scorers {
		was[s.Name] = s.Version
	}
	for _, s := range cand.Scorers {
		if old, both := was[s.Name]; both && old != s.Version {
			events.note("scorer-changed",
				"scorer %s: another version judged the candidate (%s) than the base (%s), so that a difference may be the scorer's", s.Name, s.Version, old)
		}
	}
}

// tellScorersOf does so for the sides of a comparison, where both are runs.
func (a *App) tellScorersOf(ctx context.Context, base, cand Side, events Events) error {
	if base.Traces != "" || cand.Traces != "" {
		return nil
	}
	b, err := a.Run(ctx, base.Run)
	if err != nil {
		return err
	}
	c, err := a.Run(ctx, cand.Run)
	if err != nil {
		return err
	}
	tellScorers(b.Manifest, c.Manifest, events)
	return nil
}
