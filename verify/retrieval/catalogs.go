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
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

// benchmark is a catalog with questions and their published right tools.
type benchmark struct {
	name    string
	entries []retrieve.Entry
	// documents are the texts of the reference, in the order of entries, if callvet computes the
	// reference again; otherwise the recorded runs are the reference.
	documents []string
	questions []question
	// ranked has the published figures of a recorded run over the questions; nil for none.
	ranked *ranked
}

// ranked has published figures of a ranking, under a path, and the stem of the ranking's file.
type ranked struct {
	figures *proof.Figures
	path    []string
	run     string
}

// question is a text with its right tools and, by a recorded run, the first tools of
// the reference.
type question struct {
	id, text  string
	relevant  []string
	reference []string
	// recorded: reference comes from a recorded run.
	recorded bool
}

// benchmarks loads the part of every set, ToolRet twice: its questions with and without
// the instruction that its authors wrote for each.
func benchmarks(d proof.Data) ([]benchmark, error) {
	var out []benchmark
	var bad error
	for _, load := range []func(proof.Data) ([]benchmark, error){
		toolRet, liveMCP, metaTool, sealTools,
		toolLens, swedish,
	} {
		b, err := load(d)
		bad = errors.Join(bad, err)
		out = append(out, b...)
	}
	return out, errors.Join(bad, sound(out))
}

// indexFile is the index of a set: the figures of a reference ranking, by part and file
// of questions, "open/queries".
const indexFile = "bm25_reference.json"

// index returns the figures of a folder, and the files of questions of the part.
func index(dir, part string) (*proof.Figures, []string, error) {
	f, err := proof.ReadFigures(filepath.Join(dir, indexFile))
	if err != nil {
		return nil, nil, err
	}
	var stems []string
	for _, key := range f.Keys(results) {
		if stem, ok := strings.CutPrefix(key, part+"/"); ok {
			stems = append(stems, stem)
		}
	}
	return f, stems, nil
}

// results is the member of an index that has the figures.
const results = "results"

// indexed loads the questions of every file that the index of a set names for the part,
// over one catalog.
func indexed(d proof.Data, set, name string, entries []retrieve.Entry,
	read func(path string, add func(question)) error,
) ([]benchmark, error) {
	figures, stems, err := index(d.Set(set), d.Part)
	if err != nil {
		return nil, err
	}
	if len(stems) == 0 {
		return nil, fmt.Errorf("read set %s: %w: its index names no questions of the part %s", set,
			callvet.ErrNotFound, d.Part)
	}
	var out []benchmark
	for _, stem := range stems {
		b := benchmark{name: name, entries: entries}
		if len(stems) > 1 {
			b.name += "/" + stem
		}
		path, err := proof.Rows(d.In(set, stem))
		if err != nil {
			return nil, err
		}
		b.ranked = &ranked{figures, []string{results, d.Part + "/" + stem}, d.In(set, "bm25_run_"+stem)}
		recorded, err := b.ranked.read()
		if err != nil {
			return nil, err
		}
		err = read(path, func(q question) {
			if len(q.relevant) > 0 { // the reference leaves the others out, too
				q.reference, q.recorded = recorded[q.id], true
				b.questions = append(b.questions, q)
			}
		})
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// readLabeled reads questions with their right tools.
func readLabeled(path string, add func(question)) error {
	return jsonl.Each(path, func(q labeled) error {
		add(question{id: q.ID, text: q.Query, relevant: q.Relevant})
		return nil
	})
}

// catalog reads the rows of the file with the tools of a set. The page of the set contains their
// number.
func catalog[T any](d proof.Data, set, stem string, add func(T) error) error {
	page, err := proof.ReadReadme(d.Set(set))
	if err != nil {
		return err
	}
	due, err := page.Count("tools")
	if err != nil {
		return err
	}
	path, err := proof.Rows(filepath.Join(d.Set(set), stem))
	if err != nil {
		return err
	}
	n := 0
	err = jsonl.Each(path, func(row T) error {
		n++
		return add(row)
	})
	if err == nil && n != due {
		err = fmt.Errorf("read set %s: %w: %s has %d tools, %d are due by %s", set, callvet.ErrInvalid,
			filepath.Base(path), n, due, page.Source())
	}
	return err
}

// sound returns an error for a set without tools or questions, with a duplicate, or with a right tool
// that is not in the catalog.
func sound(sets []benchmark) error {
	var bad error
	for i := range sets {
		b := &sets[i]
		if len(b.entries) == 0 || len(b.questions) == 0 {
			bad = errors.Join(bad, fmt.Errorf("read set %s: %d tools, %d questions: %w", b.name, len(b.entries),
				len(b.questions), errNothing))
		}
		tools, asked := map[string]bool{}, map[string]bool{}
		for k := range b.entries {
			id := b.entries[k].ID
			if id == "" {
				id = b.entries[k].Tool.Name
			}
			if tools[id] {
				bad = errors.Join(bad,
					fmt.Errorf("read set %s: %w: tool %s stands there twice", b.name, callvet.ErrInvalid, id))
			}
			tools[id] = true
		}
		for _, q := range b.questions {
			if asked[q.id] {
				bad = errors.Join(bad,
					fmt.Errorf("read set %s: %w: question %s stands there twice", b.name, callvet.ErrInvalid, q.id))
			}
			asked[q.id] = true
			for _, id := range q.relevant {
				if !tools[id] {
					bad = errors.Join(bad,
						fmt.Errorf("read set %s: %w: the tool %s of question %s is not in the catalog", b.name,
							callvet.ErrNotFound, id, q.id))
				}
			}
		}
	}
	return bad
}

// errNothing fails a check over empty data.
var errNothing = errors.New("there is nothing to compare")

type labeled struct {
	ID, Query, Instruction string
	Relevant               []string
}

// toolRetSet is the set of several catalogs, each with its own index.
const toolRetSet = "toolret_subsets"

// toolRetSubsets are the catalogs that have questions of the part.
func toolRetSubsets(d proof.Data) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(d.Set(toolRetSet), "bm25", "*", indexFile))
	if err != nil {
		return nil, fmt.Errorf("list set %s: %w", toolRetSet, err)
	}
	var out []string
	for _, path := range files {
		_, stems, err := index(filepath.Dir(path), d.Part)
		if err != nil {
			return nil, err
		}
		if len(stems) > 0 {
			out = append(out, filepath.Base(filepath.Dir(path)))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("read set %s: %w: no index names questions of the part %s", toolRetSet,
			callvet.ErrNotFound, d.Part)
	}
	return out, nil
}

func toolRet(d proof.Data) ([]benchmark, error) {
	subsets, err := toolRetSubsets(d)
	if err != nil {
		return nil, err
	}
	var out []benchmark
	for _, name := range subsets {
		b, err := toolRetSubset(d, name)
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return out, nil
}

func toolRetSubset(d proof.Data, name string) ([]benchmark, error) {
	b := benchmark{name: "toolret/" + name}
	tools, err := proof.Rows(d.In(toolRetSet, name, "tools"))
	if err != nil {
		return nil, err
	}
	err = jsonl.Each(tools, func(row struct {
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
	path, err := proof.Rows(d.In(toolRetSet, name, "queries"))
	if err != nil {
		return nil, err
	}
	plain, instructed := b, b
	plain.name += " query"
	instructed.name += " query+instruction"
	err = jsonl.Each(path, func(q labeled) error {
		plain.questions = append(plain.questions, question{id: q.ID, text: q.Query, relevant: q.Relevant})
		instructed.questions = append(instructed.questions,
			question{id: q.ID, text: q.Instruction + " " + q.Query, relevant: q.Relevant})
		return nil
	})
	if err != nil {
		return nil, err
	}
	reference := filepath.Join(d.Set(toolRetSet), "bm25", name)
	figures, _, err := index(reference, d.Part)
	if err != nil {
		return nil, err
	}
	for asked, b := range map[string]*benchmark{"query_only": &plain, "with_instruction": &instructed} {
		b.ranked = &ranked{
			figures,
			[]string{results, d.Part + "/" + asked},
			filepath.Join(reference, d.Part, "bm25_run_"+asked),
		}
	}
	return []benchmark{plain, instructed}, nil
}

// toolRetEntry reads a tool document of either kind: an API with parameters, or a
// model with a domain and a functionality. Members without a field are text.
func toolRetEntry(id string, doc json.RawMessage) (retrieve.Entry, error) {
	var d map[string]json.RawMessage
	if err := json.Unmarshal(doc, &d); err != nil {
		return retrieve.Entry{}, fmt.Errorf("read tool %s: %w", id, err)
	}
	e := retrieve.Entry{
		ID: id,
		Tool: callvet.Tool{
			Name: joined(d["name"]), Description: joined(d["description"]),
			Parameters: listedParameters(d["parameters"]),
		},
	}
	for _, k := range []string{"domain", "functionality", "framework", "category"} {
		if s := joined(d[k]); s != "" {
			e.Keywords = append(e.Keywords, s)
		}
	}
	var rest []string
	for _, k := range []string{
		"api_call", "api_arguments", "parameters", "responses",
		"python_environment_requirements", "example_code", "performance", "expressions",
	} {
		if k == "parameters" && e.Tool.Parameters != nil {
			continue
		}
		rest = append(rest, joined(d[k]))
	}
	e.Text = strings.Join(rest, "\n")
	return e, nil
}

// joined returns the texts within any JSON, one per line and in order, including keys of objects.
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

func liveMCP(d proof.Data) ([]benchmark, error) {
	const set = "livemcpbench_tools"
	var entries []retrieve.Entry
	err := catalog(d, set, "tools", func(t struct {
		ID, Server, Category, Name, Description string
		ServerDescription                       string `json:"server_description"`
		InputSchema                             json.RawMessage
	},
	) error {
		entries = append(entries, retrieve.Entry{
			ID: t.ID, Tool: callvet.Tool{Name: t.Name, Description: t.Description, Parameters: t.InputSchema},
			Namespace: []string{t.Category, t.Server}, Group: t.ServerDescription,
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return indexed(d, set, "livemcpbench", entries, readLabeled)
}

// read reads a recorded ranking: the ids of the first tools by question.
func (r *ranked) read() (map[string][]string, error) {
	path, err := proof.Rows(r.run)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	err = jsonl.Each(path, func(row struct {
		ID  string
		Top [][2]any
	},
	) error {
		if _, twice := out[row.ID]; twice {
			return fmt.Errorf("read run %s: %w: question %s stands there twice", path, callvet.ErrInvalid, row.ID)
		}
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

func metaTool(d proof.Data) ([]benchmark, error) {
	const set = "metatool"
	var entries []retrieve.Entry
	err := catalog(d, set, "tools", func(t struct{ ID, Description string }) error {
		entries = append(entries, retrieve.Entry{Tool: callvet.Tool{Name: t.ID, Description: t.Description}})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return indexed(d, set, "metatool", entries, readLabeled)
}

func sealTools(d proof.Data) ([]benchmark, error) {
	const set = "seal_tools"
	var entries []retrieve.Entry
	err := catalog(d, set, "tools", func(t struct {
		Name        string `json:"api_name"`
		Description string `json:"api_description"`
		Field       string
		Parameters  map[string]any
	},
	) error {
		entries = append(entries, retrieve.Entry{
			Tool:      callvet.Tool{Name: t.Name, Description: t.Description, Parameters: schemaOf(t.Parameters)},
			Namespace: strings.Split(t.Field, "/"),
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return indexed(d, set, "seal_tools", entries, func(path string, add func(question)) error {
		return jsonl.Each(path, func(q struct {
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
			add(question{id: q.ID, text: q.Query, relevant: relevant})
			return nil
		})
	})
}

func toolLens(d proof.Data) ([]benchmark, error) {
	const set = "toollens"
	var entries []retrieve.Entry
	err := catalog(d, set, "corpus", func(t struct{ ID, Text string }) error {
		entries = append(entries, toolLensEntry(t.ID, t.Text))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return indexed(d, set, "toollens", entries, readLabeled)
}

// toolLensEntry reads one line of "key: value" pairs; the last ones have JSON.
func toolLensEntry(id, line string) retrieve.Entry {
	keys := []string{
		"category_name:", ", tool_name:", ", api_name:", ", api_description:", ", required_params: ",
		", optional_params: ", ", return_schema: ",
	}
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
