// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import "testing"

func TestRoleOf(t *testing.T) {
	t.Parallel()
	for role, names := range map[Role][]string{
		RoleUser: {
			"user", "USER", "human", "HumanMessage", "HumanMessageChunk", "MessageRole.USER", "ROLE_USER",
			"prompter",
		},
		RoleSystem: {"system", "developer", "SystemMessage"},
		RoleAssistant: {
			"assistant", "model", "ai", "AIMessageChunk", "Agent", "ROLE_AGENT", "bot", "CHATBOT", "gpt",
			"MessageRole.ASSISTANT",
		},
		RoleTool: {
			"tool", "function", "tool_result", "toolResult", "tool-response", "tool result", "ipython",
			"observation", "environment", "ToolMessage",
		},
	} {
		for _, name := range names {
			if got := RoleOf(name); got != role || !got.Known() {
				t.Errorf("%q is %q, want %q", name, got, role)
			}
		}
	}
	for _, name := range []string{
		"", "error", "info", "critic", "message", "assistant:", "weather_agent",
		"function_call", ".",
	} {
		if got := RoleOf(name); got.Known() || string(got) != name {
			t.Errorf("%q is %q", name, got)
		}
	}
}
