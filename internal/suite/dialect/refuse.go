// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet"
)

// Refusal describes in one sentence what a file of no known dialect looks like and what to do with
// it. It is nil when Detect knows the file.
func Refusal(data []byte, path string) error {
	if what, hint := notText(data); what != "" {
		return refuse(path, what, hint)
	}
	src, err := Open(data, path)
	if err != nil {
		return err
	}
	if detect(src) != "" {
		return nil
	}
	what, hint := looksLike(src)
	return refuse(path, what, hint)
}

func refuse(path, what, hint string) error {
	return &callvet.Hinted{Err: fmt.Errorf("read suite: %w: %s %s", callvet.ErrInvalid, Name(path), what), Hint: hint}
}

// notText recognizes what is neither JSON nor YAML by its first bytes.
func notText(data []byte) (what, hint string) {
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return "is a ZIP archive (an Inspect log has this form, too)",
			"unpack it first; a log is scored as a trace, it is not a suite"
	case bytes.HasPrefix(data, []byte("SQLite format 3")):
		return "is a database", "export the cases as JSON first"
	case FirstByte(data) == '<':
		return "is XML or HTML: a report, not a suite", "load the suite that the report was made from"
	case bytes.HasPrefix(data, []byte("# ")) && bytes.Contains(data, []byte("\n## ")) ||
		bytes.Contains(data, []byte("\n```")):
		return "is a Markdown document", "put the suite into a .json or .yaml file of its own"
	}
	return "", ""
}

// family is a kind of file that is not a suite of a known dialect. It is recognized by keys in the
// document, or in the first element of its list.
type family struct {
	keys       []string // all of them; "a.b" looks inside, "[]" first element of a list
	what, hint string
}

func families() []family { return append(answersAndTraces(), otherSuites()...) }

func answersAndTraces() []family {
	const trace = "score it as a trace file instead of loading it as a suite"
	return []family{
		{
			[]string{"question", "function"},
			"is a BFCL question file",
			"load it with its possible_answer file through the BFCL importer",
		},
		{
			[]string{"name", "parameters", "response"},
			"is a BFCL function document",
			"the BFCL importer reads it with the questions",
		},
		{
			[]string{"id", "ground_truth"},
			"is a BFCL answer file",
			"load the question file; the answers are looked up next to it",
		},
		{
			[]string{"question", "initial_config"},
			"is a BFCL multi-turn question file",
			"load it with its possible_answer file through the BFCL importer",
		},
		{[]string{"accuracy", "total_count"}, "is a BFCL score file", "it holds verdicts, not cases"},
		{[]string{"jsonrpc", "result.tools"}, "is an MCP tool list", "use it as the tools of a suite; it has no cases"},
		{[]string{"jsonrpc"}, "is one MCP message", "it is neither tools nor cases"},
		{[]string{"id", "result"}, "is a file of recorded outputs", "use it as a target: recorded:FILE"},
		{[]string{"resourceSpans"}, "is an OTLP trace export", trace},
		{[]string{"batches"}, "is a Tempo trace export", trace},
		{[]string{"data.[].traceID"}, "is a Jaeger trace export", trace},
		{[]string{"trace.observations"}, "is a Langfuse trace export", trace},
		{[]string{"trace", "observations"}, "is a Langfuse trace export", trace},
		{[]string{"spans"}, "is a list of spans: a trace, not a suite", trace},
		{[]string{"span_id"}, "is a list of spans: a trace, not a suite", trace},
		{[]string{"spanId"}, "is a list of spans: a trace, not a suite", trace},
		{[]string{"context.span_id"}, "is a list of spans: a trace, not a suite", trace},
		{[]string{"attributes", "name"}, "is a list of spans or events: a trace, not a suite", trace},
		{[]string{"trace_id", "run_type"}, "is a LangSmith run export: a trace, not a suite", trace},
		{[]string{"task_id", "call_id"}, "is a trace file of tool calls, not a suite", trace},
		{[]string{"schema_version", "steps"}, "is an agent trajectory, not a suite", trace},
		{[]string{"trajectory"}, "is a recorded trajectory, not a suite", trace},
		{[]string{"traj"}, "is a recorded trajectory, not a suite", trace},
		{[]string{"choices", "object"}, "is one chat completion response", "use it as recorded output: recorded:FILE"},
		{[]string{"output", "object"}, "is one Responses API response", "use it as recorded output: recorded:FILE"},
		{
			[]string{"content", "stop_reason"},
			"is one Anthropic Messages response",
			"use it as recorded output: recorded:FILE",
		},
		{[]string{"mcpServers"}, "is an MCP server configuration", "list the server's tools and import those"},
		{[]string{"tools.[].inputSchema"}, "is an MCP tool list", "use it as the tools of a suite; it has no cases"},
		{[]string{"result.tools"}, "is an MCP tool list", "use it as the tools of a suite; it has no cases"},
		{[]string{"inputSchema"}, "is one MCP tool", "use it in the tools of a suite"},
		{[]string{"toolUseId"}, "is one MCP message part", "it is neither tools nor cases"},
		{[]string{"type", "input", "name"}, "is one tool-use message part", "it is neither tools nor cases"},
		{[]string{"content", "isError"}, "is one MCP tool result", "it is neither tools nor cases"},
		{[]string{"structuredContent"}, "is one MCP tool result", "it is neither tools nor cases"},
		{[]string{"runs", "$schema", "version"}, "is a SARIF report", "it holds findings, not cases"},
		{[]string{"$defs"}, "is a JSON Schema", "it describes data, it is not a suite"},
	}
}

func otherSuites() []family {
	const (
		trace   = "score it as a trace file instead of loading it as a suite"
		fixture = "give it together with a suite, it is not one"
		convert = "write the cases as a callvet suite; there is no importer for this format yet"
	)
	return []family{
		{[]string{"trajectory", "assert"}, "is an mcp-assert test", convert},
		{[]string{"trajectory", "server"}, "is an mcp-assert test", convert},
		{[]string{"server", "assert"}, "is an mcp-assert test", convert},
		{[]string{"pack", "challenges"}, "is an AgentClash challenge pack", convert},
		{[]string{"kind", "metadata", "config"}, "is an mcpchecker evaluation", convert},
		{[]string{"kind", "metadata", "steps"}, "is an mcpchecker task", convert},
		{[]string{"inputs", "expected", "id"}, "is a Waza task", convert},
		{[]string{"skill", "metrics"}, "is a Waza evaluation", convert},
		{[]string{"name", "turns", "thresholds"}, "is an EvalView test", convert},
		{[]string{"eval_set_id", "eval_cases"}, "is an ADK evaluation set", convert},
		{[]string{"evalSetId", "evalCases"}, "is a tRPC-Agent evaluation set", convert},
		{[]string{"evalSetId"}, "is a tRPC-Agent evaluation result", "it holds results, not cases"},
		{[]string{"metricName", "threshold"}, "is a list of metrics, not a suite", convert},
		{[]string{"query", "expected_tool_use"}, "is an ADK test file", convert},
		{[]string{"criteria"}, "is an evaluation configuration without cases", fixture},
		{[]string{"reference_outputs", "outputs"}, "is an agentevals trajectory pair", convert},
		{[]string{"reference_trajectory"}, "is a Vertex AI evaluation row", convert},
		{[]string{"reference_tool_calls"}, "is a Ragas multi-turn sample", convert},
		{[]string{"inputs", "expectations"}, "is an MLflow evaluation row", convert},
		{[]string{"expected_output", "input"}, "is a DeepEval golden list", convert},
		{[]string{"scenario", "turns"}, "is a DeepEval conversation list", convert},
		{[]string{"scenario", "expected_outcome"}, "is a DeepEval conversation list", convert},
		{[]string{"testRunData"}, "is a DeepEval test run", "it holds results, not cases"},
		{[]string{"testCases", "metricsScores"}, "is a DeepEval test run", "it holds results, not cases"},
		{[]string{"evaluation_criteria"}, "is a tau2-bench task list", convert},
		{[]string{"info.environment_info", "tasks"}, "is a tau2-bench result file", "it holds results, not cases"},
		{[]string{"simulations"}, "is a tau2-bench result file", "it holds results, not cases"},
		{[]string{"task_id", "termination_reason"}, "is a tau2-bench simulation", trace},
		{[]string{"eval", "plan", "samples"}, "is an Inspect log", trace},
		{[]string{"version", "status", "eval"}, "is an Inspect log", trace},
		{[]string{"tools_approved", "messages"}, "is a docker-agent session", convert},
		{
			[]string{"results", "config"},
			"is a promptfoo result file",
			"load the promptfoo configuration instead; results can be scored with recorded:FILE",
		},
		{[]string{"eval_name", "cases"}, "is a suite of another tool", convert},
		{[]string{"scalingFormula"}, "is a scaling configuration for eval files", fixture},
		{
			[]string{"_comment", "entities"},
			"is a seed manifest: values for {{seed:…}} tokens",
			"give it with an eval file, it has no cases",
		},
		{[]string{"endpoints", "baseUrl"}, "is an API endpoint manifest", "it has no cases"},
		{[]string{"project", "evals"}, "is a project configuration", "load the eval files that it names"},
		{[]string{"groups", "origin"}, "is tool and agent metadata", "use it as a tool catalogue; it has no cases"},
		{[]string{"vectors"}, "is a list of numeric test vectors", "it has no cases"},
	}
}

func looksLike(s *Source) (what, hint string) {
	doc := s.Values[0]
	for _, f := range families() {
		for _, d := range []Node{doc, FirstOf(doc)} {
			if hasAll(d, f.keys) {
				return f.what, f.hint
			}
		}
	}
	if m := doc.Members(nil); len(m) > 0 {
		switch v := m[0].Val; {
		case FirstOf(v.Get("clusters")).Kind() == '[':
			return "is a tool overlap map", "give it together with eval files, it has no cases"
		case v.Has("metrics") && v.Has("id"):
			return "is an OpenAI Evals registry entry", "load the samples file that it names"
		case FirstOf(v).Has("role"), v.Has("input") || v.Has("output"):
			return "is a set of recorded conversations: a trace, not a suite",
				"score it as a trace file instead of loading it as a suite"
		}
	}
	return shape(s,
			doc),
		"a suite has tools and cases; `callvet schema suite` prints callvet's own format, `callvet convert --help` lists the formats"
}

// shape describes an unknown document by its first keys.
func shape(s *Source, doc Node) string {
	list := ""
	if doc.Kind() == '[' {
		doc, list = FirstOf(doc), "a list of "
	}
	var keys []string
	for _, m := range doc.Members(nil) {
		if keys = append(keys, m.Name); len(keys) == 6 {
			keys = append(keys, "…")
			break
		}
	}
	if len(keys) == 0 {
		return fmt.Sprintf("holds %s%s, which is no suite format", list, KindName(doc))
	}
	ext := strings.TrimPrefix(filepath.Ext(s.Path), ".")
	return fmt.Sprintf("holds %s%s with the keys %s, which is no suite format known here", list,
		strings.TrimSpace(strings.ToUpper(ext)+" object"), strings.Join(keys, ", "))
}

func hasAll(n Node, keys []string) bool {
	for _, k := range keys {
		at := n
		for _, part := range strings.Split(k, ".") {
			if part == "[]" {
				at = FirstOf(at)
			} else {
				at = at.Get(part)
			}
		}
		if at.Absent() {
			return false
		}
	}
	return true
}
