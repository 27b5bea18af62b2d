// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// fault is the kind of mistake that the model server makes in a case.
type fault int

const (
	right fault = iota
	wrongTool
	wrongValue
	noCall
	invalidArgs
)

// benchCase is a pure function of its number, so that the server knows the expected answers without
// a file shared with the suite.
type benchCase struct {
	prompt string
	tool   string
	args   map[string]any
	fault  fault
}

// marker precedes the seven digits of the case number in a prompt.
const marker = "Ticket #"

func newCase(i int) benchCase {
	// A multiplicative hash spreads consecutive numbers over tools and faults.
	h := (uint64(i) + 1) * 0x9E3779B97F4A7C15
	pick := func(n uint64) int {
		h ^= h >> 29
		h *= 0xBF58476D1CE4E5B9
		return int(h >> 33 % n)
	}
	c := benchCase{}
	cities := []string{"Uppsala", "Porto", "Cusco", "Kyoto", "Galway", "Tartu", "Göteborg", "Córdoba"}
	codes := []string{"AR", "BR", "SE", "JP", "PT", "IE"}
	switch pick(8) {
	case 0, 1:
		city := cities[pick(8)]
		c.tool, c.args = "weather_now", map[string]any{"city": city, "units": []string{"metric", "imperial"}[pick(2)]}
		c.prompt = "How is the weather in " + city + "?"
	case 2, 3:
		n := 1 + pick(9)
		c.tool, c.args = "reserve_table",
			map[string]any{
				"restaurant": fmt.Sprintf("R-%03d", pick(900)), "guests": n,
				"date": fmt.Sprintf("2027-%02d-%02d", 1+pick(12), 1+pick(28)),
			}
		c.prompt = fmt.Sprintf("A table for %d, please.", n)
	case 4, 5:
		code := codes[pick(6)]
		c.tool, c.args = "refund_window",
			map[string]any{"country": code, "category": []string{"books", "shoes", "phones"}[pick(3)]}
		c.prompt = "How long may I ask for my money back in " + code + "?"
	default:
		c.tool, c.args = "transfer",
			map[string]any{
				"amount": float64(pick(90000)) / 100, "currency": []string{"EUR", "SEK", "USD"}[pick(3)],
				"to": fmt.Sprintf("ACC-%05d", pick(99999)),
			}
		c.prompt = "Send the money."
	}
	c.prompt = fmt.Sprintf("%s%07d: %s", marker, i, c.prompt)
	// Every twenty cases contain exactly one of each fault: 80 % are right.
	switch (i * 7) % 20 {
	case 3:
		c.fault = wrongTool
	case 8:
		c.fault = wrongValue
	case 13:
		c.fault = noCall
	case 18:
		c.fault = invalidArgs
	}
	return c
}

// answer returns the model server's call for the case; an empty name means prose.
func (c benchCase) answer() (string, map[string]any) {
	args := make(map[string]any, len(c.args))
	for k, v := range c.args {
		args[k] = v
	}
	switch c.fault {
	case noCall:
		return "", nil
	case wrongTool:
		return "open_ticket", map[string]any{"subject": "help"}
	case wrongValue:
		for k, v := range args {
			if s, ok := v.(string); ok && k != "units" && k != "country" && k != "category" && k != "currency" &&
				k != "date" {
				args[k] = s + "-other"
				return c.tool, args
			}
		}
		args["category"] = map[string]string{
			"books": "shoes", "shoes": "phones",
			"phones": "books",
		}[args["category"].(string)]
	case invalidArgs:
		args["unheard_of"] = true
	}
	return c.tool, args
}

func tools() []any {
	str := func(enum ...string) map[string]any {
		if len(enum) > 0 {
			return map[string]any{"type": "string", "enum": enum}
		}
		return map[string]any{"type": "string", "description": "As the user wrote it"}
	}
	tool := func(name, desc string, props map[string]any, required ...string) any {
		return map[string]any{"type": "function", "function": map[string]any{
			"name": name, "description": desc,
			"parameters": map[string]any{
				"type": "object", "properties": props, "required": required,
				"additionalProperties": false,
			},
		}}
	}
	return []any{
		tool("weather_now", "Current weather of a city.",
			map[string]any{"city": str(), "units": str("metric", "imperial")}, "city"),
		tool("weather_week", "Weather of the coming week.", map[string]any{"city": str()}, "city"),
		tool("reserve_table", "Reserve a table in a restaurant.",
			map[string]any{
				"restaurant": str(),
				"guests":     map[string]any{"type": "integer", "minimum": 1, "maximum": 12},
				"date":       map[string]any{"type": "string", "pattern": `^\d{4}-\d{2}-\d{2}$`},
			}, "restaurant",
			"guests", "date"),
		tool("cancel_table", "Cancel a reservation.", map[string]any{"restaurant": str(), "date": str()}, "restaurant"),
		tool("refund_window", "Days within which money is given back.",
			map[string]any{
				"country":  str("AR", "BR", "SE", "JP", "PT", "IE"),
				"category": str("books", "shoes", "phones"),
			}, "country", "category"),
		tool("return_window", "Days within which goods are taken back.",
			map[string]any{
				"country":  str("AR", "BR", "SE", "JP", "PT", "IE"),
				"category": str("books", "shoes", "phones"),
			}, "country", "category"),
		tool("transfer", "Transfer money to an account.",
			map[string]any{
				"amount":   map[string]any{"type": "number", "minimum": 0},
				"currency": str("EUR", "SEK", "USD"), "to": str(),
			}, "amount", "currency", "to"),
		tool("open_ticket", "Open a support ticket.", map[string]any{"subject": str()}, "subject"),
	}
}

// writeSuite writes n cases in the import form of "Tool Calling Evaluation".
func writeSuite(dir string, n int) (string, error) {
	cases := make([]any, n)
	for i := range cases {
		c := newCase(i)
		cases[i] = map[string]any{
			"prompt": c.prompt, "expected_tool": c.tool, "expected_params": c.args,
			"param_scoring": "exact",
		}
	}
	b, err := json.Marshal(map[string]any{"name": fmt.Sprintf("bench-%d", n), "tools": tools(), "test_cases": cases})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, fmt.Sprintf("suite-%d.json", n))
	return path, os.WriteFile(path, b, 0o600)
}
