// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"encoding/json"
	"fmt"

	"github.com/callvet/callvet/internal/app"
)

// Rewritten is the manifest with the settings of this session, nil when they are those
// that it has.
func (m *Manifest) Rewritten(s app.Settings) (json.RawMessage, error) {
	before, err := json.Marshal(m.Settings)
	if err != nil {
		return nil, fmt.Errorf("write manifest: %w", err)
	}
	m.Settings = &s
	after, err := json.Marshal(m.Settings)
	if err != nil || string(before) == string(after) {
		return nil, err
	}
	return json.Marshal(m)
}
