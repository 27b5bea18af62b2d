// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
)

// AttemptsRequest requests a page of the attempts of a run. A filter without values matches all
// attempts; one of several values must match, and all of several filters.
type AttemptsRequest struct {
	Run      string            `json:"run"`
	Verdicts []callvet.Verdict `json:"verdicts,omitempty"`
	Outcomes []callvet.Outcome `json:"outcomes,omitempty"`
	// Classes may have their earlier names, as callvet.ClassOf knows them.
	Classes []callvet.Class `json:"classes,omitempty"`
	// Reasons are why an attempt is unparseable (a callvet.Reason), or the error that ended it (a
	// callvet.FaultKind).
	Reasons []string `json:"reasons,omitempty"`
	// Targets are names of targets, Tags are tags of cases, Case is a part of a case's id,
	// case-insensitive.
	Targets []string `json:"targets,omitempty"`
	Tags    []string `json:"tags,omitempty"`
	Case    string   `json:"case,omitempty"`
	// Search is a part of the id or of the prompt of a case, case-insensitive. Disagree selects
	// cases with different pass shares of the targets, as in the grid.
	Search   string `json:"search,omitempty"`
	Disagree bool   `json:"disagree,omitempty"`
	// Called and Expected are tools with their names in the confusion matrix: attempts that called
	// Called where Expected was right. "" for both: any.
	Called   string `json:"called,omitempty"`
	Expected string `json:"expected,omitempty"`
	// Sort is "" or "case" for the order of the suite, "score", "cost" or "class". Attempts without
	// such a value come last. Descending reverses the order.
	Sort       string `json:"sort,omitempty"`
	Descending bool   `json:"descending,omitempty"`
	// After is Next of the previous page; "": the first page. Limit is from 1 to 1000; 0 is 50.
	After string   `json:"after,omitempty"`
	Limit int      `json:"limit,omitempty"`
	Keep  []string `json:"keep,omitempty"`
}

// MaxAttempts bounds a page of attempts.
const MaxAttempts = 1000

// AttemptsPage is a part of the attempts of a run.
type AttemptsPage struct {
	Items []report.Record `json:"items"`
	// Total counts the attempts that match the filters, All the attempts of the run.
	Total int `json:"total"`
	All   int `json:"all"`
	// Next is the cursor of the next page; "": this is the last one.
	Next string `json:"next_cursor,omitempty"`
}

// sortKey has the values for filtering and sorting attempts.
type sortKey struct {
	Case, Target, Repeat int
	num                  float64
	text                 string
	has                  bool
}

// attemptCursor is the place after an attempt in an order.
type attemptCursor struct {
	Sort string  `json:"s,omitempty"`
	Down bool    `json:"d,omitempty"`
	Num  float64 `json:"n,omitempty"`
	Text string  `json:"t,omitempty"`
	Has  bool    `json:"h,omitempty"`
	At   [3]int  `json:"a"`
}

// Attempts returns a page of the attempts of a run, as a report shows them. It reads the sort keys
// of all attempts, and the whole attempts of the page. Filters use callvet's own scores; the
// verdicts of judges are on the page.
func Attempts(ctx context.Context, a *app.App, req AttemptsRequest) (*AttemptsPage, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	r, red, err := OpenRedacted(ctx, a, req.Run, req.Keep)
	if err != nil {
		return nil, err
	}
	o, err := outlineOf(ctx, a, r)
	if err != nil {
		return nil, err
	}
	keep, err := r.filter(ctx, &req, o, red)
	if err != nil {
		return nil, err
	}
	after, err := req.cursor()
	if err != nil {
		return nil, err
	}
	out := &AttemptsPage{Items: []report.Record{}}
	out.All = len(o.lines)
	from, limit := 0, cmp.Or(req.Limit, 50)
	order := o.order(req.Sort, req.Descending)
	if after != nil {
		from = sort.Search(len(order), func(i int) bool {
			return sortKeyOf(&o.lines[order[i]], req.Sort).compare(*after, req.Descending) > 0
		})
	}
	var keys []sortKey
	for i, at := range order {
		if keep(at) {
			out.Total++
			if i >= from && len(keys) <= limit {
				keys = append(keys, sortKeyOf(&o.lines[at], req.Sort))
			}
		}
	}
	if len(keys) > limit {
		keys = keys[:limit]
		last := keys[limit-1]
		out.Next, err = attemptCursor{
			Sort: req.Sort, Down: req.Descending, Num: last.num, Text: last.text,
			Has: last.has, At: [3]int{last.Case, last.Target, last.Repeat},
		}.encode()
		if err != nil {
			return nil, err
		}
	}
	return out, r.page(ctx, keys, red, out)
}

// page reads the attempts of a page in the order of the suite, so that neighbours are read
// together.
func (r *Run) page(ctx context.Context, keys []sortKey, red *redact.Redactor, out *AttemptsPage) error {
	v := r.viewOf(ctx, nil, red)
	at, index := make([]store.Place, len(keys)), make(map[store.Place]int, len(keys))
	for i, k := range keys {
		at[i] = store.Place{Case: k.Case, Target: k.Target, Repeat: k.Repeat}
		index[at[i]] = i
	}
	found := make([]*report.Record, len(keys))
	for row, err := range r.Shown(ctx, store.Filter{At: at}, red) {
		if err != nil {
			return err
		}
		record := v.Record(row)
		found[index[store.Place{Case: row.Cell.Case, Target: row.Cell.Target, Repeat: row.Cell.Repeat}]] = &record
	}
	for _, record := range found {
		if record != nil { // nil if the run was deleted meanwhile
			out.Items = append(out.Items, *record)
		}
	}
	return nil
}

func (q *AttemptsRequest) check() error {
	switch {
	case q.Run == "":
		return app.Wrong("run", "", "which run?")
	case q.Limit < 0 || q.Limit > MaxAttempts:
		return app.Wrong("limit", fmt.Sprint(q.Limit), "it is from 1 to %d", MaxAttempts)
	case !slices.Contains([]string{"", "case", "score", "cost", "class"}, q.Sort):
		return app.Wrong("sort", q.Sort, "it is case, score, cost or class")
	}
	if q.Sort == "case" {
		q.Sort = ""
	}
	if (q.Called == "") != (q.Expected == "") {
		return app.Wrong("called", q.Called, "give {called} and {expected}, or none of the two")
	}
	q.Classes = slices.Clone(q.Classes)
	for i, c := range q.Classes {
		q.Classes[i] = callvet.ClassOf(string(c))
	}
	var reasons []string
	for _, r := range panel.Reasons() {
		reasons = append(reasons, r.Reason)
	}
	_, err := app.Kinds(q.Keep)
	return errors.Join(err,
		oneOf("verdicts", q.Verdicts, callvet.VerdictPass, callvet.VerdictFail, callvet.VerdictError,
			callvet.VerdictNotRun),
		oneOf("outcomes", q.Outcomes, callvet.OutcomeCalled, callvet.OutcomeAbstained, callvet.OutcomeUnparseable,
			callvet.OutcomeError, callvet.OutcomeNotRun),
		oneOf("reasons", q.Reasons, reasons...))
}

// oneOf returns an error for values that a field cannot have.
func oneOf[T ~string](field string, values []T, known ...T) error {
	for _, v := range values {
		if slices.Contains(known, v) {
			continue
		}
		names := make([]string, len(known))
		for i := range known {
			names[i] = string(known[i])
		}
		return app.Wrong(field, string(v), "it is %s", strings.Join(names, ", "))
	}
	return nil
}

func (q *AttemptsRequest) cursor() (*sortKey, error) {
	if q.After == "" {
		return nil, nil
	}
	var c attemptCursor
	b, err := base64.RawURLEncoding.DecodeString(q.After)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.Sort != q.Sort || c.Down != q.Descending {
		return nil, app.Wrong("after", "", "it is not {next} of a page in this order")
	}
	return &sortKey{Case: c.At[0], Target: c.At[1], Repeat: c.At[2], num: c.Num, text: c.Text, has: c.Has}, nil
}

func (c attemptCursor) encode() (string, error) {
	b, err := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(b), err
}

func sortKeyOf(l *outlined, by string) sortKey {
	k := sortKey{Case: int(l.at.Case), Target: int(l.at.Target), Repeat: int(l.at.Repeat)}
	switch by {
	case "score":
		k.num, k.has = l.score, l.flags&hasScore != 0
	case "cost":
		k.num, k.has = l.cost, l.flags&hasCost != 0
	case "class":
		k.text, k.has = string(l.class), l.class != ""
	}
	return k
}

// compare orders attempts; those without a value are last in both directions, and those with equal
// values are in the order of the suite.
func (k sortKey) compare(o sortKey, down bool) int {
	if k.has != o.has {
		if k.has {
			return -1
		}
		return 1
	}
	by := cmp.Or(cmp.Compare(k.num, o.num), cmp.Compare(k.text, o.text))
	place := cmp.Or(cmp.Compare(k.Case, o.Case), cmp.Compare(k.Target, o.Target), cmp.Compare(k.Repeat, o.Repeat))
	if by == 0 && !k.has && down { // no value to reverse: the order of the suite
		return -place
	}
	if down {
		by = -by
	}
	return cmp.Or(by, place)
}

// filter returns the function that selects attempts.
func (r *Run) filter(ctx context.Context, q *AttemptsRequest, o *outline,
	red *redact.Redactor,
) (func(at int32) bool, error) {
	targets, err := r.targetsNamed(q.Targets)
	if err != nil {
		return nil, err
	}
	texts, err := r.textsFor(q, o, red)
	if err != nil {
		return nil, err
	}
	confused, err := o.confusedAt(ctx, r, q.Expected, q.Called)
	if err != nil {
		return nil, err
	}
	reasoned, err := o.reasonedAt(ctx, r, q.Reasons)
	if err != nil {
		return nil, err
	}
	differs, err := r.differing(q, o)
	if err != nil {
		return nil, err
	}
	part, text := strings.ToLower(q.Case), strings.ToLower(q.Search)
	return func(at int32) bool {
		l := &o.lines[at]
		return among(q.Verdicts, l.verdict) && among(q.Outcomes, l.outcome) && among(q.Classes, l.class) &&
			(len(targets) == 0 || targets[int(l.at.Target)]) && picked(confused, at) && picked(reasoned, at) &&
			(len(q.Tags) == 0 || texts[l.at.Case].tagged(q.Tags)) &&
			(text == "" || strings.Contains(texts[l.at.Case].text, text)) &&
			(!q.Disagree || differs[l.at.Case]) &&
			(part == "" || strings.Contains(strings.ToLower(o.ids[l.at.Case]), part))
	}, nil
}

// textsFor returns the texts of cases; nil if they are not searched.
func (r *Run) textsFor(q *AttemptsRequest, o *outline, red *redact.Redactor) ([]caseText, error) {
	if len(q.Tags) == 0 && q.Search == "" {
		return nil, nil
	}
	return o.textsOf(r, red)
}

// picked reports whether an attempt was found; a nil list matches all.
func picked(found []bool, at int32) bool { return found == nil || found[at] }

// among reports whether v is in the list; an empty list matches everything.
func among[T comparable](wanted []T, v T) bool { return len(wanted) == 0 || slices.Contains(wanted, v) }

// differing returns the cases on which the targets do not agree; nil if the request does not filter
// by that.
func (r *Run) differing(q *AttemptsRequest, o *outline) (map[int32]bool, error) {
	if !q.Disagree {
		return nil, nil
	}
	g, err := r.newGridding(&GridRequest{Targets: q.Targets})
	if err != nil {
		return nil, err
	}
	differs := map[int32]bool{}
	for i := range r.Cases() {
		at := r.positionOf(i)
		differs[int32(at)] = g.differ(g.cells(o, at)) //nolint:gosec // a suite has fewer cases
	}
	return differs, nil
}

// targetsNamed returns the positions of targets.
func (r *Run) targetsNamed(names []string) (map[int]bool, error) {
	targets := map[int]bool{}
	for _, name := range names {
		at := slices.IndexFunc(r.Manifest.Targets, func(t callvet.Target) bool { return t.Name == name })
		if at < 0 {
			return nil, app.Wrong("targets", name, "the run has no such target")
		}
		targets[at] = true
	}
	return targets, nil
}

func (t *caseText) tagged(tags []string) bool {
	return slices.ContainsFunc(t.tags, func(tag string) bool { return slices.Contains(tags, tag) })
}
