// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"strings"
	"testing"
)

// TestExtremeStudies: some of the studies, with few trials of a fixed seed.
func TestExtremeStudies(t *testing.T) {
	t.Parallel()
	for _, s := range extremeStudies() {
		if !strings.HasSuffix(s.Name, "0.7") && !strings.HasSuffix(s.Name, "0.7, spread 0.05") {
			continue
		}
		if o := s.Run(2000, 1); o.Trials != 200 || !o.OK {
			t.Errorf("%s: %.4f of %d, band from %g", s.Name, o.Share, o.Trials, s.Low)
		}
	}
}
