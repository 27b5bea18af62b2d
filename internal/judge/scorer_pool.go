// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/score"
)

//go:embed wrap.js
var wrapJS string

//go:embed wrap.py
var wrapPython string

// Limits of programs.
const (
	// MaxScorerAnswer is how long the line of one answer may be.
	MaxScorerAnswer = 1 << 20
	// maxIdle is how many idle processes are kept for further attempts.
	maxIdle = 32
	// maxFile bounds a file that is hashed for a version.
	maxFile = 64 << 20
)

// ScorerConfig configures how programs are run.
type ScorerConfig struct {
	// Dir is their working folder, and the base of relative file names: the folder of the suite.
	// "": the current one.
	Dir string
	// Env is their whole environment; nothing is inherited.
	Env []string
	// Redact redacts an attempt for programs. Nil: no redaction.
	Redact func(*callvet.Case, *callvet.Trace) (callvet.Case, callvet.Trace)
}

// ScorerPool runs the programs of a suite. It is safe for concurrent use. Close it.
type ScorerPool struct {
	cfg      ScorerConfig
	families sys.ProcessFamilies

	mu     sync.Mutex
	idle   []*process // the longest idle first
	closed bool
	sums   map[string]string // of files, by path
}

// NewScorerPool makes a Pool. It starts nothing.
func NewScorerPool(cfg ScorerConfig) *ScorerPool {
	return &ScorerPool{cfg: cfg, sums: map[string]string{}}
}

// Close ends the processes and their children. The pool must not be used afterwards.
func (p *ScorerPool) Close() error {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, x := range idle {
		x.end()
	}
	return nil
}

// Custom returns the scoring function of a scorer that is a program. The error wraps
// callvet.ErrInvalid or callvet.ErrNotFound.
func (p *ScorerPool) Custom(s *callvet.Scorer) (score.Custom, error) {
	c, err := commandOf(s)
	if err != nil {
		return nil, err
	}
	if c.path, err = p.find(c.args[0]); err != nil {
		return nil, fmt.Errorf("find %q: %w: %w", c.args[0], err, callvet.ErrNotFound)
	}
	version, err := p.version(s, c)
	if err != nil {
		return nil, err
	}
	return &program{pool: p, of: s, command: c, version: version}, nil
}

// find resolves the path of a command like a shell in the folder.
func (p *ScorerPool) find(name string) (string, error) {
	if p.cfg.Dir != "" && strings.ContainsRune(name, '/') && !filepath.IsAbs(name) {
		dir, err := filepath.Abs(p.cfg.Dir)
		if err != nil {
			return "", err
		}
		name = filepath.Join(dir, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", errors.Unwrap(err)
	}
	return path, nil
}

// Version is the version of a scorer: a hash of its settings; for programs also of their files
// and the text that runs them. For an unreadable file its error is hashed.
func (p *ScorerPool) Version(s *callvet.Scorer) string {
	c, err := commandOf(s)
	if err != nil {
		return s.Sum(err.Error())
	}
	v, err := p.version(s, c)
	if err != nil {
		return s.Sum(err.Error())
	}
	return v
}

// command is a command line, and the text that runs a suite's own program.
type command struct {
	args    []string
	path    string
	wrapper string
}

func commandOf(s *callvet.Scorer) (command, error) {
	switch {
	case s.JavaScript != "":
		return command{args: []string{"node", "-e", wrapJS}, wrapper: wrapJS}, nil
	case s.Python != "":
		return command{args: []string{"python3", "-u", "-c", wrapPython}, wrapper: wrapPython}, nil
	case s.Exec == "":
		return command{}, fmt.Errorf("%w: nothing here is a scorer of that name", callvet.ErrInvalid)
	}
	args, err := sys.SplitCommand(s.Exec)
	if err == nil && len(args) == 0 {
		err = fmt.Errorf("%w: the command is empty", callvet.ErrInvalid)
	}
	return command{args: args}, err
}

// version hashes a scorer with its files: the named files, and the words of its command that are
// files.
func (p *ScorerPool) version(s *callvet.Scorer, c command) (string, error) {
	if s.Exec == "" {
		return s.Sum(c.wrapper), nil
	}
	var parts []string
	for i, word := range slices.Concat(s.Files, c.args) {
		sum, err := p.sum(word)
		switch {
		case err == nil:
			parts = append(parts, word+" "+sum)
		case i < len(s.Files): // a word of the command may be no file
			return "", fmt.Errorf("read the file %q of the scorer: %w", word, err)
		}
	}
	return s.Sum(parts...), nil
}

// sum hashes a regular file.
func (p *ScorerPool) sum(name string) (string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.cfg.Dir, name)
	}
	p.mu.Lock()
	sum, known := p.sums[name]
	p.mu.Unlock()
	if known {
		return sum, nil
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return "", errors.Unwrap(err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%w: it is no file", callvet.ErrInvalid)
	case info.Size() > maxFile:
		return "", fmt.Errorf("%w: it has more than %d bytes", callvet.ErrLimited, maxFile)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", errors.Unwrap(err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxFile)); err != nil {
		return "", err
	}
	sum = hex.EncodeToString(h.Sum(nil))
	p.mu.Lock()
	p.sums[name] = sum
	p.mu.Unlock()
	return sum, nil
}

// program is a scorer that runs as a process.
type program struct {
	pool    *ScorerPool
	of      *callvet.Scorer
	command command
	version string
}

// Version implements score.Custom.
func (g *program) Version() string { return g.version }

// question is a line of standard input.
type question struct {
	ID      int64           `json:"id"`
	Scorer  string          `json:"scorer"`
	Program string          `json:"program,omitempty"`
	Vars    json.RawMessage `json:"vars,omitempty"`
	// Threshold and Negated are for the wrapper of a suite's own program.
	Threshold *float64       `json:"threshold,omitempty"`
	Attempt   *score.Attempt `json:"attempt"`
}

// Judge implements score.Custom.
func (g *program) Judge(ctx context.Context, a *score.Attempt) (score.Opinion, error) {
	if g.pool.cfg.Redact != nil {
		c, t := g.pool.cfg.Redact(a.Case, a.Trace)
		a = &score.Attempt{Case: &c, Trace: &t, Blind: a.Blind}
	}
	q := question{
		Scorer: g.of.Name, Program: g.of.JavaScript + g.of.Python, Vars: g.of.Vars,
		Threshold: g.of.Threshold, Attempt: a,
	}
	for {
		x, used, err := g.pool.take(ctx, g.command)
		if err != nil {
			return score.Opinion{}, err
		}
		o, err := x.ask(ctx, &q)
		var ended *endedError
		if used && errors.As(err, &ended) && ctx.Err() == nil {
			continue // it ended after its last answer, like a program that answers once
		}
		return o, err
	}
}

// take returns a waiting process, or starts one. used: it has answered before.
func (p *ScorerPool) take(ctx context.Context, c command) (x *process, used bool, err error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, false, fmt.Errorf("start %q: %w: the run has ended", c.args[0], callvet.ErrConflict)
	}
	i := slices.IndexFunc(p.idle, func(x *process) bool { return slices.Equal(x.command.args, c.args) })
	if i >= 0 {
		x = p.idle[i]
		p.idle = slices.Delete(p.idle, i, i+1)
	}
	p.mu.Unlock()
	if x != nil {
		return x, true, nil
	}
	x, err = p.start(ctx, c)
	return x, false, err
}

// give returns a process to the pool.
func (p *ScorerPool) give(x *process) {
	var over *process
	p.mu.Lock()
	switch {
	case p.closed:
		over = x
	case len(p.idle) == maxIdle:
		over = p.idle[0]
		p.idle = append(p.idle[1:], x)
	default:
		p.idle = append(p.idle, x)
	}
	p.mu.Unlock()
	if over != nil {
		over.end()
	}
}
