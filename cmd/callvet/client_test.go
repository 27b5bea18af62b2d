// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/cases"
	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/report/console"
)

// spoken describes the flags and arguments of a verb for the fields of its requests.
type spoken struct {
	requests []reflect.Type
	// args are the fields that come from arguments or from several flags, or that the verb leaves
	// unchanged.
	args []string
	// parts are the flags for a part of a field, with that field.
	parts map[string]string
	// client are the flags for how the client shows the result, or where it writes it.
	client []string
}

func of[T any]() reflect.Type { return reflect.TypeFor[T]() }

// spokenVerbs are the verbs that have a request.
func spokenVerbs() map[string]spoken {
	resume := map[string]string{"resume": "run"} // of a ResumeRequest
	retriever := []string{
		"threshold", "abstain", "abstain_percent", "abstain_routes", "fusion", "primary", "fallback",
		"agent_gate", "agents", "routes", "retrieval",
	}
	session := []string{
		"max_calls", "interleave", "rate", "keep_errors", "require_pass", "fail_under", "gates",
		"force_rubric", "slices", "no_wait", "targets",
	}
	return map[string]spoken{
		"run": {
			requests: []reflect.Type{of[app.RunRequest](), of[runs.ResumeRequest]()},
			args:     []string{"suite", "run", "shared", "origin", "selection", "judges"}, parts: resume,
			client: []string{"output", "quiet", "show-failures", "dry-run", "remote", "experiment"},
		},
		"backup":        {requests: []reflect.Type{of[app.BackupRequest]()}, args: []string{"file", "force"}},
		"restore":       {requests: []reflect.Type{of[app.BackupRequest]()}, args: []string{"file"}},
		"fixtures make": {requests: []reflect.Type{of[runs.FixturesRequest]()}, args: []string{"from"}},
		"replay": {
			requests: []reflect.Type{of[runs.ReplayRequest]()},
			args:     []string{"run", "origin", "interleave", "keep_errors", "force_rubric", "gates"},
			parts:    map[string]string{},
			client:   []string{"output", "quiet", "show-failures"},
		},
		"drill": {
			requests: []reflect.Type{of[runs.DrillRequest](), of[runs.ResumeRequest]()},
			args:     []string{"suite", "run", "shared", "origin", "selection", "judges"}, parts: resume,
			client: []string{"output", "quiet", "show-failures"},
		},
		"select": {
			requests: []reflect.Type{of[catalogs.SelectRequest]()}, args: []string{"run", "retrieval"},
			client: []string{"output", "quiet", "show-failures"},
		},
		"select query": {
			requests: []reflect.Type{of[catalogs.QueryRequest]()}, args: []string{"text", "retrieval"},
			parts: map[string]string{
				"acceptable": "expect", "expect-route": "expect", "expect-sub-route": "expect",
				"expect-agents": "expect",
			},
		},
		"select decisions": {
			requests: []reflect.Type{of[catalogs.DecisionsRequest]()},
			args:     slices.Concat([]string{"production", "via", "retrieval"}, retriever), client: []string{"show"},
		},
		"select sweep": {
			requests: []reflect.Type{of[catalogs.SweepRequest](), of[runs.ResumeRequest]()},
			args:     slices.Concat([]string{"suite", "run"}, retriever, session),
			parts:    resume, client: []string{"output", "quiet"},
		},
		"select tune": {
			requests: []reflect.Type{of[catalogs.TuneRequest]()},
			args:     slices.Concat([]string{"suite", "rerank"}, retriever),
		},
		"select routes learn": {requests: []reflect.Type{of[catalogs.LearnRequest]()}, args: []string{"examples"}},
		"tools lint":          {requests: []reflect.Type{of[catalogs.LintToolsRequest]()}, args: []string{"tools"}},
		"tools confusable":    {requests: []reflect.Type{of[catalogs.ConfusableRequest]()}, args: []string{"tools"}},
		"tools whatif": {
			requests: []reflect.Type{of[catalogs.WhatIfRequest]()},
			args:     []string{"tools", "via", "run", "retrieval"},
		},
		"tools suggest": {
			requests: []reflect.Type{of[catalogs.SuggestRequest]()},
			args:     []string{"tools", "via", "run", "retrieval"}, client: []string{"dry-run"},
		},
		"tools apply": {requests: []reflect.Type{of[catalogs.ApplyRequest]()}, args: []string{"tools"}},
		"tools cache": {
			requests: []reflect.Type{of[catalogs.VectorsRequest]()},
			args:     []string{"models", "drop"},
		},
		"tools cache clear": {
			requests: []reflect.Type{of[catalogs.VectorsRequest]()},
			args:     []string{"models", "drop"},
		},
		"score": {
			requests: []reflect.Type{of[traces.ScoreRequest]()}, args: []string{"run", "traces"},
			client: []string{"all"},
		},
		"diff": {requests: []reflect.Type{of[traces.DiffRequest]()}, args: []string{"base", "candidate"}},
		"report": {
			requests: []reflect.Type{of[results.ViewRequest](), of[app.EvalSuiteRequest]()},
			args:     []string{"run"}, client: []string{"all", "output", "format", "remote"},
		},
		"show": {
			requests: []reflect.Type{of[results.ViewRequest](), of[results.CaseRequest]()},
			args:     []string{"run", "case", "slices", "baseline"}, client: []string{"all", "full", "scores"},
		},
		"gate": {
			requests: []reflect.Type{of[traces.GateRequest]()}, args: []string{"run", "traces"},
			client: []string{"output", "annotations", "remote"},
		},
		"calibrate": {requests: []reflect.Type{of[results.CalibrateRequest]()}, args: []string{"labels"}},
		"judge audit": {
			requests: []reflect.Type{of[runs.JudgeAuditRequest]()},
			args: []string{
				"run", "traces", "interleave", "keep_errors", "require_pass", "fail_under", "gates",
				"force_rubric", "output", "tools",
			}, client: []string{"quiet"},
		},
		"judge run": {
			requests: []reflect.Type{of[app.JudgeRequest]()},
			args: []string{
				"run", "traces", "interleave", "keep_errors", "require_pass", "fail_under", "gates",
				"force_rubric",
			}, client: []string{"quiet"},
		},
		"judge list": {requests: []reflect.Type{of[runs.JudgeListRequest]()}, args: []string{"run", "traces"}},
		"judge show": {
			requests: []reflect.Type{of[runs.JudgeShowRequest]()},
			args:     []string{"run", "traces", "judging"},
		},
		"label next": {
			requests: []reflect.Type{of[runs.LabelNextRequest]()}, args: []string{"run", "traces"},
			client: []string{"output"},
		},
		"label import": {requests: []reflect.Type{of[runs.LabelImportRequest]()}, args: []string{"file"}},
		"label gold":   {requests: []reflect.Type{of[cases.GoldDrawRequest]()}, args: []string{"run", "traces"}},
		"label apply": {
			requests: []reflect.Type{of[cases.GoldApplyRequest]()},
			args:     []string{"file", "run", "traces"},
		},
		"label export": {
			requests: []reflect.Type{of[runs.LabelExportRequest]()}, args: []string{"labels"},
			client: []string{"output"},
		},
		"label stamp": {
			requests: []reflect.Type{of[runs.LabelStampRequest]()},
			args:     []string{"run", "traces", "labels"},
		},
		"plan":     {requests: []reflect.Type{of[traces.PlanRequest]()}},
		"variance": {requests: []reflect.Type{of[traces.VarianceRequest]()}, args: []string{"runs"}},
		"lint": {
			requests: []reflect.Type{of[app.LintRequest]()}, args: []string{"suite"},
			client: []string{"strict"},
		},
		"case coverage":     {requests: []reflect.Type{of[catalogs.CoverageRequest]()}, args: []string{"suites"}},
		"case from-failure": {requests: []reflect.Type{of[cases.FromFailureRequest]()}, args: []string{"run", "case"}},
		"case from-trace":   {requests: []reflect.Type{of[cases.FromTraceRequest]()}, args: []string{"traces", "task"}},
		"case new":          {requests: []reflect.Type{of[cases.NewCaseRequest]()}},
		"stale": {
			requests: []reflect.Type{of[results.StaleRequest]()}, args: []string{"suite", "run"},
			client: []string{"strict"},
		},
		"case lock":          {requests: []reflect.Type{of[cases.LockRequest]()}, args: []string{"suite"}},
		"case add":           {requests: []reflect.Type{of[cases.AddCaseRequest]()}, args: []string{"file", "from"}},
		"case archive":       {requests: []reflect.Type{of[cases.ArchiveRequest]()}, args: []string{"file", "case"}},
		"convert":            {requests: []reflect.Type{of[app.ConvertRequest]()}, args: []string{"suite"}},
		"mcp import":         {requests: []reflect.Type{of[catalogs.ImportMCPRequest]()}, args: []string{"url"}},
		"prompt tool-caller": {requests: []reflect.Type{of[app.PromptRequest]()}, args: []string{"tools"}},
		"proxy model":        {requests: []reflect.Type{of[app.ModelProxyRequest]()}, client: []string{"listen"}},
		"serve": {client: []string{
			"listen", "url", "tls-cert", "tls-key", "trust-proxy", "allow-host",
			"secret-key", "sockets-per-user", "quota", "metrics-open", "log-format", "allow-private", "allow-files",
			"allow-exec", "lend-keys", "embedder", "embed", "rerank",
		}},
		"rekey": {client: []string{"secret-key", "new-secret-key"}},
		"view":  {client: []string{"listen"}},
		"login": {client: []string{"name", "plain-http"}},
		"jobs":  {client: []string{"watch", "cancel", "output"}},
		"tune params": {
			requests: []reflect.Type{of[tunes.Request]()},
			args: []string{
				"kind", "run", "space_content", "search_space", "per_model_search_spaces", "meta", "population", "generations",
				"selection_ratio", "suite_id", "experiment_id",
			},
			client: []string{"quiet", "dry-run"},
		},
		"tune prompt": {
			requests: []reflect.Type{of[tunes.Request]()},
			args: []string{
				"kind", "run", "space", "space_content", "preset", "search_space", "per_model_search_spaces", "n_trials", "suite_id",
				"experiment_id",
			},
			parts:  map[string]string{"meta-base-url": "meta"},
			client: []string{"quiet", "dry-run"},
		},
		"tune resume": {
			requests: []reflect.Type{of[tunes.ResumeRequest]()}, args: []string{"tune"}, client: []string{"quiet"},
		},
		"tune apply":    {requests: []reflect.Type{of[tunes.ApplyRequest]()}, args: []string{"tune"}},
		"prompt list":   {client: []string{"limit"}},
		"prompt show":   {},
		"prompt delete": {},
		"prompt add": {
			requests: []reflect.Type{of[tunes.KeepPromptRequest]()}, args: []string{"text", "parent", "shared"},
			client: []string{"search", "model", "candidate"}, // of a tunes.KeepFoundRequest
		},
		"tune show":           {},
		"tune list":           {},
		"tune delete":         {},
		"tune presets add":    {},
		"tune presets delete": {},
		"mcp serve": {
			requests: []reflect.Type{of[catalogs.ServeMCPRequest]()}, args: []string{"suite"},
			client: []string{"http"},
		},
		"proxy mcp": {
			requests: []reflect.Type{of[catalogs.ProxyMCPRequest]()}, args: []string{"url"},
			client: []string{"http"},
		},
		"trace import": {
			requests: []reflect.Type{of[traces.ImportRequest]()}, args: []string{"traces"},
			client: []string{"output"},
		},
		"trace export": {
			requests: []reflect.Type{of[traces.ExportRequest]()}, args: []string{"run"},
			client: []string{"output"},
		},
		"trace check": {
			requests: []reflect.Type{of[app.CheckRequest]()}, args: []string{"traces"},
			client: []string{"all"},
		},
	}
}

// fieldsOf are the fields of a request by their names in JSON, with those of nested values.
func fieldsOf(t *testing.T, of reflect.Type, nested bool) (out []string) {
	t.Helper()
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil
	}
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			out = append(out, fieldsOf(t, f.Type, nested)...)
		case !f.IsExported():
		case name == "":
			t.Errorf("%s.%s has no name in JSON", of, f.Name)
		case name != "-":
			if out = append(out, name); nested {
				out = append(out, fieldsOf(t, f.Type, true)...)
			}
		}
	}
	return out
}

// TestFieldsAreFlags: every flag of a verb sets a field of its request, so that no client needs the
// command line for it. Every field has a flag or an argument of the verb, so that an error in it
// names an existing flag.
func TestFieldsAreFlags(t *testing.T) {
	t.Parallel()
	root, known := new(cli).rootCommand(), spokenVerbs()
	// a name, or nothing
	without := []string{"runs", "gates init", "schema", "init", "targets", "prices", "version", "doctor", "logout"}
	for _, verb := range verbs(root, nil) {
		s, ok := known[verb]
		if ok == slices.Contains(without, verb) {
			t.Errorf("%s: say in spokenVerbs what it asks for", verb)
		}
		if !ok {
			continue
		}
		delete(known, verb)
		cmd, _, err := root.Find(strings.Fields(verb))
		if err != nil {
			t.Fatal(err)
		}
		flags := cmd.LocalNonPersistentFlags()
		said := map[string]bool{} // by flags
		for _, of := range s.requests {
			for _, name := range fieldsOf(t, of, true) {
				if f := flagNamed(flags, console.FlagOf(name)); f != nil {
					said[f.Name] = true
				}
			}
			for _, name := range fieldsOf(t, of, false) {
				if !slices.Contains(s.args, name) && flagNamed(flags, console.FlagOf(name)) == nil {
					t.Errorf("%s: an error of field %s would name the flag %s, which %s does not have", of, name,
						console.FlagOf(name), verb)
				}
			}
		}
		flags.VisitAll(func(f *pflag.Flag) {
			client, part := slices.Contains(s.client, f.Name), s.parts[f.Name] != ""
			switch {
			case f.Hidden, f.Name == "help":
			case !said[f.Name] && !client && !part:
				t.Errorf("%s: --%s is no field of %v: what a person can ask for, any client can", verb,
					f.Name, s.requests)
			case client && said[f.Name]:
				t.Errorf("%s: --%s is a field: take it out of client", verb, f.Name)
			}
		})
		for _, name := range slices.Concat(s.client, slices.Collect(maps.Keys(s.parts))) {
			if flags.Lookup(name) == nil {
				t.Errorf("%s has no flag --%s", verb, name)
			}
		}
	}
	for verb := range known {
		t.Errorf("there is no verb %s", verb)
	}
}

// flagNamed finds a flag as flagOf writes it; nil if there is none.
func flagNamed(fs *pflag.FlagSet, flag string) *pflag.Flag {
	if long, ok := strings.CutPrefix(flag, "--"); ok {
		return fs.Lookup(long)
	}
	return fs.ShorthandLookup(strings.TrimPrefix(flag, "-"))
}
