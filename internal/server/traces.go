// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

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
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/store/rows"
)

// maxReaders is how many requests read whole collections at once; the others wait. Each may need
// some hundred megabytes.
const (
	maxReaders = 3
	// maxPerUser is how many of them one user may have, so that one user cannot block all others.
	maxPerUser = 2
)

// addTraces adds the routes of traces: collections, their scores, and the receiver of
// OpenTelemetry's exports.
func (s *Server) addTraces() {
	s.intake = library.NewIntake(library.IntakeConfig{Store: s.cfg.Store, Now: s.cfg.Now})
	s.readers = newReaders(maxReaders, maxPerUser)
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: "/api/traces" + path, Summary: summary,
			Tags: []string{"traces"},
		}
	}
	of := func(role account.Role) Access {
		return Access{Role: role, Objects: map[string]Kind{"id": KindTraces}}
	}
	take := uploaded(op("upload-traces", http.MethodPost, "",
		"Adds a trace file to a collection, in any form that callvet reads."),
		"traces as JSONL, or in another form; gzip is read")
	take.MaxBodyBytes = library.MaxBatch
	add(s, take, Access{Role: account.Member}, s.uploadTraces)
	add(s, op("list-traces", http.MethodGet, "",
		"Lists collections of traces, the newest first: one's own, and those that are shared."), Access{}, s.listTraces)
	add(s, op("get-traces", http.MethodGet, "/{id}", "Returns a collection."), of(""),
		func(ctx context.Context, _ *account.Principal, in *TracesPath) (*struct{ Body Traces }, error) {
			c, err := s.intake.Collection(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			out := tracesOf(c)
			err = s.count(ctx, c, &out, true)
			return &struct{ Body Traces }{out}, err
		})
	patch := op("patch-traces", http.MethodPatch, "/{id}", "Shares a collection with all users, or ends that.")
	patch.DefaultStatus = http.StatusNoContent
	add(s, patch, of(account.Member), func(ctx context.Context, _ *account.Principal, in *struct {
		TracesPath
		Body struct {
			Shared bool `json:"shared" doc:"every user of the server may read it"`
		}
	},
	) (*struct{}, error) {
		return nil, s.intake.Share(ctx, in.ID, in.Body.Shared)
	})
	drop := op("delete-traces", http.MethodDelete, "/{id}", "Removes a collection.")
	drop.DefaultStatus = http.StatusNoContent
	add(s, drop, of(account.Member),
		func(ctx context.Context, by *account.Principal, in *TracesPath) (*struct{}, error) {
			return nil, s.intake.Drop(ctx, in.ID, func(q *rows.Queries) error {
				return errors.Join(q.DropLabelLines(ctx, labelled{KindTraces, in.ID}.about()),
					q.DropRunDocuments(ctx, countOf(in.ID)), s.deletes(ctx, by, KindTraces, in.ID).Do(q))
			})
		})
	add(s, op("list-attempts", http.MethodGet, "/{id}/attempts",
		"Attempts of a collection, with their steps, redacted."), of(""), s.tracedAttempts)
	export := op("export-traces", http.MethodGet, "/{id}/export",
		"Downloads a collection in a form of traces, redacted.")
	export.Responses = map[string]*huma.Response{"200": {
		Description: "the traces as a file",
		Content:     map[string]*huma.MediaType{"application/octet-stream": {}},
	}}
	add(s, export, of(""), s.exportTraces)
	s.addOTLP()
	s.addScore()
	s.addLabels()
	s.addGold()
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
	// UploadedTraces is a collection with what was added.
	UploadedTraces struct {
		Traces
		Added    bool     `json:"added" doc:"false: the collection had that very file already"`
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
		CreatedAt: milli(c.Created), UpdatedAt: milli(c.Updated),
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
func (s *Server) count(ctx context.Context, c *library.Collection, out *Traces, wanted bool) error {
	at := rows.RunDocumentParams{RunID: countOf(c.ID), About: "counts", State: strconv.FormatInt(c.Parts, 10)}
	b, err := s.cfg.Store.Rows().RunDocument(ctx, at)
	if err != nil && !isMissing(err) {
		return fmt.Errorf("read number of attempts: %w", err)
	}
	var n traceCounts
	switch {
	case err == nil && json.Unmarshal(b, &n) == nil:
	case !wanted:
		return nil
	default:
		if n, err = s.recount(ctx, c, &at); err != nil {
			return err
		}
	}
	out.Attempts, out.Lost = &n.Attempts, &n.Lost
	return nil
}

// recount counts, and stores the counts.
func (s *Server) recount(ctx context.Context, c *library.Collection,
	at *rows.RunDocumentParams,
) (n traceCounts, err error) {
	release, err := s.alone(ctx)
	if err != nil {
		return n, err
	}
	defer release()
	text, err := s.intake.Text(ctx, c)
	if err != nil {
		return n, err
	}
	read, err := traces.Read(ctx, s.cfg.App.With(app.Uploads{c.Name: text}), c.Name)
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
	err = s.cfg.Store.Change(ctx, "keep number of attempts", func(q *rows.Queries) error {
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
func (s *Server) alone(ctx context.Context) (release func(), err error) {
	user := ""
	if by := who(ctx); by != nil {
		user = by.User
	}
	return s.readers.enter(ctx, user)
}

// readers limits concurrent reads, in total and for each user. Waiting requests have no order.
type readers struct {
	places chan struct{}
	most   int // of one user

	mu sync.Mutex
	of map[string]*ownPlaces
}

// ownPlaces are the places of one user, and how many of his requests have or await one.
type ownPlaces struct {
	places chan struct{}
	here   int
}

func newReaders(places, most int) *readers {
	return &readers{places: make(chan struct{}, places), most: most, of: map[string]*ownPlaces{}}
}

// enter waits for a place, which leave releases. The error is that of ctx.
func (r *readers) enter(ctx context.Context, user string) (leave func(), err error) {
	r.mu.Lock()
	own := r.of[user]
	if own == nil {
		own = &ownPlaces{places: make(chan struct{}, r.most)}
		r.of[user] = own
	}
	own.here++
	r.mu.Unlock()
	gone := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if own.here--; own.here == 0 {
			delete(r.of, user)
		}
	}
	select {
	case own.places <- struct{}{}:
	case <-ctx.Done():
		gone()
		return nil, ctx.Err()
	}
	select {
	case r.places <- struct{}{}:
	case <-ctx.Done():
		<-own.places
		gone()
		return nil, ctx.Err()
	}
	return func() { <-r.places; <-own.places; gone() }, nil
}

// full converts an error of a full collection for HTTP: the client must not send it again.
func full(err error) error {
	var f *library.FullError
	if errors.As(err, &f) || errors.Is(err, callvet.ErrLimited) {
		return huma.Error413RequestEntityTooLarge(err.Error())
	}
	return err
}

// defaultTraces is the default name of a collection.
const defaultTraces = "traces"

func (s *Server) uploadTraces(ctx context.Context, by *account.Principal, in *struct {
	Upload
	Collection string `query:"collection" maxLength:"200" doc:"the name of the collection, which is begun where there is none; empty: the name of the file"`
},
) (*struct{ Body UploadedTraces }, error) {
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
		return nil, full(err)
	}
	release, err := s.alone(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	read, err := traces.Read(ctx, s.cfg.App.With(app.Uploads{name: text}), name)
	if err != nil {
		return nil, unreadable(err)
	}
	batch, err := library.FileBatch(text, read.Read.Format)
	if err != nil {
		return nil, full(err)
	}
	c, added, err := s.intake.Append(ctx, by.User, name, batch)
	if err != nil {
		return nil, full(err)
	}
	out := UploadedTraces{
		Traces: tracesOf(c), Added: added, Attempts: read.Read.Attempts, Calls: read.Read.Calls,
		BadLines: read.Read.Log.Bad, Problems: []string{},
	}
	for _, p := range read.Lines(name).Problems {
		out.Problems = append(out.Problems, s.cfg.App.Secrets().Hide(p.Error()))
	}
	for _, lost := range slices.Sorted(maps.Keys(read.Read.Lost)) {
		out.Problems = append(out.Problems, fmt.Sprintf("not carried over: %s (%d)", lost, read.Read.Lost[lost]))
	}
	return &struct{ Body UploadedTraces }{out}, nil
}

// unreadable gives an error about an unreadable text its kind.
func unreadable(err error) error {
	if status(err) != http.StatusInternalServerError {
		return full(err)
	}
	return fmt.Errorf("read traces: %w: %w", callvet.ErrInvalid, err)
}

func (s *Server) listTraces(ctx context.Context, by *account.Principal,
	in *PageIn,
) (*struct{ Body Page[Traces] }, error) {
	from, err := in.mark()
	if err != nil {
		return nil, err
	}
	list, err := s.intake.List(ctx, by.User, by.Role == account.Admin, from.At, from.ID, in.Limit+1)
	if err != nil {
		return nil, err
	}
	list, next := cut(list, in.Limit, func(c *library.Collection) pageMark { return pageMark{c.Created, c.ID} })
	out := Page[Traces]{Items: make([]Traces, len(list)), Next: next}
	who, until := owners{s: s}, s.cfg.Now().Add(countTime)
	for i := range list {
		one := &out.Items[i]
		*one = tracesOf(&list[i])
		if one.OwnerName, err = who.of(ctx, list[i].User); err != nil {
			return nil, err
		}
		if err = s.count(ctx, &list[i], one, s.cfg.Now().Before(until)); err != nil {
			return nil, err
		}
	}
	return &struct{ Body Page[Traces] }{out}, nil
}

// opened returns an App with a collection as its file, and the name of the file. The caller
// releases it.
func (s *Server) opened(ctx context.Context, by *account.Principal,
	id string,
) (a *app.App, name string, release func(), err error) {
	files := app.Uploads{}
	if release, err = s.alone(ctx); err != nil {
		return nil, "", nil, err
	}
	if name, err = s.bring(ctx, id, files); err == nil {
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
func (s *Server) bring(ctx context.Context, id string, files app.Uploads) (string, error) {
	c, err := s.intake.Collection(ctx, id)
	if err != nil {
		return "", err
	}
	name := c.Name
	if _, twice := files[name]; twice {
		name = c.ID
	}
	files[name], err = s.intake.Text(ctx, c)
	return name, err
}

func (s *Server) tracedAttempts(ctx context.Context, by *account.Principal, in *struct {
	TracesPath
	After int `query:"cursor" minimum:"0" doc:"next_cursor of the page before"`
	Limit int `query:"limit" minimum:"1" maximum:"200" default:"20"`
},
) (*struct{ Body traces.TracePage }, error) {
	a, name, release, err := s.opened(ctx, by, in.ID)
	if err != nil {
		return nil, err
	}
	defer release()
	page, err := traces.ReadPage(ctx, a, traces.TracePageRequest{Traces: name, After: in.After, Limit: in.Limit})
	if err != nil {
		return nil, unreadable(err)
	}
	return &struct{ Body traces.TracePage }{*page}, nil
}

func (s *Server) exportTraces(ctx context.Context, by *account.Principal, in *struct {
	TracesPath
	Format string `query:"format" doc:"the form of traces that is written; empty: callvet's own lines"`
},
) (*file, error) {
	if in.Format != "" && !slices.Contains(traces.TraceExports(), in.Format) {
		return nil, &callvet.FieldError{
			Field: "format", Text: fmt.Sprintf("{format} %q is not known", in.Format),
			Fix: "one of " + strings.Join(traces.TraceExports(), ", "),
		}
	}
	a, name, release, err := s.opened(ctx, by, in.ID)
	if err != nil {
		return nil, err
	}
	defer release()
	imp, err := traces.OpenImport(ctx, a, traces.ImportRequest{Traces: name, To: in.Format}, nil)
	if err != nil {
		return nil, unreadable(err)
	}
	defer imp.Close()
	var text bytes.Buffer
	res, err := imp.Do(&text)
	if err != nil {
		return nil, unreadable(err)
	}
	return &file{
		ContentType: "application/x-ndjson", Disposition: fmt.Sprintf(`attachment; filename="%s.jsonl"`, in.ID),
		Body: text.Bytes(),
		Lost: strings.Join(slices.Sorted(maps.Keys(res.Unwritten)), ", "),
	}, nil
}
