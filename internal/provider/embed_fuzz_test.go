// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import "testing"

// FuzzRead: whatever a server answers, there is an error or something for every text.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":"AACAPw=="}],"usage":{"total_tokens":7}}`,
		`{"embeddings":[[3,4],[0,9]]}`, `[[3,4],[0,1]]`,
		`{"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.5}]}`,
		`[{"index":1,"score":0.9},{"index":0,"score":-3}]`, `{"error":{"message":"x"}}`, `<html>`, `null`,
		`[null,null]`, "",
	} {
		f.Add([]byte(s), 2)
	}
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		if n < 0 || n > 1000 {
			return
		}
		for _, form := range []form{openaiForm{}, ollamaForm{}, teiForm{}, cohereForm{}, teiRerankForm{}} {
			vs, _, err := form.read(body, n)
			if err == nil && len(vs) != n {
				t.Fatalf("%T reads %d vectors of %d from %q", form, len(vs), n, body)
			}
			if _, list := form.(ollamaForm); err == nil && !list && form != (teiForm{}) {
				for i, v := range vs {
					if len(v) == 0 {
						t.Fatalf("%T has nothing for text %d of %q", form, i, body)
					}
				}
			}
		}
		_ = messageOf(body)
	})
}
