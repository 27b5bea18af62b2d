// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"strings"
	"testing"
)

// TestAuditOfSharing: an admin who shares an object of another user has two lines in the audit log:
// that it is shared, and that it was not the admin's. An object that stays shared has no new line.
func TestAuditOfSharing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := "/api/tool-suites/" + s.keepSuite(t, "bo", 2)
	lines := func(action string, want int) {
		t.Helper()
		text := s.answers(t, 200, "root", "GET", "/api/audit?user_id=user_root&action="+action, "")
		if got := strings.Count(text, `"`+action+`"`); got != want {
			t.Errorf("%s: %d lines, want %d: %s", action, got, want, text)
		}
	}
	for i, shared := range []string{"true", "true", "false"} {
		s.answers(t, 200, "root", "PATCH", path, `{"shared": `+shared+`}`)
		lines("suite.share", 1)
		lines("suite.unshare", i/2)
		lines("suite.change", i+1)
	}
}
