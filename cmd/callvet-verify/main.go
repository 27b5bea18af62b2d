// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Command callvet-verify holds callvet against other people's verdicts and
// against its own promises. Each check prints one line per figure, the summary
// last, and exits with 1 when the figure is under its bar.
//
//	callvet-verify matcher          the matcher conformance cases
//	callvet-verify bfcl             the official BFCL verdicts, case by case
//	callvet-verify bfcl-multiturn   BFCL's conversations, and its runs compared
//	callvet-verify tau              the verdicts of τ-bench and τ²-bench
//	callvet-verify resume BINARY    kill -9, resume, each cell exactly once
//	callvet-verify stats            the statistics against reference values
//	callvet-verify agentdojo        AgentDojo's table and its verdicts on attacks
//	callvet-verify judges           published figures of judges, and their correction
//	callvet-verify bm25             BM25 against recorded figures and scores
//	callvet-verify retrieval        presets on open catalogs, beside BM25 references
//	callvet-verify retrieval-tune   look for better weights on the train half
//	callvet-verify abstention       fit when to give nothing, and hold it out
//	callvet-verify routes           routes by rules and learned, with abstention
//	callvet-verify bigtool          the second document's own suites under its preset
//	callvet-verify journeys BINARY  whole journeys through every command and format
//	callvet-verify redaction [SET]  what redaction takes out of every set; lists it for SET
//	callvet-verify coverage         how often the intervals hold the truth
//
// Data is read from $CALLVET_TESTDATA (default ../shared/data), reference values
// from $CALLVET_VECTORS (default ../shared/vectors).
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet/cmd/callvet-verify/bigtool"
	"github.com/callvet/callvet/cmd/callvet-verify/redaction"
	"github.com/callvet/callvet/cmd/callvet-verify/retrieval"
	"github.com/callvet/callvet/cmd/callvet-verify/routes"
)

// tuneRounds is how often all weights are gone through.
const tuneRounds = 4

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: callvet-verify matcher | bfcl | bfcl-multiturn | tau | resume BINARY | stats | agentdojo | judges | bm25 | retrieval | retrieval-tune | abstention | routes | bigtool | journeys BINARY | redaction [SET] | coverage")
		os.Exit(2)
	}
	data := os.Getenv("CALLVET_TESTDATA")
	if data == "" {
		data = filepath.Join("..", "shared", "data")
	}
	ok, err := verify(context.Background(), os.Stdout, data, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "callvet-verify:", err)
		os.Exit(1)
	}
	if !ok {
		os.Exit(1)
	}
}

func verify(ctx context.Context, out io.Writer, data string, args []string) (bool, error) {
	switch {
	case args[0] == "matcher":
		return matcher(out, data)
	case args[0] == "bfcl":
		return bfclAgreement(ctx, out, data)
	case args[0] == "bfcl-multiturn":
		return conversations(ctx, out, data)
	case args[0] == "tau":
		return tau(out, data)
	case args[0] == "resume" && len(args) == 2:
		return resume(ctx, out, args[1])
	case args[0] == "stats":
		return statistics(out, vectorDir())
	case args[0] == "agentdojo":
		return agentDojo(out, data)
	case args[0] == "judges":
		return judges(out, data)
	case args[0] == "bm25":
		return retrieval.BM25(out, data)
	case args[0] == "retrieval":
		return retrieval.Table(ctx, out, data)
	case args[0] == "retrieval-tune":
		return true, retrieval.Tune(ctx, out, data, tuneRounds)
	case args[0] == "abstention":
		return retrieval.Abstention(ctx, out, filepath.Join("examples", "select"), data)
	case args[0] == "routes":
		example := filepath.Join("examples", "select")
		return routes.Verify(out, filepath.Join(example, "suite.json"), filepath.Join(example, "catalogue.json"), data)
	case args[0] == "bigtool":
		return bigtool.Run(ctx, out, data)
	case args[0] == "journeys" && len(args) == 2:
		return walk(ctx, out, args[1])
	case args[0] == "redaction" && len(args) <= 2:
		return redaction.Verify(out, data, part(), strings.Join(args[1:], ""))
	case args[0] == "coverage":
		return coverage(out)
	}
	return false, fmt.Errorf("unknown check %q: matcher, bfcl, bfcl-multiturn, tau, resume BINARY, stats, agentdojo, judges, bm25, retrieval, retrieval-tune, abstention, routes, bigtool, journeys BINARY, redaction [SET] or coverage", args[0])
}

// part is the part of the data that is read.
func part() string {
	if p := os.Getenv("CALLVET_PART"); p != "" {
		return p
	}
	return "open"
}
