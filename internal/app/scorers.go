// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report/plain"
)

// ScorerVersion is the version of a suite's own scorer that judged a run.
type ScorerVersion struct {
	Name string `json:"name"`
	// Kind is expr, exec, javascript or python; several are joined by commas.
	Kind string `json:"kind"`
	// Version changes with the scorer: with its text, its settings, and the files of its command.
	// If cases have different scorers with the same name, it is the version of all of them.
	Version string `json:"version"`
	// Commands are the commands that it runs, each once, up to a limit.
	Commands []string `json:"commands,omitempty"`
}

// maxCommands bounds the listed commands of one scorer; cases may have many.
const maxCommands = 10

// ScorersOf collects the scorers of a suite, case by case.
type ScorersOf struct {
	version func(*callvet.Scorer) string
	// denied: programs may not run, and the suite has one.
	may, Denied bool
	commands    map[string][]string // by name
	// seen are the versions and kinds by name; a scorer that cases share is looked up once.
	seen  map[string]map[string]bool
	kinds map[string]map[string]bool
}

// NewScorersOf makes one for the suite of a request.
func (a *App) NewScorersOf(req *RunRequest) (*ScorersOf, error) {
	dir := "" // for a suite that is not read from a file
	if req.Made == nil && req.Text == nil {
		var err error
		if dir, err = a.suiteFolder(req.Suite); err != nil {
			return nil, err
		}
	}
	pool := judge.NewScorerPool(judge.ScorerConfig{Dir: dir}) // which starts nothing
	return &ScorersOf{
		version: pool.Version, may: req.AllowExec && a.Config.Permit.Commands, commands: map[string][]string{},
		seen: map[string]map[string]bool{}, kinds: map[string]map[string]bool{},
	}, nil
}

// suiteFolder returns the folder of a suite; its scorers run there.
func (a *App) suiteFolder(name string) (string, error) {
	if name == "-" {
		name = ""
	}
	if name == "" && !a.Config.Permit.Commands {
		return "", nil // no scorer runs there
	}
	path, folder, err := a.Config.Files.Path(name)
	if err != nil || folder || name == "" {
		return path, err
	}
	return filepath.Dir(path), nil
}

// Add adds the scorers of a case.
func (o *ScorersOf) Add(c *callvet.Case) {
	for i := range c.Expect.Scorers {
		s := &c.Expect.Scorers[i]
		if o.seen[s.Name] == nil {
			o.seen[s.Name], o.kinds[s.Name] = map[string]bool{}, map[string]bool{}
		}
		o.seen[s.Name][o.version(s)], o.kinds[s.Name][s.Kind()] = true, true
		if !s.Runs() {
			continue
		}
		o.Denied = o.Denied || !o.may
		command := plain.Line(s.Command())
		if list := o.commands[s.Name]; len(list) < maxCommands && !slices.Contains(list, command) {
			o.commands[s.Name] = append(list, command)
		}
	}
}

// All returns the commands of all scorers, each once.
func (o *ScorersOf) All() []string {
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

// Refusal returns the error of a suite with programs that may not run, because another person may
// have written it. Nil if they may run, or if there are none.
func (o *ScorersOf) Refusal(req *RunRequest, permit Permit) error {
	switch {
	case !o.Denied:
		return nil
	case !permit.Commands:
		return &callvet.FieldError{
			Field: "suite", Kind: callvet.ErrDenied,
			Text: fmt.Sprintf("suite %s: denied: scorers may not run commands here: %s", req.Suite,
				strings.Join(o.All(), "; ")),
		}
	}
	return &callvet.FieldError{
		Field: "suite", Kind: callvet.ErrDenied,
		Text: fmt.Sprintf("suite %s: denied: its scorers would run: %s", req.Suite, strings.Join(o.All(), "; ")),
		Fix:  "look at the commands, then {allow_exec}",
	}
}

// List returns the scorers by name; nil if there are none.
func (o *ScorersOf) List() []ScorerVersion {
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

// NewPool makes the pool that runs the scorers of a suite. Scorers get redacted data, as a run
// would store it; keep are the kinds of personal data that stay. The caller closes it.
func (a *App) NewPool(suite string, keep []redact.Kind) (*judge.ScorerPool, error) {
	dir, err := a.suiteFolder(suite)
	if err != nil {
		return nil, err
	}
	return a.PoolIn(dir, keep)
}

// PoolIn makes the pool that runs scorers in a folder.
func (a *App) PoolIn(dir string, keep []redact.Kind) (*judge.ScorerPool, error) {
	base, err := a.secrets.Redactor(keep)
	if err != nil {
		return nil, err
	}
	env, _ := redact.ChildEnvironment(a.Config.Environ, KeyVariables(), nil)
	return judge.NewScorerPool(judge.ScorerConfig{
		Dir: dir, Env: env,
		Redact: func(c *callvet.Case, t *callvet.Trace) (callvet.Case, callvet.Trace) {
			shown, cell := base.Fork().Row(c, &callvet.Cell{Trace: *t})
			return shown, cell.Trace
		},
	}), nil
}
