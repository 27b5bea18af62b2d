// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"fmt"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/world"
)

// Formats are the formats with a Schema.
func Formats() []string {
	return []string{
		"suite", "targets", "trace", "tool", "gates", "edits", "labels", "gold", "calibration",
		"policy", "live",
	}
}

// Schema returns the published JSON Schema of a file format. The error wraps
// callvet.ErrNotFound.
func Schema(format string) ([]byte, error) {
	switch format {
	case "suite":
		return suite.Schema(), nil
	case "targets":
		return []byte(targetsSchema), nil
	case "trace":
		return trace.Schema(), nil
	case "tool":
		return suite.ToolsSchema(), nil
	case "gates":
		return suite.GatesSchema(), nil
	case "edits":
		return suite.EditsSchema(), nil
	case "labels":
		return labels.Schema(), nil
	case "gold":
		return labels.GoldSchema(), nil
	case "calibration":
		return labels.CalibrationSchema(), nil
	case "policy":
		return world.PolicySchema(), nil
	case "live":
		return world.ToolsSchema(), nil
	}
	return nil, &callvet.Hinted{Err: fmt.Errorf("print schema: %w: no schema is called %q", callvet.ErrNotFound,
		format), Hint: "there are " + strings.Join(Formats(), ", ")}
}

// Targets are the forms of targets, such as openai/MODEL.
func (a *App) Targets() []string {
	var out []string
	for _, n := range provider.Names() {
		out = append(out, n+"/MODEL")
	}
	out = append(out, "offline/lexical")
	if a.Config.Permit.Files {
		out = append(out, "script:FILE", "recorded:FILE", "retrieve:CATALOGUE")
	}
	out = append(out, "retrieve:http://HOST/PATH", "http://HOST/PATH")
	if a.Config.Permit.Commands {
		out = append(out, "exec:COMMAND")
	}
	return out
}

// Provider is a provider of models that targets can use.
type Provider struct {
	Name string   `json:"name" doc:"as in openai/gpt-5-mini"`
	Keys []string `json:"key_variables" nullable:"false" doc:"the variables that may contain its key, the default first"`
	// Local providers run on a machine of the user.
	Local bool `json:"local" doc:"it answers without a key"`
}

// Providers are the providers in Targets, the most common first.
func Providers() []Provider {
	var out []Provider
	for _, name := range provider.Names() {
		keys, local := provider.Keys(name)
		out = append(out, Provider{Name: name, Keys: keys, Local: local})
	}
	return out
}

// Prices is a table of models' prices.
type Prices = provider.Prices

// Prices returns the prices that the program ships with, or the usable prices of a list from
// another source, with the number of models that were left out.
func (a *App) Prices(list string) (p *Prices, skipped int, err error) {
	if list == "" {
		return provider.ShippedPrices(), 0, nil
	}
	b, err := a.Read(list, MaxSettings)
	if err != nil {
		return nil, 0, fmt.Errorf("read prices: %w", err)
	}
	return provider.ImportPrices(list, b, a.Config.Now().UTC().Format(time.DateOnly))
}
