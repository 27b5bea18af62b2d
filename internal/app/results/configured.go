// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
)

// promptExcerpt is how much of a system prompt a summary shows, in bytes.
const promptExcerpt = 80

// PromptBrief is the hash of a system prompt with its beginning.
func PromptBrief(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6]) + " “" +
		plain.Limited(strings.Join(strings.Fields(text), " "), promptExcerpt) + "”"
}

// ConfigHashes are the configuration hashes of the targets of a run, by their position. If one target was
// opened as several, they are those of the opened ones.
func (m *Manifest) ConfigHashes() ([]string, error) {
	out := make([]string, len(m.Targets))
	for i := range m.Targets {
		spec := &app.TargetSpec{}
		if len(m.Specs) == len(m.Targets) {
			spec = &m.Specs[i]
		}
		var err error
		if out[i], err = HashOfTarget(spec, &m.Targets[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// HashOfTarget returns a hash of the settings of a target. Settings of speed and the name are left
// out.
func HashOfTarget(spec *app.TargetSpec, opened *callvet.Target) (string, error) {
	s, t := *spec, *opened
	s.Name, s.Profile, s.Concurrency, s.Rate = "", "", 0, 0
	t.Name = ""
	b, err := json.Marshal([]any{s, t})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12]), nil
}
