// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

// maxLine is the longest line that is read, maxFile the largest file: no labels file needs more.
const (
	maxLine = 1 << 20
	maxFile = 64 << 20
)

// Read reads a labels file, one JSON object a line. A line that is not a label is a problem with
// its number and the reason, and an error; a line that a crash cut off is a warning. The file is
// not changed, so that neither is lost. err is for read errors only.
func Read(r io.Reader, name string) (ls []Label, problems []callvet.Problem, err error) {
	data, err := doc.ReadWhole(r, maxFile)
	if err != nil {
		return nil, nil, fmt.Errorf("read labels: %w", err)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	form := doc.Of[Label]()
	for n := 1; len(data) > 0; n++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		l, err := parseLabel(form, line)
		if err != nil {
			p := callvet.Problem{
				Position: callvet.Position{File: name, Line: n}, Code: "bad-label",
				Message: err.Error(),
			}
			if cutOff(line) {
				p.Code, p.Warning, p.Message = "cut-off", true,
					"the line was cut off while it was written; it is not counted"
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

// clocks is how far the clocks of two machines may differ.
const clocks = 5 * time.Minute

// Future are the problems of labels with a time after now. The last label of a person counts, and
// such a label would stay the last one.
func Future(ls []Label, name string, now time.Time) (problems []callvet.Problem) {
	for i := range ls {
		if l := &ls[i]; l.At.After(now.Add(clocks)) {
			problems = append(problems, callvet.Problem{
				Position: callvet.Position{File: name, Line: l.Line}, Code: "bad-label",
				Message: fmt.Sprintf(`"at" of the label of %s is in the future: %s`, l.Key, l.At.Format(time.RFC3339)),
			})
		}
	}
	return problems
}

// cutOff reports whether a text is the beginning of a JSON value.
func cutOff(line []byte) bool {
	d := json.NewDecoder(bytes.NewReader(line))
	var v any
	return errors.Is(d.Decode(&v), io.ErrUnexpectedEOF)
}

// parseLabel reads one line as strictly as the published schema.
func parseLabel(form *doc.Type, line []byte) (Label, error) {
	if len(line) > maxLine {
		return Label{}, fmt.Errorf("longer than %d bytes", maxLine)
	}
	v, err := value.Parse(line)
	if err != nil {
		return Label{}, errors.New(value.Reason(err))
	}
	var l Label
	if w := form.Read(v, &l, nil); w != nil {
		return Label{}, w
	}
	if l.Unit == "" {
		l.Unit = Task
	}
	if l.Role == "" {
		l.Role = Calibrating
	}
	l.Version = 0
	return l, l.check()
}

// check checks the rules between members, and labels from other forms.
func (l *Label) check() error {
	switch {
	case l.TaskID == "":
		return errors.New(`"task_id" is missing`)
	case l.Attempt < 0:
		return errors.New(`"attempt" is below 0`)
	case !slices.Contains(Units(), l.Unit):
		return unknownWord("unit", string(l.Unit), []string{string(Task), string(Turn), string(Call)})
	case l.Unit == Call && l.CallID == "":
		return errors.New(`"call_id" is missing, which the unit call needs`)
	case l.Unit != Call && l.CallID != "":
		return errors.New(`"call_id" belongs to the unit call`)
	case l.Unit == Turn && l.Turn < 1:
		return errors.New(`"turn" is missing, which the unit turn needs: 1 is the first one of the target`)
	case l.Unit != Turn && l.Turn != 0:
		return errors.New(`"turn" belongs to the unit turn`)
	case l.Pass == nil && l.Rating == nil && len(l.Judged) == 0:
		return errors.New(`neither "pass" nor "rating" is there, and no verdict of a judge`)
	}
	if err := checkFingerprint(l.Fingerprint); err != nil {
		return err
	}
	if err := l.checkSample(); err != nil {
		return err
	}
	for i, v := range l.Judged {
		if slices.ContainsFunc(l.Judged[:i], func(o Verdict) bool { return o.ID() == v.ID() }) {
			return fmt.Errorf(`"judged[%d]" is a second verdict of the same judge`, i)
		}
	}
	return nil
}

// checkFingerprint accepts results of Fingerprint, and the empty text.
func checkFingerprint(s string) error {
	if b, err := hex.DecodeString(s); err != nil || len(b) != 0 && len(b) != sha256.Size || s != strings.ToLower(s) {
		return fmt.Errorf(`"fingerprint" is not %d hexadecimal digits`, 2*sha256.Size)
	}
	return nil
}

// checkSample checks the role of a label and its sampling data.
func (l *Label) checkSample() error {
	switch {
	case l.Role != Calibrating && l.Role != Validation && l.Role != Test && l.Role != Design:
		return unknownWord("role", string(l.Role),
			[]string{string(Calibrating), string(Validation), string(Test), string(Design)})
	case l.Stratum != "" && l.Stratum != Random && l.Stratum != JudgePass && l.Stratum != JudgeFail &&
		l.Stratum != Disagreement:
		return unknownWord("stratum", string(l.Stratum),
			[]string{string(Random), string(JudgePass), string(JudgeFail), string(Disagreement)})
	case !l.Frame.valid():
		return errors.New(`"frame" counts below 0`)
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
