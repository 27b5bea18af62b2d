// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Command callvet-verify compares callvet with published verdicts and with its own promises. Each
// check prints the number of comparisons in its data, its measurements, the differences, and as the
// last line one figure: how many of how many agree.
//
//	callvet-verify matcher          the matcher conformance cases
//	callvet-verify bfcl             the official BFCL verdicts, case by case
//	callvet-verify bfcl-multiturn   BFCL's conversations, and its runs compared
//	callvet-verify until            gates that are decided anew after each case, on recorded verdicts
//	callvet-verify tau              the verdicts of τ-bench and τ²-bench
//	callvet-verify resume BINARY    kill -9, resume, each cell exactly once
//	callvet-verify websocket BINARY a thousand WebSocket clients on a run: each event once, in order, and its delay
//	callvet-verify jobs BINARY      jobs of a server: kill -9, limits of users, cancels; requests and events
//	callvet-verify replay BINARY    a hundred replays of two tools, byte by byte; nothing is executed
//	callvet-verify stats            the statistics against reference values
//	callvet-verify agentdojo        AgentDojo's table and its verdicts on attacks
//	callvet-verify judges           published figures of judges, and their correction
//	callvet-verify variance         shares of tasks, attempts and judges in the variance of verdicts
//	callvet-verify judge-parsing    recorded answers of judges, compared with outside verdicts
//	callvet-verify bm25             BM25 against recorded figures and scores
//	callvet-verify retrieval        presets on public catalogs, compared with BM25 references
//	callvet-verify retrieval-tune   search for better weights on the train half
//	callvet-verify abstention       fit the limits of abstention, and check them on other questions
//	callvet-verify routes           routes by rules and learned, with abstention
//	callvet-verify bigtool          the second document's own suites under its preset
//	callvet-verify journeys BINARY  every command that reads a run, over runs of every shape
//	callvet-verify one-path BINARY  the same numbers in a run, its traces, its gates and comparisons
//	callvet-verify redaction [SET]  what redaction removes from every set; the findings in one set
//	callvet-verify pii              personal data by entity, compared with the reference's own figures
//	callvet-verify wire [PAGE]      recorded answers of real providers; requests by the official schemas
//	callvet-verify peers            assertions in tests of other tools, scored here
//	callvet-verify agents [PAGE]    real agents: over HTTP, their telemetry, captures of both ($CALLVET_CAPTURES)
//	callvet-verify mock BINARY      a suite against a mock of providers and agents that makes faults
//	callvet-verify mcp BINARY       eight real MCP servers, one through the proxy; real clients of callvet's servers
//	callvet-verify tiers BINARY     golden, labeled, regression and rubric cases: assertions, traps, locks
//	callvet-verify rows BINARY      the rows of the four documents: results compared with values computed by hand
//	callvet-verify labelled-set [SCRIPT]  the shipped tasks in Portuguese and Spanish, right and wrong attempts at them
//	callvet-verify evidence BINARY  finish reasons, calls written as text and histories, in every form that callvet reads
//	callvet-verify lost BINARY      runs and trace files with lost attempts: gates, badges, JUnit, lists, page, schedules
//	callvet-verify same [COMMIT]    each command of this checkout and of a commit: output, exit codes and files
//	callvet-verify tune             simulated tunings: intervals, promotions without a gain, constraints, calls saved
//	callvet-verify coverage [PATTERN]  how often intervals contain the truth, and gates decide as promised
//
// PATTERN is a regular expression for the names of studies. PAGE is a page of the docs: its table
// is rewritten. SCRIPT is a script for callvet run: it is written with the right answers of each
// task.
//
// Data is read from $CALLVET_TESTDATA (default ../shared/data), reference values
// from $CALLVET_VECTORS (default ../shared/vectors). $CALLVET_PART names the part of
// the data that is read (default open). Agents are installed from $CALLVET_REAL (default
// ../shared/real).
//
// Exit codes: 0 if every due comparison agrees or is explained by name in proof/explained.tsv. 1 if not,
// also if the data are missing. 2 for an unknown command.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet/verify/bigtool"
	"github.com/callvet/callvet/verify/evidence"
	"github.com/callvet/callvet/verify/labelled"
	"github.com/callvet/callvet/verify/losses"
	"github.com/callvet/callvet/verify/mcpservers"
	"github.com/callvet/callvet/verify/onepath"
	"github.com/callvet/callvet/verify/proof"
	"github.com/callvet/callvet/verify/queue"
	"github.com/callvet/callvet/verify/redaction"
	"github.com/callvet/callvet/verify/retrieval"
	"github.com/callvet/callvet/verify/routes"
	documentrows "github.com/callvet/callvet/verify/rows"
	"github.com/callvet/callvet/verify/tiers"
	"github.com/callvet/callvet/verify/versions"
)

// tuneRounds is the number of rounds over all weights.
const tuneRounds = 4

// place has the inputs of a check: the data, the reference values, the shipped examples, and its
// operands on the command line.
type place struct {
	data, part, vectors, examples string
	// real is the folder with agents and mocks of other projects.
	real string
	// splits is how often judges divides its tasks.
	splits int
	args   []string
}

// check compares and reports to its proof.Check. It returns an error if it could not compare.
type check struct {
	name string
	run  func(context.Context, *proof.Check, place) error
	// needs and takes name the operand after the name of the check: one at most.
	needs, takes string
	// simulates: the check makes its data.
	simulates bool
}

// withData runs a check on the test data.
func withData(run func(context.Context, *proof.Check,
	proof.Data) error,
) func(context.Context, *proof.Check, place) error {
	return withPlace(func(ctx context.Context, c *proof.Check, d proof.Data, _ place) error { return run(ctx, c, d) })
}

// withPlace runs a check on the test data that reads more than those.
func withPlace(run func(context.Context, *proof.Check, proof.Data,
	place) error,
) func(context.Context, *proof.Check, place) error {
	return func(ctx context.Context, c *proof.Check, p place) error {
		d, err := proof.Open(p.data, p.part)
		if err != nil {
			return err
		}
		return run(ctx, c, d, p)
	}
}

func checks() []check {
	return []check{
		{name: "matcher", run: withData(matcher)},
		{name: "bfcl", run: withData(bfclAgreement)},
		{name: "bfcl-multiturn", run: withData(conversations)},
		{name: "tau", run: withData(tau)},
		{name: "until", run: withData(until)},
		{
			name: "resume", needs: "BINARY",
			run: func(ctx context.Context, c *proof.Check, p place) error { return resume(ctx, c, p.args[0]) },
		},
		{
			name: "websocket", needs: "BINARY",
			run: func(ctx context.Context, c *proof.Check, p place) error { return sockets(ctx, c, p.args[0]) },
		},
		{name: "jobs", needs: "BINARY", run: func(ctx context.Context, c *proof.Check, p place) error {
			return queue.Verify(ctx, c, p.args[0], queue.Full())
		}},
		{
			name: "replay", needs: "BINARY",
			run: func(ctx context.Context, c *proof.Check, p place) error { return replayed(ctx, c, p.args[0]) },
		},
		{name: "stats", run: statistics},
		{name: "agentdojo", run: withData(agentDojo)},
		{
			name: "judges",
			run: withPlace(func(_ context.Context, c *proof.Check, d proof.Data,
				p place,
			) error {
				return judges(c, d, p.splits)
			}),
		},
		{
			name: "judge-parsing",
			run:  withData(func(_ context.Context, c *proof.Check, d proof.Data) error { return judgeParsing(c, d) }),
		},
		{name: "variance", run: withData(variance)},
		{name: "bm25", run: withData(retrieval.BM25)},
		{name: "retrieval", run: withData(retrieval.Table)},
		{name: "abstention", run: withPlace(func(ctx context.Context, c *proof.Check, d proof.Data, p place) error {
			return retrieval.Abstention(ctx, c, filepath.Join(p.examples, "select"), d)
		})},
		{name: "routes", run: withPlace(func(_ context.Context, c *proof.Check, d proof.Data, p place) error {
			return routes.Verify(c, filepath.Join(p.examples, "select"), d)
		})},
		{name: "bigtool", run: withData(bigtool.Run)},
		{
			name: "journeys", needs: "BINARY",
			run: func(ctx context.Context, c *proof.Check, p place) error { return walk(ctx, c, p.args[0]) },
		},
		{
			name: "one-path", needs: "BINARY",
			run: func(ctx context.Context, c *proof.Check, p place) error { return onepath.Verify(ctx, c, p.args[0]) },
		},
		{
			name: "pii",
			run: withData(func(_ context.Context, c *proof.Check,
				d proof.Data,
			) error {
				return redaction.Personal(c, d)
			}),
		},
		{
			name: "redaction", takes: "SET",
			run: withPlace(func(_ context.Context, c *proof.Check, d proof.Data, p place) error {
				return redaction.Verify(c, d, strings.Join(p.args, ""))
			}),
		},
		{
			name: "wire", takes: "PAGE",
			run: withPlace(func(ctx context.Context, c *proof.Check, d proof.Data, p place) error {
				return wires(ctx, c, d, strings.Join(p.args, ""))
			}),
		},
		{name: "peers", run: withData(peers)},
		{name: "agents", takes: "PAGE", run: agents},
		{name: "mock", needs: "BINARY", run: faultyMock},
		{name: "mcp", needs: "BINARY", run: func(ctx context.Context, c *proof.Check, p place) error {
			return mcpservers.Verify(ctx, c, p.args[0], filepath.Join(p.real, "mcp"),
				filepath.Join(p.examples, "weather.yaml"))
		}},
		{name: "tune", run: tunings, simulates: true},
		{name: "coverage", takes: "PATTERN", run: coverage, simulates: true},
		{name: "same", takes: "COMMIT", run: func(ctx context.Context, c *proof.Check, p place) error {
			shared := filepath.Dir(p.data)
			return versions.Verify(ctx, c, versions.Config{
				Module: ".", Reference: orElse(strings.Join(p.args, ""), "HEAD"), Examples: p.examples,
				Data: []string{
					filepath.Join(shared, "formats"),
					filepath.Join(shared, "faults"),
				}, Wanted: filepath.Join("verify", "versions", "wanted.txt"),
			})
		}},
		{name: "evidence", needs: "BINARY", run: func(ctx context.Context, c *proof.Check, p place) error {
			return evidence.Verify(ctx, c, p.args[0])
		}},
		{name: "lost", needs: "BINARY", run: func(ctx context.Context, c *proof.Check, p place) error {
			return losses.Verify(ctx, c, p.args[0])
		}},
		{name: "tiers", needs: "BINARY", run: func(ctx context.Context, c *proof.Check, p place) error {
			return tiers.Verify(ctx, c, p.args[0], p.data)
		}},
		{name: "rows", needs: "BINARY", run: func(ctx context.Context, c *proof.Check, p place) error {
			return documentrows.Verify(ctx, c, p.args[0], p.examples)
		}},
		{name: "labelled-set", takes: "SCRIPT", run: func(ctx context.Context, c *proof.Check, p place) error {
			return labelled.Verify(ctx, c, filepath.Join(p.examples, "labelled-set"), strings.Join(p.args, ""))
		}},
	}
}

func main() {
	p := place{
		data:    orElse(os.Getenv("CALLVET_TESTDATA"), filepath.Join("..", "shared", "data")),
		part:    os.Getenv("CALLVET_PART"),
		vectors: orElse(os.Getenv("CALLVET_VECTORS"), filepath.Join("..", "shared", "vectors")), examples: "examples",
		splits: judgeSplits,
		real:   orElse(os.Getenv("CALLVET_REAL"), filepath.Join("..", "shared", "real")),
	}
	if len(os.Args) > 1 && os.Args[1] == "retrieval-tune" {
		os.Exit(tuneWeights(p))
	}
	run, ok := find(os.Args[1:])
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: callvet-verify "+usage())
		os.Exit(2)
	}
	p.args = os.Args[2:]
	agree, err := verify(context.Background(), os.Stdout, run, p)
	if err != nil {
		fmt.Fprintln(os.Stderr, "callvet-verify:", err)
	}
	if !agree {
		os.Exit(1)
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// find returns the check that a command line names.
func find(args []string) (check, bool) {
	for _, c := range checks() {
		if len(args) == 0 || args[0] != c.name {
			continue
		}
		least, most := 1, 1
		if c.needs != "" {
			least, most = 2, 2
		}
		if c.takes != "" {
			most = 2
		}
		return c, least <= len(args) && len(args) <= most
	}
	return check{}, false
}

func usage() string {
	var names []string
	for _, c := range checks() {
		name := strings.TrimSpace(c.name + " " + c.needs)
		if c.takes != "" {
			name += " [" + c.takes + "]"
		}
		names = append(names, name)
	}
	return strings.Join(append(names, "retrieval-tune"), " | ")
}

// verify runs a check up to its last line, even if it cannot compare.
func verify(ctx context.Context, out io.Writer, run check, p place) (bool, error) {
	explained, err := proof.Explained()
	if err != nil {
		return false, err
	}
	c := proof.New(out, run.name, orElse(p.part, proof.DefaultPart), explained)
	c.Problem(run.run(ctx, c, p))
	return c.Close(), nil
}

func tuneWeights(p place) int {
	d, err := proof.Open(p.data, p.part)
	if err == nil {
		err = retrieval.Tune(context.Background(), os.Stdout, d, tuneRounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "callvet-verify:", err)
		return 1
	}
	return 0
}
