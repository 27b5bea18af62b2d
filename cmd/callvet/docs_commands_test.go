// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestDocsFlags: the commands of docs/reference/commands.md, below its mark, are those of the program
// with their help; -update writes them.
func TestDocsFlags(t *testing.T) {
	t.Parallel()
	const page, mark = "docs/reference/commands.md", "<!-- commands -->\n"
	head, old, found := strings.Cut(document(t, page), mark)
	if !found {
		t.Fatalf("%s has no place for the commands", page)
	}
	var b strings.Builder
	root := new(cli).rootCommand()
	b.WriteString("\n### Every command\n")
	flagTable(&b, root.PersistentFlags(), map[string]string{})
	shown := map[string]string{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			return
		}
		if c.Runnable() {
			commandSection(&b, c, shown)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	for _, c := range root.Commands() {
		walk(c)
	}
	if d := cmp.Diff(old, b.String()); d != "" {
		if !*update {
			t.Fatalf("%s (-doc +program); -update writes it:\n%s", page, d)
		}
		if err := os.WriteFile(filepath.Join("..", "..", page), []byte(head+mark+b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// commandSection writes the help of a command.
func commandSection(b *strings.Builder, c *cobra.Command, shown map[string]string) {
	name, usage := strings.TrimPrefix(c.CommandPath(), "callvet "), strings.TrimSuffix(c.UseLine(), " [flags]")
	fmt.Fprintf(b, "\n### %s\n\n`%s`: %s.\n", name, usage,
		strings.ToLower(c.Short[:1])+strings.TrimSuffix(c.Short[1:], "."))
	flagTable(b, c.LocalFlags(), shown)
}

// flagTable writes flags with their help. A flag that an earlier command has with the same help is only named.
func flagTable(b *strings.Builder, flags *pflag.FlagSet, shown map[string]string) {
	var rows, same []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if shown[f.Name] == f.Usage {
			same = append(same, "`--"+f.Name+"`")
			return
		}
		if shown[f.Name] == "" {
			shown[f.Name] = f.Usage
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" {
			usage += " (default " + f.DefValue + ")"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s |\n", strings.TrimSpace(name+" "+kind),
			strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(usage)))
	})
	if len(rows) > 0 {
		b.WriteString("\n| flag | meaning |\n|---|---|\n" + strings.Join(rows, ""))
	}
	if len(same) > 0 {
		b.WriteString("\nAs above: " + strings.Join(same, ", ") + ".\n")
	}
}
