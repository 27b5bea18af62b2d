// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

// Detect names the dialect of a file by its content; "" when it is none of them (Refusal then
// describes what it looks like). The name of the file only decides whether to read it as YAML.
func Detect(data []byte, path string) string {
	src, err := Open(data, path)
	if err != nil {
		return ""
	}
	return detect(src)
}

func detect(s *Source) string {
	if len(s.Values) == 0 {
		return ""
	}
	doc := s.Values[0]
	switch {
	case isToolsuite(doc) && len(s.Values) == 1:
		return Toolsuite
	case isForge(doc) && len(s.Values) == 1:
		return Forge
	case isCategories(doc) && len(s.Values) == 1:
		return Categories
	case isTasks(doc):
		return Tasks
	case isOpenAI(doc):
		return OpenAI
	case isPromptfoo(doc) && len(s.Values) == 1:
		return Promptfoo
	}
	return ""
}

func isToolsuite(doc Node) bool {
	if doc.Get("test_cases").Kind() != '[' {
		return false
	}
	first := FirstOf(doc.Get("test_cases"))
	return doc.Has("tools") || first.Has("prompt") || first.Has("expected_tool") || first.Absent()
}

func isForge(doc Node) bool {
	if doc.Kind() == '{' {
		if doc.Has("shouldRouteIdentically") || doc.Has("shouldRouteDifferently") {
			return true
		}
		meta := doc.Get("metadata")
		if doc.Get("cases").Kind() == '[' &&
			(meta.Has("toolName") || meta.Has("descriptionHash") || meta.Has("registrySize")) {
			return true
		}
		doc = doc.Get("cases")
	}
	first := FirstOf(doc)
	return first.Get("input").Has("message") && (first.Has("expect") || first.Has("rubric") || first.Has("description"))
}

func isCategories(doc Node) bool {
	if FirstOf(doc.Get("categories")).Has("test_cases") {
		return true
	}
	first := FirstOf(doc.Get("tests"))
	return doc.Has("eval_name") && doc.Get("tests").Kind() == '[' || first.Has("question") && first.Has("expected")
}

func isTasks(doc Node) bool {
	if l := doc.Get("tasks"); l.Kind() == '[' && doc.Kind() == '{' {
		doc = l
	}
	if doc.Kind() == '[' {
		doc = FirstOf(doc)
	}
	if !doc.Has("task_id") || doc.Has("call_id") {
		return false
	}
	return doc.Has("gold_steps") || doc.Has("gold_postconditions") || doc.Has("goal")
}

func isOpenAI(doc Node) bool {
	if doc.Kind() == '[' {
		doc = FirstOf(doc)
	}
	list := doc.Get("messages")
	if list.Absent() && doc.Has("ideal") {
		list = doc.Get("input")
	}
	return FirstOf(list).Has("role") && !doc.Has("trajectory") && !doc.Has("choices") && !doc.Has("test_cases")
}

func isPromptfoo(doc Node) bool {
	if doc.Has("results") && doc.Has("evalId") {
		return false
	}
	n := 0
	for _, k := range []string{"prompts", "providers", "targets", "tests", "defaultTest", "scenarios"} {
		if doc.Has(k) {
			n++
		}
	}
	return n >= 2 && (doc.Has("prompts") || FirstOf(doc.Get("tests")).Has("assert"))
}
