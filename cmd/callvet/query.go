// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/report/console"
)

// queryCommand asks one question.
func (a *cli) queryCommand() *cobra.Command {
	var q catalogs.QueryRequest
	var headers, expected, accepted []string
	var want callvet.Selection
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "query TEXT --tools CATALOGUE | --via URL", Short: "Search for one question, and show every score",
		Long: `Ask one question: the route with the rule that decided it, agents, tools with the parts of their scores and the words that
they share with the question. With --expect and its like the decision is judged as a case is: exit 3 when it fails.`,
		Example: `  callvet select query "Finns det några trafikstörningar på E4?" --tools catalogue.json --expect trafikverket_trafikinfo_storningar
  callvet select query "Finns det tåg till Luleå?" --via http://localhost:8000/retrieve --expect-route action`,
		Args: cobra.ExactArgs(1),
	}
	fs := cmd.Flags()
	searchFlags(fs, &q.Search)
	fs.StringVar(&q.Via, "via", "", "address of a service that selects tools")
	fs.StringArrayVar(&headers, "header", nil,
		"'NAME: VALUE' for the service; ${VAR} reads the environment; may be repeated")
	fs.Var(durationFlag(&timeout, 30*time.Second), "timeout", "time for the service")
	fs.StringSliceVar(&expected, "expect", nil, "tool that is right; may be repeated; none: nothing fits")
	fs.StringSliceVar(&accepted, "acceptable", nil, "tool that is not wrong; may be repeated")
	fs.StringVar(&want.Route, "expect-route", "", "route that is right")
	fs.StringVar(&want.SubRoute, "expect-sub-route", "", "sub-route that is right")
	fs.StringSliceVar(&want.Agents, "expect-agents", nil, "agents that are right; may be repeated")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		q.Text, q.TimeoutMS = args[0], timeout.Milliseconds()
		want.Tools, want.Acceptable = expected, accepted
		if q.Expect, err = wanted(want); err != nil {
			return err
		}
		if q.Headers, err = namedValues(headers); err != nil {
			return err
		}
		t := a.eventPrinter(false, "")
		defer t.tellUsed()
		out, err := catalogs.Query(cmd.Context(), a.program(), q, t.print)
		if err != nil {
			return err
		}
		if out.Verdict != "" && out.Verdict != callvet.VerdictPass {
			a.exitStatus = exitGateFailed
		}
		return emit(a, out, console.CatalogAnswer)
	}
	return cmd
}

// wanted is the expected selection; nil for none.
func wanted(w callvet.Selection) (*callvet.Selection, error) {
	if slices.Contains(w.Tools, "none") {
		if len(w.Tools) > 1 {
			return nil, usagef("expect tools: none stands alone")
		}
		w.Tools = []string{}
	}
	if w.Tools == nil && w.Acceptable == nil && w.Route == "" && w.SubRoute == "" && w.Agents == nil {
		return nil, nil
	}
	return &w, nil
}

// namedValues reads headers.
func namedValues(headers []string) (map[string]string, error) {
	out := map[string]string{}
	for _, h := range headers {
		name, v, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("read header: %w: write --header 'NAME: VALUE'", callvet.ErrInvalid)
		}
		out[strings.TrimSpace(name)] = strings.TrimSpace(v)
	}
	return out, nil
}
