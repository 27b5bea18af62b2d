// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonx "github.com/go-json-experiment/json"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
)

// Suites have the fields of Tool Calling Evaluation, "Tool Suite Endpoints".
type (
	// Suite is a suite with its tools and cases.
	Suite struct {
		SuiteEntry
		Description  string       `json:"description"`
		SystemPrompt string       `json:"system_prompt"`
		Tools        []api.Object `json:"tools" nullable:"false" doc:"functions in the form of OpenAI"`
		TestCases    []Case       `json:"test_cases" nullable:"false"`
		HasGates     bool         `json:"has_gates,omitempty" doc:"the suite has gates, which decide about its runs where none are named"`
		NotCarried   []string     `json:"not_carried,omitempty" doc:"data of the suite that these fields cannot express; export with format=callvet contains it"`
		Warnings     []Remark     `json:"warnings,omitempty" doc:"findings of the linter about the suite that are not errors; in responses to writes"`
	}
	// SuiteEntry is a suite in a list.
	SuiteEntry struct {
		ID        string    `json:"id"`
		Name      string    `json:"name"`
		Version   int64     `json:"version" doc:"counts from 1 with every edit; it is the ETag, too"`
		Hash      string    `json:"hash" doc:"of the content: runs of the same hash ran the same suite"`
		Form      string    `json:"form" doc:"the stored form: toolsuite, or callvet's own"`
		ToolCount int64     `json:"tool_count"`
		CaseCount int64     `json:"test_case_count"`
		Owner     string    `json:"owner" doc:"the id of its owner"`
		OwnerName string    `json:"owner_name,omitempty" doc:"in lists: the name of that user; left out where he is gone"`
		Shared    bool      `json:"shared" doc:"every user may read it"`
		CreatedAt time.Time `json:"created_at"`
		UpdatedAt time.Time `json:"updated_at"`
	}
	// SuiteBody is a new suite.
	SuiteBody struct {
		Name         string       `json:"name" minLength:"1" maxLength:"256"`
		Description  string       `json:"description,omitzero" required:"false" maxLength:"5000"`
		SystemPrompt string       `json:"system_prompt,omitzero" required:"false" maxLength:"50000"`
		Tools        []api.Object `json:"tools,omitzero" required:"false" nullable:"false" maxItems:"2000" doc:"functions in the form of OpenAI"`
		TestCases    []Case       `json:"test_cases,omitzero" required:"false" nullable:"false"`
		Shared       bool         `json:"shared,omitzero" required:"false"`
	}
	// SuiteEdit is an edit of a suite. Absent fields do not change.
	SuiteEdit struct {
		Name         api.Text      `json:"name,omitzero" required:"false" minLength:"1" maxLength:"256"`
		Description  api.Text      `json:"description,omitzero" required:"false" maxLength:"5000" doc:"null empties it"`
		SystemPrompt api.Text      `json:"system_prompt,omitzero" required:"false" maxLength:"50000" doc:"null empties it"`
		Tools        *[]api.Object `json:"tools,omitzero" required:"false" nullable:"false" maxItems:"2000"`
		TestCases    *[]Case       `json:"test_cases,omitzero" required:"false" nullable:"false" doc:"replaces all cases; cases without an id get a new one"`
		Shared       *bool         `json:"shared,omitzero" required:"false" nullable:"false" doc:"makes no version"`
		Note         string        `json:"note,omitzero" required:"false" maxLength:"500" doc:"kept with the version"`
	}
	// Remark is a finding of the linter.
	Remark struct {
		Location string `json:"location,omitempty" doc:"test_cases[3].expected_tool"`
		Line     int    `json:"line,omitempty"`
		Column   int    `json:"column,omitempty"`
		Code     string `json:"code"`
		Case     string `json:"case,omitempty"`
		Message  string `json:"message"`
		Fix      string `json:"fix,omitempty"`
		Warning  bool   `json:"warning"`
	}
)

// Remarks converts the findings of the linter for a response.
func Remarks(list []library.Placed) []Remark {
	out := make([]Remark, len(list))
	for i := range list {
		p := &list[i]
		out[i] = Remark{
			Location: p.Place, Line: p.Line, Column: p.Column, Code: p.Code, Case: p.Case,
			Message: p.Message, Fix: p.Fix, Warning: p.Warning,
		}
	}
	return out
}

func entryOf(e *library.Entry) SuiteEntry {
	return SuiteEntry{
		ID: e.ID, Name: e.Name, Version: e.Version, Hash: e.Hash, Form: e.Form, ToolCount: e.Tools, CaseCount: e.Cases,
		Owner: e.User, Shared: e.Shared,
		CreatedAt: Milli(e.Created), UpdatedAt: Milli(e.Updated),
	}
}

// Milli is the time of milliseconds since 1970, in UTC.
func Milli(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// suiteOf converts a suite for a response.
func suiteOf(e *library.Entry, d *library.Document, warnings []library.Placed) (*Suite, error) {
	v, err := d.View()
	if err != nil {
		return nil, err
	}
	out := &Suite{
		SuiteEntry: entryOf(e), Description: v.Description, SystemPrompt: v.SystemPrompt,
		Tools: make([]api.Object, len(v.Tools)), NotCarried: v.Lost, Warnings: Remarks(warnings),
	}
	own := d.Get("gates")
	out.HasGates = len(own) > 0 && own.Kind() != 'n'
	for i, raw := range v.Tools {
		out.Tools[i].RawMessage = json.RawMessage(raw)
	}
	out.TestCases, err = casesOf(v.Cases)
	return out, err
}

// readSuite reads and lints a text in the same way as a run: if the server has an embedding model,
// the linter does not report a missing one.
func readSuite(ctx context.Context, s *api.Server, text []byte,
	format string,
) (*callvet.Suite, []callvet.Problem, error) {
	a, err := s.AppOf(ctx, api.Who(ctx).User)
	if err != nil {
		return nil, nil, err
	}
	models, err := s.Models(ctx)
	if err != nil {
		return nil, nil, err
	}
	read, problems, err := LintSuite(ctx, a, text, format, cmp.Or(s.Config.ReadFor, DefaultReadFor))
	if models.Embedder != "" {
		problems = slices.DeleteFunc(problems, api.NoEmbedder)
	}
	return read, problems, err
}

// LintSuite reads and lints a text within a time limit.
func LintSuite(ctx context.Context, a *app.App, text []byte, format string, most time.Duration) (*callvet.Suite,
	[]callvet.Problem, error,
) {
	ctx, stop := context.WithTimeoutCause(ctx, most, errTooLong)
	defer stop()
	var before []callvet.Problem
	read, problems, err := a.ReadSuite(ctx, app.SuiteRequest{Text: text, Format: format, EmbedderLater: true},
		func(ev app.Event) { before = append(before, ev.Problems...) })
	if err != nil && errors.Is(context.Cause(ctx), errTooLong) {
		err = fmt.Errorf("read suite: %w: %w: %s", callvet.ErrLimited, errTooLong, most)
	}
	return read, append(before, problems...), err
}

// DefaultReadFor is how long reading and linting a suite may take.
const DefaultReadFor = 30 * time.Second

// errTooLong ends the work on a suite with schemas or checks that cost too much.
var errTooLong = errors.New("reading and checking it takes longer than a request may")

// Versioned is a response with the version of a suite.
type Versioned[T any] struct {
	ETag string `header:"ETag"`
	Body T
}

// Etag is the entity tag of a version.
func Etag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// IfMatching are the conditions of a write.
type IfMatching struct {
	IfMatch string `header:"If-Match" maxLength:"1000" doc:"the ETag of the version that is changed; where it is another one now, nothing is, and the status is 412"`
}

// Match returns a test for the versions that the request names; nil if it names none.
func (m *IfMatching) Match() func(int64) bool {
	if strings.TrimSpace(m.IfMatch) == "" {
		return nil
	}
	tags := strings.Split(m.IfMatch, ",")
	for i := range tags {
		tags[i] = strings.TrimPrefix(strings.TrimSpace(tags[i]), "W/")
	}
	return func(version int64) bool { return slices.Contains(tags, "*") || slices.Contains(tags, Etag(version)) }
}

// SuitePath is a path that names a suite.
type SuitePath struct {
	ID string `path:"id" maxLength:"64"`
}

func ofSuite(role account.Role) api.Access {
	return api.Access{Role: role, Objects: map[string]api.Kind{"id": api.KindSuite}}
}

const suitesPath = "/api/tool-suites"

// AddLibrary adds the routes of suites and catalogues.
func AddLibrary(s *api.Server) {
	s.Library = library.NewSuites(
		library.SuiteConfig{
			Store: s.Config.Store,
			Read: func(ctx context.Context, text []byte, format string) (*callvet.Suite, []callvet.Problem, error) {
				return readSuite(ctx, s, text, format)
			}, Now: s.Config.Now, Quota: s.Config.Quota,
		})
	addSuites(s)
	addCases(s)
	addImport(s)
	addMCP(s)
	addCatalogues(s)
	addPrompts(s)
	addSelecting(s)
	s.AddDocs()
}

func addSuites(s *api.Server) {
	op := api.Operations("suites", suitesPath)
	api.Answer(s, op("list-suites", http.MethodGet, "",
		"Lists suites, the newest first: one's own, and those that are shared."), api.Access{}, api.With(s, listSuites))
	api.Add(s, api.Returning(http.StatusCreated, op("create-suite", http.MethodPost, "",
		"Makes a suite. Its cases may come later.")), api.Access{Role: account.Member}, api.With(s, createSuite))
	api.Add(s, op("get-suite", http.MethodGet, "/{id}", "Gives a suite with its tools and cases."), ofSuite(""),
		api.With(s, getSuite))
	edit := "Changes fields of a suite; what is not named stays. A new version is made."
	api.Add(s, op("update-suite", http.MethodPut, "/{id}", edit), ofSuite(account.Member), api.With(s, editSuite))
	api.Add(s, op("patch-suite", http.MethodPatch, "/{id}", edit), ofSuite(account.Member), api.With(s, editSuite))
	write := uploaded(op("put-suite-source", http.MethodPut, "/{id}/source",
		"Puts a text, in any form that callvet reads, in place of a suite. A new version is made."),
		"a suite; the form is found by content")
	api.Add(s, write, ofSuite(account.Member), api.With(s, putSource))
	api.Add(s, api.Returning(http.StatusNoContent, op("delete-suite", http.MethodDelete, "/{id}",
		"Deletes a suite with its cases. Runs of it stay, and it can be restored for 30 days.")),
		ofSuite(account.Member), api.With(s, deleteSuite))
	api.Add(s, op("restore-suite", http.MethodPost, "/{id}/restore", "Gives a deleted suite back."),
		api.Access{Role: account.Member, Objects: map[string]api.Kind{"id": api.KindDeletedSuite}},
		api.With(s, restoreSuite))
	api.Answer(s, op("list-suite-versions", http.MethodGet, "/{id}/versions",
		"Lists the versions of a suite, the newest first."), ofSuite(""), api.With(s, listVersions))
	api.Add(s, op("get-suite-version", http.MethodGet, "/{id}/versions/{version}", "Gives a suite as it was."),
		ofSuite(""),
		api.With(s, getVersion))
	api.Answer(s, op("diff-suite-versions", http.MethodGet, "/{id}/versions/{version}/diff",
		"Returns what changed from this version to another one."), ofSuite(""), api.With(s, diffVersions))
	api.Add(s, op("return-to-suite-version", http.MethodPost, "/{id}/versions/{version}/restore",
		"Makes a new version that is as an old one was."), ofSuite(account.Member), api.With(s, returnTo))
	api.Add(s, op("export-suite", http.MethodGet, "/{id}/export", "Gives a suite as a file."), ofSuite(""),
		api.With(s, exportSuite))
}

func listSuites(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	api.PageIn
	Search string `query:"search" maxLength:"256" doc:"a part of the name, in any case"`
	All    bool   `query:"all" doc:"includes those of all users; admins only"`
},
) (*api.Page[SuiteEntry], error) {
	if in.All && by.Role != account.Admin {
		return nil, fmt.Errorf("list suites of all users: %w: that needs the role %s", callvet.ErrDenied, account.Admin)
	}
	from, err := in.Mark()
	if err != nil {
		return nil, err
	}
	list, err := s.Library.List(ctx, by.User, in.Search, in.All,
		library.Page{Before: from.At, BeforeID: from.ID, N: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	who := api.Owners{S: s}
	return api.Listed(list, in.Limit,
		func(e *library.Entry) api.PageMark { return api.PageMark{At: e.Created, ID: e.ID} },
		func(e *library.Entry) (*SuiteEntry, error) {
			one := entryOf(e)
			one.OwnerName, err = who.Of(ctx, e.User)
			return &one, err
		})
}

func createSuite(ctx context.Context, s *api.Server, by *account.Principal,
	in *struct{ Body SuiteBody },
) (*Versioned[*Suite], error) {
	b := &in.Body
	cases, own, err := written(b.TestCases)
	if err != nil {
		return nil, err
	}
	d := library.Document{Form: library.FormToolsuite}
	tools := b.Tools
	if tools == nil {
		tools = []api.Object{}
	}
	e := SuiteEdit{
		Name: api.Text{Given: true, Value: b.Name}, Description: api.Text{Given: true, Value: b.Description},
		SystemPrompt: api.Text{Given: true, Value: b.SystemPrompt}, Tools: &tools,
	}
	if err := e.apply(&d); err != nil {
		return nil, err
	}
	if own {
		if err := d.Own(); err != nil {
			return nil, err
		}
	}
	d.Cases = cases
	w, err := s.Library.Add(ctx, by.User, &d, "created", b.Shared)
	if err == nil {
		err = s.SharesNew(ctx, by, api.KindSuite, w.ID, b.Shared)
	}
	if err != nil {
		return nil, err
	}
	return writtenSuite(w)
}

// writtenSuite is the response to a write, with the new suite.
func writtenSuite(w *library.Written) (*Versioned[*Suite], error) {
	out, err := suiteOf(&w.Entry, w.Document, w.Warnings)
	if err != nil {
		return nil, err
	}
	return &Versioned[*Suite]{Etag(w.Version), out}, nil
}

// apply makes the edit.
func (e *SuiteEdit) apply(d *library.Document) error {
	for _, f := range []struct {
		name string
		api.Text
	}{{"name", e.Name}, {"description", e.Description}, {"system_prompt", e.SystemPrompt}} {
		if f.Given {
			if err := d.SetText(f.name, f.Value); err != nil {
				return err
			}
		}
	}
	if e.Tools != nil {
		raw, err := jsonx.Marshal(*e.Tools)
		if err != nil {
			return fmt.Errorf("read tools: %w: %w", callvet.ErrInvalid, err)
		}
		d.Set("tools", raw)
	}
	if e.TestCases == nil {
		return nil
	}
	cases, own, err := written(*e.TestCases)
	if err != nil {
		return err
	}
	if own {
		if err := d.Own(); err != nil {
			return err
		}
	}
	d.Cases = cases
	return nil
}

func getSuite(ctx context.Context, s *api.Server, _ *account.Principal, in *SuitePath) (*Versioned[*Suite], error) {
	e, v, err := s.Library.Now(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out, err := suiteOf(&e, v.Document, nil)
	if err != nil {
		return nil, err
	}
	return &Versioned[*Suite]{Etag(e.Version), out}, nil
}

func editSuite(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	SuitePath
	IfMatching
	Body SuiteEdit
},
) (*Versioned[*Suite], error) {
	w, err := s.Library.Edit(ctx, by.User, in.ID, in.Body.Note, in.Match(), in.Body.apply)
	if err != nil && in.Body.TestCases == nil {
		err = replaced(err, func(place string) string {
			if strings.HasPrefix(place, "test_cases") || strings.HasPrefix(place, "cases") {
				return api.InSuite + place
			}
			return place
		})
	}
	if err != nil {
		return nil, err
	}
	if shared := in.Body.Shared; shared != nil && *shared != w.Shared {
		if err := s.Library.Share(ctx, in.ID, *shared); err != nil {
			return nil, err
		}
		w.Shared = *shared
	}
	return writtenSuite(w)
}

func putSource(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	SuitePath
	IfMatching
	Upload
	Format string `query:"format" doc:"the form of the text; empty: it is found by content"`
	Note   string `query:"note" maxLength:"500" doc:"kept with the version"`
},
) (*Versioned[*Suite], error) {
	if err := knownForm(in.Format); err != nil {
		return nil, err
	}
	sent, _, err := in.file()
	if err != nil {
		return nil, err
	}
	read, err := s.Library.Import(ctx, sent, in.Format, "")
	if err != nil {
		return nil, unplaced(err)
	}
	w, err := s.Library.Edit(ctx, by.User, in.ID, in.Note, in.Match(), func(d *library.Document) error {
		name := d.Text("name")
		if *d = *read.Clone(); d.Text("name") == "" {
			return d.SetText("name", name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return writtenSuite(w)
}

func deleteSuite(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	SuitePath
	IfMatching
},
) (*struct{}, error) {
	return nil, s.Library.Delete(ctx, in.ID, in.Match(), s.Deletes(ctx, by, api.KindSuite, in.ID))
}

func restoreSuite(ctx context.Context, s *api.Server, _ *account.Principal,
	in *SuitePath,
) (*Versioned[SuiteEntry], error) {
	e, err := s.Library.Restore(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &Versioned[SuiteEntry]{Etag(e.Version), entryOf(&e)}, nil
}

// SuiteVersion is a version of a suite in a list.
type SuiteVersion struct {
	Version   int64     `json:"version"`
	Hash      string    `json:"hash"`
	Form      string    `json:"form"`
	ToolCount int64     `json:"tool_count"`
	CaseCount int64     `json:"test_case_count"`
	By        string    `json:"by" doc:"the id of the user who made it"`
	ByName    string    `json:"by_name,omitempty" doc:"the name of that user; left out where he is gone"`
	CreatedAt time.Time `json:"created_at"`
	Note      string    `json:"note"`
}

func listVersions(ctx context.Context, s *api.Server, _ *account.Principal, in *struct {
	SuitePath
	api.PageIn
},
) (*api.Page[SuiteVersion], error) {
	from, err := in.Mark()
	if err != nil {
		return nil, err
	}
	list, err := s.Library.Versions(ctx, in.ID, from.At, in.Limit+1)
	if err != nil {
		return nil, err
	}
	who := api.Owners{S: s}
	return api.Listed(list, in.Limit,
		func(v *library.Version) api.PageMark { return api.PageMark{At: v.Version, ID: ""} },
		func(v *library.Version) (*SuiteVersion, error) {
			name, err := who.Of(ctx, v.User)
			return &SuiteVersion{
				Version: v.Version, Hash: v.Hash, Form: v.Form, ToolCount: v.Tools, CaseCount: v.Cases,
				By: v.User, ByName: name, CreatedAt: Milli(v.Created), Note: v.Note,
			}, err
		})
}

// VersionPath is a path that names a version of a suite.
type VersionPath struct {
	SuitePath
	Version int64 `path:"version" minimum:"1"`
}

func getVersion(ctx context.Context, s *api.Server, _ *account.Principal, in *VersionPath) (*Versioned[*Suite], error) {
	e, err := s.Library.Entry(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	v, err := s.Library.Version(ctx, in.ID, in.Version)
	if err != nil {
		return nil, err
	}
	e.Version, e.Hash, e.Form, e.Tools, e.Cases, e.Updated, e.Name = v.Version, v.Hash, v.Form, v.Tools, v.Cases,
		v.Created, v.Document.Text("name")
	out, err := suiteOf(&e, v.Document, nil)
	if err != nil {
		return nil, err
	}
	return &Versioned[*Suite]{Etag(v.Version), out}, nil
}

// VersionDiff lists the changes from one version to another.
type VersionDiff struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	library.Diff
}

func diffVersions(ctx context.Context, s *api.Server, _ *account.Principal, in *struct {
	VersionPath
	To int64 `query:"to" minimum:"0" doc:"the other version; 0: the newest one"`
},
) (*VersionDiff, error) {
	to := in.To
	if to == 0 {
		e, err := s.Library.Entry(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		to = e.Version
	}
	var docs [2]*library.Document
	for i, n := range []int64{in.Version, to} {
		v, err := s.Library.Version(ctx, in.ID, n)
		if err != nil {
			return nil, err
		}
		docs[i] = v.Document
	}
	diff, err := library.Compare(docs[0], docs[1])
	if err != nil {
		return nil, err
	}
	return &VersionDiff{in.Version, to, *diff}, nil
}

func returnTo(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	VersionPath
	IfMatching
},
) (*Versioned[*Suite], error) {
	v, err := s.Library.Version(ctx, in.ID, in.Version)
	if err != nil {
		return nil, err
	}
	w, err := s.Library.Edit(ctx, by.User, in.ID, fmt.Sprintf("as version %d was", in.Version), in.Match(),
		func(d *library.Document) error {
			*d = *v.Document.Clone()
			return nil
		})
	if err != nil {
		return nil, err
	}
	return writtenSuite(w)
}

// File is a response that a browser saves.
type File struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Lost        string `header:"X-Callvet-Not-Carried" doc:"data for which the form has no place, separated by commas"`
	ETag        string `header:"ETag"`
	Body        []byte
}

func exportSuite(ctx context.Context, s *api.Server, _ *account.Principal, in *struct {
	SuitePath
	Format  string `query:"format" default:"toolsuite" doc:"toolsuite (that of Tool Calling Evaluation), callvet, or another form of suites"`
	YAML    bool   `query:"yaml" doc:"callvet's own form as YAML"`
	Version int64  `query:"version" minimum:"0" doc:"0: the newest one"`
},
) (*File, error) {
	if !slices.Contains(library.Exports(), in.Format) {
		return nil, &callvet.FieldError{
			Field: "format", Text: fmt.Sprintf("{format} %q is not known", in.Format),
			Fix: "one of " + strings.Join(library.Exports(), ", "),
		}
	}
	e, err := s.Library.Entry(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if in.Version == 0 {
		in.Version = e.Version
	}
	v, err := s.Library.Version(ctx, in.ID, in.Version)
	if err != nil {
		return nil, err
	}
	text, lost, err := v.Document.Export(in.Format, in.YAML && in.Format == library.FormOwn)
	if err != nil {
		return nil, err
	}
	kind, end := "application/json", "json"
	if !json.Valid(text) {
		kind, end = "application/yaml", "yaml"
	}
	var gone []string
	for i := range lost {
		if what := strings.TrimSpace(lost[i].Case + " " + lost[i].Key); len(gone) < 50 && !slices.Contains(gone, what) {
			gone = append(gone, what)
		}
	}
	return &File{
		kind, fmt.Sprintf(`attachment; filename="%s-v%d.%s"`, in.ID, in.Version, end),
		headerSafe(strings.Join(gone, ", ")), Etag(in.Version), text,
	}, nil
}

// headerSafe makes a text safe for a header.
func headerSafe(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

// Linkable refuses to link runs of a suite to an experiment that by may not change, or of another
// suite.
func Linkable(ctx context.Context, s *api.Server, by *account.Principal, id, suite string) error {
	if err := s.May(ctx, by, api.KindExperiment, id, true); err != nil {
		return err
	}
	e, err := s.Config.Store.Rows().Experiment(ctx, id)
	if err != nil {
		return fmt.Errorf("read experiment: %w", err)
	}
	if e.SuiteID != suite {
		return &callvet.FieldError{
			Field: "experiment_id",
			Text:  fmt.Sprintf("{experiment_id} %s is about another suite", id),
		}
	}
	return nil
}
