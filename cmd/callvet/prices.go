// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/console"
	"github.com/callvet/callvet/internal/report/plain"
)

func (a *cli) pricesCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "prices [LIST]", Short: "List the prices of models, or convert a newer price list",
		Long: "Without LIST, list the prices that ship with callvet, in USD for a million tokens, with the day since which each is known.\n" +
			"LIST is a file that others keep: LiteLLM's model_prices_and_context_window.json, models.dev's api.json, or the answer of\n" +
			"OpenRouter's /api/v1/models. It is written as a table for --prices. callvet does not download it.",
		Example: "  callvet prices\n  callvet prices model_prices_and_context_window.json -o prices.json\n  callvet run suite.yaml -m openai/gpt-5.6 --prices prices.json --max-cost 2",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list := ""
			if len(args) > 0 {
				list = args[0]
			}
			p, skipped, err := a.program().Prices(list)
			if err != nil {
				return err
			}
			if list != "" {
				fmt.Fprintf(a.err, "%s; %s without a price for text or of providers that callvet does not know\n",
					plain.Count(len(p.Rows), "price", "prices"), plain.Count(skipped, "model", "models"))
			}
			switch {
			case out == "" && len(args) == 0 && !a.jsonOut:
				return console.Prices(a.out, p)
			case out == "" || out == "-":
				return writePrices(a.out, p)
			}
			return a.write(cmd.Context(), out, func(w io.Writer) error { return writePrices(w, p) })
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write the table to (default: standard output)")
	return cmd
}

func writePrices(w io.Writer, p *app.Prices) error {
	b, err := p.Encode()
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
