// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/selector"
	"github.com/callvet/callvet/panel"
)

func (a *app) toolsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "tools", Short: "Look at a catalogue of tools: what is wrong with it, which tools are easily confused"}
	cmd.AddCommand(&cobra.Command{
		Use: "lint CATALOGUE", Short: "Find what keeps tools from being found or told apart",
		Example: "  callvet tools lint catalogue.json", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.lintTools(cmd.Context(), args[0]) },
	})
	var run string
	var most int
	confusable := &cobra.Command{
		Use: "confusable CATALOGUE", Short: "List pairs of tools that are easily taken for one another",
		Example: "  callvet tools confusable catalogue.json --run last", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := a.catalogueOf(args[0])
			if err != nil {
				return err
			}
			var observed []panel.Confused
			if run != "" {
				if observed, err = a.observed(cmd.Context(), run); err != nil {
					return err
				}
			}
			out, err := selector.FindConfusable(cmd.Context(), c, observed, max(most, 1))
			if err != nil {
				return err
			}
			if a.jsonOut {
				return out.JSON(a.out)
			}
			return out.Text(a.out)
		},
	}
	confusable.Flags().StringVar(&run, "run", "", "run whose confusion stands beside the similarity")
	confusable.Flags().IntVar(&most, "top", 20, "how many pairs")
	cmd.AddCommand(confusable)
	return cmd
}

func (a *app) lintTools(ctx context.Context, name string) error {
	c, problems, err := a.catalogueOf(name)
	if err != nil {
		return err
	}
	found, err := selector.Lint(ctx, name, c)
	if err != nil {
		return err
	}
	problems = append(problems, found...)
	errs := 0
	for _, p := range problems {
		if !p.Warning {
			errs++
		}
	}
	if a.jsonOut {
		err = json.NewEncoder(a.out).Encode(struct {
			Format   string            `json:"format"`
			Version  int               `json:"version"`
			Tools    int               `json:"tools"`
			Problems []callvet.Problem `json:"problems"`
		}{"callvet.tools-lint", 1, len(c.Entries), problems})
	} else {
		for _, p := range problems {
			level := "error"
			if p.Warning {
				level = "warning"
			}
			fmt.Fprintf(a.out, "%s: %s: %s\n", level, p.Code, a.relative(p))
		}
		_, err = fmt.Fprintf(a.out, "%d tools, %d errors, %d warnings\n", len(c.Entries), errs, len(problems)-errs)
	}
	if err == nil && errs > 0 {
		a.exitStatus = exitUsage
	}
	return err
}

// observed is the confusion of all targets of a run together; never nil.
func (a *app) observed(ctx context.Context, ref string) (out []panel.Confused, err error) {
	db, err := a.openStore(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	l, err := openRun(ctx, db, ref)
	if err != nil {
		return nil, err
	}
	p, err := l.panels(ctx, db, nil)
	if err != nil {
		return nil, err
	}
	out = []panel.Confused{}
	for i := range p.Targets {
		out = append(out, p.Targets[i].Confusion...)
	}
	return out, nil
}
