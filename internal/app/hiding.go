// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"slices"

	"github.com/callvet/callvet/internal/redact"
)

// Kinds are those of personal data that a request keeps.
func Kinds(keep []string) ([]redact.Kind, error) {
	var out []redact.Kind
	for _, k := range keep {
		kind := redact.Kind(k)
		if !slices.Contains(redact.Kinds(), kind) {
			return nil, Wrong("keep", k, "it is no kind; there are %v", redact.Kinds())
		}
		if kind.Secret() {
			return nil, Wrong("keep", k, "secrets are never kept; %v are personal data", redact.PersonalKinds())
		}
		out = append(out, kind)
	}
	return out, nil
}
