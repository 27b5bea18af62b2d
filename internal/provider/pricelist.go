// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// ImportPrices converts a published price list to a table. The list is LiteLLM's
// model_prices_and_context_window.json, models.dev's api.json, the answer of OpenRouter's
// /api/v1/models, or a table of callvet. day (YYYY-MM-DD) is the date for rows without one. skipped
// counts models without a text price or with an unknown provider. The error wraps
// callvet.ErrInvalid.
func ImportPrices(name string, data []byte, day string) (p *Prices, skipped int, err error) {
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	root, err := value.Parse(data)
	if err != nil {
		return nil, 0, fmt.Errorf("read prices %s: %w: %w", name, callvet.ErrInvalid, err)
	}
	var l priceList
	switch _, own := root.Get("prices"); {
	case own:
		if p, err = ReadPrices(name, data); err != nil || len(p.Rows) > 0 {
			return p, 0, err
		}
	case at(root, "data").Kind() == value.Array:
		l.openRouter(at(root, "data"))
	default:
		for e, ok := root.First(); ok && root.Kind() == value.Object; e, ok = root.Next(e) {
			if at(e, "models").Kind() == value.Object {
				l.modelsDev(e)
			} else {
				l.liteLLM(e)
			}
		}
	}
	if len(l.rows) == 0 {
		return nil, l.skipped, &callvet.Hinted{
			Err: fmt.Errorf("read prices %s: %w: there is no price of a known provider in it", name,
				callvet.ErrInvalid),
			Hint: "lists of LiteLLM, models.dev and OpenRouter are read, and tables of callvet",
		}
	}
	for i := range l.rows {
		l.rows[i].Effective = cmp.Or(l.rows[i].Effective, day)
	}
	slices.SortStableFunc(l.rows, func(a, b Price) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.Model, b.Model))
	})
	l.rows = slices.CompactFunc(l.rows, func(a, b Price) bool { return a.Provider == b.Provider && a.Model == b.Model })
	return &Prices{Rows: l.rows}, l.skipped, nil
}

// Encode writes a table in the form of ReadPrices, one row on each line.
func (p *Prices) Encode() ([]byte, error) {
	b := []byte("{\"prices\": [\n")
	for i := range p.Rows {
		row, err := json.Marshal(&p.Rows[i])
		if err != nil {
			return nil, fmt.Errorf("write prices: %w", err)
		}
		b = append(append(b, "  "...), row...)
		if i < len(p.Rows)-1 {
			b = append(b, ',')
		}
		b = append(b, '\n')
	}
	return append(b, "]}\n"...), nil
}

// priceList is the table so far while a list is read.
type priceList struct {
	rows    []Price
	skipped int
}

// serviceOf translates a provider's name in a price list; "" is unknown.
func serviceOf(name string) string {
	switch name {
	case "google":
		return "gemini"
	case "together_ai", "togetherai":
		return "together"
	case "fireworks_ai", "fireworks-ai":
		return "fireworks"
	case "cohere_chat":
		return "cohere"
	case "nvidia_nim":
		return "nvidia"
	}
	if slices.Contains(Names(), name) {
		return name
	}
	return ""
}

// amounts are the prices of one model, for a million tokens.
type amounts struct{ in, out, cached, write, hour amount }

// add adds a row.
func (l *priceList) add(source, service, model string, a *amounts, most int) {
	service = serviceOf(service)
	if service == "" || model == "" || !a.in.known || !a.out.known {
		l.skipped++
		return
	}
	l.rows = append(l.rows, Price{
		Provider: service, Model: model, Input: a.in.usd, Output: a.out.usd, MaxInput: most, Source: source,
		Cached: a.cached.pointer(), CacheWrite: a.write.pointer(), CacheHour: a.hour.pointer(),
	})
}

// amount is an optional price.
type amount struct {
	usd   float64
	known bool
}

func (a amount) pointer() *float64 {
	if !a.known {
		return nil
	}
	return &a.usd
}

// amountOf reads a price for 1/per of a million tokens, as a number or in a text. A negative price
// means a variable one.
func amountOf(v value.Value, per float64) amount {
	f, ok := v.Float()
	if v.Kind() == value.String {
		n, err := strconv.ParseFloat(v.Str(), 64)
		f, ok = n, err == nil
	}
	if !ok || !(f >= 0) || f > 1e6 {
		return amount{}
	}
	const digits = 1e6 // of a dollar: further digits come from the division
	return amount{math.Round(f*per*digits) / digits, true}
}

// liteLLM reads one model of LiteLLM's list. Its prices are for one token.
func (l *priceList) liteLLM(e value.Value) {
	service := at(e, "litellm_provider").Str()
	if mode := at(e, "mode").Str(); mode != "chat" && mode != "responses" {
		l.skipped++
		return
	}
	most := 0
	for m, ok := e.First(); ok; m, ok = e.Next(m) {
		if size, tiered := strings.CutPrefix(m.Key(), "input_cost_per_token_above_"); tiered &&
			m.Kind() == value.Number {
			if n, err := strconv.Atoi(strings.TrimSuffix(size, "k_tokens")); err == nil &&
				(most == 0 || n*1000 < most) {
				most = n * 1000
			}
		}
	}
	model := strings.TrimPrefix(e.Key(), service+"/")
	l.add("LiteLLM", service, model, &amounts{
		in: amountOf(at(e, "input_cost_per_token"), 1e6), out: amountOf(at(e, "output_cost_per_token"), 1e6),
		cached: amountOf(at(e, "cache_read_input_token_cost"), 1e6),
		write:  amountOf(at(e, "cache_creation_input_token_cost"), 1e6),
		hour:   amountOf(at(e, "cache_creation_input_token_cost_above_1hr"), 1e6),
	}, most)
}

// modelsDev reads one provider of models.dev.
func (l *priceList) modelsDev(e value.Value) {
	models := at(e, "models")
	for m, ok := models.First(); ok; m, ok = models.Next(m) {
		cost := at(m, "cost")
		most := 0
		if at(cost, "context_over_200k").Kind() == value.Object {
			most = 200000
		}
		l.add("models.dev", e.Key(), m.Key(), &amounts{
			in: amountOf(at(cost, "input"), 1), out: amountOf(at(cost, "output"), 1),
			cached: amountOf(at(cost, "cache_read"), 1), write: amountOf(at(cost, "cache_write"), 1),
		}, most)
	}
}

// openRouter reads OpenRouter's list. Its prices are texts, for one token.
func (l *priceList) openRouter(list value.Value) {
	for m, ok := list.First(); ok; m, ok = list.Next(m) {
		p := at(m, "pricing")
		l.add("OpenRouter", "openrouter", at(m, "id").Str(), &amounts{
			in: amountOf(at(p, "prompt"), 1e6), out: amountOf(at(p, "completion"), 1e6),
			cached: amountOf(at(p, "input_cache_read"), 1e6), write: amountOf(at(p, "input_cache_write"), 1e6),
		}, 0)
	}
}
