// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet-verify/jsonl"
	"github.com/callvet/callvet/retrieve"
)

// benchmark is a catalog with questions whose right tools somebody else named.
type benchmark struct {
	name    string
	entries []retrieve.Entry
	// documents are the texts of the recorded reference, in the order of entries,
	// where callvet computes it again; otherwise the recorded runs are the reference.
	documents []string
	questions []question
}

// question is a text with its right tools and, by a recorded run, the first tools of
// the reference.
type question struct {
	id, text  string
	relevant  []string
	reference []string
	// recorded says that reference comes from a recorded run.
	recorded bool
}

// readLines calls each for every line of a set's file.
func readLines[T any](path string, each func(T) error) error { return jsonl.Each(path, each) }

// benchmarks loads every open set, ToolRet twice: its questions with and without the
// instruction that its authors wrote for each.
func benchmarks(data string) ([]benchmark, error) {
	sets := filepath.Join(data, "sets")
	var out []benchmark
	for _, load := range []func(string) ([]benchmark, error){toolRet, liveMCP, metaTool, sealTools, toolLens, swedish} {
		b, err := load(sets)
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return out, filled(out)
}

// filled is an error where a set has no tools or no questions.
func filled(sets []benchmark) error {
	for i := range sets {
		if b := &sets[i]; len(b.entries) == 0 || len(b.questions) == 0 {
			return fmt.Errorf("read set %s: %d tools, %d questions: %w", b.name, len(b.entries), len(b.questions), errNothing)
		}
	}
	return nil
}

// errNothing fails a check over data that are there and empty.
var errNothing = errors.New("there is nothing to compare")

type labeled struct {
	ID, Query, Instruction string
	Relevant               []string
}

func toolRet(sets string) ([]benchmark, error) {
	var out []benchmark
	for _, name := range []string{"apibank", "gorilla-huggingface"} {
		dir := filepath.Join(sets, "toolret_subsets", "open", name)
		b := benchmark{name: "toolret/" + name}
		err := readLines(filepath.Join(dir, "tools.jsonl.gz"), func(row struct {
			ID            string
			Documentation json.RawMessage
		},
		) error {
			e, err := toolRetEntry(row.ID, row.Documentation)
			b.entries = append(b.entries, e)
			b.documents = append(b.documents, pythonJSON(row.Documentation))
			return err
		})
		if err != nil {
			return nil, err
		}
		plain, instructed := b, b
		plain.name += " query"
		instructed.name += " query+instruction"
		err = readLines(filepath.Join(dir, "queries.jsonl.gz"), func(q labeled) error {
			plain.questions = append(plain.questions, question{id: q.ID, text: q.Query, relevant: q.Relevant})
			instructed.questions = append(instructed.questions, question{id: q.ID, text: q.Instruction + " " + q.Query, relevant: q.Relevant})
			return nil
		})
		if err != nil {
			return nil, err
		}
		out = append(out, plain, instructed)
	}
	return out, nil
}

// toolRetEntry reads a tool document of either kind: an API with parameters, or a
// model with a domain and a functionality. What has no field of its own is text.
func toolRetEntry(id string, doc json.RawMessage) (retrieve.Entry, error) {
	var d map[string]json.RawMessage
	if err := json.Unmarshal(doc, &d); err != nil {
		return retrieve.Entry{}, fmt.Errorf("read tool %s: %w", id, err)
	}
	e := retrieve.Entry{ID: id, Tool: callvet.Tool{Name: joined(d["name"]), Description: joined(d["description"]), Parameters: listedParameters(d["parameters"])}}
	for _, k := range []string{"domain", "functionality", "framework", "category"} {
		if s := joined(d[k]); s != "" {
			e.Keywords = append(e.Keywords, s)
		}
	}
	var rest []string
	for _, k := range []string{"api_call", "api_arguments", "parameters", "responses", "python_environment_requirements", "example_code", "performance", "expressions"} {
		if k == "parameters" && e.Tool.Parameters != nil {
			continue
		}
		rest = append(rest, joined(d[k]))
	}
	e.Text = strings.Join(rest, "\n")
	return e, nil
}

// joined gives the texts within any JSON, one a line, the keys of objects too, in
// their order.
func joined(raw json.RawMessage) string {
	var out []string
	for dec := json.NewDecoder(bytes.NewReader(raw)); ; {
		t, err := dec.Token()
		if err != nil {
			return strings.Join(out, "\n")
		}
		if s, ok := t.(string); ok {
			out = append(out, s)
		}
	}
}

// listedParameters makes a schema of a list of {name, description}.
func listedParameters(raw json.RawMessage) json.RawMessage {
	var list []struct{ Name, Description string }
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	props := map[string]any{}
	for _, p := range list {
		props[p.Name] = map[string]string{"description": p.Description}
	}
	return schemaOf(props)
}

func schemaOf(props map[string]any) json.RawMessage {
	if len(props) == 0 {
		return nil
	}
	b, err := json.Marshal(map[string]any{"type": "object", "properties": props})
	if err != nil {
		return nil
	}
	return b
}

// pythonJSON writes JSON as json.dumps does, with spaces and every character outside
// ASCII escaped, which is what the reference tokenized.
func pythonJSON(raw json.RawMessage) string {
	var b strings.Builder
	inString := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case inString && c == '\\':
			b.WriteByte(c)
			i++
			b.WriteByte(raw[i])
			continue
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == ':'):
			b.WriteByte(c)
			b.WriteByte(' ')
			continue
		case c >= 0x80:
			r := []rune(string(raw[i:min(i+4, len(raw))]))[0]
			i += len(string(r)) - 1
			if r > 0xffff {
				fmt.Fprintf(&b, "\\u%04x\\u%04x", 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
			} else {
				fmt.Fprintf(&b, "\\u%04x", r)
			}
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func liveMCP(sets string) ([]benchmark, error) {
	dir := filepath.Join(sets, "livemcpbench_tools")
	b := benchmark{name: "livemcpbench"}
	err := readLines(filepath.Join(dir, "tools.jsonl.gz"), func(t struct {
		ID, Server, Category, Name, Description string
		ServerDescription                       string `json:"server_description"`
		InputSchema                             json.RawMessage
	},
	) error {
		b.entries = append(b.entries, retrieve.Entry{
			ID: t.ID, Tool: callvet.Tool{Name: t.Name, Description: t.Description, Parameters: t.InputSchema},
			Namespace: []string{t.Category, t.Server}, Group: t.ServerDescription,
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return withRuns(b, filepath.Join(dir, "open", "queries.jsonl.gz"), filepath.Join(dir, "open", "bm25_run_queries.jsonl.gz"))
}

// withRuns adds the questions of a file and the recorded reference run. Questions
// without a right tool are left out, as the reference does.
func withRuns(b benchmark, queries, run string) ([]benchmark, error) {
	recorded, err := readRun(run)
	if err != nil {
		return nil, err
	}
	err = readLines(queries, func(q labeled) error {
		if len(q.Relevant) > 0 {
			b.questions = append(b.questions, question{id: q.ID, text: q.Query, relevant: q.Relevant, reference: recorded[q.ID], recorded: true})
		}
		return nil
	})
	return []benchmark{b}, err
}

func readRun(path string) (map[string][]string, error) {
	out := map[string][]string{}
	err := readLines(path, func(row struct {
		ID  string
		Top [][2]any
	},
	) error {
		ids := make([]string, len(row.Top))
		for i, t := range row.Top {
			id, ok := t[0].(string)
			if !ok {
				return fmt.Errorf("read run %s: the id of %s is no text: %w", path, row.ID, callvet.ErrInvalid)
			}
			ids[i] = id
		}
		out[row.ID] = ids
		return nil
	})
	return out, err
}

func metaTool(sets string) ([]benchmark, error) {
	dir := filepath.Join(sets, "metatool")
	var entries []retrieve.Entry
	err := readLines(filepath.Join(dir, "tools.jsonl.gz"), func(t struct{ ID, Description string }) error {
		entries = append(entries, retrieve.Entry{Tool: callvet.Tool{Name: t.ID, Description: t.Description}})
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []benchmark
	for _, part := range []string{"single", "multi"} {
		b, err := withRuns(benchmark{name: "metatool/" + part, entries: entries},
			filepath.Join(dir, "open", part+".jsonl.gz"), filepath.Join(dir, "open", "bm25_run_"+part+".jsonl.gz"))
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return out, nil
}

func sealTools(sets string) ([]benchmark, error) {
	dir := filepath.Join(sets, "seal_tools")
	var entries []retrieve.Entry
	err := readLines(filepath.Join(dir, "tools.jsonl.gz"), func(t struct {
		Name        string `json:"api_name"`
		Description string `json:"api_description"`
		Field       string
		Parameters  map[string]any
	},
	) error {
		entries = append(entries, retrieve.Entry{
			Tool: callvet.Tool{Name: t.Name, Description: t.Description, Parameters: schemaOf(t.Parameters)}, Namespace: strings.Split(t.Field, "/"),
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []benchmark
	for _, part := range []string{"test_in_domain", "dev"} {
		recorded, err := readRun(filepath.Join(dir, "open", "bm25_run_"+part+".jsonl.gz"))
		if err != nil {
			return nil, err
		}
		b := benchmark{name: "seal_tools/" + part, entries: entries}
		err = readLines(filepath.Join(dir, "open", part+".jsonl.gz"), func(q struct {
			ID, Query string
			Calling   []struct{ API string }
		},
		) error {
			var relevant []string
			for _, c := range q.Calling {
				if !slices.Contains(relevant, c.API) {
					relevant = append(relevant, c.API)
				}
			}
			b.questions = append(b.questions, question{id: q.ID, text: q.Query, relevant: relevant, reference: recorded[q.ID], recorded: true})
			return nil
		})
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func toolLens(sets string) ([]benchmark, error) {
	dir := filepath.Join(sets, "toollens")
	b := benchmark{name: "toollens"}
	err := readLines(filepath.Join(dir, "corpus.jsonl.gz"), func(t struct{ ID, Text string }) error {
		b.entries = append(b.entries, toolLensEntry(t.ID, t.Text))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return withRuns(b, filepath.Join(dir, "open", "queries_train.jsonl.gz"), filepath.Join(dir, "open", "bm25_run_queries_train.jsonl.gz"))
}

// toolLensEntry reads one line of "key: value" pairs, of which the last have JSON.
func toolLensEntry(id, line string) retrieve.Entry {
	keys := []string{"category_name:", ", tool_name:", ", api_name:", ", api_description:", ", required_params: ", ", optional_params: ", ", return_schema: "}
	values := make([]string, len(keys))
	for i, k := range keys {
		from := strings.Index(line, k)
		if from < 0 {
			continue
		}
		rest := line[from+len(k):]
		if i+1 < len(keys) {
			if to := strings.Index(rest, keys[i+1]); to >= 0 {
				rest = rest[:to]
			}
		}
		values[i] = rest
	}
	props := map[string]any{}
	for _, raw := range values[4:6] {
		var list []struct{ Name, Description string }
		if json.Unmarshal([]byte(raw), &list) == nil {
			for _, p := range list {
				props[p.Name] = map[string]string{"description": p.Description}
			}
		}
	}
	return retrieve.Entry{
		ID: id, Namespace: []string{values[0]}, Text: joined(json.RawMessage(values[6])),
		Tool: callvet.Tool{Name: values[1] + " " + values[2], Description: values[3], Parameters: schemaOf(props)},
	}
}
