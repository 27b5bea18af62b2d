// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet/internal/server"
)

// onServer is the request of the API for the work of a command.
type onServer struct {
	// operations take the fields; a field is in one of them at least.
	operations []string
	// fields are those of flags: names in the body or in the query, with dots for what is inside.
	fields map[string]string
	// only are flags of the command line alone, with the reason.
	only map[string]string
}

// Reasons why a flag has no field.
const (
	shows      = "a client decides what it shows and where it writes it"
	files      = "files and commands of the machine: a server takes texts, and runs no command of a user"
	suiteHas   = "the suite that the server keeps has it"
	goesOn     = "a job goes on by itself; POST /api/jobs/{id}/resume continues one that failed"
	gatesSay   = "POST /api/runs/{id}/gate decides"
	thisServer = "it names the server"
	ofServices = "it is about services that search (--via), which are asked from the command line"
)

func serverCommands() map[string]onServer {
	models := map[string]string{
		"model": "targets", "base-url": "targets.base_url",
		"api-key-env": "targets.api_key_env",
	}
	with := func(more map[string]string) map[string]string {
		for k, v := range models {
			more[k] = v
		}
		return more
	}
	params := "provider_params"
	tuneFields := func(more map[string]string) map[string]string {
		maps.Copy(more, map[string]string{
			"temperature": "temperature", "top-p": params, "max-tokens": params, "reasoning-effort": params,
			"parallel-calls": params, "set": params, "tool-choice": "tool_choice", "system": "system_prompt",
			"replace-system": "replace_system", "holdout": "holdout", "margin": "margin", "metric": "metric",
			"repeat": "repeats", "seed": "seed", "sample": "sample", "filter": "filter", "keep": "keep",
			"max-cost": "max_cost_usd", "max-calls": "max_calls", "max-time": "max_seconds", "concurrency": "concurrency",
			"rate": "rate", "retries": "retries", "timeout": "request_timeout_ms", "stream": "stream",
			"no-cache": "no_cache", "no-race": "no_race", "real-latency": "real_latency", "embedder": "embedder",
		})
		return with(more)
	}
	tuneOnly := func(more map[string]string) map[string]string {
		maps.Copy(more, map[string]string{
			"quiet": shows, "dry-run": "the route estimate", "no-lint": "a suite is linted when it is kept",
			"from": suiteHas, "tools": suiteHas, "mocks": suiteHas, "seeds": suiteHas, "snapshots": suiteHas,
			"faults": suiteHas, "programs": files, "allow-exec": files, "exec-env": files, "targets": files,
			"guard": files, "world": files, "live": files, "recordings": files, "on-miss": files, "prices": files,
			"agent": "agents are asked from the command line", "header": "headers name variables of the machine",
		})
		return more
	}
	return map[string]onServer{
		"run": {
			operations: []string{"tool-eval"},
			fields: with(map[string]string{
				"temperature": "temperature", "top-p": params, "max-tokens": params, "reasoning-effort": params,
				"parallel-calls": params, "set": params, "tool-choice": "tool_choice",
				"system": "system_prompt", "system-for": "system_prompt", "replace-system": "replace_system",
				"experiment": "experiment_id", "name": "name", "notes": "notes", "run-tag": "run_tags",
				"repeat": "repeats", "seed": "seed", "sample": "sample", "filter": "filter",
				"failed-from": "failed_from", "slice": "slices", "keep": "keep", "max-cost": "max_cost_usd",
				"max-calls":   "max_calls",
				"concurrency": "concurrency", "interleave": "interleave", "rate": "rate", "retries": "retries",
				"timeout": "request_timeout_ms", "stream": "stream", "no-cache": "no_cache",
				"force-rubric":  "force_rubric",
				"until-decided": "until_decided", "gates": "gates", "baseline": "baseline_eval_id",
				"target-version": "target_version",
				"real-latency":   "real_latency", "embedder": "embedder", "judge": "judge.judge",
				"judge-model": "judge.judge_model", "judge-base-url": "judge.judge_base_url",
				"judge-live": "judge.judge_live", "judge-under": "judge.judge_under",
			}),
			only: map[string]string{
				"output": shows, "quiet": shows, "show-failures": shows, "remote": thisServer, "resume": goesOn,
				"no-wait": goesOn, "keep-errors": goesOn,
				"fail-under": gatesSay, "require-pass": gatesSay,
				"ledger":  "the server keeps the looks at gates",
				"dry-run": "POST /api/tool-eval/estimate", "no-lint": "a suite is linted when it is kept",
				"from": suiteHas, "tools": suiteHas, "mocks": suiteHas, "seeds": suiteHas, "snapshots": suiteHas,
				"faults": suiteHas, "programs": files, "allow-exec": files, "exec-env": files, "targets": files,
				"guard": files,
				"world": files, "live": files, "recordings": files, "on-miss": files, "record": files, "prices": files,
				"agent": "agents are asked from the command line", "header": "headers name variables of the machine",
			},
		},
		"gate": {
			operations: []string{"gate-run", "gate-traces"},
			fields: map[string]string{
				"gates": "gates", "baseline": "baseline_eval_id", "policy": "policy", "judge": "judge",
				"labels": "labels", "calibration": "calibrations", "safety": "safety", "scoring": "scoring",
				"suite": "suite_id", "tools": "tools",
			},
			only: map[string]string{
				"output": shows, "annotations": shows, "remote": thisServer, "allow-exec": files,
				"ledger": "the server keeps the looks at gates",
			},
		},
		"diff": {
			operations: []string{"diff-runs"},
			fields: map[string]string{
				"base-target": "base_target", "candidate-target": "candidate_target", "model": "target",
				"metrics": "metrics", "slice": "slices", "unchanged": "unchanged", "unpaired": "unpaired",
				"population": "population",
			},
			only: map[string]string{
				"fail-on": shows,
				"judge":   "of trace files, which are compared by a gate with a baseline",
			},
		},
		"judge run": {
			operations: []string{"judge-run"},
			fields: with(map[string]string{
				"judge": "judge", "prompt": "prompt", "schema": "schema", "unit": "unit", "show-gold": "show_gold",
				"max-evidence": "max_evidence", "threshold": "threshold", "under": "under", "samples": "samples",
				"against": "against_eval_id",
				"again":   "again", "max-cost": "max_cost_usd", "max-calls": "max_calls", "concurrency": "concurrency",
				"rate": "rate", "timeout": "request_timeout_ms", "no-cache": "no_cache",
				"temperature": "temperature", "top-p": params, "max-tokens": params, "reasoning-effort": params,
				"set": params, "stream": "stream", "retries": "retries",
			}),
			only: map[string]string{
				"target-version": "a judge has the version of its prompt",
				"output":         shows, "quiet": shows, "tools": "a run has its tools",
				"keep": "redaction on a server is that of the run", "prices": files, "exec-env": files,
				"agent": "agents are asked from the command line", "header": "headers name variables of the machine",
			},
		},
		"tune params": {
			operations: []string{"param-tune"},
			fields:     tuneFields(map[string]string{"preset": "preset", "mode": "optimization_mode", "trials": "n_trials"}),
			only:       tuneOnly(map[string]string{"space": "search_space and per_model_search_spaces hold what the file holds"}),
		},
		"tune prompt": {
			operations: []string{"prompt-tune"},
			fields: tuneFields(map[string]string{
				"meta": "meta_model", "meta-base-url": "meta_target.base_url", "mode": "optimization_mode",
				"population": "config.population", "generations": "config.generations", "selection": "config.selection_ratio",
			}),
			only: tuneOnly(map[string]string{}),
		},
		"select tune": {
			operations: []string{"select-tune"},
			fields: map[string]string{
				"tools": "catalogue_id", "k": "limit", "preset": "preset", "embed": "embed", "goal": "goal",
				"holdout": "holdout", "folds": "folds", "seed": "seed", "rounds": "rounds",
			},
			only: map[string]string{"output": shows},
		},
		"select decisions": {
			operations: []string{"compare-decisions"},
			fields: map[string]string{
				"tools": "catalogue_id", "k": "limit", "preset": "preset", "abstain": "abstain",
				"abstain-route": "abstain_routes", "agent-gate": "agent_gate", "agents": "agents", "embed": "embed",
				"rerank": "rerank",
				"fusion": "fusion", "primary": "primary", "fallback": "fallback", "threshold": "threshold",
				"weights": "weights", "run": "eval_id", "run-target": "run_target", "show": "max_pairs",
			},
			only: map[string]string{"abstain-on": files, "routes": files},
		},
		"select": {
			operations: []string{"select-run", "select-one"},
			fields: map[string]string{
				"tools": "catalogue_id", "k": "limit", "preset": "preset", "no-lint": "no_lint", "abstain": "abstain",
				"abstain-route": "abstain_routes", "agent-gate": "agent_gate", "agents": "agents", "embed": "embed",
				"rerank": "rerank",
				"fusion": "fusion", "primary": "primary", "fallback": "fallback", "threshold": "threshold",
				"filter": "filter", "name": "name", "notes": "notes", "run-tag": "run_tags", "weights": "weights",
			},
			only: map[string]string{
				"output": shows, "quiet": shows, "show-failures": shows, "slice": shows, "fail-under": gatesSay,
				"via": "a service is asked from the command line", "header": "headers name variables of the machine",
				"concurrency": ofServices, "timeout": ofServices, "retries": ofServices,
				"repeat":     "a catalogue gives the same every time",
				"abstain-on": files, "routes": files,
				"failed-from": "GET /api/v1/admin/tool-eval/runs/{id}/failed gives the failed questions as a suite",
			},
		},
	}
}

// TestFlagsAreInTheAPI: every flag of the commands that evaluate is a field of a request of the
// server, or only of the command line, for a reason in this file.
func TestFlagsAreInTheAPI(t *testing.T) {
	t.Parallel()
	api := describedAPI(t)
	root := new(cli).rootCommand()
	for verb, s := range serverCommands() {
		cmd, _, err := root.Find(strings.Fields(verb))
		if err != nil {
			t.Fatal(err)
		}
		flags := cmd.LocalNonPersistentFlags()
		flags.VisitAll(func(f *pflag.Flag) {
			field, there := s.fields[f.Name]
			reason, alone := s.only[f.Name]
			switch {
			case f.Hidden || f.Name == "help":
			case there == alone:
				t.Errorf("%s: --%s: write which field of %v it is, or why the command line alone has it", verb, f.Name,
					s.operations)
			case alone && reason == "":
				t.Errorf("%s: --%s: no reason", verb, f.Name)
			case there && !api.takes(s.operations, field):
				t.Errorf("%s: --%s: no request of %v has %s", verb, f.Name, s.operations, field)
			}
		})
		for _, list := range []map[string]string{s.fields, s.only} {
			for name := range list {
				if flags.Lookup(name) == nil {
					t.Errorf("%s has no flag --%s", verb, name)
				}
			}
		}
	}
	if api.takes([]string{"tool-eval"}, "targets.no_such_field") || api.takes([]string{"diff-runs"}, "no_such_field") {
		t.Error("a field that is not there is found")
	}
}

// described is the description of the API, as far as requests go.
type described struct {
	Paths map[string]map[string]struct {
		OperationID string `json:"operationId"`
		Parameters  []struct{ Name string }
		RequestBody struct {
			Content map[string]struct{ Schema schemaPart }
		}
	}
	Components struct{ Schemas map[string]schemaPart }
}

type schemaPart struct {
	Ref        string `json:"$ref"`
	Properties map[string]schemaPart
	Items      *schemaPart
}

func describedAPI(t *testing.T) *described {
	t.Helper()
	b, err := server.Description("test")
	if err != nil {
		t.Fatal(err)
	}
	d := new(described)
	if err := json.Unmarshal(b, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// takes reports whether a request of one of the operations has a field.
func (d *described) takes(operations []string, field string) bool {
	for _, methods := range d.Paths {
		for _, op := range methods {
			for _, id := range operations {
				if op.OperationID != id {
					continue
				}
				for _, p := range op.Parameters {
					if p.Name == field {
						return true
					}
				}
				for _, c := range op.RequestBody.Content {
					if d.has(c.Schema, strings.Split(field, ".")) {
						return true
					}
				}
			}
		}
	}
	return false
}

func (d *described) has(s schemaPart, field []string) bool {
	for s.Ref != "" || s.Items != nil {
		if s.Items != nil {
			s = *s.Items
			continue
		}
		s = d.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	if len(field) == 0 {
		return true
	}
	next, ok := s.Properties[field[0]]
	return ok && d.has(next, field[1:])
}

// TestRemoteFlags: run --remote sends every flag that the API of a server has a field for.
func TestRemoteFlags(t *testing.T) {
	t.Parallel()
	for flag := range serverCommands()["run"].fields {
		if !slices.Contains(remoteFlags(), flag) {
			t.Errorf("callvet run --%s has a field in the API, and --remote refuses it", flag)
		}
	}
}

// TestRemoteTemperature: a server has no word for the provider's own temperature.
func TestRemoteTemperature(t *testing.T) {
	t.Parallel()
	a := &cli{getenv: func(string) string { return "" }}
	var f runFlags
	fs := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.register(fs)
	if err := fs.Parse([]string{"-m", "openai/m", "--temperature", "none"}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.remoteRequest(&f, fs.Changed); err == nil || !strings.Contains(err.Error(), "--temperature none") {
		t.Errorf("it became %v", err)
	}
}

// TestRemoteRequest: the flags of run are in the request to a server.
func TestRemoteRequest(t *testing.T) {
	t.Parallel()
	a := &cli{getenv: func(string) string { return "" }}
	var f runFlags
	fs := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.register(fs)
	if err := fs.Parse([]string{
		"-m", "openai/m", "-m", "retrieve:catalogue_a?k=2", "--top-p", "0.5", "--set", "top_k=40",
		"--parallel-calls=false", "--system", "All.", "--system-for", "openai/m=Mine.", "--replace-system",
		"--retries", "0", "--interleave", "--stream", "--failed-from", "r1", "--slice", "tag", "--keep", "email",
		"--embedder", "openai/e", "--judge", "task", "--judge-model", "openai/j", "--judge-under", "0.5", "--seed", "7",
		"--until-decided", "--baseline", "r2", "--target-version", "v1",
	}); err != nil {
		t.Fatal(err)
	}
	req, err := a.remoteRequest(&f, fs.Changed)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"suite_id":"","models":["retrieve:catalogue_a?k=2"],"targets":[{"provider_key":"openai","model_id":"m"}],"provider_params":{"parallel_calls":false,"top_k":40,"top_p":0.5},` +
		`"system_prompt":{"_global":"All.","openai::m":"Mine."},"replace_system":true,"repeats":1,"seed":7,"retries":0,"stream":true,"keep":["email"],"embedder":"openai/e",` +
		`"interleave":true,"failed_from":"r1","slices":["tag"],"judge":{"judge":["task"],"judge_model":["openai/j"],"judge_under":0.5},"until_decided":true,"baseline_eval_id":"r2","target_version":"v1"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
