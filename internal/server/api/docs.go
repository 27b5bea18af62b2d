// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"bytes"
	_ "embed" // the page
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed docs.html
var docsPage string

// AddDocs adds a page for people, made from the OpenAPI description. It has no script, and loads
// nothing.
func (s *Server) AddDocs() {
	page := template.Must(template.New("docs").Parse(docsPage))
	s.Mux.HandleFunc("GET /api/docs", func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		if err := page.Execute(&b, describe(s.OpenAPI())); err != nil {
			s.Log.ErrorContext(r.Context(), "write page of the API", "error", err)
			http.Error(w, "the page cannot be written", http.StatusInternalServerError)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(b.Bytes()) // an error means that the client disconnected
	})
}

// The data of the page.
type (
	docs struct {
		Title, Version, Text string
		Groups               []docGroup
		Types                []docType
	}
	docGroup struct {
		Name string
		Ops  []docOp
	}
	docOp struct {
		ID, Method, Path, Summary string
		Open                      bool
		Parameters                []docField
		Body                      []docBody
		Answers                   []docBody
		Curl                      string
	}
	docField struct {
		Name, In, Type, Text string
		Required             bool
	}
	docBody struct{ Name, Kind, Type string }
	docType struct {
		Name   string
		Text   string
		Fields []docField
	}
)

func describe(api *huma.OpenAPI) *docs {
	d := &docs{Title: api.Info.Title, Version: api.Info.Version, Text: api.Info.Description}
	groups := map[string][]docOp{}
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		p := api.Paths[path]
		for _, o := range []struct {
			method string
			op     *huma.Operation
		}{{"GET", p.Get}, {"POST", p.Post}, {"PUT", p.Put}, {"PATCH", p.Patch}, {"DELETE", p.Delete}} {
			if o.op == nil || o.op.Hidden {
				continue
			}
			group := "other"
			if len(o.op.Tags) > 0 {
				group = o.op.Tags[0]
			}
			groups[group] = append(groups[group], describeOp(o.method, path, o.op, api.Components.Schemas))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		d.Groups = append(d.Groups, docGroup{name, groups[name]})
	}
	schemas := api.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		d.Types = append(d.Types, docType{name, schemas[name].Description, fieldsOf(schemas[name])})
	}
	return d
}

func describeOp(method, path string, op *huma.Operation, schemas huma.Registry) docOp {
	out := docOp{ID: op.OperationID, Method: method, Path: path, Summary: op.Summary, Open: len(op.Security) == 0}
	for _, p := range op.Parameters {
		if p.In != "cookie" {
			out.Parameters = append(out.Parameters,
				docField{p.Name, p.In, typeOf(p.Schema), describeSchema(p.Schema, p.Description), p.Required})
		}
	}
	if op.RequestBody != nil {
		for _, kind := range slices.Sorted(maps.Keys(op.RequestBody.Content)) {
			out.Body = append(out.Body, docBody{"", kind, typeOf(op.RequestBody.Content[kind].Schema)})
		}
	}
	for _, code := range slices.Sorted(maps.Keys(op.Responses)) {
		r := op.Responses[code]
		if len(r.Content) == 0 {
			out.Answers = append(out.Answers, docBody{code, "", r.Description})
		}
		for _, kind := range slices.Sorted(maps.Keys(r.Content)) {
			out.Answers = append(out.Answers, docBody{code, kind, typeOf(r.Content[kind].Schema)})
		}
	}
	out.Curl = curl(method, path, op, schemas)
	return out
}

// typeOf names a schema.
func typeOf(s *huma.Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	case len(s.OneOf) > 0:
		var names []string
		for _, o := range s.OneOf {
			names = append(names, typeOf(o))
		}
		return strings.Join(names, " or ")
	case s.Type == "" && len(s.Enum) > 0:
		return "null"
	case s.Type == huma.TypeArray:
		return "list of " + typeOf(s.Items)
	}
	name := s.Type
	if name == "" {
		name = "any"
	}
	if s.Format != "" {
		name += " (" + s.Format + ")"
	}
	if s.Nullable {
		name += " or null"
	}
	return name
}

// describeSchema describes the values that a schema allows.
func describeSchema(s *huma.Schema, text string) string {
	if s == nil {
		return text
	}
	if text == "" {
		text = s.Description
	}
	parts := []string{}
	if text != "" {
		parts = append(parts, text)
	}
	if len(s.Enum) > 0 {
		parts = append(parts, "one of "+strings.Trim(fmt.Sprint(s.Enum...), "[]"))
	}
	for _, b := range []struct {
		word string
		at   *float64
	}{{"from", s.Minimum}, {"to", s.Maximum}} {
		if b.at != nil {
			parts = append(parts, fmt.Sprintf("%s %v", b.word, *b.at))
		}
	}
	if s.MaxLength != nil {
		parts = append(parts, fmt.Sprintf("at most %d characters", *s.MaxLength))
	}
	if s.Default != nil {
		parts = append(parts, fmt.Sprintf("default %v", s.Default))
	}
	return strings.Join(parts, "; ")
}

func fieldsOf(s *huma.Schema) (out []docField) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		out = append(out, docField{
			Name: name, Type: typeOf(p), Text: describeSchema(p, ""),
			Required: slices.Contains(s.Required, name),
		})
	}
	return out
}

// curl is an example of a request.
func curl(method, path string, op *huma.Operation, schemas huma.Registry) string {
	line := "curl"
	if method != http.MethodGet {
		line += " -X " + method
	}
	if len(op.Security) > 0 {
		line += ` -H "Authorization: Bearer $TOKEN"`
	}
	if op.RequestBody != nil {
		if media := op.RequestBody.Content["application/json"]; media != nil &&
			op.RequestBody.Content["multipart/form-data"] == nil {
			b, err := json.Marshal(example(media.Schema, schemas, 0))
			if err == nil {
				line += ` -H "Content-Type: application/json" -d '` + strings.ReplaceAll(string(b), "'", `'\''`) + "'"
			}
		} else {
			line += ` -F "file=@suite.json"`
		}
	}
	return line + " $CALLVET" + path
}

// example is a value of a schema with its required fields.
func example(s *huma.Schema, schemas huma.Registry, depth int) any {
	switch {
	case s == nil || depth > 5:
		return nil
	case s.Ref != "":
		return example(schemas.SchemaFromRef(s.Ref), schemas, depth)
	case len(s.OneOf) > 0:
		return example(s.OneOf[0], schemas, depth+1)
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	switch s.Type {
	case huma.TypeObject:
		out := map[string]any{}
		for name, p := range s.Properties {
			if slices.Contains(s.Required, name) {
				out[name] = example(p, schemas, depth+1)
			}
		}
		return out
	case huma.TypeArray:
		return []any{example(s.Items, schemas, depth+1)}
	case huma.TypeBoolean:
		return true
	case huma.TypeInteger, huma.TypeNumber:
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case huma.TypeString:
		return "…"
	}
	return nil
}
