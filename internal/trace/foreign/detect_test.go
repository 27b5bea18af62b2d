// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"strings"
	"testing"
)

// TestDetectLong: where a first value is longer than what is read, its beginning decides the form.
func TestDetectLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`{"key":"a, \" [","value":{"stringValue":"x}"}},`, 3000)
	for name, text := range map[string]string{
		"otlp":  `{"resourceSpans":[{"resource":{"attributes":[` + long,
		"tempo": "{\n \"batches\": [\n  {\"resource\": {\"attributes\": [" + long,
		"messages": `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"` +
			strings.Repeat("so, ", 30_000),
		"": `{"something":[` + long,
	} {
		if got := Detect([]byte(text)[:headSize]); got != name {
			t.Errorf("%q, not %q: %.60s", got, name, text)
		}
	}
	if got := Detect([]byte(strings.Repeat("no JSON, ", 20_000))[:headSize]); got != "" {
		t.Errorf("%q", got)
	}
}
