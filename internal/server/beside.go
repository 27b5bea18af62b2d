// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/store/rows"
)

type (
	// BesideAsk asks where production selected other tools than an evaluation selects.
	BesideAsk struct {
		TracesID    string `json:"traces_id,omitempty" required:"false" maxLength:"64" doc:"a collection of traces of production"`
		Production  string `json:"production,omitempty" required:"false" maxLength:"33554432" doc:"decisions as a text: {query, tools} in a list or one a line, or traces; of it the comparison is kept"`
		EvalID      string `json:"eval_id,omitempty" required:"false" maxLength:"100" doc:"a run that asked the same questions"`
		RunTarget   string `json:"run_target,omitempty" required:"false" maxLength:"500" doc:"of the run, where it has several"`
		CatalogueID string `json:"catalogue_id,omitempty" required:"false" maxLength:"64" doc:"without a run, this catalogue is asked; may be left out where there is exactly one"`
		Limit       int    `json:"limit,omitempty" required:"false" minimum:"0" maximum:"100" doc:"how many tools the catalogue gives"`
		Preset      string `json:"preset,omitempty" required:"false" enum:"default,bigtool" doc:"how tools are scored"`
		Searching
		MaxPairs int `json:"max_pairs,omitempty" required:"false" minimum:"0" maximum:"5000" doc:"how many pairs are given, the largest differences first; 0: 200"`
	}
	// BesideAnswer is production beside an evaluation.
	BesideAnswer struct {
		ID string `json:"id" doc:"by which it is given again; the latest of a user are kept. Empty: it is not kept"`
		app.Beside
		LeftOut int              `json:"pairs_left_out"`
		Notes   []callvet.Notice `json:"notes" nullable:"false"`
	}
)

// usualPairs is how many pairs are given where the request does not say.
const usualPairs = 200

func (s *Server) decisions(ctx context.Context, by *account.Principal,
	in *struct{ Body BesideAsk },
) (*struct{ Body BesideAnswer }, error) {
	b := &in.Body
	if (b.TracesID == "") == (b.Production == "") {
		return nil, &callvet.FieldError{
			Field: "traces_id",
			Text:  "{traces_id}: name a collection, or send {production}: one of the two",
		}
	}
	req, files := app.DecisionsRequest{Production: tracesField, RunTarget: b.RunTarget}, app.Uploads{}
	if b.TracesID != "" {
		if err := s.May(ctx, by, KindTraces, b.TracesID, false); err != nil {
			return nil, err
		}
		release, err := s.alone(ctx)
		if err != nil {
			return nil, err
		}
		defer release()
		if req.Production, err = s.bring(ctx, b.TracesID, files); err != nil {
			return nil, err
		}
	} else {
		files[tracesField] = []byte(b.Production)
	}
	if b.EvalID != "" {
		if b.CatalogueID != "" {
			return nil, &callvet.FieldError{
				Field: "catalogue_id",
				Text:  "{catalogue_id}: it is asked where no run is named with {eval_id}",
			}
		}
		if err := s.May(ctx, by, KindRun, b.EvalID, false); err != nil {
			return nil, err
		}
		req.Run, req.Search = b.EvalID, b.named(files)
	} else {
		c, err := s.catalogueOf(ctx, by, b.CatalogueID)
		if err != nil {
			return nil, err
		}
		if req.Search, err = s.searchOf(ctx, c, &b.Searching, files); err != nil {
			return nil, err
		}
	}
	req.K, req.Preset = b.Limit, b.Preset
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, selectTime)
	defer cancel()
	var h heard
	out, err := a.With(files).Decisions(ctx, req, h.hear)
	if err != nil {
		return nil, h.lab(notAsked(atMost(err, ctx), req.Embed != "", req.Rerank != ""))
	}
	answer := BesideAnswer{Beside: *out, Notes: h.all()}
	most := usualPairs
	if b.MaxPairs > 0 {
		most = b.MaxPairs
	}
	if n := len(answer.Pairs); n > most {
		answer.Pairs, answer.LeftOut = answer.Pairs[:most], n-most
	}
	if answer.ID, err = s.keepBeside(ctx, by, &answer); err != nil {
		return nil, err
	}
	return &struct{ Body BesideAnswer }{answer}, nil
}

// Of each user the latest comparisons are kept, so that a page that is opened again shows them.
const (
	mostBeside  = 8
	besideBytes = 16 << 20
)

// keptBeside is a comparison that is kept.
type keptBeside struct {
	ID     string          `json:"id"`
	Answer json.RawMessage `json:"answer"`
}

// besideOf is where the comparisons of a user are kept.
func besideOf(user string) rows.RunDocumentParams {
	return rows.RunDocumentParams{RunID: "decisions of " + user, About: "decisions", State: "kept"}
}

// keptBesides are the comparisons of a user, the newest first.
func keptBesides(ctx context.Context, q *rows.Queries, user string) (list []keptBeside, err error) {
	b, err := q.RunDocument(ctx, besideOf(user))
	if isMissing(err) {
		return nil, nil
	}
	if err == nil && json.Unmarshal(b, &list) != nil {
		return nil, nil // what cannot be read is not kept any more
	}
	if err != nil {
		return nil, fmt.Errorf("read comparisons: %w", err)
	}
	return list, nil
}

// keepBeside keeps a comparison and gives its id; "" in a store that is only read.
func (s *Server) keepBeside(ctx context.Context, by *account.Principal, answer *BesideAnswer) (string, error) {
	answer.ID = rand.Text()
	b, err := json.Marshal(answer)
	if err != nil {
		return "", fmt.Errorf("keep comparison: %w", err)
	}
	err = s.cfg.Store.Change(ctx, "keep comparison", func(q *rows.Queries) error {
		list, err := keptBesides(ctx, q, by.User)
		if err != nil {
			return err
		}
		list = append([]keptBeside{{answer.ID, b}}, list...)
		n, size := 0, 0
		for n < min(len(list), mostBeside) && (n == 0 || size+len(list[n].Answer) <= besideBytes) {
			size, n = size+len(list[n].Answer), n+1
		}
		text, err := json.Marshal(list[:n])
		if err != nil {
			return fmt.Errorf("keep comparison: %w", err)
		}
		at := besideOf(by.User)
		return q.PutRunDocument(ctx,
			rows.PutRunDocumentParams{RunID: at.RunID, About: at.About, State: at.State, Document: text})
	})
	if errors.Is(err, callvet.ErrDenied) { // a store that cannot be written to
		return "", nil
	}
	return answer.ID, err
}

func (s *Server) decisionsAgain(ctx context.Context, by *account.Principal, in *struct {
	ID string `path:"id" maxLength:"64"`
},
) (*struct{ Body BesideAnswer }, error) {
	list, err := keptBesides(ctx, s.cfg.Store.Rows(), by.User)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].ID != in.ID {
			continue
		}
		var out BesideAnswer
		if err := json.Unmarshal(list[i].Answer, &out); err != nil {
			return nil, fmt.Errorf("read comparison: %w", err)
		}
		return &struct{ Body BesideAnswer }{out}, nil
	}
	return nil, fmt.Errorf("comparison %q: %w: the latest %d are kept; compare again", in.ID,
		callvet.ErrNotFound, mostBeside)
}
