// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/ranged"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/embed"
	"github.com/callvet/callvet/internal/embed/disk"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/catalogs"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve"
)

// vectors opens the file of vectors.
func (a *cli) vectors(ctx context.Context) (embed.Kept, error) {
	path, err := a.vectorPath()
	if err != nil {
		return nil, err
	}
	return disk.Open(ctx, path, 0)
}

// vectorPath is where vectors are kept: under $CALLVET_CACHE, or in the user's cache
// folder.
func (a *cli) vectorPath() (string, error) {
	if dir := a.getenv("CALLVET_CACHE"); dir != "" {
		return filepath.Join(a.path(dir), "vectors"), nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder: %w", err)
	}
	return filepath.Join(dir, "callvet", "vectors"), nil
}

// notice tells what came up while a request was carried out.
func (a *cli) notice(n callvet.Notice) {
	switch text := plain.Line(n.Text); n.Code {
	case "no-reranker":
		fmt.Fprintf(a.err, "note: %s: --rerank SPEC names one\n", text)
	case "confidence-bound":
		fmt.Fprintf(a.err, "note: %s\n", text)
	case "target", "unused", "safety", "label", "traces": // is told in the text
		fmt.Fprintf(a.err, "warning: %s\n", text)
	default:
		fmt.Fprintf(a.err, "warning: %s: %s\n", n.Code, text)
	}
}

// catalogs is what requests about catalogues are carried out with. done tells what was
// asked of models of vectors and orders, and lets go of them.
func (a *cli) catalogs() (e *catalog.Env, done func()) {
	e, used := a.program().Catalogs(a.events())
	return e, func() { catalogs.Used(a.err, used()) }
}

// emit writes a result as JSON where that is asked for, else as face does.
func emit[T any](a *cli, result T, face func(io.Writer, T) error) error {
	if a.jsonOut {
		return json.NewEncoder(a.out).Encode(result)
	}
	return face(a.out, result)
}

// flagOf is the flag of a field of a request.
func flagOf(field string) string {
	switch field {
	case "output", "outputs":
		return "-o"
	case "traces":
		return "--run"
	case "calibrations":
		return "--calibration"
	case "targets":
		return "-m"
	case "target_file":
		return "--targets"
	case "headers":
		return "--header"
	case "repeats":
		return "--repeat"
	case "slices":
		return "--slice"
	case "format":
		return "--from"
	case "max_cost_usd":
		return "--max-cost"
	case "timeout_ms":
		return "--timeout"
	case "abstain_percent":
		return "--abstain"
	case "abstain_routes":
		return "--abstain-route"
	case "configurations":
		return "--weights"
	case "models":
		return "--model"
	case "only":
		return "--tool"
	}
	return "--" + strings.ReplaceAll(field, "_", "-")
}

// searchFlags registers the flags that say what is searched and how, but those named.
func searchFlags(fs *pflag.FlagSet, f *catalog.Search, but ...string) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	toolsFlag(own, &f.Tools, " (docs/SELECTION.md)")
	own.StringVar(&f.Preset, "preset", "", "how tools are scored: default or bigtool")
	own.Var((*depth)(&f.K), "k", "how many tools are given (default 5; 2 for bigtool)")
	own.Float64Var(&f.Threshold, "threshold", 0, "score under which a tool is not given")
	own.Var(abstainFlag{&f.Settings}, "abstain", fmt.Sprintf("give nothing below this confidence from 0 to under 1, such as %v, or below that which a share of the catalogue's examples has, such as 5%% (default: never)", retrieve.DefaultMinConfidence))
	own.StringVar(&f.AbstainOn, "abstain-on", "", "suite of questions, with their tools, of which --abstain 5% refuses that share; by default the catalogue's examples")
	own.StringSliceVar(&f.AbstainRoutes, "abstain-route", nil, "route whose questions are given no tool, such as smalltalk; may be repeated")
	own.StringVar(&f.Embed, "embed", "", "model that makes vectors: openai:MODEL[@URL], ollama:MODEL, tei:URL (default: none is needed)")
	own.StringVar(&f.Rerank, "rerank", "", "model that orders the best tools anew: cohere:MODEL[@URL], jina:MODEL, tei:URL")
	own.StringVar(&f.Fusion, "fusion", "", "how words and vectors become one order: mixed or reciprocal_rank (default: mixed)")
	own.StringVar(&f.Primary, "primary", "", "namespaces that bigtool searches first, such as tools/trafik,tools/bolag (default: the catalogue's)")
	own.StringVar(&f.Fallback, "fallback", "", "namespaces that bigtool searches when the primary ones have nothing")
	own.Var(ranged.Share(&f.AgentGate, 0), "agent-gate", "share of its score from 0 to 1 that a tool loses when none of its agents is chosen (1: it is not given)")
	own.Var(ranged.Int(&f.Agents, 0, 1), "agents", "how many agents may be chosen (default 1; 3 for bigtool)")
	own.StringVar(&f.Routes, "routes", "", "file with rules of routes or with learned ones, or none (default: callvet's own rules)")
	own.StringVar(&f.WeightsFile, "weights", "", "JSON file with the weights of layers and of retrieval")
	addBut(fs, own, but...)
}

func toolsFlag(fs *pflag.FlagSet, to *string, more string) {
	fs.StringVar(to, "tools", "", "catalogue of tools: a file, or a folder with a file for each"+more)
}

// addBut adds flags but those named.
func addBut(to, from *pflag.FlagSet, names ...string) {
	from.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) {
			to.AddFlag(f)
		}
	})
}

// depth is a flag that says how many tools are given.
type depth int

func (d *depth) String() string { return strconv.Itoa(int(*d)) }

// Type implements pflag.Value.
func (d *depth) Type() string { return "int" }

// Set implements pflag.Value.
func (d *depth) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > catalog.MaxDepth {
		return fmt.Errorf("a number from 1 to %d", catalog.MaxDepth)
	}
	*d = depth(n)
	return nil
}

// abstainFlag reads --abstain.
type abstainFlag struct{ s *catalog.Settings }

// Set implements pflag.Value.
func (f abstainFlag) Set(v string) error { return f.s.SetAbstain(v) }

// Type implements pflag.Value.
func (f abstainFlag) Type() string { return "confidence|percent%" }

func (f abstainFlag) String() string {
	if f.s == nil {
		return ""
	}
	return f.s.Refuses()
}

// asking asks models about a catalogue, within one budget.
type asking struct {
	runFlags
	cli *cli
	set *pflag.FlagSet
	// spent is what runs have cost so far, in USD, dearest the most that one attempt did,
	// and what the next may cost.
	spent, dearest float64
}

// asking registers the flags of models, but those named.
func (a *cli) asking(fs *pflag.FlagSet, but ...string) *asking {
	q := &asking{cli: a, set: fs}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	q.runFlags.asking(own, 2*time.Minute)
	q.target.register(own)
	own.StringArrayVarP(&q.targets, "model", "m", nil, "model that chooses among the tools given; may be repeated")
	own.Var(ranged.Positive(&q.maxCost, 0), "max-cost", "stop before spending more than this many USD")
	own.BoolVar(&q.noCache, "no-cache", false, "do not reuse answers of earlier runs to the very same question")
	own.StringVar(&q.resume, "resume", "", "go on with an interrupted run (id, name or last) and tell its curve")
	addBut(fs, own, but...)
	return q
}

func (q *asking) changed(name string) bool {
	return name != "seed" && q.set.Changed(name) // that seed is the draws'
}

// ask implements catalog.Env.Ask.
func (q *asking) ask(ctx context.Context, path string, made *callvet.Suite, read func(*catalog.Answers) error) error {
	if slices.ContainsFunc(q.targets, func(t string) bool { return strings.HasPrefix(t, "retrieve:") }) {
		return usagef("--model asks those who choose among tools; the retriever is that of --preset, --k or one --weights")
	}
	if q.maxCost > 0 && q.spent > 0 && q.maxCost-q.spent < q.dearest {
		return fmt.Errorf("%.6g of %.6g USD were spent and another request may cost %.6g: %w", q.spent, q.maxCost, q.dearest, callvet.ErrBudget)
	}
	one := q.runFlags
	one.made, one.maxCost = made, max(0, q.maxCost-q.spent)
	one.told = func(v *report.View) error { return read(q.answers(v)) }
	return q.cli.evaluate(ctx, path, one, q.changed)
}

// again goes on with the interrupted run that was named.
func (q *asking) again(ctx context.Context, read func(*catalog.Answers) error) error {
	one := q.runFlags
	one.told = func(v *report.View) error { return read(q.answers(v)) }
	return q.cli.evaluate(ctx, "", one, q.changed)
}

// answers are those of a run, which is taken from the budget.
func (q *asking) answers(v *report.View) *catalog.Answers {
	q.spent += v.Spent.USD + v.Spent.AssumedUSD
	out := &catalog.Answers{Run: v.ID, Status: v.Status, About: v.Suite.Description, Attempts: q.attempts(v)}
	for i := range v.Targets {
		out.Targets = append(out.Targets, v.Targets[i].Name)
	}
	return out
}

func (q *asking) attempts(v *report.View) iter.Seq2[catalog.Attempt, error] {
	return func(yield func(catalog.Attempt, error) bool) {
		for row, err := range v.Cells() {
			if row.Cell != nil && !row.Cell.Trace.Cached && row.Cell.Trace.Usage.CostUSD != nil {
				q.dearest = max(q.dearest, *row.Cell.Trace.Usage.CostUSD)
			}
			if !yield(catalog.Attempt{Case: row.Case, Cell: row.Cell}, err) {
				return
			}
		}
	}
}

// progress is the live line of what is searched before anything is asked; nothing is
// drawn but on a terminal.
func (q *asking) progress() *report.Progress {
	live := &report.Progress{W: io.Discard, TTY: true, Width: q.cli.width, Now: q.cli.now}
	if q.cli.errTTY && !q.quiet {
		live.W = q.cli.err
	}
	return live
}
