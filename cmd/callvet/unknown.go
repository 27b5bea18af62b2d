// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
)

// calledHere returns the command for a word that is no command of callvet, but a name for one in
// the documents of docs/design/documents.md, or in other tools.
func calledHere(word string) string {
	switch word {
	case "judges":
		return "callvet judge run RUN --judge task -m MODEL asks a judge; callvet calibrate LABELS.jsonl --judge NAME compares it with people"
	case "import":
		return "callvet trace import FILE reads traces, callvet convert FILE -o suite.yaml a suite, callvet label import FILE labels"
	case "export":
		return "callvet report RUN -o FILE writes a run, callvet convert SUITE -o FILE a suite, callvet label export labels"
	case "history", "list", "ls", "timeline", "experiment", "experiments":
		return "callvet runs lists what was run; callvet diff RUN RUN compares two"
	case "staleness":
		return "callvet stale SUITE lists what has changed since its cases were made"
	case "eval", "evaluate", "test", "bench":
		return "callvet run SUITE -m MODEL"
	case "compare", "baseline", "regressions":
		return "callvet diff BASELINE RUN; callvet gate RUN --baseline BASELINE decides"
	case "validate", "check":
		return "callvet lint SUITE checks a suite, callvet trace check TRACES.jsonl what an agent did"
	case "view-results", "dashboard", "ui":
		return "callvet show RUN explains a run here, callvet view opens the page on all runs"
	case "server", "listen", "daemon", "users", "admin":
		return "callvet serve answers over HTTP to several users"
	case "signin", "auth", "token", "tokens":
		return "callvet login URL keeps a token for a server"
	case "single", "query", "retrieve":
		return "callvet select query QUESTION --tools CATALOGUE"
	case "invalidate-cache", "cache":
		return "callvet tools cache clear forgets the vectors of tools, callvet run --no-cache asks models again"
	case "tune", "sweep":
		return "callvet select " + word + " SUITE --tools CATALOGUE"
	case "cancel", "resume", "retry":
		return "Ctrl-C stops a run, callvet runs --cancel RUN one of another terminal; callvet run --resume RUN goes on with it"
	case "delete", "rm":
		return "callvet runs --delete RUN"
	case "sample", "annotate":
		return "callvet label next TRACES.jsonl draws tasks for people to label"
	case "metrics", "panels":
		return "callvet score TRACES.jsonl; docs/reference/metrics.md defines every metric"
	case "models", "providers":
		return "callvet targets"
	}
	return ""
}

// refuseUnknown makes every command group, and help, refuse unknown words: the library would print
// help and succeed. For a wrong number of arguments it prints the usage.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	holders := []*cobra.Command{root}
	for len(holders) > 0 {
		c := holders[0]
		holders = append(holders[1:], c.Commands()...)
		if check := c.Args; check != nil {
			c.Args = func(c *cobra.Command, args []string) error {
				if err := check(c, args); err != nil {
					return &callvet.Hinted{Err: usageError{err}, Hint: c.UseLine()}
				}
				return nil
			}
		}
		if c.HasSubCommands() && !c.Runnable() {
			c.Args = cobra.ArbitraryArgs
			c.RunE = func(_ *cobra.Command, args []string) error {
				if len(args) == 0 {
					return c.Help()
				}
				return unknownCommand(c, args[0])
			}
		}
	}
	help, _, err := root.Find([]string{"help"})
	if err != nil || help == root {
		return
	}
	help.Run = nil
	help.RunE = func(_ *cobra.Command, args []string) error {
		c, rest, err := root.Find(args)
		if err != nil {
			return err
		}
		if len(rest) > 0 && c.HasSubCommands() {
			return unknownCommand(c, rest[0])
		}
		c.InitDefaultHelpFlag()
		return c.Help()
	}
}

// unknownCommand is the error of a word that is no command of parent.
func unknownCommand(parent *cobra.Command, word string) error {
	hint := parent.CommandPath() + " --help lists the commands"
	names := make([]string, 0, len(parent.Commands()))
	for _, c := range parent.Commands() {
		names = append(names, append(c.Aliases, c.Name())...)
	}
	if near := callvet.Nearest(word, names); near != "" {
		hint = "did you mean " + parent.CommandPath() + " " + near + "?"
	}
	if !parent.HasParent() {
		if to := calledHere(word); to != "" {
			hint = to
		}
	}
	name := strings.TrimPrefix(parent.CommandPath()+" "+word, parent.Root().Name()+" ")
	return &callvet.Hinted{Err: usageError{fmt.Errorf("there is no command %q", name)}, Hint: hint}
}
