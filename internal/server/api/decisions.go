// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"github.com/callvet/callvet/internal/store/rows"
)

// ComparisonsOf is the store key of a user's comparisons.
func ComparisonsOf(user string) rows.RunDocumentParams {
	return rows.RunDocumentParams{RunID: "decisions of " + user, About: "decisions", State: "kept"}
}
