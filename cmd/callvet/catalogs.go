// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
)

// vectorPath is the folder of stored vectors: under $CALLVET_CACHE, or in the user's cache
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

// notice prints a notice of a request.
func (a *cli) notice(n callvet.Notice) {
	switch text := plain.Line(n.Text); n.Code {
	case "no-reranker":
		fmt.Fprintf(a.err, "note: %s: --rerank SPEC names one\n", text)
	case "confidence-bound":
		fmt.Fprintf(a.err, "note: %s\n", text)
	case "target", "unused", "safety", "label", "traces": // the text names it
		fmt.Fprintf(a.err, "warning: %s\n", text)
	default:
		fmt.Fprintf(a.err, "warning: %s: %s\n", n.Code, text)
	}
}

// catalogued carries out a request about catalogues and shows its result, and then the usage of
// embedders and rerankers.
func catalogued[Q, R any](ctx context.Context, t *eventPrinter, req Q,
	do func(context.Context, *app.App, Q, app.Events) (R, error),
	face func(io.Writer, R) error,
) error {
	defer t.tellUsed()
	out, err := do(ctx, t.a.program(), req, t.print)
	t.finish()
	if err != nil {
		return err
	}
	return emit(t.a, out, face)
}

// emit writes a result as JSON if --json is set, else in the form of face.
func emit[T any](a *cli, result T, face func(io.Writer, T) error) error {
	if a.jsonOut {
		return json.NewEncoder(a.out).Encode(result)
	}
	return face(a.out, result)
}

// searchFlags registers the flags of a search, except those named in but.
func searchFlags(fs *pflag.FlagSet, f *catalogs.Search, but ...string) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	toolsFlag(own, &f.Tools)
	own.StringVar(&f.Preset, "preset", "", "how tools are scored: default or bigtool")
	own.Var((*depth)(&f.K), "k", "how many tools are given (default 5; 2 for bigtool)")
	own.Float64Var(&f.Threshold, "threshold", 0, "score under which a tool is not given")
	own.Var(abstainFlag{f}, "abstain",
		fmt.Sprintf(
			"give nothing below this confidence (%v), or below that of this share of the catalogue's examples (5%%) "+
				"(default: never)", catalogs.UsualConfidence))
	own.StringVar(&f.AbstainOn, "abstain-on", "",
		"suite of questions for --abstain 5%, in place of the catalogue's examples")
	own.StringSliceVar(&f.AbstainRoutes, "abstain-route", nil,
		"route that gives its questions no tool, such as smalltalk; may be repeated")
	own.StringVar(&f.Embed, "embed", "",
		"model that makes vectors: openai:MODEL[@URL], ollama:MODEL, tei:URL (default: none is needed)")
	own.StringVar(&f.Rerank, "rerank", "",
		"model that orders the best tools anew: cohere:MODEL[@URL], jina:MODEL, tei:URL")
	own.StringVar(&f.Fusion, "fusion", "",
		"how words and vectors become one order: mixed or reciprocal_rank (default: mixed)")
	own.StringVar(&f.Primary, "primary", "",
		"namespaces that bigtool searches first, such as tools/trafik,tools/bolag (default: the catalogue's)")
	own.StringVar(&f.Fallback, "fallback", "", "namespaces that bigtool searches when the primary ones have nothing")
	own.Var(shareFlag(&f.AgentGate, 0), "agent-gate",
		"share of its score that a tool loses when none of its agents is chosen (1: it is not given)")
	own.Var(wholeFlag(&f.Agents, 0, 1), "agents", "how many agents may be chosen (default 1; 3 for bigtool)")
	own.StringVar(&f.Routes, "routes", "",
		"file with rules of routes or with learned ones, or none (default: callvet's own rules)")
	own.StringVar(&f.WeightsFile, "weights", "", "JSON file with the weights of layers and of retrieval")
	addBut(fs, own, but...)
}

func toolsFlag(fs *pflag.FlagSet, to *string) {
	fs.StringVar(to, "tools", "", "catalogue of tools: file or folder (docs/guides/catalogues.md)")
}

// addBut adds all flags except the named ones.
func addBut(to, from *pflag.FlagSet, names ...string) {
	from.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) {
			to.AddFlag(f)
		}
	})
}

// depth is the flag for the number of returned tools.
type depth int

func (d *depth) String() string { return strconv.Itoa(int(*d)) }

// Type implements pflag.Value.
func (d *depth) Type() string { return "int" }

// Set implements pflag.Value.
func (d *depth) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > catalogs.MaxDepth {
		return fmt.Errorf("a number from 1 to %d", catalogs.MaxDepth)
	}
	*d = depth(n)
	return nil
}

// abstainFlag reads --abstain.
type abstainFlag struct{ s *catalogs.Search }

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

// asking are the flags of models that choose from a catalogue.
type asking struct {
	runFlags
	cli *cli
	set *pflag.FlagSet
}

// asking registers the flags of models, except the named ones.
func (a *cli) asking(fs *pflag.FlagSet, but ...string) *asking {
	q := &asking{cli: a, set: fs}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	q.runFlags.asking(own, 2*time.Minute)
	q.target.register(own)
	own.StringArrayVarP(&q.targets, "model", "m", nil, "model that chooses among the tools given; may be repeated")
	own.Var(positiveFlag(&q.maxCost, 0), "max-cost", "stop before spending more than this many USD")
	own.BoolVar(&q.noCache, "no-cache", false, "do not reuse answers of earlier runs")
	own.StringVar(&q.resume, "resume", "", "continue an interrupted run (id, name or last)")
	addBut(fs, own, but...)
	return q
}

func (q *asking) changed(name string) bool {
	return name != "seed" && q.set.Changed(name) // that seed belongs to the draws
}

// request are the settings of the models.
func (q *asking) request() (app.RunRequest, error) {
	f := q.runFlags
	f.targets = nil // the request about the catalogue names them
	return q.cli.request("", &f, q.changed)
}

// ask carries out a request that uses models; the result may be nil if there is an error.
func ask[Q, R any](ctx context.Context, q *asking, req Q,
	do func(context.Context, *app.App, Q, runs.Conclude, app.Events) (*R, error), show func(*R, error) error,
) error {
	if err := q.cli.writable(&q.runFlags); err != nil {
		return err
	}
	t := q.cli.eventPrinter(q.quiet, "")
	defer t.tellUsed()
	defer q.cli.growHeap(runHeap())()
	out, err := do(ctx, q.cli.program(), req, q.conclude, t.print)
	t.finish()
	return show(out, q.cli.notFollowed(err))
}

// conclude implements app.Conclude.
func (q *asking) conclude(out *runs.Outcome, ended error) error {
	inPart := func(*report.View, *runFlags) error { return nil } // the result of the request is shown
	return q.cli.conclude(out, &q.runFlags, inPart, ended)
}
