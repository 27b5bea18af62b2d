// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// Searches reports whether any target is a catalog, whether one asks models, and whether there are
// targets of another kind.
func Searches(targets []string) (found, asks, others bool) {
	for _, t := range targets {
		rest, own := TargetFile(t)
		if !own {
			others = true
			continue
		}
		_, set, err := Parse(rest)
		found, asks = true, asks || err == nil && (set.Embed != "" || set.Rerank != "")
	}
	return found, asks, others
}

// Fingerprints are hashes of the catalogs and rules of routes that targets read, by
// their position, "" for targets that read none; nil where no target does. Errors are
// those of reading.
func Fingerprints(targets []string, files Files) ([]string, error) {
	var out []string
	for i, t := range targets {
		rest, own := TargetFile(t)
		if !own {
			continue
		}
		f, err := fingerprint(rest, files)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = make([]string, len(targets))
		}
		out[i] = f
	}
	return out, nil
}

func fingerprint(rest string, files Files) (string, error) {
	file, s, err := Parse(rest)
	if err != nil {
		return "", fmt.Errorf("read catalogue: %w", err)
	}
	h := sha256.New()
	named := []string{file}
	if s.Routes != "" && s.Routes != "none" {
		named = append(named, s.Routes)
	}
	for i, name := range named {
		parts, err := ReadFiles(files, name)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", [...]string{"catalogue", "routes"}[i], err)
		}
		for _, p := range parts {
			fmt.Fprintf(h, "%d ", len(p.Data))
			h.Write(p.Data)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// Changed describes changes of the catalogs since a run, "" for none. then are the hashes stored by
// the run; runs without them are compared by the hash of their tools.
func Changed(targets, then []string, tools string, files Files) string {
	now, err := Fingerprints(targets, files)
	switch {
	case err != nil:
		return err.Error()
	case now == nil || slices.Equal(now, then):
		return ""
	case then != nil:
		return "the catalogue, or the rules of routes, changed since this run"
	}
	for _, t := range targets {
		rest, own := TargetFile(t)
		if !own {
			continue
		}
		file, _, _ := strings.Cut(rest, "?")
		if c, _, err := LoadFile(file, files); err != nil || callvet.NewToolset(Tools(c)).Hash != tools {
			return "whether the catalogue is that of this run is not known"
		}
	}
	return ""
}

// Known returns a test for existing tools, by the position of the target, for services; nil if no
// tools are known. A catalog has all tools that it returns.
func Known(targets []callvet.Target, tools []callvet.Tool) func(target int, tool string) bool {
	if len(tools) == 0 {
		return nil
	}
	names := map[string]bool{}
	for i := range tools {
		names[tools[i].Name] = true
	}
	return func(target int, tool string) bool {
		own := target >= len(targets) || !strings.HasPrefix(targets[target].Provider, "retrieve:")
		return own || names[tool]
	}
}
