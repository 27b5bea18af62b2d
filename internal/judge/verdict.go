// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/value"
)

// Verdict is the verdict in one answer of a judge.
type Verdict struct {
	// Pass and Score are nil if the verdict does not have them, for example in a comparison.
	// Score is in [0,1].
	Pass  *bool    `json:"pass,omitempty"`
	Score *float64 `json:"score,omitempty"`
	// Word is any other verdict: a grade, or the winner (a, b, tie).
	Word string `json:"word,omitempty"`
	// Report is the whole answer of a judge of a target; nil for other judges.
	Report *callvet.JudgeReport `json:"report,omitempty"`
	// Reason is the judge's reason, in a few sentences; the model wrote it.
	Reason string `json:"reason,omitempty"`
	// Said is the judge's original verdict as one JSON object; nil for a verdict in prose.
	Said json.RawMessage `json:"said,omitempty"`
	// Unscored is the reason for a missing verdict; then all fields above except Reason and Said
	// are empty. Such an answer is neither a pass nor a fail.
	Unscored string `json:"unscored,omitempty"`
	// Mended: the answer was not the requested JSON and was repaired.
	Mended bool `json:"mended,omitempty"`
}

// Scored reports whether there is a verdict.
func (v *Verdict) Scored() bool { return v.Unscored == "" }

// same reports whether two verdicts are equal.
func (v *Verdict) same(o *Verdict) bool {
	eq := func(a, b *float64) bool { return a == b || a != nil && b != nil && math.Abs(*a-*b) < 1e-9 }
	return v.Word == o.Word && (v.Pass == o.Pass || v.Pass != nil && o.Pass != nil && *v.Pass == *o.Pass) &&
		eq(v.Score, o.Score)
}

// maxAnswer bounds the text of an answer that is read, in bytes.
const maxAnswer = 256 << 10

// The reasons of answers that have no verdict.
const (
	whyEmpty    = "the answer is empty"
	whyRefused  = "the judge refused to judge"
	whyNone     = "no verdict is in the answer"
	whyConflict = "the answer gives two different verdicts"
)

// errNone: an object is not a verdict of the judge.
var errNone = errors.New(whyNone)

// Read reads the text of an answer. It uses the first of these that contains a verdict:
//
//	the JSON that was asked for
//	objects in a fence or in prose, cut off, or with other quotes and commas
//	"Status: failure" in prose, or a verdict alone in a few words
//
// Two different verdicts count as no verdict, and so does an empty answer or a refusal.
func (j *Judge) Read(text string, did Did) Verdict {
	if len(text) > maxAnswer {
		return Verdict{Unscored: fmt.Sprintf("the answer is longer than %d bytes", maxAnswer)}
	}
	text = strings.TrimSpace(strings.TrimPrefix(unthought(text), "\ufeff"))
	if text == "" {
		return Verdict{Unscored: whyEmpty}
	}
	var found []Verdict
	var wrong error
	for _, o := range objects(text) {
		v, err := j.object(&o, did)
		switch {
		case err == nil:
			v.Said = o.append(nil)
			found = append(found, v)
		case !errors.Is(err, errNone) && wrong == nil:
			wrong = err
		}
	}
	mended := !json.Valid([]byte(text))
	switch {
	case wrong != nil: // the object has this verdict, but an impossible one: a later object is not used
		return Verdict{Unscored: wrong.Error(), Mended: mended}
	case len(found) == 0:
		return j.prose(text, did)
	}
	for i := range found[1:] {
		if !found[0].same(&found[i+1]) {
			return Verdict{Unscored: whyConflict, Mended: mended}
		}
	}
	found[0].Mended = mended
	return found[0]
}

// prose reads an answer without an object that is a verdict.
func (j *Judge) prose(text string, did Did) Verdict {
	if !j.words() {
		return Verdict{Unscored: because(text), Mended: true}
	}
	said := prose(text)
	switch {
	case len(said) == 0:
		return Verdict{Unscored: because(text), Mended: true}
	case slices.Contains(said, !said[0]):
		return Verdict{Unscored: whyConflict, Mended: true}
	}
	v := Verdict{Pass: &said[0], Mended: true}
	v.Score = share(said[0])
	return v
}

// because is the reason why an answer has no verdict.
func because(text string) string {
	if refusal.MatchString(text) {
		return whyRefused
	}
	return whyNone
}

func share(pass bool) *float64 {
	x := 0.0
	if pass {
		x = 1
	}
	return &x
}

// field returns the value of a key; found is false if there is none. Values that differ are an
// error.
func field[T comparable](o *node, read func(*node) (T, bool), names ...string) (v T, found bool, err error) {
	for _, n := range o.get(names...) {
		if n.kind == objectNode { // {"result": {"pass": true}}: the verdict is in it
			continue
		}
		x, ok := read(n)
		switch {
		case !ok:
			return v, false, fmt.Errorf("%s is %q, which is none", names[0], brief(n.text))
		case found && x != v:
			return v, false, errors.New(whyConflict)
		}
		v, found = x, true
	}
	return v, found, nil
}

// brief is the beginning of a model's text.
func brief(s string) string {
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

func truth(n *node) (bool, bool) { return Word(n.text) }

func word(n *node) (string, bool) {
	return strings.ToLower(strings.TrimSpace(n.text)), n.kind == textNode || n.kind == wordNode
}

// number reads 4, "4" and "4/5".
func number(n *node) (float64, bool) {
	s, _, _ := strings.Cut(strings.TrimSpace(n.text), "/")
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) && (n.kind == textNode || n.kind == wordNode)
}

func text(n *node) (string, bool) { return n.text, true }

// reason is the judge's reason, under any of its names, even if the rest is invalid.
func reason(o *node) string {
	for _, n := range o.get("rationale", "notes", "summary", "reasoning", "reason", "explanation", "justification") {
		if n.text != "" {
			return n.text
		}
	}
	return ""
}

// list returns the texts of a key.
func list(o *node, name string) []string {
	var out []string
	for _, n := range o.get(name) {
		out = append(out, n.texts()...)
	}
	return out
}

// object reads a verdict from one object. The error is errNone for an object without a verdict.
func (j *Judge) object(o *node, did Did) (Verdict, error) {
	v, err := j.reader()(j, o, did)
	if errors.Is(err, errNone) { // {"result": {"pass": true}}
		for i := range o.kids {
			if o.kids[i].kind != objectNode {
				continue
			}
			if v, err = j.reader()(j, &o.kids[i], did); !errors.Is(err, errNone) {
				break
			}
		}
	}
	if err != nil {
		return Verdict{}, err
	}
	v.Reason = reason(o)
	return v, nil
}

type reader func(j *Judge, o *node, did Did) (Verdict, error)

// passed are the names of the key of a pass or fail verdict.
func passed() []string {
	return []string{"pass", "passed", "verdict", "status", "success", "result", "is_pass", "satisfied"}
}

func readTask(j *Judge, o *node, _ Did) (Verdict, error) {
	pass, found, err := field(o, truth, passed()...)
	if err == nil && !found {
		err = errNone
	}
	if err != nil {
		return Verdict{}, err
	}
	reasons := list(o, "fail_reasons")
	if pass && len(reasons) > 0 {
		return Verdict{}, fmt.Errorf("it passes and says why it fails (%s)", brief(strings.Join(reasons, ", ")))
	}
	v := Verdict{Pass: &pass, Score: share(pass)}
	if n := len(list(o, "unnecessary_calls")); pass && j.Penalty != nil {
		*v.Score = j.Penalty.of(n)
	}
	return v, nil
}

func readArguments(_ *Judge, o *node, _ Did) (Verdict, error) {
	right, found, err := field(o, truth, "args_correct", "correct", "arguments_correct")
	if err == nil && !found {
		err = errNone
	}
	if err != nil {
		return Verdict{}, err
	}
	if wrong := append(list(o, "missing_fields"), list(o, "bad_fields")...); right && len(wrong) > 0 {
		return Verdict{}, fmt.Errorf("the arguments are correct and %s is not", brief(strings.Join(wrong, ", ")))
	}
	return Verdict{Pass: &right, Score: share(right)}, nil
}

// readNecessity compares the judge's decision with the target's, which the judge did not see.
func readNecessity(_ *Judge, o *node, did Did) (Verdict, error) {
	needed, found, err := field(o, truth, "needed", "tool_needed")
	if err == nil && !found {
		err = errNone
	}
	if err != nil {
		return Verdict{}, err
	}
	best, _, err := field(o, text, "best_tool")
	if err != nil {
		return Verdict{}, err
	}
	best = strings.TrimSpace(best)
	if empty(best) {
		best = ""
	}
	switch {
	case needed && best == "":
		return Verdict{}, errors.New("a tool is needed, and none is named")
	case !needed && best != "":
		return Verdict{}, fmt.Errorf("no tool is needed, and %s is named", brief(best))
	}
	pass := len(did.Tools) == 0
	if best = base(best); needed {
		pass = slices.ContainsFunc(did.Tools, func(called string) bool { return callvet.SameName(base(called), best) })
	} else {
		best = "none"
	}
	return Verdict{Pass: &pass, Score: share(pass), Word: best}, nil
}

// readRubric passes a score by the threshold of the dimension, or else by the judge's, and one of
// 0 or 1 at 1. Source: Eval Case Interfaces, "RubricEvalCase".
func readRubric(j *Judge, o *node, did Did) (Verdict, error) {
	x, found, err := field(o, number, "score", "rating", "points")
	if err == nil && !found {
		if pass, told, werr := field(o, truth, passed()...); told && werr == nil && did.Max == 1 {
			return Verdict{Pass: &pass, Score: share(pass)}, nil
		}
		err = errNone
	}
	if err != nil {
		return Verdict{}, err
	}
	if x < 0 || x > did.Max {
		return Verdict{}, fmt.Errorf("a score of %g is not between 0 and %g", x, did.Max)
	}
	s := x / did.Max
	pass := s >= j.threshold()
	switch {
	case did.Threshold != nil:
		pass = s >= *did.Threshold
	case did.Max == 1:
		pass = x == 1
	}
	return Verdict{Pass: &pass, Score: &s}, nil
}

// readReview reads the verdict of document three. A partial pass is no pass.
func readReview(_ *Judge, o *node, _ Did) (Verdict, error) {
	q, rated, err := field(o, number, "quality", "quality_score")
	if err != nil {
		return Verdict{}, err
	}
	w, found, err := field(o, word, "verdict")
	if err == nil && !found && !rated {
		err = errNone
	}
	if err != nil {
		return Verdict{}, err
	}
	if rated && (q < 1 || q > 5) {
		return Verdict{}, fmt.Errorf("a quality of %g is not between 1 and 5", q)
	}
	if !found {
		return Verdict{}, errNone // a quality alone is no verdict
	}
	pass, known := Word(w)
	switch {
	case !known:
		return Verdict{}, fmt.Errorf("verdict is %q, which is none", brief(w))
	case rated && (pass && q <= 2 || w == "fail" && q >= 4):
		return Verdict{}, fmt.Errorf("the verdict is %s and the quality %g of 5", w, q)
	}
	v := Verdict{Pass: &pass, Score: share(pass)}
	if rated {
		*v.Score = (q - 1) / 4
	}
	return v, nil
}

func readWinner(_ *Judge, o *node, _ Did) (Verdict, error) {
	w, found, err := field(o, word, "winner", "better", "preferred")
	if err == nil && !found {
		err = errNone
	}
	if err != nil {
		return Verdict{}, err
	}
	switch w = strings.TrimPrefix(strings.TrimPrefix(w, "assistant "), "model_"); w {
	case "a", "b", "tie":
	case "draw", "equal", "neither", "both":
		w = "tie"
	default:
		return Verdict{}, fmt.Errorf("winner is %q, which is none", brief(w))
	}
	return Verdict{Word: w}, nil
}

func readGrade(_ *Judge, o *node, _ Did) (Verdict, error) {
	g, found, err := field(o, word, "grade", "overall_grade")
	if err == nil && !found {
		err = errNone
	}
	if err != nil {
		return Verdict{}, err
	}
	g = strings.ToUpper(strings.TrimRight(g, "+-"))
	at := strings.Index("FDCBA", g)
	if len(g) != 1 || at < 0 {
		return Verdict{}, fmt.Errorf("grade is %q, which is none", brief(g))
	}
	x := float64(at) / 4
	return Verdict{Word: g, Score: &x, Report: reportOf(o, g)}, nil
}

// readOwn reads the verdict of a user's judge: pass, verdict or status, and a score in [0,1].
func readOwn(j *Judge, o *node, _ Did) (Verdict, error) {
	pass, found, err := field(o, truth, passed()...)
	if err != nil {
		return Verdict{}, err
	}
	x, rated, err := field(o, number, "score")
	if err == nil && !found && !rated {
		err = errNone
	}
	if err != nil {
		return Verdict{}, err
	}
	if rated && (x < 0 || x > 1) {
		return Verdict{}, fmt.Errorf("a score of %g is not between 0 and 1", x)
	}
	if err := j.keeps(o); err != nil {
		return Verdict{}, err
	}
	var v Verdict
	if rated {
		v.Score = &x
	}
	switch {
	case found:
		v.Pass = &pass
	case j.Threshold != nil:
		pass = x >= *j.Threshold
		v.Pass = &pass
	}
	return v, nil
}

// keeps checks an object by the schema of the judge.
func (j *Judge) keeps(o *node) error {
	s, err := contract.Compile(j.Schema)
	if err != nil {
		return fmt.Errorf("the schema of the judge: %w", err)
	}
	v, err := value.Parse(o.append(nil))
	if err != nil {
		return errors.New("it is not JSON: " + value.Reason(err))
	}
	if broken := s.Check(v); len(broken) > 0 {
		return fmt.Errorf("it breaks the schema of the judge: %s %s", broken[0].Path, broken[0].Message)
	}
	return nil
}
