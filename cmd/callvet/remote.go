// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/remote"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/sys"
)

// patience is how long a server may be unavailable while its job is watched, for example during
// an update.
const patience = 2 * time.Minute

// remoteFlags are the flags of run that are sent to a server, and the flags that this side uses.
func remoteFlags() []string {
	return []string{
		"remote", "experiment", "model", "temperature", "top-p", "max-tokens", "reasoning-effort", "parallel-calls",
		"set", "tool-choice", "system", "system-for", "replace-system",
		"name", "notes", "run-tag", "repeat", "seed", "sample", "filter", "failed-from", "slice", "keep", "max-cost",
		"max-calls", "concurrency", "interleave", "rate", "retries", "timeout",
		"stream", "no-cache", "force-rubric", "real-latency", "embedder", "judge", "judge-model", "judge-base-url",
		"judge-live", "judge-under", "base-url", "api-key-env",
		"until-decided", "gates", "baseline", "target-version",
		"output", "quiet", "require-pass", "from", "tools", "mocks",
	}
}

// remoteRun lets a server carry out a run, and shows the result as if it had run here. flags are
// those of run only
func (a *cli) remoteRun(ctx context.Context, address, experiment, path string, f *runFlags,
	flags *pflag.FlagSet,
) error {
	if path == "" {
		return usagef("which suite? callvet run SUITE --remote %s -m TARGET", plain.ShellQuote(address))
	}
	if err := unsent(flags, remoteFlags()...); err != nil {
		return err
	}
	req, err := a.remoteRequest(f, flags.Changed)
	if err != nil {
		return err
	}
	if err := serverWrites(f.outputs); err != nil {
		return err
	}
	c, err := a.remoteClient(address)
	if err != nil {
		return err
	}
	suite := f.suite.request(path)
	suite.Embedder, suite.EmbedderLater = "", true // the server uses it
	show := a.eventPrinter(f.quiet, "callvet lint "+plain.ShellQuote(path)).print
	made, err := a.program().Convert(ctx,
		app.ConvertRequest{SuiteRequest: suite, To: "callvet", Output: "suite.json"}, show)
	if err != nil {
		a.printProblems(made.Problems, true)
		return err
	}
	s, err := c.Import(ctx, made.Data)
	if err != nil {
		return err
	}
	req.SuiteID, req.ExperimentID = s.ID, experiment
	taken, err := c.Submit(ctx, req)
	if err != nil {
		return err
	}
	for _, w := range taken.Warnings {
		a.notice(w)
	}
	fmt.Fprintf(a.err, "job %s on %s, run %s; callvet jobs %s --watch %s follows it, --cancel ends it\n",
		plain.Line(taken.Job), plain.Line(address), plain.Line(taken.Run), plain.ShellQuote(address),
		plain.ShellQuote(taken.Job))
	return a.remoteEnd(ctx, c, taken.Job, f)
}

// unsent refuses flags of a command that are not sent to a server.
func unsent(flags *pflag.FlagSet, sent ...string) error {
	var rest []string
	flags.VisitAll(func(g *pflag.Flag) {
		if g.Changed && !slices.Contains(sent, g.Name) {
			rest = append(rest, "--"+g.Name)
		}
	})
	if len(rest) > 0 {
		return usagef("--remote does not send %s to the server: leave that out, or work here", strings.Join(rest, ", "))
	}
	return nil
}

// remoteGate checks a run on a server with gates, and shows the result as if the run were here.
func (a *cli) remoteGate(ctx context.Context, address, run, baseline string, req *traces.GateRequest,
	f *gateFlags,
) error {
	if err := f.check(); err != nil {
		return err
	}
	ask := &remote.Gates{Baseline: baseline, Policy: string(req.Policy)}
	if req.Gates != "" {
		var err error
		if ask.Text, err = a.program().Text("@" + req.Gates); err != nil {
			return err
		}
	}
	c, err := a.remoteClient(address)
	if err != nil {
		return err
	}
	return a.remoteVerdict(ctx, c, run, ask, f)
}

// remoteVerdict shows the gates of a run on a server, and sets the exit code.
func (a *cli) remoteVerdict(ctx context.Context, c *remote.Client, run string, ask *remote.Gates, f *gateFlags) error {
	var out struct {
		traces.GateResult
		Incomplete bool `json:"incomplete"`
	}
	if err := c.Gate(ctx, run, ask, &out); err != nil {
		return err
	}
	if out.Report == nil {
		return fmt.Errorf("hold run %s against gates: %w: the server gave no report", plain.Line(run),
			callvet.ErrInvalid)
	}
	if out.Incomplete {
		out.Report.Warnings = append(out.Report.Warnings, "the run is not complete: its job goes on, or was ended")
	}
	return a.concludeGates(ctx, &out.GateResult, f)
}

// remoteReports writes reports of a run on a server.
func (a *cli) remoteReports(ctx context.Context, address, run string, outputs []string) error {
	if len(outputs) == 0 {
		return usagef("where to? callvet report RUN --remote %s -o report.html", plain.ShellQuote(address))
	}
	if err := serverWrites(outputs); err != nil {
		return err
	}
	c, err := a.remoteClient(address)
	if err != nil {
		return err
	}
	for _, o := range outputs {
		if err := a.remoteReport(ctx, c, run, o); err != nil {
			return err
		}
	}
	return nil
}

// remoteRequest is the request of the flags to a server.
func (a *cli) remoteRequest(f *runFlags, changed func(string) bool) (*server.EvalRequest, error) {
	req, err := a.request("", f, changed)
	if err != nil {
		return nil, err
	}
	set, shared := &req.Settings, &req.Shared
	out := &server.EvalRequest{
		Name: req.Name, Notes: req.Notes, RunTags: req.Tags, Interleave: set.Interleave, ForceRubric: set.ForceRubric,
		FailedFrom: req.FailedFrom, Slices: req.Slices, Judge: req.Judges, TargetVersion: shared.TargetVersion,
		Asked: server.Asked{
			ToolChoice: shared.ToolChoice, Temperature: shared.Params.Temperature, Stream: shared.Stream,
			ReplaceSystem: f.target.replace, Repeats: req.Repeats, Seed: req.Seed, Sample: req.Sample, Filter: req.Filter,
			MaxCostUSD: set.MaxCostUSD, MaxCalls: set.MaxCalls, Rate: set.Rate, Retries: set.Retries,
			NoCache: req.NoCache, RealLatency: req.RealLatency, Keep: req.Keep, Embedder: req.Embedder,
		},
	}
	if u := req.UntilDecided; u != nil {
		out.UntilDecided, out.BaselineEvalID = true, u.Baseline
		if f.gates != "" {
			if out.Gates, err = a.program().Text("@" + f.gates); err != nil {
				return nil, err
			}
		}
	} else if f.gates != "" {
		return nil, usagef("--gates belongs to --until-decided; to check a run on a server: callvet gate RUN --remote URL --gates FILE")
	}
	if changed("temperature") && out.Temperature == nil {
		return nil,
			usagef("--temperature none: a server asks with a temperature; leave the flag out for 0, or run here")
	}
	if changed("concurrency") {
		out.Concurrency = set.Concurrency
	}
	if changed("timeout") {
		out.RequestTimeoutMS = set.TimeoutMS
	}
	if out.ProviderParams, err = remoteParams(shared.Params); err != nil {
		return nil, err
	}
	if prompts := remotePrompts(&req); len(prompts) > 0 {
		out.SystemPrompt = prompts
	}
	if len(req.Targets) == 0 {
		return nil, usagef("which model? callvet run SUITE --remote URL -m PROVIDER/MODEL")
	}
	for i := range req.Targets {
		t := &req.Targets[i]
		if t.Catalogue() != "" {
			out.Models = append(out.Models, t.Target)
			continue
		}
		provider, model, ok := strings.Cut(t.Target, "/")
		if !ok || strings.Contains(provider, ":") {
			return nil, usagef("-m %s: a server is asked for PROVIDER/MODEL, or for retrieve:CATALOGUE_ID", t.Target)
		}
		out.Targets = append(out.Targets, server.RunTarget{EvalTarget: api.EvalTarget{
			ProviderKey: provider, ModelID: model, BaseURL: t.BaseURL,
			APIKeyEnv: t.APIKeyEnv,
		}})
	}
	return out, nil
}

// remoteParams are the parameters of models by their names in a request to a server; temperature and seed have
// fields of their own there.
func remoteParams(p callvet.Params) (map[string]json.RawMessage, error) {
	extra := p.Extra
	p.Temperature, p.Seed, p.Extra = nil, nil, nil
	b, err := json.Marshal(&p)
	if err != nil {
		return nil, fmt.Errorf("write parameters: %w", err)
	}
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("write parameters: %w", err)
	}
	maps.Copy(out, extra)
	return out, nil
}

// remotePrompts are the system prompts by provider::model, and the prompt of all other targets.
func remotePrompts(req *app.RunRequest) map[string]string {
	out := map[string]string{}
	for target, prompt := range req.SystemFor {
		out[strings.Replace(target, "/", "::", 1)] = prompt
	}
	if p := req.Shared.SystemPrompt; p != "" {
		out["_global"] = p
	}
	return out
}

// remoteClient is a client of a server for the user who logged in there.
func (a *cli) remoteClient(address string) (*remote.Client, error) {
	base, token, err := a.remoteToken(address)
	if err != nil {
		return nil, err
	}
	return remote.New(remote.Config{Address: base, Token: token})
}

// remoteEnd waits for the end of a job, and shows its run.
func (a *cli) remoteEnd(ctx context.Context, c *remote.Client, job string, f *runFlags) error {
	t := a.eventPrinter(f.quiet, "")
	j, err := c.Watch(ctx, job, patience, func(j *remote.Job) {
		if j.Total > 0 && !f.quiet {
			t.print(app.Event{Progress: &app.ProgressEvent{
				Of: "attempts", Done: int(j.Done), Total: int(j.Total),
				ETA: time.Duration(j.ETAMS) * time.Millisecond,
			}})
		}
	})
	t.finish()
	if err != nil {
		return err
	}
	for _, o := range f.outputs {
		if err := a.remoteReport(ctx, c, j.Run, o); err != nil {
			return err
		}
	}
	if !f.quiet || a.jsonOut {
		format := "txt"
		if a.jsonOut {
			format = "json"
		}
		if err := c.Report(ctx, j.Run, format, a.out); err != nil {
			return err
		}
	}
	if j.State != "done" {
		kind := callvet.ErrUnavailable
		if strings.Contains(j.Error, callvet.ErrBudget.Error()) {
			kind = callvet.ErrBudget
		}
		return fmt.Errorf("job %s on the server: %s: %w: %s", j.ID, j.State, kind, j.Error)
	}
	switch {
	case f.until:
		return a.remoteVerdict(ctx, c, j.Run, &remote.Gates{}, &gateFlags{})
	case !f.requirePass:
		return nil
	}
	run, err := c.Run(ctx, j.Run)
	if err != nil {
		return err
	}
	if v := run.Verdicts; v.Fail+v.Error+v.NotRun > 0 || v.Pass == 0 {
		a.exitStatus = exitGateFailed
	}
	return nil
}

// serverWrites refuses reports in a form that a server does not write.
func serverWrites(outputs []string) error {
	for _, o := range outputs {
		if strings.EqualFold(filepath.Ext(o), ".pdf") { // by the browser of the server
			continue
		}
		if _, err := report.ByPath(o); err != nil {
			return err
		}
	}
	return nil
}

// remoteReport writes a report of a run on a server to a file.
func (a *cli) remoteReport(ctx context.Context, c *remote.Client, run, name string) error {
	format := map[string]string{
		".htm": "html", ".markdown": "md", ".junit": "xml", ".ndjson": "jsonl",
		".text": "txt",
	}[strings.ToLower(filepath.Ext(name))]
	if format == "" {
		format = strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))
	}
	var b bytes.Buffer
	if err := c.Report(ctx, run, format, &b); err != nil {
		return err
	}
	return sys.WriteFile(ctx, a.path(name), func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
}

func (a *cli) jobsCommand() *cobra.Command {
	var watch, cancel string
	var f runFlags
	cmd := &cobra.Command{
		Use: "jobs URL", Short: "List, follow and cancel your jobs on a server",
		Long: `List your jobs on a callvet server, the newest first. --watch follows one to its end and shows its run, as
callvet run --remote does; --cancel ends one. Log in first: callvet login URL.`,
		Example: "  callvet jobs https://eval.example.com\n  callvet jobs https://eval.example.com --watch job_x2v -o report.html",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.remoteClient(args[0])
			if err != nil {
				return err
			}
			switch {
			case watch != "" && cancel != "":
				return usagef("--watch and --cancel: write one of them")
			case len(f.outputs) > 0 && watch == "":
				return usagef("-o is for --watch JOB")
			case watch != "":
				return errors.Join(serverWrites(f.outputs), a.remoteEnd(cmd.Context(), c, watch, &f))
			case cancel != "":
				if err := c.Cancel(cmd.Context(), cancel); err != nil {
					return err
				}
				_, err = fmt.Fprintf(a.out, "asked job %s to end\n", cancel)
				return err
			}
			list, err := c.Jobs(cmd.Context())
			if err != nil {
				return err
			}
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(map[string]any{"jobs": list})
			}
			for i := range list {
				j := &list[i]
				fmt.Fprintf(a.out, "%-32s %-11s %7s  run %s  %s  %s\n", plain.Line(j.ID), plain.Line(j.State),
					fmt.Sprintf("%d/%d", j.Done, j.Total), plain.Line(j.Run),
					j.Created.Local().Format("2006-01-02 15:04"), plain.Line(j.Error))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&watch, "watch", "", "job to follow to its end")
	cmd.Flags().StringVar(&cancel, "cancel", "", "job to end")
	cmd.Flags().StringArrayVarP(&f.outputs, "output", "o", nil, "with --watch: also write a report; may be repeated")
	return cmd
}
