// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroups are flags that many commands share. A group has the flags that its commands have with the
// same help, without those of earlier groups.
var flagGroups = []struct {
	title    string
	commands []string
}{
	{"Suite flags", []string{"lint", "run"}},
	{"Model flags", []string{"run", "judge run", "tools whatif"}},
	{"Request flags", []string{"run", "judge run", "replay"}},
	{"Prompt flags", []string{"run", "tools whatif", "select sweep"}},
	{"Search flags", []string{"select", "select query", "tools whatif"}},
	{"Judging flags", []string{"judge run", "judge audit"}},
	{"Run flags", []string{"run", "drill"}},
}

// flagKey identifies a flag by its name, its help and its default.
type flagKey struct{ name, usage, value string }

func keyOf(f *pflag.Flag) flagKey { return flagKey{f.Name, f.Usage, f.DefValue} }

// flagPage writes the flags of commands, each flag with its help once.
type flagPage struct {
	strings.Builder
	groups map[flagKey]string   // the title of the group that has the flag
	whole  map[string][]flagKey // the flags of a group
	first  map[flagKey]string   // the command that has the flag with its help, for flags of no group
	parts  map[string]string    // the command that has these flags of a group and no others of it
}

// TestDocsFlags: the commands of docs/reference/commands.md, below its mark, are those of the program
// with their help; -update writes them.
func TestDocsFlags(t *testing.T) {
	t.Parallel()
	const page, mark = "docs/reference/commands.md", "<!-- commands -->\n"
	head, old, found := strings.Cut(document(t, page), mark)
	if !found {
		t.Fatalf("%s has no place for the commands", page)
	}
	root := new(cli).rootCommand()
	b := flagPage{groups: map[flagKey]string{}, whole: map[string][]flagKey{}, first: map[flagKey]string{}, parts: map[string]string{}}
	b.WriteString("\n### Every command\n\n")
	for _, f := range flagsOf(root.PersistentFlags()) {
		b.flag(f)
	}
	for _, g := range flagGroups {
		b.group(t, root, g.title, g.commands)
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			return
		}
		if c.Runnable() {
			b.command(c)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	for _, c := range root.Commands() {
		walk(c)
	}
	for line := range strings.Lines(b.String()) {
		if strings.Count(line, "(default") > 1 || strings.Count(line, "(docs/") > 1 {
			t.Errorf("the help of a flag repeats itself: %s", line)
		}
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

// flagsOf lists the flags that a help shows.
func flagsOf(flags *pflag.FlagSet) []*pflag.Flag {
	var out []*pflag.Flag
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			out = append(out, f)
		}
	})
	return out
}

// group writes the flags that all of the commands have with the same help.
func (b *flagPage) group(t *testing.T, root *cobra.Command, title string, commands []string) {
	t.Helper()
	number, flags := map[flagKey]int{}, []*pflag.Flag{}
	for _, name := range commands {
		c, _, err := root.Find(strings.Fields(name))
		if err != nil {
			t.Fatal(err)
		}
		flags = flagsOf(c.LocalFlags())
		for _, f := range flags {
			number[keyOf(f)]++
		}
	}
	fmt.Fprintf(b, "\n### %s\n\n", title)
	for _, f := range flags {
		if k := keyOf(f); number[k] == len(commands) && b.groups[k] == "" {
			b.groups[k] = title
			b.whole[title] = append(b.whole[title], k)
			b.flag(f)
		}
	}
}

// command writes the help of a command: its own flags, then groups, then flags of other commands.
func (b *flagPage) command(c *cobra.Command) {
	name, usage := strings.TrimPrefix(c.CommandPath(), "callvet "), strings.TrimSuffix(c.UseLine(), " [flags]")
	fmt.Fprintf(b, "\n### %s\n\n`%s`: %s.\n", name, usage,
		strings.ToLower(c.Short[:1])+strings.TrimSuffix(c.Short[1:], "."))
	elsewhere := map[string][]string{}
	space := "\n"
	for _, f := range flagsOf(c.LocalFlags()) {
		k := keyOf(f)
		place := b.groups[k]
		if place == "" {
			place = b.first[k]
		}
		if place != "" {
			elsewhere[place] = append(elsewhere[place], "`--"+f.Name+"`")
			continue
		}
		b.first[k] = name
		b.WriteString(space)
		space = ""
		b.flag(f)
	}
	if len(elsewhere) == 0 {
		return
	}
	var also []string
	for _, place := range slices.Sorted(maps.Keys(elsewhere)) {
		link := anchor(place)
		switch whole, has := b.whole[place], elsewhere[place]; {
		case len(whole) == len(has):
			also = append(also, link)
		case len(whole) > 0 && len(whole)-len(has) <= 3:
			for _, k := range whole {
				if !slices.Contains(has, "`--"+k.name+"`") {
					link += ", without `--" + k.name + "`"
				}
			}
			also = append(also, link)
		default:
			part := strings.Join(has, ", ") + " of " + link
			if like := b.parts[part]; like != "" && len(has) > 5 {
				part = "the " + link + " of " + anchor(like)
			} else {
				b.parts[part] = name
			}
			also = append(also, part)
		}
	}
	b.WriteString("\nAlso: " + strings.Join(also, "; ") + ".\n")
}

// anchor links to a heading of the page.
func anchor(heading string) string {
	heading = strings.ToLower(heading)
	return fmt.Sprintf("[%s](#%s)", heading, strings.ReplaceAll(heading, " ", "-"))
}

// flag writes a flag with its help.
func (b *flagPage) flag(f *pflag.Flag) {
	kind, usage := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	switch f.Value.Type() {
	case "string", "stringArray", "stringSlice", "stringToInt64":
		kind = "text"
	}
	if kind != "" {
		name += "=" + strings.ToUpper(strings.TrimSuffix(kind, "s"))
	}
	if before, ok := strings.CutSuffix(usage, "; may be repeated"); ok {
		name, usage = name+" …", before
	}
	if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" {
		usage += " (default " + f.DefValue + ")"
	}
	fmt.Fprintf(b, "- `%s`: %s\n", name, strings.ReplaceAll(usage, "<", "&lt;"))
}
