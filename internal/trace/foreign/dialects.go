// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"strings"

	"github.com/callvet/callvet/value"
)

// The SDKs use different names for the same attributes. This file is the table of these names; the
// rest of the package uses meanings only. Package message reads the values.
//
//	gen_ai.*                  OpenTelemetry's conventions, AI SDK 7, Traceloop 0.27, Mastra
//	llm.*, tool.*, input.*    OpenInference
//	ai.*                      AI SDK 3 to 6
//	langfuse.observation.*    Langfuse 4 and 5
//	traceloop.*               OpenLLMetry
//	mastra.*, input, output   Mastra
//	gcp.vertex.agent.*        ADK
//	span_data.*               OpenAI Agents, its own export (made by this package)

// meaning is the meaning of an attribute.
type meaning int

const (
	topic meaning = iota // the kind of work of the span; see works
	toolName
	callID
	arguments   // of a tool's span
	spanInput   // the input of any span: arguments, messages or a text
	result      // of a tool's span
	spanOutput  // the output of any span
	failure     // why it failed
	spanRequest // the messages to a model
	spanAnswer  // the messages of a model
	answerText
	answerCalls
	finishReason
	system
	definitions
	modelName
	target
	spanSession
	usageOf // an object with all counts
	inputTokens
	outputTokens
	reasoningTokens
	cachedTokens
	writtenTokens
	cost
)

// names are the names of the attributes with a meaning, the most reliable first.
func (m meaning) names() []string {
	switch m {
	case topic:
		return []string{
			"gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind",
			"langfuse.observation.type", "mastra.span.type", "ai.operationId", "span_data.type",
		}
	case toolName:
		return append(toolNameKeys(), "traceloop.entity.name", "span_data.name")
	case callID:
		return toolCallIDKeys()
	case arguments:
		return []string{
			"gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "ai.toolCall.args",
			"ai.toolCall.input", "tool_call.function.arguments", "tool_arguments", "span_data.input",
		}
	case spanInput:
		return []string{
			"langfuse.observation.input", "gen_ai.tool.input", "input.value", "tool.parameters",
			"traceloop.entity.input", "ai.prompt", "span_data.input", "span_data._input", "input",
		}
	case result:
		return []string{
			"gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "ai.toolCall.result",
			"ai.toolCall.output", "tool_response",
		}
	case spanOutput:
		return []string{
			"langfuse.observation.output", "gen_ai.tool.output", "output.value", "traceloop.entity.output",
			"span_data.output", "span_data.response", "span_data._response", "output",
		}
	case failure:
		return []string{"langfuse.observation.status_message", "error.message", "exception.message"}
	case spanRequest:
		return []string{"gen_ai.input.messages", "ai.prompt.messages"}
	case spanAnswer:
		return []string{"gen_ai.output.messages"}
	case answerText:
		return []string{"ai.response.text", "ai.response.object", "ai.result.text", "ai.result.object"}
	case answerCalls:
		return []string{"ai.response.toolCalls", "ai.result.toolCalls"}
	case finishReason:
		return []string{
			"gen_ai.response.finish_reasons", "ai.response.finishReason", "ai.finishReason", "llm.finish_reason",
			"gen_ai.completion.0.finish_reason",
			"llm.output_messages.0.message.finish_reason",
		}
	case system:
		return []string{"gen_ai.system_instructions"}
	case definitions:
		return []string{"gen_ai.tool.definitions", "model_request_parameters", "ai.prompt.tools"}
	case modelName:
		return []string{
			"gen_ai.response.model", "ai.response.model", "gen_ai.request.model", "llm.model_name",
			"langfuse.observation.model.name", "ai.model.id", "span_data.model",
		}
	case target:
		return []string{"gen_ai.agent.name", "ai.telemetry.functionId", "agent.id", "workflow_name"}
	case spanSession:
		return []string{
			"gen_ai.conversation.id", "session.id", "gcp.vertex.agent.session_id",
			"ai.telemetry.metadata.sessionId", "langfuse.session.id", "group_id",
		}
	case usageOf:
		return []string{"langfuse.observation.usage_details", "span_data.usage"}
	}
	return counts(m)
}

func counts(m meaning) []string {
	switch m {
	case inputTokens:
		return []string{
			"gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt",
			"llm.usage.prompt_tokens", "ai.usage.inputTokens", "ai.usage.promptTokens",
		}
	case outputTokens:
		return []string{
			"gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
			"llm.usage.completion_tokens", "ai.usage.outputTokens", "ai.usage.completionTokens",
		}
	case reasoningTokens:
		return []string{
			"gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens",
			"llm.token_count.completion_details.reasoning", "ai.usage.outputTokenDetails.reasoningTokens",
			"ai.usage.reasoningTokens",
		}
	case cachedTokens:
		return []string{
			"gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
			"gen_ai.usage.cached_input_tokens", "llm.token_count.prompt_details.cache_read",
			"ai.usage.inputTokenDetails.cacheReadTokens", "ai.usage.cachedInputTokens",
		}
	case writtenTokens:
		return []string{
			"gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens",
			"gen_ai.usage.cache_write.input_tokens",
			"llm.token_count.prompt_details.cache_write",
			"ai.usage.inputTokenDetails.cacheWriteTokens",
		}
	case cost:
		return []string{"operation.cost", "gen_ai.usage.cost", "llm.cost.total"}
	}
	return nil
}

// numberedPrefixes are the prefixes of attributes that spread messages over many keys.
func numberedPrefixes() [][2]string {
	return [][2]string{{"llm.input_messages.", "llm.output_messages."}, {"gen_ai.prompt.", "gen_ai.completion."}}
}

// work is the kind of work of a span.
type work int

const (
	other work = iota
	model
	tool
	agent
)

// works translates a value of topic; false for an unknown value.
func works(topic string) (work, bool) {
	switch strings.ToLower(topic) {
	case "execute_tool", "tool", "tool_call", "mcp_tool_call", "tool.execute", "ai.toolcall", "function", "mcp_tools":
		return tool, true
	case "chat", "generate_content", "text_completion", "completion", "llm", "generation", "response",
		"model_generation", "model_step", "model.step", "llm_generation",
		"ai.generatetext.dogenerate", "ai.streamtext.dostream", "ai.generateobject.dogenerate",
		"ai.streamobject.dostream":
		return model, true
	case "invoke_agent", "agent", "chain", "workflow", "agent_run", "agent.run", "workflow_run", "agent_step",
		"turn", "task",
		"ai.generatetext", "ai.streamtext", "ai.generateobject", "ai.streamobject":
		return agent, true
	case "create_agent", "embeddings", "embedding", "retriever", "reranker", "handoff", "model_chunk":
		return other, true
	}
	return other, false
}

func (sp *span) str(m meaning) string {
	for _, k := range m.names() {
		if s := sp.attrs[k].Str(); s != "" {
			return s
		}
	}
	return ""
}

func (sp *span) attr(m meaning) value.Value {
	for _, k := range m.names() {
		if v := sp.attrs[k]; v.Kind() != value.Invalid && v.Kind() != value.Null {
			return v
		}
	}
	return value.Value{}
}

// work classifies a span by the kinds of dialects, then by the names of spans, then by attributes
// that only a model's or a tool's span has.
func (sp *span) work() work {
	for _, k := range topic.names() {
		if w, known := works(sp.attrs[k].Str()); known {
			return w
		}
	}
	if w, known := works(sp.name); known && strings.HasPrefix(sp.name, "ai.") {
		return w
	}
	switch {
	case strings.HasPrefix(sp.name, "execute_tool "), sp.str(callID) != "":
		return tool
	case sp.str(modelName) != "" && len(sp.answer())+len(sp.request()) > 0,
		len(sp.attrs["gcp.vertex.agent.llm_response"].Str()) > 2, sp.attrs["llm.request.type"].Str() != "",
		sp.attrs["gen_ai.prompt.0.role"].Kind() != value.Invalid, len(messageEvents(sp.events)) > 0:
		return model
	}
	return other
}

// messageEvents are the events with messages, in OpenTelemetry's older and newer form.
func messageEvents(all []event) []event {
	var out []event
	for _, e := range all {
		if e.name == detailsEvent || e.name == "gen_ai.choice" || strings.HasPrefix(e.name, "gen_ai.") &&
			strings.HasSuffix(e.name, ".message") {
			out = append(out, e)
		}
	}
	return out
}

const detailsEvent = "gen_ai.client.inference.operation.details"

// toolNameKeys are the attributes for the name of a tool, independent of the span's name.
func toolNameKeys() []string { return []string{"gen_ai.tool.name", "ai.toolCall.name", "tool.name"} }

// toolCallIDKeys are the attributes for the id of the call that a tool answers.
func toolCallIDKeys() []string {
	return []string{"gen_ai.tool.call.id", "ai.toolCall.id", "tool.id", "tool_call.id"}
}
