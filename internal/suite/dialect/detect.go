// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

// Detect names the dialect of a file by its content; "" when it is none of
// them (Refusal then says what it looks like). The name of the file only says
// whether to read it as YAML.
func Detect(data []byte, path string) string {
	src, err := open(data, path)
	if err != nil {
		return ""
	}
	return src.detect()
}

func (s *source) detect() string {
	if len(s.values) == 0 {
		return ""
	}
	doc := s.values[0]
	switch {
	case isToolsuite(doc) && len(s.values) == 1:
		return Toolsuite
	case isForge(doc) && len(s.values) == 1:
		return Forge
	case isCategories(doc) && len(s.values) == 1:
		return Categories
	case isTasks(doc):
		return Tasks
	case isOpenAI(doc):
		return OpenAI
	case isPromptfoo(doc) && len(s.values) == 1:
		return Promptfoo
	}
	return ""
}

func isToolsuite(doc node) bool {
	if doc.get("test_cases").kind() != '[' {
		return false
	}
	first := firstOf(doc.get("test_cases"))
	return doc.has("tools") || first.has("prompt") || first.has("expected_tool") || first.absent()
}

func isForge(doc node) bool {
	if doc.kind() == '{' {
		if doc.has("shouldRouteIdentically") || doc.has("shouldRouteDifferently") {
			return true
		}
		meta := doc.get("metadata")
		if doc.get("cases").kind() == '[' && (meta.has("toolName") || meta.has("descriptionHash") || meta.has("registrySize")) {
			return true
		}
		doc = doc.get("cases")
	}
	first := firstOf(doc)
	return first.get("input").has("message") && (first.has("expect") || first.has("rubric") || first.has("description"))
}

func isCategories(doc node) bool {
	if firstOf(doc.get("categories")).has("test_cases") {
		return true
	}
	first := firstOf(doc.get("tests"))
	return doc.has("eval_name") && doc.get("tests").kind() == '[' || first.has("question") && first.has("expected")
}

func isTasks(doc node) bool {
	if l := doc.get("tasks"); l.kind() == '[' && doc.kind() == '{' {
		doc = l
	}
	if doc.kind() == '[' {
		doc = firstOf(doc)
	}
	if !doc.has("task_id") || doc.has("call_id") {
		return false
	}
	return doc.has("gold_steps") || doc.has("gold_postconditions") || doc.has("goal")
}

func isOpenAI(doc node) bool {
	if doc.kind() == '[' {
		doc = firstOf(doc)
	}
	list := doc.get("messages")
	if list.absent() && doc.has("ideal") {
		list = doc.get("input")
	}
	return firstOf(list).has("role") && !doc.has("trajectory") && !doc.has("choices") && !doc.has("test_cases")
}

func isPromptfoo(doc node) bool {
	if doc.has("results") && doc.has("evalId") {
		return false
	}
	n := 0
	for _, k := range []string{"prompts", "providers", "targets", "tests", "defaultTest", "scenarios"} {
		if doc.has(k) {
			n++
		}
	}
	return n >= 2 && (doc.has("prompts") || firstOf(doc.get("tests")).has("assert"))
}

// firstOf is an array's first element.
func firstOf(list node) node {
	if list.kind() != '[' {
		return node{}
	}
	i := skipSpace(list.raw, 1)
	if list.raw[i] == ']' {
		return node{}
	}
	return node{raw: list.raw[i:skipValue(list.raw, i)], off: list.off + i}
}
