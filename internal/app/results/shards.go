// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"github.com/callvet/callvet/internal/redact"
)

// Hidden counts the masked values of attempts, and the attempts with changed texts.
type Hidden struct {
	Count map[redact.Kind]int64 `json:"count,omitempty"`
	Said  int64                 `json:"said,omitempty"`
}
