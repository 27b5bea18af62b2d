// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/suite/native"
)

//go:embed tool.schema.json
var toolfileSchema string

// ToolsSchema is the published JSON Schema (2020-12) of a tool file.
func ToolsSchema() []byte { return []byte(toolfileSchema) }

// Limits of tool files.
const (
	ToolFileLimit = 16 << 20 // bytes of one file
	MaxFiles      = 10_000   // files of a folder
)

// ToolOptions are the settings of Load; the zero value has the defaults.
type ToolOptions struct {
	// Limit is the largest file in bytes; 0 means DefaultLimit.
	Limit int64
	// Outside lets symbolic links in a folder lead out of it.
	Outside bool
}

// LoadTools reads the tools of a file, or of all .json, .jsonc, .yaml and .yml files of a folder
// in the order of their names (its subfolders are left out). The problems are the parts that were
// not accepted; a problem that is not a warning means that the tools differ from what their
// author wrote. The error is for an unreadable file, and for a folder without tools; it wraps
// callvet.ErrNotFound, callvet.ErrInvalid or callvet.ErrLimited.
func LoadTools(path string, opt ToolOptions) ([]callvet.Tool, []callvet.Problem, error) {
	if opt.Limit <= 0 {
		opt.Limit = ToolFileLimit
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, toolfileMissing(path, err)
	}
	l := loader{opt: opt, seen: map[string]callvet.Position{}}
	if !info.IsDir() {
		err = l.file(path)
	} else {
		err = l.folder(path)
	}
	if err != nil {
		return nil, nil, err
	}
	return l.tools, l.problems, nil
}

// ReadToolFile reads the tools of a file that is in memory, as Load does; gzip works.
func ReadToolFile(name string, data []byte) ([]callvet.Tool, []callvet.Problem, error) {
	data, err := doc.ReadAll(name, data, ToolFileLimit)
	if err != nil {
		return nil, nil, err
	}
	l := loader{seen: map[string]callvet.Position{}}
	l.text(name, data)
	return l.tools, l.problems, nil
}

func toolfileMissing(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return &callvet.Hinted{
			Err:  fmt.Errorf("read tools %s: %w", path, callvet.ErrNotFound),
			Hint: "name a folder with files such as get_refund_policy.v3.json, or one file with tools",
		}
	}
	return fmt.Errorf("read tools: %w", err)
}

type loader struct {
	opt      ToolOptions
	tools    []callvet.Tool
	problems []callvet.Problem
	seen     map[string]callvet.Position // name@version
}

func (l *loader) add(at callvet.Position, warning bool, code, key, fix, format string, args ...any) {
	l.problems = append(l.problems, callvet.Problem{
		Position: at, Code: code, Warning: warning, Key: key, Message: fmt.Sprintf(format, args...), Fix: fix,
	})
}

// ToolFiles are the files of a folder that Load reads, in the order of their names. The error wraps
// callvet.ErrLimited for too many. It wraps callvet.ErrDenied for a symbolic link that leads out of
// the folder, unless outside allows it: a stranger's folder could read any file of this machine.
func ToolFiles(dir string, outside bool) ([]string, error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("read tools: %w", err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") ||
			!slices.Contains([]string{".json", ".jsonc", ".yaml", ".yml"}, strings.ToLower(filepath.Ext(e.Name()))) {
			continue
		}
		if e.Type()&os.ModeSymlink != 0 && !outside && leaves(dir, e.Name()) {
			return nil, &callvet.Hinted{
				Err:  fmt.Errorf("read tools %s: %s leads out of the folder: %w", dir, e.Name(), callvet.ErrDenied),
				Hint: "copy the file there, or --allow-outside to read it where it is",
			}
		}
		out = append(out, filepath.Join(dir, e.Name()))
	}
	if len(out) > MaxFiles {
		return nil, fmt.Errorf("read tools %s: %w: more than %d files", dir, callvet.ErrLimited, MaxFiles)
	}
	return out, nil
}

// leaves reports whether a symbolic link leads out of its folder.
func leaves(dir, name string) bool {
	to, err := filepath.EvalSymlinks(filepath.Join(dir, name))
	if err != nil {
		return false // opening it returns the error
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return true
	}
	rel, err := filepath.Rel(dir, to)
	return err != nil || !filepath.IsLocal(rel)
}

// NewestTools keeps the newest version of each tool, at the position of its first version; left
// are the other versions.
func NewestTools(tools []callvet.Tool) (kept, left []callvet.Tool) {
	at := map[string]int{}
	for _, t := range tools {
		i, seen := at[t.Name]
		switch {
		case !seen:
			at[t.Name] = len(kept)
			kept = append(kept, t)
		case callvet.CompareVersions(kept[i].Version, t.Version) < 0:
			left, kept[i] = append(left, kept[i]), t
		default:
			left = append(left, t)
		}
	}
	return kept, left
}

func (l *loader) folder(dir string) error {
	files, err := ToolFiles(dir, l.opt.Outside)
	if err != nil {
		return err
	}
	for _, path := range files {
		if err := l.file(path); err != nil {
			return err
		}
	}
	if len(l.tools) == 0 && !slices.ContainsFunc(l.problems, func(p callvet.Problem) bool { return !p.Warning }) {
		return &callvet.Hinted{
			Err:  fmt.Errorf("read tools %s: %w: no file in the folder declares a tool", dir, callvet.ErrNotFound),
			Hint: "tool files end in .json, .jsonc, .yaml or .yml",
		}
	}
	return nil
}

func (l *loader) file(path string) error {
	data, err := l.read(path)
	if err != nil {
		return err
	}
	l.text(path, data)
	return nil
}

// text reads the content of a file.
func (l *loader) text(path string, data []byte) {
	if len(bytes.TrimSpace(data)) == 0 || !utf8.Valid(data) {
		l.add(callvet.Position{File: path}, false, "syntax", "", "save the tool's definition as UTF-8",
			"the file is empty or not UTF-8")
		return
	}
	d, bad := doc.ReadLists(path, data)
	if bad != nil {
		f := &doc.File{Name: path}
		if d != nil {
			f = d
		}
		l.problems = append(l.problems, f.Problem(bad))
		return
	}
	found, alone, problems := native.ReadContracts(d)
	l.problems = append(l.problems, problems...)
	if alone {
		l.named(path, &found[0])
	}
	for i := range found {
		l.take(&found[i])
	}
}

func (l *loader) read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, toolfileMissing(path, err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	data, err := doc.ReadWhole(f, l.opt.Limit)
	if err != nil {
		return nil, fmt.Errorf("read tools %s: %w", path, err)
	}
	return doc.ReadAll(path, data, l.opt.Limit)
}

// take adds a tool that is not yet present, and checks its schema.
func (l *loader) take(c *native.Contract) {
	t := &c.Tool
	id := t.Name + "@" + strings.TrimPrefix(t.Version, "v")
	if first, dup := l.seen[id]; dup {
		l.add(c.Name, false, "duplicate-tool", t.Name, "remove one, or give it another version",
			"tool %s is declared twice in version %q, first at %s:%d", t.Name, t.Version, first.File, first.Line)
		return
	}
	l.seen[id] = c.Name
	if t.Parameters == nil {
		l.add(c.At, true, "no-schema", t.Name, `add "args": {"type": "object", …}`,
			"tool %s has no schema: its calls cannot be validated", t.Name)
	} else if _, err := contract.Compile(t.Parameters); err != nil {
		l.add(c.Parameters, false, "bad-schema", t.Name, "", "the schema of tool %s does not compile: %v", t.Name, err)
	}
	l.tools = append(l.tools, *t)
}

// named compares a file's name such as get_refund_policy.v3.json with its content, and takes the
// version from the name where the content has none.
func (l *loader) named(path string, c *native.Contract) {
	name, version, ok := callvet.SplitToolFile(filepath.Base(path))
	if !ok {
		return
	}
	t := &c.Tool
	if t.Name != name {
		l.add(c.Name, false, "name-mismatch", t.Name,
			fmt.Sprintf("call the file %s.%s.json, or the tool %s", t.Name, version, name),
			"the file's name says tool %s, its content %s", name, t.Name)
	}
	switch {
	case t.Version == "":
		t.Version = version
	case strings.TrimPrefix(t.Version, "v") != strings.TrimPrefix(version, "v"):
		l.add(c.Version, false, "version-mismatch", t.Name,
			fmt.Sprintf("call the file %s.v%s.json, or write \"version\": %q", name,
				strings.TrimPrefix(t.Version, "v"), version),
			"the file's name says version %s, its content %s", version, t.Version)
	}
}
