// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// retrieveCatalog makes n tools with a name of three words, a description of 15 to 30 words
// and two parameters, of a vocabulary of 20,000 words used as unevenly as those of a
// language, and questions of eight words.
func retrieveCatalog(n int) ([]retrieve.Entry, []string) {
	r := rand.New(rand.NewPCG(13, uint64(n)))
	zipf := rand.NewZipf(r, 1.15, 4, 19_999)
	word := func() string { return retrieveSpell(int(zipf.Uint64())) }
	verbs := []string{"get", "list", "create", "update", "delete", "search", "send", "cancel"}
	es := make([]retrieve.Entry, n)
	questions := make([]string, 0, 200)
	for i := range es {
		noun, domain := retrieveSpell(200+r.IntN(4000)), retrieveSpell(5000+r.IntN(200))
		description := []string{"Returns", noun, domain}
		for range 15 + r.IntN(16) {
			description = append(description, word())
		}
		es[i] = retrieve.Entry{Tool: callvet.Tool{
			Name:        fmt.Sprintf("%s_%s_%s_%d", verbs[r.IntN(len(verbs))], noun, domain, i),
			Description: strings.Join(description, " "),
			Parameters: []byte(fmt.Sprintf(
				`{"type":"object","properties":{"%s":{"type":"string"},"%s_id":{"type":"integer"}}}`, word(), noun)),
		}}
		if len(questions) < cap(questions) {
			questions = append(questions,
				strings.Join([]string{
					"what", noun, "of", domain, description[5], description[7], description[9],
					word(), word(), word(),
				}, " "))
		}
	}
	return es, questions
}

// retrieveSpell writes a number as syllables.
func retrieveSpell(i int) string {
	const first, second = "bdfghjklmnprstvwz", "aeiouy"
	var b []byte
	for i += 40; i > 0; i /= len(first) * len(second) {
		b = append(b, first[i%len(first)], second[i/len(first)%len(second)])
	}
	return string(b)
}
