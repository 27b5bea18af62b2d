// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/drills"
)

// Twin reports whether a case is a calm twin of drills: it has an attack without an effect, and the
// next drill makes it again.
func (r *Run) Twin(c *callvet.Case) bool {
	return r.Manifest.Drill && c.Fields[drills.FieldTwin] != "no"
}

// Unlike are the mocks of other tools than those of made.
func Unlike(mocks, made []callvet.Mock) []callvet.Mock {
	return slices.DeleteFunc(slices.Clone(mocks), func(m callvet.Mock) bool {
		return slices.ContainsFunc(made, func(n callvet.Mock) bool { return strings.EqualFold(m.Tool, n.Tool) })
	})
}
