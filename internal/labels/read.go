// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// maxLine is the longest line that is read, maxFile the largest file: people do
// not write more.
const (
	maxLine = 1 << 20
	maxFile = 1 << 30
)

// Read reads a labels file, one JSON object a line. Every line that is no label
// is a problem with its number and the reason, and an error; a line that was cut
// off, as a crash leaves it, is a warning. Neither is lost: the file is only read.
// err is of reading alone.
func Read(r io.Reader, name string) (ls []Label, problems []callvet.Problem, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read labels: %w", err)
	}
	if len(data) > maxFile {
		return nil, nil, fmt.Errorf("read labels: %w: more than %d bytes", callvet.ErrLimited, maxFile)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for n := 1; len(data) > 0; n++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		l, err := parseLabel(line)
		if err != nil {
			p := callvet.Problem{Position: callvet.Position{File: name, Line: n}, Code: "bad-label", Message: err.Error()}
			if cutOff(line) {
				p.Code, p.Warning, p.Message = "cut-off", true, "the line was cut off while it was written; it is not counted"
				p.Fix = "label the task again, or complete the line"
			}
			problems = append(problems, p)
			continue
		}
		l.Line = n
		ls = append(ls, l)
	}
	return ls, problems, nil
}

// cutOff reports whether a text is the beginning of a JSON value.
func cutOff(line []byte) bool {
	d := json.NewDecoder(bytes.NewReader(line))
	var v any
	return errors.Is(d.Decode(&v), io.ErrUnexpectedEOF)
}

// parseLabel reads one line as strictly as the published schema.
func parseLabel(line []byte) (Label, error) {
	if len(line) > maxLine {
		return Label{}, fmt.Errorf("longer than %d bytes", maxLine)
	}
	v, err := value.Parse(line)
	if err != nil {
		return Label{}, err
	}
	if v.Kind() != value.Object {
		return Label{}, fmt.Errorf("is %s, not an object", v.Kind())
	}
	if err := labelShape().check(v, ""); err != nil {
		return Label{}, err
	}
	var l Label
	if err := json.Unmarshal(line, &l); err != nil {
		return Label{}, plainError(err)
	}
	if l.Unit == "" {
		l.Unit = Task
	}
	if l.Role == "" {
		l.Role = Calibrating
	}
	return l, l.check()
}

// plainError says a decoding error without names of this program.
func plainError(err error) error {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return fmt.Errorf("%s is a %s, which it cannot be", t.Field, t.Value)
	}
	return err
}

func (l *Label) check() error {
	switch {
	case l.TaskID == "":
		return errors.New("task_id is missing")
	case l.Attempt < 0:
		return errors.New("attempt is below 0")
	case l.Unit != Task && l.Unit != Call:
		return unknownWord("unit", string(l.Unit), []string{string(Task), string(Call)})
	case l.Unit == Call && l.CallID == "":
		return errors.New("call_id is missing, which the unit call needs")
	case l.Unit == Task && l.CallID != "":
		return errors.New("call_id belongs to the unit call")
	case l.Pass == nil && l.Rating == nil:
		return errors.New("neither pass nor rating is there")
	case l.Role != Calibrating && l.Role != Validation && l.Role != Test:
		return unknownWord("role", string(l.Role), []string{string(Calibrating), string(Validation), string(Test)})
	case l.Stratum != "" && l.Stratum != Random && l.Stratum != JudgePass && l.Stratum != JudgeFail:
		return unknownWord("stratum", string(l.Stratum), []string{string(Random), string(JudgePass), string(JudgeFail)})
	case !l.Frame.valid():
		return errors.New("frame counts below 0")
	}
	return checkVerdicts(l.Judged)
}

func checkVerdicts(vs []Verdict) error {
	for i, v := range vs {
		switch {
		case v.Name == "":
			return fmt.Errorf("judged[%d].judge is missing", i)
		case slices.ContainsFunc(vs[:i], func(o Verdict) bool { return o.ID() == v.ID() }):
			return fmt.Errorf("judged[%d] is a second verdict of the same judge", i)
		}
	}
	return nil
}

func unknownWord(what, got string, known []string) error {
	s := fmt.Sprintf("%s %q is not one of %v", what, got, known)
	if near := callvet.Nearest(got, known); near != "" {
		s += ": did you mean " + near + "?"
	}
	return errors.New(s)
}

// shape is the names that an object may have; a nil shape says nothing about what
// is below the name.
type shape map[string]shape

func (s shape) names() []string { return slices.Sorted(maps.Keys(s)) }

// check refuses names that are not known: JSON's own decoder would take them in
// another case, or leave them out without a word.
func (s shape) check(v value.Value, path string) error {
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if v.Kind() == value.Array {
			if err := s.check(e, path); err != nil {
				return err
			}
			continue
		}
		below, known := s[e.Key()]
		if !known {
			return unknownWord(strings.TrimSpace("member "+path), e.Key(), s.names())
		}
		if e.Kind() == value.Null && !nullable(e.Key()) {
			return fmt.Errorf("%s is null", path+e.Key())
		}
		if e.Kind() == value.String && e.Str() == "" && isWord(e.Key()) {
			return fmt.Errorf("%s is empty", path+e.Key())
		}
		if below != nil {
			if err := below.check(e, path+e.Key()+"."); err != nil {
				return err
			}
		}
	}
	return nil
}

// nullable members may be null, which is the same as absent.
func nullable(name string) bool {
	return slices.Contains([]string{"pass", "rating", "frame", "judged", "params", "threshold", "score", "strata", "roles"}, name)
}

// isWord tells the members that have one of a few words.
func isWord(name string) bool {
	return slices.Contains([]string{"unit", "role", "stratum", "design"}, name)
}

func frameShape() shape { return shape{"judge_pass": nil, "judge_fail": nil, "unjudged": nil} }

func labelShape() shape {
	return shape{
		"task_id": nil, "target": nil, "attempt": nil, "unit": nil, "call_id": nil, "by": nil, "role": nil, "pass": nil, "rating": nil,
		"note": nil, "at": nil, "stratum": nil, "frame": frameShape(), "judged": verdictShape(),
	}
}

func verdictShape() shape {
	return shape{"judge": nil, "model": nil, "prompt_hash": nil, "params": nil, "threshold": nil, "pass": nil, "score": nil}
}
