// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store/rows"
)

// AddTraces adds the routes of traces: collections, their scores, and the receiver of
// OpenTelemetry's exports.
func AddTraces(s *api.Server) {
	s.Intake = library.NewIntake(library.IntakeConfig{Store: s.Config.Store, Now: s.Config.Now})
	s.Readers = api.NewReaders(api.MaxReaders, api.MaxPerUser)
	op := api.Operations("traces", "/api/traces")
	of := func(role account.Role) api.Access {
		return api.Access{Role: role, Objects: map[string]api.Kind{"id": api.KindTraces}}
	}
	take := uploaded(op("upload-traces", http.MethodPost, "",
		"Adds a trace file to a collection, in any form that callvet reads."),
		"traces as JSONL, or in another form; gzip is read")
	take.MaxBodyBytes = library.MaxBatch
	api.Answer(s, take, api.Access{Role: account.Member}, api.With(s, uploadTraces))
	api.Answer(s, op("list-traces", http.MethodGet, "",
		"Lists collections of traces, the newest first: one's own, and those that are shared."), api.Access{},
		api.With(s, listTraces))
	api.Answer(s, op("get-traces", http.MethodGet, "/{id}", "Returns a collection."), of(""),
		func(ctx context.Context, _ *account.Principal, in *TracesPath) (*Traces, error) {
			c, err := s.Intake.Collection(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			out := tracesOf(c)
			err = count(ctx, s, c, &out, true)
			return &out, err
		})
	api.Add(s, api.Returning(http.StatusNoContent, op("patch-traces", http.MethodPatch, "/{id}",
		"Shares a collection with all users, or ends that.")),
		of(account.Member), func(ctx context.Context, _ *account.Principal, in *struct {
			TracesPath
			Body struct {
				Shared bool `json:"shared" doc:"every user of the server may read it"`
			}
		},
		) (*struct{}, error) {
			return nil, s.Intake.Share(ctx, in.ID, in.Body.Shared)
		})
	api.Add(s, api.Returning(http.StatusNoContent, op("delete-traces", http.MethodDelete, "/{id}",
		"Removes a collection.")), of(account.Member),
		func(ctx context.Context, by *account.Principal, in *TracesPath) (*struct{}, error) {
			return nil, s.Intake.Drop(ctx, in.ID, func(q *rows.Queries) error {
				return errors.Join(q.DropLabelLines(ctx, labelled{api.KindTraces, in.ID}.about()),
					q.DropRunDocuments(ctx, countOf(in.ID)), s.Deletes(ctx, by, api.KindTraces, in.ID).Do(q))
			})
		})
	api.Answer(s, op("list-attempts", http.MethodGet, "/{id}/attempts",
		"Attempts of a collection, with their steps, redacted."), of(""), api.With(s, tracedAttempts))
	api.Add(s, api.Downloads("the traces as a file", op("export-traces", http.MethodGet, "/{id}/export",
		"Downloads a collection in a form of traces, redacted.")), of(""), api.With(s, exportTraces))
	addOTLP(s)
	addScore(s)
	addLabels(s)
	addGold(s)
}

type (
	// Traces is a collection of traces, which is read as one file.
	Traces struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Form  string `json:"form" doc:"the form of traces that it is in"`
		Lines bool   `json:"lines" doc:"more can be added; an archive stands alone"`
		Parts int64  `json:"parts" doc:"how often something was added"`
		Items int64  `json:"items" doc:"lines, or spans and log records"`
		Bytes int64  `json:"bytes" doc:"of the text"`
		// Attempts are counted once for each set of parts.
		Attempts *int64 `json:"attempt_count" doc:"of the whole collection; null: not counted yet, ask again"`
		Lost     *int64 `json:"lost_count" doc:"records that cannot be read or contradict each other, and count in no number; null: not counted yet"`
		// MaxBytes is the limit of Bytes.
		MaxBytes  int64     `json:"max_bytes"`
		Owner     string    `json:"owner" doc:"the id of its owner"`
		OwnerName string    `json:"owner_name,omitempty" doc:"in lists: the name of that user; left out where he is gone"`
		Shared    bool      `json:"shared"`
		CreatedAt time.Time `json:"created_at"`
		UpdatedAt time.Time `json:"updated_at"`
	}
	// UploadedTraces is a collection with the number of added records.
	UploadedTraces struct {
		Traces
		Added    bool     `json:"added" doc:"false: the collection already had the same file"`
		Attempts int64    `json:"attempts" doc:"in the file alone"`
		Calls    int64    `json:"calls" doc:"in the file alone"`
		BadLines int64    `json:"malformed_lines"`
		Problems []string `json:"problems" nullable:"false" doc:"the first ones"`
	}
	// TracesPath is a path that names a collection.
	TracesPath struct {
		ID string `path:"id" maxLength:"64"`
	}
)

func tracesOf(c *library.Collection) Traces {
	return Traces{
		ID: c.ID, Name: c.Name, Form: c.Form, Lines: c.Lines, Parts: c.Parts, Items: c.Items, Bytes: c.Bytes,
		MaxBytes: library.MaxCollection, Owner: c.User, Shared: c.Shared,
		CreatedAt: Milli(c.Created), UpdatedAt: Milli(c.Updated),
	}
}

// countTime bounds how long a list counts attempts of collections without a stored count; the next
// request counts the rest.
const countTime = 2 * time.Second

// countOf is the store key of the number of attempts of a collection.
func countOf(id string) string { return "traces:" + id }

// traceCounts are the counts of a collection.
type traceCounts struct {
	Attempts int64 `json:"attempts"`
	Lost     int64 `json:"lost"`
}

// count puts the numbers of attempts and of lost records of a collection into out. It uses stored
// counts if the collection has no new parts; otherwise it counts, if wanted is true.
func count(ctx context.Context, s *api.Server, c *library.Collection, out *Traces, wanted bool) error {
	at := rows.RunDocumentParams{RunID: countOf(c.ID), About: "counts", State: strconv.FormatInt(c.Parts, 10)}
	b, err := s.Config.Store.Rows().RunDocument(ctx, at)
	if err != nil && !api.IsMissing(err) {
		return fmt.Errorf("read number of attempts: %w", err)
	}
	var n traceCounts
	switch {
	case err == nil && json.Unmarshal(b, &n) == nil:
	case !wanted:
		return nil
	default:
		if n, err = recount(ctx, s, c, &at); err != nil {
			return err
		}
	}
	out.Attempts, out.Lost = &n.Attempts, &n.Lost
	return nil
}

// recount counts, and stores the counts.
func recount(ctx context.Context, s *api.Server, c *library.Collection,
	at *rows.RunDocumentParams,
) (n traceCounts, err error) {
	release, err := alone(ctx, s)
	if err != nil {
		return n, err
	}
	defer release()
	text, err := s.Intake.Text(ctx, c)
	if err != nil {
		return n, err
	}
	read, err := traces.Read(ctx, s.Config.App.With(app.Uploads{c.Name: text}), c.Name)
	if ctx.Err() != nil {
		return n, ctx.Err()
	}
	if err == nil { // an unreadable collection has no counts
		n = traceCounts{Attempts: read.Read.Attempts, Lost: read.Lost()}
	}
	b, err := json.Marshal(n)
	if err != nil {
		return n, fmt.Errorf("keep number of attempts: %w", err)
	}
	err = s.Config.Store.Change(ctx, "keep number of attempts", func(q *rows.Queries) error {
		return q.PutRunDocument(ctx,
			rows.PutRunDocumentParams{RunID: at.RunID, About: at.About, State: at.State, Document: b})
	})
	if errors.Is(err, callvet.ErrDenied) { // a read-only store
		err = nil
	}
	return n, err
}

// alone waits until the number of requests that read whole collections is below the limits, in
// total and for the user.
func alone(ctx context.Context, s *api.Server) (release func(), err error) {
	user := ""
	if by := api.Who(ctx); by != nil {
		user = by.User
	}
	return s.Readers.Enter(ctx, user)
}

// defaultTraces is the default name of a collection.
const defaultTraces = "traces"

func uploadTraces(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	Upload
	Collection string `query:"collection" maxLength:"200" doc:"the name of the collection, which is created if missing; empty: the name of the file"`
},
) (*UploadedTraces, error) {
	text, name, err := in.file()
	if err != nil {
		return nil, err
	}
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), path.Ext(strings.TrimSuffix(name, ".gz")))
	if in.Collection != "" {
		name = in.Collection
	}
	if name == "" || name == "." {
		name = defaultTraces
	}
	if text, err = library.UnpackBatch(text); err != nil {
		return nil, api.Full(err)
	}
	release, err := alone(ctx, s)
	if err != nil {
		return nil, err
	}
	defer release()
	read, err := traces.Read(ctx, s.Config.App.With(app.Uploads{name: text}), name)
	if err != nil {
		return nil, api.Unreadable(err)
	}
	batch, err := library.FileBatch(text, read.Read.Format)
	if err != nil {
		return nil, api.Full(err)
	}
	c, added, err := s.Intake.Append(ctx, by.User, name, batch)
	if err != nil {
		return nil, api.Full(err)
	}
	out := UploadedTraces{
		Traces: tracesOf(c), Added: added, Attempts: read.Read.Attempts, Calls: read.Read.Calls,
		BadLines: read.Read.Log.Bad, Problems: []string{},
	}
	for _, p := range read.Lines(name).Problems {
		out.Problems = append(out.Problems, s.Config.App.Secrets().Hide(p.Error()))
	}
	for _, lost := range slices.Sorted(maps.Keys(read.Read.Lost)) {
		out.Problems = append(out.Problems, fmt.Sprintf("not carried over: %s (%d)", lost, read.Read.Lost[lost]))
	}
	return &out, nil
}

func listTraces(ctx context.Context, s *api.Server, by *account.Principal, in *api.PageIn) (*api.Page[Traces], error) {
	from, err := in.Mark()
	if err != nil {
		return nil, err
	}
	list, err := s.Intake.List(ctx, by.User, by.Role == account.Admin, from.At, from.ID, in.Limit+1)
	if err != nil {
		return nil, err
	}
	who, until := api.Owners{S: s}, s.Config.Now().Add(countTime)
	return api.Listed(list, in.Limit,
		func(c *library.Collection) api.PageMark { return api.PageMark{At: c.Created, ID: c.ID} },
		func(c *library.Collection) (*Traces, error) {
			one := tracesOf(c)
			if one.OwnerName, err = who.Of(ctx, c.User); err != nil {
				return nil, err
			}
			return &one, count(ctx, s, c, &one, s.Config.Now().Before(until))
		})
}

// opened returns an App with a collection as its file, and the name of the file. The caller
// releases it.
func opened(ctx context.Context, s *api.Server, by *account.Principal,
	id string,
) (a *app.App, name string, release func(), err error) {
	files := app.Uploads{}
	if release, err = alone(ctx, s); err != nil {
		return nil, "", nil, err
	}
	if name, err = bring(ctx, s, id, files); err == nil {
		a, err = s.AppOf(ctx, by.User)
	}
	if err != nil {
		release()
		return nil, "", nil, err
	}
	return a.With(files), name, release, nil
}

// bring adds a collection to the files, and returns its name there. Collections of different users
// may have the same name.
func bring(ctx context.Context, s *api.Server, id string, files app.Uploads) (string, error) {
	c, err := s.Intake.Collection(ctx, id)
	if err != nil {
		return "", err
	}
	name := c.Name
	if _, twice := files[name]; twice {
		name = c.ID
	}
	files[name], err = s.Intake.Text(ctx, c)
	return name, err
}

func tracedAttempts(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	TracesPath
	After int `query:"cursor" minimum:"0" doc:"next_cursor of the page before"`
	Limit int `query:"limit" minimum:"1" maximum:"200" default:"20"`
},
) (*traces.TracePage, error) {
	a, name, release, err := opened(ctx, s, by, in.ID)
	if err != nil {
		return nil, err
	}
	defer release()
	page, err := traces.ReadPage(ctx, a, traces.TracePageRequest{Traces: name, After: in.After, Limit: in.Limit})
	if err != nil {
		return nil, api.Unreadable(err)
	}
	return page, nil
}

func exportTraces(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	TracesPath
	Format string `query:"format" doc:"the form of traces that is written; empty: callvet's own lines"`
},
) (*File, error) {
	if in.Format != "" && !slices.Contains(traces.TraceExports(), in.Format) {
		return nil, &callvet.FieldError{
			Field: "format", Text: fmt.Sprintf("{format} %q is not known", in.Format),
			Fix: "one of " + strings.Join(traces.TraceExports(), ", "),
		}
	}
	a, name, release, err := opened(ctx, s, by, in.ID)
	if err != nil {
		return nil, err
	}
	defer release()
	imp, err := traces.OpenImport(ctx, a, traces.ImportRequest{Traces: name, To: in.Format}, nil)
	if err != nil {
		return nil, api.Unreadable(err)
	}
	defer imp.Close()
	var text bytes.Buffer
	res, err := imp.Do(&text)
	if err != nil {
		return nil, api.Unreadable(err)
	}
	return &File{
		ContentType: "application/x-ndjson", Disposition: fmt.Sprintf(`attachment; filename="%s.jsonl"`, in.ID),
		Body: text.Bytes(),
		Lost: strings.Join(slices.Sorted(maps.Keys(res.Unwritten)), ", "),
	}, nil
}
