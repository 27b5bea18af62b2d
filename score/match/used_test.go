// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"testing"

	"github.com/callvet/callvet/value"
)

func TestUsed(t *testing.T) {
	t.Parallel()
	const long = `{"text":"a b c d e f g h i j k l m n o p"}`
	for name, tc := range map[string]struct {
		result, known, answer string
		used, decided         bool
	}{
		"a number":                {`{"pieces":37}`, "how many?", "There are 37 left.", true, true},
		"another number":          {`{"pieces":37}`, "how many?", "There are 370 left.", false, true},
		"a name, folded":          {`{"who":["Ann Lee"]}`, "who is it?", "it is ann lee", true, true},
		"half a name":             {`{"who":"Ann Lee"}`, "who is it?", "it is Ann", false, true},
		"known from the question": {`{"city":"Malmö"}`, "weather in Malmö?", "In Malmö it is fine.", false, false},
		"one known, one not": {
			`{"city":"Malmö","degrees":21}`, "weather in Malmö?", "In Malmö it is fine.",
			false, true,
		},
		"nothing to quote":          {`{"ok":true,"none":null,"text":""}`, "", "Done.", false, false},
		"a long text is not quoted": {long, "", "something else", false, false},
		"a long text is":            {long, "", "a b c d e f g h i j k l m n o p", true, true},
	} {
		var known, answer Corpus
		known.Add([]byte(tc.known))
		answer.Add([]byte(tc.answer))
		v, err := value.Parse([]byte(tc.result))
		if err != nil {
			t.Fatal(err)
		}
		if used, decided := Used(v, &known, &answer); used != tc.used || decided != tc.decided {
			t.Errorf("%s: used %v, decided %v", name, used, decided)
		}
	}
}
