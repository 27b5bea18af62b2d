// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tiers

import (
	"slices"
	"strings"

	"github.com/callvet/callvet/verify/proof"
)

// row is a requirement of the fourth document that its own runner does not meet, or a pitfall of that runner.
// held are the comparisons that test callvet for it.
type row struct {
	of   string
	held []string
}

// rows are all rows. The first compare the document's contract with its implementation, the others are the
// catalogue of checks as executed.
func rows() []row {
	return []row{
		{
			"golden and labeled files, bare lists and envelopes",
			[]string{
				"right agent at gs-get-weather-001", "right agent at ls-get-weather-001",
				"a folder has all tiers, envelopes too",
			},
		},
		{
			"the regression tier is found",
			[]string{"a folder has all tiers, envelopes too", "a changed value is reported by name"},
		},
		{
			"staleness warnings, descriptionHash, registrySize, evalFileHash",
			[]string{
				"toolVersion", "descriptionHash", "registrySize", "evalFileHash",
				"missing records are reported",
			},
		},
		{
			"seed and snapshot tokens",
			[]string{
				"a token is resolved", "a resolved token fails", "a snapshot is resolved",
				"an unresolved token is skipped and counted", "only unresolved tokens do not pass",
			},
		},
		{
			"baselineRunId, regressions, newPasses",
			[]string{"regressions", "newPasses", "unchanged", "added", "removed"},
		},
		{"toolsNotCalled, responseMatches, maxTokens, toolParams", []string{
			"toolsNotCalled is evaluated", "toolsNotCalled holds", "responseMatches is evaluated",
			"responseMatches holds", "maxTokens is evaluated", "maxTokens holds",
			"maxTokens without recorded tokens is not evaluated",
			"toolParams is evaluated", "toolParams holds", "toolParams contains", "toolParams oneOf",
			"toolParams exists", "toolParams notExists", "toolParams matches", "toolParams of all kinds hold",
		}},
		{
			"the rubric tier",
			[]string{
				"a rubric runs after the others passed", "a rubric does not run when another failed",
				"forced, a rubric runs all the same", "a rubric without a judgement is no pass of all",
			},
		},
		{"toolsCalled is a set", []string{
			"toolsCalled takes repeats", "toolsCalled wants all",
			"toolsCalled takes any order", "toolsCalled takes nothing else",
		}},
		{"responseContains is case-sensitive", []string{"responseContains is case-sensitive", "responseContainsAny is case-sensitive"}},
		{"noToolErrors", []string{
			"noToolErrors sees success: false", "noToolErrors sees error", "noToolErrors holds",
			"noToolErrors without stubs is not evaluated",
		}},
		{
			"schemaData, requiredKeys, typeChecks",
			[]string{"schemaData is not evaluated", "only schemaData is refused", "typeChecks is not evaluated"},
		},
		{"--dry-run", []string{"a dry run asks and keeps nothing"}},
		{"multiPass.passes 3", []string{"three passes are three attempts at each case"}},
		{"randomSample", []string{"a sample is drawn by its seed"}},
		{"cases without expect", []string{
			"generated shapes without expect are refused", "no assertion is refused",
			"a misspelt assertion is refused",
		}},

		{
			"toolsCalled: order, repeats and counts",
			[]string{
				"toolsCalled takes repeats", "toolsCalled takes any order", "toolsCalled over several turns",
				"a tool that is called later counts",
			},
		},
		{
			"toolsAcceptable with __none__",
			[]string{
				"__none__ takes no tools", "__none__ takes nothing but that", "__none__ with a tool is refused",
				"toolsAcceptable takes any listed set", "toolsAcceptable takes no other set",
			},
		},
		{
			"responseContains: 5 is in 15",
			[]string{"responseContains holds", "responseContains wants all", "a whole word can be asked for"},
		},
		{
			"responseContainsAny: flat and nested lists",
			[]string{
				"responseContainsAny wants one of each group", "responseContainsAny holds",
				"responseContainsAny takes a flat list", "mixed groups are refused",
			},
		},
		{
			"responseNotContains: error is in terror",
			[]string{
				"responseNotContains is case-sensitive", "responseNotContains fails",
				"responseNotContains is about any part of a word",
			},
		},
		{
			"responseNonEmpty: a polite abstention",
			[]string{
				"responseNonEmpty takes a polite abstention", "responseNonEmpty takes no blanks",
				"requiresPreamble is not evaluated",
			},
		},
		{
			"maxLatencyMs and maxCost: rate limits, unknown prices",
			[]string{
				"maxLatencyMs fails", "maxLatencyMs holds", "maxCost holds", "maxCost fails",
				"maxCost of an unknown price is not evaluated", "a rate limit is no failed case",
			},
		},
		{
			"minToolCalls and maxToolCalls",
			[]string{"minToolCalls", "maxToolCalls", "minToolCalls holds", "maxToolCalls holds"},
		},
		{"jsonValid: fenced JSON", []string{"jsonValid is not evaluated"}},
		{
			"regexPattern: one bad case kills a run",
			[]string{
				"regexPattern is evaluated", "a regexPattern that does not compile is refused before the run",
				"a pattern that does not compile is refused",
			},
		},
		{"minLength and maxLength", []string{"minLength is not evaluated", "maxLength is not evaluated"}},
		{"noHallucinatedNumbers: dates, lists, one percent", []string{
			"noHallucinatedNumbers is evaluated", "numbers of a date are grounded", "numbers of a list are no numbers",
			"a wrong amount within one percent fails", "a rounded amount holds",
		}},
		{
			"flow: an envelope is read, a case without a message is refused",
			[]string{"a folder has all tiers, envelopes too", "a case without a message is refused"},
		},
		{
			"flow: stubs: {} and stubs by arguments that may fail",
			[]string{
				"stubs: {} is no stub: its answer is not evaluated", "a stub answers by arguments",
				"a stub may fail",
			},
		},
		{"flow: a database that cannot be written", []string{"what cannot be stored is no success"}},
		{
			"flow: several models, one without a key",
			[]string{
				"a model without a key is reported before any is asked",
				"several models are each reported separately",
			},
		},
		{
			"flow: tiers are not mixed",
			[]string{"results are reported by tier and not mixed", "tier=golden", "tier=labeled"},
		},
		{
			"flow: a misspelt gate never fires",
			[]string{"a misspelt gate is refused: bad.yaml", "a misspelt gate is refused: bad2.yaml"},
		},
		{
			"layers: a routing failure is counted once",
			[]string{
				"toolParams of an uncalled tool is reported by the call alone",
				"one failed assertion does not hide another",
			},
		},
	}
}

const rowsDue = 34

// rowsHeld checks that each row has its comparisons: a row without a comparison, or with a renamed comparison,
// fails.
func rowsHeld(c *proof.Check) {
	subjects := []string{
		"assertions and traps", "weather cases", "locked cases", "results", "staleness",
		"tokens, stubs, faults and rubrics",
	}
	for _, r := range rows() {
		var missing []string
		for _, name := range r.held {
			if !slices.ContainsFunc(subjects, func(s string) bool { return c.Has(s, name) }) {
				missing = append(missing, name)
			}
		}
		c.Compare("rows of the document", r.of, len(r.held) > 0 && len(missing) == 0, "nothing compares: %s",
			strings.Join(missing, "; "))
	}
}
