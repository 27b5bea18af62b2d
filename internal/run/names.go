// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MakeUnique makes the names of targets unique, because reports, comparisons and gates identify
// targets by name. Targets with the same name get the settings that differ appended, so that their
// names describe them and do not depend on their order:
//
//	openai/gpt-5 (prompt: Answer in one word)
//	openai/gpt-5 (prompt: Think first, temperature=1)
//
// Targets with the same settings get a number. shown returns the text of a prompt as people may see
// it, in one line.
func MakeUnique(ts []Target, shown func(prompt string) string) {
	groups := map[string][]*Target{}
	for i := range ts {
		groups[ts[i].Name] = append(groups[ts[i].Name], &ts[i])
	}
	for _, g := range groups {
		if len(g) > 1 {
			addDifferences(g, shown)
		}
	}
	taken, first := map[string]bool{}, map[string]bool{}
	for i := range ts {
		taken[ts[i].Name] = true
	}
	for i := range ts {
		name := ts[i].Name
		if !first[name] {
			first[name] = true
			continue
		}
		for n := 2; taken[ts[i].Name]; n++ {
			ts[i].Name = fmt.Sprintf("%s#%d", name, n)
		}
		taken[ts[i].Name] = true
	}
}

func addDifferences(g []*Target, shown func(string) string) {
	all := make([]map[string]string, len(g))
	keys := map[string]bool{}
	for i, t := range g {
		all[i] = settings(t)
		for k := range all[i] {
			keys[k] = true
		}
	}
	excerpts := excerptsOf(g, shown)
	for i, t := range g {
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			v := all[i][k]
			if v == "" || !slices.ContainsFunc(all, func(o map[string]string) bool { return o[k] != v }) {
				continue
			}
			if k == promptSetting {
				parts = slices.Insert(parts, 0, "prompt: "+excerpts[v])
				continue
			}
			parts = append(parts, k+"="+v)
		}
		if len(parts) > 0 {
			t.Name += " (" + strings.Join(parts, ", ") + ")"
		}
	}
}

const promptSetting = "system_prompt"

// settings returns the settings of a target, by their names in a targets file.
func settings(t *Target) map[string]string {
	out := map[string]string{promptSetting: t.SystemPrompt, "base_url": t.BaseURL, "tool_choice": t.ToolChoice}
	if t.ReplaceSystem && t.SystemPrompt != "" {
		out["replace_system"] = "true"
	}
	b, err := json.Marshal(t.Params)
	var params map[string]json.RawMessage
	if err != nil || json.Unmarshal(b, &params) != nil {
		return out // a parameter that is no JSON: the settings cannot be named
	}
	delete(params, "extra")
	maps.Copy(params, t.Params.Extra)
	for k, v := range params {
		out[k] = string(v)
	}
	return out
}

// excerptRunes bounds the excerpt of a prompt in a name.
const excerptRunes = 32

// excerptsOf returns the beginnings of prompts, with a part of their hash if two of them begin
// alike.
func excerptsOf(g []*Target, shown func(string) string) map[string]string {
	out, count := map[string]string{}, map[string]int{}
	for _, t := range g {
		if _, ok := out[t.SystemPrompt]; !ok {
			out[t.SystemPrompt] = excerpt(shown(t.SystemPrompt))
			count[out[t.SystemPrompt]]++
		}
	}
	for prompt, text := range out {
		if count[text] > 1 {
			out[prompt] = fmt.Sprintf("%s %.2x", text, sha256.Sum256([]byte(prompt)))
		}
	}
	return out
}

// excerpt is the beginning of a text, up to the last word that fits.
func excerpt(text string) string {
	r := []rune(text)
	if len(r) <= excerptRunes {
		return text
	}
	cut := string(r[:excerptRunes-1])
	if i := strings.LastIndexByte(cut, ' '); i > 0 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}
