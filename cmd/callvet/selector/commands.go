// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/inspect"
	"github.com/callvet/callvet/cmd/callvet/ranged"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
)

// Env is what the commands need of the program.
type Env struct {
	Read Files
	Now  func() time.Time
	// Models opens models for one command, which closes it.
	Models func() *Models
	Out    io.Writer
	// Existing reads a file that is to be written over; there is false where none would
	// be lost.
	Existing func(name string) (data []byte, there bool, err error)
	// Write gives a file that the user named these bytes, all of them or none.
	Write func(ctx context.Context, name string, data []byte) error
	// JSON tells whether JSON is asked for, once flags are read.
	JSON func() bool
	// Suite reads a suite with its cases over tools.
	Suite func(ctx context.Context, path string, tools []callvet.Tool) (*callvet.Suite, error)
	// Asking registers the flags of models and gives what asks them.
	Asking func(fs *pflag.FlagSet) Asking
	// Observed is the confusion of a stored run; never nil without an error.
	Observed func(ctx context.Context, run string) ([]panel.Confused, error)
	// Failed sets the exit code of a lint that found errors, Missed that of a decision
	// that is not the expected one.
	Failed, Missed func()
}

// Old reads a file that is to be written over; there is false where none would be
// lost. What cannot be read may hold anything: that is an error that wraps
// callvet.ErrConflict, and "-", which is no file, one that wraps callvet.ErrInvalid.
func (e *Env) Old(name string) (data []byte, there bool, err error) {
	if name == "-" {
		return nil, false, &callvet.Hinted{Err: fmt.Errorf("write -: %w: it is written to a file, whole or not at all", callvet.ErrInvalid), Hint: "-o with a name"}
	}
	if data, there, err = e.Existing(name); err != nil {
		return nil, true, &callvet.Hinted{Err: fmt.Errorf("write %s: %w: what is there cannot be read: %w", name, callvet.ErrConflict, err), Hint: "-o with another name"}
	}
	return data, there, nil
}

// Told is something that is written as JSON or for people.
type Told interface {
	JSON(w io.Writer) error
	Text(w io.Writer) error
}

// Tell writes JSON where it is asked for, and else for people.
func (e *Env) Tell(t Told) error {
	if e.JSON() {
		return t.JSON(e.Out)
	}
	return t.Text(e.Out)
}

// Flags say what is searched and how.
type Flags struct {
	// Tools is the catalog's file, Weights one with weights.
	Tools, Weights string
	Settings       Settings
	// AbstainOn is a suite whose questions say under which confidence nothing is given.
	AbstainOn string
	tuned     *Tuned // as the weights say
	set       *pflag.FlagSet
}

// Register adds the flags.
func (f *Flags) Register(fs *pflag.FlagSet) {
	f.set = fs
	fs.StringVar(&f.Tools, "tools", "", "catalogue of tools: a file, or a folder with a file for each (docs/SELECTION.md)")
	fs.StringVar(&f.Settings.Preset, "preset", "", "how tools are scored: default or bigtool")
	fs.Var((*depth)(&f.Settings.K), "k", "how many tools are given (default 5; 2 for bigtool)")
	fs.Float64Var(&f.Settings.Threshold, "threshold", 0, "score under which a tool is not given")
	fs.Var(abstainFlag{&f.Settings}, "abstain", fmt.Sprintf("give nothing below this confidence from 0 to under 1, such as %v, or below that which a share of the catalogue's examples has, such as 5%% (default: never)", retrieve.DefaultMinConfidence))
	fs.StringVar(&f.AbstainOn, "abstain-on", "", "suite of questions, with their tools, of which --abstain 5% refuses that share; by default the catalogue's examples")
	fs.StringSliceVar(&f.Settings.AbstainRoutes, "abstain-route", nil, "route whose questions are given no tool, such as smalltalk; may be repeated")
	fs.StringVar(&f.Settings.Embed, "embed", "", "model that makes vectors: openai:MODEL[@URL], ollama:MODEL, tei:URL (default: none is needed)")
	fs.StringVar(&f.Settings.Rerank, "rerank", "", "model that orders the best tools anew: cohere:MODEL[@URL], jina:MODEL, tei:URL")
	fs.StringVar(&f.Settings.Fusion, "fusion", "", "how words and vectors become one order: mixed or reciprocal_rank (default: mixed)")
	fs.StringVar(&f.Settings.Primary, "primary", "", "namespaces that bigtool searches first, such as tools/trafik,tools/bolag (default: the catalogue's)")
	fs.StringVar(&f.Settings.Fallback, "fallback", "", "namespaces that bigtool searches when the primary ones have nothing")
	fs.Var(ranged.Share(&f.Settings.AgentGate, 0), "agent-gate", "share of its score from 0 to 1 that a tool loses when none of its agents is chosen (1: it is not given)")
	fs.Var(ranged.Int(&f.Settings.Agents, 0, 1), "agents", "how many agents may be chosen (default 1; 3 for bigtool)")
	fs.StringVar(&f.Settings.Routes, "routes", "", "file with rules of routes or with learned ones, or none (default: callvet's own rules)")
	fs.StringVar(&f.Weights, "weights", "", "JSON file with the weights of layers and of retrieval")
}

// depth is a flag that says how many tools are given.
type depth int

func (d *depth) String() string { return strconv.Itoa(int(*d)) }

// Type implements pflag.Value.
func (d *depth) Type() string { return "int" }

// Set implements pflag.Value.
func (d *depth) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxDepth {
		return fmt.Errorf("a number from 1 to %d", maxDepth)
	}
	*d = depth(n)
	return nil
}

// Ready reads the weights and gives those of the composite, nil without any.
func (f *Flags) Ready(read Files) (*callvet.SelectionScoring, error) {
	if f.Weights == "" {
		return nil, nil
	}
	b, err := read(f.Weights)
	if err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	w, err := ReadWeights(f.Weights, b)
	if err != nil {
		return nil, err
	}
	f.Settings.Weights, f.tuned = w.Retrieval, w.Tuned
	if preset := cmp.Or(f.Settings.Preset, "default"); f.tuned != nil && f.tuned.Preset != preset {
		return nil, &callvet.Hinted{Err: fmt.Errorf("read weights %s: %w: they were tuned for the preset %s, not %s", f.Weights, callvet.ErrInvalid, f.tuned.Preset, preset), Hint: "--preset " + f.tuned.Preset}
	}
	only := Settings{Preset: f.Settings.Preset, Fusion: f.Settings.Fusion, Weights: w.Retrieval}
	if _, err := only.Options(&retrieve.Catalogue{}); err != nil {
		return nil, fmt.Errorf("read weights %s: %w", f.Weights, err)
	}
	return w.Composite, nil
}

// Service holds the flags against the address of a service, which is told k and nothing
// else. Ready comes first. The error wraps callvet.ErrInvalid.
func (f *Flags) Service(address string) error {
	filled := os.Expand(address, func(string) string { return "x" }) // ${VAR} may stand anywhere
	if u, err := url.Parse(filled); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return &callvet.Hinted{Err: fmt.Errorf("ask a service: %w: --via %s is no address", callvet.ErrInvalid, address), Hint: "--via http://HOST/PATH; a file is searched with --tools"}
	}
	for _, name := range []string{"preset", "threshold", "abstain", "abstain-on", "abstain-route", "embed", "rerank", "fusion", "primary", "fallback", "agent-gate", "agents", "routes"} {
		if f.set != nil && f.set.Changed(name) {
			return &callvet.Hinted{Err: fmt.Errorf("ask a service: %w: it is not told --%s", callvet.ErrInvalid, name), Hint: "leave --" + name + " away, or search the catalogue without --via"}
		}
	}
	if f.Weights != "" && len(f.Settings.Weights) > 0 {
		return fmt.Errorf("ask a service: %w: it is not told the weights of retrieval in %s, only those of the composite count", callvet.ErrInvalid, f.Weights)
	}
	return nil
}

// NoCatalogue is the error of a command that was named none.
func NoCatalogue() error {
	return &callvet.Hinted{Err: fmt.Errorf("which tools are searched? %w: no catalogue", callvet.ErrInvalid), Hint: "--tools CATALOGUE"}
}

// ToolsCommand looks at a catalog.
func ToolsCommand(e Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "tools", Short: "Look at a catalogue of tools: what is wrong with it, which tools are easily confused",
	}
	cmd.AddCommand(&cobra.Command{
		Use: "lint CATALOGUE", Short: "Find what keeps tools from being found or told apart",
		Example: "  callvet tools lint catalogue.json", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.lint(cmd.Context(), args[0]) },
	})
	var run string
	var most int
	confusable := &cobra.Command{
		Use: "confusable CATALOGUE", Short: "List pairs of tools that are easily taken for one another",
		Example: "  callvet tools confusable catalogue.json --run last", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if most < 1 {
				return fmt.Errorf("list pairs: %w: --top is 1 or more", callvet.ErrInvalid)
			}
			c, _, err := Load(args[0], e.Read)
			if err != nil {
				return err
			}
			var observed []panel.Confused
			if run != "" {
				if observed, err = e.Observed(cmd.Context(), run); err != nil {
					return err
				}
			}
			out, err := inspect.FindConfusable(cmd.Context(), c, observed, most)
			if err != nil {
				return err
			}
			return e.Tell(out)
		},
	}
	confusable.Flags().StringVar(&run, "run", "", "run whose confusion stands beside the similarity")
	confusable.Flags().Var(ranged.Int(&most, 20, 1), "top", "how many pairs")
	cmd.AddCommand(confusable, e.cacheCommand())
	return cmd
}

// lint looks at a catalog. Tools that cannot be read do not keep it from the others.
func (e *Env) lint(ctx context.Context, name string) error {
	c, problems, err := Load(name, e.Read)
	if err != nil && len(problems) == 0 {
		return err
	}
	out := inspect.Findings{Format: "callvet.tools-lint", Version: 1, Problems: problems}
	if c != nil && len(c.Entries) > 0 {
		found, err := inspect.Lint(ctx, name, c)
		if err != nil {
			return err
		}
		out.Tools, out.Problems = len(c.Entries), append(problems, found...)
	}
	if out.Errors() > 0 {
		e.Failed()
	}
	return e.Tell(&out)
}
