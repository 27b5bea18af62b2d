// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/provider"
)

// TestTellAdjusted: changed and omitted parameters are reported; omitted defaults and parameters
// that the provider requires have their own code; a renamed parameter is not reported.
func TestTellAdjusted(t *testing.T) {
	t.Parallel()
	one, zero := 0.7, 0.0
	asked := provider.Config{Params: callvet.Params{Temperature: &one, MaxTokens: new(int)}}
	none := provider.Config{DefaultTemperature: &zero}
	for _, c := range []struct {
		model      string
		cfg        provider.Config
		code, text string
	}{
		{"openai/gpt-5-mini", asked, "adjusted", "temperature 0.7 is not sent: reasoning models take the default only"},
		{
			"openai/gpt-5-mini", none, "default",
			"temperature 0, the default, is not sent, so that answers vary: reasoning models take the default only",
		},
		{
			"gemini/gemini-3-pro", none, "default",
			"temperature 0, the default, is not sent, so that answers vary: Google advises against less than 1 for Gemini 3",
		},
		{
			"anthropic/claude-sonnet-4-5", none, "default",
			"max_tokens 4096 is sent, as none is set: the API demands a limit",
		},
		{"openai/gpt-4.1", none, "", ""},
	} {
		c.cfg.Getenv, c.cfg.APIKey = func(string) string { return "" }, "k"
		_, target, err := provider.Open(c.model, c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []callvet.Notice
		if c.code != "" {
			want = []callvet.Notice{{Code: c.code, Text: c.model + ": " + c.text}}
		}
		tellAdjusted(&target, func(ev app.Event) { got = append(got, *ev.Note) })
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.model, d)
		}
	}
}
